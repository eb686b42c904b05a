"""
Grades that are given while rankings are seen: into the judge's own file, which `relevance judge` goes on with.

Each line says that ranks were seen. The page counts such grades, and shows the difference without them.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.agreement import Pair
from harness.config import Configs
from harness.errors import UsageError
from harness.extensions.judging.judge_lock import lock_judge_file
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.session import GradeChoice, describe_choices, list_choices
from harness.extensions.judging.texts import fingerprint_texts
from harness.files.judge_files import JudgeFile, build_judge_path, fingerprint_questions
from harness.model.judging import SEEN_RANKS, JudgeAnswer
from harness.model.suite import Suite
from harness.suites import load_suite
from harness.suites.nothing import is_right
from harness.words import count, shorten


@dataclass(slots=True)
class Grading:
    """The grades of one judge on a suite, whose *original* judgments are those of its files."""

    original: Suite
    choices: tuple[GradeChoice, ...]
    file: JudgeFile | None
    """None where no judge is named: then nothing is graded."""
    given: set[Pair] = field(default_factory=set)
    """What was graded in this session."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def prepare(cls, suite: Suite, judge: str | None, configs: Configs, resources: ExitStack) -> Grading:
        """
        Open the file of *judge*, which nobody else writes until *resources* are closed.

        Raises:
            FormatError: The file is none of grades.
            UsageError: Another command grades as this judge, or the file cannot be written.
        """
        choices = list_choices(suite)
        if judge is None:
            return cls(suite, choices, None)
        path = build_judge_path(Path(suite.path), judge)
        file = JudgeFile(path, roots=suite.roots)
        resources.enter_context(lock_judge_file(file.place, judge))
        # As those who judge are asked: with variables as they are written.
        written = load_suite(Path(suite.path), None, configs=configs, needs_judgments=False)
        file = JudgeFile.read(path, fingerprint_questions(written), suite.roots)
        if file.is_machine:
            raise UsageError(f"{path}: found grades of a machine, expected those of a person; choose another --judge")
        file.check_writable()
        return cls(suite, choices, file)

    def list_judgments(self, *, is_without_own: bool = False) -> dict[str, Mapping[str, float]]:
        """The judgments of each query with those of the judge; without those of this session if *is_without_own*."""
        judgments: dict[str, Mapping[str, float]] = {query.id: query.judgments for query in self.original.queries}
        if self.file is None:
            return judgments
        for (query, document), grade in self.file.grades.items():
            is_left_out = is_without_own and (query, document) in self.given
            if query in judgments and not is_left_out:
                judgments[query] = {**judgments[query], document: grade}
        return judgments

    def record(self, pair: Pair, grade: Any, title: str | None, suite: Suite) -> str:
        """
        Keep a grade, or take it away where it is None; returns a sentence on that.

        Args:
            pair: The ids of the query and the document.
            grade: As the page sent it.
            title: Of the document, as it is shown.
            suite: Says how documents are shown.

        Raises:
            UsageError: Nobody judges, or it is none of the grades.
            OSError: It could not be written.
        """
        if self.file is None:
            raise UsageError("nobody judges here: start with --judge NAME to grade")
        grades = [choice.grade for choice in self.choices]
        is_number = isinstance(grade, int | float) and not isinstance(grade, bool)
        if grade is not None and not (is_number and grade in grades):
            found = shorten(repr(grade))
            raise UsageError(f"found {found} as a grade, expected one of {describe_choices(self.choices)}")
        nothing = {query.id for query in self.original.queries if query.nothing}
        if grade is not None and pair[0] in nothing and is_right(suite.gain, float(grade)):
            raise UsageError(f"the suite says that no result is right for {pair[0]!r}; expected a grade without gain")
        document = PooledDocument(pair[0], "", pair[1], {}, title=title)
        before = self.file.answers.get(pair)
        answer = JudgeAnswer(
            *pair,
            None if grade is None else float(grade),
            quotes=() if before is None else before.quotes,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            shown=fingerprint_texts(document, suite.display),
            seen=SEEN_RANKS,
        )
        with self._lock:
            self.file.record(answer)
            self._note(pair)
        name = title or pair[1]
        if grade is None:
            return f"The grade of {name} was taken away."
        choice = next(choice for choice in self.choices if choice.grade == grade)
        return f"Graded {describe_choices([choice])}: {name}."

    def offer_blind_page(self) -> str:
        """A sentence on the grades of this session, with the command that asks another judge without ranks."""
        if not self.given:
            return ""
        queries = [word for query in sorted({pair[0] for pair in self.given}) for word in ("--query", query)]
        command = shlex.join(["relevance", "judge", "page", self.original.path, "--blind", "--regrade", *queries])
        grades = count(len(self.given), "grade")
        return f" {grades} of this session: whoever gave them saw ranks. Without ranks: {command} --judge OTHER"

    def undo(self) -> Pair:
        """
        Undo the last grade of this session; returns its document.

        Raises:
            UsageError: There is none.
        """
        with self._lock:
            pair = None if self.file is None else self.file.undo()
            if pair is None:
                raise UsageError("There is nothing to undo.")
            self._note(pair)
        return pair

    def _note(self, pair: Pair) -> None:
        """Count *pair* as graded in this session, unless it is as it was before."""
        assert self.file is not None
        if any(step[0] == pair for step in self.file.steps):
            self.given.add(pair)
        else:
            self.given.discard(pair)
