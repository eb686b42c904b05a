"""
What JUnit XML tells of an item beside its outcome: figures for whoever charts them, and what they were made with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from harness import __version__
from harness.model import QueryReport, Status, SuiteReport, Verdict

__all__ = ["Property", "properties_of"]


Property: TypeAlias = tuple[str, str | int | float]
"""A name that begins with `relevance.`, and a value that every worker can send to its controller."""


def properties_of(
    status: Status, verdicts: Sequence[Verdict], query: QueryReport | None, report: SuiteReport
) -> tuple[Property, ...]:
    """
    The properties of an item that ran.

    Args:
        status: What it came to. A warning is told here only, for to JUnit XML it is a test that passed.
        verdicts: Those that concern it.
        query: The one that it is about, if it is about one.
        report: On its suite.
    """
    return (
        ("relevance.verdict", str(status)),
        *_measured(verdicts),
        *_scored(query),
        *_made_with(report),
    )


def _measured(verdicts: Sequence[Verdict]) -> Iterator[Property]:
    """
    Observed and required numbers, and what makes a pass tell less: an item of one verdict has one of each, a query's
    item one of each a threshold.
    """
    for verdict in verdicts:
        place = "" if len(verdicts) == 1 else f".{verdict.id}"
        if verdict.observed is not None:
            yield f"relevance.observed{place}", verdict.observed
        if verdict.required is not None:
            yield f"relevance.required{place}", verdict.required
        if verdict.caveat and verdict.status is Status.PASSED:
            yield f"relevance.caveat{place}", verdict.caveat


def _scored(query: QueryReport | None) -> Iterator[Property]:
    if query is None:
        return
    yield "relevance.outcome", str(query.outcome)
    for measure, value in query.scores.items():
        if value is not None:
            yield f"relevance.{measure}", value


def _made_with(report: SuiteReport) -> Iterator[Property]:
    facts = {
        "request": report.request,
        "index": report.index,
        "cluster": report.cluster,
        "engine": str(report.engine),
        "gain": report.gain,
        "profile": str(report.profile),
        "baseline": report.baseline.created if report.baseline else None,
        "baseline-changes": "; ".join(report.baseline.changes) if report.baseline else None,
        "harness": __version__,
    }
    for name, fact in facts.items():
        if fact:
            yield f"relevance.{name}", fact
