"""
TREC files in bulk: whole blocks of lines are split and checked as columns, without an object per line.

Ten million lines take seconds that way. Anything irregular raises `Irregular`, and the reader of `records.py` finds the
line.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from harness.files.opening import open_bytes

_BLOCK = 1 << 21
"""Bytes that are read at once."""

LISTED = 1 << 18
"""Bytes of which there are lists of columns at once, ten times as large."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TAB_TO_BLANK = bytes.maketrans(b"\t", b" ")
_BLANK_TO_STR_ONLY = b"\x1c\x1d\x1e\x1f"
_NOT_BLANK = bytes(byte for byte in range(256) if byte not in b" \t\n")


MOST_SHARED = 1 << 17
"""
Documents up to which each has one text in the dictionaries of all queries that it is judged for; of more, few are
judged often enough.
"""


class Irregular(Exception):
    """The file holds something that the bulk reader does not handle."""


class _GradeTexts(dict[str, float]):
    """Text -> grade; a file holds a handful of different ones, so each is converted once."""

    def __missing__(self, text: str) -> float:
        try:
            grade = float(text)
        except ValueError:
            raise Irregular from None
        if "_" in text or not text.isascii() or not math.isfinite(grade):
            raise Irregular
        self[text] = grade
        return grade


def read_judgments_in_bulk(path: Path, name: str) -> dict[str, dict[str, float]]:
    """
    The judgments of TREC qrels: query to document to grade.

    Raises:
        Irregular: A line is malformed, or a document is judged twice.
        FormatError: The file cannot be read.
    """
    judgments: dict[str, dict[str, float]] = {}
    grades, shared_texts = _GradeTexts(), dict[str, str]()
    # The lines of a query mostly follow each other, also from one block to the next.
    open_query, judged = "", dict[str, float]()
    for queries, _, documents, values in _iterate_columns(path, name, 4):
        if len(shared_texts) < MOST_SHARED:
            documents = list(map(shared_texts.setdefault, documents, documents))
        numbers = list(map(grades.__getitem__, values))
        for query, begin, end in _iterate_stretches(queries):
            if query != open_query:
                if judged:
                    judgments[open_query] = judged
                open_query, judged = query, judgments.get(query, {})
            size_before = len(judged)
            judged.update(zip(documents[begin:end], numbers[begin:end], strict=True))
            # A document that was judged before does not make the dictionary larger.
            if len(judged) != size_before + end - begin:
                raise Irregular
    if judged:
        judgments[open_query] = judged
    return judgments


def read_rankings_in_bulk(path: Path, name: str) -> dict[str, tuple[list[str], list[float]]]:
    """
    The rankings of a TREC run: query to its documents and their scores, in the order of the file.

    Raises:
        Irregular: A line is malformed, a document comes twice for a query, or a score is not a number.
        FormatError: The file cannot be read.
    """
    rankings: dict[str, tuple[list[str], list[float]]] = {}
    for queries, _, documents, _, values, _ in _iterate_columns(path, name, 6):
        scores = _read_scores(values)
        for query, begin, end in _iterate_stretches(queries):
            ranked, scored = rankings.setdefault(query, ([], []))
            ranked.extend(documents[begin:end])
            scored.extend(scores[begin:end])
    if any(len(set(ranked)) != len(ranked) for ranked, _ in rankings.values()):
        raise Irregular
    return rankings


def _read_scores(values: Sequence[str]) -> list[float]:
    try:
        scores = list(map(float, values))
    except ValueError:
        raise Irregular from None
    # Python reads 1_000 and digits of other scripts as numbers.
    text = "".join(values)
    if any(map(math.isnan, scores)) or "_" in text or not text.isascii():
        raise Irregular
    return scores


def read_blocks(path: Path, name: str, size: int = _BLOCK) -> Iterator[bytes]:
    """
    The lines of a file, some *size* bytes of whole lines at a time, each line ended, without comments.

    Raises:
        Irregular: It begins with a byte order mark, or holds NUL or a break inside a line.
        FormatError: The file cannot be read. It is called *name*.
    """
    with open_bytes(path, name) as file:
        partial, chunk = b"", b"\n"
        while chunk:
            chunk = file.read(size)
            content = partial + chunk
            # At the end of the file the last line may lack its line feed.
            end = content.rfind(b"\n") + 1 if chunk else len(content)
            lines, partial = content[:end], content[end:]
            if b"\0" in lines or lines.startswith(BYTE_ORDER_MARK) or _has_break_inside(lines):
                raise Irregular
            lines = _drop_comments(lines)
            if lines:
                yield lines if lines.endswith(b"\n") else lines + b"\n"


def _has_break_inside(lines: bytes) -> bool:
    """Whether a line holds a vertical tab, a form feed, or a carriage return before its end."""
    return b"\v" in lines or b"\f" in lines or (b"\r" in lines and lines.count(b"\r") != lines.count(b"\r\n"))


def _iterate_columns(path: Path, name: str, width: int) -> Iterator[Sequence[Sequence[str]]]:
    """The columns of one block of lines after the other."""
    for block in read_blocks(path, name, LISTED):
        columns = _split_evenly(block, width) or _split_lines(block.split(b"\n"), width)
        if columns:
            yield columns


def _drop_comments(block: bytes) -> bytes:
    """The lines of *block* without those that begin with ``#``, as in trec_eval 10."""
    if b"#" not in block or not (block.startswith(b"#") or b"\n#" in block):
        return block
    return b"".join(line for line in io.BytesIO(block) if not line.startswith(b"#"))


def _split_evenly(block: bytes, width: int) -> list[list[str]] | None:
    """
    The columns of a block whose every line has one blank between two columns, None for any other block.

    With width - 1 blanks a line has at most *width* columns, so the right number in all is the right one in each.
    """
    skeleton = block.translate(_TAB_TO_BLANK, _NOT_BLANK)
    count = len(skeleton) // width
    if skeleton != (b" " * (width - 1) + b"\n") * count:
        return None
    fields = _split_blanks(block)
    if len(fields) != width * count:
        return None
    return [fields[column::width] for column in range(width)]


def _split_blanks(block: bytes) -> list[str]:
    """*block* split at ASCII blanks; `str.split` is fast, and splits at other characters only beyond ASCII."""
    if block.isascii() and block == block.translate(None, _BLANK_TO_STR_ONLY):
        return block.decode("ascii").split()
    try:
        return [field.decode() for field in block.split()]
    except UnicodeDecodeError:
        raise Irregular from None


def _split_lines(lines: list[bytes], width: int) -> list[tuple[str, ...]] | None:
    """The columns line by line, for lines with several blanks and blank lines; None where all lines are blank."""
    rows = []
    try:
        for line in lines:
            columns = [column.decode() for column in line.split()]
            if columns:
                rows.append(columns)
    except UnicodeDecodeError:
        raise Irregular from None
    if any(len(row) != width for row in rows):
        raise Irregular
    return list(zip(*rows, strict=True)) or None


def _iterate_stretches(queries: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Each sequence of lines with the same query: the query, the first line and the one after the last."""
    begin = 0
    for query, stretch in groupby(queries):
        end = begin + len(list(stretch))
        yield query, begin, end
        begin = end
