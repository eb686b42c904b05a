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

from harness.agreement import Pair
from harness.errors import FormatError, UsageError
from harness.files.writing import PRIVATE, create_file
from harness.masking import fingerprint, is_vector, shorten_vectors
from harness.model import Json, Query, Suite
from harness.words import count, counted


@dataclass(frozen=True, slots=True)
class Questions:
    """What is judged: the name of a *suite*, and what the page shows of each query."""

    suite: str
    fingerprints: Mapping[str, str]
    """Of what the page shows, by the id of the query."""


def fingerprint_questions(suite: Suite) -> Questions:
    """The questions of *suite*, which has its variables as they are written."""
    fingerprints = {}
    for query in suite.queries:
        values = query.masked or {"text": query.text, "params": query.params}
        fingerprints[query.id] = fingerprint({**values, "params": read_shown_params(suite, query)})
    return Questions(suite.name, fingerprints)


def read_shown_params(suite: Suite, query: Query) -> dict[str, Json]:
    """The params of *query* that the page shows: all but vectors, which tell a person nothing; values are masked."""
    params = dict(query.params)
    if query.masked is not None:
        params |= query.masked.get("params") or {}
    shown = {}
    for name, value in params.items():
        if name not in suite.vectors and not is_vector(value):
            shown[name] = shorten_vectors(value)
    return shown


_NAME = re.compile(r"\w[\w-]{0,63}")
_SUFFIX = ".jsonl"


def build_judge_path(suite: Path, judge: str, folder: Path | None = None) -> Path:
    """
    The file of what *judge* graded, beside the suite or in *folder*.

    Raises:
        UsageError: *judge* cannot be part of a file name.

    >>> str(build_judge_path(Path("shop.relevance.yaml"), "anna"))
    'shop.judged-by.anna.jsonl'
    """
    if not _NAME.fullmatch(judge):
        raise UsageError(f"found {judge!r} as the name of a judge, expected letters, digits, _ and -, such as anna")
    return (folder or suite.parent) / f"{_build_prefix(suite)}{judge}{_SUFFIX}"


def _build_prefix(suite: Path) -> str:
    """How the names of the files of all judges of *suite* begin."""
    return f"{suite.name.removesuffix('.yaml').removesuffix('.relevance')}.judged-by."


def read_judge_files(
    suite: Path, folder: Path | None = None, questions: Questions | None = None
) -> dict[str, JudgeFile]:
    """The grades of all judges of *suite*, by their names; arguments and errors are those of `JudgeFile.read`."""
    prefix = _build_prefix(suite)
    files = {}
    for name in sorted(path.name for path in (folder or suite.parent).iterdir()):
        judge = name.removeprefix(prefix).removesuffix(_SUFFIX)
        # Only a name that `build_judge_path` accepts is that of a judge: the file may be one of another suite.
        if name == f"{prefix}{judge}{_SUFFIX}" and _NAME.fullmatch(judge):
            files[judge] = JudgeFile.read(build_judge_path(suite, judge, folder), questions)
    return files


@dataclass(slots=True)
class JudgeFile:
    """The grades of one judge, kept in the file *path*."""

    path: Path
    questions: Questions | None = None
    """What is judged: each line written says it. A line that does not say it counts."""
    grades: dict[Pair, float] = field(default_factory=dict)
    given: dict[Pair, set[float]] = field(default_factory=dict)
    """All grades that a document ever had."""
    steps: list[tuple[Pair, float | None]] = field(default_factory=list)
    """What can be undone: each a document and its grade before."""
    lines: dict[Pair, int] = field(default_factory=dict)
    """The lines of the file with the grades that were read."""
    outdated: set[Pair] = field(default_factory=set)
    """Documents whose last grade does not count, as the page showed another text or other params of the query."""

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
        judge_file = cls(path, questions)
        _refuse_link(path)
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise FormatError.at(path, 0, 0, f"the file cannot be read: {error.strerror or error}") from None
        for number, entry in enumerate(_parse_lines(path, content, questions), start=1):
            is_outdated = judge_file._is_outdated(entry)
            judge_file._apply(entry.pair, None if is_outdated else entry.grade, undoes=entry.undoes)
            if is_outdated and entry.grade is not None:
                judge_file.outdated.add(entry.pair)
                # It may stand in a file of judgments, where it was not edited by hand.
                judge_file.given.setdefault(entry.pair, set()).add(entry.grade)
            judge_file.lines[entry.pair] = number
        return judge_file

    def _is_outdated(self, entry: _Entry) -> bool:
        """Whether the page shows something else of the query than when *entry* was written."""
        query, _ = entry.pair
        if self.questions is None or entry.question is None or query not in self.questions.fingerprints:
            return False
        return entry.question != self.questions.fingerprints[query]

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
            create_file(self.path, PRIVATE, os.O_APPEND).close()
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
        self._append({"query": pair[0], "document": pair[1], "grade": _shorten_number(grade)})
        self._apply(pair, grade)

    def undo(self) -> Pair | None:
        """Undo the last step; returns its document, None where there is no step. Raises as `grade`."""
        if not self.steps:
            return None
        pair, before = self.steps[-1]
        self._append({"query": pair[0], "document": pair[1], "grade": _shorten_number(before), "undo": True})
        self._apply(pair, before, undoes=True)
        return pair

    def _append(self, entry: dict[str, Any]) -> None:
        """Write *entry*, a grade or an undone step, with what was judged, and wait until it is on the disk."""
        query, document = entry["query"], entry["document"]
        if self.questions is not None:
            entry["suite"] = self.questions.suite
            if query in self.questions.fingerprints:
                entry["question"] = self.questions.fingerprints[query]
        try:
            line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:
            raise UsageError(f"document {document!r} of query {query!r} has an id that is no valid text") from None
        _refuse_link(self.path)
        with create_file(self.path, PRIVATE, os.O_APPEND) as file:
            file.seek(0)
            content = file.read()
            # The file may have been replaced since it was read: nothing is added to what is no file of grades.
            _parse_lines(self.path, content, self.questions)
            last = content.rpartition(b"\n")[2]
            if _is_cut(last):
                file.truncate(len(content) - len(last))
            elif last:
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _apply(self, pair: Pair, grade: float | None, *, undoes: bool = False) -> None:
        """Let *grade*, or no grade, be that of a document, as the next line of the file says."""
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
    """A line: a document, its grade, and whether that is an undone step."""

    pair: Pair
    grade: float | None
    undoes: bool
    suite: str | None
    """The name of the suite; None where the line does not say it."""
    question: str | None
    """The fingerprint of the query; None where the line does not say it."""


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


def _parse_lines(path: Path, content: bytes, questions: Questions | None) -> list[_Entry]:
    """The lines of the file *path*; raises FormatError for one that is none, or is that of another suite."""
    *lines, last = content.split(b"\n")
    if last and not _is_cut(last):
        lines.append(last)
    entries = [_parse_line(path, number, line) for number, line in enumerate(lines, start=1)]
    if questions is None:
        return entries
    for number, entry in enumerate(entries, start=1):
        if entry.suite not in (None, questions.suite):
            raise FormatError.at(
                path,
                number,
                1,
                f"found a grade of the suite {entry.suite!r}, expected grades of {questions.suite!r}; choose another "
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


def _parse_line(path: Path, number: int, line: bytes) -> _Entry:
    try:
        entry = json.loads(line.decode())
        pair = (str(entry["query"]), str(entry["document"]))
        grade = None
        if entry["grade"] is not None:
            grade = _read_grade(entry["grade"])
        suite = None if entry.get("suite") is None else str(entry["suite"])
        question = None if entry.get("question") is None else str(entry["question"])
        # JSON can hold lone surrogates, which no file of judgments can.
        "".join((*pair, suite or "")).encode()
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        expected = 'expected a line such as {"query": "q", "document": "d", "grade": 2}'
        raise FormatError.at(path, number, 1, f"this is no grade that was kept; {expected}") from None
    return _Entry(pair, grade, entry.get("undo") is True, suite, question)


def _read_grade(value: Any) -> float:
    """A grade from JSON; ValueError for what is no finite number."""
    if isinstance(value, bool) or not math.isfinite(float(value)):
        raise ValueError
    return float(value)


def _shorten_number(grade: float | None) -> float | None:
    """*grade* as an integer where it is whole, as people write it."""
    return int(grade) if grade is not None and grade.is_integer() else grade


def collect_given(judges: Iterable[JudgeFile]) -> dict[Pair, frozenset[float]]:
    """All grades that *judges* ever gave, by document."""
    given: dict[Pair, set[float]] = {}
    for judge_file in judges:
        for pair, grades in judge_file.given.items():
            given.setdefault(pair, set()).update(grades)
    return {pair: frozenset(grades) for pair, grades in given.items()}


def describe_outdated(judges: Mapping[str, JudgeFile]) -> list[str]:
    """A sentence on each judge with grades that do not count any more; *judges* are by name."""
    sentences = []
    for name, judge_file in judges.items():
        if judge_file.outdated:
            grades = count(len(judge_file.outdated), "grade")
            queries = counted(sorted({query for query, _ in judge_file.outdated}), "query")
            sentences.append(
                f"left out {grades} of {name}, given before the text or params changed: {queries}; grade again"
            )
    return sentences
