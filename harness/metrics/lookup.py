"""
From rankings and judgments of ids to a `Batch`.

Nearly all the time of a batch goes into hashing ids, so each is hashed once or twice and no more. Imports numpy.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count, repeat
from math import isfinite
from typing import TypeAlias

import numpy as np

from harness.errors import UsageError
from harness.metrics.batch import Batch, Numbers
from harness.metrics.ranking import without_duplicates

__all__ = ["compact", "look_up"]

Judgments: TypeAlias = Sequence[Mapping[str, float]]

UNJUDGED = 255
"""The code of an unjudged hit where the grade of each hit is one byte; grades take the codes below it."""


def look_up(
    rankings: Iterable[Sequence[str]], judgments: Judgments, *, depth: int | None = None, unique: bool = False
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
    query = np.repeat(np.arange(len(judgments)), sizes)
    values = chain.from_iterable(each.values() for each in judgments)
    try:
        grades = compact(np.fromiter(values, np.float64, len(query)))
    except UsageError:
        raise UsageError(_not_finite(judgments)) from None
    scale = np.unique(grades)
    if unique and len(scale) <= UNJUDGED:
        return _by_hits(rankings, judgments, depth, query, grades, scale)
    return _by_judgments(rankings, judgments, depth, query, grades)


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


def _by_judgments(
    rankings: Iterable[Sequence[str]], judgments: Judgments, depth: int | None, query: Numbers, grades: Numbers
) -> Batch:
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
    hits = hits[np.lexsort((rank[hits], query[hits]))]
    return Batch(np.array(returned, np.int64), query[hits], rank[hits], grades[hits], query, grades)


def _by_hits(
    rankings: Iterable[Sequence[str]],
    judgments: Judgments,
    depth: int | None,
    query: Numbers,
    grades: Numbers,
    scale: Numbers,
) -> Batch:
    """Ask for the grade of each hit, a byte each."""
    code_of = {grade: code for code, grade in enumerate(scale.tolist())}
    coded = (dict(zip(judged, map(code_of.__getitem__, judged.values()), strict=True)) for judged in judgments)
    rows, returned, unjudged = [], array("q"), repeat(UNJUDGED)
    for ranking, codes in zip(rankings, coded, strict=True):
        row = bytes(map(codes.get, ranking if depth is None else ranking[:depth], unjudged))
        rows.append(row)
        returned.append(len(row))
    hit_codes = np.frombuffer(b"".join(rows), np.uint8)
    lengths = np.array(returned, np.int64)
    hits = np.flatnonzero(hit_codes != UNJUDGED)
    ends = np.cumsum(lengths)
    hit_query = np.searchsorted(ends, hits, side="right")
    rank = hits - (ends - lengths)[hit_query] + 1
    return Batch(lengths, hit_query, rank, scale[hit_codes[hits]], query, grades)
