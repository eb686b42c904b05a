"""
Many queries at once, as numpy arrays: the input of the measures' batch formulas.

Only judged hits are held, one row each, sorted by query and rank: most hits are unjudged and gain nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageError
from harness.metrics.ranking import gain_function
from harness.model.suite import Gain, GainKind
from harness.statistics.tests import FloatArray

Numbers: TypeAlias = NDArray[Any]
"""Integers of any width, or floats."""

Divisors: TypeAlias = Callable[[int], Sequence[float]]
"""Returns the divisors of the gains at the first ranks, given their number."""

IDEALS_COUNTED = 4
"""Gains are counted per query instead of sorted, if that takes at most so many times the memory of the judgments."""


@dataclass(frozen=True, slots=True)
class Positions:
    """Some hits of a batch, sorted: the query of each (from 0), and its rank (from 1)."""

    query: Numbers
    rank: Numbers

    def cut(self, cutoff: int | None) -> Positions:
        """The positions within *cutoff*."""
        if cutoff is None:
            return self
        inside = self.rank <= cutoff
        return Positions(self.query[inside], self.rank[inside])

    def numbers(self) -> Numbers:
        """The number, from 1, of each among those of its query."""
        return number_within(self.query)


@dataclass(slots=True)
class Batch:
    """
    The judged hits and the judgments of many queries.

    *query*, *rank* and *grade* describe the judged hits, sorted by query and rank. *returned* counts all hits of each
    query, judged or not. *judged_query* (sorted) and *judged_grade* describe all judgments. Intermediate values that
    several measures need are cached.
    """

    returned: Numbers
    query: Numbers
    rank: Numbers
    grade: Numbers
    judged_query: Numbers
    judged_grade: Numbers
    _cache: dict[object, Any] = field(default_factory=dict)

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.returned)

    def per_query(self, query: Numbers, weights: Numbers | None = None) -> FloatArray:
        """The sum of *weights*, 1 each where there are none, for each query."""
        return np.bincount(query, weights, minlength=self.queries).astype(np.float64, copy=False)

    @staticmethod
    def ratio(above: Numbers, below: Numbers | int) -> FloatArray:
        """*above* / *below*, and 0 where *below* is 0."""
        values = np.zeros(len(above))
        np.divide(above, below, out=values, where=np.not_equal(below, 0))
        return values

    def relevant(self, level: float, cutoff: int | None = None) -> Positions:
        """The hits of at least the grade *level*, down to *cutoff*."""
        key = ("relevant", level)
        if key not in self._cache:
            is_relevant = reaches_level(self.grade, level)
            self._cache[key] = Positions(self.query[is_relevant], self.rank[is_relevant])
        positions: Positions = self._cache[key]
        return positions.cut(cutoff)

    def total(self, level: float) -> FloatArray:
        """How many judged documents of each query have at least the grade *level*."""
        key = ("total", level)
        if key not in self._cache:
            self._cache[key] = self.per_query(self.judged_query[reaches_level(self.judged_grade, level)])
        total: FloatArray = self._cache[key]
        return total

    def found(self, level: float, cutoff: int | None) -> FloatArray:
        """How many hits of each query have at least the grade *level*, down to *cutoff*."""
        return self.per_query(self.relevant(level, cutoff).query)

    def hits(self, cutoff: int | None) -> Numbers:
        """How many hits each query has, down to *cutoff*."""
        return self.returned if cutoff is None else np.minimum(self.returned, cutoff)

    def select_within(self, cutoff: int | None) -> NDArray[np.bool_] | slice:
        """Which of the judged hits stand within *cutoff*."""
        return slice(None) if cutoff is None else self.rank <= cutoff

    def is_within(self, cutoff: int | None) -> NDArray[np.bool_] | bool:
        """As `select_within`, to be joined with another condition."""
        return True if cutoff is None else self.rank <= cutoff

    def gains(self, gain: Gain, cutoff: int | None) -> tuple[Positions, FloatArray]:
        """
        The judged hits down to *cutoff*, and the gain of each.

        Raises:
            MeasureError: the map does not hold a grade.
        """
        inside = self.select_within(cutoff)
        # Of all hits, so that a gap in a map is found wherever the cutoff is.
        worths, codes = find_worths(gain, self.grade)
        return Positions(self.query[inside], self.rank[inside]), worths[codes][inside]

    def has_gain(self, gain: Gain) -> NDArray[np.bool_]:
        """Which queries have a judged document of positive gain."""
        _, query, _ = self._find_positive(gain)
        has_gain = np.zeros(self.queries, bool)
        has_gain[query] = True
        return has_gain

    def ideal_dcg(self, gain: Gain, cutoff: int | Numbers | None, divisors: Divisors) -> FloatArray:
        """The DCG of all judged documents of positive gain, best first, cut at *cutoff*: one for all, or one each."""
        levels, query, _ = self._find_positive(gain)
        if not len(query):
            return np.zeros(self.queries)
        # Counts per query and gain need no sort, but memory for each pair: too much with a gain for each document.
        if len(levels) * self.queries <= IDEALS_COUNTED * len(query):
            return self._sum_ideal_by_counts(gain, cutoff, divisors)
        return self._sum_ideal_by_order(gain, cutoff, divisors)

    def _find_positive(self, gain: Gain) -> tuple[FloatArray, Numbers, Numbers]:
        """The positive gains in use, the greatest first; of each document with one, its query and which it is."""
        key = ("positive", gain)
        if key not in self._cache:
            worths, codes = find_worths(gain, self.judged_grade)
            # Several grades may have the same gain. Negated, as `unique` sorts the least first.
            negated, level_of_worth = np.unique(-worths, return_inverse=True)
            codes = level_of_worth[codes]
            levels = -negated[negated < 0]
            is_positive = codes < len(levels)
            self._cache[key] = levels, self.judged_query[is_positive], codes[is_positive]
        positive: tuple[FloatArray, Numbers, Numbers] = self._cache[key]
        return positive

    def _sum_ideal_by_counts(self, gain: Gain, cutoff: int | Numbers | None, divisors: Divisors) -> FloatArray:
        """Documents of one gain fill consecutive ranks, so only their number matters."""
        levels, query, codes = self._find_positive(gain)
        key = ("ideal ends", gain)
        if key not in self._cache:
            # 64 bits, as queries times gains may be more than 2^31.
            pairs = query * np.int64(len(levels)) + codes
            counts = np.bincount(pairs, minlength=self.queries * len(levels))
            self._cache[key] = np.cumsum(counts.reshape(self.queries, len(levels)), axis=1)
        # The rank at which the documents of each gain end, by query.
        ends: Numbers = self._cache[key]
        if cutoff is not None:
            ends = np.minimum(ends, cutoff if isinstance(cutoff, int) else cutoff[:, None])
        weights = np.cumsum([0.0, *(1.0 / divisor for divisor in divisors(int(ends.max())))])
        # The weight of all ranks of a gain is that of the ranks to its end, less that of those before it.
        values: FloatArray = np.diff(weights[ends], axis=1, prepend=0.0) @ levels
        return values

    def _sum_ideal_by_order(self, gain: Gain, cutoff: int | Numbers | None, divisors: Divisors) -> FloatArray:
        """Sort the documents of each query by gain."""
        key = ("ideal order", gain)
        if key not in self._cache:
            levels, query, codes = self._find_positive(gain)
            # Query and gain as one integer: numpy sorts integers much faster than it sorts by two keys.
            query, codes = np.divmod(np.sort(query * np.int64(len(levels)) + codes), len(levels))
            ranks = compute_ranks(query, np.bincount(query, minlength=self.queries))
            self._cache[key] = query, ranks, levels[codes]
        query, rank, gains = self._cache[key]
        if cutoff is not None:
            inside = rank <= (cutoff if isinstance(cutoff, int) else cutoff[query])
            query, rank, gains = query[inside], rank[inside], gains[inside]
        divisor_by_rank = np.array((1.0, *divisors(int(rank.max(initial=0)))))  # ranks count from 1
        return self.per_query(query, gains / divisor_by_rank[rank])

    def condense(self, least: float) -> Batch:
        """A batch without the unjudged hits and those of a grade below *least*; the hits below them move up."""
        key = ("condensed", least)
        if key not in self._cache:
            kept = self.grade >= least
            query, grade = self.query[kept], self.grade[kept]
            counts = np.bincount(query, minlength=self.queries)
            ranks = compute_ranks(query, counts)
            self._cache[key] = Batch(counts, query, ranks, grade, self.judged_query, self.judged_grade)
        condensed: Batch = self._cache[key]
        return condensed

    def regrade(self, level: Callable[[Collection[float]], float]) -> Batch:
        """A batch with grade 1 from each query's *level* on, else 0; negative grades stay negative."""
        key = ("regraded", level)
        if key not in self._cache:
            ends = np.cumsum(np.bincount(self.judged_query, minlength=self.queries))[:-1]
            levels = np.array([level(grades.tolist()) for grades in np.split(self.judged_grade, ends)])
            hits = np.where(self.grade >= levels[self.query], 1.0, np.minimum(self.grade, 0.0))
            judged = np.where(self.judged_grade >= levels[self.judged_query], 1.0, np.minimum(self.judged_grade, 0.0))
            self._cache[key] = Batch(self.returned, self.query, self.rank, hits, self.judged_query, judged)
        regraded: Batch = self._cache[key]
        return regraded


def reaches_level(grades: Numbers, level: float) -> NDArray[np.bool_]:
    """Which grades reach *level*, compared as float64: in float32 the smallest positive number is 0."""
    reached: NDArray[np.bool_] = grades >= np.float64(level)
    return reached


def number_within(query: Numbers) -> Numbers:
    """The number, from 1, of each entry among those of its query; *query* is sorted."""
    if not len(query):
        return np.zeros(0, np.int64)
    return compute_ranks(query, np.bincount(query))


def compute_ranks(query: Numbers, counts: Numbers) -> Numbers:
    """As `number_within`, where the number of entries of each query is known."""
    starts: Numbers = np.cumsum(counts) - counts
    ranks: Numbers = np.arange(1, len(query) + 1) - starts[query]
    return ranks


def count_before(query: Numbers, is_counted: Numbers) -> FloatArray:
    """How many of the entries that are *is_counted* stand before each, in the same query; *query* is sorted."""
    # A running count over all queries, less the count at the first entry of each query.
    running: FloatArray = np.cumsum(is_counted, dtype=np.float64) - is_counted
    first = np.flatnonzero(np.diff(query, prepend=-1))
    lengths = np.diff(np.append(first, len(query)))
    return running - np.repeat(running[first], lengths)


def split_by_order(query: Numbers) -> Iterator[Numbers]:
    """Where the first entry of each query stands, then the second of each, and so on; *query* is sorted."""
    if not len(query):
        return
    number = number_within(query)
    entries = np.argsort(number, kind="stable")
    yield from np.split(entries, np.cumsum(np.bincount(number)[1:])[:-1])


def find_worths(gain: Gain, grades: Numbers) -> tuple[FloatArray, Numbers]:
    """The distinct gains, and for each grade which of them; there are few grades and many documents."""
    levels, codes = distinct(grades)
    worth = gain_function(gain)
    if gain.kind is GainKind.MAP or len(levels) < 1000:
        return np.array([worth(level) for level in levels.tolist()], np.float64), codes
    # With a grade for each document, a call for each would be most of the time. The greatest raises if it has no gain.
    worth(float(levels[-1]))
    positive = np.maximum(levels.astype(np.float64), 0.0)
    return positive if gain.kind is GainKind.LINEAR else np.exp2(positive) - 1.0, codes


def distinct(grades: Numbers) -> tuple[Numbers, Numbers]:
    """The grades in use, in order, and for each document which of them."""
    if grades.dtype.kind not in "iu" or not len(grades) or int(grades.max()) - int(grades.min()) > 4096:
        levels, codes = np.unique(grades, return_inverse=True)
        return levels, codes
    # A scale of whole numbers is counted instead of sorted: scripts/bench/metrics.
    least = int(grades.min())
    shifted = grades.astype(np.int64) - least
    used = np.bincount(shifted) > 0
    return np.flatnonzero(used) + least, (np.cumsum(used) - 1)[shifted]


def compact(grades: Numbers) -> Numbers:
    """
    *grades* in the smallest type that holds them all.

    Raises:
        UsageError: a grade is not a finite number.
    """
    if grades.dtype.kind != "f" or not len(grades):
        return grades
    if not np.isfinite(grades).all():
        raise UsageError("a grade is not a finite number")
    for narrow in (np.int8, np.int16, np.int32):
        limits = np.iinfo(narrow)
        if limits.min <= grades.min() and grades.max() <= limits.max:
            whole = grades.astype(narrow)
            return whole if np.array_equal(whole, grades) else grades
    return grades
