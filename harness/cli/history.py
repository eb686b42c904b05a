"""``harness history``: the runs of a suite in order, on a terminal and as a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.shared_options import (
    OutputType,
    config_options,
    find_one_suite,
    history_option,
    make_run_options,
    root_option,
)
from harness.cli.terminal import show as print_all
from harness.config import Configs
from harness.errors import HistoryError, UsageError
from harness.history import read_history
from harness.history.timeline import build_timelines
from harness.model import HistoryEntry, Suite
from harness.report.history_document import build_history_document
from harness.report.outputs import Output, refuse_inputs, render_history, write_output
from harness.report.terminal.history import print_history
from harness.suites import load_suite
from harness.suites.inputs import RunInputs
from harness.words import did_you_mean, listed

MOST_RUNS = 300
"""Runs that are shown where the user says nothing."""

KINDS = ("html",)


class HistoryGroup(click.Group):
    """A group whose command is `show` where none is named, so that ``harness history SUITE`` is enough."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with the word `show` where it is left out."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group("history", cls=HistoryGroup)
def command() -> None:
    """
    Show the runs that `harness run --history` kept.

    `harness history SUITE` is short for `harness history show SUITE`.
    """


@command.command(
    "show",
    epilog=format_examples(
        "harness history suites/products.relevance.yaml --history history --output html=history.html"
    ),
)
@click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path))
@history_option
@click.option("--request", metavar="NAME", help="Show the runs of this request only.")
@click.option("--index", metavar="NAME", help="Show the runs with this index in place of the suite's own only.")
@click.option(
    "--last",
    metavar="N",
    type=click.IntRange(min=1),
    default=MOST_RUNS,
    show_default=True,
    help="Show this many runs of each request and index, the latest.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    type=OutputType(KINDS, "html=history.html"),
    help="Write a page: html=FILE.",
)
@config_options
@root_option
def show(
    suite: Path, request: str | None, index: str | None, last: int, outputs: tuple[Output, ...], **arguments: Any
) -> None:
    """
    Show how the measures of a suite went over its runs: lines, steps and drifts, and what changed before them.

    All runs are scored with the judgments of today, as far as the kept rankings allow, beside the figures of the day.
    """
    path = find_one_suite(suite, arguments["root"])
    options = make_run_options(**arguments)
    configs = Configs.from_options(options, os.environ)
    folder = configs.find_history(options)
    if folder is None:
        raise UsageError("no history is named: give its folder with --history DIR, or as `history` in harness.toml")
    refuse_inputs(outputs, RunInputs([path], options, os.environ))
    loaded = load_suite(path, os.environ, needs_judgments=False, configs=configs)
    entries = _select_entries(read_history(folder, loaded.name), loaded, request, index)
    if not entries:
        raise HistoryError(
            f"the history {folder.as_posix()} has no run of the suite {loaded.name!r}; keep runs with harness run "
            f"{path} --history {folder.as_posix()}"
        )
    timelines = build_timelines(entries, loaded, most=last)
    print_all(print_history(build_history_document(timelines)))
    for output in outputs:
        write_output(output, render_history(timelines), "the page")
        click.echo(f"wrote {output.path}", err=True)


def _select_entries(
    entries: list[HistoryEntry], suite: Suite, request: str | None, index: str | None
) -> list[HistoryEntry]:
    """
    Those of *entries* with a request of *suite*, which alone can be scored again, and with *request* and *index*.

    Raises:
        UsageError: No entry has them.
    """
    selected = [entry for entry in entries if entry.request in suite.requests]
    if request is not None:
        known = sorted({entry.request for entry in selected})
        if known and request not in known:
            raise UsageError(f"no run has the request {request!r}, only {listed(known)}{did_you_mean(request, known)}")
        selected = [entry for entry in selected if entry.request == request]
    if index is not None:
        known = sorted({entry.chosen_index for entry in selected if entry.chosen_index})
        if selected and index not in known:
            found = f"only {listed(known)}" if known else "all search the suite's own"
            raise UsageError(f"no run has the index {index!r} in place of the suite's own, {found}")
        selected = [entry for entry in selected if entry.chosen_index == index]
    return selected
