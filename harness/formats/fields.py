"""
TREC lines as columns of bytes, a megabyte or so at a time.

Lines that have one blank between two columns are taken as they are; others are brought into that form first.
Imports numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

from harness.formats.trec import BYTE_ORDER_MARK, Irregular, without_comments
from harness.metrics.bulk.texts import PADDING, Numbers, Texts, same_text

__all__ = ["Fields", "read_fields"]


BLOCK = 1 << 19
"""Bytes that are read at once."""

_BLANK, _TAB, _NEWLINE = b" \t\n"
_WHITE = np.isin(np.arange(256), np.frombuffer(b" \t\n\v\f\r", np.uint8))
"""The bytes that part columns and lines, as `bytes.split` has it."""


@dataclass(frozen=True, slots=True)
class Fields:
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
        return _column(self.content, self.starts, self.ends, number)

    def queries(self) -> tuple[list[str], Numbers]:
        """The query of each stretch of lines that have the same one, and how many lines it has."""
        texts = _column(self.content, self.starts, self.ends, 0).take(self.begins)
        return [texts[row].decode() for row in range(len(texts))], np.diff(self.begins, append=len(self))

    def without_last_query(self) -> tuple[Fields, bytes]:
        """The rows above the last query, and its lines."""
        row = int(self.begins[-1])
        rest = self.content[int(self.starts[row, 0]) : -len(PADDING)]
        return Fields(self.content, self.starts[:row], self.ends[:row], self.begins[:-1]), rest


def _column(content: bytes, starts: Numbers, ends: Numbers, number: int) -> Texts:
    begins = np.ascontiguousarray(starts[:, number])
    return Texts(content, begins, ends[:, number] - begins)


def _begins(queries: Texts) -> Numbers:
    changes = ~same_text(queries.take(slice(None, -1)), queries.take(slice(1, None)))
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(queries)), bool), changes]))


def read_fields(file: IO[bytes], width: int) -> Iterator[Fields]:
    """
    The lines of *width* columns, block by block; lines of a query that stand together come in one block.

    Raises:
        Irregular: a line is malformed, or holds something that only a look at each line can take.
    """
    held, partial, chunk = b"", b"", b"\n"
    while chunk:
        chunk = file.read(max(BLOCK, len(held)))
        fresh = partial + chunk
        end = fresh.rfind(b"\n") + 1 if chunk else len(fresh)
        fresh, partial = fresh[:end], fresh[end:]
        fields = _fields(held, _checked(fresh), width)
        if chunk and len(fields):
            fields, held = fields.without_last_query()
        if len(fields):
            yield fields


def _checked(lines: bytes) -> bytes:
    """The lines without comments, the last one ended."""
    lines = without_comments(lines)
    if lines and not lines.endswith(b"\n"):
        lines += b"\n"
    if b"\0" in lines or lines.startswith(BYTE_ORDER_MARK):
        raise Irregular
    if not lines.isascii():
        try:
            lines.decode()
        except UnicodeDecodeError:
            raise Irregular from None
    return lines


def _fields(held: bytes, fresh: bytes, width: int) -> Fields:
    fields = _split(held + fresh, width) or _split(held + _evened(fresh), width)
    if fields is None:
        raise Irregular
    return fields


def _split(lines: bytes, width: int) -> Fields | None:
    """The fields of lines that all have *width* of them with one blank between two; None for any others."""
    content = b"".join((PADDING, lines, PADDING))
    codes = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(codes <= _BLANK)
    if len(ends) % width:
        return None
    starts = np.empty_like(ends)
    starts[:1], starts[1:] = len(PADDING), ends[:-1] + 1
    parting = codes[ends].reshape(-1, width)
    between = parting[:, :-1]
    if (parting[:, -1] != _NEWLINE).any() or ((between != _BLANK) & (between != _TAB)).any() or (starts == ends).any():
        return None
    first, behind = starts.reshape(-1, width), ends.reshape(-1, width)
    return Fields(content, first, behind, _begins(_column(content, first, behind, 0)))


def _evened(lines: bytes) -> bytes:
    """The same columns with one blank between two, and one newline behind each line that says anything."""
    codes = np.frombuffer(b"\n" + lines, np.uint8).copy()
    white = _WHITE[codes]
    first = white.copy()
    first[1:] &= ~white[:-1]
    begins = np.flatnonzero(first)
    ends_line = np.logical_or.reduceat(codes == _NEWLINE, begins)
    codes[begins] = np.where(ends_line, _NEWLINE, _BLANK)
    return codes[~white | first][1:].tobytes()
