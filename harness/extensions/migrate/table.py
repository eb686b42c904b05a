"""CSV files of other systems: rows with the ids, texts and grades in them, and what was not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from harness.drafts.draft import Leftovers
from harness.errors import FormatError
from harness.extensions.migrate.json_nodes import explain_grades, read_import
from harness.files.opening import FileProblems, TextSource
from harness.files.tables import normalize_name, read_number, read_table
from harness.model.suite import Mark


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

    def require(self, column: str) -> str:
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
    findings: FileProblems
    used: set[str] = field(default_factory=set)
    trimmed: Leftovers = field(default_factory=Leftovers)
    """The blanks around ids and texts of its rows."""

    @contextmanager
    def collect_problems(self) -> Iterator[None]:
        """Keep the problems of a row for `raise_problems`, which tells those of all rows."""
        try:
            yield
        except FormatError as error:
            for problem in error.problems:
                self.findings.add(problem.line, problem.message, self.source.get_line(problem.line))

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

    def require(self, *names: str) -> str:
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
        self.findings.raise_any(Path(self.source.path))

    def note_unread(self, leftovers: Leftovers) -> None:
        """Note what was not read: columns that are not empty, and blanks around ids and texts."""
        for column in self.columns:
            if column not in self.used and any(row.cells[column].strip() for row in self.rows):
                leftovers.add(Mark(self.source.path, 1, 1), f"the column {column!r}")
        for blanks in self.trimmed.values():
            leftovers.add(blanks.place, blanks.what, blanks.count, blanks.first)


def import_table(path: Path, *, header: Sequence[str] = ()) -> InputTable:
    """
    Read a CSV file, with commas, semicolons or tabs as separators.

    Args:
        path: The file.
        header: Columns for a file without a header: its first line has as many cells, and the last one is a number.

    Raises:
        InputError: The file cannot be read, is empty, repeats a column, or has a line with more cells than the header.
    """
    source = read_import(path)
    findings = FileProblems(source.path)
    table = read_table((f"{line}\n" for line in source.iterate_lines()), findings)
    findings.raise_any(path)
    if table is None:
        raise FormatError.at(source.path, 0, 0, "the file is empty; expected CSV with a header")
    first_rows = []
    if len(table.columns) == len(header) and read_number(table.columns[-1]) is not None:
        first_rows = [(table.line, table.columns)]
        table.columns = list(header)
    table.need([])
    findings.raise_any(path)
    rows = [*first_rows, *table]
    findings.raise_any(path)
    imported = InputTable(source, table.columns, [], findings)
    for line, cells in rows:
        row = TableRow(source, line, dict(zip(table.columns, cells, strict=True)), imported.trimmed)
        imported.rows.append(row)
    return imported
