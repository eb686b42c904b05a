"""How far a score depends on the order of documents with equal scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, product
from math import factorial, prod
from random import Random
from typing import TypeAlias

from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.metrics.profiles import by_score, rules_of
from harness.metrics.ranking import GradedRanking, grade_ranking
from harness.metrics.registry import definition_of, settings_for
from harness.metrics.score import score_graded, score_query
from harness.model import Gain, Measure, Profile
from harness.words import grouped

MOST_ORDERS, MOST_HITS = 5_000, 2_000_000
"""
The most orders to compute where it is not known which is best, and the most hits in all of them together: some
seconds. Of more orders a sample of this size is drawn.
"""

SEED = 2008
"""The seed of the sample, for reproducible results."""

Hit: TypeAlias = tuple[str, float | None]
Groups: TypeAlias = Sequence[Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class TieBand:
    """The *least* and *greatest* value over all orders of documents with equal scores."""

    least: float
    greatest: float

    tied: int
    """How many documents share their score with another."""

    drawn: int = 0
    """
    The number of orders in the sample, if there are too many to compute all and it is not known which is best; 0 where
    the values are exact.
    """


def tie_band(
    measure: Measure,
    ranking: Sequence[str],
    scores: Sequence[float],
    grades: Mapping[str, float],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> TieBand:
    """
    The range of a score over all orders of documents with equal scores.

    Args:
        measure: The measure to compute.
        ranking: Document ids, best first, all hits: a tie may reach beyond the cutoff.
        scores: The engine's score of each.
        grades: Document id to grade, all judged documents of the query.
        gain: What a grade is worth where the measure's text does not say.
        profile: The profile whose rules apply.

    Raises:
        UndefinedScore: nothing that the measure needs is judged.
        MeasureError: as `score_query`.
        UsageError: there are more or fewer scores than documents.

    >>> from harness.metrics import parse_measure
    >>> band = tie_band(parse_measure("RR"), ["a", "b"], [1.0, 1.0], {"b": 1})
    >>> band.least, band.greatest
    (0.5, 1.0)
    """
    if len(ranking) != len(scores):
        raise UsageError(f"{len(ranking)} documents came with {len(scores)} scores")
    rules, settings = rules_of(profile), settings_for(measure, grades, gain, profile)
    score_of = dict(zip(reversed(ranking), reversed(scores), strict=True))
    ordered = by_score(ranking, scores) if rules.sorts else ranking
    condensed = bool(settings.values.get("judged_only"))
    cut_first = condensed and rules.cuts_first
    whole = grade_ranking(ordered, grades, judged_only=condensed and not cut_first, least=rules.least_judged)
    hits = zip(whole.ids, whole.grades, strict=True)
    groups = [list(members) for _, members in groupby(hits, key=lambda hit: score_of[hit[0]])]
    tied = sum(len(members) for members in groups if len(members) > 1)

    def score(order: Groups) -> float:
        if cut_first:
            return score_query(
                measure, [hit[0] for members in order for hit in members], grades, gain=gain, profile=profile
            )
        return score_graded(measure, _cut(order, whole, settings.cutoff), gain, profile)

    now = score(groups)
    if not tied:
        return TieBand(now, now, 0)
    worth = definition_of(measure).worth
    if cut_first or measure.name in rules.formulas or worth is None:
        return _band_of_orders(groups, score, tied)
    rising = [sorted(members, key=lambda hit: worth(hit[1], settings)) for members in groups]
    falling = [members[::-1] for members in rising]
    return TieBand(score(rising), score(falling), tied)


@dataclass(frozen=True, slots=True)
class TieRange:
    """The *least* and the *greatest* value over all orders of tied documents; of a sample where *exact* is False."""

    least: float
    greatest: float
    exact: bool = True


def tie_range(
    measure: Measure,
    groups: Sequence[Sequence[str]],
    grades: Mapping[str, float],
    *,
    depth: int,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> TieRange:
    """
    The range of a score, if more documents may be tied than were returned.

    Args:
        measure: The measure to compute.
        groups: Document ids, best first, those that tie in one group. The groups may hold more than *depth* documents:
            then any of the last group may stand at the last ranks.
        grades: Document id to grade, all judged documents of the query.
        depth: The number of ranks, >= 1: a measure without a cutoff ignores documents below.
        gain: What a grade is worth where the measure's text does not say.
        profile: The profile whose rules apply. None of them orders the documents: their order is that of *groups*.

    Raises:
        UndefinedScore: nothing that the measure needs is judged.

    >>> from harness.metrics import parse_measure
    >>> tie_range(parse_measure("P@2"), [["a"], ["b", "c", "d"]], {"a": 1, "b": 1}, depth=2)
    TieRange(least=0.5, greatest=1.0, exact=True)
    """
    rules, settings = rules_of(profile), settings_for(measure, grades, gain, profile)
    graded = [[(document, grades.get(document)) for document in members] for members in groups]

    def score(order: Groups) -> float:
        documents = [document for members in order for document, _ in members]
        return score_query(measure, documents[:depth], grades, gain=gain, profile=profile)

    if all(len(members) == 1 for members in groups):
        now = score(graded)
        return TieRange(now, now)
    worth = definition_of(measure).worth
    if settings.values.get("judged_only") or measure.name in rules.formulas or worth is None:
        band = _band_of_orders(graded, score, 0)
        return TieRange(band.least, band.greatest, exact=not band.drawn)
    rising = [sorted(members, key=lambda hit: worth(hit[1], settings)) for members in graded]
    return TieRange(score(rising), score([members[::-1] for members in rising]))


def find_tie_ranges(
    rankings: Mapping[str, Sequence[tuple[str, float]]],
    judgments: Mapping[str, Mapping[str, float]],
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> dict[str, dict[str, tuple[float, float]]]:
    """
    How far the order of documents with equal scores moves the scores of many queries.

    Args:
        rankings: Query id to documents with their scores, best first.
        judgments: Query id to document id to grade.
        measures: The measures to compute.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: The profile whose rules apply.

    Returns:
        Measure to query to the least and the greatest value; without those that ties do not move.
    """
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for query, ranking in rankings.items():
        grades = judgments.get(query, {})
        groups = [[document for document, _ in members] for _, members in groupby(ranking, key=lambda hit: hit[1])]
        if not any(len({grades.get(document) for document in members}) > 1 for members in groups):
            continue
        for measure in measures:
            depth = len(ranking)
            if measure.cutoff is not None and not dict(measure.parameters).get("judged_only"):
                depth = min(depth, measure.cutoff)
            with suppress(UndefinedScore, MeasureError):
                first = _first_groups(groups, depth)
                span = tie_range(measure, first, grades, depth=depth, gain=gain, profile=profile)
                if span.least < span.greatest:
                    found.setdefault(measure.text, {})[query] = span.least, span.greatest
    return found


def _first_groups(groups: Sequence[Sequence[str]], depth: int) -> list[Sequence[str]]:
    """The first groups, whole, that fill *depth* ranks."""
    found: list[Sequence[str]] = []
    ranks = 0
    for members in groups:
        if ranks >= depth:
            break
        found.append(members)
        ranks += len(members)
    return found


def _band_of_orders(groups: Groups, score: Callable[[Groups], float], tied: int) -> TieBand:
    """The band from the orders themselves: all of them, or a sample."""
    most = max(1, min(MOST_ORDERS, MOST_HITS // sum(map(len, groups))))
    exact = prod(_count_orders(members) for members in groups) <= most
    orders = product(*(list(_orders(members)) for members in groups)) if exact else _drawn_orders(groups, most)
    values = [score(order) for order in orders]
    return TieBand(min(values), max(values), tied, 0 if exact else most)


def _count_orders(members: Sequence[Hit]) -> int:
    """The number of orders of *members*, where documents of equal grade are interchangeable."""
    alike = Counter(grade for _, grade in members)
    return factorial(len(members)) // prod(map(factorial, alike.values()))


def _orders(members: Sequence[Hit]) -> Iterator[Sequence[Hit]]:
    """Each order of grades once, all of them equally frequent among the orders of documents."""
    kinds = list(grouped((hit[1], hit) for hit in members).values())
    codes = [code for code, hits in enumerate(kinds) for _ in hits]
    while True:
        hits = [iter(kind) for kind in kinds]
        yield [next(hits[code]) for code in codes]
        falls = next((at for at in range(len(codes) - 1, 0, -1) if codes[at - 1] < codes[at]), None)
        if falls is None:
            return
        greater = next(at for at in range(len(codes) - 1, 0, -1) if codes[at] > codes[falls - 1])
        codes[falls - 1], codes[greater] = codes[greater], codes[falls - 1]
        codes[falls:] = codes[falls:][::-1]


def _drawn_orders(groups: Groups, count: int) -> Iterator[Groups]:
    draw = Random(SEED)
    for _ in range(count):
        yield [draw.sample(members, len(members)) for members in groups]


def _cut(order: Groups, whole: GradedRanking, cutoff: int | None) -> GradedRanking:
    hits = [hit for members in order for hit in members]
    ids, grades = [document for document, _ in hits[:cutoff]], [grade for _, grade in hits[:cutoff]]
    return GradedRanking(ids, grades, whole.judgments, len(hits))
