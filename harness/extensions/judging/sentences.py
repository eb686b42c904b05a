"""Sentences on a pool of documents."""

from __future__ import annotations

from collections.abc import Iterator

from harness.extensions.judging.model import Pool
from harness.report.sentences import QUERIES_LISTED, describe_queries
from harness.words import count, grouped, listed


def describe_zero_hits(pool: Pool) -> Iterator[str]:
    """A line for each set of requests that found nothing, with the queries."""
    runs = tuple(coverage.run for coverage in pool.coverage)
    by_runs = grouped((names, query) for query, names in pool.zero_hits.items())
    for names, queries in by_runs.items():
        where = "" if names == runs else f" for {', '.join(names)}"
        yield f"zero hits{where}: {listed(queries, QUERIES_LISTED)}"


REASONS_SHOWN = 10
"""Different reasons for which queries have no answer, each on a line."""


def describe_unanswered(pool: Pool) -> Iterator[str]:
    """
    A line for each reason for which queries have no answer, with the queries, and the requests unless all are meant.

    A wrong request fails with the same error for each query.
    """
    runs = tuple(coverage.run for coverage in pool.coverage)
    failed_runs = grouped(((query, reason), run) for (query, run), reason in pool.unanswered.items())
    by_reason = grouped(((reason, tuple(names)), query) for (query, reason), names in failed_runs.items())
    for (reason, names), queries in list(by_reason.items())[:REASONS_SHOWN]:
        verb = "has" if len(queries) == 1 else "have"
        where = "" if names == runs else f" for {', '.join(names)}"
        yield f"{describe_queries(queries)} {verb} no answer{where}: {reason}"
    others = list(by_reason.values())[REASONS_SHOWN:]
    if others:
        hidden = {query for queries in others for query in queries}
        yield f"{count(len(hidden), 'more query')} without an answer, for {count(len(others), 'other reason')}"
