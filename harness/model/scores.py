"""Scores, and those of a run in columns: a number for each in place of an object, which takes 30 times the memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

from harness.lazy import LazySequence


class Outcome(StrEnum):
    """The outcome of a query; docs/outcomes.md describes each."""

    SCORED = "scored"
    ZERO_HITS = "zero hits"
    UNDEFINED = "undefined"
    ERROR = "error"
    NOT_RUN = "did not run"
    SKIPPED = "skipped"

    @property
    def is_unanswered(self) -> bool:
        """Whether the query failed or did not run, so that it has no ranking."""
        return self in (Outcome.ERROR, Outcome.NOT_RUN)


@dataclass(frozen=True, slots=True)
class Score:
    """One query's value of one measure; *value* is None unless *outcome* is SCORED or ZERO_HITS."""

    query: str
    measure: str
    value: float | None
    outcome: Outcome
    reason: str = ""


class ScoreColumns(LazySequence[Score]):
    """Scores, those of each query side by side; a `Score` is made when it is asked for."""

    def __init__(self, scores: Iterable[Score] = (), places: Mapping[str, int] = MappingProxyType({})) -> None:
        """
        *scores* are one for each query and measure, those of a query side by side. *places* of queries, by id, are
        shared where the scores are of all of them in that order.
        """
        self._values = array("d")
        self._more: dict[int, Score] = {}  # by place, what is more than a value
        self._begins = array("L")  # of each query
        self._measures: list[tuple[str, ...]] = []  # of each query; most share them
        self._queries: list[str] = []
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        for query, group in groupby(scores, attrgetter("query")):
            self._queries.append(query)
            self._begins.append(len(self._values))
            measures = tuple(map(self._taken, group))
            self._measures.append(shared.setdefault(measures, measures))
        is_shared = list(places) == self._queries
        self._numbers = places if is_shared else {query: number for number, query in enumerate(self._queries)}
        one = partial(_score, self._values, self._more, self._begins, self._measures, self._queries)
        super().__init__(range(len(self._values)), one)

    def _taken(self, score: Score) -> str:
        """The measure of *score*, which is kept."""
        if score.outcome is not Outcome.SCORED or score.reason or score.value is None:
            self._more[len(self._values)] = score
        self._values.append(0.0 if score.value is None else score.value)
        return score.measure

    @classmethod
    def of(cls, scores: Iterable[Score]) -> ScoreColumns:
        """*scores*, in any order, as they are if they are in columns."""
        if isinstance(scores, ScoreColumns):
            return scores
        by_query: dict[str, dict[str, Score]] = {}
        for score in scores:
            by_query.setdefault(score.query, {})[score.measure] = score
        return cls(score for found in by_query.values() for score in found.values())

    def values_of(self, query: str) -> dict[str, float | None]:
        """Measure to value of *query*, None for what has none."""
        number = self._numbers.get(query)
        if number is None:
            return {}
        places = range(self._begins[number], self._begins[number] + len(self._measures[number]))
        values = (self._more[place].value if place in self._more else self._values[place] for place in places)
        return dict(zip(self._measures[number], values, strict=True))

    def more_of(self, query: str) -> list[Score]:
        """The scores of *query* that are more than a value, such as those that have none."""
        number = self._numbers.get(query) if self._more else None
        if number is None:
            return []
        begin = self._begins[number]
        places = range(begin, begin + len(self._measures[number]))
        return [self._more[place] for place in places if place in self._more]

    def get(self, query: str, measure: str) -> Score | None:
        """That of *query* by *measure*; None if there is none."""
        number = self._numbers.get(query)
        if number is None or measure not in self._measures[number]:
            return None
        place = self._begins[number] + self._measures[number].index(measure)
        return self._more.get(place) or Score(query, measure, self._values[place], Outcome.SCORED)


class QueryValues(Mapping[str, float]):
    """Values by query, in columns: 8 bytes each, where a dict takes 76."""

    def __init__(
        self, queries: Sequence[str], values: array[float], places: Callable[[], Mapping[str, int]] | None = None
    ) -> None:
        """One of *values* for each of *queries*; *places* returns the place of each of these, if that is known."""
        self._queries, self._values, self._make_places = queries, values, places

    @classmethod
    def of(cls, values: Mapping[str, float]) -> QueryValues:
        """*values* in columns."""
        return cls(list(values), array("d", values.values()))

    def changed(self, values: Mapping[str, float]) -> QueryValues:
        """These values, with those of *values* in their place."""
        changed = self._values[:]
        for query, value in values.items():
            changed[self._places[query]] = value
        return QueryValues(self._queries, changed, lambda: self._places)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        if self._make_places is not None:
            return self._make_places()
        return {query: place for place, query in enumerate(self._queries)}

    def __getitem__(self, query: str) -> float:
        return self._values[self._places[query]]

    def __contains__(self, query: object) -> bool:
        return query in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def items(self) -> ItemsView[str, float]:
        """Each query with its value, without a look-up."""
        return _Pairs(self)

    def values(self) -> ValuesView[float]:
        """The values, without a look-up."""
        return _Values(self)


class _Pairs(ItemsView[str, float]):
    _mapping: QueryValues

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self._mapping._queries, self._mapping._values, strict=True)


class _Values(ValuesView[float]):
    _mapping: QueryValues

    def __iter__(self) -> Iterator[float]:
        return iter(self._mapping._values)


def _score(
    values: Sequence[float],
    more: Mapping[int, Score],
    begins: Sequence[int],
    measures: Sequence[tuple[str, ...]],
    queries: Sequence[str],
    place: int,
) -> Score:
    """The score at *place*; a method would keep its object alive until the garbage is collected."""
    if place in more:
        return more[place]
    number = bisect_right(begins, place) - 1
    return Score(queries[number], measures[number][place - begins[number]], values[place], Outcome.SCORED)
