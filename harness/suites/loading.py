"""A suite file and the files that it names -> a checked `Suite`, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import Problem, SuiteError
from harness.masking import Masker
from harness.model import Suite
from harness.suites.assembling import Parts
from harness.suites.checking import NO_JUDGMENTS, check_suite
from harness.suites.fixtures import FixtureFile
from harness.suites.judging import Judgments
from harness.suites.reading import Reading, read_suite_file
from harness.suites.targets import check_config

MOST_TOLD = 50
"""Problems of one suite that are told; who has more of them mends the first."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """
    A *suite* with all that is wrong with it, so that it must not run before that was looked at.

    What is wrong with its judgments, and follows from them, is in the problems of *judgments*, all else in those of
    its *reading*. *brought* is what its fixture holds.
    """

    suite: Suite
    reading: Reading
    judgments: Judgments
    brought: FixtureFile | None

    def require_sound(self, *, but: Collection[Problem] = ()) -> None:
        """
        Fail where anything is wrong but what is in the problems of *judgments*, and what is among *but*.

        Raises:
            SuiteError: With the first of all problems, variables masked.
        """
        problems = self.reading.problems
        if any(one not in but for one in problems.found):
            masker = Masker(self.reading.variables)
            raise SuiteError([replace(one, message=masker.mask(one.message)) for one in problems.first(MOST_TOLD)])


def load(
    path: Path, environ: Mapping[str, str] | None, *, root: Path | None = None, needs_judgments: bool = True
) -> Suite:
    """As `harness.suites.load_suite` says."""
    assembled = assemble(path, environ, root=root)
    found = assembled.judgments.problems.found
    assembled.reading.problems.extend(one for one in found if needs_judgments or one.message != NO_JUDGMENTS)
    assembled.require_sound()
    return assembled.suite


def assemble(path: Path, environ: Mapping[str, str] | None, *, root: Path | None = None) -> Assembled:
    """The suite as far as it can be read, with its problems; arguments are those of `harness.suites.load_suite`."""
    reading = read_suite_file(path, environ)
    parts = Parts(reading, path, root)
    suite = parts.suite()
    check_suite(suite, parts)
    check_config(path.parent, reading.problems)
    return Assembled(suite, reading, parts.judgments, parts.brought)
