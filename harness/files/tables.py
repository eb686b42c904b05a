"""
The rows of tables: CSV with commas, semicolons or tabs, and JSON lines; usual names of columns, and cells that
spreadsheets change.
"""

from __future__ import annotations

import csv
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import chain
from typing import IO, Any

from harness.files.json import WrongJson, parse_json
from harness.files.opening import NOT_TEXT, FileProblems
from harness.model.suite import Json
from harness.words import list_repeated

# Lines. What is wrong with one goes to the findings, and the line is left out.

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def iterate_lines(file: IO[bytes], findings: FileProblems) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    for number, content in enumerate(file, start=1):
        if number == 1 and content.startswith(_UTF_16):
            findings.have_one_cause(0, "the file is in UTF-16; expected UTF-8, which spreadsheets call CSV UTF-8", "")
            return
        if number == 1:
            content = content.removeprefix(BOM_UTF8)
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            byte = content[error.start]
            findings.add(number, f"byte 0x{byte:02x} is not UTF-8; expected a file in UTF-8", column=error.start + 1)
            continue
        if "\0" in text:
            findings.add(number, "found a NUL byte; which a text file must not contain", column=text.index("\0") + 1)
        elif text.strip():
            yield number, text.rstrip("\r\n")


def iterate_all_lines(file: IO[bytes], findings: FileProblems) -> Iterator[str]:
    """Every line with a line feed, as `read_table` takes them; a wrong one counts as blank."""
    expected_number = 1
    for number, text in iterate_lines(file, findings):
        for _ in range(number - expected_number):
            yield "\n"
        yield text + "\n"
        expected_number = number + 1


# Rows.


def read_json_rows(
    lines: Iterable[tuple[int, str]], findings: FileProblems, keys: Sequence[str], *, needed: bool = True
) -> Iterator[tuple[int, dict[str, Any], str]]:
    """
    The objects of JSON lines, each with the number and the text of its line; other lines go to *findings*.

    Args:
        lines: The lines that are not blank, with their numbers.
        findings: The problems of the file.
        keys: What an object has.
        needed: Whether an object without one of *keys* is a problem.
    """
    expected = f"expected an object with {(' and ' if len(keys) == 2 else ', ').join(keys)}"
    for number, text in lines:
        try:
            entry = parse_json(text)
        except WrongJson as error:
            findings.add(number, str(error), text, error.column)
            continue
        if not isinstance(entry, dict):
            findings.add(number, f"found no object; {expected}", text)
            continue
        if needed:
            missing = [key for key in keys if key not in entry]
            if missing:
                findings.add(number, f"the object lacks {', '.join(missing)}; {expected}", text)
                continue
        yield number, entry, text


@dataclass(slots=True)
class Table:
    """
    CSV of which the header was read. Its rows follow, once, each as the line where it begins and its cells in the order
    of *columns*; wrong ones go to *findings*.

    No object is made of a row: logs have millions of them.
    """

    columns: list[str]
    line: int
    """The line of the header."""
    text: str
    """The header as an excerpt shows it."""
    separator: str
    findings: FileProblems
    rows: Any
    """The reader of `csv`, which is behind the header."""
    lines_before: int
    """The lines before those of *rows*."""
    fewest_cells: int = 0
    """Each row has this number of cells at least; spreadsheets leave out separators behind the last text."""

    def need(self, columns: Sequence[str], hint: str = "") -> bool:
        """Whether the header has each of *columns*, and names none twice; else it goes to the findings, with *hint*."""
        missing = [column for column in columns if column not in self.columns]
        repeated = sorted(filter(None, list_repeated(self.columns)))
        if missing:
            message = f"the header lacks {', '.join(missing)}; expected the columns {', '.join(columns)}"
            self.findings.add(self.line, message + hint, self.text)
        elif repeated:
            self.findings.add(self.line, f"the header names {', '.join(repeated)} twice", self.text)
        else:
            self.fewest_cells = max((self.columns.index(column) + 1 for column in columns), default=0)
        return not missing and not repeated

    def note(self, line: int, cells: Sequence[str], message: str, column: str = "") -> None:
        """Note what is wrong with the row *cells* that begins in *line*, or with its cell of *column*."""
        place = 1
        if column:
            before = cells[: self.columns.index(column)]
            place = len(self.separator.join([*before, ""])) + 1
        self.findings.add(line, message, self.separator.join(cells).replace("\n", " "), place)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        rows, width, lines_before = self.rows, len(self.columns), self.lines_before
        next_line = lines_before + rows.line_num + 1
        try:
            for cells in rows:
                # A row with line breaks in quotes has several lines; its problems are noted at the first.
                line, next_line = next_line, lines_before + rows.line_num + 1
                if not "".join(cells).strip():
                    continue
                if len(cells) != width:
                    if len(cells) < self.fewest_cells or any(cell.strip() for cell in cells[width:]):
                        self.note(line, cells, f"found {len(cells)} columns, expected {width} as in the header")
                        continue
                    cells = [*cells, *[""] * width][:width]
                yield line, cells
        except csv.Error as error:
            _note_error(error, next_line, lines_before + rows.line_num, self.findings)


_SEPARATORS = ",;\t"
_SEPARATOR_LINE = re.compile(r'"?sep=([^\w\s"]|\t)"?\s*', re.IGNORECASE)
"""Names the separator: some spreadsheets write it before the header."""


def read_table(
    lines: Iterable[str],
    findings: FileProblems,
    names: Iterable[str] = (),
    *,
    separators: str = _SEPARATORS,
    comment: str | None = None,
) -> Table | None:
    """
    Read the header of CSV.

    Args:
        lines: All lines of the file, each with its end.
        findings: The problems of the file.
        names: Likely names of a column. The separator is the one with which the header has such a column, else the
            first that it has.
        separators: What may separate columns.
        comment: The beginning of lines above the header that are no part of the table.

    Returns:
        None where there is no header, or it is no CSV, which goes to *findings*.
    """
    remaining = iter(lines)
    lines_before = 0
    separator = ""
    for first_line in remaining:
        named = _SEPARATOR_LINE.fullmatch(first_line)
        is_comment = comment is not None and first_line.startswith(comment)
        if named is not None:
            separator = named[1]
        elif first_line.strip(f'{separators}" \r\n') and not is_comment:
            break
        lines_before += 1
    else:
        return None
    separator = separator or _detect_separator(first_line, names, separators)
    rows = csv.reader(chain([first_line], remaining), strict=True, delimiter=separator)
    line = lines_before + 1
    try:
        columns = [cell.strip() for cell in next(rows)]
    except csv.Error as error:
        _note_error(error, line, lines_before + rows.line_num, findings)
        return None
    return Table(columns, line, separator.join(columns), separator, findings, rows, lines_before)


def _detect_separator(header: str, names: Iterable[str], separators: str) -> str:
    likely = set(map(normalize_name, names))
    for separator in separators:
        columns = [normalize_name(cell.strip().strip('"')) for cell in header.split(separator)]
        if len(columns) > 1 and not likely.isdisjoint(columns):
            return separator
    without_texts = re.sub(r'"[^"]*"', "", header)
    found = [character for character in without_texts if character in separators]
    return found[0] if found else separators[0]


def _note_error(error: csv.Error, row_begin: int, line: int, findings: FileProblems) -> None:
    """Note an *error* of the reader at *line*, in the row that begins at *row_begin*."""
    # The reader finds only at the end of the file that a quote has no counterpart.
    if "end of data" in str(error):
        message = "a quote in this row is not closed before the end of the file; expected a second one"
        findings.add(row_begin, message)
    else:
        findings.add(line, f"this is not CSV: {error}")


# Values.

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity|nan)", re.ASCII | re.IGNORECASE)


def read_number(value: str | float) -> float | None:
    """*value* as a number, NaN and infinities included; None where it is not a number."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


_MOST_COUNTED = 2**53
"""The largest count, up to which a 64-bit float represents every whole number."""

_ONE_OR_A_THOUSAND = re.compile(r"[1-9]\d{0,2}\.0{3}")
"""A number such as 1.000, which is one where a point is before decimals, and a thousand where it is between groups."""


def read_count(value: Any, name: str) -> int:
    """
    A whole number of things in the column or key *name*.

    Raises:
        ValueError: *value* is none, which the message tells.
    """
    if isinstance(value, str):
        value = value.strip()
    number = None
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        number = read_number(value)
    if number is None or not 0 <= number <= _MOST_COUNTED or number != int(number):
        raise ValueError(f"found {value!r} as {name!r}, expected a whole number from 0 to 2^53")
    if isinstance(value, str) and _ONE_OR_A_THOUSAND.fullmatch(value):
        may_be = f"which may be {int(number)} or {int(number)},000"
        raise ValueError(f"found {value!r} as {name!r}, {may_be}; write whole numbers without a point")
    return int(number)


def is_id(value: Any) -> bool:
    """Whether a value of JSON can be an id: a text, or a whole number."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


# Usual names of columns.

QUERY_NAMES = (
    "query", "q", "user_query", "search_term", "search_query", "query_text", "search_text", "search_string",
    "top queries", "term", "search", "keyword", "keywords", "text",
)  # fmt: skip
"""Usual names of the column with the text of the query, the likeliest first."""

DOCUMENT_NAMES = (
    "document", "document_id", "docid", "doc_id", "doc", "docno", "pid", "passage_id", "corpus_id",
)  # fmt: skip
"""Usual names of the column with the id of a document."""

PRODUCT_NAMES = (
    "product_id", "product_uid", "item_id", "item_uid", "article_id", "listing_id", "object_id", "variant_id", "sku",
    "sku_id", "product_sku", "variant_sku", "asin", "gtin", "ean", "upc", "isbn", "url", "uri", "document_url",
    "doc_url", "product_url", "page_url", "link", "product", "item",
)  # fmt: skip
"""Names of the column with the id of the document beside a grade or clicks."""

SEARCH_COUNT_NAMES = (
    "searches", "search_count", "searches_count", "query_count", "search_volume", "query_volume",
    "search_query_volume", "total_searches", "unique_searches", "total_unique_searches", "number_of_searches",
    "num_searches", "nb_searches", "no_of_searches", "count_of_searches", "times_searched", "search_frequency",
)  # fmt: skip
"""Names that say that searches are counted."""

OTHER_COUNT_NAMES = (
    "count", "frequency", "freq", "event_count", "total_events", "occurrences", "traffic", "volume", "impressions",
    "doc_count", "total_count", "total", "cnt", "anzahl",
)  # fmt: skip
"""Names of counts that in a log of searches are counts of searches."""


def normalize_name(name: str) -> str:
    """
    *name* in lower case without blanks, underscores and hyphens.

    >>> normalize_name("Search Term"), normalize_name("search_term")
    ('searchterm', 'searchterm')
    """
    return re.sub(r"[\s_-]+", "", name).lower()


# Cells of spreadsheets.

# Judges open files in a spreadsheet. A cell that begins with = + - or @ is a formula there, which may be executed, and
# an id such as 007, 1e5 or 3-4 becomes a number or a date, and so another id. A leading apostrophe makes a cell text.
# Some programs keep it when they save the file and some do not, so ids are read with it and without it. Where a comma
# is the decimal mark, columns are saved with semicolons between them: there a semicolon in a cell begins another one.


_BLANKS = r"[\s\ufeff\u200b\u2060]*"
"""Before a sign some programs leave them out."""

_SIGNS = r"[=+\-@＝＋－＠﹢﹣﹦﹫]"
"""What begins a formula; East Asian spreadsheets take the full-width and small forms too."""

_FORMULA = re.compile(rf"{_BLANKS}{_SIGNS}|[\t\r]")
# A tab begins a cell of its own, and is no blank here: a mark behind it would hide the one before it from the reader.
_BLANKS_INSIDE = r"(?:(?!\t)[\s\ufeff\u200b\u2060])*"
_FORMULA_INSIDE = re.compile(rf"(;|(?<!^)\t)('*)(?={_BLANKS_INSIDE}{_SIGNS})")
_MARKED_INSIDE = re.compile(rf"(;|(?<!^)\t)'('*)(?={_BLANKS_INSIDE}{_SIGNS})")
_CURRENCIES = "$€£¥"
_NUMBER_OR_DATE = re.compile(rf"[ .,({_CURRENCIES}-]*[0-9][0-9.,:/eE+ -]*(?:[ %){_CURRENCIES}]+|[aApP][mM]?)?")
_MONTHS = (
    "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|"
    "january|february|march|april|june|july|august|september|october|november|december"
)
_DATE_IN_WORDS = re.compile(rf"(?=.*[0-9])[0-9 .,/-]*(?:{_MONTHS})[0-9 .,/-]*", re.ASCII | re.IGNORECASE)
_TRUTH = re.compile(r"true|false", re.IGNORECASE)
"""Truth values, which spreadsheets write back in capitals, or in another language."""

_KEPT_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
"""Whole numbers that a spreadsheet keeps exactly: up to fifteen digits."""

_WRAPPED_TEXT = re.compile(r'="[^"]*"')
_ROUNDED_NUMBER = re.compile(r"-?[0-9](?:[.,][0-9]+)?E\+[0-9]{2,3}")
_ERROR_VALUE = re.compile(r"#(?:[^\W\d_]{2,}(?:/0)?[?!]|N/A|##+)")
"""What a cell holds instead of an id; names of errors are translated, as ``#NOM?``."""

_MARK = "'"


def mark_as_text(text: str) -> str:
    """
    *text* with an apostrophe in front where a spreadsheet would change it or take it for a formula, also of a part.

    >>> [mark_as_text(text) for text in ("sku-1", "42", "007", "=1+1", "'=1+1", "a;=1")]
    ['sku-1', '42', "'007", "'=1+1", "''=1+1", "a;'=1"]
    """
    text = _FORMULA_INSIDE.sub(r"\1'\2", text)
    return _MARK + text if _is_changed(text.lstrip(_MARK)) else text


def remove_mark(text: str) -> str:
    """
    The text before `mark_as_text`, whether a spreadsheet kept the apostrophe or not; other texts are not changed.

    >>> [remove_mark(text) for text in ("'007", "007", "'t hart")]
    ['007', '007', "'t hart"]
    """
    if text.startswith(_MARK) and _is_changed(text.lstrip(_MARK)):
        text = text[1:]
    return _MARKED_INSIDE.sub(r"\1\2", text)


def find_damage(text: str) -> str | None:
    """
    What a spreadsheet did to an id that is *text* now; None if it does not look damaged.

    >>> find_damage('="007"'), find_damage("1.23457E+11"), find_damage("#NAME?"), find_damage("sku-1")
    ('a formula around a text', 'a rounded number', 'an error value', None)
    """
    if _WRAPPED_TEXT.fullmatch(text):
        return "a formula around a text"
    if _ROUNDED_NUMBER.fullmatch(text):
        return "a rounded number"
    if _ERROR_VALUE.fullmatch(text) and text == text.upper():
        return "an error value"
    return None


def _is_changed(text: str) -> bool:
    if _FORMULA.match(text) or _DATE_IN_WORDS.fullmatch(text) or _TRUTH.fullmatch(text):
        return True
    return _NUMBER_OR_DATE.fullmatch(text) is not None and _KEPT_NUMBER.fullmatch(text) is None


# Writing.


def format_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """
    CSV that a spreadsheet opens: texts are marked where it would change them, numbers are as they are.

    Text beyond ASCII begins with a byte order mark: without it, spreadsheets do not read it as UTF-8, and write other
    ids back.
    """
    marked = [[_mark_cell(cell) for cell in row] for row in (columns, *rows)]
    text = format_rows(marked)
    return text if text.isascii() else f"\ufeff{text}"


def _mark_cell(cell: object) -> object:
    return mark_as_text(cell) if isinstance(cell, str) else cell


def format_rows(rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """*rows* as lines of CSV, with no text changed."""
    text = StringIO()
    csv.writer(text, lineterminator="\n", delimiter=separator).writerows(rows)
    return text.getvalue()


def is_unwritable(text: str) -> bool:
    """Whether *text* cannot be read back from CSV: it has control characters, a carriage return or a lone surrogate."""
    return "\r" in text or NOT_TEXT.search(text) is not None


def format_json_lines(entries: Iterable[Json]) -> str:
    """*entries* as JSON lines; what a text file must not contain, such as NUL, is escaped."""
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    return NOT_TEXT.sub(lambda match: json.dumps(match[0])[1:-1], lines)
