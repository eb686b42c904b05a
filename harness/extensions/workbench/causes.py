"""Which of the changes of a try moved the results: ``relevance compare --why`` on the queries that are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from harness.errors import UsageError
from harness.extensions.compare.assembly import CompareOptions
from harness.extensions.compare.model import SideKind
from harness.extensions.compare.preparing import ComparisonRequest, PreparedComparison
from harness.extensions.compare.sides import ComparedSide, make_run_side
from harness.extensions.compare.why.arms import fit_first
from harness.extensions.compare.why.asking import SuiteRunner, read_request
from harness.extensions.compare.why.differences import split_requests
from harness.extensions.compare.why.explaining import WhyOptions
from harness.extensions.compare.why.model import ArmEffect, ExplainedDifference, WhyReport
from harness.extensions.compare.why.options import list_plan_lines
from harness.extensions.compare.why.planning import End, WhyPlan, add_why
from harness.extensions.compare.why.sentences import (
    describe_moved,
    describe_why,
    format_estimate,
    list_movers,
    write_why_headline,
)
from harness.extensions.workbench.figures import ScoredSide
from harness.extensions.workbench.guard import leave_out_unranked
from harness.extensions.workbench.scored_tries import ScoredTries
from harness.gate.selection import QueryFilter, select
from harness.gate.variants import remove_variants
from harness.model.suite import Suite

QUERIES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Causes:
    """What is about to be sent to find the causes of a try, and both ends, which were answered."""

    plan: WhyPlan
    prepared: PreparedComparison

    @property
    def searches(self) -> int:
        """The most searches that are sent."""
        return self.plan.arm_searches + self.plan.pair_searches

    def list_lines(self) -> list[str]:
        """The changes that were found, and what is sent for them."""
        ends = self.plan.searches - self.plan.arm_searches
        return [
            *list_plan_lines(self.plan),
            f"{ends:,} of these were sent already: those of the try and of what is live",
        ]

    def find(self, runner: SuiteRunner, environ: Mapping[str, str]) -> list[str]:
        """
        Send what is planned, and say in lines what it shows.

        Raises:
            HarnessError: As `harness.extensions.compare.why.planning.add_why`.
        """
        report = add_why(self.plan, self.prepared, runner, environ)
        if report.why is None:
            return list(report.notes)
        return list(_describe(report.why))


def plan_causes(scored: ScoredTries, number: int) -> Causes:
    """
    Take the request that is live and that of the try of a *number* apart; nothing is sent.

    Raises:
        UsageError: What is live is a baseline, or there is no such try, or too much to send.
    """
    material = scored.material
    if material.live.answered is None:
        raise UsageError("causes are looked for between two requests that can be sent; try against a request")
    shown = scored.find_shown(number)
    live_name, name = material.live.name, f"try {number}"
    tried = leave_out_unranked(material.read_request(shown.text, shown.values)).requests[material.request]
    live = leave_out_unranked(scored.suite).requests[live_name]
    requests = {live_name: live, name: replace(tried, name=name)}
    suite = remove_variants(replace(scored.suite, requests=requests, thresholds=(), measures=(material.measure,)))
    sides = (
        _make_side(suite, live_name, scored.live),
        _make_side(suite, name, shown.side),
    )
    splitting = split_requests(read_request(live), read_request(tried))
    finest = splitting.list_differences(each=False)
    if not finest:
        raise UsageError("the requests do not differ in what they send")
    options = WhyOptions()
    differences = fit_first(finest, len(suite.queries), options.searches)
    run = material.options.list_run_options(name)
    request = ComparisonRequest(sides, CompareOptions(run.day()), suite, measures=(material.measure,), run=run)
    old = End(f"request:{live_name}", read_request(live))
    plan = WhyPlan(request, suite, name, old, splitting, finest, differences, options)
    selection = select(suite, QueryFilter(), run.day())
    return Causes(plan, PreparedComparison(request, sides, selection, None))


def _make_side(suite: Suite, name: str, side: ScoredSide) -> ComparedSide:
    """The side of the request *name* of *suite*."""
    responses = {query.id: side.responses[query.id] for query in suite.queries if query.id in side.responses}
    run = replace(side.run, request=name, responses=responses)
    return make_run_side(name, SideKind.REQUEST, suite, run)


def _describe(why: WhyReport) -> Iterator[str]:
    yield write_why_headline(why)
    for number, difference in enumerate(why.differences, start=1):
        yield _describe_difference(number, difference)
    yield from describe_why(why)
    yield from describe_moved(why)
    for query in why.moved[:QUERIES_SHOWN]:
        movers = [
            f"{mover.words} ({mover.reverted} beside the rest, {mover.alone} alone)"
            for mover in list_movers(why, query)
        ]
        yield f"{query.id} {query.change:+.3f}: {' '.join(movers)}"


def _describe_difference(number: int, difference: ExplainedDifference) -> str:
    finding = "" if difference.finding is None else f": {difference.finding}"
    arms = f"beside the rest {_format_effect(difference.reverted)}, alone {_format_effect(difference.alone)}"
    return f"{number}  {difference.name}{finding}; {arms}"


def _format_effect(effect: ArmEffect | None) -> str:
    return "refused" if effect is None else format_estimate(effect.mean)
