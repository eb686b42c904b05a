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
from typing import TYPE_CHECKING, Any, TextIO, TypeGuard, cast

import click

from harness.errors import EntryPoint, HarnessError, InputError, Problem, UsageError
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
DEBUG = "RELEVANCE_DEBUG"
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of output that is redirected to a full or broken disk, or to what is not open to be written."""

LONGEST_COMMAND = 200
"""Characters of a line that are kept to see whether a command may follow."""

_OUR_FOLDER = Path(__file__).parents[1]

REGISTERS = b"register_measure"
"""What a conftest.py holds that registers measures."""


def run_guarded(action: Callable[[], object]) -> int:
    """Run *action*; return its exit status: the number that it returns, 0 for None, or that of the error it raises."""
    _open_closed_streams()
    _drop_unwritable_messages()
    _escape_unencodable_output()
    with _escape_printed_commands():
        return _run_reported(action)


def _run_reported(action: Callable[[], object]) -> int:
    """As `run_guarded`."""
    try:
        with terminated_as_interrupted():
            status = action()
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return READER_LEFT
    except (KeyboardInterrupt, click.Abort):
        click.echo("relevance: interrupted", err=True)
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
        _print_message("\n".join([f"relevance: {error.text(COMMAND)}", *format_links(error.topics)]))
        return error.exit_status
    except Exception as error:
        return _report_unexpected(error)
    return status if isinstance(status, int) else 0


def _report_unexpected(error: Exception) -> int:
    """Report an unexpected error: an impossible file name, standard output on a full disk, or a bug of the harness."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        click.echo(f"relevance: {str(error.filename)[:100]}…: the file name is too long", err=True)
        return WRONG_USE
    if _is_of_standard_output(error):
        silence_stdout()
        click.echo(f"relevance: {_describe_unwritable_stdout(error)}", err=True)
        return WRONG_USE
    _print_bug(error)
    return NO_ANSWER


def _is_of_standard_output(error: BaseException) -> TypeGuard[OSError]:
    """Whether standard output could not take what was printed: an error of a file has its name, and this has none."""
    return isinstance(error, OSError) and error.errno in UNWRITABLE and error.filename is None


def _describe_unwritable_stdout(error: OSError) -> str:
    return f"standard output could not be written: {error.strerror}"


class Delivery:
    """
    Gives the result of a command to its outputs: standard output, and files.

    Each is written whatever becomes of the others, so that no result is lost with one of them. `settle` says what could
    not be written::

        delivery = Delivery()
        with delivery.printing():
            click.echo(report)
        for file in files:
            with delivery.writing():
                write(report, file)
        return delivery.settle(report.exit_status)
    """

    def __init__(self) -> None:
        self._errors: list[Exception] = []

    @contextmanager
    def printing(self) -> Iterator[None]:
        """
        A block that prints. If the reader closes the pipe early, as ``head`` does, the command goes on unchanged.

        Standard output may also be a file on a full disk, which is an error of the command.
        """
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:
            silence_stdout()
        except Exception as error:
            if _is_of_standard_output(error):
                silence_stdout()
                error = UsageError(_describe_unwritable_stdout(error))
            self._errors.append(error)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A block that writes one output."""
        try:
            yield
        except Exception as error:
            self._errors.append(error)

    def add(self, error: HarnessError) -> None:
        """Add what could not be written before."""
        self._errors.append(error)

    @property
    def is_complete(self) -> bool:
        """Whether everything could be written so far."""
        return not self._errors

    def settle(self, status: int) -> int:
        """
        Print what could not be written; returns the worst of the exit *status* of the result and those of the errors.

        An error that nobody expected, as of a bug, is raised now that all else is written.
        """
        unexpected = []
        for error in self._errors:
            if isinstance(error, HarnessError):
                _print_message(f"relevance: {error.text(COMMAND)}")
                status = max(status, error.exit_status)
            else:
                unexpected.append(error)
        if unexpected:
            raise unexpected[0]
        return status


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


class _LogStream:
    """
    A stream that is no terminal, and may become a log of a CI system, which executes lines such as ``::error``.

    What is printed holds names and texts of suites, files and indexes. The harness's own commands are printed by
    `print_command`.
    """

    def __init__(self, unescaped: TextIO) -> None:
        self.unescaped = unescaped
        self._line = ""
        """What was written of the last line."""
        self._is_json: bool | None = None

    def write(self, text: str | bytes) -> int:
        """Write *text*, escaped as texts or, in what begins as JSON, as in strings of JSON."""
        if isinstance(text, bytes):
            # click prints completions of a shell as bytes.
            text = text.decode()
        if self._is_json is None and text.strip():
            self._is_json = text.lstrip()[0] in "{["
        self.unescaped.write(self._escape(text))
        self._line = (self._line + text).rpartition("\n")[2][-LONGEST_COMMAND:]
        return len(text)

    def _escape(self, text: str) -> str:
        if "::" not in text and "##" not in text:
            return text
        from harness.report.sentences import escape_commands

        # A command stands behind nothing but blanks.
        before = "" if not self._line.strip() else "x"
        escape = r"\u00" if self._is_json else r"\x"
        return escape_commands(before + text, escape)[len(before) :]

    def __getattr__(self, name: str) -> Any:
        # What is below would let click write past this.
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.unescaped, name)


@contextmanager
def _escape_printed_commands() -> Iterator[None]:
    """Let nothing that is printed in the block be a command of a CI system, whatever prints it."""
    streams = sys.stdout, sys.stderr
    # These take part in what is printed by click, print and rich alike.
    if not sys.stdout.isatty():
        sys.stdout = cast("TextIO", _LogStream(sys.stdout))
    if not sys.stderr.isatty():
        sys.stderr = cast("TextIO", _LogStream(sys.stderr))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def print_command(line: str, *, err: bool = False) -> None:
    """Print *line*, a command that the harness itself gives to the CI system."""
    stream = sys.stderr if err else sys.stdout
    click.echo(line, file=getattr(stream, "unescaped", stream))


def _print_problems(error: InputError) -> None:
    """Print each problem with its place first, as editors and CI systems expect, and their number last."""
    lines = [str(error)]
    hint = find_conftest_hint(error.problems)
    if hint is not None:
        lines.append(f"relevance: {hint}")
    number = sum(problem.count for problem in error.problems)
    lines.append(f"relevance: {count(number, 'problem')}")
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
        f"relevance: internal error: {type(error).__name__} in {place}. Please report it with the command"
        f" and its output with {DEBUG}=1; remove secrets from it first.",
        err=True,
    )
