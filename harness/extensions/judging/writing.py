"""Writes the grades of judges to the files of a suite's judgments, or to a file of their own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from yaml import YAMLError

from harness.agreement import Pair
from harness.config import Configs
from harness.errors import InputError, UsageError
from harness.extensions.judging.findings import PlacedJudgment
from harness.extensions.judging.grade_edits import EDITORS, edit_suite, read_suite_grades, read_without_judgments
from harness.extensions.judging.marked_quotes import NewQuotes, list_new_quotes
from harness.extensions.judging.pools_and_lint import read_judged
from harness.extensions.judging.quote_edits import add_quotes, list_quotable_queries
from harness.files.editing import NoPlace, apply_edits
from harness.files.judge_files import JudgeFile
from harness.files.judgments import read_judgments
from harness.files.opening import JUDGMENTS, FileFormat, FileProblems, detect_format
from harness.files.records import read_records
from harness.files.tables import format_json_lines, format_table
from harness.files.trec import BYTE_ORDER_MARK
from harness.files.writing import write_whole
from harness.suites.loading import load_unchecked
from harness.words import count, format_exactly, listed, simplify_number

_COLUMNS = ("query", "document", "grade")
ELSEWHERE = "write the grades to a file of their own with --output"


class FilesChanged(UsageError):
    """A file changed since it was read, and was not written."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of writing: the *files* written, the number of new grades, and grades that were kept."""

    files: tuple[Path, ...] = ()
    added: int = 0
    changed: int = 0
    kept: Mapping[Pair, float] = field(default_factory=dict)
    """Grades that were edited by hand meanwhile and stay."""
    unknown: int = 0
    """The number of grades for queries that the suite does not have, which are left out."""
    quotes: int = 0
    """The number of new quotes."""
    quotes_left_out: Mapping[str, int] = field(default_factory=dict)
    """The number of quotes that were not written, by the reason."""


@dataclass(frozen=True, slots=True)
class GradedFiles:
    """A suite and the judgment files that it names, by name, with their *contents* as they were read."""

    suite: Path
    named: Mapping[str, Path]
    contents: Mapping[Path, bytes]
    configs: Configs | None = None
    """Says which configuration counts, as for `load_suite`."""

    @classmethod
    def read(cls, suite: Path, configs: Configs | None = None) -> GradedFiles:
        """
        Read the files and remember their contents.

        Raises:
            SuiteError: The suite cannot be read.
        """
        named = {file.name: file.path for file in load_unchecked(suite, None, configs=configs).judgments.named}
        contents = {}
        for path in (suite, *named.values()):
            content = _read_bytes(path)
            if content is not None:
                contents[path] = content
        return cls(suite, named, contents, configs)

    def write(
        self,
        grades: Mapping[Pair, float],
        given: Mapping[Pair, frozenset[float]],
        judges: Iterable[JudgeFile] = (),
    ) -> WriteResult:
        """
        Write *grades* to the suite or the judgment file that has, or would have, the judgment; each file whole.

        Quotes are written beside their queries in the suite. What cannot be put there is left out, and counted.

        Args:
            grades: The grades to write.
            given: All grades that judges ever gave a document. Any other grade in a file was edited by hand, and stays.
            judges: Whose quotes are written.

        Raises:
            FilesChanged: A file changed since it was read.
            SuiteError: The suite cannot be read.
            UsageError: No file can hold a grade, or a file could not be written.
        """
        self._require_unchanged(self.contents)
        judged, _ = read_judged(self.suite, None, configs=self.configs)
        queries = {query.id for query in judged.suite.queries}
        placed = _find_places(judged.judged)
        files_by_query = _list_files_by_query(placed)
        by_file: dict[Path, dict[Pair, float]] = {}
        kept: dict[Pair, float] = {}
        added = changed = unknown = 0
        for pair, grade in grades.items():
            if pair[0] not in queries:
                unknown += 1
                continue
            before = placed[pair].grade if pair in placed else None
            if before == grade:
                continue
            if before is not None and before not in given.get(pair, ()):
                kept[pair] = before
                continue
            path = self._choose_file(pair, placed, files_by_query)
            by_file.setdefault(path, {})[pair] = grade
            if before is None:
                added += 1
            else:
                changed += 1
        # All files are edited before one is written: an error leaves them as they are.
        contents = {path: self._edit(path, by_file[path], judged.suite.grades) for path in by_file}
        quotes = list_new_quotes(judges, judged.suite)
        with_quotes = self._add_quotes(contents.get(self.suite, self.contents[self.suite]), quotes)
        if quotes.by_query:
            contents[self.suite] = with_quotes
        self.replace_all(contents)
        return WriteResult(tuple(contents), added, changed, kept, unknown, quotes.number, quotes.left_out)

    def replace_all(self, contents: Mapping[Path, bytes]) -> None:
        """
        Write *contents* in place of files that are as they were read, each whole.

        Raises:
            FilesChanged: A file changed since it was read.
            UsageError: A file could not be written.
        """
        self._require_unchanged(self.contents)
        for path in contents:
            # Replacing a file needs the right to write into its folder only: a read-only file would be replaced too.
            if not os.access(path, os.W_OK):
                raise UsageError(f"{path}: the grades could not be written: the file is read-only")
        written: list[Path] = []
        for path, content in contents.items():
            self._replace(path, content, written)
            written.append(path)

    def _choose_file(
        self, pair: Pair, placed: Mapping[Pair, PlacedJudgment], files_by_query: Mapping[str, Sequence[str]]
    ) -> Path:
        """
        The file of a judgment: the one that has it; else the one that judges its query, the suite before others; else
        the last judgment file that the suite names, or the suite where it names none.
        """
        files = {str(self.suite): self.suite, **self.named}
        if pair in placed:
            name = placed[pair].mark.path
        else:
            names = files_by_query.get(pair[0], list(files)[-1:])
            name = str(self.suite) if str(self.suite) in names else names[-1]
        if name not in files:
            raise UsageError(f"{name}: grades cannot be put into a query file; {ELSEWHERE}")
        return files[name]

    def _require_unchanged(self, paths: Iterable[Path], written: Sequence[Path] = ()) -> None:
        """Raise FilesChanged unless *paths* are as they were read; *written* are those that were written already."""
        changed = [str(path) for path in paths if _read_bytes(path) != self.contents[path]]
        if not changed:
            return
        verb = "was" if len(changed) == 1 else "were"
        result = "nothing"
        if written:
            result = f"only {listed(list(map(str, written)))}"
        raise FilesChanged(f"{listed(changed)} {verb} changed since judging began; {result} was written")

    def _replace(self, path: Path, content: bytes, written: Sequence[Path]) -> None:
        """Write *content* to *path* if that is as it was read; *written* are the files that were written before."""
        try:
            write_whole(path.resolve(), content, before=lambda: self._require_unchanged([path], written))
        except OSError as error:
            raise UsageError(f"{path}: the grades could not be written: {error.strerror or error}") from None

    def _edit(self, path: Path, grades: Mapping[Pair, float], names: Mapping[str, float]) -> bytes:
        """The file's content with *grades*, by name if all its grades are; parsed again to check that it has them."""
        is_suite, file_format = path == self.suite, detect_format(path)
        editor = edit_suite if is_suite else EDITORS.get(file_format)
        if editor is None or (not is_suite and path.suffix.lower() in (".gz", ".zst")):
            raise UsageError(f"{path}: grades cannot be added to a file of this kind; {ELSEWHERE}")
        mark = BYTE_ORDER_MARK if self.contents[path].startswith(BYTE_ORDER_MARK) else b""
        text = self.contents[path][len(mark) :].decode()
        before = self._read_grades(path, text)
        names_by_grade: dict[float, str] = {}
        has_numbers = any(value not in names for value in before.values() if value)
        # A file of TREC cannot have names.
        if not has_numbers and (is_suite or file_format is not FileFormat.TREC):
            names_by_grade = {grade: name for name, grade in names.items()}
        values = {pair: names_by_grade.get(grade) or format_exactly(grade) for pair, grade in grades.items()}
        try:
            edited = apply_edits(text, editor(text, values))
            is_sound = self._read_grades(path, edited) == {**before, **values}
            if is_sound and is_suite:
                is_sound = read_without_judgments(text) == read_without_judgments(edited)
        except NoPlace as error:
            raise UsageError(f"{path}: {error}, or {ELSEWHERE}") from None
        except (InputError, YAMLError):
            is_sound = False
        if not is_sound:
            raise UsageError(f"{path}: the grades cannot be put into this file without changing more; {ELSEWHERE}")
        return mark + edited.encode()

    def _add_quotes(self, content: bytes, quotes: NewQuotes) -> bytes:
        """*content*, the suite's, with *quotes*; those that it cannot be given are counted as left out."""
        if not quotes.by_query:
            return content
        mark = BYTE_ORDER_MARK if content.startswith(BYTE_ORDER_MARK) else b""
        text = content[len(mark) :].decode()
        for query in quotes.by_query.keys() - list_quotable_queries(text):
            quotes.leave_out(query, "the query is in a query file; write it there by hand")
        edited = add_quotes(text, quotes.by_query)
        if edited is None:
            for query in list(quotes.by_query):
                quotes.leave_out(query, "it cannot be put into the suite without changing more; write it by hand")
            return content
        return mark + edited.encode()

    def _read_grades(self, path: Path, text: str) -> dict[Pair, str]:
        """The grades in *text*, the content of *path*, as they are written there."""
        if path == self.suite:
            return read_suite_grades(text)
        # The readers of files read a path, whose name says the format.
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_bytes(text.encode())
            grades: dict[Pair, str] = {}
            for record in read_records(copy, JUDGMENTS, FileProblems(str(path))):
                value = record.value if isinstance(record.value, str) else format_exactly(float(record.value))
                pair = (record.query, record.document)
                # The first grade counts: a document that stands twice may have none at first.
                if not grades.get(pair):
                    grades[pair] = value
        return grades


def _find_places(judgments: Iterable[PlacedJudgment]) -> dict[Pair, PlacedJudgment]:
    """Each judgment at its first place, those without a grade behind those with one."""
    placed: dict[Pair, PlacedJudgment] = {}
    for judgment in judgments:
        pair = (judgment.query, judgment.document)
        first = placed.setdefault(pair, judgment)
        if first.grade is None and judgment.grade is not None:
            placed[pair] = judgment
    return placed


def _list_files_by_query(placed: Mapping[Pair, PlacedJudgment]) -> dict[str, list[str]]:
    """The names of the files that judge each query, each once."""
    files: dict[str, list[str]] = {}
    for (query, _), judgment in placed.items():
        names = files.setdefault(query, [])
        if judgment.mark.path not in names:
            names.append(judgment.mark.path)
    return files


def _read_bytes(path: Path) -> bytes | None:
    """The content of *path*; None where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


# Grades in a file of their own.


def check_output(path: Path, given: Mapping[Pair, Collection[float]]) -> None:
    """
    Check that *path* holds no grade except those *given*.

    Raises:
        FormatError: The file is not a judgment file.
        UsageError: The file holds other grades.
    """
    if not path.is_file() or not path.stat().st_size:
        return
    others = 0
    for query, grades in read_judgments(path).items():
        for document, grade in grades.items():
            if grade not in given.get((query, document), ()):
                others += 1
    if others:
        raise UsageError(f"{path} holds {count(others, 'grade')} that no judge gave; write to another file")


def format_grades_csv(grades: Mapping[Pair, float]) -> str:
    """CSV with the columns query, document and grade."""
    rows = [(query, document, simplify_number(grade)) for (query, document), grade in grades.items()]
    return format_table(_COLUMNS, rows)


def format_grades_json_lines(grades: Mapping[Pair, float]) -> str:
    """JSON lines, each an object with query, document and grade."""
    rows = [(query, document, simplify_number(grade)) for (query, document), grade in grades.items()]
    return format_json_lines(dict(zip(_COLUMNS, row, strict=True)) for row in rows)
