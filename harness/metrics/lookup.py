"""
From rankings and judgments of ids to a `Batch`.

Nearly all the time of a batch goes into hashing ids, so each is hashed once or twice and no more. Imports numpy.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, repeat
from math import isfinite
from typing import TypeAlias, cast

import numpy as np

from harness.errors import UsageError
from harness.metrics.batch import Batch, Numbers
from harness.metrics.ranking import without_duplicates

__all__ = ["compact", "look_up"]

Judgments: TypeAlias = Sequence[Mapping[str, float]]

UNJUDGED = 255
"""The code of an unjudged hit where the grade of each hit is one byte; grades take the codes below it."""

FEW_JUDGED = 4
"""Where there are more hits than so many times the judgments, it is quicker to ask for the ranks of the judged."""


@dataclass(frozen=True, slots=True)
class Judged:
    """All judgments, grouped by query: the query (from 0) and the grade of each."""

    query: Numbers
    grade: Numbers


def look_up(
    rankings: Sequence[Sequence[str]], judgments: Judgments, *, depth: int | None = None, unique: bool = False
) -> Batch:
    """
    Join rankings and judgments, which are of the same queries in the same order.

    Args:
        rankings: Document ids of each query, best first; one that comes twice counts once.
        judgments: Document id to grade of each query.
        depth: Ranks below this are not looked at.
        unique: The caller knows that no ranking holds a document twice, so that it need not be found out.

    Raises:
        UsageError: a grade is not a finite number.
    """
    sizes = np.fromiter(map(len, judgments), np.int64, len(judgments))
    query = np.repeat(np.arange(len(judgments), dtype=np.int32), sizes)
    grades = _small_grades(judgments)
    if grades is None:
        grades = _any_grades(judgments, len(query))
    hits = sum(map(len, rankings)) if depth is None else depth * len(rankings)
    if unique or len(query) > hits // FEW_JUDGED:
        levels, coded = _codes(judgments, grades)
        if len(levels) <= UNJUDGED:
            return _by_hits(rankings, coded, depth, Judged(query, grades), levels, unique=unique)
    return _by_judgments(rankings, judgments, depth, Judged(query, grades))


def _small_grades(judgments: Judgments) -> Numbers | None:
    """All grades, a byte each, where they are whole numbers from 0 to 254 and Python's own integers; else None."""
    try:
        grades = np.frombuffer(
            b"".join([bytes(cast("Iterable[int]", judged.values())) for judged in judgments]), np.uint8
        )
    except (TypeError, ValueError):
        return None
    return grades if grades.max(initial=0) < UNJUDGED else None


def _any_grades(judgments: Judgments, count: int) -> Numbers:
    values = chain.from_iterable(judged.values() for judged in judgments)
    try:
        return compact(np.fromiter(values, np.float64, count))
    except UsageError:
        raise UsageError(_not_finite(judgments)) from None


def compact(grades: Numbers) -> Numbers:
    """
    The same grades in the smallest type that holds them all.

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


def _not_finite(judgments: Judgments) -> str:
    document, grade = next(
        (document, grade) for judged in judgments for document, grade in judged.items() if not isfinite(grade)
    )
    return f"the grade of document {document!r} is {grade}, and must be a finite number"


def _by_judgments(rankings: Iterable[Sequence[str]], judgments: Judgments, depth: int | None, known: Judged) -> Batch:
    """Ask for the rank of each judged document, which finds out about duplicates on the way."""
    ranks, returned = array("i"), array("q")
    numbers: list[int] = []
    for ranking, judged in zip(rankings, judgments, strict=True):
        ids = ranking if depth is None else ranking[:depth]
        if len(numbers) < len(ids):
            numbers = list(range(1, 2 * len(ids) + 1))
        places = dict(zip(ids, numbers, strict=False))
        if len(places) < len(ids):
            places = dict(zip(without_duplicates(ranking)[:depth], count(1), strict=False))
        ranks.extend(map(places.get, judged, repeat(0)))
        returned.append(len(places))
    rank = np.frombuffer(ranks, np.int32) if ranks else np.zeros(0, np.int32)
    hits = np.flatnonzero(rank)
    hits = hits[np.lexsort((rank[hits], known.query[hits]))]
    lengths = np.array(returned, np.int64)
    return Batch(lengths, known.query[hits], rank[hits], known.grade[hits], known.query, known.grade)


def _by_hits(
    rankings: Iterable[Sequence[str]],
    coded: Iterable[Mapping[str, int]],
    depth: int | None,
    known: Judged,
    levels: Numbers,
    *,
    unique: bool,
) -> Batch:
    """Ask for the grade of each hit, a byte each."""
    rows, unjudged = [], repeat(UNJUDGED)
    for ranking, codes in zip(rankings, coded, strict=True):
        ids = ranking if depth is None else ranking[:depth]
        if not unique and len(set(ids)) < len(ids):
            ids = without_duplicates(ranking)[:depth]
        rows.append(bytes(map(codes.get, ids, unjudged)))
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    codes_of_hits = np.frombuffer(b"".join(rows), np.uint8)
    hits = np.flatnonzero(codes_of_hits != UNJUDGED)
    ends = np.cumsum(lengths)
    found = np.diff(np.searchsorted(hits, ends), prepend=0)
    query = np.repeat(np.arange(len(rows), dtype=np.int32), found)
    rank = (hits - np.repeat(ends - lengths - 1, found)).astype(np.int32)
    return Batch(lengths, query, rank, levels[codes_of_hits[hits]], known.query, known.grade)


def _codes(judgments: Judgments, grades: Numbers) -> tuple[Numbers, Iterable[Mapping[str, int]]]:
    """The grade that each code stands for, and the code of each document; small whole grades are their own codes."""
    if grades.dtype == np.uint8:
        return np.arange(UNJUDGED, dtype=np.uint8), cast("Iterable[Mapping[str, int]]", judgments)
    levels = np.unique(grades)
    code_of = {grade: code for code, grade in enumerate(levels.tolist())}
    return levels, (dict(zip(judged, map(code_of.__getitem__, judged.values()), strict=True)) for judged in judgments)
