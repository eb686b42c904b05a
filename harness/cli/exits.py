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


def run_guarded(action: Callable[[], object], *, as_json: bool = False) -> int:
    """
    Run *action*; return its exit status: the number that it returns, 0 for None, or that of the error it raises.

    An error is printed on standard error, and with *as_json* on standard output too, as JSON.
    """
    with adapt_streams():
        return _run_reported(action, as_json=as_json)


def _run_reported(action: Callable[[], object], *, as_json: bool) -> int:
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
        _print_failure("interrupted", "interrupted", INTERRUPTED_STATUS, as_json=as_json)
        return INTERRUPTED_STATUS
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        _print_failure("usage", error.format_message(), WRONG_USE, as_json=as_json)
        return WRONG_USE
    except InputError as error:
        _print_problems(error)
        if as_json:
            from harness.cli.problem_report import dump_problems

            click.echo(dump_problems(error.problems, error.exit_status), nl=False)
        return error.exit_status
    except HarnessError as error:
        text = error.text(COMMAND)
        print_message("\n".join([f"relevance: {text}", *format_links(error.topics)]))
        _print_failure(error.code, text, error.exit_status, as_json=as_json)
        return error.exit_status
    except Exception as error:
        return _report_unexpected(error, as_json=as_json)
    return status if isinstance(status, int) else 0


def _print_failure(code: str, message: str, exit_status: int, *, as_json: bool) -> None:
    """Print a failure that is about no file as JSON, if that is wanted."""
    if as_json:
        from harness.cli.problem_report import dump_failure

        click.echo(dump_failure(code, message, exit_status), nl=False)


def _report_unexpected(error: Exception, *, as_json: bool) -> int:
    """Report an unexpected error: an impossible file name, standard output on a full disk, or a bug of the harness."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        sentence = f"{str(error.filename)[:100]}…: the file name is too long"
        click.echo(f"relevance: {sentence}", err=True)
        _print_failure("unreadable-file", sentence, WRONG_USE, as_json=as_json)
        return WRONG_USE
    unwritable = describe_unwritable_stdout(error)
    if unwritable:
        silence_stdout()
        click.echo(f"relevance: {unwritable}", err=True)
        return WRONG_USE
    _print_failure("internal", _print_bug(error), NO_ANSWER, as_json=as_json)
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
    folders = {Path(problem.path).absolute().parent for problem in problems if problem.code == "unknown-measure"}
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


def _print_bug(error: Exception) -> str:
    """
    Print a sentence for an unexpected error, and return it.

    Its own text may hold anything, even a login, so only its type and place are printed unless the user asks for more.
    """
    if os.environ.get(DEBUG):
        click.echo(format_exc(), err=True)
    frames = extract_tb(error.__traceback__)
    # The last frame of ours says more than one inside of a library.
    our_frames = [frame for frame in frames if _OUR_FOLDER in Path(frame.filename).parents]
    frame = (our_frames or frames)[-1]
    place = f"{Path(frame.filename).name}, line {frame.lineno}"
    sentence = (
        f"internal error: {type(error).__name__} in {place}. Please report it with the command"
        f" and its output with {DEBUG}=1; remove secrets from it first."
    )
    click.echo(f"relevance: {sentence}", err=True)
    return sentence
