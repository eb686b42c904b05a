"""The options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.cli.exits import COMMAND
from harness.cli.headings import Option
from harness.cli.streams import print_command
from harness.errors import HarnessError, InputError, Problem, SearchError, UsageError
from harness.options import (
    DECIDING_OPTIONS,
    FILE,
    FLAG,
    FOLDER,
    NEW_FOLDER,
    OPTIONS,
    ArgumentKind,
    Commands,
    RunOption,
    RunOptions,
    check_servers,
)
from harness.report.github_step import GitHubStep, find_github_step
from harness.report.output_files import FileState, list_unchanged, read_states, refuse_inputs, remove_outdated
from harness.report.outputs import OUTPUT_KINDS, Output
from harness.report.sentences import make_loggable
from harness.suites.discovery import FoundSuites, describe_not_followed, find_suites, format_left_out
from harness.suites.inputs import RunInputs
from harness.suites.names import describe_misnamed
from harness.words import did_you_mean, one_of

if TYPE_CHECKING:
    from harness.store.journal import Journal


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class ReadText(click.ParamType):  # type: ignore[type-arg]  # click before 8.4 takes no argument here
    """A parameter type that parses with *read*; a HarnessError of it becomes an error of the command line."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse *value*."""
        try:
            return self._read(str(value))
        except UsageError as error:
            self.fail(str(error), param, ctx)


_PATHS: Mapping[ArgumentKind, click.ParamType[Any]] = {
    FILE: click.Path(dir_okay=False, path_type=Path),
    FOLDER: click.Path(exists=True, file_okay=False, path_type=Path),
    NEW_FOLDER: click.Path(file_okay=False, path_type=Path),
}


def make_click_option(option: RunOption) -> Callable[[Decorated], Decorated]:
    """*option* as an option of click; commands receive its value as an argument of the same name."""
    value_type: click.ParamType[Any] | None = _PATHS.get(option.kind)
    if option.kind.read is not None:
        value_type = ReadText(str(option.metavar), option.kind.read)
    return click.option(
        option.name.name_in(COMMAND),
        option.several or option.field,
        cls=Option,
        heading=option.heading,
        metavar=option.metavar,
        is_flag=True if option.kind is FLAG else None,
        multiple=bool(option.several),
        type=value_type,
        help=option.help,
    )


def add_options(command: Decorated, options: Iterable[Callable[[Decorated], Decorated]]) -> Decorated:
    """*command* with *options*, which its help lists in this order."""
    # click lists the option that was added last first.
    for option in reversed(list(options)):
        command = option(command)
    return command


def _list_options(commands: Commands) -> list[Callable[[Decorated], Decorated]]:
    """The options of runs that *commands* have, as decorators of click."""
    return [make_click_option(option) for option in OPTIONS.values() if option.commands is commands]


def config_options(command: Decorated) -> Decorated:
    """Give *command* the options that say whose configuration counts, and what suites may read."""
    return add_options(command, _list_options(Commands.OF_FILES))


def root_option(command: Decorated) -> Decorated:
    """Give *command* the option that says where links of suites may lead."""
    return make_click_option(OPTIONS["root"])(command)


def server_options(command: Decorated) -> Decorated:
    """Give *command* the options that say where its engine is, with those of `config_options`."""
    return add_options(command, [*_list_options(Commands.WITH_A_SERVER), *_list_options(Commands.OF_FILES)])


def engine_options(command: Decorated) -> Decorated:
    """Give *command* the options that say where suites run, and with which queries."""
    return server_options(add_options(command, _list_options(Commands.OF_SUITES)))


def query_options(command: Decorated) -> Decorated:
    """Give *command* the options that say where one query of a suite runs, with which request."""
    options = [make_click_option(OPTIONS[name]) for name in ("baseline", "root")]
    return server_options(request_options(add_options(command, options)))


def request_options(command: Decorated) -> Decorated:
    """Give *command* the options that say with which request and on which index a suite is searched."""
    options = [
        replace(OPTIONS["request"], several="", help="Send the suite's request of this name."),
        replace(OPTIONS["index"], several="", help="Search this index instead of the suite's own."),
        OPTIONS["allow_write"],
    ]
    return add_options(command, map(make_click_option, options))


def cell_options(command: Decorated) -> Decorated:
    """Give *command* the options of a run with several requests or indexes."""
    all_requests = click.option("--all-requests", is_flag=True, help="Send every request of a suite.")
    request, *others = _list_options(Commands.OF_CELLS)
    return add_options(command, [request, all_requests, *others])


def only_run_options(command: Decorated) -> Decorated:
    """Give *command* the options that only ``relevance run`` has."""
    return add_options(command, _list_options(Commands.RUN))


def deciding_options(command: Decorated) -> Decorated:
    """Give *command* the options that only affect how responses are decided."""
    return add_options(command, [make_click_option(OPTIONS[name]) for name in DECIDING_OPTIONS])


def make_run_options(**arguments: Any) -> RunOptions:
    """
    The options of a run from the arguments of a command.

    Raises:
        click.UsageError: The options contradict each other.
    """
    options = RunOptions(**arguments, entry=COMMAND)
    try:
        check_servers(options)
    except UsageError as error:
        raise click.UsageError(error.text(COMMAND)) from None
    return options


existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)

suites_argument = click.argument("suites", metavar="SUITE…", nargs=-1, required=True, type=click.Path(path_type=Path))
"""Files, and folders with suites under them, as given; `find_given_suites` finds the files."""


def find_given_suites(paths: Sequence[Path], root: Path | None) -> FoundSuites:
    """The suites of *paths*, with a warning for each misnamed file; arguments and errors are those of `find_suites`."""
    found = find_suites(paths, root)
    for path in found.misnamed:
        click.echo(make_loggable(f"relevance: warning: {describe_misnamed(path)}"), err=True)
    return found


def print_left_out(found: FoundSuites) -> None:
    """Print at the end which skipped folders hold suites."""
    if found.left_out:
        text = format_left_out(found.left_out)
        click.echo(make_loggable(f"relevance: skipped: {text}; pass a folder to read its suites"), err=True)
    if found.not_followed:
        click.echo(make_loggable(f"relevance: not followed: {describe_not_followed(found.not_followed)}"), err=True)


def find_one_suite(given_path: Path, root: Path | None) -> Path:
    """
    The suite of *given_path*, a file or a folder with a single suite; *root* and errors are those of `find_suites`.

    Raises:
        UsageError: The folder holds several suites.
    """
    suites = find_given_suites([given_path], root).suites
    if len(suites) > 1:
        raise UsageError(f"found {len(suites)} suites in {given_path}, expected one")
    return suites[0]


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on standard output.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress.")


github_option = click.option(
    "--github",
    is_flag=True,
    help="In GitHub Actions: annotate the lines of suites and add to the job's summary.",
)


def open_github_step(is_wanted: bool) -> GitHubStep | None:
    """
    The step of a GitHub Actions job that runs this command, whose log and summary a report is added to.

    Args:
        is_wanted: Whether the command has the option ``--github``; without it there is no step.

    Raises:
        UsageError: The option was given, and this is not a step of GitHub Actions.
    """
    if not is_wanted:
        return None
    return find_github_step(os.environ, option="--github", markdown="--output markdown=FILE")


@contextmanager
def report_errors_to(step: GitHubStep | None) -> Iterator[None]:
    """Report an error that ends the block to *step*, and raise it again."""
    try:
        yield
    except HarnessError as error:
        if step is not None:
            text = error.text(COMMAND)
            # An error without a place is one of the whole job.
            problems = error.problems if isinstance(error, InputError) else [Problem("", 0, 0, text)]
            for line in step.problems(problems):
                print_command(line, err=True)
            step.summarize_refusal(text)
        raise


class OutputType(click.ParamType):  # type: ignore[type-arg]  # click before 8.4 takes no argument here
    """Reads ``html=report.html``; checks that the folder exists before a run starts."""

    name = "KIND=FILE"

    def __init__(self, kinds: Collection[str] = OUTPUT_KINDS, example: str = "html=report.html") -> None:
        """
        Args:
            kinds: The kinds that are allowed.
            example: An example for the error message.
        """
        self._kinds = kinds
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        """The output that *value* names."""
        kind, equals, file = str(value).partition("=")
        kinds = one_of(self._kinds)
        if not equals or not file:
            self.fail(
                f"found {value!r}, expected KIND=FILE with {kinds} as the kind, as in {self._example}",
                param,
                ctx,
            )
        if kind not in self._kinds:
            self.fail(f"there is no kind {kind!r}, only {kinds}{did_you_mean(kind, self._kinds)}", param, ctx)
        path = Path(file)
        if file == "-":
            self.fail("found -, expected a file; /dev/stdout is standard output", param, ctx)
        if path.is_dir():
            self.fail(f"{file} is a folder, expected a file", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"the folder {path.parent} does not exist; create it first", param, ctx)
        return Output(kind, path, f"--output {value}")


@dataclass(slots=True)
class EarlierReports:
    """The reports of earlier runs, with what stood there before this one; *journal* is that of this run, if any."""

    states: Mapping[Path, FileState]
    journal: Journal | None = None

    def remove_after(self, error: BaseException) -> None:
        """
        Remove them if the run has failed by *error*, so that nobody takes one for its report.

        A command that is refused leaves all files as they were: the report may be that of a run which goes on. The
        first line of the journal is written when the first request is about to be sent, under its lock.
        """
        # A command line or a suite that is wrong, and not a server that gives no answer.
        is_refused = isinstance(error, click.ClickException)
        if isinstance(error, HarnessError):
            is_refused = error.exit_status != SearchError.exit_status
        if is_refused and (self.journal is None or not self.journal.has_begun):
            for path in list_unchanged(self.states):
                click.echo(make_loggable(f"relevance: {path} is as it was, the report of an earlier run"), err=True)
            return
        for path in remove_outdated(self.states)[0]:
            click.echo(make_loggable(f"removed {path}, the report of an earlier run"), err=True)


@contextmanager
def remove_outdated_on_error(
    outputs: Sequence[Output], inputs: RunInputs, journals: Sequence[Output] = ()
) -> Iterator[EarlierReports]:
    """
    If an error ends the block, remove the *outputs* of an earlier run, unless the command was refused, and raise it
    again; *journals* stay. The block gives what it yields the journal of the run, when that is open.

    Raises:
        UsageError: As `refuse_inputs`; then the block is not entered, and nothing is removed.
    """
    states: Mapping[Path, FileState] = {}
    if outputs or journals:
        refuse_inputs([*outputs, *journals], inputs)
        states = read_states(outputs)
    earlier_reports = EarlierReports(states)
    try:
        yield earlier_reports
    except BaseException as error:
        earlier_reports.remove_after(error)
        if earlier_reports.journal is not None:
            earlier_reports.journal.close()
        raise
