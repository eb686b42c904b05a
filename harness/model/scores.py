"""Scores, and columns that hold those of a run: a number for each score, as an object takes 30 times the memory."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter

from harness.lazy import LazySequence
from harness.model.queries import ids_of, places_of
from harness.model.suite import Query

BLOCK = 1 << 6
"""Numbers of a block of a column: 512 bytes, the most that Python takes from the memory that small objects leave."""


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

    def __init__(self, scores: Iterable[Score] = (), queries: Sequence[Query] = ()) -> None:
        """
        Args:
            scores: One for each query and measure; the scores of a query follow each other.
            queries: Their ids and places are shared, not copied, if they are those of *scores* in the same order.
        """
        self._values = _Numbers()
        self._exceptions: dict[int, Score] = {}  # by place, the scores that a value alone does not describe
        self._runs = _Runs()
        ids: list[str] = []
        for query, group in groupby(scores, attrgetter("query")):
            begin = len(self._values)
            self._runs.append(len(ids), begin, tuple(map(self._taken, group)))
            ids.append(query)
        is_shared = ids == ids_of(queries)
        self._queries = ids_of(queries) if is_shared else ids
        self._numbers = places_of(queries) if is_shared else {query: number for number, query in enumerate(ids)}
        one = partial(_score, self._values, self._exceptions, self._runs, self._queries)
        super().__init__(range(len(self._values)), one)

    def _taken(self, score: Score) -> str:
        """Store *score*, and return its measure."""
        if score.outcome is not Outcome.SCORED or score.reason or score.value is None:
            self._exceptions[len(self._values)] = score
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
        begin, measures = self._found(query)
        return {
            measure: self._exceptions[place].value if place in self._exceptions else self._values[place]
            for place, measure in enumerate(measures, begin)
        }

    def exceptions_of(self, query: str) -> list[Score]:
        """The scores of *query* that are not SCORED, that have no value, or that have a reason."""
        if not self._exceptions:
            return []
        begin, measures = self._found(query)
        return [self._exceptions[place] for place in range(begin, begin + len(measures)) if place in self._exceptions]

    def column(self, measure: str, queries: Iterable[str]) -> Iterator[Score | float | None]:
        """
        What *measure* has for each of *queries*, without an object for most: the value of a score that is SCORED and
        has no reason, another score itself, None where there is none. A run's queries are quick in its own order.
        """
        numbers, values, exceptions = self._numbers, self._values, self._exceptions
        first = end = begin = 0
        measures: tuple[str, ...] = ()
        for query in queries:
            number = numbers.get(query)
            if number is not None and not first <= number < end:
                first, end, begin, measures = self._runs.around(number)
            if number is None or measure not in measures:
                yield None
                continue
            place = begin + (number - first) * len(measures) + measures.index(measure)
            yield exceptions[place] if place in exceptions else values[place]

    def _found(self, query: str) -> tuple[int, tuple[str, ...]]:
        """The place of the first score of *query*, and its measures."""
        number = self._numbers.get(query)
        return (0, ()) if number is None else self._runs.of_number(number)


class _Numbers:
    """Numbers in blocks of `BLOCK`, which fit where the objects of answers have been; a large array does not."""

    def __init__(self) -> None:
        self._blocks: list[array[float]] = []
        self._size = 0

    def append(self, value: float) -> None:
        """Add *value*."""
        block, place = divmod(self._size, BLOCK)
        if place == 0:
            self._blocks.append(array("d", (0.0,)) * BLOCK)
        self._blocks[block][place] = value
        self._size += 1

    def __getitem__(self, place: int) -> float:
        return self._blocks[place // BLOCK][place % BLOCK]

    def __len__(self) -> int:
        return self._size


class _Runs:
    """The measures of consecutive queries, stored once for all that have the same."""

    def __init__(self) -> None:
        self._numbers = array("L")  # of the first query of each run
        self._begins = array("L")  # the place of its first score
        self._measures: list[tuple[str, ...]] = []
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}

    def append(self, number: int, begin: int, measures: tuple[str, ...]) -> None:
        """Add the query of this *number*, whose scores start at place *begin*."""
        if not self._measures or self._measures[-1] != measures:
            self._numbers.append(number)
            self._begins.append(begin)
            self._measures.append(self._shared.setdefault(measures, measures))

    def around(self, number: int) -> tuple[int, int, int, tuple[str, ...]]:
        """The first query of the run with the query of this *number*, the end, its first score, and the measures."""
        after = bisect_right(self._numbers, number)
        end = self._numbers[after] if after < len(self._numbers) else sys.maxsize
        return self._numbers[after - 1], end, self._begins[after - 1], self._measures[after - 1]

    def of_number(self, number: int) -> tuple[int, tuple[str, ...]]:
        """The place of the first score, and the measures, of the query of this *number*."""
        first, _, begin, measures = self.around(number)
        return begin + (number - first) * len(measures), measures

    def of_place(self, place: int) -> tuple[int, str]:
        """The number of the query, and the measure, of the score at *place*."""
        run = bisect_right(self._begins, place) - 1
        measures = self._measures[run]
        queries, measure = divmod(place - self._begins[run], len(measures))
        return self._numbers[run] + queries, measures[measure]


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

    def changed(self, values: Iterable[tuple[str, float]]) -> QueryValues:
        """A copy in which *values*, pairs of a query and its value, replace those of the same queries."""
        places, changed = self._places, copy(self)
        changed._values = self._values[:]
        for query, value in values:
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


def _score(values: _Numbers, exceptions: Mapping[int, Score], runs: _Runs, queries: Sequence[str], place: int) -> Score:
    """The score at *place*. As a method it would form a reference cycle, which only garbage collection frees."""
    if place in exceptions:
        return exceptions[place]
    number, measure = runs.of_place(place)
    return Score(queries[number], measure, values[place], Outcome.SCORED)
