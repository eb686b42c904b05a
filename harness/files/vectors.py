"""
Vectors of queries that were computed beforehand, from files: JSON lines, or NumPy's ``.npy``.

A file of JSON lines has an object with ``id`` and ``vector`` a line, and may be packed (.gz, .zst). An array has a row
for each query, and its ids are known from elsewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import FormatError, InputError, missing_package
from harness.files.border import is_quotable
from harness.files.opening import FileFormat, FileProblems, detect_format, open_bytes, read_source
from harness.files.tables import is_id, iterate_lines, read_json_rows
from harness.words import count, listed

_MOST_IDS = 256 * 2**20
"""Bytes of a file of ids."""


def is_array(path: Path) -> bool:
    """Whether *path* has the suffix of a NumPy array."""
    return path.suffix.lower() == ".npy"


def read_ids(path: Path, name: str) -> list[str]:
    """
    The ids in a file, one per line; *name* is its name in errors.

    Raises:
        InputError: The file cannot be read, or a line is blank.
    """
    source = read_source(path, name, limit=_MOST_IDS)
    ids = [line.strip() for line in source.lines]
    while ids and not ids[-1]:
        ids.pop()
    if not all(ids):
        raise InputError([source.make_problem(ids.index("") + 1, 1, "found a blank line, expected an id")])
    return ids


def read_vectors(
    path: Path, name: str, queries: Sequence[str], *, rows: Sequence[str] | None = None, rows_of: str = ""
) -> dict[str, list[float]]:
    """
    The vector of each of *queries*.

    Args:
        path: JSON lines, or an array by its suffix ``.npy``. Vectors of other queries are checked, and left out.
        name: The file's name in errors.
        queries: The ids of all queries that need a vector.
        rows: The ids of an array's rows; None for those of *queries* in their order.
        rows_of: The name in errors of the file that *rows* are from.

    Returns:
        Vectors of finite numbers, all of one length; those of an array of floats as float64.

    Raises:
        FormatError: Names each line or row that has no vector, or a second one, and the queries that have none.
        UsageError: NumPy, or the package that unpacks the file, is not installed.
    """
    vectors = _Vectors(FileProblems(name), frozenset(queries))
    if is_array(path):
        _read_array(path, queries if rows is None else rows, rows_of, vectors)
    elif detect_format(path) is FileFormat.JSON_LINES:
        _read_json_lines(path, vectors)
    else:
        raise FormatError.at(name, 0, 0, "expected a file of vectors with the suffix .jsonl, .ndjson or .npy")
    if not vectors.findings.problems:
        vectors.check_complete(queries)
    vectors.findings.raise_any(path)
    return vectors.by_query


@dataclass(slots=True)
class _Vectors:
    """The vectors of the *queries* of a suite, as far as they were read."""

    findings: FileProblems
    queries: Collection[str]
    by_query: dict[str, list[float]] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)
    _size: int = 0
    _place_of_size: str = ""
    """The place of the first vector, whose size all have."""

    def add(self, query: str, vector: list[Any], place: str, line: int = 0, text: str = "") -> None:
        """Add the *vector* of *query*, found at *place*; *line* and *text* are those of a text file."""
        sentence = self._find_problem(query, vector, place)
        if sentence:
            self.findings.add(line, sentence if line else f"{place}: {sentence}", text)
        elif query in self.queries:
            self.by_query[query] = vector

    def check_complete(self, queries: Sequence[str]) -> None:
        """Note the queries without a vector."""
        lacking = [query for query in queries if query not in self.by_query]
        if lacking:
            found = f"found vectors of {len(queries) - len(lacking):,} of the suite's {count(len(queries), 'query')}"
            self.findings.add(0, f"{found}, expected one of each; there is none of {listed(lacking)}")

    def _find_problem(self, query: str, vector: list[Any], place: str) -> str:
        """Why *vector* cannot be that of *query*; empty if it can."""
        first = self._places.setdefault(query, place)
        if first != place:
            return f"found a second vector of query {query!r}, expected one; the first is in {first}"
        if not vector:
            return f"the vector of query {query!r} is empty; expected numbers"
        position = _find_wrong_number(vector)
        if position is not None:
            found = json.dumps(vector[position])[:40]
            return f"found {found} as number {position + 1} of the vector of query {query!r}, expected a finite number"
        if not self._size:
            self._size, self._place_of_size = len(vector), place
        if len(vector) != self._size:
            found = f"the vector of query {query!r} has {count(len(vector), 'number')}"
            return f"{found}, expected {self._size} as in {self._place_of_size}"
        return ""


def _find_wrong_number(vector: list[Any]) -> int | None:
    """The position from 0 of what is no finite number; None if all are."""
    # The sum of a vector shows in a tenth of the time that all of it are finite.
    with suppress(OverflowError):
        if set(map(type, vector)) <= {int, float} and math.isfinite(sum(vector)):
            return None
    for position, number in enumerate(vector):
        if not _is_finite(number):
            return position
    return None


def _is_finite(number: Any) -> bool:
    try:
        return type(number) in (int, float) and math.isfinite(number)
    except OverflowError:
        return False


def _read_json_lines(path: Path, vectors: _Vectors) -> None:
    findings = vectors.findings
    with open_bytes(path, findings.name) as file:
        for line, entry, text in read_json_rows(iterate_lines(file, findings), findings, ("id", "vector")):
            query, vector = entry["id"], entry["vector"]
            if not is_id(query):
                found = f"found {json.dumps(query)[:40]} as id"
                findings.add(line, f"{found}, expected a string or a whole number", text)
            elif not isinstance(vector, list):
                found = f"found {json.dumps(vector)[:40]} as vector"
                findings.add(line, f"{found}, expected a list of numbers", text)
            else:
                vectors.add(str(query), vector, f"line {line}", line, text)


def _read_array(path: Path, rows: Sequence[str], rows_of: str, vectors: _Vectors) -> None:
    try:
        import numpy as np
    except ImportError:
        raise missing_package(f"{vectors.findings.name}: .npy files need", "numpy", "arrays") from None
    findings = vectors.findings
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    # NumPy has a header read by several parsers, each with errors of its own. Their sentences quote the file.
    except Exception as error:
        reason = f": {error}" if is_quotable(path) else ""
        findings.add(0, f"this is not an array of numbers in NumPy's format .npy{reason}")
        return
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        shape = "x".join(map(str, array.shape)) or "no dimension"
        findings.add(0, f"found an array of {array.dtype} ({shape}), expected numbers with a row for each query")
    elif len(array) != len(rows):
        owner = "query of the suite, in its order; name the ids of the rows with `ids`"
        if rows_of:
            owner = f"id of {rows_of}"
        findings.add(0, f"found {count(len(array), 'row')}, expected {len(rows):,}, one for each {owner}")
    else:
        for number, (query, row) in enumerate(zip(rows, array, strict=True), start=1):
            numbers = row.astype(np.float64) if array.dtype.kind == "f" else row
            vectors.add(query, numbers.tolist(), f"row {number}")
