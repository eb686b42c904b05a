"""
The lines of a journal, written and read. A line that a disk damaged or cut short is not taken for another answer.

Each line ends with a CRC-32, which is enough against damage and none against forgery: who writes a line can write its
checksum. That of a header begins from 0, that of any other line from its header's. So the lines of a section whose
header was lost do not count for the section before it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.errors import FormatError
from harness.model.run import Failure, HitColumns, Ranking, Response, Run
from harness.model.suite import Json
from harness.store.header import JOURNAL_SCHEMA, CellKey, Header, find_problem
from harness.words import listed

if TYPE_CHECKING:
    from pydantic import TypeAdapter

NO_JOURNAL = "found no line of a journal of `relevance run`"

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


_VERSION = re.compile(re.escape(BEGINNING) + rb"([0-9]{1,9})[,}]")


# What a journal has.


@dataclass(frozen=True, slots=True)
class Recorded:
    """The records of one cell in a journal; *rest* is the run without its responses, None if it did not end."""

    header: Header
    responses: dict[str, Response]
    rest: Run | None = None

    @property
    def run(self) -> Run:
        """The run, as far as it was recorded."""
        return replace(self.rest or Run({}, self.header.engine), responses=self.responses)

    @property
    def answered(self) -> int:
        """The number of queries with a ranking."""
        return sum(isinstance(response, Ranking) for response in self.responses.values())


@dataclass(frozen=True, slots=True)
class ParsedJournal:
    """The content of a journal, without its damaged lines."""

    cells: list[Recorded]
    """The records of each cell, in the order of their first sections."""
    is_reported: bool
    """Whether the run was reported."""
    damaged: tuple[int, ...]
    """The numbers of the damaged lines."""
    sound: bytes
    """The other lines."""
    seal: Seal
    """Adds lines."""

    def describe_damage(self) -> str:
        """The damaged lines, for a sentence; empty if there are none."""
        if not self.damaged:
            return ""
        noun = "line" if len(self.damaged) == 1 else "lines"
        return f"{noun} {listed([str(number) for number in self.damaged])}"


def parse_journal(content: bytes, path: str) -> ParsedJournal:
    """
    Read a journal.

    Args:
        content: The bytes of the file.
        path: The file's name in errors.

    Raises:
        FormatError: It is no journal, or one of another version.
    """
    seal = Seal()
    reader = _RecordReader(path)
    damaged: list[int] = []
    sound: list[bytes] = []
    for line in split_lines(content, seal):
        if line.number == 1:
            _refuse_other_version(line.content, path)
        if line.is_sound:
            sound.append(line.content + b"\n")
            reader.read_line(line)
        else:
            damaged.append(line.number)
            reader.lacks_line = True
    if damaged and not sound:
        raise FormatError.at(path, 1, 1, f"{NO_JOURNAL} with the checksum of its content")
    return ParsedJournal(list(reader.cells.values()), reader.is_reported, tuple(damaged), b"".join(sound), seal)


class _RecordReader:
    """Reads the lines of a journal one after the other."""

    def __init__(self, path: str) -> None:
        self.cells: dict[CellKey, Recorded] = {}
        self.is_reported = False
        self.lacks_line = False
        """Whether a line of the section is damaged."""
        self._path = path
        self._cell: CellKey | None = None

    def read_line(self, line: JournalLine) -> None:
        """
        Add what *line* records.

        Raises:
            FormatError: It is no line of a journal.
        """
        try:
            raw = json.loads(line.content)
            if "journal" in raw:
                self._begin_section(_read_header(raw, self._path, line.number))
            elif self._cell is None:
                raise FormatError.at(self._path, line.number, 1, NO_JOURNAL)
            elif "query" in raw:
                self.cells[self._cell].responses[raw["query"]] = _read_response(raw)
            elif "reported" in raw:
                self.is_reported = True
            else:
                rest = make_adapter(Run).validate_python({"responses": {}, **raw["end"]})
                # Where a line is lost, a query lacks its last answer: the run did not end, and is to go on.
                if not self.lacks_line:
                    self.cells[self._cell] = replace(self.cells[self._cell], rest=rest)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise FormatError.at(self._path, line.number, 1, NO_JOURNAL) from None

    def _begin_section(self, header: Header) -> None:
        self._cell = header.cell_key
        self.is_reported = False
        self.lacks_line = False
        before = self.cells.get(self._cell)
        if header.continues and before is not None and before.answered:
            continued = replace(before.header, begun=header.begun)
            self.cells[self._cell] = replace(before, header=continued, rest=None)
        else:
            self.cells[self._cell] = Recorded(header, {})


def _refuse_other_version(line: bytes, path: str) -> None:
    """Refuse a journal whose first *line* has another version, whose checksums may be others."""
    version = _VERSION.match(line)
    if version is not None and int(version[1]) != JOURNAL_SCHEMA:
        raise FormatError.at(path, 1, 1, f"found version {int(version[1])} of a journal, expected {JOURNAL_SCHEMA}")


def _read_header(raw: Json, path: str, number: int) -> Header:
    header: Header = make_adapter(Header).validate_python(raw)
    if header.begun and datetime.fromisoformat(header.begun).tzinfo is None:
        raise ValueError("a time without a zone")
    problem = find_problem(header)
    if problem:
        raise FormatError.at(path, number, 1, f"{problem}; the journal was not written by `relevance run`")
    return header


def _read_response(raw: Json) -> Response:
    response: Response
    if "ranking" in raw:
        ranking: Ranking = make_adapter(Ranking).validate_python(raw["ranking"])
        if len(set(ranking.ids)) < len(ranking.hits):
            raise ValueError("a document is in a ranking twice")
        response = ranking
    else:
        response = make_adapter(Failure).validate_python(raw["failure"])
    return response


def write_line(value: Json) -> bytes:
    """*value* as a line, without its checksum."""
    return json.dumps(value).encode() + b"\n"


def write_response(query: str, response: Response) -> bytes:
    """The line of the *response* to *query*, without its checksum."""
    # json.dumps escapes a lone surrogate, which pydantic's own writer refuses.
    if isinstance(response, Failure):
        failure = make_adapter(Failure).dump_python(response, mode="json", exclude_defaults=True)
        return write_line({"query": query, "failure": failure})
    columns = response.columns
    if columns is not None:
        response = response.change(HitColumns((), ()))
    ranking = make_adapter(Ranking).dump_python(response, mode="json", exclude_defaults=True)
    if columns is not None:
        # What the adapter would write, of hits that nothing else needs: scripts/bench/runner --by-hand.
        hits = [{"id": document, "score": score} for document, score in zip(columns.ids, columns.scores, strict=True)]
        ranking = {"hits": hits, **ranking}
    return write_line({"query": query, "ranking": ranking})


@cache
def make_adapter(kind: Any) -> TypeAdapter[Any]:
    """Writes and checks values of that *kind*."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
