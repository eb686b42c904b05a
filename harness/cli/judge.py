"""``harness judge``: grade what is unjudged on a page in the browser."""

from __future__ import annotations

import math
import os
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

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
from harness.judging import PoolOptions, read_judged
from harness.judging.agreement import Pair, ResolutionRule, compute_agreement, resolve
from harness.judging.findings import Scale, parse_scale
from harness.judging.judge_file import (
    JudgeFile,
    build_judge_path,
    collect_given,
    describe_outdated,
    fingerprint_questions,
    read_judge_files,
)
from harness.judging.page import JudgingServer, require_installed
from harness.judging.session import JudgeOptions, check_on_scale, list_choices, open_session
from harness.judging.writing import GradedFiles, check_output, format_csv, format_json_lines
from harness.model import Suite
from harness.report.outputs import Output, is_same_file, write_output
from harness.report.sentences import printable
from harness.report.terminal.judgments import agreement_json, agreement_renderables
from harness.words import count, did_you_mean

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
    **given: Any,
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
    path, bounds = find_one_suite(suite, given["root"]), None if scale is None else parse_scale(scale)
    configs = Configs.of(
        make_run_options(config=given["config"], variables=given["variables"], root=given["root"]), os.environ
    )
    judged = read_judged(path, None, configs=configs)[0].suite
    questions = fingerprint_questions(judged)
    judges = read_judge_files(path, folder, questions)
    if agreement:
        return _print_agreement(judged, judges, bounds, as_json=as_json)
    if only_write and settle:
        _check_has_graded(judge, judges)
    name = judge or SOMEBODY
    mine = judges.setdefault(name, JudgeFile(build_judge_path(path, name, folder), questions))
    settler = name if settle else None
    target = _Target(
        GradedFiles.read(path, configs), folder, ResolutionRule(rule), most_apart, outputs, bounds, settler
    )
    target.check(judges)
    if only_write:
        for line in target.write():
            click.echo(printable(line))
        return 0
    require_installed()
    mine.check_writable()
    return _judge(path, judges, target, judge=name, scale=bounds, **given)


def _check_has_graded(judge: str | None, judges: Mapping[str, JudgeFile]) -> None:
    """
    Check that *judge*, whose grades settle, has graded a document.

    Raises:
        UsageError: The judge has not.
    """
    known = [name for name, kept in judges.items() if kept.grades]
    if judge not in known:
        others = f"only {', '.join(known)} {'has' if len(known) == 1 else 'have'}" if known else "nobody has"
        raise UsageError(f"{judge} has graded no document, and {others}{did_you_mean(str(judge), known)}")


def _print_agreement(suite: Suite, judges: dict[str, JudgeFile], scale: Scale | None, *, as_json: bool) -> int:
    for line in describe_outdated(judges):
        click.echo(printable(f"harness: {line}"), err=True)
    graded = {name: kept.grades for name, kept in judges.items() if kept.grades}
    found = compute_agreement(graded, [choice.grade for choice in list_choices(suite, scale)])
    if as_json:
        click.echo(agreement_json(found))
    else:
        show(agreement_renderables(found))
    return 0


def _judge(
    path: Path,
    judges: dict[str, JudgeFile],
    target: _Target,
    *,
    fields: str | None,
    depth: int | None,
    judge: str,
    blind: bool,
    seed: int,
    scale: Scale | None,
    port: int,
    no_open: bool,
    quiet: bool,
    **given: Any,
) -> int:
    named = tuple(name.strip() for name in (fields or "").split(",") if name.strip())
    pooling = PoolOptions(*make_run_choices(**given), depth, fields=named)
    settles = target.settler is not None
    options = JudgeOptions(pooling, judge, blind, seed, scale, settles)
    with run_progress(quiet=quiet) as progress:
        session = open_session(path, judges, options, environ=os.environ, progress=progress)
    for note in session.notes:
        click.echo(printable(f"harness: {note}"), err=True)
    status = NO_ANSWER if session.unanswered else 0
    if not session.documents:
        why = "no hit has different grades of other judges" if settles else "every hit in the pool has a grade"
        click.echo("nothing to judge" if status else f"nothing to judge: {why}")
        return status
    if blind:
        click.echo(f"blind order, seed {seed}")
    return _serve(JudgingServer(session, target.write, target.reread, port), opens=not no_open) or status


def _serve(server: JudgingServer, *, opens: bool) -> int:
    """Serve the page until the judge finishes, or interrupts."""
    session = server.session
    server.start()
    try:
        to_judge = count(len(session.documents), "document")
        click.echo(f"{to_judge} to judge, {session.graded_count:,} of them graded: {server.url}")
        if opens and not _open(server.url):
            click.echo("harness: no browser could be opened; open the address above", err=True)
        server.finished.wait()
    except KeyboardInterrupt:
        graded = session.graded_count
        kept = f"{count(graded, 'grade')} {'is' if graded == 1 else 'are'} kept in {session.file.path}"
        kept = kept if graded else "no document was graded"
        click.echo(printable(f"{kept}; nothing was written to the suite"), err=True)
        return INTERRUPTED
    finally:
        server.close()
    for line in server.said:
        click.echo(printable(line))
    return 0


def _open(url: str) -> bool:
    """Open the page in a browser with a window, not one in the terminal; returns whether that succeeded."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(browser) is not webbrowser.GenericBrowser and browser.open(url)


@dataclass(slots=True)
class _Target:
    """
    Where grades are written: the *files* of the suite, or *outputs*; by which *rule*, and on which *scale*.

    The files of the judges are in *folder*, or beside the suite, and are read when grades are written: others may judge
    meanwhile. Grades of the *settler* take precedence over the rule.
    """

    files: GradedFiles
    folder: Path | None
    rule: ResolutionRule
    most_apart: float
    outputs: Sequence[Output]
    scale: Scale | None
    settler: str | None = None

    def check(self, judges: Mapping[str, JudgeFile]) -> None:
        """
        Check that no output holds grades of others than *judges*.

        Raises:
            UsageError: An output does.
        """
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
        judges = read_judge_files(self.files.suite, self.folder, fingerprint_questions(suite))
        check_on_scale(judges.values(), suite, self.scale)
        graded = {name: kept.grades for name, kept in judges.items()}
        found = resolve(graded, self.rule, most_apart=self.most_apart, settler=self.settler)
        write = self._to_outputs if self.outputs else self._to_suite
        said = [*describe_outdated(judges), *write(found.grades, judges)]
        if found.open:
            left = count(len(found.open), "document")
            options = "harness judge SUITE --agreement, --settle or --resolve"
            said.append(f"no grade was written for {left} on which judges differ; see {options}")
        return said

    def _to_outputs(self, grades: Mapping[Pair, float], judges: Mapping[str, JudgeFile]) -> Iterator[str]:
        self.check(judges)
        for output in self.outputs:
            write_output(output, WRITERS[output.kind](grades), "the grades")
            yield f"wrote {count(len(grades), 'grade')} to {output.path}"

    def _to_suite(self, grades: Mapping[Pair, float], judges: Mapping[str, JudgeFile]) -> Iterator[str]:
        written = self.files.write(grades, collect_given(judges.values()))
        self.reread()
        if not written.files:
            yield "no grade is new; nothing was written"
        else:
            changed = f", and {written.changed:,} changed" if written.changed else ""
            yield f"wrote {count(written.added, 'new grade')}{changed} to {' and '.join(map(str, written.files))}"
        for (query, document), grade in written.kept.items():
            yield f"document {document} of query {query} keeps its grade {grade:g}, which no judge gave"
        if written.unknown:
            yield f"left out {count(written.unknown, 'grade')} for queries that the suite does not have"
