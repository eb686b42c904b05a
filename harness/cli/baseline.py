"""``relevance baseline``: keep what suites returned, look at it, and see how today differs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.found_suites import find_given_suites, print_left_out
from harness.cli.headings import Group
from harness.cli.results import CommandResult, print_result
from harness.cli.running import make_run_choices
from harness.cli.shared_options import (
    cell_options,
    config_options,
    engine_options,
    json_option,
    make_run_options,
    quiet_option,
    root_option,
    suites_argument,
)
from harness.cli.terminal import print_all, run_progress
from harness.config import Configs
from harness.errors import BaselineError, HarnessError, UsageError
from harness.extensions import load_extensions
from harness.files.opening import open_file
from harness.gate.finding import describe_changed_question
from harness.model.kept import Baseline
from harness.model.suite import Json, Suite
from harness.options import explain_baseline_refusal
from harness.report.document import Document
from harness.report.safe_text import make_loggable
from harness.report.scores_document import build_entry, compute_means, is_weighted
from harness.report.sentences import format_score
from harness.report.terminal import print_document
from harness.run import Runner
from harness.store.baseline import BaselineUpdate, refuse_in_ci, rename_baselines
from harness.store.baseline_files import find_baseline, read_baselines, refuse_irregular, suggest_save
from harness.store.contradictions import refuse_contradictions
from harness.store.what_changed import find_changed_questions, make_questions
from harness.suites import load_suite
from harness.words import count

baseline_option = click.option(
    "--baseline",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The baseline file, instead of the one beside the suite.",
)


class BaselineGroup(Group):
    """The commands of baselines, with those of extensions."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, as the help lists them."""
        return [*super().list_commands(ctx), *_list_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None; the module of an extension is imported when it is called."""
        module = _list_added().get(cmd_name)
        if module is None:
            return super().get_command(ctx, cmd_name)
        found = import_module(module).command
        assert isinstance(found, click.Command)
        return found


def _list_added() -> dict[str, str]:
    """The commands of extensions, each with its module."""
    added = {}
    for extension in load_extensions():
        for subcommand in extension.subcommands:
            if subcommand.group == "baseline":
                added[subcommand.name] = subcommand.module
    return added


@click.group("baseline", cls=BaselineGroup)
def command() -> None:
    """
    Keep what suites returned, for thresholds on a drop to compare with.

    A baseline is one JSON file beside its suite, to be committed with it.
    """


@command.command(
    "save", epilog=format_examples("relevance baseline save suites/products.relevance.yaml --url http://localhost:9200")
)
@suites_argument
@engine_options
@cell_options
@baseline_option
@click.option("--force", is_flag=True, help="Save in CI too.")
@json_option
@quiet_option
def save(suites: Sequence[Path], file: Path | None, force: bool, as_json: bool, quiet: bool, **arguments: Any) -> None:
    """
    Run suites and keep what they return, an entry a request.

    Other requests' baselines stay as they are, and with --tag or --query other queries' too. Where a query of any suite
    has no answer, nothing is written. In CI it is refused: a job that saves its own baseline always agrees with it.
    """
    if not force:
        refuse_in_ci(os.environ, option="baseline save", forced="--force")
    options, matrix = make_run_choices(**arguments, baseline=file, save_baseline=True, locate=False, all_titles=False)
    if len(set(matrix.indexes)) > 1:
        raise click.UsageError("a baseline has one run per request; give one --index")
    if file is not None and not file.absolute().parent.is_dir():
        raise click.UsageError(f"--baseline {file}: the folder {file.parent} does not exist; create it first")
    if file is not None:
        refuse_irregular(file)
    found = find_given_suites(suites, options.root)
    with run_progress(quiet=quiet) as progress, Runner(os.environ, progress) as runner:
        finished_suites = runner.run(found.suites, options, matrix=matrix)
    updates: list[BaselineUpdate] = []
    for finished in finished_suites:
        # Of two runs with the same file the second update has the entry of the first too.
        updates.append(finished.add_to_baseline(options, {update.path: update.file for update in updates}))
    # Nothing is written before all are known to have answers.
    for update in updates:
        update.write()
        if not as_json:
            click.echo("\n".join(_describe_update(update)))
    if as_json:
        print_result(_describe_saved(updates))
    if not quiet:
        print_left_out(found)


@command.command("show", epilog=format_examples("relevance baseline show suites/products.relevance.yaml"))
@suites_argument
@config_options
@root_option
@baseline_option
@json_option
def show(suites: Sequence[Path], file: Path | None, as_json: bool, **arguments: Any) -> None:
    """Print what baselines hold: when and from what they were made, and the mean of each measure."""
    configs = Configs.from_options(make_run_options(**arguments), os.environ)
    found = find_given_suites(suites, arguments["root"])
    refusal = explain_baseline_refusal(file, len(found.suites))
    if refusal:
        raise UsageError(refusal)
    for path in found.suites:
        # A missing suite is not the same as a suite without a baseline.
        with open_file(path, str(path)):
            pass
    problems = []
    facts: list[Json] = []
    for path in found.suites:
        remedy = suggest_save(path, file)
        shown, errors = _read_shown(path, _load_suite(path, configs), file)
        problems += [f"{error}; {remedy}" for error in errors]
        if shown is None:
            continue
        facts += [_count_entry(shown.path, name, baseline) for name, baseline in shown.entries.items()]
        if not as_json:
            shown.print()
    print_left_out(found)
    if problems:
        raise BaselineError("\n".join(problems))
    if as_json:
        print_result(CommandResult("baseline show", facts={"baselines": facts}))


@dataclass(frozen=True, slots=True)
class _ShownBaselines:
    """The entries of a file that can be shown, by request, with notes on what changed since."""

    suite: str
    path: Path
    entries: Mapping[str, Baseline]
    notes: Mapping[str, Sequence[str]]

    def print(self) -> None:
        """Print what each entry holds."""
        click.echo(make_loggable(f"{self.suite}  {self.path.as_posix()}"))
        sections = [build_entry(request, entry, self.notes[request]) for request, entry in self.entries.items()]
        print_all(print_document(Document("", (), tuple(sections))))


def _describe_saved(updates: Sequence[BaselineUpdate]) -> CommandResult:
    """The result of the command that saved *updates*."""
    files = dict.fromkeys(update.path.as_posix() for update in updates)
    facts: list[Json] = [
        _count_entry(update.path, update.request, update.entry) | {"notes": list(update.notes)} for update in updates
    ]
    return CommandResult("baseline save", files=list(files), facts={"baselines": facts})


def _count_entry(path: Path, request: str, entry: Baseline) -> dict[str, Json]:
    """The means of *entry*, for programs."""
    means: dict[str, Json] = {}
    for measure, (mean, counted) in compute_means(entry).items():
        means[measure] = {"mean": mean, "counted": counted}
    return {
        "file": path.as_posix(),
        "request": request,
        "created": entry.created,
        "queries": len(entry.queries),
        "means": means,
    }


def _read_shown(
    path: Path, suite: Suite | None, file: Path | None
) -> tuple[_ShownBaselines | None, list[BaselineError]]:
    """The entries of the baseline of the suite at *path*, None without any, and the errors of those refused."""
    try:
        roots = () if suite is None else suite.roots
        baseline_path = find_baseline(path, roots, file)
        baselines = read_baselines(baseline_path, roots if file is None else None)
    except BaselineError as error:
        return None, [error]
    errors = []
    entries: dict[str, Baseline] = {}
    notes: dict[str, Sequence[str]] = {}
    if suite is not None:
        baselines = rename_baselines(baselines, suite)
    for request in sorted(baselines.requests):
        entry = baselines.requests[request]
        try:
            refuse_contradictions(entry, baseline_path.as_posix(), request, suite)
        except BaselineError as error:
            errors.append(error)
            continue
        entries[request] = entry
        notes[request] = ()
        if suite is None:
            notes[request] = ["cannot check whether queries changed: the suite cannot be read"]
        elif suite.name == baselines.suite:
            notes[request] = _list_changed_queries(entry, suite, request)
    return _ShownBaselines(baselines.suite, baseline_path, entries, notes), errors


def _load_suite(path: Path, configs: Configs) -> Suite | None:
    """The suite at a path; None where it cannot be read now, such as without its variables."""
    try:
        return load_suite(path, os.environ, needs_judgments=False, configs=configs)
    except HarnessError:
        return None


def _list_changed_queries(entry: Baseline, suite: Suite, request: str) -> list[str]:
    """The queries of *suite* whose text or params changed since *entry* was saved."""
    lines = []
    for query, (saved, current) in find_changed_questions(entry, make_questions(suite, request)).items():
        lines.append(f"changed query: {describe_changed_question(query, saved, current)}")
    return lines


def _describe_update(update: BaselineUpdate) -> Iterator[str]:
    """Lines on what was saved, and how its means differ from the entry before."""
    entry, earlier = update.entry, update.before
    yield make_loggable(f"{update.path.as_posix()}: request {update.request}, {count(len(entry.queries), 'query')}")
    for note in update.notes:
        yield make_loggable(f"  {note}")
    earlier_means = compute_means(earlier) if earlier is not None else {}
    has_other_queries = earlier is not None and earlier.queries.keys() != entry.queries.keys()
    for measure, (mean, counted) in compute_means(entry).items():
        line = f"  {measure}"
        if is_weighted(entry):
            line += " (weighted)"
        line += f" {format_score(mean)}"
        if counted < len(entry.queries):
            line += f" of {counted:,}"
        if measure in earlier_means:
            line += f", was {format_score(earlier_means[measure][0])}"
            if earlier is not None and has_other_queries:
                line += f" over other queries ({len(earlier.queries):,})"
        yield line
    if entry.index.missing:
        yield f"  not read of the index: {', '.join(entry.index.missing)}"
