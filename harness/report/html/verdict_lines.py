"""Which thresholds a page lists, in which order, and where it links to for the queries that they blame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.model import Status, Verdict
from harness.report.attention import BAD, LOOKED_AT
from harness.report.figures import counted_text

__all__ = ["VerdictView", "VerdictViews", "verdict_views", "verdicts_left_out", "worst_status"]


@dataclass(frozen=True, slots=True)
class VerdictView:
    """A threshold, and the queries to look at: their ids and the anchors of those that the page holds."""

    verdict: Verdict
    blamed: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class VerdictViews:
    """*held_by_queries* are passed thresholds of single queries: there may be hundreds, and nothing to look at."""

    foremost: tuple[VerdictView, ...]
    held_by_queries: tuple[VerdictView, ...]


def verdict_views(verdicts: Sequence[Verdict], anchors: Mapping[str, str], most: int) -> VerdictViews:
    """At most *most* of *verdicts*, with links to the queries of *anchors*."""
    views = [_view(verdict, anchors) for verdict in _listed(verdicts, most)]
    return VerdictViews(
        tuple(view for view in views if not _is_held_by_query(view.verdict)),
        tuple(view for view in views if _is_held_by_query(view.verdict)),
    )


def verdicts_left_out(verdicts: Sequence[Verdict], most: int) -> Iterator[str]:
    """What is not listed where *most* are, first of all those that did not hold."""
    bad = sum(verdict.status in BAD for verdict in verdicts)
    if bad > most:
        yield f"{counted_text(bad - most, 'threshold')} that did not hold"
    if len(verdicts) > max(bad, most):
        yield f"{counted_text(len(verdicts) - max(bad, most), 'threshold')} that held"


def worst_status(verdicts: Iterable[Verdict]) -> Status:
    """What is undecided before a failure, as in the exit status."""
    statuses = {verdict.status for verdict in verdicts}
    bad = (Status.ERROR, Status.INCONCLUSIVE, Status.FAILED)
    return next((status for status in bad if status in statuses), Status.PASSED)


def _is_held_by_query(verdict: Verdict) -> bool:
    return verdict.query is not None and verdict.status is Status.PASSED


def _view(verdict: Verdict, anchors: Mapping[str, str]) -> VerdictView:
    return VerdictView(verdict, tuple((name, anchors.get(name)) for name in verdict.blamed))


def _listed(verdicts: Sequence[Verdict], most: int) -> list[Verdict]:
    """All in the order of the suite; where they are too many, those to look at first, then the suite's own."""
    return list(verdicts) if len(verdicts) <= most else sorted(verdicts, key=_urgency)[:most]


def _urgency(verdict: Verdict) -> tuple[bool, bool, bool]:
    return (verdict.status not in BAD, verdict.status not in LOOKED_AT, verdict.query is not None)
