"""What the lines of a judgment or run file hold, and what is found wrong in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.errors import FormatError, Problem
from harness.formats.opening import Form, form_of, open_bytes
from harness.sources import Source

MOST_PROBLEMS = 20
"""Problems of one file that are told; the number of the others is."""


@dataclass(frozen=True, slots=True)
class Record:
    """
    One line: *value* is the grade or score as the file has it, text or a number, and empty for a document that is to be
    judged; *subtopic* is empty in a run. *column* is where the record begins.
    """

    line: int
    query: str
    document: str
    value: str | float
    subtopic: str = ""
    column: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """What the lines of a *kind* of file hold: TREC's columns by name, and the name of the one that counts."""

    kind: str
    value: str
    trec_columns: tuple[str, ...]

    @property
    def named_columns(self) -> tuple[str, str, str]:
        """The columns of a file that names them."""
        return ("query", "document", self.value)


JUDGMENTS = Layout("judgment", "grade", ("query", "iteration", "document", "grade"))
RUNS = Layout("run", "score", ("query", "Q0", "document", "rank", "score", "tag"))


@dataclass(slots=True)
class Findings:
    """Problems of one file, the first *most* of them in full."""

    name: str
    problems: list[Problem] = field(default_factory=list)
    others: int = 0
    most: int = MOST_PROBLEMS

    def add(self, line: int, message: str, text: str = "", column: int = 1) -> None:
        """Note what is wrong in *line*, whose text is *text*."""
        if len(self.problems) >= self.most:
            self.others += 1
            return
        excerpt = excerpt_of(line, column, text) if text else ""
        self.problems.append(Problem(self.name, line, column if line else 0, message, excerpt))

    def have_one_cause(self, line: int, message: str, text: str) -> None:
        """Note what is wrong with the whole file, in place of what was found line by line; *line* shows it."""
        self.problems, self.others = [], 0
        self.add(line, message, text)

    def raise_any(self, path: Path) -> None:
        """
        Fail where anything was found in the file *path*.

        Raises:
            FormatError: With all that was found, each with its line.
        """
        self.problems = with_excerpts(path, self.problems)
        if self.others:
            more = "1 more problem is" if self.others == 1 else f"{self.others} more problems are"
            self.problems.append(Problem(self.name, 0, 0, f"{more} not told", count=self.others))
        if self.problems:
            raise FormatError(self.problems)


def with_excerpts(path: Path, problems: list[Problem]) -> list[Problem]:
    """The problems of a file of text, those without an excerpt with their line, which is read again for that."""
    wanted = {problem.line for problem in problems if problem.line and not problem.excerpt}
    if not wanted or form_of(path) is Form.PARQUET:
        return problems
    with open_bytes(path, problems[0].path) as file:
        numbered = zip(range(1, max(wanted) + 1), file, strict=False)
        lines = {number: line.decode(errors="replace").rstrip("\r\n") for number, line in numbered if number in wanted}
    return [
        replace(problem, excerpt=excerpt_of(problem.line, problem.column, lines[problem.line]))
        if problem.line in lines
        else problem
        for problem in problems
    ]


def excerpt_of(line: int, column: int, text: str) -> str:
    """The excerpt of one line, whose text is known."""
    return Source("", "\n" * (line - 1) + text).excerpt(line, column)
