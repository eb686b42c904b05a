"""What a page for one judge and the pages of a team have in common: their options, locks and documents."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from harness.cli.headings import rare_option
from harness.cli.running import make_run_choices
from harness.cli.shared_options import Decorated, add_options, cell_options, engine_options, quiet_option
from harness.cli.terminal import run_progress
from harness.extensions.judging.commands.judged_suite import (
    JudgedSuite,
    WritingOptions,
    depth_option,
    folder_option,
    split_names,
    writing_options,
)
from harness.extensions.judging.judge_lock import lock_judge_file
from harness.extensions.judging.pools_and_lint import PoolOptions, TextOptions
from harness.extensions.judging.session import JudgeOptions, JudgeView, open_views
from harness.files.judge_files import JudgeFile
from harness.files.query_samples import build_sample_path, choose_sample, write_sample
from harness.local_server import require_installed
from harness.model.suite import QuerySample
from harness.options import RunOptions
from harness.report.safe_text import make_loggable
from harness.run import Matrix
from harness.search.texts import SNIPPET_LENGTH
from harness.words import count, shorten

MOST_DIGITS = 9
"""Of the size of a sample."""


class SampleSizes(click.ParamType):  # type: ignore[type-arg]  # click before 8.4 takes no argument here
    """Whole numbers from 1 that rise, separated by commas."""

    name = "N[,N…]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Parse *value*."""
        sizes: list[int] = []
        for part in str(value).split(","):
            digits = part.strip()
            least = sizes[-1] + 1 if sizes else 1
            # More digits than a suite has queries; Python refuses to read thousands of them.
            is_size = digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS
            if not is_size or int(digits) < least:
                found = shorten(str(value))
                self.fail(f"found {found!r}, expected whole numbers from 1 that rise, such as 60,120", param, ctx)
            sizes.append(int(digits))
        return tuple(sizes)


fields_option = rare_option(
    "--fields",
    metavar="NAME,…",
    help=f"The fields to show; by default the first {SNIPPET_LENGTH} characters of the longest text except the title.",
)
seed_option = rare_option(
    "--seed", type=int, default=0, show_default=True, help="The seed of all that is drawn by chance."
)


def page_options(command: Decorated) -> Decorated:
    """Give *command* the options of judging pages; `PageOptions` has their values."""
    options = (
        click.option("--blind", is_flag=True, help="Hide ranks, requests and existing grades, and shuffle documents."),
        click.option("--regrade", is_flag=True, help="Grade again what the suite judges, too."),
        depth_option,
        engine_options,
        cell_options,
        quiet_option,
        rare_option(
            "--sample",
            "sizes",
            metavar="N[,N…]",
            type=SampleSizes(),
            help="Grade only N queries, which are drawn and kept; of `judge machine` it is documents. Estimates decide "
            "where people have judged N of them, or each of several N that rise.",
        ),
        seed_option,
        fields_option,
        folder_option,
        writing_options,
    )
    return add_options(command, options)


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The values of `page_options`."""

    run: RunOptions
    matrix: Matrix
    writing: WritingOptions
    depth: int | None
    fields: tuple[str, ...]
    blind: bool
    regrade: bool
    seed: int
    sizes: tuple[int, ...] | None
    """
    Those of a sample of the queries; None if all are graded.

    What is drawn first is graded first, up to the first size: there estimates read so many queries of the sample.
    """
    quiet: bool

    @classmethod
    def read(cls, **arguments: Any) -> PageOptions:
        """
        Read the arguments of a command.

        Raises:
            click.UsageError: They contradict each other.
        """
        own_names = ("depth", "blind", "regrade", "seed", "sizes", "quiet")
        values = {name: arguments.pop(name) for name in own_names}
        fields = split_names(arguments.pop("fields"))
        writing = WritingOptions.from_arguments(arguments)
        run, matrix = make_run_choices(**arguments)
        if values["sizes"] is not None and (run.queries or run.tags):
            raise click.UsageError("--sample draws from all queries; remove --query and --tag")
        return cls(run=run, matrix=matrix, writing=writing, fields=fields, **values)


@dataclass(frozen=True, slots=True)
class GradingPeople:
    """The judges who grade: *names* are all of them, with the *settler*; *overlap* is that of `JudgeOptions`."""

    names: tuple[str, ...]
    settler: str | None = None
    overlap: int | None = None


def lock_files(judged: JudgedSuite, names: Iterable[str], resources: ExitStack) -> None:
    """
    Hold the files of the judges *names* until *resources* are closed, and read them again.

    Raises:
        HarnessError: Another command grades as one of them, or a file cannot be written.
    """
    for name in names:
        own_file = judged.judges[name]
        own_file.check_writable()
        if not resources.enter_context(lock_judge_file(own_file.place, name)):
            line = f"this system has no lock for {own_file.path}; grade as {name} in this command only"
            click.echo(make_loggable(f"relevance: {line}"), err=True)
        # A command that ended just now may have kept grades since the file was read.
        judged.judges[name] = JudgeFile.read(own_file.path, own_file.questions, own_file.roots)


def open_pages(
    judged: JudgedSuite, people: GradingPeople, options: PageOptions, resources: ExitStack
) -> dict[str, JudgeView]:
    """
    Collect what each of *people* is to judge, and say so; *resources* holds their files and the connections.

    Raises:
        HarnessError: A query or a file is wrong, or another command grades as one of them.
    """
    sample = None
    if options.sizes is not None:
        sample = choose_sample(judged.path, judged.suite, options.sizes, options.seed)
    # Before queries are sent: what a judge grades could not be kept.
    require_installed("the judging page needs")
    lock_files(judged, people.names, resources)
    run = options.run
    if sample is not None and options.sizes is not None:
        run = replace(run, queries=sample.queries[: options.sizes[0]])
    judge_options = JudgeOptions(
        pooling=PoolOptions(run, options.matrix, options.depth, TextOptions(fields=options.fields, highlights=True)),
        judges=people.names,
        blind=options.blind,
        seed=options.seed,
        scale=options.writing.scale,
        settler=people.settler,
        overlap=people.overlap,
        regrades=options.regrade,
    )
    with run_progress(quiet=options.quiet) as progress:
        views = open_views(
            judged.path, judged.judges, judge_options, environ=os.environ, resources=resources, progress=progress
        )
    task = views[people.names[0]].task
    for note in task.notes:
        click.echo(make_loggable(f"relevance: {note}"), err=True)
    if sample is not None and options.sizes is not None:
        # Only now: a command that is refused draws no sample.
        path = build_sample_path(judged.path)
        write_sample(path, sample, task.suite.roots)
        click.echo(_describe_sample(path, sample, options.sizes[0]))
        warning = warn_of_small_sample(sample, len(judged.suite.queries))
        if warning:
            click.echo(f"relevance: {warning}", err=True)
    return views


def warn_of_small_sample(sample: QuerySample, queries: int) -> str:
    """What to do where *sample*, of so many *queries*, is too small for an estimate at its first size; else empty."""
    # It imports numpy, which a page without a sample does not need.
    from harness.statistics.prediction_powered import LEAST_JUDGED

    least = min(LEAST_JUDGED, queries)
    if sample.looks[0] >= least:
        return ""
    return (
        f"an estimate needs at least {count(least, 'judged query')} with a score, and {sample.looks[0]:,} are too few: "
        "before anybody grades, remove the file and draw more"
    )


def _describe_sample(path: Path, sample: QuerySample, shown: int) -> str:
    """Where *sample* was written, and how many of its queries are *shown* on the page."""
    line = f"{count(len(sample.queries), 'query')} drawn with seed {sample.seed}: {path}"
    if len(sample.looks) > 1:
        line += f"; estimates decide at {', '.join(map(str, sample.looks))} judged queries"
    if shown < len(sample.queries):
        following = next(size for size in sample.looks if size > shown)
        line += f"; the first {shown} are on the page, and --sample {following} opens those of the next size"
    return line


def has_work(views: Iterable[JudgeView]) -> bool:
    """Whether there is a document to grade, or a query of which none is known: one may be found on the page."""
    for view in views:
        if view.documents:
            return True
        task = view.task
        judged = {query.id for query in task.suite.queries if query.judgments}
        if task.beyond is not None and not view.settles and not task.unanswered and set(task.queries) - judged:
            return True
    return False


def print_order(options: PageOptions) -> None:
    """Print how the documents of a blind page can be ordered so again."""
    if options.blind:
        click.echo(f"blind order, seed {options.seed}")
