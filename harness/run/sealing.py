"""
The checksums of a journal: a line that was damaged on a disk, or cut short by it, is not taken for another answer.

Each line ends with a CRC-32, which is enough against damage and none against forgery: who writes a line can write its
checksum. That of a header begins from 0, that of any other line from its header's. So the lines of a section whose
header was lost do not count for the section before it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

BEGINNING = b'{"journal": '
"""How a header begins."""

_END_OF_LINE = b"}\n"
_SEAL = b', "crc32": "%08x"}'
_SEAL_SIZE = len(_SEAL % 0)


@dataclass(frozen=True, slots=True)
class JournalLine:
    """A line of a journal, without its line break."""

    number: int
    content: bytes
    is_sound: bool
    """Whether its checksum is that of its content and its section."""


class Seal:
    """Adds checksums to lines, and checks them, in the order of the file."""

    def __init__(self) -> None:
        self._section = 0
        """The checksum of the last header."""

    def seal_line(self, line: bytes) -> bytes:
        """*line*, a JSON object with a line break, with its checksum."""
        body = line.removesuffix(_END_OF_LINE)
        checksum = self._compute_checksum(body)
        self._note_header(body, checksum)
        return body + _SEAL % checksum + b"\n"

    def check_line(self, line: bytes) -> bool:
        """Whether *line*, without a line break, ends with its checksum."""
        body, seal = line[:-_SEAL_SIZE], line[-_SEAL_SIZE:]
        checksum = self._compute_checksum(body)
        if seal != _SEAL % checksum:
            return False
        self._note_header(body, checksum)
        return True

    def _compute_checksum(self, body: bytes) -> int:
        begin = 0 if body.startswith(BEGINNING) else self._section
        return zlib.crc32(body, begin)

    def _note_header(self, body: bytes, checksum: int) -> None:
        if body.startswith(BEGINNING):
            self._section = checksum


def split_lines(content: bytes, seal: Seal) -> Iterator[JournalLine]:
    """The lines of a journal, without a last one that was cut short; afterwards *seal* can add lines to them."""
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        yield JournalLine(number, line, seal.check_line(line))
