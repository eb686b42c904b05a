"""``relevance compare``: two runs side by side, and thresholds on what differs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.earlier_reports import remove_outdated_on_error
from harness.cli.examples import format_examples
from harness.cli.headings import Command, rare_option
from harness.cli.running import print_note
from harness.cli.shared_options import engine_options, existing_file, json_option, make_run_options, output_option
from harness.cli.terminal import print_all, run_progress
from harness.extensions.compare.forms import list_added_sides
from harness.extensions.compare.model import ComparisonReport
from harness.extensions.compare.outputs import COMPARISON_KINDS, render
from harness.extensions.compare.preparing import (
    CompareOptions,
    ComparisonRequest,
    add_all_requests,
    prepare,
    read_thresholds,
)
from harness.extensions.compare.printers import QUERIES_SHOWN, print_comparison_report
from harness.extensions.compare.scores import list_absent_packages
from harness.extensions.compare.statistics_options import read_statistics_options, statistics_options
from harness.extensions.compare.why.asking import ArmProgress
from harness.extensions.compare.why.explaining import WhyOptions
from harness.extensions.compare.why.options import dump_plan, list_plan_lines, why_options
from harness.extensions.compare.why.planning import WhyPlan, add_why, open_why_journal, plan_why, search_ends
from harness.files.runs import read_measures
from harness.metrics import read_gain
from harness.model.comparison import TEST_OPTIONS
from harness.model.suite import Profile
from harness.options import OPTIONS, Commands, RunOptions
from harness.process import gc_paused
from harness.report.output_files import write_output
from harness.report.outputs import Output
from harness.run import Runner
from harness.suites.inputs import RunInputs
from harness.waits import show_work
from harness.words import count

SUITE_SUFFIXES = (".yaml", ".yml")

ENGINE_ARGUMENTS = [
    option.several or option.field
    for option in OPTIONS.values()
    if option.commands in (Commands.OF_FILES, Commands.WITH_A_SERVER, Commands.OF_SUITES)
]
"""The arguments that `engine_options` gives."""


SIDES = """\b
A, B and the others are each one of
  baseline, baseline:FILE     what relevance baseline save kept
  report:FILE                 what relevance run --output json=FILE wrote
  report:FILE#INDEX           its entry of that index
  run:FILE                    a TREC run, CSV, JSON lines or Parquet
  request:NAME                the suite's request of that name
  index:NAME                  the suite's request on that index
  cluster:NAME, cluster:URL   the suite's request on that server
  embedded, embedded:VERSION  the suite's request on a node of ours
{added}A URL, and a file that says by itself what it is, need no word before.
"""


def describe_sides() -> str:
    """The forms of sides, those of other extensions too."""
    added = [f"  {f'{side.word}:{side.value}':<28}{side.sentence}\n" for side in list_added_sides()]
    return SIDES.replace("{added}", "".join(added))


_OF_TWO_SUITES = (
    "; without it, `relevance run FILE --output json=old.json` writes the report of a suite, and "
    "`relevance compare old.json new.json` compares two reports"
)

_MEASURE_HELP = (
    "A measure such as nDCG@10; by default those of the suite, or those that both files have; may be repeated."
)
DEPTH_HELP = "The number of ranks compared; by default all that both sides have, or 10 for run files."


@click.command(
    "compare",
    cls=Command,
    epilog=format_examples(
        "relevance compare baseline request:default --suite suites/products.relevance.yaml --embedded",
        "relevance compare request:default request:fuzzy --suite suites/products.relevance.yaml --url http://localhost:9200",
        "relevance compare run:before.trec run:after.trec --qrels products.qrels --measure nDCG@10",
        "relevance compare request:current request:candidate --suite suites/products.relevance.yaml --embedded --why",
        "relevance compare bm25.run fuzzy.run vectors.run --qrels products.qrels --measure AP --test t",
        before=describe_sides(),
    ),
)
@click.argument("sides", metavar="A B [C]...", nargs=-1)
@click.option("--all-requests", is_flag=True, help="Compare each request of the suite, after the sides that are named.")
@click.option("--suite", type=existing_file, metavar="FILE", help="The suite with queries, judgments and requests.")
@click.option("--qrels", type=existing_file, metavar="FILE", help="Judgments for run files, without a suite.")
@click.option(
    "--request", metavar="NAME", help="The request for an index or cluster; the entry of a baseline or report."
)
@engine_options
@click.option(
    "--threshold",
    "thresholds",
    metavar="TEXT",
    multiple=True,
    help="A threshold on the difference, such as 'drop nDCG@10 <= 0.02' or 'mean RBO >= 0.9'; may be repeated.",
)
@click.option("--measure", "measures", metavar="MEASURE", multiple=True, help=_MEASURE_HELP)
@click.option("--depth", type=click.IntRange(min=1), help=DEPTH_HELP)
@rare_option("--profile", type=click.Choice([str(profile) for profile in Profile]), help="Only with --qrels.")
@rare_option("--gain", metavar="GAIN", help="exponential, linear, or a map such as {0: 0, 1: 1}; only with --qrels.")
@rare_option("--complete", is_flag=True, help="Count a query that is not in a run file as a query without hits.")
@rare_option(
    "--remove-query",
    is_flag=True,
    help="Remove the document with the id of its query from each ranking of a run file, as BEIR does.",
)
@why_options
@statistics_options
@rare_option(
    "--queries",
    "shown",
    type=click.IntRange(min=0),
    default=QUERIES_SHOWN,
    show_default=True,
    help="The number of queries shown with their rankings.",
)
@json_option
@output_option(
    COMPARISON_KINDS, "html=comparison.html", "Write html=FILE, json=FILE or markdown=FILE; may be repeated."
)
@click.option("--quiet", "-q", is_flag=True, help="Print only thresholds that fail, and no progress.")
def command(
    as_json: bool,
    outputs: tuple[Output, ...],
    quiet: bool,
    shown: int,
    all_requests: bool,
    why: bool,
    why_each: bool,
    old_suite: Path | None,
    searches: int,
    dry_run: bool,
    **arguments: Any,
) -> int:
    """
    Compare B with A: what changed, by how much, and whether chance would do the same.

    A and B are each a baseline, a report, a run file, a request, an index or a cluster, as listed below. With more than
    two, each is compared with A, in one table. `relevance compare SUITE --all-requests` compares the requests of a
    suite. --why says which of the differences between two requests moved the results.

    With --suite or --qrels all are scored with the same judgments; without, scores that both files hold are compared,
    and if there are none, the rankings alone. The exit status is 0 if every --threshold holds, 1 if one does
    not, 2 if a file or the command line is wrong, 3 if a query of one has no answer.
    """
    if all_requests:
        arguments["sides"], arguments["suite"] = _take_suite(arguments["sides"], arguments["suite"])
    for option, is_given, other_way in (
        ("--dry-run", dry_run, ""),
        ("--old-suite", old_suite is not None, _OF_TWO_SUITES),
    ):
        if is_given and not (why or why_each):
            raise click.UsageError(f"{option} goes with --why{other_way}")
    request = _make_request(**arguments, has_live_side=all_requests or old_suite is not None)
    suites = [suite for suite in (arguments["suite"], old_suite) if suite is not None]
    files = _list_files_of_sides(*arguments["sides"])
    if request.qrels is not None:
        files.append(request.qrels)
    plan = None
    with gc_paused():
        with remove_outdated_on_error(outputs, RunInputs(suites, request.run, os.environ, files)):
            if why or why_each:
                plan = plan_why(request, WhyOptions(why_each, searches, old_suite), os.environ)
                request = plan.request
                if dry_run:
                    click.echo(dump_plan(plan) if as_json else "\n".join(list_plan_lines(plan)))
                    return 0
            report = _compare(request, plan, all_requests=all_requests, quiet=quiet)
        # From here on there is a report to give: an error while it is written does not remove what is written already.
        delivery = Delivery()
        with delivery.printing():
            if as_json:
                click.echo(render(report, "json"), nl=False)
            else:
                print_all(print_comparison_report(report, most=shown, quiet=quiet))
        for output in outputs:
            with delivery.writing():
                write_output(output, render(report, output.kind), "comparison")
                if not quiet:
                    click.echo(f"wrote {output.path}", err=True)
    return delivery.report_errors(report.exit_status)


def _compare(request: ComparisonRequest, plan: WhyPlan | None, *, all_requests: bool, quiet: bool) -> ComparisonReport:
    """The report of *request*, with the explanation that *plan* has planned."""
    if plan is not None:
        if not quiet:
            for line in list_plan_lines(plan):
                print_note(line)
        with (
            open_why_journal(plan) as journal,
            run_progress(quiet=quiet) as progress,
            Runner(os.environ, progress and ArmProgress(progress, plan.arm_searches), journal) as runner,
        ):
            request = search_ends(plan, runner, os.environ)
            prepared = prepare(request, runner.answer_suite, os.environ)
            return add_why(plan, prepared, runner, os.environ)
    with run_progress(quiet=quiet) as progress, Runner(os.environ, progress) as runner:
        if all_requests:
            request = add_all_requests(request, os.environ)
        _refuse_one_side(request)
        prepared = prepare(request, runner.answer_suite, os.environ)
    with show_work("comparing the sides", quiet=quiet):
        return prepared.make_report()


def _take_suite(sides: tuple[str, ...], suite: Path | None) -> tuple[tuple[str, ...], Path | None]:
    """
    The sides and the suite: with `--all-requests` the suite may stand where the first side does.

    Raises:
        click.UsageError: There is no suite.
    """
    if suite is not None:
        return sides, suite
    if not sides or Path(sides[0]).suffix not in SUITE_SUFFIXES or not Path(sides[0]).is_file():
        raise click.UsageError(
            "--all-requests compares the requests of a suite; name it first, or with --suite, as in "
            "`relevance compare shop.relevance.yaml --all-requests`"
        )
    return sides[1:], Path(sides[0])


def _refuse_one_side(request: ComparisonRequest) -> None:
    """Refuse a comparison without a second side."""
    if len(request.sides) < 2:
        found = count(len(request.sides), "side")
        raise click.UsageError(
            f"found {found}, expected at least two to compare; `relevance compare --help` lists their forms"
        )


def _list_files_of_sides(*sides: str) -> list[Path]:
    """What in the texts of *sides* may be the path of a file: the whole, without the word before, without the index."""
    names = []
    for side in sides:
        for text in (side, side.partition(":")[2]):
            names += [text, text.rpartition("#")[0]]
    return [Path(name) for name in names if name]


def _make_request(
    *,
    suite: Path | None,
    measures: tuple[str, ...],
    thresholds: tuple[str, ...],
    profile: str | None,
    gain: str | None,
    depth: int | None,
    has_live_side: bool,
    **others: Any,
) -> ComparisonRequest:
    """The comparison that the options describe."""
    run = make_run_options(**{name: others.pop(name) for name in ENGINE_ARGUMENTS}, locate=False)
    test_arguments = {name: others.pop(name) for name in TEST_OPTIONS}
    has_searched_side = has_live_side or any(side.startswith(("request:", "index:")) for side in others["sides"])
    _refuse_unused(run, suite, has_searched_side=has_searched_side)
    # Without the packages for statistics rankings are compared, and no test is made.
    how = None if list_absent_packages() else read_statistics_options(**test_arguments)
    # The sides have requests and indexes of their own.
    searched = replace(run, request=None, index=None, baseline=None).searched() or {}
    return ComparisonRequest(
        options=CompareOptions(run.day(), depth, how, searched),
        suite=suite,
        measures=tuple(read_measures(measures).values()),
        thresholds=read_thresholds(thresholds),
        profile=None if profile is None else Profile(profile),
        gain=None if gain is None else read_gain(gain),
        run=run,
        **others,
    )


def _refuse_unused(run: RunOptions, suite: Path | None, *, has_searched_side: bool) -> None:
    """Refuse options without effect: the user meant them to have one."""
    servers = {"--url": run.url, "--embedded": run.embedded}
    for option, value in servers.items():
        if value and not has_searched_side:
            raise click.UsageError(f"{option} needs a request: or index: side, and none is one")
    selections = {"--tag": run.tags, "--query": run.queries}
    for option, names in selections.items():
        if names and suite is None:
            raise click.UsageError(f"{option} selects queries of a suite; give --suite")
