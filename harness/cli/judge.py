"""``harness judge``: grade what is unjudged on a page in the browser."""

from __future__ import annotations

import math
import os
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.agreement import Pair, ResolutionRule, compute_agreement, resolve
from harness.cli.exits import INTERRUPTED, NO_ANSWER
from harness.cli.run import make_run_choices
from harness.cli.shared_options import (
    OutputType,
    cell_options,
    depth_option,
    engine_options,
    find_one_suite,
    make_run_options,
)
from harness.cli.terminal import run_progress, show
from harness.config import Configs
from harness.errors import UsageError
from harness.files.judge_files import (
    JudgeFile,
    build_judge_path,
    collect_given,
    describe_outdated,
    fingerprint_questions,
    read_judge_files,
)
from harness.judging import PoolOptions, TextOptions, read_judged
from harness.judging.findings import Scale, parse_scale
from harness.judging.judge_lock import hold_judge_file
from harness.judging.server import JudgingServer, require_installed
from harness.judging.session import JudgeOptions, check_on_scale, list_choices, open_views
from harness.judging.writing import GradedFiles, check_output, format_csv, format_json_lines
from harness.model import Suite
from harness.report.outputs import Output, is_same_file, refuse_twins, write_output
from harness.report.sentences import make_loggable
from harness.report.terminal.judgments import dump_agreement, print_agreement
from harness.words import count, did_you_mean, format_exactly

SOMEBODY = "judge"
"""The name of a judge who gives none."""

WRITERS = {"csv": format_csv, "jsonl": format_json_lines}
RULES = [str(rule) for rule in ResolutionRule]


@click.command("judge")
@click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path))
@click.option("--judge", metavar="NAME", help=f"Whose grades these are; by default {SOMEBODY}.")
@click.option("--blind", is_flag=True, help="Hide ranks, requests and existing grades, and shuffle documents.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the blind order.")
@click.option("--fields", metavar="NAME,…", help="The fields to show; by default the longest text except the title.")
@click.option("--scale", metavar="LOW..HIGH", help="The grades to choose from, such as 0..3.")
@depth_option
@engine_options
@cell_options
@click.option(
    "--output",
    "outputs",
    multiple=True,
    type=OutputType(WRITERS, "csv=grades.csv"),
    help="Write the grades to csv=FILE or jsonl=FILE instead of the suite; may be repeated.",
)
@click.option(
    "--resolve",
    "rule",
    type=click.Choice(RULES),
    default=RULES[0],
    show_default=True,
    help="The grade of a document that several judges graded.",
)
@click.option(
    "--most-apart",
    metavar="N",
    type=click.FloatRange(min=0),
    default=math.inf,
    help="Write no grade of a document whose grades are further apart.",
)
@click.option(
    "--settle",
    is_flag=True,
    help="Grade only documents on which other judges differ; these grades are written. Needs --judge.",
)
@click.option("--agreement", is_flag=True, help="Print how far the judges agree, and open no page.")
@click.option("--json", "as_json", is_flag=True, help="Print the agreement as JSON.")
@click.option("--write", "only_write", is_flag=True, help="Write the grades that are kept, and open no page.")
@click.option(
    "--progress",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder where grades are kept; by default the suite's.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port; by default a free one.")
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
@click.option("--quiet", "-q", is_flag=True, help="No progress of the searches.")
def command(
    suite: Path,
    folder: Path | None,
    judge: str | None,
    scale: str | None,
    outputs: tuple[Output, ...],
    rule: str,
    most_apart: float,
    settle: bool,
    agreement: bool,
    as_json: bool,
    only_write: bool,
    **arguments: Any,
) -> int:
    """
    Grade on a page in the browser what `harness judgments pool` would collect.

    Each grade is kept at once in a file beside the suite, one for each judge, so that judging goes on where it ended.
    Finishing on the page writes the grades to the suite, or to the judgment file that it names, and changes nothing
    else there. A file that changed meanwhile is not written unless the page is told to. Ctrl-C ends without writing.
    """
    if as_json and not agreement:
        raise click.UsageError("--json prints the agreement; add --agreement")
    if agreement and (only_write or settle):
        raise click.UsageError(f"--agreement writes nothing; remove {'--write' if only_write else '--settle'}")
    if settle and not judge:
        raise click.UsageError("--settle needs --judge NAME, whose grades stand before those of all others")
    if only_write and judge is not None and not settle:
        raise click.UsageError("--write writes the grades of all judges; remove --judge, or add --settle")
    if math.isnan(most_apart):
        raise click.UsageError("found nan for --most-apart, expected a number of at least 0")
    path = find_one_suite(suite, arguments["root"])
    parsed_scale = None if scale is None else parse_scale(scale)
    config_arguments = {name: arguments[name] for name in ("config", "variables", "root")}
    configs = Configs.from_options(make_run_options(**config_arguments), os.environ)
    judged_suite = read_judged(path, None, configs=configs)[0].suite
    questions = fingerprint_questions(judged_suite)
    judges = read_judge_files(path, folder, questions)
    if agreement:
        return _print_agreement(judged_suite, judges, parsed_scale, as_json=as_json)
    if only_write and settle:
        _check_has_graded(judge, judges)
    name = judge or SOMEBODY
    judges.setdefault(name, JudgeFile(build_judge_path(path, name, folder), questions))
    target = _GradeTarget(
        files=GradedFiles.read(path, configs),
        folder=folder,
        rule=ResolutionRule(rule),
        most_apart=most_apart,
        outputs=outputs,
        scale=parsed_scale,
        settler=name if settle else None,
    )
    target.check(judges)
    if only_write:
        for line in target.write():
            click.echo(make_loggable(line))
        return 0
    return _judge_alone(path, judges, target, judge=name, **arguments)


def _check_has_graded(judge: str | None, judges: Mapping[str, JudgeFile]) -> None:
    """
    Check that *judge*, whose grades settle, has graded a document.

    Raises:
        UsageError: The judge has not.
    """
    names = [name for name, file in judges.items() if file.grades]
    if judge in names:
        return
    others = "nobody has"
    if names:
        others = f"only {', '.join(names)} {'has' if len(names) == 1 else 'have'}"
    raise UsageError(f"{judge} has graded no document, and {others}{did_you_mean(str(judge), names)}")


def _print_agreement(suite: Suite, judges: dict[str, JudgeFile], scale: Scale | None, *, as_json: bool) -> int:
    for line in describe_outdated(judges):
        click.echo(make_loggable(f"harness: {line}"), err=True)
    check_on_scale(judges.values(), suite, scale)
    grades = {name: file.grades for name, file in judges.items() if file.grades}
    agreement = compute_agreement(grades, [choice.grade for choice in list_choices(suite, scale)])
    if as_json:
        click.echo(dump_agreement(agreement))
    else:
        show(print_agreement(agreement))
    return 0


def _judge_alone(
    path: Path, judges: dict[str, JudgeFile], target: _GradeTarget, *, judge: str, **arguments: Any
) -> int:
    """Judge while no other command grades as *judge*; the arguments are those of `_judge`."""
    # Before queries are sent: what a judge grades could not be kept.
    require_installed()
    own_file = judges[judge]
    own_file.check_writable()
    with hold_judge_file(own_file.path, judge) as is_held:
        if not is_held:
            line = f"this system has no lock for {own_file.path}; grade as {judge} in this command only"
            click.echo(make_loggable(f"harness: {line}"), err=True)
        # A command that ended just now may have kept grades since the file was read.
        judges[judge] = JudgeFile.read(own_file.path, own_file.questions)
        return _judge(path, judges, target, judge=judge, **arguments)


def _judge(
    path: Path,
    judges: dict[str, JudgeFile],
    target: _GradeTarget,
    *,
    fields: str | None,
    depth: int | None,
    judge: str,
    blind: bool,
    seed: int,
    port: int,
    no_open: bool,
    quiet: bool,
    **arguments: Any,
) -> int:
    """Collect what is to be judged, and serve the page; the arguments are those of the command."""
    field_names = [name.strip() for name in fields.split(",")] if fields is not None else []
    run_options, matrix = make_run_choices(**arguments)
    shown = TextOptions(fields=tuple(name for name in field_names if name), highlights=True)
    pool_options = PoolOptions(run_options, matrix, depth, shown)
    options = JudgeOptions(pool_options, (judge,), blind, seed, target.scale, target.settler)
    with run_progress(quiet=quiet) as progress:
        view = open_views(path, judges, options, environ=os.environ, progress=progress)[judge]
    for note in view.task.notes:
        click.echo(make_loggable(f"harness: {note}"), err=True)
    status = NO_ANSWER if view.task.unanswered else 0
    if not view.documents:
        line = "nothing to judge"
        # Without an answer nobody knows whether there is something.
        if status == 0 and target.settler is not None:
            line += ": no hit has different grades of other judges"
        elif status == 0:
            line += ": every hit in the pool has a grade"
        click.echo(line)
        return status
    if blind:
        click.echo(f"blind order, seed {seed}")
    status_of_page = _serve(JudgingServer(view, target.write, target.reread, port), opens=not no_open)
    return status_of_page or status


def _serve(server: JudgingServer, *, opens: bool) -> int:
    """Serve the page until the judge finishes, or interrupts."""
    view = server.view
    server.start()
    try:
        documents = count(len(view.documents), "document")
        click.echo(f"{documents} to judge, {view.graded_count:,} of them graded: {server.url}")
        if opens and not _open_browser(server.url):
            click.echo("harness: no browser could be opened; open the address above", err=True)
        server.finished.wait()
    except KeyboardInterrupt:
        graded = view.graded_count
        kept = "no document was graded"
        if graded:
            kept = f"{count(graded, 'grade')} {'is' if graded == 1 else 'are'} kept in {view.file.path}"
        click.echo(make_loggable(f"{kept}; nothing was written to the suite"), err=True)
        return INTERRUPTED
    finally:
        server.close()
    for line in server.said:
        click.echo(make_loggable(line))
    return 0


def _open_browser(url: str) -> bool:
    """Open the page in a browser with a window, not one in the terminal; returns whether that succeeded."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    # The class of browsers in the terminal, such as lynx, which would take it over.
    if type(browser) is webbrowser.GenericBrowser:
        return False
    return browser.open(url)


@dataclass(slots=True)
class _GradeTarget:
    """Where grades are written, and which of several are."""

    files: GradedFiles
    """The suite and its files."""
    folder: Path | None
    """Has the files of the judges; they are beside the suite where None."""
    rule: ResolutionRule
    most_apart: float
    outputs: Sequence[Output]
    """Are written in place of *files*."""
    scale: Scale | None
    settler: str | None = None
    """The judge whose grades take precedence over the rule."""

    def check(self, judges: Mapping[str, JudgeFile]) -> None:
        """
        Check that no output holds grades of others than *judges*.

        Raises:
            UsageError: An output does, or two are one file.
        """
        refuse_twins(self.outputs)
        for output in self.outputs:
            if is_same_file(output.path, self.files.suite):
                raise UsageError(f"{output.path} is the suite itself; write to another file")
            check_output(output.path, collect_given(judges.values()))

    def reread(self) -> None:
        """Read the files again."""
        self.files = GradedFiles.read(self.files.suite, self.files.configs)

    def write(self) -> list[str]:
        """
        Write the resolved grades; returns sentences on them.

        Raises:
            HarnessError: Nothing was written.
        """
        suite = read_judged(self.files.suite, None, configs=self.files.configs)[0].suite
        # Read again: others may have judged meanwhile.
        judges = read_judge_files(self.files.suite, self.folder, fingerprint_questions(suite))
        check_on_scale(judges.values(), suite, self.scale)
        grades = {name: file.grades for name, file in judges.items()}
        resolution = resolve(grades, self.rule, most_apart=self.most_apart, settler=self.settler)
        lines = list(describe_outdated(judges))
        if self.outputs:
            lines += self._write_outputs(resolution.grades, judges)
        else:
            lines += self._write_to_suite(resolution.grades, judges)
        if resolution.open:
            documents = count(len(resolution.open), "document")
            options = "harness judge SUITE --agreement, --settle or --resolve"
            lines.append(f"no grade was written for {documents} on which judges differ; see {options}")
        return lines

    def _write_outputs(self, grades: Mapping[Pair, float], judges: Mapping[str, JudgeFile]) -> list[str]:
        self.check(judges)
        lines = []
        for output in self.outputs:
            write_output(output, WRITERS[output.kind](grades), "the grades")
            lines.append(f"wrote {count(len(grades), 'grade')} to {output.path}")
        return lines

    def _write_to_suite(self, grades: Mapping[Pair, float], judges: Mapping[str, JudgeFile]) -> list[str]:
        written = self.files.write(grades, collect_given(judges.values()))
        # What was written is no change by somebody else when grades are written once more.
        self.reread()
        lines = []
        if written.files:
            changed = f", and {written.changed:,} changed" if written.changed else ""
            files = " and ".join(map(str, written.files))
            lines.append(f"wrote {count(written.added, 'new grade')}{changed} to {files}")
        else:
            lines.append("no grade is new; nothing was written")
        for (query, document), grade in written.kept.items():
            lines.append(
                f"document {document} of query {query} keeps its grade {format_exactly(grade)}, which no judge gave"
            )
        if written.unknown:
            lines.append(f"left out {count(written.unknown, 'grade')} for queries that the suite does not have")
        return lines
