"""What the scores of a run file do not count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.report.figures import counted_text
from harness.report.printable import printable

if TYPE_CHECKING:
    from harness.metrics.evaluate import Evaluation


def left_out_lines(evaluation: Evaluation, *, complete: bool) -> Iterator[str]:
    """What the means do not count, in words."""
    if evaluation.missing:
        yield f"{_named(evaluation.missing, 'judged query')} not in the run {_fate(len(evaluation.missing), complete)}"
    if evaluation.unjudged:
        yield f"{_named(evaluation.unjudged, 'query')} of the run without judgments"


def _fate(queries: int, complete: bool) -> str:
    if complete:
        return "counts as a query without hits" if queries == 1 else "count as queries without hits"
    return f"{'is' if queries == 1 else 'are'} in no mean; --complete counts {'it' if queries == 1 else 'them'}"


def _named(queries: tuple[str, ...], noun: str) -> str:
    shown = ", ".join(map(printable, queries[:3])) + (", …" if len(queries) > 3 else "")
    return f"{counted_text(len(queries), noun)} ({shown})"
