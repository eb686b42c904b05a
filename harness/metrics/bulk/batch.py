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
from harness.model import Gain, GainKind

Floats: TypeAlias = NDArray[np.float64]
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

    def down_to(self, cutoff: int | None) -> Positions:
        """The positions within *cutoff*."""
        if cutoff is None:
            return self
        inside = self.rank <= cutoff
        return Positions(self.query[inside], self.rank[inside])

    def numbers(self) -> Numbers:
        """The number, from 1, of each among those of its query."""
        return order_within(self.query)


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
    _kept: dict[object, Any] = field(default_factory=dict)

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.returned)

    def per_query(self, query: Numbers, weights: Numbers | None = None) -> Floats:
        """The sum of *weights*, 1 each where there are none, for each query."""
        return np.bincount(query, weights, minlength=self.queries).astype(np.float64, copy=False)

    @staticmethod
    def ratio(above: Numbers, below: Numbers | int) -> Floats:
        """*above* / *below*, and 0 where *below* is 0."""
        values = np.zeros(len(above))
        np.divide(above, below, out=values, where=np.not_equal(below, 0))
        return values

    def relevant(self, level: float, cutoff: int | None = None) -> Positions:
        """The hits of at least the grade *level*, down to *cutoff*."""

        def find() -> Positions:
            enough = at_least(self.grade, level)
            return Positions(self.query[enough], self.rank[enough])

        found: Positions = self.once(("relevant", level), find)
        return found.down_to(cutoff)

    def total(self, level: float) -> Floats:
        """How many judged documents of each query have at least the grade *level*."""
        total: Floats = self.once(
            ("total", level), lambda: self.per_query(self.judged_query[at_least(self.judged_grade, level)])
        )
        return total

    def found(self, level: float, cutoff: int | None) -> Floats:
        """How many hits of each query have at least the grade *level*, down to *cutoff*."""
        return self.per_query(self.relevant(level, cutoff).query)

    def hits(self, cutoff: int | None) -> Numbers:
        """How many hits each query has, down to *cutoff*."""
        return self.returned if cutoff is None else np.minimum(self.returned, cutoff)

    def within(self, cutoff: int | None) -> NDArray[np.bool_] | slice:
        """Which of the judged hits stand within *cutoff*."""
        return slice(None) if cutoff is None else self.rank <= cutoff

    def gains(self, gain: Gain, cutoff: int | None) -> tuple[Positions, Floats]:
        """
        The judged hits down to *cutoff*, and the gain of each.

        Raises:
            MeasureError: the map does not hold a grade.
        """
        inside = self.within(cutoff)
        worths, codes = worths_of(gain, self.grade)
        return Positions(self.query[inside], self.rank[inside]), worths[codes][inside]

    def has_gain(self, gain: Gain) -> NDArray[np.bool_]:
        """Which queries have a judged document of positive gain."""
        _, query, _ = self._positive(gain)
        found = np.zeros(self.queries, bool)
        found[query] = True
        return found

    def ideal_dcg(self, gain: Gain, cutoff: int | Numbers | None, divisors: Divisors) -> Floats:
        """The DCG of all judged documents of positive gain, best first, cut at *cutoff*: one for all, or one each."""
        levels, query, _ = self._positive(gain)
        if not len(query):
            return np.zeros(self.queries)
        counted = len(levels) * self.queries <= IDEALS_COUNTED * len(query)
        return (self._ideal_from_counts if counted else self._ideal_from_order)(gain, cutoff, divisors)

    def _positive(self, gain: Gain) -> tuple[Floats, Numbers, Numbers]:
        """The positive gains in use, the greatest first; of each document with one, its query and which it is."""

        def find() -> tuple[Floats, Numbers, Numbers]:
            worths, codes = worths_of(gain, self.judged_grade)
            levels, of_worth = np.unique(-worths, return_inverse=True)
            codes, kept = of_worth[codes], int((levels < 0).sum())
            positive = codes < kept
            return -levels[:kept], self.judged_query[positive], codes[positive]

        positive: tuple[Floats, Numbers, Numbers] = self.once(("positive", gain), find)
        return positive

    def _ideal_from_counts(self, gain: Gain, cutoff: int | Numbers | None, divisors: Divisors) -> Floats:
        """Documents of one gain fill consecutive ranks, so only their number matters."""

        def count() -> Numbers:
            levels, query, codes = self._positive(gain)
            counts = np.bincount(query * np.int64(len(levels)) + codes, minlength=self.queries * len(levels))
            ends: Numbers = np.cumsum(counts.reshape(self.queries, len(levels)), axis=1)
            return ends

        ends = self.once(("ideal ends", gain), count)
        if cutoff is not None:
            ends = np.minimum(ends, cutoff if isinstance(cutoff, int) else cutoff[:, None])
        weights = np.cumsum([0.0, *(1.0 / divisor for divisor in divisors(int(ends.max())))])
        values: Floats = np.diff(weights[ends], axis=1, prepend=0.0) @ self._positive(gain)[0]
        return values

    def _ideal_from_order(self, gain: Gain, cutoff: int | Numbers | None, divisors: Divisors) -> Floats:
        def order() -> tuple[Numbers, Numbers, Numbers]:
            levels, query, codes = self._positive(gain)
            keys = np.sort(query * np.int64(len(levels)) + codes)
            query, codes = np.divmod(keys, len(levels))
            return query, ranks_grouped(query, np.bincount(query, minlength=self.queries)), levels[codes]

        query, rank, gains = self.once(("ideal order", gain), order)
        if cutoff is not None:
            inside = rank <= (cutoff if isinstance(cutoff, int) else cutoff[query])
            query, rank, gains = query[inside], rank[inside], gains[inside]
        by_rank = np.array((1.0, *divisors(int(rank.max(initial=0)))))
        return self.per_query(query, gains / by_rank[rank])

    def condensed(self, least: float) -> Batch:
        """A batch without the unjudged hits and those of a grade below *least*; the hits below them move up."""

        def condense() -> Batch:
            kept = self.grade >= least
            query, grade = self.query[kept], self.grade[kept]
            counts = np.bincount(query, minlength=self.queries)
            order = ranks_grouped(query, counts)
            return Batch(counts, query, order, grade, self.judged_query, self.judged_grade)

        condensed: Batch = self.once(("condensed", least), condense)
        return condensed

    def regraded(self, level: Callable[[Collection[float]], float]) -> Batch:
        """A batch with grade 1 from each query's *level* on, else 0; negative grades stay negative."""

        def regrade() -> Batch:
            ends = np.cumsum(np.bincount(self.judged_query, minlength=self.queries))[:-1]
            levels = np.array([level(grades.tolist()) for grades in np.split(self.judged_grade, ends)])
            hits = np.where(self.grade >= levels[self.query], 1.0, np.minimum(self.grade, 0.0))
            judged = np.where(self.judged_grade >= levels[self.judged_query], 1.0, np.minimum(self.judged_grade, 0.0))
            return Batch(self.returned, self.query, self.rank, hits, self.judged_query, judged)

        regraded: Batch = self.once(("regraded", level), regrade)
        return regraded

    def once(self, key: object, compute: Callable[[], Any]) -> Any:
        """The result of *compute*, cached by *key*."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]


def at_least(grades: Numbers, level: float) -> NDArray[np.bool_]:
    """Which grades reach *level*, compared as float64: in float32 the smallest positive number is 0."""
    reached: NDArray[np.bool_] = grades >= np.float64(level)
    return reached


def order_within(query: Numbers) -> Numbers:
    """The number, from 1, of each entry among those of its query; *query* is sorted."""
    if not len(query):
        return np.zeros(0, np.int64)
    return ranks_grouped(query, np.bincount(query))


def ranks_grouped(query: Numbers, counts: Numbers) -> Numbers:
    """As `order_within`, where the number of entries of each query is known."""
    starts: Numbers = np.cumsum(counts) - counts
    order: Numbers = np.arange(1, len(query) + 1) - starts[query]
    return order


def counted_before(query: Numbers, kind: Numbers) -> Floats:
    """How many entries of a *kind* stand before each, in the same query; *query* is sorted."""
    running: Floats = np.cumsum(kind, dtype=np.float64) - kind
    first = np.flatnonzero(np.diff(query, prepend=-1))
    lengths = np.diff(np.append(first, len(query)))
    return running - np.repeat(running[first], lengths)


def by_order(query: Numbers) -> Iterator[Numbers]:
    """Where the first entry of each query stands, then the second of each, and so on; *query* is sorted."""
    if not len(query):
        return
    order = order_within(query)
    by_order = np.argsort(order, kind="stable")
    yield from np.split(by_order, np.cumsum(np.bincount(order)[1:])[:-1])


def worths_of(gain: Gain, grades: Numbers) -> tuple[Floats, Numbers]:
    """The distinct gains, and for each grade which of them; there are few grades and many documents."""
    levels, codes = distinct(grades)
    worth = gain_function(gain)
    if gain.kind is GainKind.MAP or len(levels) < 1000:
        return np.array([worth(level) for level in levels.tolist()], np.float64), codes
    worth(float(levels[-1]))  # raises if it is too large for a float
    positive = np.maximum(levels.astype(np.float64), 0.0)
    return positive if gain.kind is GainKind.LINEAR else np.exp2(positive) - 1.0, codes


def distinct(grades: Numbers) -> tuple[Numbers, Numbers]:
    """The grades in use, in order, and for each document which of them."""
    if grades.dtype.kind not in "iu" or not len(grades) or int(grades.max()) - int(grades.min()) > 4096:
        levels, codes = np.unique(grades, return_inverse=True)
        return levels, codes
    least = int(grades.min())  # a scale of whole numbers: count, do not sort
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
