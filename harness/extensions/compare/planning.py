"""How many queries would show an effect: from the scores of two sides that were read or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.extensions.compare import PreparedComparison
from harness.extensions.compare.scores import tabulate_scores
from harness.masking import Masker, redact
from harness.means import are_weighted
from harness.model.comparison import MeasurePlan, PlanReport
from harness.words import counted

if TYPE_CHECKING:
    from harness.statistics.planning import PlanSettings


def plan_comparison(prepared: PreparedComparison, settings: PlanSettings) -> PlanReport:
    """
    Count the queries that would show an effect, by the differences of two sides; needs the packages for statistics.

    Documents of equal score are taken in the order of the reference, as in a comparison.

    Raises:
        UsageError: No query has a score on both sides.
    """
    from harness.statistics.compare import pair_up
    from harness.statistics.planning import plan_queries

    assert prepared.selection is not None  # a plan has a suite
    pair, scored = prepared.score_sides(prepared.sides[1])
    names = (pair[0].side.name, pair[1].side.name)
    reference = tabulate_scores(scored, scored.scores[0])
    candidate = tabulate_scores(scored, scored.settled or scored.scores[1])
    weights = {query.id: query.weight for query in scored.suite.queries}
    is_weighted = are_weighted(weights.values())
    plans = []
    for measure in reference:
        has_pair = any(
            score is not None and candidate[measure].get(query) is not None
            for query, score in reference[measure].items()
        )
        if has_pair:
            scores = pair_up(measure, reference[measure], candidate[measure], weights if is_weighted else {})
            plans.append(plan_queries(scores, settings))
        else:
            plans.append(MeasurePlan(measure, 0, reason="no query has a score on both sides"))
    if not any(plan.queries for plan in plans):
        raise UsageError(f"no query has a score of both {names[0]} and {names[1]}: nothing says how far scores differ")
    notes = list(scored.notes)
    compared = {query.id for query in scored.suite.queries}
    is_unanswered = False
    for compared_side in pair:
        unanswered = [query for query in compared_side.side.unanswered if query in compared]
        if unanswered:
            is_unanswered = True
            notes.append(f"without an answer of {compared_side.side.name}: {counted(unanswered, 'query')}")
    report = PlanReport(
        suite=prepared.selection.whole_suite.path,
        reference=names[0],
        candidate=names[1],
        effect=settings.effect,
        level=settings.level,
        alternative=settings.alternative,
        weighted=is_weighted,
        measures=tuple(plans),
        notes=tuple(notes),
        exit_status=3 if is_unanswered else 0,
    )
    return redact(report, Masker(prepared.selection.whole_suite.variables).mask)
