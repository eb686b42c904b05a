"""
Reads logs of searches line by line: CSV, JSON lines, the documents of User Behavior Insights (UBI), and plain lines.

Source of UBI: the JSON schemas of UBI 1.3.0 (o19s/ubi).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from harness.errors import FormatError, Problem
from harness.extensions.sampling.columns import (
    AMBIGUOUS_NAMES,
    QUERY_NAMES,
    WHOLE_NUMBER_REMEDY,
    CountColumn,
    UnreadNumbers,
    find_column,
    find_count_column,
    may_be_thousands,
    normalize_name,
)
from harness.extensions.sampling.tally import QueryTally
from harness.files.json import WrongJson, parse_json
from harness.files.opening import FileProblems, open_bytes
from harness.files.records import (
    explain_csv_error,
    iterate_all_lines,
    iterate_lines,
    read_number,
    read_separator_line,
)
from harness.files.tables import remove_mark
from harness.words import list_repeated, one_of

MOST_COUNTED = 2**53
"""The largest number of searches of a line, up to which a 64-bit float represents every whole number."""

_PACKED = (".gz", ".zst")

_COUNTED_LINE = re.compile(r"\s*\d+[\s,;:]+\S.*|.*\S[^\S ]+\d+\s*")
"""A line that begins with a whole number, as `uniq -c` writes it, or ends with one behind a tab."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """How logs are read."""

    query_column: str | None = None
    """The column or key with the text; found by its name if None."""
    count_column: str | None = None
    """The column or key with the number of searches; found by its name if None."""
    count_lines: bool = False
    """Whether each line is one search, whatever its columns."""
    skip_wrong: bool = False
    """Whether lines that cannot be read are left out."""


@dataclass(frozen=True, slots=True)
class ReadLog:
    """What was read of a file."""

    path: str
    form: str
    """Its format, and the columns that were read, in words."""
    searches: int
    wrong_lines: int = 0
    problems: tuple[Problem, ...] = ()
    """The first of *wrong_lines*, which were left out."""


@dataclass(slots=True)
class _LogReader:
    """Reads one file into *tally*; *form* is set once its first line is known."""

    options: LogOptions
    tally: QueryTally
    findings: FileProblems
    seen: set[int]
    """Hashes of the searches of UBI that were counted: a search has a document and several events."""
    form: str = ""
    searches: int = 0
    unread: UnreadNumbers = field(default_factory=UnreadNumbers)
    """Columns that may be the number of searches, where none is read."""

    def add(self, text: str, traffic: int) -> None:
        """Count *traffic* searches for *text*."""
        self.tally.add(text, traffic)
        self.searches += traffic

    def watch(self, values: Mapping[str, object], query: str) -> None:
        """Look at *values* of a line that has no number of searches; the column or key *query* is read."""
        if not self.options.count_lines:
            self.unread.watch(values, (query,))


def read_logs(paths: Sequence[Path], options: LogOptions, tally: QueryTally) -> tuple[ReadLog, ...]:
    """
    Count the searches of files in *tally*, one line after the other.

    Args:
        paths: The files, whose suffix says how they are read; with .gz or .zst behind it they are unpacked.
        options: The columns, and what is done with lines that cannot be read.
        tally: Counts the searches of all files.

    Raises:
        FormatError: A file cannot be read, has no column with queries or no search, or lines are wrong that are not
            left out.
    """
    seen: set[int] = set()
    logs = []
    for path in paths:
        name = str(path)
        read = _choose_reader(path)
        reader = _LogReader(options, tally, FileProblems(name), seen)
        with open_bytes(path, name) as file:
            read(file, reader)
        findings = reader.findings
        # Of a file without a header no line can be read: there is nothing to leave out.
        if not options.skip_wrong or not reader.form:
            findings.raise_any(path)
        unread = reader.unread.describe()
        if unread:
            raise FormatError.at(name, 0, 0, unread)
        if not reader.searches and not findings.problems:
            raise FormatError.at(name, 0, 0, "the log has no search; expected at least one")
        wrong_lines = len(findings.problems) + findings.others
        logs.append(ReadLog(name, reader.form, reader.searches, wrong_lines, tuple(findings.problems)))
    return tuple(logs)


def _choose_reader(path: Path) -> Callable[[IO[bytes], _LogReader], None]:
    inner = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    reader = _READERS.get(inner.suffix.lower())
    if reader is None:
        expected = one_of(list(_READERS))
        message = f"found the suffix {inner.suffix!r}, expected {expected}, also with .gz or .zst behind it"
        raise FormatError.at(path, 0, 0, f"{message}; rename the file, or convert it")
    return reader


def _read_plain(file: IO[bytes], reader: _LogReader) -> None:
    """Each line is the text of one search."""
    if reader.options.query_column is not None or reader.options.count_column is not None:
        message = "plain lines have no columns; remove --query-column and --count-column, or rename the file to .csv"
        reader.findings.have_one_cause(0, message, "")
        return
    reader.form = "plain lines, each a search"
    lines = with_counts = 0
    for _, text in iterate_lines(file, reader.findings):
        reader.add(text, 1)
        # The first line without a count ends the search: a log has millions of lines.
        if lines == with_counts:
            with_counts += bool(_COUNTED_LINE.fullmatch(text))
        lines += 1
    if lines == with_counts and lines > 1 and not reader.options.count_lines:
        message = "each line has a whole number beside its text, which may be the number of its searches"
        remedy = "write them as columns of a .csv or .tsv file with a header, or say --count-lines"
        reader.findings.have_one_cause(0, f"{message}; {remedy}", "")


# CSV.


@dataclass(frozen=True, slots=True)
class _Header:
    """The columns of a CSV file, and which of them are read."""

    columns: Sequence[str]
    separator: str
    query: int
    count: int | None

    def join(self, row: Sequence[str]) -> str:
        """*row* as one line, for an excerpt."""
        return self.separator.join(row).replace("\n", " ")

    def describe(self) -> str:
        """What is read, in words."""
        count = None if self.count is None else self.columns[self.count]
        return _describe_columns("CSV", self.columns[self.query], count)


def _describe_columns(form: str, query: str, count: str | None) -> str:
    if count is None:
        return f"{form}: queries in {query!r}, each line a search"
    return f"{form}: queries in {query!r}, searches in {count!r}"


def _read_csv(file: IO[bytes], reader: _LogReader) -> None:
    _read_rows(file, reader, ",;\t")


def _read_tab_separated(file: IO[bytes], reader: _LogReader) -> None:
    _read_rows(file, reader, "\t")


def _read_rows(file: IO[bytes], reader: _LogReader, separators: str) -> None:
    findings = reader.findings
    lines = iterate_all_lines(file, findings)
    number, first_line = _find_header_line(lines)
    if first_line is None:
        return
    try:
        separator = _detect_separator(first_line, separators, reader.options)
        header = _read_header(first_line, number, separator, reader)
    except csv.Error as error:
        # Such as a carriage return, with which old spreadsheets end lines.
        findings.have_one_cause(number, f"this header is not CSV: {error}", first_line.rstrip("\n"))
        return
    if header is None:
        return
    reader.form = header.describe()
    rows = csv.reader(lines, strict=True, delimiter=separator)
    row_begin = number + 1
    try:
        for row in rows:
            # A row with line breaks in quotes has several lines; its problems are noted at the first.
            line, row_begin = row_begin, number + rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            _take_row(row, line, header, reader)
    except csv.Error as error:
        wrong_line, message = explain_csv_error(error, row_begin, number + rows.line_num)
        findings.add(wrong_line, message)


def _take_row(row: Sequence[str], line: int, header: _Header, reader: _LogReader) -> None:
    """Count the searches of *row*, which begins in *line*; a problem goes to the findings."""
    # Spreadsheets leave out empty cells behind the last one with a text; what is read must be there.
    missing = len(header.columns) - len(row)
    if missing > 0 and max(header.query, header.count or 0) < len(row):
        row = [*row, *[""] * missing]
    if len(row) != len(header.columns):
        message = f"found {len(row)} columns, expected {len(header.columns)} as in the header"
        reader.findings.add(line, message, header.join(row))
        return
    traffic = 1
    if header.count is None:
        reader.watch(dict(zip(header.columns, row, strict=True)), header.columns[header.query])
    else:
        cell = row[header.count].strip()
        problem = _find_count_problem(cell, header.columns[header.count], reader.options)
        if problem:
            column = len(header.join([*row[: header.count], ""])) + 1
            reader.findings.add(line, problem, header.join(row), column)
            return
        traffic = int(float(cell))
    text = row[header.query]
    # Most texts have no apostrophe, and a log has millions.
    if "'" in text:
        text = remove_mark(text)
    reader.add(text, traffic)


def _find_header_line(lines: Iterator[str]) -> tuple[int, str | None]:
    """The first line with content and its number; exports of web analytics have comments with # above the header."""
    for number, line in enumerate(lines, start=1):
        is_skipped = line.startswith("#") or read_separator_line(line.rstrip("\n")) is not None
        if line.strip() and not is_skipped:
            return number, line
    return 0, None


def _detect_separator(header: str, separators: str, options: LogOptions) -> str:
    """The separator for which *header* has a column with queries; else the most frequent one."""
    for separator in separators:
        columns = _split_header(header, separator)
        if len(columns) > 1 and find_column(columns, options.query_column, QUERY_NAMES) is not None:
            return separator
    return max(separators, key=header.count)


def _split_header(header: str, separator: str) -> list[str]:
    row = next(csv.reader([header], delimiter=separator), [])
    return [cell.strip() for cell in row]


def _read_header(first_line: str, line: int, separator: str, reader: _LogReader) -> _Header | None:
    """The header; None where a column is missing, which goes to the findings as the one problem of the file."""
    options = reader.options
    columns = _split_header(first_line, separator)
    query = find_column(columns, options.query_column, QUERY_NAMES)
    found = _choose_count_column(columns, options)
    count = found.place
    chosen = [columns[place] for place in (query, count) if place is not None]
    repeated = [name for name in list_repeated(columns) if name in chosen]
    problem = ""
    if query is None:
        problem = _describe_missing(columns, options.query_column, "--query-column")
    elif count is None and options.count_column is not None:
        problem = _describe_missing(columns, options.count_column, "--count-column")
    elif found.problem:
        problem = found.problem
    elif query == count:
        problem = f"the column {columns[query]!r} cannot be both the query and the number of searches"
    elif repeated:
        problem = f"the header names {', '.join(repeated)} twice"
    if query is None or problem:
        reader.findings.have_one_cause(line, problem, first_line.rstrip("\n"))
        return None
    return _Header(columns, separator, query, count)


def _describe_missing(columns: Sequence[str], given: str | None, option: str) -> str:
    found = f"found the columns {', '.join(columns)}"
    if given is not None:
        return f"{found}, expected one named {given!r}, as {option} says"
    return f"{found}, expected one with the queries, such as {', '.join(QUERY_NAMES[:4])}; name it with {option}"


def _choose_count_column(columns: Sequence[str], options: LogOptions) -> CountColumn:
    if options.count_lines:
        return CountColumn()
    if options.count_column is not None:
        return CountColumn(find_column(columns, options.count_column, ()))
    return find_count_column(columns)


def _find_count_problem(value: Any, name: str, options: LogOptions) -> str:
    """Why *value*, in the column or key *name*, is no number of searches; empty where it is one."""
    if value is None:
        return f"the object lacks {name!r}; expected a number of searches"
    is_scalar = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    number = read_number(value) if is_scalar else None
    if number is None or not 0 <= number <= MOST_COUNTED or number != int(number):
        return f"found {value!r} as {name!r}, expected a whole number from 0 to 2^53"
    if isinstance(value, str) and may_be_thousands(value):
        return f"found {value!r} as {name!r}, which may be {int(number)} or {int(number)},000; {WHOLE_NUMBER_REMEDY}"
    if number == 0 and options.count_column is None and normalize_name(name) in AMBIGUOUS_NAMES:
        remedy = f"if it is the number of results, give --count-lines, else --count-column {name}"
        return f"found 0 as {name!r}, expected a number of searches; {remedy}"
    return ""


# JSON lines.


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys that are read of each object; *search_id* is that of UBI, by which a search counts once."""

    query: str
    count: str | None = None
    search_id: str | None = None

    def describe(self) -> str:
        """What is read, in words."""
        if self.search_id is not None:
            return f"UBI: queries in {self.query!r}, each {self.search_id} a search"
        return _describe_columns("JSON lines", self.query, self.count)


def _read_json_lines(file: IO[bytes], reader: _LogReader) -> None:
    keys: _Keys | None = None
    for number, text in iterate_lines(file, reader.findings):
        try:
            entry = parse_json(text)
        except WrongJson as error:
            reader.findings.add(number, str(error), text, error.column)
            continue
        if not isinstance(entry, dict):
            reader.findings.add(number, "found no object, expected one with a query", text)
            continue
        # Exports have documents in the envelope of a search, or behind the lines of a bulk request.
        if entry and entry.keys() <= {"index", "create"}:
            continue
        envelope = entry.get("_source")
        document = envelope if isinstance(envelope, dict) else entry
        if keys is None:
            keys = _choose_keys(document, number, text, reader)
            if keys is None:
                return
            reader.form = keys.describe()
        problem = _take_document(document, keys, reader)
        if problem:
            message, key = problem
            reader.findings.add(number, message, text, max(text.find(json.dumps(key)), 0) + 1)


def _choose_keys(document: Mapping[str, Any], line: int, text: str, reader: _LogReader) -> _Keys | None:
    """The keys to read; None where the first object lacks one, which goes to the findings as the one problem."""
    options = reader.options
    names = list(document)
    is_ubi = "query_id" in document and ("user_query" in document or "action_name" in document)
    if is_ubi and options.query_column is None and options.count_column is None and not options.count_lines:
        return _Keys("user_query", search_id="query_id")
    query, count = options.query_column, options.count_column
    if query is None:
        place = find_column(names, None, QUERY_NAMES)
        if place is None:
            message = _describe_missing(names, None, "--query-column")
            reader.findings.have_one_cause(line, message.replace("columns", "keys"), text)
            return None
        query = names[place]
    if count is None:
        found = _choose_count_column(names, options)
        if found.problem:
            reader.findings.have_one_cause(line, found.problem, text)
            return None
        count = None if found.place is None else names[found.place]
    return _Keys(query, count)


def _take_document(document: Mapping[str, Any], keys: _Keys, reader: _LogReader) -> tuple[str, str] | None:
    """Count the searches of *document*; returns the message of a problem and its key."""
    query = _find_value(document, keys.query)
    # Events of UBI may do without the text, which the document of their search has.
    if query is None and keys.search_id is not None:
        return None
    if query is None:
        return f"the object lacks {keys.query!r}; expected the text of a query", keys.query
    if not isinstance(query, str) and (not isinstance(query, int) or isinstance(query, bool)):
        return f"found {json.dumps(query)[:60]} as {keys.query!r}, expected a text", keys.query
    text, traffic = str(query), 1
    if keys.search_id is not None:
        search_id = document.get(keys.search_id)
        if not isinstance(search_id, str) or not search_id:
            return f"the document lacks {keys.search_id!r}; expected the id of its search", keys.search_id
        search = hash((search_id, text))
        if search in reader.seen:
            return None
        reader.seen.add(search)
    if keys.count is not None:
        count = _find_value(document, keys.count)
        problem = _find_count_problem(count, keys.count, reader.options)
        if problem:
            return problem, keys.count
        traffic = int(float(count))
    elif keys.search_id is None:
        reader.watch(document, keys.query)
    reader.add(text, traffic)
    return None


def _find_value(document: Mapping[str, Any], path: str) -> Any:
    """The value of the key *path*, or of keys in each other, separated by points; None if there is none."""
    if path in document:
        return document[path]
    value: Any = document
    for key in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


_READERS: Mapping[str, Callable[[IO[bytes], _LogReader], None]] = {
    ".csv": _read_csv,
    ".tsv": _read_tab_separated,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".txt": _read_plain,
    ".log": _read_plain,
}
"""What reads a file, by its suffix."""
