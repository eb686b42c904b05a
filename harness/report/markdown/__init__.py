"""A report as Markdown, for GitHub's job summary and for whoever posts it elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from harness.model import Report, SuiteReport
from harness.report.attention import Attention, attention_of, concerned_text, unanswered_queries
from harness.report.figures import counted_text, mean_heading, score_text
from harness.report.headlines import closing, headline
from harness.report.markdown.escape import block, code, escape
from harness.report.markdown.notes import notes_markdown
from harness.report.markdown.overview import overview_markdown
from harness.report.markdown.pieces import MOST_BYTES, Piece, fitted, sign
from harness.report.markdown.queries import query_markdown
from harness.report.markdown.tables import table
from harness.report.markdown.tags import tags_markdown
from harness.report.markdown.verdicts import verdicts_markdown
from harness.report.outcome_text import outcome_lines
from harness.report.overview import cell_names, overview

__all__ = ["render", "render_refusal"]


REFUSAL_SHOWN = 20_000


def render(report: Report, *, limit: int = MOST_BYTES) -> str:
    """*report* in at most *limit* bytes of UTF-8, of which its first lines alone take a few hundred."""
    head = f"## {sign(report.exit_status, decided=any(suite.verdicts for suite in report.suites))} {headline(report)}"
    named = zip(cell_names(report.suites), report.suites, strict=True)
    pieces = [piece for name, suite in named for piece in _pieces(name, suite)]
    cells = overview(report)
    if cells is not None:
        pieces.insert(0, Piece(0, "table", overview_markdown(cells)))
    return fitted(f"{head}\n\n{closing(report)}\n", pieces, limit)


def render_refusal(text: str) -> str:
    """Why nothing ran, as it would stand on a terminal."""
    return f"## ❌ Nothing was decided\n\n{block(text, most=REFUSAL_SHOWN)}\n"


def _pieces(name: str, suite: SuiteReport) -> Iterator[Piece]:
    attention = attention_of(suite)
    calm = not attention.verdicts and not unanswered_queries(suite)
    yield Piece(int(calm), "suite", "\n\n".join(_suite_parts(name, suite, attention)) + "\n")
    for turn, query in enumerate(attention.queries, start=2):
        yield Piece(turn, "query", query_markdown(query, concerned_text(query, attention.verdicts)))


# ------------------------------------------------------------------------------------------------ a suite


def _suite_parts(name: str, suite: SuiteReport, attention: Attention) -> Iterator[str]:
    yield f"### {escape(name)}"
    yield _facts(suite)
    yield from verdicts_markdown(suite.verdicts)
    if suite.summaries:
        yield _measures(suite)
    yield from tags_markdown(suite)
    yield from notes_markdown([*outcome_lines(suite.queries), *suite.notes])
    if attention.left:
        yield f"{counted_text(attention.left, 'more query')} to look at: an HTML report shows each"


def _facts(suite: SuiteReport) -> str:
    stated = " (as stated, not asked)" if suite.engine.stated else ""
    index = f", index {code(suite.index)}" if suite.index is not None else ""
    deselected = f", {suite.deselected:,} more not selected" if suite.deselected else ""
    compared = f", held against the baseline of {escape(suite.baseline.created)}" if suite.baseline else ""
    return (
        f"{code(suite.path)}: {escape(str(suite.engine))}{stated} at {escape(suite.cluster)}{index}, request "
        f"{code(suite.request)}, gain {escape(suite.gain)}, profile {suite.profile}, "
        f"{counted_text(len(suite.queries), 'query')}{deselected}{compared}"
    )


def _measures(suite: SuiteReport) -> str:
    mean = mean_heading(weighted=any(summary.weighted for summary in suite.summaries))
    figures = [mean, "median", "least", "greatest", "counted", "left out"]
    rows = []
    for summary in suite.summaries:
        values = (summary.mean, summary.median, summary.least, summary.greatest)
        cells = [*map(score_text, values), f"{summary.counted:,}", f"{summary.left_out:,}"]
        rows.append([code(summary.measure), escape(summary.gain), *cells])
    return table(["measure", "gain", *figures], rows, right=figures)
