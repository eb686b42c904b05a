"""Why thresholds did not hold: each with its reason, then the queries to look at, each of them once."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.model import SuiteReport, Verdict
from harness.report.attention import QUERIES_OF_THRESHOLD, Attention, attention_of, concerned_text
from harness.report.figures import counted_text
from harness.report.terminal.layout import indented
from harness.report.terminal.rankings import query_renderables
from harness.report.terminal.verdicts import reason

EXPLAINED = 50
"""Thresholds of a suite that are explained; the others have their line."""


def explanations(suite: SuiteReport) -> Iterator[RenderableType]:
    """Every threshold that somebody has to look at with its reason, and after them the queries that they blame."""
    attention = attention_of(suite)
    bad = attention.verdicts
    for verdict in bad[:EXPLAINED]:
        yield from reason(verdict)
        yield Text()
    if len(bad) > EXPLAINED:
        left = counted_text(len(bad) - EXPLAINED, "more threshold")
        verb = "is" if len(bad) - EXPLAINED == 1 else "are"
        yield Text(f"{left} {verb} not explained here; an HTML report explains each.", style="dim")
        yield Text()
    yield from _blamed_queries(attention)


def failure(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """One threshold by itself: its reason, and the worst of the queries that it blames."""
    yield from reason(verdict)
    by_id = {query.id: query for query in suite.queries}
    blamed = [by_id[name] for name in verdict.blamed if name in by_id]
    for query in blamed[:QUERIES_OF_THRESHOLD]:
        yield Text()
        yield from map(indented, query_renderables(query, verdict.measure))
    if len(blamed) > QUERIES_OF_THRESHOLD:
        left = counted_text(len(blamed) - QUERIES_OF_THRESHOLD, "more query")
        yield indented(Text(f"and {left}", style="dim"))


def _blamed_queries(attention: Attention) -> Iterator[RenderableType]:
    for query in attention.queries:
        yield from query_renderables(query, concerns=concerned_text(query, attention.verdicts))
        yield Text()
    if attention.left:
        verb = "is" if attention.left == 1 else "are"
        left = counted_text(attention.left, "more query")
        yield Text(f"{left} {verb} blamed; an HTML report shows each.", style="dim")
        yield Text()
