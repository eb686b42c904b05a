"""
What each judge says of documents, in a file of JSON lines: the last line of a document counts.

A line is an object with `query`, `document` and `grade`, and perhaps `cannot_tell`, `comment`, `undo`, `settles` where
the judge saw what others gave, the grade that it `replaces` in the suite, the `quotes` that were marked, what was asked
(`suite` and `question`), the `time` at which it was given, a fingerprint of each text of the document that was `shown`,
and for a language model `machine`, an object with the fields of `MachineAnswer`.

The answers of a machine stand between `{"begin": N}` and `{"end": N}`, with the number of answers before that line: a
file that was cut, or of a run that was killed, lacks the end. Files from before have no such lines, and neither have
people's, who may be judging.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from harness.agreement import Pair
from harness.errors import FormatError, UsageError
from harness.extensions import Remedy, find_remedy
from harness.files.beside import BesideFile
from harness.files.json import parse_json
from harness.files.paths import cut_suffix
from harness.files.tables import format_json_lines
from harness.files.writing import PRIVATE
from harness.masking import fingerprint, is_vector, shorten_vectors
from harness.metrics.quotes import make_quote
from harness.model.judging import JudgeAnswer, MachineAnswer
from harness.model.suite import Json, Query, Quote, Suite
from harness.words import count, counted, simplify_number


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
        shown = {**values, "params": read_shown_params(suite, query)}
        # Without a need it is that of the files that were kept before queries had one.
        if query.need:
            shown["need"] = query.need
        fingerprints[query.id] = fingerprint(shown)
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


JUDGE_NAME = re.compile(r"\w[\w-]{0,63}")
"""The name of a judge, which is part of the name of a file."""

_SUFFIX = ".jsonl"


def build_judge_path(suite: Path, judge: str, folder: Path | None = None) -> Path:
    """
    The file of what *judge* graded, beside the suite or in *folder*.

    Raises:
        UsageError: *judge* cannot be part of a file name.

    >>> str(build_judge_path(Path("shop.relevance.yaml"), "anna"))
    'shop.judged-by.anna.jsonl'
    """
    if not JUDGE_NAME.fullmatch(judge):
        raise UsageError(f"found {judge!r} as the name of a judge, expected letters, digits, _ and -, such as anna")
    return (folder or suite.parent) / f"{_build_prefix(suite)}{judge}{_SUFFIX}"


def _build_prefix(suite: Path) -> str:
    """How the names of the files of all judges of *suite* begin."""
    return f"{cut_suffix(suite)}.judged-by."


def read_judge_files(
    suite: Path, folder: Path | None = None, questions: Questions | None = None, roots: Sequence[str] = ()
) -> dict[str, JudgeFile]:
    """
    The grades of all judges of *suite*, by their names.

    Args:
        suite: The suite.
        folder: Where the files are, as the user named it; None for the folder of the suite.
        questions: As of `JudgeFile.read`.
        roots: Those of the suite; they do not count for *folder*.

    Raises:
        FormatError: As of `JudgeFile.read`.
    """
    if folder is not None:
        roots = ()
    prefix = _build_prefix(suite)
    files = {}
    for name in sorted(path.name for path in (folder or suite.parent).iterdir()):
        judge = name.removeprefix(prefix).removesuffix(_SUFFIX)
        # Only a name that `build_judge_path` accepts is that of a judge: the file may be one of another suite.
        if name == f"{prefix}{judge}{_SUFFIX}" and JUDGE_NAME.fullmatch(judge):
            files[judge] = JudgeFile.read(build_judge_path(suite, judge, folder), questions, roots)
    return files


@dataclass(slots=True)
class JudgeFile:
    """The grades of one judge, kept in the file *path*."""

    path: Path
    questions: Questions | None = None
    """What is judged: each line written says it. A line that does not say it counts."""
    roots: Sequence[str] = ()
    """The folders that the file may be in, those of `Suite.roots`; its own where there are none."""
    grades: dict[Pair, float] = field(default_factory=dict)
    answers: dict[Pair, JudgeAnswer] = field(default_factory=dict)
    """All that counts of each document: those with a grade, those of which the judge cannot tell, and comments."""
    given: dict[Pair, set[float]] = field(default_factory=dict)
    """All grades that a document ever had, and those of the suite that the judge replaced."""
    steps: list[tuple[Pair, JudgeAnswer | None]] = field(default_factory=list)
    """What can be undone: each a document and what the judge said of it before."""
    lines: dict[Pair, int] = field(default_factory=dict)
    """The lines of the file with the grades that were read."""
    outdated: set[Pair] = field(default_factory=set)
    """Documents whose last grade does not count, as the page showed another text or other params of the query."""
    outdated_quotes: dict[Pair, int] = field(default_factory=dict)
    """Likewise the number of quotes of each document."""
    is_machine: bool = False
    """Whether a language model gave any of the answers, also of those that do not count any more."""
    is_open: bool = False
    """Whether a machine began, and did not end: it is at work, was killed, or the file was cut."""
    is_cut: bool = False
    """Whether the last line was cut off when the file was read."""
    _size: int = 0
    """The number of answers in the file."""
    _appended: tuple[int, int] | None = None
    """The file and its size in bytes after the last line that was appended here."""
    _is_interrupted: bool = False
    """Whether an answer may be in the file that is not counted."""

    @property
    def place(self) -> BesideFile:
        """Where it stands. No link is followed: a stranger's folder may have one to any file."""
        return BesideFile(self.path, self.roots)

    @classmethod
    def read(cls, path: Path, questions: Questions | None = None, roots: Sequence[str] = ()) -> JudgeFile:
        """
        Read the file; empty where there is none. A last line that was cut off is dropped.

        Args:
            path: The file.
            questions: What is judged now; None counts each grade, whatever it was given for.
            roots: The folders that the file may be in.

        Raises:
            FormatError: The file is a link or cannot be read, a line is not an entry of it, or is that of another
                suite.
        """
        judge_file = cls(path, questions, roots)
        parsed = _parse_lines(path, judge_file.place.read_if_there(), questions)
        judge_file.is_open, judge_file.is_cut = parsed.is_open, parsed.is_cut
        judge_file._size = len(parsed.answers)
        for number, answer in parsed.answers:
            pair = (answer.query, answer.document)
            if judge_file._is_outdated(answer):
                judge_file._apply(JudgeAnswer(*pair, None, undoes=answer.undoes, machine=answer.machine))
                if answer.grade is not None:
                    judge_file.outdated.add(pair)
                    # It may stand in a file of judgments, where it was not edited by hand.
                    judge_file.given.setdefault(pair, set()).add(answer.grade)
                if answer.quotes:
                    judge_file.outdated_quotes[pair] = len(answer.quotes)
            else:
                judge_file._apply(answer)
            judge_file.lines[pair] = number
        return judge_file

    def _is_outdated(self, answer: JudgeAnswer) -> bool:
        """Whether the page shows something else of the query than when *answer* was written."""
        if self.questions is None or answer.question is None or answer.query not in self.questions.fingerprints:
            return False
        return answer.question != self.questions.fingerprints[answer.query]

    @property
    def independent_grades(self) -> dict[Pair, float]:
        """The grades that the judge gave without having seen those of others."""
        return {pair: grade for pair, grade in self.grades.items() if not self.answers[pair].settles}

    def check_whole(self) -> None:
        """
        Check that nothing is missing at the end of the file, which others read.

        Raises:
            FormatError: The last line was cut off, or a machine's run has no end.
        """
        if self.is_cut:
            message = "the last line is cut off, so grades may be missing; who judges here removes it by going on"
            raise FormatError.at(self.path, 0, 0, f"{message}, or restore the file")
        if self.is_open:
            message = "the file has no line that ends the last run, so grades may be missing"
            why = "the machine is at work, its run was killed, or the file was cut"
            remedy = find_remedy(Remedy.ASK_MACHINE, "; `{command}` completes it", suite="SUITE", judge="NAME")
            raise FormatError.at(self.path, 0, 0, f"{message}: {why}{remedy}")

    def begin_run(self) -> None:
        """Say that a machine begins to grade; a file without `end_run` behind it is not whole. Raises as `record`."""
        self._write_mark("begin")
        self.is_open = True

    def end_run(self) -> None:
        """Say that the machine ended, whatever it graded. Raises as `record`."""
        self._write_mark("end")
        self.is_open = False

    def check_writable(self) -> None:
        """
        Check that grades can be written.

        Raises:
            UsageError: They cannot.
        """
        try:
            self.place.check_appendable(PRIVATE)
        except OSError as error:
            remedy = "choose another folder with --progress"
            raise UsageError(f"{self.path}: grades cannot be kept here: {error.strerror or error}; {remedy}") from None

    def grade(self, pair: Pair, grade: float | None) -> None:
        """Give a document a grade, or take its grade away. Raises as `record`."""
        self.record(JudgeAnswer(*pair, grade))

    def record(self, answer: JudgeAnswer) -> None:
        """
        Keep *answer*, which replaces all that was said of the document before.

        Raises:
            FormatError: The file holds something else by now, and stays as it is.
            UsageError: The ids, or the texts of the answer, cannot be encoded.
            OSError: The answer could not be written.
        """
        self._append(answer)
        self._apply(answer)

    def undo(self) -> Pair | None:
        """Undo the last step; returns its document, None where there is no step. Raises as `record`."""
        if not self.steps:
            return None
        pair, before = self.steps[-1]
        self.record(replace(before or JudgeAnswer(*pair, None), undoes=True))
        return pair

    def _append(self, answer: JudgeAnswer) -> None:
        """Write *answer*, with what was judged, and wait until it is on the disk."""
        suite = question = None
        if self.questions is not None:
            suite, question = self.questions.suite, self.questions.fingerprints.get(answer.query)
        entry = _build_entry(replace(answer, suite=suite, question=question))
        try:
            line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:
            what = f"document {answer.document!r} of query {answer.query!r}"
            raise UsageError(f"{what} has an id or a comment that is no valid text") from None
        self._is_interrupted = True
        self._write_line(line)
        self._size += 1
        self._is_interrupted = False

    def _write_mark(self, name: str) -> None:
        """Append a line with the number of answers before it."""
        if self._is_interrupted:
            self._size = len(_parse_lines(self.path, self.place.read(), self.questions).answers)
            self._is_interrupted = False
        self._write_line(_format_mark(name, self._size))

    def _write_line(self, line: bytes) -> None:
        """Append *line*, and wait until it is on the disk."""
        with self.place.open_to_append(PRIVATE) as file:
            state = os.fstat(file.fileno())
            # It is read again only where somebody else wrote to it: a machine appends thousands of lines.
            if self._appended != (state.st_ino, state.st_size):
                line = self._prepare_end(file) + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            state = os.fstat(file.fileno())
            self._appended = (state.st_ino, state.st_size)

    def _prepare_end(self, file: IO[bytes]) -> bytes:
        """
        Remove a last line that was cut off; returns the line end that is missing, if any.

        Raises:
            FormatError: The file was replaced by something else since it was read.
        """
        file.seek(0)
        content = file.read()
        _parse_lines(self.path, content, self.questions)
        last = content.rpartition(b"\n")[2]
        if _is_cut(last):
            file.truncate(len(content) - len(last))
            return b""
        return b"\n" if last else b""

    def _apply(self, answer: JudgeAnswer) -> None:
        """Let *answer* count, as the next line of the file says."""
        pair = (answer.query, answer.document)
        if answer.undoes and self.steps:
            self.steps.pop()
        else:
            self.steps.append((pair, self.answers.get(pair)))
        self.outdated.discard(pair)
        self.outdated_quotes.pop(pair, None)
        self.is_machine = self.is_machine or answer.machine is not None
        if answer.is_empty:
            self.answers.pop(pair, None)
        else:
            self.answers[pair] = answer
        if answer.grade is None:
            self.grades.pop(pair, None)
        else:
            self.grades[pair] = answer.grade
            self.given.setdefault(pair, set()).add(answer.grade)
        if answer.replaces is not None:
            # The suite has it, and may be written another one.
            self.given.setdefault(pair, set()).add(answer.replaces)


def format_machine_file(grades: Mapping[Pair, float], machine: str) -> str:
    """The file of *machine* with *grades*, of which nothing more is known than that it gave them."""
    how = MachineAnswer(machine, version="", prompt="", shown="", reason="", input_tokens=0, output_tokens=0)
    entries = [_build_entry(JudgeAnswer(*pair, grade, machine=how)) for pair, grade in grades.items()]
    return format_json_lines([{"begin": 0}, *entries, {"end": len(grades)}])


def _build_entry(answer: JudgeAnswer) -> dict[str, Any]:
    """*answer* as the object of a line, without what it does not say."""
    entry: dict[str, Any] = {
        "query": answer.query,
        "document": answer.document,
        "grade": None if answer.grade is None else simplify_number(answer.grade),
    }
    if answer.cannot_tell:
        entry["cannot_tell"] = True
    if answer.comment:
        entry["comment"] = answer.comment
    for name, is_said in (("undo", answer.undoes), ("settles", answer.settles)):
        if is_said:
            entry[name] = True
    if answer.replaces is not None:
        entry["replaces"] = simplify_number(answer.replaces)
    if answer.quotes:
        entry["quotes"] = [
            {"text": quote.text, "grade": simplify_number(quote.grade), "from": quote.document}
            for quote in answer.quotes
        ]
    texts = {"suite": answer.suite, "question": answer.question, "time": answer.time}
    entry |= {name: text for name, text in texts.items() if text is not None}
    if answer.shown:
        entry["shown"] = dict(answer.shown)
    if answer.seen:
        entry["seen"] = answer.seen
    if answer.machine is not None:
        entry["machine"] = asdict(answer.machine)
    return entry


_BEGINNINGS = (b'{"query": "', b'{"begin": ', b'{"end": ')
"""How each line of the file begins."""

_MARK = re.compile(rb'\{"(begin|end)": (\d+)\}\r?')


def _format_mark(name: str, answers: int) -> bytes:
    return json.dumps({name: answers}).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class _ParsedLines:
    """The answers of a file with their lines, and whether its end is missing."""

    answers: list[tuple[int, JudgeAnswer]]
    is_open: bool
    is_cut: bool


def _parse_lines(path: Path, content: bytes, questions: Questions | None) -> _ParsedLines:
    """
    The lines of the file *path*.

    Raises:
        FormatError: A line is none of such a file, is that of another suite, or lines before it are missing.
    """
    *lines, last = content.split(b"\n")
    is_cut = _is_cut(last)
    if last and not is_cut:
        lines.append(last)
    entries: list[tuple[int, JudgeAnswer]] = []
    is_open = False
    for number, line in enumerate(lines, start=1):
        mark = _MARK.fullmatch(line)
        if mark is None:
            entries.append((number, _parse_line(path, number, line)))
            continue
        is_open = mark[1] == b"begin"
        if int(mark[2]) != len(entries):
            found = f"found {count(len(entries), 'answer')} before this line, expected {int(mark[2]):,}"
            raise FormatError.at(path, number, 1, f"{found}: lines are missing or were added; restore the file")
    if questions is None:
        return _ParsedLines(entries, is_open, is_cut)
    for number, entry in entries:
        if entry.suite not in (None, questions.suite):
            raise FormatError.at(
                path,
                number,
                1,
                f"found a grade of the suite {entry.suite!r}, expected grades of {questions.suite!r}; choose another "
                f"folder with --progress, or, if the suite was renamed, rename it in this file",
            )
    return _ParsedLines(entries, is_open, is_cut)


def _is_cut(line: bytes) -> bool:
    """Whether *line*, the last of a file and without an end, is the beginning of a line of ours that was cut off."""
    try:
        parse_json(line.decode())
    except ValueError:
        return bool(line) and any(line[: len(begin)] == begin[: len(line)] for begin in _BEGINNINGS)
    return False


def _parse_line(path: Path, number: int, line: bytes) -> JudgeAnswer:
    try:
        entry = parse_json(line.decode())
        answer = JudgeAnswer(
            query=str(entry["query"]),
            document=str(entry["document"]),
            grade=None if entry["grade"] is None else read_json_grade(entry["grade"]),
            cannot_tell=entry.get("cannot_tell") is True,
            comment=str(entry.get("comment", "")),
            undoes=entry.get("undo") is True,
            settles=entry.get("settles") is True,
            suite=None if entry.get("suite") is None else str(entry["suite"]),
            question=None if entry.get("question") is None else str(entry["question"]),
            machine=None if entry.get("machine") is None else _read_machine(entry["machine"]),
            replaces=None if entry.get("replaces") is None else read_json_grade(entry["replaces"]),
            time=None if entry.get("time") is None else datetime.fromisoformat(entry["time"]).isoformat(),
            shown={str(name): str(value) for name, value in entry.get("shown", {}).items()},
            quotes=tuple(map(_read_quote, entry.get("quotes", ()))),
            seen=str(entry.get("seen", "")),
        )
        # JSON can hold lone surrogates, which no file of judgments can.
        quoted = [text for quote in answer.quotes for text in (quote.text, quote.document)]
        "".join((answer.query, answer.document, answer.comment, answer.suite or "", *quoted)).encode()
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        expected = 'expected a line such as {"query": "q", "document": "d", "grade": 2}'
        raise FormatError.at(path, number, 1, f"this is no grade that was kept; {expected}") from None
    return answer


def _read_machine(entry: Any) -> MachineAnswer:
    """How a machine came to its grade; TypeError or KeyError for what does not say it."""
    texts = {name: str(entry[name]) for name in ("model", "version", "prompt", "shown", "reason")}
    return MachineAnswer(**texts, input_tokens=int(entry["input_tokens"]), output_tokens=int(entry["output_tokens"]))


def _read_quote(entry: Any) -> Quote:
    """A quote that was marked; TypeError, KeyError or ValueError for what is none."""
    if not str(entry["text"]).strip():
        raise ValueError
    return make_quote(str(entry["text"]), read_json_grade(entry["grade"]), str(entry["from"]))


def read_json_grade(value: Any) -> float:
    """A grade from JSON; ValueError for what is no finite number."""
    if isinstance(value, bool) or not math.isfinite(float(value)):
        raise ValueError
    return float(value)


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
        quotes = sum(judge_file.outdated_quotes.values())
        left_out = []
        if judge_file.outdated:
            left_out.append(count(len(judge_file.outdated), "grade"))
        if quotes:
            left_out.append(count(quotes, "quote"))
        if left_out:
            pairs = judge_file.outdated.union(judge_file.outdated_quotes)
            queries = counted(sorted({query for query, _ in pairs}), "query")
            sentences.append(
                f"left out {' and '.join(left_out)} of {name}, given before the text or params changed: {queries}; "
                "grade again"
            )
    return sentences
