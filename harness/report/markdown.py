"""
A report as Markdown, for GitHub's job summary and for whoever posts it elsewhere.

The verdict is in the first line. What would make it larger than GitHub takes is left out, the worst last, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.model import Report, Status, SuiteReport, Verdict
from harness.report.attention import LOOKED_AT, Attention, attention_of, concerned_text, unanswered_queries
from harness.report.figures import counted_text, observed_text, required_text, score_text, untold_waiver
from harness.report.headlines import closing, headline
from harness.report.markdown_escape import block, code, escape
from harness.report.markdown_queries import MOST_TEXT, query_markdown
from harness.report.markdown_tables import table
from harness.report.outcome_text import outcome_lines

__all__ = ["MOST_BYTES", "render", "render_refusal"]

MOST_BYTES = 1024 * 1024
"""What GitHub takes of one step; it shows nothing at all of a larger summary."""

CLOSING_BYTES = 400
"""Kept free for the sentence on what was left out."""

THRESHOLDS_SHOWN = 100
NOTES_SHOWN = 30
REFUSAL_SHOWN = 20_000

WORST_FIRST = (
    Status.ERROR,
    Status.FAILED,
    Status.WARNED,
    Status.XPASSED,
    Status.XFAILED,
    Status.PASSED,
    Status.SKIPPED,
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part that is in or out as a whole: a suite, or a query of one; those of a lower *turn* come in first."""

    turn: int
    noun: str
    text: str


def render(report: Report, *, limit: int = MOST_BYTES) -> str:
    """*report* in at most *limit* bytes of UTF-8, of which its first lines alone take a few hundred."""
    head = f"## {_sign(report)} {headline(report)}\n\n{closing(report)}\n"
    pieces = [piece for suite in report.suites for piece in _pieces(suite)]
    chosen = _fitting(pieces, limit - len(head.encode()) - CLOSING_BYTES)
    left_out = [piece.noun for place, piece in enumerate(pieces) if place not in chosen]
    parts = [head, *(pieces[place].text for place in sorted(chosen))]
    if left_out:
        counts = [counted_text(left_out.count(noun), noun) for noun in dict.fromkeys(left_out)]
        parts.append(f"Left out, for no more would be shown: {' and '.join(counts)}. An HTML or JSON report has all.\n")
    return "\n".join(parts)


def render_refusal(text: str) -> str:
    """Why nothing ran, as it would stand on a terminal."""
    return f"## ❌ Nothing was decided\n\n{block(text, most=REFUSAL_SHOWN)}\n"


def _sign(report: Report) -> str:
    if report.exit_status:
        return "❌"
    return "✅" if any(suite.verdicts for suite in report.suites) else "⚠️"


def _fitting(pieces: Sequence[_Piece], room: int) -> set[int]:
    """Which of *pieces* there is room for: none of a higher turn before all of a lower one."""
    chosen = set()
    for place in sorted(range(len(pieces)), key=lambda place: pieces[place].turn):
        room -= len(pieces[place].text.encode()) + 1
        if room < 0:
            break
        chosen.add(place)
    return chosen


def _pieces(suite: SuiteReport) -> Iterator[_Piece]:
    attention = attention_of(suite)
    calm = not attention.verdicts and not unanswered_queries(suite)
    yield _Piece(int(calm), "suite", "\n\n".join(_suite_parts(suite, attention)) + "\n")
    for turn, query in enumerate(attention.queries, start=2):
        yield _Piece(turn, "query", query_markdown(query, concerned_text(query, attention.verdicts)))


# ------------------------------------------------------------------------------------------------ a suite


def _suite_parts(suite: SuiteReport, attention: Attention) -> Iterator[str]:
    yield f"### {escape(suite.name)}"
    yield _facts(suite)
    listed = [one for one in suite.verdicts if one.query is None or one.status is not Status.PASSED]
    if listed:
        yield _thresholds(sorted(listed, key=lambda verdict: WORST_FIRST.index(verdict.status)))
    if len(listed) > THRESHOLDS_SHOWN:
        yield f"and {counted_text(len(listed) - THRESHOLDS_SHOWN, 'more threshold')}"
    unlisted = len(suite.verdicts) - len(listed)
    if unlisted:
        yield f"{counted_text(unlisted, 'threshold')} of single queries passed"
    if suite.summaries:
        yield _measures(suite)
    notes = [*outcome_lines(suite.queries), *suite.notes]
    if notes:
        yield "\n".join(f"- {escape(note, most=MOST_TEXT)}" for note in notes[:NOTES_SHOWN])
    if len(notes) > NOTES_SHOWN:
        yield f"and {counted_text(len(notes) - NOTES_SHOWN, 'more note')}"
    if attention.left:
        yield f"{counted_text(attention.left, 'more query')} to look at: an HTML report shows each"


def _facts(suite: SuiteReport) -> str:
    stated = " (as stated, not asked)" if suite.engine.stated else ""
    index = f", index {code(suite.index)}" if suite.index is not None else ""
    deselected = f", {suite.deselected:,} more not selected" if suite.deselected else ""
    return (
        f"{code(suite.path)}: {escape(str(suite.engine))}{stated} at {escape(suite.cluster)}{index}, request "
        f"{code(suite.request)}, gain {escape(suite.gain)}, profile {suite.profile}, "
        f"{counted_text(len(suite.queries), 'query')}{deselected}"
    )


def _thresholds(verdicts: list[Verdict]) -> str:
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
    """Nothing where all is well; else the reason, what the waiver says, and the line of the suite."""
    if verdict.status in (Status.PASSED, Status.SKIPPED):
        return ""
    waiver = untold_waiver(verdict)
    reason = verdict.reason if waiver is None else f"{verdict.reason}; waived: {waiver}"
    place = f" {code(str(verdict.mark))}" if verdict.mark.line else ""
    return f"{escape(reason, most=MOST_TEXT)}{place}"


def _measures(suite: SuiteReport) -> str:
    figures = ["mean", "median", "least", "greatest", "counted", "left out"]
    rows = []
    for summary in suite.summaries:
        values = (summary.mean, summary.median, summary.least, summary.greatest)
        cells = [*map(score_text, values), f"{summary.counted:,}", f"{summary.left_out:,}"]
        rows.append([code(summary.measure), escape(summary.gain), *cells])
    return table(["measure", "gain", *figures], rows, right=figures)
