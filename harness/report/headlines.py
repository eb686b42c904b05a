"""What a report comes to, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harness.model import Report, Status, Verdict
from harness.report.attention import BAD, unanswered_queries
from harness.report.figures import counted_text, tally_text
from harness.report.overview import suites_text

__all__ = ["closing", "headline", "thresholds_headline"]


def headline(report: Report) -> str:
    """Whether all thresholds hold; where none fails but the run does, why."""
    verdicts = [verdict for suite in report.suites for verdict in suite.verdicts]
    unanswered = sum(len(unanswered_queries(suite)) for suite in report.suites)
    return thresholds_headline(verdicts, unanswered, report.exit_status)


def thresholds_headline(verdicts: Iterable[Verdict], unanswered: int, exit_status: int) -> str:
    """The same of *verdicts*, of the number of queries *unanswered*, and of the exit status that they came to."""
    counts = Counter(verdict.status for verdict in verdicts)
    bad = sum(counts[status] for status in BAD)
    if bad:
        return f"{counted_text(bad, 'threshold')} of {sum(counts.values()):,} did not hold"
    if unanswered and exit_status:
        return f"{counted_text(unanswered, 'query')} had no answer"
    if not counts:
        return "No threshold was decided"
    waived = counts[Status.XFAILED]
    held = f"{counted_text(sum(counts.values()), 'threshold')}, all hold"
    return f"{held} but {counted_text(waived, 'expected failure')}" if waived else held


def closing(report: Report) -> str:
    """How many suites and queries there were, and how the thresholds came out."""
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    queries = sum(len(suite.queries) for suite in report.suites)
    return f"{suites_text(report)}, {counted_text(queries, 'query')}: {tally_text(statuses)}"
