"""Documents of equal score that are in another order in the candidate than in the reference: neither defines one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from harness.files.runs import StoredRanking
from harness.gate.grammar import TOLERANCE
from harness.gate.ties import restore_tie_order
from harness.means import are_weighted, mean_of
from harness.model import Comparison, Hit, MeasureComparison, Ranking, ReorderedTies, Run

Table = Mapping[str, float | None]


def settle_run(reference: Run, candidate: Run) -> Run:
    """*candidate* with documents of equal score in the order of *reference*, where these are the same documents."""
    settled = {}
    for query, response in candidate.responses.items():
        before = reference.responses.get(query)
        if not isinstance(response, Ranking) or not isinstance(before, Ranking):
            continue
        ranking = _settle(before, response)
        if ranking is not response:
            settled[query] = ranking
    return replace(candidate, responses={**candidate.responses, **settled}) if settled else candidate


def settle_stored(
    reference: Mapping[str, StoredRanking], candidate: Mapping[str, StoredRanking]
) -> dict[str, list[str]]:
    """The documents of *candidate*, read from a file, by query; as `settle_run`."""
    settled = {}
    for query, stored in candidate.items():
        documents, before = stored.in_order(), reference.get(query)
        scores = sorted(stored.scores, reverse=True)
        if before is not None and documents != before.in_order() and any(a == b for a, b in pairwise(scores)):
            depth = max(len(before.documents), len(documents))
            documents = list(restore_tie_order(_ranking_of(before), _ranking_of(stored), depth=depth))
        settled[query] = documents
    return settled


def _ranking_of(stored: StoredRanking) -> Ranking:
    return Ranking(tuple(Hit(document, score) for document, score in stored.with_scores()), exact_scores=True)


def _settle(reference: Ranking, candidate: Ranking) -> Ranking:
    documents = [hit.id for hit in candidate.hits]
    order = restore_tie_order(reference, candidate, depth=max(len(reference.hits), len(documents)))
    if list(order) == documents:
        return candidate
    hits = {hit.id: hit for hit in (*candidate.hits, *candidate.tail)}
    # A profile may order by score: each place keeps the score that it has.
    places = zip(order, candidate.hits, strict=True)
    return replace(candidate, hits=tuple(replace(hits[name], score=hit.score) for name, hit in places))


def tell_ties(
    row: MeasureComparison, reference: Table, settled: Table, returned: Table, weights: Mapping[str, float]
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
    for query, before in reference.items():
        after, other = returned.get(query), settled.get(query)
        if before is None or after is None or other is None:
            continue
        differences[query] = after - before
        if abs(after - other) > TOLERANCE:
            moved.append(query)
    if not moved:
        return row
    of_queries = {query: weights[query] for query in differences} if weights else {}
    if not are_weighted(of_queries.values()):
        of_queries = {}
    return replace(row, reordered=ReorderedTies(tuple(moved), mean_of(differences, of_queries)))


def tell_all_ties(
    comparison: Comparison,
    reference: Mapping[str, Table],
    settled: Mapping[str, Table],
    returned: Mapping[str, Table],
    weights: Mapping[str, float],
) -> Comparison:
    """*comparison*, each of its measures as `tell_ties` has it."""
    rows = tuple(
        tell_ties(row, reference[row.measure], settled[row.measure], returned[row.measure], weights)
        for row in comparison.measures
    )
    return replace(comparison, measures=rows)
