"""What ``relevance tune`` changes in a suite: the values of today, or a request by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.config import Configs
from harness.drafts.suite_texts import FileChange, SuiteTexts
from harness.errors import UsageError
from harness.extensions.tuning.document import write_tuning_headline
from harness.extensions.tuning.model import TuningDecision, TuningReport
from harness.options import RunOptions
from harness.suites import load_suite
from harness.words import count, listed


@dataclass(frozen=True, slots=True)
class SuiteChanges:
    """How the choice of a tuning gets into its suite, whose *texts* were read before the first trial."""

    texts: SuiteTexts
    is_applied: bool
    """Whether the values of today become the chosen ones, where these are a gain."""
    candidate: str | None
    """The name of the request that is added; None for none."""

    @classmethod
    def prepare(cls, path: Path, run: RunOptions, *, is_applied: bool, candidate: str | None) -> SuiteChanges:
        """
        Read the suite at *path*, and check what can be refused before the first trial.

        Raises:
            InputError: The suite is wrong.
            UsageError: Both are asked for, or the suite has a request of that name.
        """
        if is_applied and candidate is not None:
            raise UsageError("found --apply and --candidate, expected one of them: applied, both requests are the same")
        suite = load_suite(path, os.environ, configs=Configs.from_options(run, os.environ))
        if candidate is not None and candidate in suite.requests:
            raise UsageError(f"{path}: found the request {candidate!r} already, expected another name for --candidate")
        return cls(SuiteTexts.read(suite), is_applied, candidate)

    def plan(self, report: TuningReport) -> list[FileChange]:
        """
        The changes with the choice of *report*; none where there is no choice, or no gain for `--apply`.

        Raises:
            UsageError: The suite cannot have it without changing more, and it is to be written.
        """
        if report.decision in (TuningDecision.TODAY, TuningDecision.OPEN):
            return []
        values = report.chosen.values
        if self.candidate is not None:
            comment = f"Tuned from {report.request}: {write_tuning_headline(report)}."
            return [self.texts.add_request(self.candidate, report.request, values, comment)]
        if report.decision is not TuningDecision.GAIN or (self.is_applied and report.broken):
            return []
        try:
            return self.texts.put_values(report.request, values)
        except UsageError:
            if self.is_applied:
                raise
            # The report has the values; only the change cannot be shown.
            return []

    def finish(self, report: TuningReport, changes: Sequence[FileChange]) -> Iterator[str]:
        """
        Write *changes* if that was asked for, and say what was written, or how it can be.

        Raises:
            UsageError: A file changed since it was read, or cannot be written.
        """
        if not self.is_applied and self.candidate is None:
            for change in changes:
                yield from change.list_diff()
            if changes and report.broken:
                yield explain_broken(report)
            elif changes:
                yield "--apply writes this change; --candidate NAME adds the request to the suite by a name"
            return
        if not changes:
            yield f"nothing was written: {explain_nothing(report)}"
            return
        self.texts.write(changes)
        files = listed([str(change.path) for change in changes])
        if self.candidate is None:
            yield f"wrote the values to {files}"
            return
        written = f"wrote the request {self.candidate} to {files}"
        if report.decision is not TuningDecision.GAIN:
            # A comparison on all queries, most of which chose the request, would look like a gain.
            yield f"{written}; {report.decision}"
            return
        sides = f"request:{report.request} request:{self.candidate}"
        yield f"{written}: relevance compare {sides} --suite {report.suite}"


def explain_nothing(report: TuningReport) -> str:
    """Why the choice of *report* is not written."""
    if report.decision is TuningDecision.TODAY:
        return "today's request stays"
    if report.decision is TuningDecision.OPEN:
        return "the queries of the hold-out have no answers"
    if report.broken:
        return explain_broken(report)
    return "no gain is shown"


def explain_broken(report: TuningReport) -> str:
    """Why `--apply` does not write the choice of *report* though it is a gain."""
    thresholds = count(len(report.broken), "threshold")
    return (
        f"--apply does not write a choice that breaks {thresholds} which today's request holds; --candidate NAME adds "
        "the request to the suite, to compare it"
    )
