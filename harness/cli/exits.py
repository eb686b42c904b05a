"""The one place where an error becomes text on standard error and an exit status."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from traceback import extract_tb, format_exc

import click

from harness.cli.streams import adapt_streams, describe_unwritable_stdout, print_message, silence_stdout
from harness.errors import EntryPoint, HarnessError, InputError, Problem
from harness.pages import format_links
from harness.process import terminated_as_interrupted
from harness.words import count

COMMAND = EntryPoint.COMMAND
WRONG_USE = 2
NO_ANSWER = 3
INTERRUPTED_STATUS = 130
READER_LEFT_STATUS = 141
DEBUG = "RELEVANCE_DEBUG"

_OUR_FOLDER = Path(__file__).parents[1]

REGISTERS = b"register_measure"
"""What a conftest.py holds that registers measures."""


def run_guarded(action: Callable[[], object]) -> int:
    """Run *action*; return its exit status: the number that it returns, 0 for None, or that of the error it raises."""
    with adapt_streams():
        return _run_reported(action)


def _run_reported(action: Callable[[], object]) -> int:
    """As `run_guarded`."""
    try:
        with terminated_as_interrupted():
            status = action()
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return READER_LEFT_STATUS
    except (KeyboardInterrupt, click.Abort):
        click.echo("relevance: interrupted", err=True)
        return INTERRUPTED_STATUS
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return WRONG_USE
    except InputError as error:
        _print_problems(error)
        return error.exit_status
    except HarnessError as error:
        print_message("\n".join([f"relevance: {error.text(COMMAND)}", *format_links(error.topics)]))
        return error.exit_status
    except Exception as error:
        return _report_unexpected(error)
    return status if isinstance(status, int) else 0


def _report_unexpected(error: Exception) -> int:
    """Report an unexpected error: an impossible file name, standard output on a full disk, or a bug of the harness."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        click.echo(f"relevance: {str(error.filename)[:100]}…: the file name is too long", err=True)
        return WRONG_USE
    unwritable = describe_unwritable_stdout(error)
    if unwritable:
        silence_stdout()
        click.echo(f"relevance: {unwritable}", err=True)
        return WRONG_USE
    _print_bug(error)
    return NO_ANSWER


def _print_problems(error: InputError) -> None:
    """Print each problem with its place first, as editors and CI systems expect, and their number last."""
    lines = [str(error)]
    hint = find_conftest_hint(error.problems)
    if hint is not None:
        lines.append(f"relevance: {hint}")
    number = sum(problem.count for problem in error.problems)
    lines.append(f"relevance: {count(number, 'problem')}")
    lines += format_links(error.topics)
    print_message("\n".join(lines))


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
    """Whether *file* is there and seems to register measures."""
    try:
        return REGISTERS in file.read_bytes()
    except OSError:
        return False


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
