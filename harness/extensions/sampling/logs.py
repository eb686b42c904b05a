"""
Reads logs of searches line by line: CSV, JSON lines, the documents of User Behavior Insights (UBI), and plain lines.

Source of UBI: the JSON schemas of UBI 1.3.0 (o19s/ubi).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from harness.errors import FormatError, Problem
from harness.extensions.sampling.tally import QueryTally
from harness.files.opening import FileProblems, find_inner_suffix, open_bytes
from harness.files.tables import (
    OTHER_COUNT_NAMES,
    QUERY_NAMES,
    SEARCH_COUNT_NAMES,
    is_id,
    iterate_all_lines,
    iterate_lines,
    normalize_name,
    read_count,
    read_json_rows,
    read_table,
    remove_mark,
)
from harness.words import list_repeated, one_of

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
    zero_hits: bool = False
    """Whether only searches that found nothing are counted."""
    results_column: str | None = None
    """The column or key with the number of results; found by its name if None. With *zero_hits* only."""


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
    unread: _UnreadNumbers
    """Columns that may be the number of searches, where none is read."""
    form: str = ""
    searches: int = 0

    def add(self, text: str, traffic: int) -> None:
        """Count *traffic* searches for *text*."""
        self.tally.add(text, traffic)
        self.searches += traffic


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
        reader = _LogReader(options, tally, FileProblems(name), seen, _UnreadNumbers())
        with open_bytes(path, name) as file:
            read(file, reader)
        findings = reader.findings
        # Of a file without a header no line can be read: there is nothing to leave out.
        if not options.skip_wrong or not reader.form:
            findings.raise_any(path)
        if options.zero_hits and not reader.searches and reader.form and not findings.problems:
            raise FormatError.at(name, 0, 0, f"no search of the log found nothing ({reader.form})")
        unread = reader.unread.describe()
        if unread:
            raise FormatError.at(name, 0, 0, unread)
        if not reader.searches and not findings.problems:
            raise FormatError.at(name, 0, 0, "the log has no search; expected at least one")
        wrong_lines = len(findings.problems) + findings.others
        logs.append(ReadLog(name, reader.form, reader.searches, wrong_lines, tuple(findings.problems)))
    return tuple(logs)


def _choose_reader(path: Path) -> Callable[[IO[bytes], _LogReader], None]:
    suffix = find_inner_suffix(path)
    reader = _READERS.get(suffix)
    if reader is None:
        expected = one_of(list(_READERS))
        message = f"found the suffix {suffix!r}, expected {expected}, also with .gz or .zst behind it"
        raise FormatError.at(path, 0, 0, f"{message}; rename the file, or convert it")
    return reader


def _read_plain(file: IO[bytes], reader: _LogReader) -> None:
    """Each line is the text of one search."""
    if reader.options.zero_hits:
        message = "plain lines do not say how many results a search had; --zero-hits needs a .csv or .jsonl log"
        reader.findings.have_one_cause(0, message, "")
        return
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


# Rows of CSV and of JSON lines.


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns or keys that are read; *search_id* is that of UBI, by which a search counts once."""

    query: str
    count: str | None = None
    search_id: str | None = None
    results: str | None = None
    """The number of results, of which only 0 counts; None where all searches count."""

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that are read, but for the number of searches."""
        return (self.query,) if self.results is None else (self.query, self.results)

    def describe(self, form: str) -> str:
        """What is read, in words."""
        if self.results is not None:
            return f"{replace(self, results=None).describe(form)}, those with no result by {self.results!r} alone"
        if self.search_id is not None:
            return f"UBI: queries in {self.query!r}, each {self.search_id} a search"
        if self.count is None:
            return f"{form}: queries in {self.query!r}, each line a search"
        return f"{form}: queries in {self.query!r}, searches in {self.count!r}"


class _WrongLog(ValueError):
    """What is wrong with the columns of a log or, with *column*, with its cell in a row."""

    def __init__(self, message: str, column: str = "") -> None:
        super().__init__(message)
        self.column = column


def _read_csv(file: IO[bytes], reader: _LogReader) -> None:
    _read_table(file, reader, ",;\t")


def _read_tab_separated(file: IO[bytes], reader: _LogReader) -> None:
    _read_table(file, reader, "\t")


def _read_table(file: IO[bytes], reader: _LogReader, separators: str) -> None:
    findings, given = reader.findings, reader.options.query_column
    names = QUERY_NAMES if given is None else (given,)
    # Exports of web analytics have comments with # above the header.
    lines = iterate_all_lines(file, findings)
    table = read_table(lines, findings, names, separators=separators, comment="#")
    if table is None:
        return
    try:
        columns = _choose_columns(table.columns, "columns", reader.options)
        _check_header(table.columns, columns, reader.options)
    except _WrongLog as error:
        findings.have_one_cause(table.line, str(error), table.text)
        return
    reader.form = columns.describe("CSV")
    query_place = table.columns.index(columns.query)
    count_place = None if columns.count is None else table.columns.index(columns.count)
    results_place = None if columns.results is None else table.columns.index(columns.results)
    table.fewest_cells = max(query_place, count_place or 0, results_place or 0) + 1
    traffic = 1
    for line, cells in table:
        try:
            if results_place is not None and not _has_no_result(cells[results_place], table.columns[results_place]):
                continue
            if count_place is not None:
                traffic = _read_traffic(cells[count_place], table.columns[count_place], reader.options)
        except _WrongLog as error:
            table.note(line, cells, str(error), error.column)
            continue
        if count_place is None and not reader.options.count_lines:
            reader.unread.watch(dict(zip(table.columns, cells, strict=True)), columns.read)
        text = cells[query_place]
        # Most texts have no apostrophe, and a log has millions.
        if "'" in text:
            text = remove_mark(text)
        reader.add(text, traffic)


def _read_json_lines(file: IO[bytes], reader: _LogReader) -> None:
    findings = reader.findings
    columns: _Columns | None = None
    for line, document, text in read_json_rows(iterate_lines(file, findings), findings, ["query"], needed=False):
        # Exports have documents in the envelope of a search, or behind the lines of a bulk request.
        if document and document.keys() <= {"index", "create"}:
            continue
        envelope = document.get("_source")
        if isinstance(envelope, dict):
            document = envelope
        if columns is None:
            try:
                columns = _choose_columns(list(document), "keys", reader.options)
            except _WrongLog as error:
                findings.have_one_cause(line, str(error), text)
                return
            reader.form = columns.describe("JSON lines")
        try:
            _count_document(document, columns, reader)
        except _WrongLog as error:
            place = text.find(json.dumps(error.column))
            findings.add(line, str(error), text, max(place, 0) + 1)


def _choose_columns(names: Sequence[str], kind: str, options: LogOptions) -> _Columns:
    """
    The columns that are read of those with *names*, which are columns or keys, as *kind* says.

    Raises:
        _WrongLog: None has the queries, or it is not known which has the numbers of searches.
    """
    query, count = options.query_column, options.count_column
    results: str | None = None
    is_ubi = kind == "keys" and "query_id" in names and ("user_query" in names or "action_name" in names)
    if is_ubi and query is None and count is None and not options.count_lines:
        if options.zero_hits:
            results = options.results_column or _HITS_OF_UBI
        return _Columns("user_query", search_id="query_id", results=results)
    if query is None:
        query = _find_column(names, QUERY_NAMES)
    if query is None:
        expected = f"expected one with the queries, such as {', '.join(QUERY_NAMES[:4])}; name it with --query-column"
        raise _WrongLog(f"found the {kind} {', '.join(names)}, {expected}")
    if options.zero_hits:
        others = [name for name in names if name not in (query, count)]
        results = options.results_column or _find_results_column(others, kind)
    if options.count_lines:
        count = None
    elif count is None:
        count = _find_count_column([name for name in names if name != results])
    return _Columns(query, count, results=results)


def _find_results_column(names: Sequence[str], kind: str) -> str:
    """The one of *names* with the number of results; raises _WrongLog if there is none."""
    found = _find_column(names, RESULT_COUNT_NAMES)
    if found is None:
        expected = f"such as {', '.join(RESULT_COUNT_NAMES[:3])}; name it with --results-column"
        raise _WrongLog(f"found the {kind} {', '.join(names)}, expected one with the number of results, {expected}")
    return found


def _find_column(columns: Sequence[str], names: Iterable[str]) -> str | None:
    """The one of *columns* that has the first of *names*, whatever their case, blanks, _ and -; None if none has."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(normalize_name(column), column)
    for name in names:
        if normalize_name(name) in by_name:
            return by_name[normalize_name(name)]
    return None


def _check_header(names: Sequence[str], columns: _Columns, options: LogOptions) -> None:
    """Raise _WrongLog where the header of a table lacks one of *columns*, or has one of them twice."""
    given_names = (
        (options.query_column, "--query-column"),
        (options.count_column, "--count-column"),
        (options.results_column, "--results-column"),
    )
    for given, option in given_names:
        if given is not None and given not in names:
            raise _WrongLog(f"found the columns {', '.join(names)}, expected one named {given!r}, as {option} says")
    if columns.query == columns.count:
        raise _WrongLog(f"the column {columns.query!r} cannot be both the query and the number of searches")
    if columns.results in (columns.query, columns.count) and columns.results is not None:
        raise _WrongLog(f"the column {columns.results!r} cannot be the number of results and another one")
    repeated = [name for name in list_repeated(names) if name in (columns.query, columns.count, columns.results)]
    if repeated:
        raise _WrongLog(f"the header names {', '.join(repeated)} twice")


def _count_document(document: Mapping[str, Any], columns: _Columns, reader: _LogReader) -> None:
    """Count the searches of *document*; raises _WrongLog where it has none."""
    query = _find_value(document, columns.query)
    # Events of UBI may do without the text, which the document of their search has.
    if query is None and columns.search_id is not None:
        return
    if query is None:
        raise _WrongLog(f"the object lacks {columns.query!r}; expected the text of a query", columns.query)
    if not is_id(query):
        found = f"found {json.dumps(query)[:60]} as {columns.query!r}"
        raise _WrongLog(f"{found}, expected a text", columns.query)
    if columns.results is not None and _may_have_results(document, columns, columns.results):
        return
    text, traffic = str(query), 1
    if columns.search_id is not None:
        search_id = document.get(columns.search_id)
        if not isinstance(search_id, str) or not search_id:
            message = f"the document lacks {columns.search_id!r}; expected the id of its search"
            raise _WrongLog(message, columns.search_id)
        search = hash((search_id, text))
        if search in reader.seen:
            return
        reader.seen.add(search)
    elif columns.count is not None:
        traffic = _read_traffic(_find_value(document, columns.count), columns.count, reader.options)
    elif not reader.options.count_lines:
        reader.unread.watch(document, columns.read)
    reader.add(text, traffic)


def _may_have_results(document: Mapping[str, Any], columns: _Columns, name: str) -> bool:
    """Whether *document* has results under the key *name*, or is an event of UBI, which says nothing of them."""
    value = _find_value(document, name)
    if value is None and columns.search_id is not None:
        return True
    return not _has_no_result(value, name)


def _has_no_result(value: Any, name: str) -> bool:
    """Whether *value*, in the column or key *name*, is 0 or an empty list of results; raises _WrongLog if unknown."""
    if isinstance(value, list):
        return not value
    if value is None:
        raise _WrongLog(f"the object lacks {name!r}; expected the number of results", name)
    try:
        return read_count(value, name) == 0
    except ValueError as error:
        raise _WrongLog(str(error), name) from None


def _read_traffic(value: Any, name: str, options: LogOptions) -> int:
    """The number of searches that *value* is, in the column or key *name*."""
    if value is None:
        raise _WrongLog(f"the object lacks {name!r}; expected a number of searches", name)
    try:
        number = read_count(value, name)
    except ValueError as error:
        raise _WrongLog(str(error), name) from None
    if number == 0 and options.count_column is None and normalize_name(name) == _AMBIGUOUS_NAME:
        remedy = f"if it is the number of results, give --count-lines, else --count-column {name}"
        raise _WrongLog(f"found 0 as {name!r}, expected a number of searches; {remedy}", name)
    return number


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


# The number of searches, by the usual names of its column. A column of whole numbers that is not read may have it: to
# count each line as one search would then give wrong weights without a word, so `_UnreadNumbers` finds such columns.

RESULT_COUNT_NAMES = (
    "results", "result_count", "num_results", "results_count", "number_of_results", "total_results", "nb_results",
    "total_hits", "hit_count", "num_hits", "nb_hits", "num_found", "found", "hits",
)  # fmt: skip
"""Names of numbers of results."""

_HITS_OF_UBI = "query_response_hit_ids"
"""The key of a search of UBI with the ids of its results."""

_AMBIGUOUS_NAME = "hits"
"""The name that logs use for the number of searches and for that of results, which may be 0."""

_OF_ONE_SEARCH = frozenset((
    "@timestamp", "timestamp", "time", "datetime", "took", "latency", "duration", "ms", "userid", "sessionid",
    "clientid", "visitorid", "requestid", "queryid", "searchid", "createdat", "searchedat", "ip",
))  # fmt: skip
"""Names of columns that describe one search: beside them `_AMBIGUOUS_NAME` has numbers of results."""

_DAYS = frozenset(("date", "day"))
"""Names that searches have, and sums of a day."""

_NO_COUNTS = frozenset((
    "found", "id", "ids", "uid", "uuid", "timestamp", "time", "datetime", "date", "day", "week", "month", "year",
    "hour", "minute", "second", "ms", "took", "latency", "duration", "position", "rank", "page", "price", "offset",
    "limit", "size", "status", "code", "version", "session", "user", "ip", "zip",
))  # fmt: skip
"""Last words in the names of whole numbers that are no numbers of searches."""

_RESULTS = frozenset(("result", "results"))
"""Words in names of numbers of results, whatever the other words."""

_COUNTS = frozenset(("searches", "queries", "volume", "frequency", "occurrences"))
"""Words in names of numbers of searches, whatever the last word, as in "searches per month"."""

_WHOLE_NUMBER = re.compile(r"\d{1,3}(?:[.,'\u00a0\u202f ]\d{3})+|\d+(?:[.,]0+)?")
"""A whole number as reports write it, also in groups of three digits."""

_PERCENTAGE = re.compile(r"\d+(?:[.,]\d+)?\s*%")

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")


def _find_count_column(columns: Sequence[str]) -> str | None:
    """
    The column with the number of searches, by its name; None if there is none. Raises _WrongLog if several may be it.

    >>> _find_count_column(["Month", "Search query", "Total searches"])
    'Total searches'
    >>> _find_count_column(["timestamp", "query", "hits"])  # numbers of results
    """
    for names in (SEARCH_COUNT_NAMES, OTHER_COUNT_NAMES):
        known = set(map(normalize_name, names))
        found = [column for column in columns if normalize_name(column) in known]
        if len(found) > 1:
            may_be = " and ".join(map(repr, found))
            raise _WrongLog(f"{may_be} may each be the number of searches; name one with --count-column")
        if found:
            return found[0]
    normalized = set(map(normalize_name, columns))
    name = _find_column(columns, [_AMBIGUOUS_NAME])
    if name is None or not _OF_ONE_SEARCH.isdisjoint(normalized):
        return None
    if not _DAYS.isdisjoint(normalized):
        remedy = f"give --count-column {name}, or --count-lines"
        raise _WrongLog(f"{name!r} may be the number of searches or of results; {remedy}")
    return name


def _may_be_count(name: str) -> bool:
    """
    Whether a column *name* with whole numbers may have numbers of searches, as its name says nothing else.

    >>> [_may_be_count(name) for name in ("nb_visits", "searches per month", "user_id", "numResults")]
    [True, True, False, False]
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if normalize_name(name) == _AMBIGUOUS_NAME or not _RESULTS.isdisjoint(words):
        return False
    return not words or words[-1] not in _NO_COUNTS or not _COUNTS.isdisjoint(words)


@dataclass(slots=True)
class _UnreadNumbers:
    """Columns, or keys of JSON, of which all values are whole numbers: what they may count is not read."""

    greatest: dict[str, int] = field(default_factory=dict)
    """The greatest number of each."""
    shares: set[str] = field(default_factory=set)
    """Columns with a percentage: what has one is no line for a single search."""
    others: set[str] = field(default_factory=set)
    """Columns with another value, or another meaning."""

    def watch(self, values: Mapping[str, object], read: Collection[str]) -> None:
        """Look at *values* of a line by column; the columns *read* are none of them."""
        for name, value in values.items():
            if name in self.others or name in read:
                continue
            number = _read_whole_number(value)
            if isinstance(value, str) and _PERCENTAGE.fullmatch(value.strip()):
                self.shares.add(name)
            if number is None or (name not in self.greatest and not _may_be_count(name)):
                self.others.add(name)
                self.greatest.pop(name, None)
            else:
                self.greatest[name] = max(number, self.greatest.get(name, 0))

    def describe(self) -> str:
        """Why it is not known what the log counts; empty if no column has numbers above 1, which all lines count."""
        names = [name for name, number in self.greatest.items() if number > 1]
        if not names and self.shares:
            found = " and ".join(map(repr, sorted(self.shares)))
            verb = "has" if len(self.shares) == 1 else "have"
            sentence = f"{found} {verb} percentages, and no column with the number of searches was found"
            return f"{sentence}; name one with --count-column, or say --count-lines"
        if not names:
            return ""
        found = " and ".join(map(repr, names))
        if len(names) == 1:
            sentence = f"{found} has whole numbers and was not read"
        else:
            sentence = f"{found} have whole numbers and were not read"
        return f"{sentence}; name the number of searches with --count-column, or say --count-lines"


def _read_whole_number(value: object) -> int | None:
    """*value* as a whole number, 0 for an empty one; None for any other."""
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value >= 0 else None
    if isinstance(value, float):
        return int(value) if value >= 0 and value.is_integer() else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if not text:
        return 0
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    digits = re.sub(r"[.,]0{1,2}$", "", text)
    return int(re.sub(r"\D", "", digits)[:20])
