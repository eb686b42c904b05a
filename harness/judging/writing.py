"""Writes the grades of judges to the files of a suite's judgments, or to a file of their own."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from yaml import YAMLError

from harness.config import Configs
from harness.errors import InputError, UsageError
from harness.files.editing import (
    EDITORS,
    NoPlace,
    applied,
    edit_csv,
    edit_suite,
    json_line,
    suite_grades,
    without_judgments,
)
from harness.files.judgments import read_judgments
from harness.files.opening import JUDGMENTS, FileFormat, FileProblems, detect_format
from harness.files.records import for_spreadsheets, read_records
from harness.files.trec import BYTE_ORDER_MARK
from harness.files.writing import write_whole
from harness.judging import read_judged
from harness.judging.agreement import Pair
from harness.judging.findings import PlacedJudgment
from harness.suites.loading import load_unchecked
from harness.words import count, listed

ELSEWHERE = "write the grades to a file of their own with --output"


class FilesChanged(UsageError):
    """A file changed since it was read, and was not written."""


@dataclass(frozen=True, slots=True)
class Written:
    """The result of writing: the *files* written, the number of new grades, and grades that were kept."""

    files: tuple[Path, ...] = ()
    added: int = 0
    changed: int = 0
    kept: Mapping[Pair, float] = field(default_factory=dict)
    """Grades that were edited by hand meanwhile and stay."""
    unknown: int = 0
    """The number of grades for queries that the suite does not have, which are left out."""


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
        contents = {path: _bytes_of(path) for path in (suite, *named.values())}
        known = {path: content for path, content in contents.items() if content is not None}
        return cls(suite, named, known, configs)

    def write(self, grades: Mapping[Pair, float], given: Mapping[Pair, frozenset[float]]) -> Written:
        """
        Write *grades* to the suite or the judgment file that has, or would have, the judgment; each file whole.

        Args:
            grades: The grades to write.
            given: All grades that judges ever gave a document. Any other grade in a file was edited by hand, and stays.

        Raises:
            FilesChanged: A file changed since it was read.
            SuiteError: The suite cannot be read.
            UsageError: No file can hold a grade, or a file could not be written.
        """
        self._require_unchanged()
        judged, _ = read_judged(self.suite, None, configs=self.configs)
        own = {query.id for query in judged.suite.queries}
        unknown = sum(query not in own for query, _ in grades)
        grades = {pair: grade for pair, grade in grades.items() if pair[0] in own}
        placed = _placed(judged.judged)
        known = {pair: one.grade for pair, one in placed.items() if one.grade is not None}
        kept = {
            pair: known[pair]
            for pair in grades.keys() & known.keys()
            if known[pair] != grades[pair] and known[pair] not in given.get(pair, ())
        }
        wanted = {pair: grade for pair, grade in grades.items() if pair not in kept and known.get(pair) != grade}
        by_file: dict[Path, dict[Pair, float]] = {}
        for pair, path in self._paths(wanted, placed).items():
            by_file.setdefault(path, {})[pair] = wanted[pair]
        contents = {path: self._edited(path, some, judged.suite.grades) for path, some in by_file.items()}
        self._require_unchanged()
        done: list[Path] = []
        for path, content in contents.items():
            _replace(path, content, partial(self._require_unchanged, [path], done))
            done.append(path)
        changed = len(wanted.keys() & known.keys())
        return Written(tuple(contents), len(wanted) - changed, changed, kept, unknown)

    def _paths(self, pairs: Iterable[Pair], placed: Mapping[Pair, PlacedJudgment]) -> dict[Pair, Path]:
        """
        The file of each judgment: the one that has it; else the one that judges its query, the suite before others;
        else the last judgment file that the suite names, or the suite where it names none.
        """
        named = {str(self.suite): self.suite, **self.named}
        of_query: dict[str, dict[str, None]] = {}
        for (query, _), one in placed.items():
            of_query.setdefault(query, {})[one.mark.path] = None
        found = {}
        for pair in pairs:
            others = [*of_query.get(pair[0], [*named][-1:])]
            name = placed[pair].mark.path if pair in placed else str(self.suite)
            if pair not in placed and name not in others:
                name = others[-1]
            if name not in named:
                raise UsageError(f"{name}: grades cannot be put into a query file; {ELSEWHERE}")
            found[pair] = named[name]
        return found

    def _require_unchanged(self, paths: Iterable[Path] | None = None, done: Sequence[Path] = ()) -> None:
        """Raise FilesChanged unless *paths*, or all files, are as they were read; *done* are written already."""
        looked_at = self.contents if paths is None else paths
        changed = [str(path) for path in looked_at if _bytes_of(path) != self.contents[path]]
        if changed:
            verb = "was" if len(changed) == 1 else "were"
            written = f"only {listed([*map(str, done)])}" if done else "nothing"
            raise FilesChanged(f"{listed(changed)} {verb} changed since judging began; {written} was written")

    def _edited(self, path: Path, grades: Mapping[Pair, float], names: Mapping[str, float]) -> bytes:
        """The file's content with *grades*, by name if all its grades are; parsed again to check that it has them."""
        is_suite, form = path == self.suite, detect_format(path)
        editor = edit_suite if is_suite else EDITORS.get(form)
        if editor is None or (not is_suite and path.suffix.lower() in (".gz", ".zst")):
            raise UsageError(f"{path}: grades cannot be added to a file of this kind; {ELSEWHERE}")
        mark = BYTE_ORDER_MARK if self.contents[path].startswith(BYTE_ORDER_MARK) else b""
        text = self.contents[path][len(mark) :].decode()
        read = suite_grades if is_suite else _file_grades(path)
        before = read(text)
        by_number = {grade: name for name, grade in names.items()}
        if (form is FileFormat.TREC and not is_suite) or any(value not in names for value in before.values() if value):
            by_number = {}
        written = {pair: by_number.get(grade) or number_text(grade) for pair, grade in grades.items()}
        try:
            edited = applied(text, editor(text, written))
            sound = read(edited) == {**before, **written}
            sound = sound and not (is_suite and without_judgments(text) != without_judgments(edited))
        except NoPlace as error:
            raise UsageError(f"{path}: {error}, or {ELSEWHERE}") from None
        except (InputError, YAMLError):
            sound = False
        if not sound:
            raise UsageError(f"{path}: the grades cannot be put into this file without changing more; {ELSEWHERE}")
        return mark + edited.encode()


def number_text(grade: float) -> str:
    """
    A grade as a number.

    >>> number_text(2.0), number_text(0.5)
    ('2', '0.5')
    """
    return str(int(grade)) if grade.is_integer() else repr(grade)


def _placed(judged: Iterable[PlacedJudgment]) -> dict[Pair, PlacedJudgment]:
    """Each judgment at its first place, those without a grade behind those with one."""
    found: dict[Pair, PlacedJudgment] = {}
    for one in judged:
        known = found.setdefault((one.query, one.document), one)
        if known.grade is None and one.grade is not None:
            found[one.query, one.document] = one
    return found


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _replace(path: Path, content: bytes, before: Callable[[], None]) -> None:
    try:
        if not os.access(path, os.W_OK):  # replacing it would need leave to write into its folder only
            raise PermissionError(errno.EACCES, "the file is read-only")
        write_whole(path.resolve(), content, before=before)
    except OSError as error:
        raise UsageError(f"{path}: the grades could not be written: {error.strerror or error}") from None


def _file_grades(path: Path) -> Callable[[str], dict[Pair, str]]:
    """A function that reads the grades in the text of a judgment file, in the format of *path*."""

    def read(text: str) -> dict[Pair, str]:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_bytes(text.encode())
            found: dict[Pair, str] = {}
            for record in read_records(copy, JUDGMENTS, FileProblems(str(path))):
                value = record.value if isinstance(record.value, str) else number_text(float(record.value))
                if found.setdefault((record.query, record.document), value) == "":
                    found[record.query, record.document] = value
            return found

    return read


# Grades in a file of their own.


def check_output(path: Path, given: Mapping[Pair, Collection[float]]) -> None:
    """
    Check that *path* holds no grade except those *given*.

    Raises:
        FormatError: The file is not a judgment file.
        UsageError: The file holds other grades.
    """
    known = read_judgments(path) if path.is_file() and path.stat().st_size else {}
    others = [
        one for query, of in known.items() for one, grade in of.items() if grade not in given.get((query, one), ())
    ]
    if others:
        raise UsageError(f"{path} holds {count(len(others), 'grade')} that no judge gave; write to another file")


def grades_csv(grades: Mapping[Pair, float]) -> str:
    """CSV with the columns query, document and grade, and like a pool a byte order mark where it is not ASCII."""
    begin = "query,document,grade\n"
    edits = edit_csv(begin, {pair: number_text(grade) for pair, grade in grades.items()})
    return for_spreadsheets(applied(begin, edits))


def grades_json_lines(grades: Mapping[Pair, float]) -> str:
    """JSON lines, each an object with query, document and grade."""
    return "".join(f"{json_line(*pair, number_text(grade))}\n" for pair, grade in grades.items())
