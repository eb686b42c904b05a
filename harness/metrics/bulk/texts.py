"""
Many short texts as one stretch of bytes: hashed eight bytes at a time, joined by their hashes, and each pair compared.

Ids as Python strings cost a hash and a jump through memory each; side by side in one buffer, numpy goes over a million
of them in some milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.metrics.bulk.batch import Numbers

Bits: TypeAlias = NDArray[np.uint64]

WORD = 8
PADDING = b"#" * WORD
"""Bytes before and behind the texts, so that a word can be read at each end of every text."""

KEPT = np.array([(1 << 8 * count) - 1 for count in range(WORD + 1)], np.uint64)
"""Masks that keep the first 0 to 8 bytes of a word; the last is also for longer texts."""

_SEED_FACTOR = np.uint64(0xA24BAED4963EE407)
_FIRST_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SECOND_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


class CannotReadInBulk(Exception):
    """The input cannot be processed in bulk, and has to be read line by line."""


@dataclass(frozen=True)
class Texts:
    """
    Texts in UTF-8 without NUL: text i is ``content[starts[i]:starts[i] + lengths[i]]``.

    *content* begins and ends with `PADDING`.
    """

    content: bytes
    starts: Numbers
    lengths: Numbers

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> bytes:
        start = int(self.starts[row])
        return self.content[start : start + int(self.lengths[row])]

    def take(self, rows: Numbers | slice) -> Texts:
        """Some of them, in the order of *rows*."""
        return Texts(self.content, self.starts[rows], self.lengths[rows])

    def words_at(self, positions: Numbers) -> Bits:
        """The eight bytes of *content* from each of *positions* on, the first of them the lowest."""
        return self._windows[positions].view("<u8")

    @cached_property
    def _windows(self) -> NDArray[np.bytes_]:
        """Every eight bytes in a row, as text: numpy takes that from anywhere, and numbers slowly from odd places."""
        return np.ndarray((len(self.content) - WORD + 1,), f"S{WORD}", self.content, strides=(1,))

    def words(self) -> Iterator[tuple[Numbers | slice, Bits]]:
        """
        The first eight bytes of all texts, then the second eight of those that are longer, until all are read.

        Zeros stand behind the end of a text. Each time with the rows of the texts that the words belong to.
        """
        rows: Numbers | slice = slice(None)  # all of them, without a copy
        starts, bytes_left = self.starts, self.lengths
        while len(bytes_left):
            yield rows, self.words_at(starts) & KEPT.take(bytes_left, mode="clip")
            longer = np.flatnonzero(bytes_left > WORD)
            if len(longer) < len(bytes_left):
                rows = longer if isinstance(rows, slice) else rows[longer]
                starts, bytes_left = starts[longer], bytes_left[longer]
            starts = starts + WORD
            bytes_left = bytes_left - WORD

    def compute_hashes(self, seeds: Numbers) -> Bits:
        """A hash of each text and of the whole number in *seeds* beside it; its highest bits are its best."""
        hashes = seeds.astype(np.uint64)
        hashes *= _SEED_FACTOR
        for rows, word in self.words():
            word ^= hashes[rows]
            hashes[rows] = mix(word)
        return hashes


def same_text(some: Texts, others: Texts) -> NDArray[np.bool_]:
    """Whether each of *some* is the same as the one of *others* beside it."""
    equal: NDArray[np.bool_] = some.lengths == others.lengths
    rows = np.flatnonzero(equal)
    for (at, word), (_, other) in zip(some.take(rows).words(), others.take(rows).words(), strict=True):
        equal[rows[at]] &= word == other
    return equal


def mix(bits: Bits) -> Bits:
    """Turn each number, in place, into another one that depends on all its bits."""
    bits *= _FIRST_FACTOR
    bits ^= bits >> _HALF
    bits *= _SECOND_FACTOR
    return bits


def as_bits(number: int) -> np.uint64:
    """A whole number of the type that numpy adds to and shifts hashes by."""
    return np.uint64(number)


def texts_of(groups: Iterable[Collection[str]], count: int) -> Texts:
    """
    The *count* strings of all *groups*, in order.

    Raises:
        CannotReadInBulk: one is not a string, or holds a character that separates lines or ends texts.
    """
    try:
        joined = "\n".join(map("\n".join, filter(len, groups)))
    except TypeError:
        raise CannotReadInBulk from None
    content = b"".join((PADDING, joined.encode("utf-8", "surrogatepass"), b"\n" if count else b"", PADDING))
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))
    if len(ends) != count or "\0" in joined:
        raise CannotReadInBulk
    starts = np.empty_like(ends)
    starts[:1], starts[1:] = WORD, ends[:-1] + 1
    return Texts(content, starts, ends - starts)


@dataclass(frozen=True, slots=True)
class Documents:
    """Ids of documents, each with the number of the query that it was returned or judged for."""

    query: Numbers
    ids: Texts

    def __len__(self) -> int:
        return len(self.query)

    def take(self, rows: Numbers | slice) -> Documents:
        """Some of them, in the order of *rows*."""
        return Documents(self.query[rows], self.ids.take(rows))

    def same(self, others: Documents) -> NDArray[np.bool_]:
        """Whether each is the document that stands beside it in *others*, for the same query."""
        same = same_text(self.ids, others.ids)
        same &= self.query == others.query
        return same


@dataclass(frozen=True, slots=True)
class Matches:
    """
    The judged hits: row *hit* of the hits is row *judged* of the judgments, in the order of the hits.

    *returned_twice* are rows of the hits that repeat an earlier one.
    """

    hit: Numbers
    judged: Numbers
    returned_twice: Numbers


def match(hits: Documents, judged: Documents) -> Matches:
    """
    Join hits to judgments.

    Every hash carries the number of its row in its lowest bits, so that one sort of plain integers brings equal ones
    together, a hit before its judgment, and a row before one that repeats it. Each pair is then compared in full.

    Raises:
        CannotReadInBulk: two different documents have the same hash.
    """
    count = len(hits)
    bits = as_bits((count + len(judged)).bit_length())
    keys = np.concatenate([hits.ids.compute_hashes(hits.query), judged.ids.compute_hashes(judged.query)])
    row = as_bits((1 << int(bits)) - 1)
    keys &= ~row
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    # Neighbours with equal hashes differ in the bits of their rows only.
    pairs_at = np.flatnonzero((keys[1:] ^ keys[:-1]) <= row)
    first = (keys[pairs_at] & row).astype(np.int64)
    second = (keys[pairs_at + 1] & row).astype(np.int64)
    # Rows of hits come before rows of judgments.
    is_match = (first < count) & (second >= count)
    is_repeated_hit = second < count
    is_repeated_judgment = first >= count
    hit, judgment = first[is_match], second[is_match] - count
    repeated_hit = second[is_repeated_hit]
    compared = (
        (hits.take(hit), judged.take(judgment)),
        (hits.take(first[is_repeated_hit]), hits.take(repeated_hit)),
        (judged.take(first[is_repeated_judgment] - count), judged.take(second[is_repeated_judgment] - count)),
    )
    for documents, others in compared:
        if not documents.same(others).all():
            raise CannotReadInBulk
    order = np.argsort(hit)
    return Matches(hit[order], judgment[order], np.sort(repeated_hit))
