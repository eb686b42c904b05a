"""``harness baseline``: keep what suites returned, look at it, and see how today differs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click
from rich.console import RenderableType
from rich.text import Text

from harness.baseline import BaselineUpdate, refuse_in_ci
from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.entries import find_changed_questions
from harness.baseline.files import find_baseline, read_baselines, refuse_irregular, suggest_save
from harness.cli.run import make_run_choices
from harness.cli.shared_options import (
    cell_options,
    config_options,
    engine_options,
    find_given_suites,
    make_run_options,
    print_left_out,
    quiet_option,
    root_option,
    suites_argument,
)
from harness.cli.terminal import run_progress
from harness.cli.terminal import show as print_all
from harness.compare import compare_with_baseline
from harness.config import Configs
from harness.errors import BaselineError, HarnessError, UsageError
from harness.files.opening import open_file
from harness.gate.finding import describe_changed_question
from harness.model import Baseline, Suite
from harness.options import explain_baseline_refusal
from harness.report.sentences import printable, score_text
from harness.report.terminal.comparison import report_renderables
from harness.report.terminal.scores import entry_renderables, is_weighted, means_of
from harness.run import Runner
from harness.suites import load_suite
from harness.words import count

file_option = click.option(
    "--baseline",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The baseline file, instead of the one beside the suite.",
)


@click.group("baseline")
def command() -> None:
    """
    Keep what suites returned, for thresholds on a drop to compare with.

    A baseline is one JSON file beside its suite, to be committed with it.
    """


@command.command("save")
@suites_argument
@engine_options
@cell_options
@file_option
@click.option("--force", is_flag=True, help="Save in CI too.")
@quiet_option
def save(suites: Sequence[Path], file: Path | None, force: bool, quiet: bool, **given: Any) -> None:
    """
    Run suites and keep what they return, an entry a request.

    Other requests' baselines stay as they are, and with --tag or --query other queries' too. Where a query of any suite
    has no answer, nothing is written. In CI it is refused: a job that saves its own baseline always agrees with it.
    """
    if not force:
        refuse_in_ci(os.environ, option="baseline save", forced="--force")
    options, matrix = make_run_choices(**given, baseline=file, save_baseline=True, locate=False, all_titles=False)
    if len(set(matrix.indexes)) > 1:
        raise click.UsageError("a baseline has one run per request; give one --index")
    if file is not None and not file.absolute().parent.is_dir():
        raise click.UsageError(f"--baseline {file}: the folder {file.parent} does not exist; create it first")
    if file is not None:
        refuse_irregular(file)
    found = find_given_suites(suites, options.root)
    with run_progress(quiet=quiet) as progress, Runner(os.environ, progress) as runner:
        finished = runner.run(found.suites, options, matrix=matrix)
    kept: list[BaselineUpdate] = []
    for one in finished:  # of two runs with the same file the second holds the entry of the first too
        kept.append(one.add_to_baseline(options, {before.path: before.file for before in kept}))
    for each in kept:
        each.write()
        click.echo("\n".join(_saved(each)))
    if not quiet:
        print_left_out(found)


@command.command("show")
@suites_argument
@config_options
@root_option
@file_option
def show(suites: Sequence[Path], file: Path | None, **given: Any) -> None:
    """Print what baselines hold: when and from what they were made, and the mean of each measure."""
    configs = Configs.of(make_run_options(**given), os.environ)
    files = find_given_suites(suites, given["root"])
    if refusal := explain_baseline_refusal(file, len(files.suites)):
        raise UsageError(refusal)
    for suite in files.suites:
        with open_file(suite, str(suite)):
            pass  # a missing suite is not the same as a suite without a baseline
    problems = []
    for suite in files.suites:
        loaded = _loaded(suite, configs)
        try:
            path = find_baseline(suite, () if loaded is None else loaded.roots, file)
            found = read_baselines(path)
        except BaselineError as error:
            problems.append(f"{error}; {suggest_save(suite, file)}")
            continue
        click.echo(printable(f"{found.suite}  {path.as_posix()}"))
        for request in sorted(found.requests):
            entry = found.requests[request]
            try:
                refuse_contradictions(entry, path.as_posix(), request, loaded)
            except BaselineError as error:
                problems.append(f"{error}; {suggest_save(suite, file)}")
                continue
            of_suite = loaded is None or loaded.name == found.suite
            otherwise = _asked_otherwise(entry, loaded, request) if of_suite else ()
            print_all(chain(entry_renderables(request, entry), otherwise))
    print_left_out(files)
    if problems:
        raise BaselineError("\n".join(problems))


@command.command("diff")
@suites_argument
@engine_options
@cell_options
@file_option
@quiet_option
def diff(suites: Sequence[Path], file: Path | None, quiet: bool, **given: Any) -> None:
    """
    Run suites and compare what they return with their baselines, as harness compare does.

    Nothing is decided and nothing is written: the exit status is 0 however large the difference is.
    """
    options, matrix = make_run_choices(**given, baseline=file, save_baseline=True, locate=False, all_titles=False)
    found = find_given_suites(suites, options.root)
    with run_progress(quiet=quiet) as progress, Runner(os.environ, progress) as runner:
        compared = []
        for one in runner.answer_files(found.suites, options, matrix=matrix):
            index = f" on index {one.run.index}" if matrix.indexes else ""
            compared.append(compare_with_baseline(one, file, f"request:{one.run.request}{index}"))
    for report in compared:
        print_all(report_renderables(report))
    if not quiet:
        print_left_out(found)


def _loaded(suite: Path, configs: Configs) -> Suite | None:
    """The suite at a path; None where it cannot be read now, such as without its variables."""
    try:
        return load_suite(suite, os.environ, needs_judgments=False, configs=configs)
    except HarnessError:
        return None


def _asked_otherwise(entry: Baseline, suite: Suite | None, request: str) -> Iterator[RenderableType]:
    """The queries of *suite* whose text or params changed since *entry* was saved."""
    if suite is None:
        yield Text("  cannot check whether queries changed: the suite cannot be read")
        return
    for query, both in find_changed_questions(entry, suite, request).items():
        yield Text(printable(f"  changed query: {describe_changed_question(query, *both)}"))


def _saved(kept: BaselineUpdate) -> Iterator[str]:
    """Lines on what was saved, and how its means differ from the entry before."""
    entry = kept.entry
    weighted = " (weighted)" if is_weighted(entry) else ""
    yield printable(f"{kept.path.as_posix()}: request {kept.request}, {count(len(entry.queries), 'query')}")
    for note in kept.notes:
        yield printable(f"  {note}")
    before = means_of(kept.before) if kept.before else {}
    otherwise = ""
    if kept.before and kept.before.queries.keys() != entry.queries.keys():
        otherwise = f" over other queries ({len(kept.before.queries):,})"
    for measure, (value, counted) in means_of(entry).items():
        over = f" of {counted:,}" if counted < len(entry.queries) else ""
        was = f", was {score_text(before[measure][0])}{otherwise}" if measure in before else ""
        yield f"  {measure}{weighted} {score_text(value)}{over}{was}"
    if entry.index.missing:
        yield f"  not read of the index: {', '.join(entry.index.missing)}"
