"""The figures of each tag in a table: which lines it has, and what of them is left out."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model import MeasureSummary, Status, SuiteReport, TagSummary
from harness.report.figures import counted_text, score_text
from harness.statistics.means import are_weighted

__all__ = ["MEASURES", "TAGS", "TagRow", "TagTable", "figure_text", "tag_table"]


TAGS = 12
"""Tags that have a line, unless somebody asks for another number."""

MEASURES = 5
"""Measures that have a column: the suite's own come before those that only thresholds name."""


@dataclass(frozen=True, slots=True)
class TagRow:
    """
    One line: the queries with *tag*, where *tag* is None those of *name*, "all" or "no tag".

    *share* is what they weigh of all, *figures* are those of the table's measures, *statuses* came of the thresholds
    `for` the tag.
    """

    name: str
    tag: str | None
    queries: int
    share: float
    figures: tuple[MeasureSummary, ...]
    statuses: tuple[Status, ...] = ()


@dataclass(frozen=True, slots=True)
class TagTable:
    """
    All lines: all queries, each tag, the queries without one.

    *weighted* says that queries do not all weigh the same, *held* that a tag has thresholds. *remarks* are sentences on
    what the table does not show.
    """

    measures: tuple[str, ...]
    rows: tuple[TagRow, ...]
    weighted: bool
    held: bool
    remarks: tuple[str, ...]


def tag_table(suite: SuiteReport, *, most: int = TAGS, measures: int = MEASURES) -> TagTable | None:
    """
    The table of *suite*, None where no query has a tag.

    At most *most* tags have a line, those with thresholds before others, and then those that weigh more.
    """
    tagged = [summary for summary in suite.tags if summary.tag is not None]
    if not tagged:
        return None
    kept = {summary.tag for summary in sorted(tagged, key=lambda summary: not summary.verdicts)[:most]}
    shown = suite.summaries[:measures]
    statuses = {verdict.id: verdict.status for verdict in suite.verdicts}
    rows = [_tag_row(one, len(shown), statuses) for one in suite.tags if one.tag is None or one.tag in kept]
    return TagTable(
        measures=tuple(summary.measure for summary in shown),
        rows=(TagRow("all", None, len(suite.queries), 1.0, shown), *rows),
        weighted=are_weighted(query.weight for query in suite.queries),
        held=any(row.statuses for row in rows),
        remarks=tuple(_remarks(suite, len(tagged) - len(kept), len(suite.summaries) - len(shown))),
    )


def figure_text(row: TagRow, summary: MeasureSummary) -> str:
    """The mean, and over how many queries where some were left out."""
    text = score_text(summary.mean)
    return text if summary.counted in (0, row.queries) else f"{text} of {summary.counted:,}"


def _tag_row(summary: TagSummary, measures: int, statuses: dict[str, Status]) -> TagRow:
    return TagRow(
        name="no tag" if summary.tag is None else summary.tag,
        tag=summary.tag,
        queries=summary.queries,
        share=summary.share,
        figures=summary.summaries[:measures],
        statuses=tuple(statuses[verdict] for verdict in summary.verdicts if verdict in statuses),
    )


def _remarks(suite: SuiteReport, tags: int, measures: int) -> list[str]:
    several = sum(len(query.tags) > 1 for query in suite.queries)
    remarks = []
    if several:
        verb = "has several tags and is" if several == 1 else "have several tags and are"
        remarks.append(f"{counted_text(several, 'query')} {verb} in the line of each")
    left_out = [counted_text(count, noun) for count, noun in ((tags, "more tag"), (measures, "more measure")) if count]
    if left_out:
        remarks.append(f"{' and '.join(left_out)} in the JSON report")
    return remarks
