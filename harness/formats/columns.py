"""TREC files as columns of bytes and numbers, for scores from files without a Python string a line. Imports numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.formats.fields import read_fields
from harness.formats.numerals import floats_of
from harness.formats.opening import open_bytes
from harness.formats.trec import Irregular
from harness.metrics.bulk.joining import JudgedColumns, RankedColumns, compact
from harness.metrics.bulk.texts import PADDING, Documents, Numbers, Texts, Unfit, match

__all__ = ["judged_columns", "ranked_columns"]


def judged_columns(path: Path, name: str) -> JudgedColumns:
    """
    The judgments of TREC qrels.

    Raises:
        Irregular: a line is malformed, a document is judged twice, or something needs a look at each line.
        FormatError: The file cannot be read. It is called *name*.
    """
    numbers: dict[str, int] = {}
    queries: list[Numbers] = [np.zeros(0, np.int32)]
    documents: list[Texts] = []
    grades: list[Numbers] = [np.zeros(0)]
    with open_bytes(path, name) as file:
        for fields in read_fields(file, 4):
            names, sizes = fields.queries()
            queries.append(np.repeat([numbers.setdefault(name, len(numbers)) for name in names], sizes))
            documents.append(fields.column(2))
            grades.append(_numbers(fields.column(3)))
    query, grade = np.concatenate(queries).astype(np.int32), np.concatenate(grades)
    if not np.isfinite(grade).all():
        raise Irregular
    return _sorted(numbers, Documents(query, _side_by_side(documents)), compact(grade))


def ranked_columns(path: Path, name: str) -> Iterator[RankedColumns]:
    """
    The hits of a TREC run, some queries at a time, in the order of the file.

    Raises:
        Irregular: a line is malformed, a score is not a number, the lines of a query do not stand together, or
            something needs a look at each line.
        FormatError: The file cannot be read. It is called *name*.
    """
    seen: set[str] = set()
    with open_bytes(path, name) as file:
        for fields in read_fields(file, 6):
            queries, sizes = fields.queries()
            before = len(seen)
            seen.update(queries)
            if len(seen) < before + len(queries):
                raise Irregular
            yield RankedColumns(queries, sizes, fields.column(2), _numbers(fields.column(4)))


def _numbers(texts: Texts) -> NDArray[np.float64]:
    try:
        return floats_of(texts)
    except ValueError:
        raise Irregular from None


def _side_by_side(parts: Sequence[Texts]) -> Texts:
    """All texts of *parts* as texts of one content."""
    before = np.cumsum([0, *(len(part.content) - len(PADDING) for part in parts)])
    starts = [np.zeros(0, np.int64), *(part.starts + offset for part, offset in zip(parts, before, strict=False))]
    lengths = [np.zeros(0, np.int64), *(part.lengths for part in parts)]
    content = b"".join((*(part.content[: -len(PADDING)] for part in parts), PADDING))
    return Texts(content, np.concatenate(starts), np.concatenate(lengths))


def _sorted(numbers: dict[str, int], documents: Documents, grades: Numbers) -> JudgedColumns:
    if (documents.query[1:] < documents.query[:-1]).any():
        order = np.argsort(documents.query, kind="stable")
        documents, grades = documents.take(order), grades[order]
    try:
        twice = match(documents, documents.take(slice(0))).returned_twice
    except Unfit:
        raise Irregular from None
    if len(twice):
        raise Irregular
    return JudgedColumns(numbers, documents, grades)
