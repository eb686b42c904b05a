"""Reads CSV files of other systems: rows by column name, with their line numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from harness.drafts.draft import Leftovers
from harness.errors import FormatError, Problem
from harness.extensions.migrate.json_nodes import explain_grades, read_import
from harness.extensions.sampling.columns import normalize_name
from harness.files.opening import FileProblems, TextSource
from harness.files.records import detect_separator, explain_csv_error, read_number, read_separator_line
from harness.model.suite import Mark
from harness.words import list_repeated


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row; *cells* maps each column to its text, "" if the row has no such cell."""

    source: TextSource
    line: int
    cells: dict[str, str]
    trimmed: Leftovers
    """The blanks that `trim` left out, of all rows of the table."""

    @property
    def place(self) -> Mark:
        """File and line; the column is always 1."""
        return Mark(self.source.path, self.line, 1)

    def trim(self, column: str) -> str:
        """The id or text in *column* without surrounding blanks, which are noted."""
        text = self.cells[column].strip()
        if text:
            self.trimmed.add_trimmed(self.place, self.cells[column])
        return text

    def need(self, column: str) -> str:
        """
        As `trim`, of a cell that has a text.

        Raises:
            FormatError: The cell is empty.
        """
        text = self.trim(column)
        if not text:
            self.refuse(f"the {column} is empty; expected a text")
        return text

    def grade(self, column: str, names: Mapping[str, float] | None = None) -> float | None:
        """
        The number in *column*, or that of *names* for the word in it; None if the cell is empty.

        Raises:
            FormatError: The cell is neither a finite number nor one of *names*.
        """
        text = self.cells[column].strip()
        if not text:
            return None
        if names and text in names:
            return names[text]
        number = read_number(text)
        if number is None or number - number != 0:
            expected = "a finite number"
            if names is not None:
                expected = explain_grades(text, names)
            self.refuse(f"found {text[:60]!r} as {column}, expected {expected}")
        return number

    def refuse(self, message: str) -> NoReturn:
        """Raise FormatError with *message* at this line."""
        raise self.source.make_error(self.line, 1, message)


@dataclass(slots=True)
class InputTable:
    """The rows of a file, and its *columns* as written in the header; *used* are the columns that were read."""

    source: TextSource
    columns: list[str]
    rows: list[TableRow]
    used: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    trimmed: Leftovers = field(default_factory=Leftovers)
    """The blanks around ids and texts of its rows."""

    @contextmanager
    def collect_problems(self) -> Iterator[None]:
        """Keep the problems of a row for `raise_problems`, which tells those of all rows."""
        try:
            yield
        except FormatError as error:
            self.problems += error.problems

    def column(self, *names: str) -> str | None:
        """
        The first column with one of *names*, which then counts as read; None if there is none.

        Case, blanks, underscores and hyphens are ignored.
        """
        normalized = {normalize_name(name) for name in names}
        for column in self.columns:
            if normalize_name(column) in normalized:
                self.used.add(column)
                return column
        return None

    def need(self, *names: str) -> str:
        """
        The column that `column` returns.

        Raises:
            FormatError: There is none.
        """
        column = self.column(*names)
        if column is None:
            message = f"found the columns {', '.join(self.columns)}, expected one named {' or '.join(names)}"
            raise self.source.make_error(1, 1, message)
        return column

    def raise_problems(self) -> None:
        """
        Fail where rows had problems.

        Raises:
            FormatError: With those of all rows.
        """
        found = FileProblems(self.source.path)
        for problem in self.problems:
            found.add(problem.line, problem.message, self.source.lines[problem.line - 1])
        found.raise_any(Path(self.source.path))

    def leave_unread(self, leftovers: Leftovers) -> None:
        """Note what was not read: columns that are not empty, and blanks around ids and texts."""
        for column in self.columns:
            if column not in self.used and any(row.cells[column].strip() for row in self.rows):
                leftovers.add(Mark(self.source.path, 1, 1), f"the column {column!r}")
        for blanks in self.trimmed.values():
            leftovers.add(blanks.place, blanks.what, blanks.count, blanks.first)


def read_table(path: Path, *, header: Sequence[str] = ()) -> InputTable:
    """
    Read a CSV file, with commas, semicolons or tabs as separators.

    Args:
        path: The file.
        header: Columns for a file without a header: its first line has as many cells, and the last one is a number.

    Raises:
        InputError: The file cannot be read, is empty, repeats a column, or has a line with more cells than the header.
    """
    source = read_import(path)
    separator, lines_skipped = _detect_separator(source)
    text = io.StringIO(source.text, newline="")
    for _ in range(lines_skipped):
        text.readline()
    rows = csv.reader(text, strict=True, delimiter=separator)
    table: InputTable | None = None
    next_line = 1 + lines_skipped
    try:
        for cells in rows:
            # A cell may have line breaks: a row begins behind the end of the one before.
            line, next_line = next_line, rows.line_num + 1 + lines_skipped
            if not any(cell.strip() for cell in cells):
                continue
            if table is None:
                has_header = len(cells) != len(header) or read_number(cells[-1].strip()) is None
                columns = [cell.strip() for cell in cells] if has_header else list(header)
                _check_header(source, columns, line)
                table = InputTable(source, columns, [])
                if has_header:
                    continue
            table.rows.append(_make_row(table, cells, line))
    except csv.Error as error:
        line, message = explain_csv_error(error, next_line, rows.line_num + lines_skipped)
        raise source.make_error(line, 1, message) from None
    if table is None:
        raise FormatError.at(source.path, 0, 0, "the file is empty; expected CSV with a header")
    return table


def _detect_separator(source: TextSource) -> tuple[str, int]:
    """
    The separator, and how many lines stand before the header.

    A first line ``sep=;`` names it. Else it is that of the first line, which depends on the name in its first cell.
    """
    first_line = next((line for line in source.lines if line.strip()), "")
    separator = read_separator_line(first_line)
    if separator is not None:
        return separator, source.lines.index(first_line) + 1
    first_cell = re.split(r"[,;\t]", first_line)[0]
    unquoted = next(csv.reader([first_cell]), [])
    return detect_separator(first_line, unquoted[0].strip() if unquoted else ""), 0


def _check_header(source: TextSource, columns: Sequence[str], line: int) -> None:
    repeated = sorted(filter(None, list_repeated(columns)))
    if repeated:
        raise source.make_error(line, 1, f"the header names {', '.join(repeated)} twice")


def _make_row(table: InputTable, cells: Sequence[str], line: int) -> TableRow:
    # Spreadsheets write separators behind the last cell, and leave them out behind the last one with a text.
    if any(cell.strip() for cell in cells[len(table.columns) :]):
        message = f"found {len(cells)} columns, expected {len(table.columns)} as in the header"
        raise table.source.make_error(line, 1, message)
    padded = [*cells, *[""] * len(table.columns)]
    return TableRow(table.source, line, dict(zip(table.columns, padded, strict=False)), table.trimmed)
