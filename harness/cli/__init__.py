"""
The command line: options in, exit status out. One module a command, imported when it is called.

The help imports click and nothing else, so that it answers at once: the line of help for each command is here.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from harness import __version__
from harness.cli.exits import READER_LEFT_STATUS, WRONG_USE, run_guarded
from harness.cli.streams import silence_stdout
from harness.errors import UsageError
from harness.extensions import load_extensions
from harness.words import did_you_mean

_CORE_COMMANDS = {
    "Daily": {
        "validate": "Check suites without an engine and report all problems.",
        "run": "Run suites against an engine and report the results.",
        "show": "Show one query: its request, its ranking by rank, and why documents score.",
        "baseline": "Save the rankings of suites as baselines for later runs.",
    },
    "Queries and judgments": {},
    "Analysis": {
        "evaluate": "Score the run file of any system against a judgment file, without an engine.",
    },
    "Engines": {
        "engine": "Start and stop the embedded engine.",
    },
    "Others": {
        "schema": "Print what lets an editor check suites: the JSON Schema of a kind of file.",
    },
}
"""The commands of the core and what they do, in all groups of the help."""

_EXTENSION_COMMANDS = {command.name: command for extension in load_extensions() for command in extension.commands}
"""The commands of extensions."""


def _list_group(title: str) -> dict[str, str]:
    """The commands of the group *title* and what they do, in the order of the help."""
    added = [command for command in _EXTENSION_COMMANDS.values() if command.group == title]
    sentences = {}
    for name, sentence in _CORE_COMMANDS[title].items():
        # An extension may say before which command of the core its own stands.
        for command in added:
            if command.before == name:
                sentences[command.name] = command.sentence
        sentences[name] = sentence
    for command in added:
        if not command.before:
            sentences[command.name] = command.sentence
    return sentences


COMMAND_GROUPS = {title: _list_group(title) for title in _CORE_COMMANDS}
"""Each command and what it does, in the groups of the help."""

COMMANDS = {name: sentence for group in COMMAND_GROUPS.values() for name, sentence in group.items()}


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Their names, as the help lists them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, or None; its module has it as ``command``."""
        if cmd_name not in COMMANDS:
            return None
        from harness.cli.added_options import add_options_of_extensions

        module = f"harness.cli.{cmd_name}"
        if cmd_name in _EXTENSION_COMMANDS:
            module = _EXTENSION_COMMANDS[cmd_name].module
        command = importlib.import_module(module).command
        assert isinstance(command, click.Command)
        return add_options_of_extensions(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; the error for an unknown name suggests the nearest known one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]!r}{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; without arguments, what to do next is printed in place of the help."""
        if not args and not ctx.resilient_parsing:
            from harness.cli.next_steps import describe_next_steps

            click.echo("\n".join(describe_next_steps(Path())))
            # Not 0: a script whose command was lost must not pass.
            ctx.exit(WRONG_USE)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does, but a closed pipe does not end with the status of a failed threshold."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            silence_stdout()
            return READER_LEFT_STATUS

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing one."""
        for title, commands in COMMAND_GROUPS.items():
            if commands:
                with formatter.section(title):
                    formatter.write_dl(list(commands.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="relevance-harness", message="%(prog)s %(version)s")
def root() -> None:
    """
    Test how well a search engine ranks.

    Exit status: 0 all thresholds hold, 1 one does not, 2 a suite or the command line is wrong, 3 the engine could not
    answer, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command line and return its exit status.

    Args:
        arguments: What follows the word ``relevance``; None takes the process's own.
    """
    words = None
    if arguments is not None:
        words = list(arguments)
    as_json = "--json" in (sys.argv[1:] if words is None else words)
    status = run_guarded(partial(_run_command, words), as_json=as_json)
    if arguments is None:
        # The process ends, and Python would look for cycles in all that was imported, in vain: scripts/bench/startup.
        gc.freeze()
    return status


def _run_command(words: list[str] | None) -> Any:
    """The result of the command that *words* name; None takes those of the process."""
    for word in words or ():
        # The system takes no such file name, and Python would raise a ValueError.
        if "\0" in word:
            raise UsageError(f"found {word!r} on the command line, which has a NUL byte; remove that")
    return root.main(words, prog_name="relevance", standalone_mode=False)
