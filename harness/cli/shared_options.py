"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.cli.exits import COMMAND
from harness.cli.headings import Option
from harness.errors import UsageError
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
from harness.report.outputs import OUTPUT_KINDS, Output
from harness.words import did_you_mean, one_of

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


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on standard output.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress.")


github_option = click.option(
    "--github",
    is_flag=True,
    help="In GitHub Actions: annotate the lines of suites and add to the job's summary.",
)


def output_option(kinds: Collection[str], example: str, text: str) -> Callable[[Decorated], Decorated]:
    """The option ``--output``, which writes one of *kinds*; *example* is one in an error, *text* the help."""
    return click.option("--output", "outputs", multiple=True, type=OutputType(kinds, example), help=text)


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
            remedy = did_you_mean(kind, self._kinds)
            if kind == "json" and ctx is not None and any(option.name == "as_json" for option in ctx.command.params):
                remedy = "; --json prints it"
            self.fail(f"there is no kind {kind!r}, only {kinds}{remedy}", param, ctx)
        path = Path(file)
        if file == "-":
            self.fail("found -, expected a file; /dev/stdout is standard output", param, ctx)
        if path.is_dir():
            self.fail(f"{file} is a folder, expected a file", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"the folder {path.parent} does not exist; create it first", param, ctx)
        return Output(kind, path, f"--output {value}")
