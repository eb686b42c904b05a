"""What became of queries that have no plain score, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.model import Outcome, QueryReport
from harness.report.figures import counted_text

__all__ = ["outcome_lines"]


NAMED = 3
"""Queries that a line names."""


def outcome_lines(queries: Iterable[QueryReport]) -> Iterator[str]:
    """A line for each outcome but a plain score: how many queries have it, why, and the first of them."""
    ids: dict[tuple[Outcome, str], list[str]] = {}
    for query in queries:
        if query.outcome is not Outcome.SCORED:
            ids.setdefault((query.outcome, query.reason), []).append(query.id)
    for (outcome, reason), affected in ids.items():
        shown = ", ".join(affected[:NAMED]) + (", …" if len(affected) > NAMED else "")
        why = f": {reason}" if reason else ""
        yield f"{counted_text(len(affected), 'query')} with outcome {outcome}{why} ({shown})"
