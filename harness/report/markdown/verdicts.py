"""Verdicts in Markdown: a row each, those that need attention first, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.model import Status, Verdict
from harness.report.markdown.escape import MOST_TEXT, code, escape, table
from harness.report.run_sentences import LOOKED_AT
from harness.report.sentences import observed_text, qualified_text, required_text, waiver_not_in_reason
from harness.words import count

__all__ = ["THRESHOLDS_SHOWN", "verdicts_markdown"]


THRESHOLDS_SHOWN = 100

WORST_FIRST = (
    Status.ERROR,
    Status.INCONCLUSIVE,
    Status.FAILED,
    Status.WARNED,
    Status.XPASSED,
    Status.XFAILED,
    Status.NOT_DECIDED,
    Status.PASSED,
    Status.SKIPPED,
)


def verdicts_markdown(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Paragraphs: a table, and how many more there are; the passed thresholds of single queries are only counted."""
    listed = [one for one in verdicts if one.query is None or one.status is not Status.PASSED]
    if listed:
        yield _table(sorted(listed, key=lambda verdict: WORST_FIRST.index(verdict.status)))
    if len(listed) > THRESHOLDS_SHOWN:
        yield f"and {count(len(listed) - THRESHOLDS_SHOWN, 'more threshold')}"
    if len(listed) < len(verdicts):
        yield f"{count(len(verdicts) - len(listed), 'threshold')} of single queries passed"


def _table(verdicts: Sequence[Verdict]) -> str:
    rows = [
        [
            f"**{verdict.status.upper()}**" if verdict.status in LOOKED_AT else str(verdict.status),
            code(verdict.threshold) + (f" (query {code(verdict.query)})" if verdict.query is not None else ""),
            escape(observed_text(verdict)),
            escape(required_text(verdict)),
            _why(verdict),
        ]
        for verdict in verdicts[:THRESHOLDS_SHOWN]
    ]
    return table(["verdict", "threshold", "observed", "required", "why"], rows, right=["observed", "required"])


def _why(verdict: Verdict) -> str:
    """For a pass its caveat; else the reason, the waiver, and the line of the suite."""
    if verdict.status in (Status.PASSED, Status.SKIPPED):
        return escape(qualified_text(verdict), most=MOST_TEXT)
    waiver = waiver_not_in_reason(verdict)
    reason = verdict.reason if waiver is None else f"{verdict.reason}; waived: {waiver}"
    place = f" {code(str(verdict.mark))}" if verdict.mark.line else ""
    return f"{escape(reason, most=MOST_TEXT)}{place}"
