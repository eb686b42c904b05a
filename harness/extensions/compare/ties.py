"""Documents of equal score that are in another order in the candidate than in the reference: neither defines one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from harness.gate.grammar import TOLERANCE
from harness.gate.ties import reorder_ties
from harness.means import are_weighted, mean_of
from harness.model.comparison import Comparison, MeasureComparison, ReorderedTies
from harness.model.run import Ranking, Run
from harness.statistics.paired import pair_defined

ScoresByQuery: TypeAlias = Mapping[str, float | None]


def settle_run(reference: Run, candidate: Run) -> Run:
    """*candidate* with documents of equal score in the order of *reference*, where these are the same documents."""
    settled = {}
    for query, response in candidate.responses.items():
        before = reference.responses.get(query)
        if not isinstance(response, Ranking) or not isinstance(before, Ranking):
            continue
        ranking = reorder_ties(before, response)
        if ranking is not response:
            settled[query] = ranking
    return replace(candidate, responses={**candidate.responses, **settled}) if settled else candidate


def _add_tie_moves_of_measure(
    row: MeasureComparison,
    reference: ScoresByQuery,
    settled: ScoresByQuery,
    returned: ScoresByQuery,
    weights: Mapping[str, float],
) -> MeasureComparison:
    """
    *row*, with the queries whose score the order of ties moves.

    Args:
        row: The comparison of *settled* with *reference*.
        reference: The scores of the reference by query.
        settled: Those of the candidate with ties in the order of the reference.
        returned: Those of the candidate as returned.
        weights: The weights of the queries; empty where all weigh the same.
    """
    differences: dict[str, float] = {}
    moved = []
    for query, (before, after) in pair_defined(reference, returned).items():
        after_settled = settled.get(query)
        if after_settled is not None:
            differences[query] = after - before
            if abs(after - after_settled) > TOLERANCE:
                moved.append(query)
    if not moved:
        return row
    weights_of_queries: dict[str, float] = {}
    # Equal weights are left out, as in the tests of the difference, so that the mean is not rounded differently.
    if weights and are_weighted(weights[query] for query in differences):
        weights_of_queries = {query: weights[query] for query in differences}
    return replace(row, reordered=ReorderedTies(tuple(moved), mean_of(differences, weights_of_queries)))


def add_tie_moves(
    comparison: Comparison,
    reference: Mapping[str, ScoresByQuery],
    settled: Mapping[str, ScoresByQuery],
    returned: Mapping[str, ScoresByQuery],
    weights: Mapping[str, float],
) -> Comparison:
    """*comparison*, each of its measures with the queries whose score the order of ties moves."""
    rows = tuple(
        _add_tie_moves_of_measure(row, reference[row.measure], settled[row.measure], returned[row.measure], weights)
        for row in comparison.measures
    )
    return replace(comparison, measures=rows)
