"""
The command line: options in, exit status out. One module a command, imported when it is called.

The help imports click and nothing else, so that it answers at once: the line of help for each command is here.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from harness import __version__
from harness.cli.exits import READER_LEFT, WRONG_USE, run_guarded
from harness.cli.streams import silence_stdout
from harness.errors import UsageError
from harness.words import did_you_mean

COMMAND_GROUPS = {
    "Daily": {
        "init": "Write a suite for your own index, or a small one with documents.",
        "validate": "Check suites without an engine and report all problems.",
        "run": "Run suites against an engine and report the results.",
        "show": "Show one query: its request, its ranking by rank, and why documents score.",
        "baseline": "Save the rankings of suites as baselines for later runs.",
        "judge": "Grade unjudged documents: on a page in the browser, as a team, by a model.",
        "compare": "Compare two runs side by side, with tests of significance.",
    },
    "Queries and judgments": {
        "queries": "Draw queries for a suite from a log of searches.",
        "judgments": "Collect unjudged documents, and find errors in judgments.",
        "import": "Write a suite from Quepid, RRE and others, or grades from clicks.",
        "export": "Write suites as TREC files, CSV or JSON lines.",
    },
    "Analysis": {
        "history": "Show how measures went over the runs that were kept.",
        "tune": "Tune the parameters of a request, and decide on queries held out.",
        "plan": "Count the queries that would show an effect, from two sides.",
        "evaluate": "Score the run file of any system against a judgment file, without an engine.",
    },
    "Engines": {
        "doctor": "Check a server: connection, privileges, index, fields, clock.",
        "engine": "Start and stop the embedded engine.",
        "verify": "Compare the scores of suites with those of the cluster's own _rank_eval.",
    },
    "Others": {
        "merge": "Report as one run what several machines sent in parts, by run --shard.",
        "schema": "Print what lets an editor check suites: the JSON Schema of a kind of file.",
        "info": "Print versions, extras and plugins, for an issue report.",
    },
}
"""Each command and what it does, in the groups of the help."""

COMMANDS = {name: sentence for group in COMMAND_GROUPS.values() for name, sentence in group.items()}


_EXTENSIONS = {
    "judge": "harness.extensions.judging.commands.judge",
    "judgments": "harness.extensions.judging.commands.judgments",
    "compare": "harness.extensions.compare.command",
    "plan": "harness.extensions.compare.plan_command",
    "queries": "harness.extensions.sampling.command",
    "import": "harness.extensions.migrate.import_command",
    "export": "harness.extensions.migrate.export_command",
    "verify": "harness.extensions.migrate.verify_command",
    "history": "harness.extensions.history.command",
    "tune": "harness.extensions.tuning.command",
    "merge": "harness.extensions.distributed.merge_command",
    "init": "harness.extensions.migrate.init_command",
    "doctor": "harness.extensions.start.doctor_command",
    "info": "harness.extensions.start.info_command",
}
"""The modules of commands that are no part of the core."""


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

        module = _EXTENSIONS.get(cmd_name, f"harness.cli.{cmd_name}")
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
            return READER_LEFT

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing one."""
        for title, commands in COMMAND_GROUPS.items():
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
    words = None if arguments is None else list(arguments)
    return run_guarded(partial(_run_command, words))


def _run_command(words: list[str] | None) -> Any:
    for word in words or ():
        # The system takes no such file name, and Python would raise a ValueError.
        if "\0" in word:
            raise UsageError(f"found {word!r} on the command line, which has a NUL byte; remove that")
    return root.main(words, prog_name="relevance", standalone_mode=False)
