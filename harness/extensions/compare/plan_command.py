"""``relevance plan``: how many queries would show an effect."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.examples import format_examples
from harness.cli.headings import Command, rare_option
from harness.cli.shared_options import engine_options, existing_file, json_option, make_run_options, quiet_option
from harness.cli.terminal import print_all, run_progress
from harness.extensions.compare.command import ENGINE_ARGUMENTS, describe_sides
from harness.extensions.compare.outputs import dumps_plan
from harness.extensions.compare.planning import build_plan_document, plan_comparison
from harness.extensions.compare.preparing import CompareOptions, ComparisonRequest, prepare
from harness.extensions.compare.scores import require_packages
from harness.files.runs import read_measures
from harness.process import gc_paused
from harness.report.terminal import print_document
from harness.run import Runner
from harness.waits import show_work

_MEASURE_HELP = "A measure such as nDCG@10; by default those of the suite; may be repeated."


@click.command(
    "plan",
    cls=Command,
    epilog=format_examples(
        "relevance plan suites/products.relevance.yaml baseline request:fuzzy --effect 0.02 --embedded",
        before=describe_sides().replace("A, B and the others", "A and B"),
    ),
)
@click.argument("suite", type=existing_file)
@click.argument("reference", metavar="A")
@click.argument("candidate", metavar="B")
@click.option(
    "--effect", type=float, required=True, metavar="NUMBER", help="The difference of means to be shown, such as 0.02."
)
@click.option("--measure", "measures", metavar="MEASURE", multiple=True, help=_MEASURE_HELP)
@rare_option("--level", type=float, default=0.05, show_default=True, help="The significance level of the test.")
@rare_option(
    "--alternative",
    type=click.Choice(["two-sided", "less", "greater"]),
    default="two-sided",
    show_default=True,
    help="greater shows only that B is better, less only that it is worse.",
)
@click.option(
    "--request", metavar="NAME", help="The request for an index or cluster; the entry of a baseline or report."
)
@engine_options
@json_option
@quiet_option
def command(
    suite: Path,
    reference: str,
    candidate: str,
    effect: float,
    measures: tuple[str, ...],
    level: float,
    alternative: Any,
    request: str | None,
    as_json: bool,
    quiet: bool,
    **arguments: Any,
) -> int:
    """
    Count the queries with which a paired t test would show an effect of B against A.

    Two versions of the search tell how far the differences of queries spread: the two requests of the suite, or what a
    baseline has and a request. From that follows how many queries show a true difference of the means by --effect, for
    several powers, and which difference the queries of the suite can show.

    Nothing is decided: the exit status is 0, or 2 if a file or the command line is wrong, or 3 if a query of
    either side has no answer.
    """
    require_packages()
    from harness.statistics.planning import PlanSettings

    settings = PlanSettings(effect, level, alternative)
    run = make_run_options(**{name: arguments.pop(name) for name in ENGINE_ARGUMENTS}, locate=False)
    comparison = ComparisonRequest(
        sides=(reference, candidate),
        options=CompareOptions(run.day()),
        suite=suite,
        request=request,
        measures=tuple(read_measures(measures).values()),
        run=run,
    )
    with gc_paused():
        with run_progress(quiet=quiet) as progress, Runner(os.environ, progress) as runner:
            prepared = prepare(comparison, runner.answer_suite, os.environ)
        with show_work("counting queries", quiet=quiet):
            report = plan_comparison(prepared, settings)
    delivery = Delivery()
    with delivery.printing():
        if as_json:
            click.echo(dumps_plan(report), nl=False)
        else:
            print_all(print_document(build_plan_document(report)))
    return delivery.report_errors(report.exit_status)
