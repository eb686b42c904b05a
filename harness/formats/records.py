"""
The lines of a judgment or run file, one by one, with all that is wrong in them.

This is the careful way. TREC files are read in bulk first (`trec.py`), and come here only to find the wrong line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from harness.errors import FormatError, Problem
from harness.formats.opening import Form, form_of, open_bytes
from harness.sources import Source

MOST_PROBLEMS = 20
"""Problems of one file that are told; the number of the others is."""

_BLANKS = " \t\r\n\v\f"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity|nan)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Record:
    """One line: *value* is the grade or score as the file has it, text or a number."""

    line: int
    query: str
    document: str
    value: str | float


@dataclass(frozen=True, slots=True)
class Layout:
    """What the lines of a kind of file hold: TREC's columns by name, and the name of the one that counts."""

    value: str
    trec_columns: tuple[str, ...]

    @property
    def named_columns(self) -> tuple[str, str, str]:
        """The columns of a file that names them."""
        return ("query", "document", self.value)


JUDGMENTS = Layout("grade", ("query", "iteration", "document", "grade"))
RUNS = Layout("score", ("query", "Q0", "document", "rank", "score", "tag"))


@dataclass(slots=True)
class Findings:
    """Problems of one file, the first of them in full."""

    name: str
    problems: list[Problem] = field(default_factory=list)
    others: int = 0

    def add(self, line: int, message: str, text: str = "", column: int = 1) -> None:
        """Note what is wrong in *line*, whose text is *text*."""
        if len(self.problems) >= MOST_PROBLEMS:
            self.others += 1
            return
        excerpt = excerpt_of(line, column, text) if text else ""
        self.problems.append(Problem(self.name, line, column if line else 0, message, excerpt))

    def raise_any(self, path: Path) -> None:
        """
        Fail where anything was found in the file *path*.

        Raises:
            FormatError: With all that was found, each with its line.
        """
        self.problems = with_excerpts(path, self.problems)
        if self.others:
            count = len(self.problems) + self.others
            self.problems.append(
                Problem(self.name, 0, 0, f"{count} problems, of which the first {MOST_PROBLEMS} are told")
            )
        if self.problems:
            raise FormatError(self.problems)


def with_excerpts(path: Path, problems: list[Problem]) -> list[Problem]:
    """The problems of a file of text, those without an excerpt with their line, which is read again for that."""
    wanted = {problem.line for problem in problems if problem.line and not problem.excerpt}
    if not wanted or form_of(path) is Form.PARQUET:
        return problems
    with open_bytes(path, problems[0].path) as file:
        numbered = zip(range(1, max(wanted) + 1), file, strict=False)
        lines = {number: line.decode(errors="replace").rstrip("\r\n") for number, line in numbered if number in wanted}
    return [
        replace(problem, excerpt=excerpt_of(problem.line, problem.column, lines[problem.line]))
        if problem.line in lines
        else problem
        for problem in problems
    ]


def excerpt_of(line: int, column: int, text: str) -> str:
    """The excerpt of one line, whose text is known."""
    return Source("", "\n" * (line - 1) + text).excerpt(line, column)


def read_records(path: Path, layout: Layout, findings: Findings) -> Iterator[Record]:
    """The records of the file; what is no record goes to *findings*."""
    form = form_of(path)
    if form is Form.PARQUET:
        from harness.formats.parquet import parquet_records

        yield from parquet_records(path, layout, findings)
        return
    reader = {Form.TREC: _trec, Form.CSV: _csv, Form.JSON_LINES: _json_lines}[form]
    with open_bytes(path, findings.name) as file:
        yield from reader(file, layout, findings)


def read_number(value: str | float) -> float | None:
    """The number that *value* is or writes, NaN and the infinities too; None where it is none."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def check_ids(record: Record, findings: Findings) -> bool:
    """Whether both ids say something."""
    for column, text in (("query", record.query), ("document", record.document)):
        if not text.strip(_BLANKS):
            findings.add(record.line, f"the {column} is empty; expected an id")
            return False
    return True


def _text_lines(file: IO[bytes], findings: Findings) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers."""
    for number, content in enumerate(file, start=1):
        try:
            text = content.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = content[error.start]
            findings.add(number, f"byte 0x{byte:02x} is not UTF-8; expected a file in UTF-8", column=error.start + 1)
            continue
        if "\0" in text:
            findings.add(number, "found a NUL byte; a text file cannot hold one", column=text.index("\0") + 1)
        elif text.strip():
            yield number, text.rstrip("\r\n")


def _trec(file: IO[bytes], layout: Layout, findings: Findings) -> Iterator[Record]:
    columns = layout.trec_columns
    document, value = columns.index("document"), columns.index(layout.value)
    for number, text in _text_lines(file, findings):
        fields = split_blanks(text)
        if len(fields) != len(columns):
            expected = f"expected {len(columns)}: {', '.join(columns)}"
            findings.add(number, f"found {len(fields)} column{'s' * (len(fields) != 1)}, {expected}", text)
            continue
        yield Record(number, fields[0], fields[document], fields[value])


def split_blanks(text: str) -> list[str]:
    """The columns of a TREC line: what ASCII blanks part, so that an id may hold any other character."""
    return [column.decode() for column in text.encode().split()]


def _csv(file: IO[bytes], layout: Layout, findings: Findings) -> Iterator[Record]:
    numbered = _AllLines(file, findings)
    reader = csv.reader(numbered, strict=True)
    header: list[str] | None = None
    first = 1
    try:
        for row in reader:
            line, first = first, reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = _checked_header([cell.strip() for cell in row], line, layout, findings)
                continue
            if len(row) != len(header):
                findings.add(line, f"found {len(row)} columns, expected {len(header)} as in the header", ",".join(row))
                continue
            named = dict(zip(header, row, strict=True))
            yield Record(line, named["query"], named["document"], named[layout.value].strip())
    except csv.Error as error:
        findings.add(reader.line_num, f"this is not CSV: {error}")
    except _HeaderError:
        return


class _HeaderError(Exception):
    """The header names no usable columns, so no line of the file can be read; it is in the findings."""


class _AllLines:
    """Every line of a file as text, so that the CSV reader counts what the file has; a wrong line counts as blank."""

    def __init__(self, file: IO[bytes], findings: Findings) -> None:
        self._file = file
        self._findings = findings

    def __iter__(self) -> Iterator[str]:
        following = 1
        for number, text in _text_lines(self._file, self._findings):
            yield from ("\n" for _ in range(number - following))
            yield text + "\n"
            following = number + 1


def _checked_header(header: list[str], line: int, layout: Layout, findings: Findings) -> list[str]:
    missing = [column for column in layout.named_columns if column not in header]
    twice = sorted({column for column in header if header.count(column) > 1 and column})
    if missing:
        expected = ", ".join(layout.named_columns)
        findings.add(line, f"the header lacks {', '.join(missing)}; expected the columns {expected}", ",".join(header))
    elif twice:
        findings.add(line, f"the header names {', '.join(twice)} twice", ",".join(header))
    else:
        return header
    raise _HeaderError


def _json_lines(file: IO[bytes], layout: Layout, findings: Findings) -> Iterator[Record]:
    for number, text in _text_lines(file, findings):
        try:
            entry = json.loads(text)
        except RecursionError:
            findings.add(number, "the JSON is nested too deeply")
            continue
        except ValueError as error:
            column = getattr(error, "colno", 1)
            findings.add(number, f"this is not JSON: {getattr(error, 'msg', error)}", text, column)
            continue
        record = _json_record(entry, number, text, layout, findings)
        if record is not None:
            yield record


def _json_record(entry: Any, number: int, text: str, layout: Layout, findings: Findings) -> Record | None:
    names = layout.named_columns
    if not isinstance(entry, dict) or any(name not in entry for name in names):
        missing = [name for name in names if name not in entry] if isinstance(entry, dict) else []
        found = f"the object lacks {', '.join(missing)}" if missing else "found no object"
        findings.add(number, f"{found}; expected an object with {', '.join(names)}", text)
        return None
    query, document, value = (entry[name] for name in names)
    for name, identifier in (("query", query), ("document", document)):
        if not _is_id(identifier):
            findings.add(number, f"found {json.dumps(identifier)} as {name}, expected a string or a whole number", text)
            return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        findings.add(number, f"found {json.dumps(value)} as {layout.value}, expected a number", text)
        return None
    return Record(number, str(query), str(document), value)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
