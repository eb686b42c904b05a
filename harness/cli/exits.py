"""The one place where an error becomes text on standard error and an exit status."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb, format_exc
from typing import TYPE_CHECKING

import click

from harness.errors import EntryPoint, HarnessError, InputError, Problem
from harness.pages import format_links
from harness.process import terminated_as_interrupted
from harness.words import count

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

COMMAND = EntryPoint.COMMAND
WRONG_USE = 2
NO_ANSWER = 3
INTERRUPTED = 130
READER_LEFT = 141
DEBUG = "HARNESS_DEBUG"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of output that is redirected to a full disk."""

_OUR_FOLDER = Path(__file__).parents[1]

REGISTERS = b"register_measure"
"""What a conftest.py holds that registers measures."""


def run_guarded(action: Callable[[], object]) -> int:
    """Run *action*; return its exit status: the number that it returns, 0 for None, or that of the error it raises."""
    _open_closed_streams()
    _drop_unwritable_messages()
    _escape_unencodable_output()
    try:
        with terminated_as_interrupted():
            status = action()
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return READER_LEFT
    except (KeyboardInterrupt, click.Abort):
        click.echo("harness: interrupted", err=True)
        return INTERRUPTED
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        error.show()
        return WRONG_USE
    except InputError as error:
        _print_problems(error)
        return error.exit_status
    except HarnessError as error:
        _print_message("\n".join([f"harness: {error.text(COMMAND)}", *format_links(error.topics)]))
        return error.exit_status
    except Exception as error:
        return _report_unexpected(error)
    return status if isinstance(status, int) else 0


def _report_unexpected(error: Exception) -> int:
    """Report an unexpected error: an impossible file name, standard output on a full disk, or a bug of the harness."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        click.echo(f"harness: {str(error.filename)[:100]}…: the file name is too long", err=True)
        return WRONG_USE
    # An error of a file has its name; that of standard output has none.
    if isinstance(error, OSError) and error.errno in NO_ROOM and error.filename is None:
        silence_stdout()
        click.echo(f"harness: standard output could not be written: {error.strerror}", err=True)
        return WRONG_USE
    _print_bug(error)
    return NO_ANSWER


@contextmanager
def let_reader_leave() -> Iterator[None]:
    """A block that prints; if the reader closes the pipe early, as ``head`` does, the command goes on unchanged."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Discard further standard output after the pipe was closed: Python's flush at exit would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, io.UnsupportedOperation):
        # Standard output is not a real file, such as in a test.
        return
    finally:
        os.close(nowhere)


def _open_closed_streams() -> None:
    """Discard what is printed where the shell closed an output (``>&-``): Python has no stream for it then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


class _StandardError(io.FileIO):
    """Standard error, which drops what cannot be written, such as on a full disk or to a closed pipe."""

    def write(self, text: ReadableBuffer) -> int:
        """Write *text*, or drop it."""
        try:
            return super().write(text)
        except OSError:
            return memoryview(text).nbytes


def _drop_unwritable_messages() -> None:
    """
    Make standard error drop what cannot be written, so that no message changes what the command does and returns.

    This is done below the buffer, which would keep what failed until Python flushes it at exit.
    """
    stream = sys.stderr
    # Not the standard error of the process, such as in a test.
    if stream is not sys.__stderr__ or not isinstance(stream, io.TextIOWrapper):
        return
    # The console of Windows is no FileIO.
    if isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO):
        buffer = io.BufferedWriter(_StandardError(stream.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(buffer, stream.encoding, line_buffering=True)


def _escape_unencodable_output() -> None:
    """Print escapes for characters that the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _print_problems(error: InputError) -> None:
    """Print each problem with its place first, as editors and CI systems expect, and their number last."""
    lines = [str(error)]
    hint = find_conftest_hint(error.problems)
    if hint is not None:
        lines.append(f"harness: {hint}")
    number = sum(problem.count for problem in error.problems)
    lines.append(f"harness: {count(number, 'problem')}")
    lines += format_links(error.topics)
    _print_message("\n".join(lines))


def find_conftest_hint(problems: Iterable[Problem]) -> str | None:
    """
    A hint for *problems* with an unknown measure, if a conftest.py that pytest would read for the suite registers
    measures; else None.
    """
    folders = {Path(problem.path).absolute().parent for problem in problems if problem.kind == "unknown measure"}
    for folder in sorted(folders):
        for parent in (folder, *folder.parents):
            file = parent / "conftest.py"
            if _registers_measures(file):
                return (
                    f"{file} registers measures, which only pytest reads; a package with the entry point group "
                    "relevance_harness.measures works for this command and pytest"
                )
    return None


def _registers_measures(file: Path) -> bool:
    try:
        return REGISTERS in file.read_bytes()
    except OSError:
        return False


def _print_message(text: str) -> None:
    """Print *text* without control characters: a name in it may come from any file."""
    from harness.report.sentences import make_loggable_lines

    click.echo(make_loggable_lines(text), err=True)


def _print_bug(error: Exception) -> None:
    """
    Print a sentence for an unexpected error.

    Its own text may hold anything, even a login, so only its type and place are printed unless the user asks for more.
    """
    if os.environ.get(DEBUG):
        click.echo(format_exc(), err=True)
    frames = extract_tb(error.__traceback__)
    # The last frame of ours says more than one inside of a library.
    our_frames = [frame for frame in frames if _OUR_FOLDER in Path(frame.filename).parents]
    frame = (our_frames or frames)[-1]
    place = f"{Path(frame.filename).name}, line {frame.lineno}"
    click.echo(
        f"harness: internal error: {type(error).__name__} in {place}. Please report it with the command"
        f" and its output with {DEBUG}=1; remove secrets from it first.",
        err=True,
    )
