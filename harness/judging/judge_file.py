"""What each judge has graded, in a file of JSON lines: the last line of a document counts."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import FormatError, UsageError
from harness.judging.agreement import Pair
from harness.masking import fingerprint, is_vector, without_vectors
from harness.model import Json, Query, Suite
from harness.words import count, counted


@dataclass(frozen=True, slots=True)
class Questions:
    """
    What is judged: the name of a *suite*, and a fingerprint of what the page shows of each query, by id.

    *older* are the fingerprints that older versions of the harness wrote, which depend on vectors too.
    """

    suite: str
    fingerprints: Mapping[str, str]
    older: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, suite: Suite) -> Questions:
        """The questions of *suite*, which has its variables as they are written."""
        shown, older = {}, {}
        for query in suite.queries:
            values = query.masked or {"text": query.text, "params": query.params}
            shown[query.id] = fingerprint({**values, "params": read_shown_params(suite, query)})
            older[query.id] = fingerprint({**values, "params": without_vectors(values["params"])})
        return cls(suite.name, shown, older)


def read_shown_params(suite: Suite, query: Query) -> dict[str, Json]:
    """The params of *query* that the page shows: all but vectors, which tell a person nothing; values are masked."""
    params = {**query.params, **((query.masked or {}).get("params") or {})}
    return {
        name: without_vectors(value)
        for name, value in params.items()
        if name not in suite.vectors and not is_vector(value)
    }


_NAME = re.compile(r"\w[\w-]{0,63}")


def progress_path(suite: Path, judge: str, folder: Path | None = None) -> Path:
    """
    The file of what *judge* graded, beside the suite or in *folder*.

    Raises:
        UsageError: *judge* cannot be part of a file name.

    >>> str(progress_path(Path("shop.relevance.yaml"), "anna"))
    'shop.judged-by.anna.jsonl'
    """
    if not _NAME.fullmatch(judge):
        raise UsageError(f"found {judge!r} as the name of a judge, expected letters, digits, _ and -, such as anna")
    return (folder or suite.parent) / f"{_stem(suite)}.judged-by.{judge}.jsonl"


def _stem(suite: Path) -> str:
    return suite.name.removesuffix(".yaml").removesuffix(".relevance")


def kept_by_judge(suite: Path, folder: Path | None = None, questions: Questions | None = None) -> dict[str, JudgeFile]:
    """The grades of all judges of *suite*, by their names; arguments and errors are those of `JudgeFile.read`."""
    begin, end = f"{_stem(suite)}.judged-by.", ".jsonl"
    names = sorted(path.name for path in (folder or suite.parent).iterdir() if path.name.startswith(begin))
    judges = [name[len(begin) : -len(end)] for name in names if name.endswith(end)]
    return {
        judge: JudgeFile.read(progress_path(suite, judge, folder), questions)
        for judge in judges
        if _NAME.fullmatch(judge)
    }


@dataclass(slots=True)
class JudgeFile:
    """
    The grades of one judge, kept in the file *path*.

    *given* are all grades that a document ever had, *steps* what can be undone: each a document and its grade before.
    *lines* are the lines of the file with the grades that were read. Each line written says what was judged, by
    *questions*; *outdated* are documents whose last grade does not count, as the page showed another text or other
    params of the query. A line that does not say what was judged counts.
    """

    path: Path
    questions: Questions | None = None
    grades: dict[Pair, float] = field(default_factory=dict)
    given: dict[Pair, set[float]] = field(default_factory=dict)
    steps: list[tuple[Pair, float | None]] = field(default_factory=list)
    lines: dict[Pair, int] = field(default_factory=dict)
    outdated: set[Pair] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path, questions: Questions | None = None) -> JudgeFile:
        """
        Read the file; empty where there is none. A last line that was cut off is dropped.

        Args:
            path: The file.
            questions: What is judged now; None counts each grade, whatever it was given for.

        Raises:
            FormatError: The file is a link or cannot be read, a line is not an entry of it, or is that of another
                suite.
        """
        kept = cls(path, questions)
        _refuse_link(path)
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise FormatError.at(path, 0, 0, f"the file cannot be read: {error.strerror or error}") from None
        for number, one in enumerate(_entries(path, content, questions), start=1):
            is_outdated = kept._is_outdated(one)
            kept._apply(one.pair, None if is_outdated else one.grade, undoes=one.undoes)
            if is_outdated and one.grade is not None:
                kept.outdated.add(one.pair)
                kept.given.setdefault(one.pair, set()).add(one.grade)
            kept.lines[one.pair] = number
        return kept

    def _is_outdated(self, entry: _Entry) -> bool:
        """Whether the page shows something else of the query than when *entry* was written."""
        now = self._question(entry.pair)
        if self.questions is None or now is None or entry.question is None:
            return False
        return entry.question not in (now, self.questions.older.get(entry.pair[0]))

    def _question(self, pair: Pair) -> str | None:
        """The fingerprint of the query of a document; None where that is not known."""
        return None if self.questions is None else self.questions.fingerprints.get(pair[0])

    def check_writable(self) -> None:
        """
        Check that grades can be written.

        Raises:
            FormatError: The file is a link.
            UsageError: They cannot.
        """
        _refuse_link(self.path)
        try:
            is_new = not os.path.lexists(self.path)
            self.path.open("ab").close()
            if is_new:
                self.path.unlink()
        except OSError as error:
            remedy = "choose another folder with --progress"
            raise UsageError(f"{self.path}: grades cannot be kept here: {error.strerror or error}; {remedy}") from None

    def grade(self, pair: Pair, grade: float | None) -> None:
        """
        Give a document a grade, or take its grade away.

        Raises:
            FormatError: The file holds something else by now, and stays as it is.
            UsageError: The ids cannot be encoded as text.
            OSError: The grade could not be written.
        """
        self._keep(pair, grade)
        self._apply(pair, grade)

    def undo(self) -> Pair | None:
        """Undo the last step; returns its document, None where there is no step. Raises as `grade`."""
        if not self.steps:
            return None
        pair, before = self.steps[-1]
        self._keep(pair, before, undo=True)
        self._apply(pair, before, undoes=True)
        return pair

    def _keep(self, pair: Pair, grade: float | None, **more: bool) -> None:
        number = int(grade) if grade is not None and grade.is_integer() else grade
        entry = {"query": pair[0], "document": pair[1], "grade": number, **more}
        if self.questions is not None:
            asked = {"suite": self.questions.suite, "question": self._question(pair)}
            entry |= {key: value for key, value in asked.items() if value is not None}
        try:
            line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:
            raise UsageError(f"document {pair[1]!r} of query {pair[0]!r} has an id that is no valid text") from None
        _refuse_link(self.path)
        with self.path.open("a+b") as file:
            file.seek(0)
            content = file.read()
            _entries(self.path, content, self.questions)
            last = content.rpartition(b"\n")[2]
            if _is_cut(last):
                file.truncate(len(content) - len(last))
            elif last:
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _apply(self, pair: Pair, grade: float | None, *, undoes: bool = False) -> None:
        if undoes and self.steps:
            self.steps.pop()
        else:
            self.steps.append((pair, self.grades.get(pair)))
        self.outdated.discard(pair)
        if grade is None:
            self.grades.pop(pair, None)
            return
        self.grades[pair] = grade
        self.given.setdefault(pair, set()).add(grade)


@dataclass(frozen=True, slots=True)
class _Entry:
    """
    A line: a document, its grade, and whether that is an undone step.

    *suite* is the name of the suite, *question* the fingerprint of the query; None where the line does not say it.
    """

    pair: Pair
    grade: float | None
    undoes: bool
    suite: str | None
    question: str | None


def _refuse_link(path: Path) -> None:
    """
    Refuse a file that is a link: a stranger's folder may have a link to any file, and grades are added to its end.

    Raises:
        FormatError: It is a link.
    """
    if path.is_symlink():
        raise FormatError.at(path, 0, 0, "this is a link, expected the file with a judge's grades itself; remove it")


_BEGIN = b'{"query": "'
"""How each line of the file begins."""


def _entries(path: Path, content: bytes, questions: Questions | None) -> list[_Entry]:
    """The lines of the file *path*; raises FormatError for one that is none, or is that of another suite."""
    *lines, last = content.split(b"\n")
    if last and not _is_cut(last):
        lines.append(last)
    entries = [_entry(path, number, line) for number, line in enumerate(lines, start=1)]
    for number, one in enumerate(entries, start=1):
        if questions is not None and one.suite not in (None, questions.suite):
            raise FormatError.at(
                path,
                number,
                1,
                f"found a grade of the suite {one.suite!r}, expected grades of {questions.suite!r}; choose another "
                f"folder with --progress, or, if the suite was renamed, rename it in this file",
            )
    return entries


def _is_cut(line: bytes) -> bool:
    """Whether *line*, the last of a file and without an end, is the beginning of a line of ours that was cut off."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return bool(line) and line[: len(_BEGIN)] == _BEGIN[: len(line)]
    return False


def _entry(path: Path, number: int, line: bytes) -> _Entry:
    try:
        entry = json.loads(line.decode())
        pair, grade = (str(entry["query"]), str(entry["document"])), entry["grade"]
        suite, question = (None if entry.get(key) is None else str(entry[key]) for key in ("suite", "question"))
        "".join((*pair, suite or "")).encode()
        return _Entry(pair, None if grade is None else _finite(grade), entry.get("undo") is True, suite, question)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        expected = 'expected a line such as {"query": "q", "document": "d", "grade": 2}'
        raise FormatError.at(path, number, 1, f"this is no grade that was kept; {expected}") from None


def _finite(grade: Any) -> float:
    if isinstance(grade, bool) or not math.isfinite(float(grade)):
        raise ValueError
    return float(grade)


def all_given(judges: Iterable[JudgeFile]) -> dict[Pair, frozenset[float]]:
    """All grades that *judges* ever gave, by document."""
    found: dict[Pair, set[float]] = {}
    for kept in judges:
        for pair, grades in kept.given.items():
            found.setdefault(pair, set()).update(grades)
    return {pair: frozenset(grades) for pair, grades in found.items()}


def outdated_lines(judges: Mapping[str, JudgeFile]) -> list[str]:
    """A sentence on each judge with grades that do not count any more; *judges* are by name."""
    return [
        f"left out {count(len(kept.outdated), 'grade')} of {name}, given before the text or params changed: "
        f"{counted(sorted({query for query, _ in kept.outdated}), 'query')}; grade again"
        for name, kept in judges.items()
        if kept.outdated
    ]
