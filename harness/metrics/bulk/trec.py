"""
Batches from TREC files: blocks of lines as columns of bytes and numbers, without a Python string a line.

Lines with one blank between two columns are read as they are; others are normalized first. Ids stay bytes; only those
of queries become strings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.metrics.bulk.batch import Batch, Numbers, compact
from harness.metrics.bulk.texts import (
    KEPT,
    PADDING,
    WORD,
    Bits,
    CannotReadInBulk,
    Documents,
    Texts,
    as_bits,
    match,
    same_text,
    texts_of,
)
from harness.statistics.tests import FloatArray

_BLANK, _TAB, _NEWLINE = b" \t\n"
_WHITE = np.isin(np.arange(256), np.frombuffer(b" \t\n\v\f\r", np.uint8))
"""The bytes that separate columns and lines, as in `bytes.split`."""


@dataclass(frozen=True, slots=True)
class TrecJudgments:
    """All judgments of a file, sorted by query, no document twice in one."""

    queries: Mapping[str, int]
    """The queries, numbered from 0 in the order in which they first come."""

    documents: Documents
    grades: Numbers

    def batch(self, ranked: TrecRankings, *, ties_by_id: bool) -> Batch:
        """
        Rank hits by score and join them to their judgments.

        Args:
            ranked: The hits of some queries.
            ties_by_id: Documents of equal score rank by id from the last to the first in bytes, not as they come.

        Raises:
            CannotReadInBulk: a document comes twice for a query, or hashes do not distinguish ids.
        """
        joined = self._join(ranked)
        return joined.batch(_find_places(joined.query, ranked, ties_by_id=ties_by_id))

    def orders_of_ties(self, ranked: TrecRankings) -> Iterator[Batch]:
        """
        As `batch`, with the documents of equal score by their grades, the lowest first, and then the highest first;
        nothing where no documents of different grades have equal scores.
        """
        scores = ranked.scores
        query = np.repeat(np.arange(len(ranked.queries), dtype=np.int32), ranked.sizes)
        joined = self._join(ranked)
        grades = np.full(len(scores), _BELOW_ZERO)
        grades[joined.hit] = joined.grades[joined.judged]
        lowest_first = np.lexsort((grades, -scores, query))
        # Each hit and the one before it in that order.
        sorted_query, sorted_scores, sorted_grades = query[lowest_first], scores[lowest_first], grades[lowest_first]
        is_tied = (sorted_query[1:] == sorted_query[:-1]) & (sorted_scores[1:] == sorted_scores[:-1])
        if not (is_tied & (sorted_grades[1:] != sorted_grades[:-1])).any():
            return
        for order in (lowest_first, np.lexsort((-grades, -scores, query))):
            places = np.empty(len(order), np.int64)
            places[order] = np.arange(len(order))
            yield joined.batch(places)

    def list_documents(self, query: str) -> set[str]:
        """The documents that are judged for *query*."""
        number = self.queries.get(query)
        if number is None:
            return set()
        rows, _ = self._rows(np.array([number], np.int32))
        return {self.documents.ids[row].decode() for row in rows}

    def _join(self, ranked: TrecRankings) -> _Joined:
        """Find which hits are judged."""
        # A query without judgments gets a number that no query of the judgments has.
        beyond = len(self.queries)
        numbers = np.array(
            [self.queries.get(query, beyond + place) for place, query in enumerate(ranked.queries)], np.int32
        )
        hits = Documents(np.repeat(numbers, ranked.sizes), ranked.documents)
        rows, judged_sizes = self._rows(numbers)
        matches = match(hits, self.documents.take(rows))
        if len(matches.returned_twice):
            raise CannotReadInBulk
        # A batch numbers its own queries from 0.
        queries = np.arange(len(numbers), dtype=np.int32)
        return _Joined(
            ranked.sizes,
            np.repeat(queries, ranked.sizes),
            matches.hit,
            matches.judged,
            np.repeat(queries, judged_sizes),
            self.grades[rows],
        )

    def _rows(self, queries: Numbers) -> tuple[Numbers, Numbers]:
        """The rows of *queries* by their numbers, and how many rows each has; an unknown query has none."""
        begins = np.searchsorted(self.documents.query, queries)
        sizes = np.searchsorted(self.documents.query, queries, side="right") - begins
        before = np.cumsum(sizes) - sizes
        return np.arange(int(sizes.sum())) + np.repeat(begins - before, sizes), sizes


_BELOW_ZERO = -1e-9
"""Where an unjudged document is among the grades, if documents are ordered by them: it has no gain, as one of 0."""


@dataclass(frozen=True, slots=True)
class _Joined:
    """
    The hits of some queries with their judgments: *query* of each hit, the *hit* that each judged hit is and the place
    of its judgment, *judged*, among the *grades* of all judgments, whose queries are *judged_query*.
    """

    sizes: Numbers
    query: Numbers
    hit: Numbers
    judged: Numbers
    judged_query: Numbers
    grades: Numbers

    def batch(self, places: Numbers) -> Batch:
        """The batch with each hit at its place, counted over all queries."""
        place = places[self.hit]
        rank = place - (np.cumsum(self.sizes) - self.sizes)[self.query[self.hit]] + 1
        order = np.argsort(place)
        return Batch(
            self.sizes,
            self.query[self.hit][order],
            rank[order].astype(np.int32),
            self.grades[self.judged][order],
            self.judged_query,
            self.grades,
        )


@dataclass(frozen=True, slots=True)
class TrecRankings:
    """The hits of some queries as they come: *sizes* of them for each of *queries*, with their scores."""

    queries: Sequence[str]
    sizes: Numbers
    documents: Texts
    scores: FloatArray

    @classmethod
    def empty(cls, queries: Sequence[str]) -> TrecRankings:
        """Queries that returned nothing."""
        return cls(queries, np.zeros(len(queries), np.int64), texts_of((), 0), np.zeros(0))


def _find_places(query: Numbers, ranked: TrecRankings, *, ties_by_id: bool) -> Numbers:
    """Where each hit stands once all are ordered by query and rank."""
    scores = ranked.scores
    places = np.arange(len(scores))
    # Most run files are in order, and need no sort: scripts/bench/metrics.
    if ((scores[1:] < scores[:-1]) | (query[1:] != query[:-1])).all():
        return places
    order = np.lexsort((-scores, query))
    if ties_by_id:
        for begin, end in _find_ties(query[order], scores[order]):
            order[begin:end] = sorted(order[begin:end].tolist(), key=ranked.documents.__getitem__, reverse=True)
    places[order] = np.arange(len(order))
    return places


def _find_ties(query: Numbers, scores: FloatArray) -> list[list[int]]:
    """Each stretch of hits of one query that have the same score, by its first row and the one behind its last."""
    tied = np.concatenate([[False], (query[1:] == query[:-1]) & (scores[1:] == scores[:-1]), [False]])
    # Where `tied` changes to True and back again, a stretch begins and ends.
    edges: list[list[int]] = (np.flatnonzero(np.diff(tied)).reshape(-1, 2) + np.array([0, 1])).tolist()
    return edges


def read_judgments(lines: Iterable[bytes]) -> TrecJudgments:
    """
    The judgments of TREC qrels.

    Args:
        lines: Blocks of whole lines, each ended by a newline, without comments.

    Raises:
        CannotReadInBulk: a line is malformed, a document is judged twice, or the lines have to be read one by one.
    """
    numbers: dict[str, int] = {}
    queries: list[Numbers] = [np.zeros(0, np.int32)]
    documents: list[Texts] = []
    grades: list[Numbers] = [np.zeros(0)]
    for fields in _read_fields(lines, 4):
        names, sizes = fields.queries()
        queries.append(np.repeat([numbers.setdefault(name, len(numbers)) for name in names], sizes))
        documents.append(fields.column(2))
        grades.append(_numbers(fields.column(3)))
    query, grade = np.concatenate(queries).astype(np.int32), np.concatenate(grades)
    if not np.isfinite(grade).all():
        raise CannotReadInBulk
    return _sort_judgments(numbers, Documents(query, _concatenate(documents)), compact(grade))


def read_rankings(lines: Iterable[bytes]) -> Iterator[TrecRankings]:
    """
    The hits of a TREC run, some queries at a time, in the order of the file; *lines* as `read_judgments` takes them.

    Raises:
        CannotReadInBulk: a line is malformed, a score is not a number, the lines of a query are not consecutive, or the
            lines have to be read one by one.
    """
    seen: set[str] = set()
    for fields in _read_fields(lines, 6):
        queries, sizes = fields.queries()
        before = len(seen)
        seen.update(queries)
        if len(seen) < before + len(queries):
            raise CannotReadInBulk
        yield TrecRankings(queries, sizes, fields.column(2), _numbers(fields.column(4)))


def _numbers(texts: Texts) -> NDArray[np.float64]:
    try:
        return floats_of(texts)
    except ValueError:
        raise CannotReadInBulk from None


def _concatenate(parts: Sequence[Texts]) -> Texts:
    """All texts of *parts* as texts of one content."""
    content: list[bytes] = []
    # Not empty, as `concatenate` needs one.
    starts = [np.zeros(0, np.int64)]
    lengths = [np.zeros(0, np.int64)]
    offset = 0
    for part in parts:
        # The padding before the next part is also the padding behind this one.
        content.append(part.content[: -len(PADDING)])
        starts.append(part.starts + offset)
        lengths.append(part.lengths)
        offset += len(content[-1])
    content.append(PADDING)
    return Texts(b"".join(content), np.concatenate(starts), np.concatenate(lengths))


def _sort_judgments(numbers: dict[str, int], documents: Documents, grades: Numbers) -> TrecJudgments:
    if (documents.query[1:] < documents.query[:-1]).any():
        order = np.argsort(documents.query, kind="stable")
        documents, grades = documents.take(order), grades[order]
    if len(match(documents, documents.take(slice(0))).returned_twice):
        raise CannotReadInBulk
    return TrecJudgments(numbers, documents, grades)


@dataclass(frozen=True, slots=True)
class _Fields:
    """
    Lines of so many columns: rows of *starts* and *ends*, as positions in *content*, are lines.

    *begins* are the rows that have another query than the row above.
    """

    content: bytes
    starts: Numbers
    ends: Numbers
    begins: Numbers

    def __len__(self) -> int:
        return len(self.starts)

    def column(self, number: int) -> Texts:
        """The texts of one column, from 0."""
        return _get_column(self.content, self.starts, self.ends, number)

    def queries(self) -> tuple[list[str], Numbers]:
        """The query of each stretch of lines that have the same one, and how many lines it has."""
        texts = _get_column(self.content, self.starts, self.ends, 0).take(self.begins)
        return [texts[row].decode() for row in range(len(texts))], np.diff(self.begins, append=len(self))

    def split_last_query(self) -> tuple[_Fields, bytes]:
        """The rows above the last query, and its lines."""
        row = int(self.begins[-1])
        rest = self.content[int(self.starts[row, 0]) : -len(PADDING)]
        return _Fields(self.content, self.starts[:row], self.ends[:row], self.begins[:-1]), rest


def _get_column(content: bytes, starts: Numbers, ends: Numbers, number: int) -> Texts:
    begins = np.ascontiguousarray(starts[:, number])
    return Texts(content, begins, ends[:, number] - begins)


def _find_begins(queries: Texts) -> Numbers:
    changes = ~same_text(queries.take(slice(None, -1)), queries.take(slice(1, None)))
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(queries)), bool), changes]))


def _read_fields(lines: Iterable[bytes], width: int) -> Iterator[_Fields]:
    """
    The lines of *width* columns, block by block; lines of a query that stand together come in one block.

    The lines of the last query wait for the next block, and for more than one where they are long: no line is split
    again and again.

    Raises:
        CannotReadInBulk: a line is malformed, or the lines have to be read one by one.
    """
    last_query, blocks = b"", list[bytes]()
    for block in lines:
        _check_encoding(block)
        blocks.append(block)
        # Parsed again with what follows, a long query would cost its square: wait for as much as there is.
        if sum(map(len, blocks)) < len(last_query):
            continue
        fields = _find_fields(last_query, b"".join(blocks), width)
        blocks = []
        if len(fields):
            fields, last_query = fields.split_last_query()
        if len(fields):
            yield fields
    fields = _find_fields(last_query, b"".join(blocks), width)
    if len(fields):
        yield fields


def _check_encoding(lines: bytes) -> None:
    if not lines.isascii():
        try:
            lines.decode()
        except UnicodeDecodeError:
            raise CannotReadInBulk from None


def _find_fields(last_query: bytes, fresh: bytes, width: int) -> _Fields:
    fields = _split(last_query + fresh, width)
    if fields is None:
        fields = _split(last_query + _normalize_blanks(fresh), width)
    if fields is None:
        raise CannotReadInBulk
    return fields


def _split(lines: bytes, width: int) -> _Fields | None:
    """
    The fields of lines that all have *width* of them with one blank between two; None for any others.

    A field ends at the separator behind it, and the next one starts right behind that::

        q1 Q0 d1    starts at 0, 3 and 6
          ^  ^  ^   ends at 2, 5 and 8, where the newline is
    """
    content = b"".join((PADDING, lines, PADDING))
    codes = np.frombuffer(content, np.uint8)
    # Blanks, tabs and newlines, and controls, which are refused below.
    ends = np.flatnonzero(codes <= _BLANK)
    if len(ends) % width:
        return None
    starts = np.empty_like(ends)
    starts[:1] = len(PADDING)
    starts[1:] = ends[:-1] + 1
    separators = codes[ends].reshape(-1, width)
    between_fields, behind_lines = separators[:, :-1], separators[:, -1]
    has_other_lengths = (behind_lines != _NEWLINE).any()
    has_other_separators = ((between_fields != _BLANK) & (between_fields != _TAB)).any()
    has_empty_fields = (starts == ends).any()
    if has_other_lengths or has_other_separators or has_empty_fields:
        return None
    field_starts, field_ends = starts.reshape(-1, width), ends.reshape(-1, width)
    begins = _find_begins(_get_column(content, field_starts, field_ends, 0))
    return _Fields(content, field_starts, field_ends, begins)


def _normalize_blanks(lines: bytes) -> bytes:
    """*lines* with one blank between two columns, one newline after each line, and without blank lines."""
    codes = np.frombuffer(b"\n" + lines, np.uint8).copy()
    is_white = _WHITE[codes]
    is_first = is_white.copy()
    is_first[1:] &= ~is_white[:-1]
    begins = np.flatnonzero(is_first)
    # Of each stretch of white bytes the first one stays: a newline if there is one in it, else a blank.
    ends_line = np.logical_or.reduceat(codes == _NEWLINE, begins)
    codes[begins] = np.where(ends_line, _NEWLINE, _BLANK)
    return codes[~is_white | is_first][1:].tobytes()


# Digits are read eight at a time (Lemire 2021, section 2, has the same steps for one number). A number of at most
# 2^53 without its point, divided by a power of ten of at most 10^22, is rounded once and so correctly (Clinger 1990);
# all others, and what is no number, go to `float` one by one.

_MOST_PLACES = 2 * WORD
_MOST_DIGITS = 19
"""So many digits always fit into 64 bits."""

_EXACT = as_bits(2**53)
_ONE = as_bits(1)
_ONES = as_bits(0x0101010101010101)
_HIGHS = as_bits(0x8080808080808080)
_POINTS = as_bits(0x2E2E2E2E2E2E2E2E)
_ZEROS = as_bits(0x3030303030303030)
_ABOVE_NINE = as_bits(0x0606060606060606)
_NO_DIGIT = as_bits(0xF0F0F0F0F0F0F0F0)
_TO_INDEX = as_bits(56)
_STEPS = tuple(
    (as_bits(mask), as_bits(factor), as_bits(shift))
    for mask, factor, shift in (
        (0x0F0F0F0F0F0F0F0F, 10 * 2**8 + 1, 8),
        (0x00FF00FF00FF00FF, 100 * 2**16 + 1, 16),
        (0x0000FFFF0000FFFF, 10_000 * 2**32 + 1, 32),
    )
)
_POWERS = np.array([10**places for places in range(_MOST_PLACES + 1)], np.uint64)


def floats_of(texts: Texts) -> NDArray[np.float64]:
    """
    The numbers in *texts*, infinities too.

    Raises:
        ValueError: a text is not a number, or NaN.
    """
    negative = np.frombuffer(texts.content, np.uint8)[texts.starts] == ord("-")
    starts, lengths = texts.starts + negative, texts.lengths - negative
    ends = starts + lengths
    before = _count_before_point(texts, starts, lengths)
    places = np.maximum(lengths - before - 1, 0)
    whole, is_exact = _read_digits(texts, starts + before, before)
    fraction, fraction_is_exact = _read_fraction(texts, ends, places)
    digits = before + places
    is_exact &= fraction_is_exact & (before <= WORD) & (places <= _MOST_PLACES)
    is_exact &= (digits > 0) & (digits <= _MOST_DIGITS)
    scale = _POWERS[np.minimum(places, _MOST_PLACES)]
    mantissa = whole * scale + fraction
    is_exact &= mantissa <= _EXACT
    numbers: NDArray[np.float64] = mantissa.astype(np.float64) / scale.astype(np.float64)
    np.negative(numbers, out=numbers, where=negative)
    for row in np.flatnonzero(~is_exact).tolist():
        numbers[row] = _read_float(texts[row])
    return numbers


def _read_float(text: bytes) -> float:
    # `float` takes underscores between digits, which no TREC file has.
    number = float(text)
    if math.isnan(number) or b"_" in text:
        raise ValueError(text)
    return number


def _count_before_point(texts: Texts, starts: Numbers, lengths: Numbers) -> Numbers:
    """The number of bytes before the decimal point, if that is among the first eight bytes; else all."""
    word = texts.words_at(starts) & KEPT.take(lengths, mode="clip")
    # A byte that is a point becomes 0, and the next line sets the high bit of each byte that is 0 (Warren, Hacker's
    # Delight, 6-1); bytes above the lowest one may be marked too.
    word ^= _POINTS
    marks = (word - _ONES) & ~word & _HIGHS
    index = ((((marks - _ONE) & _ONES) * _ONES) >> _TO_INDEX).astype(np.int64) - 1  # bytes below the lowest mark
    return np.where(marks == 0, lengths, index)


def _read_fraction(texts: Texts, ends: Numbers, places: Numbers) -> tuple[Bits, NDArray[np.bool_]]:
    value, is_exact = _read_digits(texts, ends, places)
    # More places than a word has bytes: the digits before the last eight.
    long = np.flatnonzero(places > WORD)
    if len(long):
        higher, higher_is_exact = _read_digits(texts, ends[long] - WORD, np.minimum(places[long] - WORD, WORD))
        value[long] += higher * _POWERS[WORD]
        is_exact[long] &= higher_is_exact
    return value, is_exact


def _read_digits(texts: Texts, ends: Numbers, counts: Numbers) -> tuple[Bits, NDArray[np.bool_]]:
    """The numbers in at most eight bytes before each of *ends*, and whether all of these are digits."""
    # XOR with "0" makes each digit its value, and anything else has one of the upper four bits, at once or plus 6.
    word = texts.words_at(ends - WORD) ^ _ZEROS
    word &= ~KEPT[WORD - np.minimum(counts, WORD)]
    are_digits = ((word | (word + _ABOVE_NINE)) & _NO_DIGIT) == 0
    # Neighbouring digits are joined to pairs, these to fours, and these to eight.
    for mask, factor, shift in _STEPS:
        word = ((word & mask) * factor) >> shift
    return word, are_digits
