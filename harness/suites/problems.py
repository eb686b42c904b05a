"""All that is wrong in one suite, collected while it is read, so that nothing is told one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.errors import Problem
from harness.files.opening import Source
from harness.model import Mark
from harness.suites.nodes import Written


@dataclass(slots=True)
class Problems:
    """What was found in the suite *source* is the text of, and in the files that it names."""

    source: Source
    found: list[Problem] = field(default_factory=list)
    _known: set[Problem] = field(default_factory=set)

    def at(self, mark: Mark, message: str) -> None:
        """Note a problem at a place of the suite, or of a file that it names; the same problem is noted once."""
        if mark.path == self.source.path:
            problem = self.source.problem(mark.line, mark.column, message)
        else:
            problem = Problem(mark.path, mark.line, mark.column, message)
        if problem not in self._known:
            self._known.add(problem)
            self.found.append(problem)

    def without_excerpt(self, mark: Mark, message: str) -> None:
        """Note a problem whose line holds what must not be printed."""
        self.found.append(Problem(mark.path, mark.line, mark.column, message))

    def others(self, message: str, count: int) -> None:
        """Say of the suite as a whole that *count* more problems of a kind are not told."""
        self.found.append(Problem(self.source.path, 0, 0, message, count=count))

    def inside(self, scalar: Written, offset: int, message: str) -> None:
        """Note a problem at the character *offset* of a scalar, or at its begin where its text is not the file's."""
        begin = scalar.mark.column - 1 + (0 if scalar.plain else 1)
        as_in_file = scalar == scalar.raw and self.source.line(scalar.mark.line)[begin:].startswith(scalar.raw)
        column = begin + 1 + offset if as_in_file and offset > 0 else scalar.mark.column
        self.found.append(self.source.problem(scalar.mark.line, column, message))

    def first(self, most: int) -> list[Problem]:
        """The first *most* problems by their place, and how many more there are."""
        told = sorted(self.found)[:most]
        count = sum(problem.count for problem in self.found) - sum(problem.count for problem in told)
        if not count:
            return told
        more = "1 more problem is" if count == 1 else f"{count:,} more problems are"
        return [*told, Problem(self.source.path, 0, 0, f"{more} not told", count=count)]

    def extend(self, problems: Iterable[Problem]) -> None:
        """Take over what was found elsewhere."""
        self.found.extend(problems)
