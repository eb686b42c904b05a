"""How far a score depends on the order of documents with equal scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, product
from math import factorial, prod
from random import Random
from typing import TypeAlias

from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.metrics.definition import Settings, Worth
from harness.metrics.profiles import rules_of, sort_by_score
from harness.metrics.ranking import GradedRanking, grade_ranking
from harness.metrics.registry import definition_of, settings_for, settings_of
from harness.metrics.score import score_graded, score_query, score_quotes
from harness.model.run import FoundQuotes
from harness.model.suite import Gain, Measure, Profile, Query
from harness.words import grouped

MOST_ORDERS, MOST_HITS = 5_000, 2_000_000
"""
The most orders to compute where it is not known which is best, and the most hits in all of them together: some
seconds. Of more orders a sample of this size is drawn.
"""

_SEED = 2008
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
    # Reversed, as a document that comes twice counts at its first place, with its first score.
    score_of = dict(zip(reversed(ranking), reversed(scores), strict=True))
    ordered = sort_by_score(ranking, scores) if rules.sorts else ranking
    condensed = bool(settings.values.get("judged_only"))
    # Under such a profile the order decides which documents are cut, and so which judged ones are left.
    cut_first = condensed and rules.cuts_first
    graded = grade_ranking(ordered, grades, judged_only=condensed and not cut_first, least=rules.least_judged)
    hits = zip(graded.ids, graded.grades, strict=True)
    groups = [list(members) for _, members in groupby(hits, key=lambda hit: score_of[hit[0]])]
    query = _TiedQuery(measure, groups, grades, gain, profile)
    if cut_first:
        return query.find_band(None, settings)
    query = replace(query, graded=graded, depth=settings.cutoff)
    # A formula of the profile's own may rank documents of other worths first.
    worth = None if measure.name in rules.formulas else definition_of(measure).worth
    return query.find_band(worth, settings)


@dataclass(frozen=True, slots=True)
class _TiedQuery:
    """A ranking in *groups* of documents with equal scores, and how an order of them is scored."""

    measure: Measure
    groups: Groups
    judgments: Mapping[str, float]
    gain: Gain | None
    profile: Profile
    graded: GradedRanking | None = None
    """All hits, if their grades need not be looked up for each order."""
    depth: int | None = None
    """The number of hits that are scored, None for all."""
    score_ids: Callable[[Sequence[str]], float] | None = None
    """Scores documents that have no grades; those of different quotes then differ in what stands for their grade."""

    def score(self, order: Groups) -> float:
        """The score of one order."""
        hits = list(chain.from_iterable(order))
        ids = [document for document, _ in hits[: self.depth]]
        if self.score_ids is not None:
            return self.score_ids(ids)
        if self.graded is None:
            return score_query(self.measure, ids, self.judgments, gain=self.gain, profile=self.profile)
        grades = [grade for _, grade in hits[: self.depth]]
        ranking = GradedRanking(ids, grades, self.graded.judgments, len(hits))
        return score_graded(self.measure, ranking, self.gain, self.profile)

    def find_band(self, worth: Worth | None, settings: Settings) -> TieBand:
        """The band, from the two extreme orders by the *worth* of documents, or else from many orders."""
        tied = sum(len(members) for members in self.groups if len(members) > 1)
        if not tied:
            value = self.score(self.groups)
            return TieBand(value, value, 0)
        if worth is None:
            return self._try_orders(tied)
        rising = [sorted(members, key=lambda hit: worth(hit[1], settings)) for members in self.groups]
        falling = [members[::-1] for members in rising]
        return TieBand(self.score(rising), self.score(falling), tied)

    def _try_orders(self, tied: int) -> TieBand:
        """The band from the orders themselves: all of them, or a sample."""
        hits = sum(len(members) for members in self.groups)
        most = max(1, min(MOST_ORDERS, MOST_HITS // hits))
        is_exact = prod(_count_orders(members) for members in self.groups) <= most
        orders: Iterable[Groups]
        if is_exact:
            orders = product(*(list(_list_orders(members)) for members in self.groups))
        else:
            orders = _draw_orders(self.groups, most)
        values = [self.score(order) for order in orders]
        return TieBand(min(values), max(values), tied, 0 if is_exact else most)


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
    settings = settings_for(measure, grades, gain, profile)
    graded_groups = [[(document, grades.get(document)) for document in members] for members in groups]
    worth = definition_of(measure).worth
    # The order decides which judged documents are within *depth*, and so how many are left without the unjudged ones.
    if settings.values.get("judged_only"):
        worth = None
    # A formula of the profile's own may rank documents of other worths first.
    if measure.name in rules_of(profile).formulas:
        worth = None
    query = _TiedQuery(measure, graded_groups, grades, gain, profile, depth=depth)
    band = query.find_band(worth, settings)
    return TieRange(band.least, band.greatest, exact=not band.drawn)


def find_tie_range_of_quotes(
    measure: Measure,
    groups: Sequence[Sequence[str]],
    query: Query,
    found: FoundQuotes,
    *,
    depth: int,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> TieRange:
    """As `tie_range`, for a measure of novelty and the quotes of *query* that are *found* in the documents."""
    kinds: dict[tuple[tuple[str, float], ...], float] = {}
    graded_groups = []
    for members in groups:
        hits: list[Hit] = []
        for document in members:
            held = tuple(sorted(found.shares.get(document, {}).items()))
            hits.append((document, kinds.setdefault(held, float(len(kinds)))))
        graded_groups.append(hits)
    score = partial(score_quotes, measure, quotes=query.quotes, found=found, gain=gain, profile=profile)
    tied_query = _TiedQuery(measure, graded_groups, {}, gain, profile, depth=depth, score_ids=score)
    band = tied_query.find_band(None, settings_of(measure, gain, profile))
    return TieRange(band.least, band.greatest, exact=not band.drawn)


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
    ranges: dict[str, dict[str, tuple[float, float]]] = {}
    for query, ranking in rankings.items():
        grades = judgments.get(query, {})
        groups = [[document for document, _ in members] for _, members in groupby(ranking, key=lambda hit: hit[1])]
        # No measure distinguishes documents of one grade.
        if all(len({grades.get(document) for document in members}) == 1 for members in groups):
            continue
        for measure in measures:
            depth = len(ranking)
            if measure.cutoff is not None and not dict(measure.parameters).get("judged_only"):
                depth = min(depth, measure.cutoff)
            # The score itself says that it is undefined, or why it cannot be computed.
            with suppress(UndefinedScore, MeasureError):
                first_groups = _cut_groups(groups, depth)
                span = tie_range(measure, first_groups, grades, depth=depth, gain=gain, profile=profile)
                if span.least < span.greatest:
                    ranges.setdefault(measure.text, {})[query] = span.least, span.greatest
    return ranges


def _cut_groups(groups: Sequence[Sequence[str]], depth: int) -> list[Sequence[str]]:
    """The first groups, each complete, that fill *depth* ranks."""
    first_groups: list[Sequence[str]] = []
    ranks = 0
    for members in groups:
        if ranks >= depth:
            break
        first_groups.append(members)
        ranks += len(members)
    return first_groups


def _count_orders(members: Sequence[Hit]) -> int:
    """The number of orders of *members*, where documents of equal grade are interchangeable."""
    documents_by_grade = Counter(grade for _, grade in members)
    return factorial(len(members)) // prod(map(factorial, documents_by_grade.values()))


def _list_orders(members: Sequence[Hit]) -> Iterator[Sequence[Hit]]:
    """
    Each order of grades once, all of them equally frequent among the orders of documents.

    Source: Knuth, The Art of Computer Programming 4A, 7.2.1.2, algorithm L.
    """
    hits_by_grade = list(grouped((grade, (document, grade)) for document, grade in members).values())
    # The orders are those of small numbers, one for each grade: the first order is the sorted one.
    codes: list[int] = []
    for code, hits in enumerate(hits_by_grade):
        codes += [code] * len(hits)
    while True:
        remaining = [iter(hits) for hits in hits_by_grade]
        yield [next(remaining[code]) for code in codes]
        # The next order swaps the last number that is less than its neighbour with the last one that is greater than
        # it, and puts all that follow in the opposite order, which is the sorted one.
        pivot = len(codes) - 2
        while pivot >= 0 and codes[pivot] >= codes[pivot + 1]:
            pivot -= 1
        if pivot < 0:
            return
        greater = len(codes) - 1
        while codes[greater] <= codes[pivot]:
            greater -= 1
        codes[pivot], codes[greater] = codes[greater], codes[pivot]
        codes[pivot + 1 :] = codes[pivot + 1 :][::-1]


def _draw_orders(groups: Groups, count: int) -> Iterator[Groups]:
    random = Random(_SEED)
    for _ in range(count):
        yield [random.sample(members, len(members)) for members in groups]
