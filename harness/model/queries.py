"""
The queries of a suite and their judgments, stored in columns: a suite may have a million queries.

A query with five judgments takes a kilobyte as objects, and a fifth of that in columns. A column holds one field of
all queries: numbers in arrays, texts in compressed blocks. Ids stay objects, which everything that is stored by query
shares. Each access builds a new `Query`. `column` returns one field of all queries without building any.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import fields
from itertools import compress, repeat
from operator import attrgetter
from typing import Any, overload

from harness.lazy import LazySequence
from harness.model.suite import Mark, Query

NOT_PACKED = -1
"""In place of a number: the judgments of the query are not packed."""

BLOCK = 1 << 14
"""Bytes of a block of texts; to read one text of a block takes 50 us, and compressed it takes a third."""

MOST_GRADES = 1 << 15
"""The largest number of different grades that are packed: each is stored as a character, none of them a surrogate."""

_SEPARATOR = "\0"
_UTF_8 = ("utf-8", "surrogatepass")


class _Texts:
    """
    Texts in blocks of bytes, numbered from 0 in the order in which they are added.

    Full blocks are compressed, and the one read last is kept as it was: texts are read in the order of the queries.
    """

    def __init__(self) -> None:
        self._full: list[bytes] = []
        self._last = bytearray()
        self._read: tuple[int, bytes] | None = None  # the number of a full block, and its texts
        self._firsts = array("L", [0])  # the number of the first text of each block
        self._ends = array("I")  # where each text ends in its block

    def append(self, text: str) -> int:
        """Add *text*, and return its number."""
        number = len(self._ends)
        if len(self._last) >= BLOCK:
            self._full.append(zlib.compress(self._last, level=1))
            self._last.clear()
            self._firsts.append(number)
        self._last += text.encode(*_UTF_8)
        self._ends.append(len(self._last))
        return number

    def __getitem__(self, number: int) -> str:
        block = bisect_right(self._firsts, number) - 1
        begin = self._ends[number - 1] if number > self._firsts[block] else 0
        return self._texts_of(block)[begin : self._ends[number]].decode(*_UTF_8)

    def _texts_of(self, block: int) -> bytes | bytearray:
        if block == len(self._full):
            return self._last
        read = self._read  # another thread may replace it
        if read is None or read[0] != block:
            read = self._read = block, zlib.decompress(self._full[block])
        return read[1]


class GradeColumns(MutableMapping[str, dict[str, float]]):
    """
    The judgments of all queries: query to document to grade.

    The judgments of a query are packed into one text, and each access builds a new dictionary: to change one, change it
    and assign it again. A dictionary is stored as it is if its query has no place, if it replaces another, if it is
    empty, if a document id contains NUL, or if a grade is not among the first `MOST_GRADES` different ones.
    """

    def __init__(self, places: Mapping[str, int]) -> None:
        """*places* maps each query id to its position in the suite, from 0; it may grow later."""
        self._places = places
        self._numbers = array("i")  # by place, the number in `_packed`, or `NOT_PACKED`
        self._packed = _Texts()  # for each query its grades, one character each, then its document ids
        self._codes: dict[float, str] = {}
        self._grades: dict[str, float] = {}
        self._kept: dict[str, dict[str, float]] = {}

    def __getitem__(self, query: str) -> dict[str, float]:
        number = self._number(query)
        if number == NOT_PACKED:
            return self._kept[query]
        codes, *documents = self._packed[number].split(_SEPARATOR)
        return dict(zip(documents, map(self._grades.__getitem__, codes), strict=True))

    def grades_of(self, query: str) -> Iterable[float]:
        """The grades of *query* without their documents; empty if it has none."""
        number = self._number(query)
        if number == NOT_PACKED:
            return self._kept.get(query, {}).values()
        return map(self._grades.__getitem__, self._packed[number].partition(_SEPARATOR)[0])

    def __setitem__(self, query: str, judged: dict[str, float]) -> None:
        packed = self._pack(judged) if query in self._places and query not in self else None
        if packed is None:
            self.pop(query, None)
            self._kept[query] = judged
        else:
            self._numbers.extend(repeat(NOT_PACKED, len(self._places) - len(self._numbers)))
            self._numbers[self._places[query]] = self._packed.append(packed)

    def __delitem__(self, query: str) -> None:
        if self._number(query) == NOT_PACKED:
            del self._kept[query]
        else:
            self._numbers[self._places[query]] = NOT_PACKED

    def __contains__(self, query: object) -> bool:
        return self._number(query) != NOT_PACKED or query in self._kept

    def __iter__(self) -> Iterator[str]:
        yield from (query for query, number in zip(self._places, self._numbers, strict=False) if number != NOT_PACKED)
        yield from self._kept

    def __len__(self) -> int:
        return len(self._numbers) - self._numbers.count(NOT_PACKED) + len(self._kept)

    def _number(self, query: object) -> int:
        try:
            return self._numbers[self._places[query]]  # type: ignore[index]
        except LookupError:
            return NOT_PACKED

    def _pack(self, judged: Mapping[str, float]) -> str | None:
        """*judged* as one text; None if it cannot be packed."""
        documents = _SEPARATOR.join(judged)
        if not judged or documents.count(_SEPARATOR) != len(judged) - 1:
            return None
        for grade in judged.values():
            if grade not in self._codes and len(self._grades) < MOST_GRADES:
                self._codes[grade] = code = chr(len(self._grades) + 1)
                self._grades[code] = grade
        try:
            return "".join(map(self._codes.__getitem__, judged.values())) + _SEPARATOR + documents
        except KeyError:
            return None


_FIELDS = ("params", "masked", "tags", "thresholds", "markers", "xfail", "skip")
_fields_of = attrgetter(*_FIELDS)


_set_path, _set_line, _set_column = (getattr(Mark, one.name).__set__ for one in fields(Mark))
(
    _set_id, _set_text, _set_params, _set_tags, _set_judgments, _set_thresholds, _set_markers, _set_xfail, _set_skip,
    _set_mark, _set_weight, _set_masked,
) = (getattr(Query, one.name).__set__ for one in fields(Query))  # fmt: skip


class _Columns:
    """The columns that a `QueryColumns` and its parts share."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.places: dict[str, int] = {}
        self.texts = _Texts()
        self.lines = array("I")
        self.weights = array("d")  # empty as long as all are 1
        self.others: list[tuple[Any, ...]] = []  # `_FIELDS`, path and column; most queries share one tuple
        self.grades = GradeColumns(self.places)
        self._shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def append(self, query: Query) -> None:
        others = (*_fields_of(query), query.mark.path, query.mark.column)
        if not query.params and query.masked is None:
            others = self._shared.setdefault(others[2:], others)
        self.ids.append(query.id)
        self.places[query.id] = len(self.places)
        self.texts.append(query.text)
        self.lines.append(query.mark.line)
        if query.weight != 1.0 and not self.weights:
            self.weights.extend(repeat(1.0, len(self.ids) - 1))
        if query.weight != 1.0 or self.weights:
            self.weights.append(query.weight)
        self.others.append(others)
        if query.judgments:
            self.grades[query.id] = dict(query.judgments)

    def weight(self, place: int) -> float:
        """The weight of the query at *place*."""
        return self.weights[place] if self.weights else 1.0

    def query(self, identity: str) -> Query:
        """
        The query with the id *identity*.

        The fields are set through their slots: that takes half as long as the constructor of a frozen dataclass.
        """
        place = self.places[identity]
        try:
            judged = self.grades[identity]
        except KeyError:
            judged = {}
        params, masked, tags, thresholds, markers, xfail, skip, path, column = self.others[place]
        query, mark = object.__new__(Query), object.__new__(Mark)
        _set_path(mark, path)
        _set_line(mark, self.lines[place])
        _set_column(mark, column)
        _set_id(query, identity)
        _set_text(query, self.texts[place])
        _set_params(query, params)
        _set_tags(query, tags)
        _set_judgments(query, judged)
        _set_thresholds(query, thresholds)
        _set_markers(query, markers)
        _set_xfail(query, xfail)
        _set_skip(query, skip)
        _set_mark(query, mark)
        _set_weight(query, self.weight(place))
        _set_masked(query, masked)
        return query


class QueryColumns(LazySequence[Query]):
    """Queries with different ids, in columns; each access builds a new `Query`."""

    def __init__(self, queries: Iterable[Query] = ()) -> None:
        """*queries* are read one by one, so an iterator need not hold all of them."""
        self._columns = _Columns()
        self.ids = self._columns.ids
        """The id of each query, in the order of the queries."""
        super().__init__(self.ids, self._columns.query)
        for query in queries:
            self.append(query)

    def append(self, query: Query) -> None:
        """Add *query*, whose id must be new."""
        self._columns.append(query)

    def __iter__(self) -> Iterator[Query]:
        return map(self._columns.query, self.ids)

    @overload
    def __getitem__(self, place: int) -> Query: ...

    @overload
    def __getitem__(self, place: slice) -> QueryColumns: ...

    def __getitem__(self, place: int | slice) -> Query | QueryColumns:
        return self.part(self.ids[place]) if isinstance(place, slice) else self._columns.query(self.ids[place])

    @property
    def places(self) -> Mapping[str, int]:
        """Query id to position, from 0."""
        if self.ids is self._columns.ids:
            return self._columns.places
        return {identity: place for place, identity in enumerate(self.ids)}

    def judged(self, grades: Mapping[str, dict[str, float]]) -> QueryColumns:
        """The same queries with other judgments; *grades* is query to document to grade."""
        if not isinstance(grades, GradeColumns):
            packed = GradeColumns(self._columns.places)
            packed.update(grades)
            grades = packed
        columns = copy(self._columns)
        columns.grades = grades
        return self.part(self.ids, columns)

    def column(self, field: str) -> Iterator[Any]:
        """See the function `column`."""
        columns = self._columns
        if field == "id":
            return iter(self.ids)
        if field == "grades":
            return map(columns.grades.grades_of, self.ids)
        places = map(columns.places.__getitem__, self.ids)
        if field == "text":
            return map(columns.texts.__getitem__, places)
        if field == "weight":
            return map(columns.weight, places)
        number = _FIELDS.index(field)
        return (columns.others[place][number] for place in places)

    def part(self, ids: list[str], columns: _Columns | None = None) -> QueryColumns:
        """The queries with *ids*, in that order; *columns* replaces the shared columns."""
        part = object.__new__(QueryColumns)
        part._columns, part.ids = columns or self._columns, ids
        LazySequence.__init__(part, ids, part._columns.query)
        return part


def column(queries: Sequence[Query], field: str) -> Iterator[Any]:
    """
    One field of each of *queries*, in their order; queries in columns are not built.

    Args:
        queries: In columns or as objects.
        field: Any field but "mark" and "judgments", or "grades": the grades of each query, without documents.

    >>> list(column([Query("q1", "red shoes"), Query("q2", "tents")], "text"))
    ['red shoes', 'tents']
    """
    if isinstance(queries, QueryColumns):
        return queries.column(field)
    if field == "grades":
        return (query.judgments.values() for query in queries)
    return map(attrgetter(field), queries)


def tagged(queries: Sequence[Query], tag: str) -> Sequence[Query]:
    """The queries that have the *tag*."""
    return chosen(queries, [tag in tags for tags in column(queries, "tags")])


def with_ids(queries: Sequence[Query], ids: Container[str]) -> Sequence[Query]:
    """The queries whose id is in *ids*, in the order of *queries*."""
    return chosen(queries, map(ids.__contains__, ids_of(queries)))


def ids_of(queries: Sequence[Query]) -> Sequence[str]:
    """The id of each of *queries*."""
    return queries.ids if isinstance(queries, QueryColumns) else [query.id for query in queries]


def places_of(queries: Sequence[Query]) -> Mapping[str, int]:
    """Query id to position, from 0, in the order of *queries*; queries in columns share one mapping."""
    if isinstance(queries, QueryColumns):
        return queries.places
    return {query.id: place for place, query in enumerate(queries)}


def chosen(queries: Sequence[Query], flags: Iterable[object]) -> Sequence[Query]:
    """The queries whose flag, at the same position in *flags*, is true; in columns if *queries* are in columns."""
    if isinstance(queries, QueryColumns):
        ids = list(compress(queries.ids, flags))
        return queries if len(ids) == len(queries) else queries.part(ids)
    return tuple(compress(queries, flags))
