"""``relevance history``: the runs of a suite in order, on a terminal and as a page; packed; for services."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.examples import format_examples
from harness.cli.found_suites import find_one_suite
from harness.cli.headings import Group
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import (
    config_options,
    json_option,
    make_click_option,
    make_run_options,
    output_option,
    root_option,
)
from harness.cli.terminal import print_all
from harness.config import Configs
from harness.errors import HistoryError, UsageError
from harness.extensions.history.document import build_history_document, list_facts
from harness.extensions.history.exports import EXPORT_FORMATS, render_export, select_last_entries
from harness.extensions.history.packing import pack_suite
from harness.extensions.history.page import render
from harness.extensions.history.timeline import build_timelines
from harness.gate.decide_history import describe_other_files
from harness.model.kept import History, HistoryEntry
from harness.model.suite import Json, Suite
from harness.options import OPTIONS, RunOptions
from harness.report.output_files import refuse_inputs, write_output
from harness.report.outputs import Output
from harness.report.terminal import print_document
from harness.store.history import rename_entries
from harness.store.history_files import list_suites, name_suite_file, read_history, select_of_file
from harness.suites import load_suite
from harness.suites.inputs import RunInputs
from harness.waits import show_work
from harness.words import count, did_you_mean, listed

MOST_RUNS = 1000
"""Runs of each request and index that are shown, the latest: more would take long to score anew."""

KEPT_APART = 50
"""Runs of each suite that are not packed where the user says nothing."""

_KINDS = ("html",)

history_option = make_click_option(
    replace(OPTIONS["history"], help="The folder with the history; by default that of relevance.toml.")
)


@click.group("history", cls=Group, short_for="show")
def command() -> None:
    """
    Show the runs that `relevance run --history` kept, pack them, or export the last one.

    `relevance history SUITE` is short for `relevance history show SUITE`.
    """


@command.command(
    "show",
    epilog=format_examples(
        "relevance history show suites/products.relevance.yaml --history history --output html=history.html"
    ),
)
@click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path))
@history_option
@click.option("--request", metavar="NAME", help="Show the runs of this request only.")
@click.option("--index", metavar="NAME", help="Show the runs with this index in place of the suite's own only.")
@output_option(_KINDS, "html=history.html", "Write a page: html=FILE.")
@json_option
@config_options
@root_option
def show(
    suite: Path,
    request: str | None,
    index: str | None,
    outputs: tuple[Output, ...],
    as_json: bool,
    **arguments: Any,
) -> int:
    """
    Show how the measures of a suite went over its runs: lines, steps and drifts, and what changed before them.

    All runs are scored with the judgments of today, as far as the kept rankings allow, beside the figures of the day.
    """
    path = find_one_suite(suite, arguments["root"])
    options = make_run_options(**arguments)
    configs = Configs.from_options(options, os.environ)
    folder = _find_folder(configs, options)
    refuse_inputs(outputs, RunInputs([path], options, os.environ))
    loaded = load_suite(path, os.environ, needs_judgments=False, configs=configs)
    with show_work("reading the history"):
        entries = _select_entries(_read_entries(folder, loaded, path), loaded, request, index)
    if not entries:
        raise _make_no_runs_error(folder, loaded, path)
    with show_work(f"scoring {count(len(entries), 'run')} by the judgments of today"):
        timelines = build_timelines(entries, loaded, most=MOST_RUNS)
    delivery = Delivery()
    with delivery.printing():
        if as_json:
            facts: list[Json] = [list_facts(timeline) for timeline in timelines]
            files = [str(output.path) for output in outputs]
            print_result(CommandResult("history show", files=files, facts={"timelines": facts}))
        else:
            print_all(print_document(build_history_document(timelines)))
    for output in outputs:
        with delivery.writing():
            write_output(output, render(timelines), "the page")
            click.echo(f"wrote {output.path}", err=True)
    return delivery.report_errors(0)


@command.command("pack", epilog=format_examples("relevance history pack --history history --keep 50"))
@history_option
@click.option(
    "--keep",
    metavar="N",
    type=click.IntRange(min=0),
    default=KEPT_APART,
    show_default=True,
    help="Leave the latest N runs of each suite in files of their own.",
)
@json_option
@config_options
def pack(keep: int, as_json: bool, **arguments: Any) -> None:
    """
    Join the old runs of each suite in one file, an entry a line.

    All commands read both. Pack on one branch, such as main: git merges it with branches that only kept more runs.
    """
    options = make_run_options(**arguments)
    folder = _find_folder(Configs.from_options(options, os.environ), options)
    # All suites are read before a file of one is written.
    with show_work("reading the history"):
        packed_suites = [pack_suite(suite_folder, keep=keep) for suite_folder in list_suites(folder)]
    for packed in packed_suites:
        if packed is not None:
            packed.write()
            if not as_json:
                click.echo(f"packed {count(packed.entries, 'run')} into {packed.path.as_posix()}")
    if as_json:
        files = [packed.path.as_posix() for packed in packed_suites if packed is not None]
        runs: list[Json] = [packed.entries for packed in packed_suites if packed is not None]
        print_result(CommandResult("history pack", files=files, facts={"runs": runs}))
    elif not any(packed_suites):
        click.echo(
            f"nothing to pack: no suite in {folder.as_posix()} has more than {count(keep, 'run')} in files of their own"
        )


@command.command(
    "export",
    epilog=format_examples(
        "relevance history export suites/products.relevance.yaml --history history --format bencher > results.json"
    ),
)
@click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path))
@history_option
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(EXPORT_FORMATS)),
    required=True,
    help="Which service is to read it.",
)
@config_options
@root_option
def export(suite: Path, format_name: str, **arguments: Any) -> None:
    """
    Print the means of the last run, of each request and index, as JSON that a service for benchmarks reads.

    The figures are those of the day. github-action-benchmark reads it as its tool customBiggerIsBetter, Bencher with
    its adapter json.
    """
    path = find_one_suite(suite, arguments["root"])
    options = make_run_options(**arguments)
    configs = Configs.from_options(options, os.environ)
    folder = _find_folder(configs, options)
    loaded = load_suite(path, os.environ, needs_judgments=False, configs=configs)
    with show_work("reading the history"):
        entries = select_last_entries(_read_entries(folder, loaded, path))
    click.echo(render_export(entries, format_name), nl=False)


def _find_folder(configs: Configs, options: RunOptions) -> Path:
    """
    The folder of the history.

    Raises:
        UsageError: None is named.
    """
    folder = configs.find_history(options)
    if folder is None:
        raise UsageError("no history is named: give its folder with --history DIR, or as `history` in relevance.toml")
    return folder


def _read_entries(folder: Path, suite: Suite, path: Path) -> list[HistoryEntry]:
    """
    The entries of *suite*, the file at *path*; says on stderr of which other files the folder has runs.

    Raises:
        HistoryError: There are none.
    """
    entries, other_files = select_of_file(read_history(folder, suite.name), path, folder)
    others = describe_other_files(History(file=name_suite_file(path, folder), other_files=other_files))
    if not entries:
        raise _make_no_runs_error(folder, suite, path, others)
    if others:
        click.echo(f"note: {others}", err=True)
    return rename_entries(entries, suite)


def _make_no_runs_error(folder: Path, suite: Suite, path: Path, others: str = "") -> HistoryError:
    found = f"the history {folder.as_posix()} has no run of the suite {suite.name!r}"
    remedy = f"keep runs with relevance run {path} --history {folder.as_posix()}"
    return HistoryError("; ".join(filter(None, (found, others, remedy))))


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
