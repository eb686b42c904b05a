"""A pool on a terminal: how much of each run is judged, and at which queries judging tells most."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.judging.pool import Pool, QueryCoverage
from harness.report.figures import counted_text, score_text
from harness.report.printable import printable
from harness.report.terminal.layout import columns, indented

__all__ = ["pool_renderables"]


QUERIES_SHOWN = 10
UNANSWERED_SHOWN = 10


def pool_renderables(pool: Pool) -> Iterator[RenderableType]:
    """What is unjudged in all, in each run, and in the queries whose score may change most."""
    yield Text.assemble((printable(pool.suite), "bold"), f"  {_total(pool)}")
    yield indented(_coverage_table(pool))
    if pool.queries:
        yield Text()
        yield indented(_query_table(pool))
    if len(pool.queries) > QUERIES_SHOWN:
        yield indented(Text(f"and {counted_text(len(pool.queries) - QUERIES_SHOWN, 'ranking')} more", style="dim"))
    for note in pool.notes:
        yield indented(Text(printable(note), style="dim"))
    yield from _unanswered(pool)


def _total(pool: Pool) -> str:
    if not pool.documents:
        answered = any(coverage.judged is not None for coverage in pool.coverage)
        return f"no hit of the top {pool.depth} is unjudged" if answered else "no query was answered"
    queries = counted_text(len({one.query for one in pool.documents}), "query")
    found = counted_text(len(pool.documents), "document")
    return f"{found} to judge in {queries}, of the top {pool.depth}"


def _bounded_columns(table: Table, measure: str) -> None:
    for heading in (printable(measure), "if worst", "if best"):
        table.add_column(heading, justify="right", no_wrap=True)


def _coverage_table(pool: Pool) -> Table:
    table = columns()
    table.add_column("request", overflow="fold")
    table.add_column(f"Judged@{pool.depth}", justify="right", no_wrap=True)
    table.add_column("unjudged hits", justify="right", no_wrap=True)
    _bounded_columns(table, f"mean {pool.measure}")
    for one in pool.coverage:
        bounds = map(score_text, (one.as_judged, one.if_worst, one.if_best))
        shown = f"{one.unjudged:,} of {one.hits:,}"
        table.add_row(Text(printable(one.run)), score_text(one.judged), shown, *bounds)
    return table


def _query_table(pool: Pool) -> Table:
    table = columns()
    table.add_column("judge first", overflow="fold")
    several = len(pool.coverage) > 1
    if several:
        table.add_column("request", overflow="fold")
    table.add_column("unjudged", justify="right", no_wrap=True)
    _bounded_columns(table, pool.measure)
    for one in pool.queries[:QUERIES_SHOWN]:
        run = [Text(printable(one.run))] if several else []
        table.add_row(Text(printable(one.query)), *run, f"{one.unjudged:,}", *_bounds(one))
    return table


def _bounds(one: QueryCoverage) -> Iterator[str]:
    yield from map(score_text, (one.bounds.as_judged, one.bounds.if_worst, one.bounds.if_best))


def _unanswered(pool: Pool) -> Iterator[RenderableType]:
    several = len(pool.coverage) > 1
    for (query, run), reason in list(pool.unanswered.items())[:UNANSWERED_SHOWN]:
        where = f", request {run}" if several else ""
        yield indented(Text(printable(f"query {query}{where} has no answer: {reason}"), style="bold red"))
    if len(pool.unanswered) > UNANSWERED_SHOWN:
        left = counted_text(len(pool.unanswered) - UNANSWERED_SHOWN, "ranking")
        yield indented(Text(f"and {left} more without an answer", style="bold red"))
