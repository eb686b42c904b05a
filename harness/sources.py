"""
A text file as it was read, with places in it: what every error about a file's content points into.

Files are UTF-8. What a text file cannot hold (bytes that are not UTF-8, NUL and other control characters) is an error
with its place, not something to be repaired.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from harness.errors import InputError, Problem

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_NOT_TEXT = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_EXCERPT_COLUMNS = 100


class Source:
    """The text of a file; *path* is how it is called in errors."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; a YAML reader counts them in the same way."""
        return _LINE_BREAK.split(self.text)

    def line(self, number: int) -> str:
        """Line *number*, from 1; empty beyond the end."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of the character at *offset* from 0."""
        before = _LINE_BREAK.split(self.text[:offset])
        return len(before), len(before[-1]) + 1

    def problem(self, line: int, column: int, message: str) -> Problem:
        """A problem at a place of this file, with its excerpt; line 0 for the file as a whole."""
        return Problem(self.path, line, column, message, self.excerpt(line, column))

    def excerpt(self, line: int, column: int) -> str:
        """The line with its number, and a caret under *column*; empty where there is no such line."""
        text = self.line(line)
        if not text.strip():
            return ""
        start, shown = _window(text, column)
        gutter = f"{line:>5} | "
        indent = sum(_width(character) for character in shown[: column - 1 - start])
        return f"{gutter}{_printable(shown)}\n{' ' * (len(gutter) - 2)}| {' ' * indent}^"


def read_source(path: Path, name: str, *, limit: int) -> Source:
    """
    Read a text file.

    Args:
        path: The file.
        name: What errors call it.
        limit: The greatest size in bytes that is read.

    Raises:
        InputError: The file is missing, cannot be read, is too large, is not UTF-8, or holds control characters.
    """
    return decode(read_bytes(path, name, limit=limit), name)


@contextmanager
def opened(path: Path, name: str) -> Iterator[BinaryIO]:
    """
    A file to read bytes from; *name* is what errors call it.

    Raises:
        InputError: The file is missing, is none, or cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError.at(name, 0, 0, "this is not a file")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError.at(name, 0, 0, _absence(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.at(name, 0, 0, f"the file cannot be read: {reason}") from None


def _absence(path: Path) -> str:
    if path.is_symlink():
        return f"this is a link to {path.readlink()}, which is not there"
    return "there is no such file"


def read_bytes(path: Path, name: str, *, limit: int) -> bytes:
    """The bytes of a file, as `read_source` reads it and with its errors."""
    with opened(path, name) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise InputError.at(name, 0, 0, f"the file is larger than {limit // 2**20} MiB, the most that is read")
    return content


def decode(content: bytes, name: str) -> Source:
    """The text of *content*, a leading byte order mark left out; errors as `read_source` has them."""
    if content.startswith(_UTF16_MARKS):
        raise InputError.at(name, 1, 1, "the file is UTF-16; expected UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        valid = Source(name, content[: error.start].decode("utf-8-sig"))
        line, column = valid.place(len(valid.text))
        message = f"byte 0x{content[error.start]:02x} is not UTF-8; expected a file in UTF-8"
        raise InputError([valid.problem(line, column, message)]) from None
    source = Source(name, text)
    wrong = _NOT_TEXT.search(text)
    if wrong:
        raise InputError([source.problem(*source.place(wrong.start()), _control_sentence(wrong.group()))])
    return source


def _control_sentence(character: str) -> str:
    if character == "\0":
        return "found a NUL byte; a text file cannot hold one"
    return f"found the character U+{ord(character):04X}, which a text file cannot hold"


def _window(text: str, column: int) -> tuple[int, str]:
    """The part of a long line that is shown around *column*, and where it starts."""
    if len(text) <= _EXCERPT_COLUMNS:
        return 0, text
    start = max(0, min(column - 1 - _EXCERPT_COLUMNS // 2, len(text) - _EXCERPT_COLUMNS))
    return start, text[start : start + _EXCERPT_COLUMNS]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _width(character: str) -> int:
    """Columns that a terminal gives to the character as `_printable` shows it."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
