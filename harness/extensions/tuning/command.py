"""``relevance tune``: the parameters of a request, tuned on a part of the queries and decided on the others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from harness.cli.delivery import Delivery
from harness.cli.earlier_reports import remove_outdated_on_error
from harness.cli.examples import format_examples
from harness.cli.found_suites import find_one_suite
from harness.cli.headings import Command, rare_option
from harness.cli.shared_options import (
    ReadText,
    json_option,
    make_run_options,
    output_option,
    query_options,
    quiet_option,
)
from harness.cli.terminal import make_bars, print_all
from harness.drafts.suite_texts import FileChange
from harness.extensions.tuning.changes import SuiteChanges
from harness.extensions.tuning.document import COSTS_SHOWN, build_tuning_document
from harness.extensions.tuning.model import EFFECT, SAMPLERS, TRIALS, TUNING_SEED, TuningTrial
from harness.extensions.tuning.outputs import TUNING_KINDS, dumps_tuning, render
from harness.files.runs import read_measures
from harness.options import read_seconds
from harness.process import gc_paused
from harness.report.output_files import write_output
from harness.report.outputs import Output
from harness.report.safe_text import make_loggable
from harness.report.sentences import format_score
from harness.report.terminal import print_document
from harness.run import Runner
from harness.suites.inputs import RunInputs
from harness.words import count

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


@click.command(
    "tune",
    cls=Command,
    epilog=format_examples(
        "relevance tune shop.relevance.yaml --trials 200 --measure nDCG@10",
        "relevance tune shop.relevance.yaml --sampler grid --force --embedded --allow-write",
    ),
)
@click.argument("suite", type=click.Path(path_type=Path))
@click.option(
    "--trials",
    type=click.IntRange(min=2),
    default=TRIALS,
    show_default=True,
    help="How many trials the study has in the end.",
)
@rare_option(
    "--sampler", type=click.Choice(SAMPLERS), default=SAMPLERS[0], show_default=True, help="What proposes the values."
)
@click.option("--measure", metavar="MEASURE", help="The measure to raise, such as nDCG@10. Default: the suite's first.")
@rare_option(
    "--folds",
    type=click.IntRange(min=2),
    metavar="K",
    help="Also estimate the gain by K folds of the tuning queries; no ground for a decision.",
)
@click.option(
    "--effect",
    type=click.FloatRange(min=0, min_open=True),
    default=EFFECT,
    show_default=True,
    metavar="NUMBER",
    help="The smallest gain worth having; too few queries to show it are refused.",
)
@rare_option("--force", is_flag=True, help="Go on with too few queries.")
@click.option(
    "--budget",
    type=ReadText("SECONDS", read_seconds),
    metavar="SECONDS",
    help="Begin no trial after this many seconds.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=TUNING_SEED,
    show_default=True,
    help="The random seed of hold-out and sampler.",
)
@rare_option(
    "--storage",
    metavar="URL|FILE",
    default="",
    help="A journal of the trials, or a database: sqlite:///tuning.db. Default: SUITE.tune.journal.",
)
@query_options
@click.option(
    "--queries",
    "shown",
    type=click.IntRange(min=0),
    default=COSTS_SHOWN,
    show_default=True,
    help="The number of queries shown that lose most, and that gain most.",
)
@click.option(
    "--apply",
    "is_applied",
    is_flag=True,
    help="Where a gain is shown, write the chosen values into the suite as those of today.",
)
@click.option("--candidate", metavar="NAME", help="Add the chosen request to the suite by this name.")
@json_option
@output_option(TUNING_KINDS, "html=tuning.html", "Write html=FILE or json=FILE; may be repeated.")
@quiet_option
def command(
    suite: Path,
    trials: int,
    sampler: str,
    measure: str | None,
    folds: int | None,
    effect: float,
    force: bool,
    budget: float | None,
    seed: int,
    storage: str,
    shown: int,
    is_applied: bool,
    candidate: str | None,
    as_json: bool,
    outputs: tuple[Output, ...],
    quiet: bool,
    **arguments: Any,
) -> int:
    """
    Tune the parameters of a request, and decide on queries that no trial has seen.

    The suite names the parameters under `tune`. A part of its queries is held out, drawn once and kept beside the
    suite. Trials are sent the others; one is chosen, and compared with today's request on the hold-out. A choice has to
    hold each threshold and expectation that today's request holds. The trials are kept: the same command continues a
    tuning that was interrupted, or adds trials. Another request, measure, space or set of queries is another study.

    Where a gain is shown, the change of the suite is printed, and written with --apply. With --candidate the choice
    becomes a request of its own, for `relevance compare` and the thresholds.

    A tuning is no gate: the exit status is 0 whatever it finds, 2 if the suite or the command line is wrong or the
    queries are too few, 3 if the engine does not answer.
    """
    from harness.extensions.tuning.study import require_optuna

    require_optuna()
    from harness.extensions.tuning.preparing import TuningOptions
    from harness.extensions.tuning.tune import tune

    run = make_run_options(**arguments, locate=False)
    options = TuningOptions(
        run=run,
        trials=trials,
        sampler=sampler,
        seed=seed,
        measure=None if measure is None else next(iter(read_measures([measure]).values())),
        folds=folds or 0,
        effect=effect,
        budget=budget,
        storage=storage,
        force=force,
    )
    path = find_one_suite(suite, run.root)
    changes = SuiteChanges.prepare(path, run, is_applied=is_applied, candidate=candidate)
    with gc_paused():
        with (
            remove_outdated_on_error(outputs, RunInputs([path], run, os.environ, [])),
            report_progress(quiet=quiet) as progress,
            Runner(os.environ) as runner,
        ):
            report = tune(path, options, runner, os.environ, progress)
        # From here on there is a report to give: an error while it is written does not remove what is written already.
        delivery = Delivery()
        planned: list[FileChange] = []
        with delivery.writing():
            planned = changes.plan(report)
        is_planned = delivery.is_complete
        diff = list(chain.from_iterable(change.list_diff() for change in planned))
        for output in outputs:
            with delivery.writing():
                write_output(output, render(report, output.kind, diff), "the tuning")
                if not quiet:
                    click.echo(f"wrote {output.path}", err=True)
        with delivery.printing():
            if as_json:
                click.echo(dumps_tuning(report), nl=False)
            else:
                print_all(print_document(build_tuning_document(report, most=shown)))
        lines: list[str] = []
        if is_planned:
            with delivery.writing():
                lines = [make_loggable(line) for line in changes.finish(report, planned)]
        if lines and not as_json:
            with delivery.printing():
                click.echo("\n".join(["", *lines]))
    return delivery.report_errors(report.exit_status)


@contextmanager
def report_progress(*, quiet: bool) -> Iterator[TrialLines | None]:
    """Lines of progress on standard error; None if *quiet*."""
    if quiet:
        yield None
        return
    with make_bars(sys.stderr, "trials") as bars:
        # While a bar is shown, standard error prints above it.
        lines = TrialLines(sys.stderr, bars)
        try:
            yield lines
        except KeyboardInterrupt:
            lines.tell_interrupt()
            raise


class TrialLines:
    """A line for each trial that is better than all before it, and one now and then; a terminal has a bar too."""

    EVERY = 25

    def __init__(self, stream: TextIO, bars: Bars) -> None:
        self._stream = stream
        self._bars = bars
        self._bar = bars.add_task("starting", total=None)
        self._trials = 0
        self._best: int | None = None
        self._made = 0

    def study_opened(self, kept: int, trials: int) -> None:
        """Print what there is."""
        self._trials, self._made = trials, kept
        self._bars.update(self._bar, description="tuning", total=trials, completed=kept)
        if kept:
            self._print(f"the study has {count(kept, 'trial')}, {max(trials - kept, 0)} to make")

    def trial_done(self, trial: TuningTrial, best: TuningTrial | None) -> None:
        """Print *trial* if it is the best so far."""
        self._made = trial.number + 1
        self._bars.update(self._bar, completed=self._made)
        is_better = best is not None and best.number != self._best
        if best is not None:
            self._best = best.number
        if is_better or self._made % self.EVERY == 0 or self._made == self._trials:
            score = "no trial has a score that may be chosen" if best is None else f"best {format_score(best.score)}"
            self._print(f"trial {self._made} of {self._trials}: {format_score(trial.score)}, {score}")

    def deciding(self, queries: int) -> None:
        """Print that the hold-out is looked at."""
        self._bars.update(self._bar, description="deciding")
        self._print(f"deciding on {count(queries, 'query')} of the hold-out")

    def tell_interrupt(self) -> None:
        """Say that nothing is lost."""
        if self._made:
            self._print(f"{count(self._made, 'trial')} kept; the same command continues")

    def _print(self, line: str) -> None:
        print(make_loggable(line), file=self._stream, flush=True)
