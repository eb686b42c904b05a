"""Which hit is which judged document: ids joined in bulk by sorting their hashes, and no two taken for one unseen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.metrics.texts import Numbers, Texts, Unfit, as_bits, same_text

__all__ = ["Documents", "Matches", "match"]


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

    *returned_twice* are rows of the hits that repeat an earlier one; where there are any, they come in between.
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
        Unfit: two different documents have the same hash.
    """
    count = len(hits)
    bits = as_bits((count + len(judged)).bit_length())
    keys = np.concatenate([hits.ids.hashed(hits.query), judged.ids.hashed(judged.query)])
    row = as_bits((1 << int(bits)) - 1)
    keys &= ~row
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    pairs_at = np.flatnonzero((keys[1:] ^ keys[:-1]) <= row)
    first, second = ((keys[at] & row).astype(np.int64) for at in (pairs_at, pairs_at + 1))
    crossing, repeated = (first < count) & (second >= count), second < count
    again = first >= count
    pairs = (
        (hits, first[crossing], judged, second[crossing] - count),
        (hits, first[repeated], hits, second[repeated]),
        (judged, first[again] - count, judged, second[again] - count),
    )
    for some, these, others, those in pairs:
        if not some.take(these).same(others.take(those)).all():
            raise Unfit
    hit, judgment = pairs[0][1], pairs[0][3]
    order = np.argsort(hit)
    return Matches(hit[order], judgment[order], np.sort(pairs[1][3]))
