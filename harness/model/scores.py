"""Scores, and columns that hold those of a run: a number for each score, as an object takes 30 times the memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from copy import copy
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
    """Scores grouped by query, in columns; each access builds a new `Score`."""

    def __init__(self, scores: Iterable[Score] = (), places: Mapping[str, int] = MappingProxyType({})) -> None:
        """
        Args:
            scores: One for each query and measure; the scores of a query follow each other.
            places: Query id to position, from 0. The mapping is shared, not copied, if it has the same queries in the
                same order as *scores*.
        """
        self._values = array("d")
        self._more: dict[int, Score] = {}  # by place, the scores that a value alone does not describe
        self._begins = array("L")  # for each query, the place of its first score
        self._measures: list[tuple[str, ...]] = []  # for each query; most queries share one tuple
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
        """Store *score*, and return its measure."""
        if score.outcome is not Outcome.SCORED or score.reason or score.value is None:
            self._more[len(self._values)] = score
        self._values.append(0.0 if score.value is None else score.value)
        return score.measure

    @classmethod
    def of(cls, scores: Iterable[Score]) -> ScoreColumns:
        """*scores*, in any order, in columns; returned as they are if they already are in columns."""
        if isinstance(scores, ScoreColumns):
            return scores
        by_query: dict[str, dict[str, Score]] = {}
        for score in scores:
            by_query.setdefault(score.query, {})[score.measure] = score
        return cls(score for found in by_query.values() for score in found.values())

    def values_of(self, query: str) -> dict[str, float | None]:
        """Measure to value, None if there is none, for *query*; empty if the query has no scores."""
        number = self._numbers.get(query)
        if number is None:
            return {}
        places = range(self._begins[number], self._begins[number] + len(self._measures[number]))
        values = (self._more[place].value if place in self._more else self._values[place] for place in places)
        return dict(zip(self._measures[number], values, strict=True))

    def more_of(self, query: str) -> list[Score]:
        """The scores of *query* that are not SCORED, that have no value, or that have a reason."""
        number = self._numbers.get(query) if self._more else None
        if number is None:
            return []
        begin = self._begins[number]
        places = range(begin, begin + len(self._measures[number]))
        return [self._more[place] for place in places if place in self._more]

    def get(self, query: str, measure: str) -> Score | None:
        """The score of *query* by *measure*; None if there is none."""
        number = self._numbers.get(query)
        if number is None or measure not in self._measures[number]:
            return None
        place = self._begins[number] + self._measures[number].index(measure)
        return self._more.get(place) or Score(query, measure, self._values[place], Outcome.SCORED)


class QueryValues(Mapping[str, float]):
    """Query to value, in columns: 8 bytes for each value where ids and places are shared; a dict takes 76."""

    def __init__(self, places: Callable[[], Mapping[str, int]] = dict) -> None:
        """*places* returns the position of each query that may get a value, by id; it is shared if all get one."""
        self._queries: list[str] = []
        self._values = array("d")
        self._places_of_all = places

    @classmethod
    def of(cls, values: Mapping[str, float]) -> QueryValues:
        """*values* in columns."""
        packed = cls()
        for query, value in values.items():
            packed.append(query, value)
        return packed

    def append(self, query: str, value: float) -> None:
        """Add *query*, which has no value yet, before any value is looked up."""
        self._queries.append(query)
        self._values.append(value)

    def changed(self, values: Mapping[str, float]) -> QueryValues:
        """A copy in which *values* replace the values of their queries."""
        places, changed = self._places, copy(self)
        changed._values = self._values[:]
        for query, value in values.items():
            changed._values[places[query]] = value
        return changed

    @cached_property
    def _places(self) -> Mapping[str, int]:
        places = self._places_of_all()
        if len(places) == len(self._queries):
            return places
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
        """Each query with its value; iterating does not look up each query."""
        return _Pairs(self)

    def values(self) -> ValuesView[float]:
        """The values; iterating does not look up each query."""
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
    """The score at *place*. As a method it would form a reference cycle, which only garbage collection frees."""
    if place in more:
        return more[place]
    number = bisect_right(begins, place) - 1
    return Score(queries[number], measures[number][place - begins[number]], values[place], Outcome.SCORED)
