"""Two sides and the basis that they are compared on -> the report. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from harness.comparing.basis import ScoredSides
from harness.comparing.depths import Depths
from harness.comparing.held_to import check_thresholds, deepest_looks, with_defaults
from harness.comparing.measuring import compare_measures
from harness.comparing.queries import SideBySide, most_moved_first
from harness.comparing.sides import ComparedSide
from harness.errors import UsageError
from harness.gate import comparison_status, decide
from harness.gate.scope import count, listed, weights_of
from harness.metrics.agreement import PERSISTENCE, mean_agreement
from harness.metrics.run_scores import common_measures
from harness.model import ComparisonReport, Reference, Run, Side, Verdict

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions

__all__ = ["USUAL_DEPTH", "CompareOptions", "ReportOrigin", "assemble_comparison"]


USUAL_DEPTH = 10
"""Ranks that are compared where the rankings are whole and nobody says how deep to look."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """
    How two runs are compared.

    *depth* is how many ranks are looked at, all that both have where it is None. *p* is the persistence of rank-biased
    overlap. *how* says how differences are tested. *today* is the day that skips are held against.
    """

    today: date
    depth: int | None = None
    p: float = PERSISTENCE
    how: ComparisonOptions | None = None

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise UsageError(f"found p {self.p:g}, expected a persistence above 0 and below 1, such as 0.9")
        if self.depth is not None and self.depth < 1:
            raise UsageError(f"found depth {self.depth}, expected at least 1")


@dataclass(frozen=True, slots=True)
class ReportOrigin:
    """When a report is made, and by which version."""

    created: str
    harness: str


def assemble_comparison(
    pair: tuple[ComparedSide, ComparedSide], basis: ScoredSides, options: CompareOptions, made: ReportOrigin
) -> ComparisonReport:
    """
    Compare the second of *pair* with the first, and decide the thresholds of *basis*.

    Raises:
        UsageError: There is no query to compare, more ranks are asked for than there are, a threshold cannot be
            decided, or the packages for statistics are not installed.
        StatisticError: The t test was asked for and no query differs.
    """
    if not basis.suite.queries:
        raise UsageError(f"there is no query to compare {pair[1].side.name} with {pair[0].side.name} on")
    Depths.of(pair, basis.suite).refuse_ranks(options.depth)
    depth = options.depth or basis.depth or USUAL_DEPTH
    check_thresholds(basis.suite, judged=basis.is_judged, depth=basis.depth)
    by_side = SideBySide(basis, depth, options.p, ties=not any(one.orders_ties for one in pair))
    rankings = by_side.pairs()
    measures, untested = compare_measures((pair[0].side.name, pair[1].side.name), basis, options.how)
    first = next((measure.text for measure in common_measures(basis.suite)), None)
    sides = [_within(one.side, basis) for one in pair]
    verdicts = _verdicts(pair, basis, depth, options)
    runs = basis.runs
    return ComparisonReport(
        created=made.created,
        harness=made.harness,
        suite=basis.suite.name,
        reference=sides[0],
        candidate=sides[1],
        gain=str(basis.suite.gain) if basis.is_judged else "",
        profile=basis.suite.profile,
        depth=depth,
        measures=measures,
        agreement=mean_agreement(
            rankings, depth=depth, p=options.p, weights=weights_of(basis.suite.queries, rankings.keys())
        ),
        queries=tuple(most_moved_first(by_side.queries(rankings), first)),
        verdicts=verdicts,
        notes=(*basis.notes, *untested, *_changes(pair), *_in_neither(basis)),
        only_reference=_only(basis, runs[0], runs[1]),
        only_candidate=tuple(one for one in _only(basis, runs[1], runs[0]) if one not in pair[0].changed_questions),
        exit_status=comparison_status(verdicts, unanswered=any(side.unanswered for side in sides)),
    )


def _verdicts(
    pair: tuple[ComparedSide, ComparedSide], basis: ScoredSides, depth: int, options: CompareOptions
) -> tuple[Verdict, ...]:
    """The gate's, the first side in the place of a baseline."""
    reference, candidate = pair
    thresholds = with_defaults(basis.suite.thresholds, depth=depth, p=options.p)
    suite = replace(basis.suite, thresholds=thresholds)
    if basis.depth is None:  # whole rankings have all the hits that a cutoff may look at, however few they are
        suite = replace(suite, depth=max(suite.depth, *deepest_looks(thresholds)))
    held_against = Reference(
        run=basis.runs[0],
        scores=basis.scores[0],
        depth=suite.depth,
        same_request=reference.template is not None and reference.template == candidate.template,
        name=reference.side.name,
        changed_questions=reference.changed_questions,
    )
    return decide(suite, basis.runs[1], basis.scores[1], today=options.today, reference=held_against)


def _within(side: Side, basis: ScoredSides) -> Side:
    """*side* with only what is wrong with queries that are compared."""
    known = {query.id for query in basis.suite.queries}
    return replace(side, unanswered={query: why for query, why in side.unanswered.items() if query in known})


def _only(basis: ScoredSides, here: Run, there: Run) -> tuple[str, ...]:
    ids = (query.id for query in basis.suite.queries)
    return tuple(query for query in ids if query in here.responses and query not in there.responses)


def _in_neither(basis: ScoredSides) -> Iterator[str]:
    first, second = (run.responses for run in basis.runs)
    absent = [one.id for one in basis.suite.queries if one.id not in first and one.id not in second]
    if absent:
        yield f"on neither side: {count(len(absent), 'query')} ({listed(absent)})"


def _changes(pair: tuple[ComparedSide, ComparedSide]) -> Iterator[str]:
    """The same name of a request, and no longer the same request."""
    first, second = pair
    known = first.template is not None and second.template is not None
    if known and first.template != second.template and first.side.request == second.side.request:
        yield f"the request {first.side.request} is not the same on both sides"
