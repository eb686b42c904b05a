"""
Which differences moved each query. Pure.

One that takes its score back and brings it forth, one that brings all of the change alone, or a pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from harness.extensions.compare.why.causes import ArmPair, Ends
from harness.statistics.paired import EQUAL

NEAR = 0.1
"""The share of its change by which the score of a query may miss the end that it comes back to."""

Numbers: TypeAlias = frozenset[int]
"""One difference or several, by their numbers."""


@dataclass(frozen=True, slots=True)
class MovedQuery:
    """A query whose score is not the same, by *change*."""

    id: str
    change: float
    causes: tuple[Numbers, ...] = ()
    alone: Numbers = frozenset()
    """See `name_alone`."""


def find_moved(ends: Ends, floors: Mapping[str, float]) -> list[MovedQuery]:
    """
    The queries that moved by more than the noise, those that changed most first.

    Args:
        ends: The scores of both requests.
        floors: How far the score of each query moved between two sends of the same request.
    """
    moved = []
    for query, before in ends.old.items():
        change = ends.new[query] - before
        if abs(change) > floors.get(query, 0.0) + EQUAL:
            moved.append(MovedQuery(query, change))
    return sorted(moved, key=lambda query: (-abs(query.change), query.id))


def explain_queries(
    moved: Iterable[MovedQuery], ends: Ends, arms: Mapping[Numbers, ArmPair], floors: Mapping[str, float]
) -> list[MovedQuery]:
    """*moved* with those of *arms* that are causes of each; a query that has one already keeps it."""
    explained = []
    for query in moved:
        causes = query.causes
        if not causes:
            near = _find_near(query, floors)
            causes = tuple(numbers for numbers, pair in arms.items() if _is_cause(query, ends, pair, near))
        explained.append(replace(query, causes=causes))
    return explained


def name_alone(
    moved: Iterable[MovedQuery], ends: Ends, arms: Sequence[ArmPair], floors: Mapping[str, float]
) -> list[MovedQuery]:
    """
    *moved* with the differences that bring all of the change alone, for each query that has no cause.

    Taken back, such a difference does not take the score back, as others move it, too. So for a pair that is looked for
    after this it holds that neither of the two does all by itself.
    """
    named = []
    for query in moved:
        alone: Numbers = frozenset()
        if not query.causes:
            near = _find_near(query, floors)
            alone = frozenset(number for number, pair in enumerate(arms) if _brings_forth(query, ends, pair, near))
        named.append(replace(query, alone=alone))
    return named


def _find_near(query: MovedQuery, floors: Mapping[str, float]) -> float:
    """How far the score of *query* may be from an end that it is said to be at."""
    return max(NEAR * abs(query.change), floors.get(query.id, 0.0)) + EQUAL


def _brings_forth(query: MovedQuery, ends: Ends, pair: ArmPair, near: float) -> bool:
    """Whether the score of *query* goes forth with the differences of *pair* alone."""
    forth = None if pair.alone is None else pair.alone.scores.get(query.id)
    return forth is not None and abs(forth - ends.new[query.id]) <= near


def _is_cause(query: MovedQuery, ends: Ends, pair: ArmPair, near: float) -> bool:
    """Whether the score of *query* comes back without the differences of *pair*, and goes forth with them alone."""
    back = None if pair.reverted is None else pair.reverted.scores.get(query.id)
    comes_back = back is not None and abs(back - ends.old[query.id]) <= near
    return comes_back and _brings_forth(query, ends, pair, near)


def list_pairs(queries: Sequence[str], ends: Ends, arms: Sequence[ArmPair]) -> list[Numbers]:
    """
    The pairs of differences that may explain *queries*: of each the score of one of them is moved by both.

    Those that may explain most queries come first.
    """
    counts: dict[Numbers, int] = {}
    for query in queries:
        movers = [number for number, pair in enumerate(arms) if _moves(query, ends, pair)]
        for pair_of_numbers in combinations(movers, 2):
            numbers = frozenset(pair_of_numbers)
            counts[numbers] = counts.get(numbers, 0) + 1
    return sorted(counts, key=lambda numbers: (-counts[numbers], sorted(numbers)))


def _moves(query: str, ends: Ends, pair: ArmPair) -> bool:
    """Whether the score of *query* in either arm is another than at the end that the arm is compared with."""
    scores = []
    if pair.reverted is not None:
        scores.append((pair.reverted.scores[query], ends.new[query]))
    if pair.alone is not None:
        scores.append((pair.alone.scores[query], ends.old[query]))
    return any(abs(score - end) > EQUAL for score, end in scores)
