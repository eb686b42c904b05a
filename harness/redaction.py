"""A report without the secrets that a server, a title or a variable may have brought into it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias, TypeVar

from harness.model import (
    ComparisonReport,
    MissingDocument,
    MovedDocument,
    QueryReport,
    RankedDocument,
    Side,
    SuiteReport,
    Verdict,
)

__all__ = ["redact", "redact_comparison"]


Mask: TypeAlias = Callable[[str], str]
Titled = TypeVar("Titled", RankedDocument, MissingDocument, MovedDocument)


def redact(report: SuiteReport, mask: Mask) -> SuiteReport:
    """*report* with *mask* put over all text that is for people. Ids stay, for they tie the parts together."""
    return replace(
        report,
        cluster=mask(report.cluster),
        index=None if report.index is None else mask(report.index),
        verdicts=tuple(_verdict(verdict, mask) for verdict in report.verdicts),
        queries=tuple(_query(query, mask) for query in report.queries),
        notes=tuple(map(mask, report.notes)),
        baseline=report.baseline and replace(report.baseline, changes=tuple(map(mask, report.baseline.changes))),
    )


def redact_comparison(report: ComparisonReport, mask: Mask) -> ComparisonReport:
    """The same of a comparison."""
    return replace(
        report,
        reference=_side(report.reference, mask),
        candidate=_side(report.candidate, mask),
        queries=tuple(
            replace(query, text=mask(query.text), documents=_documents(query.documents, mask))
            for query in report.queries
        ),
        verdicts=tuple(_verdict(verdict, mask) for verdict in report.verdicts),
        notes=tuple(map(mask, report.notes)),
    )


def _side(side: Side, mask: Mask) -> Side:
    index = None if side.index is None else mask(side.index)
    return replace(side, index=index, unanswered={query: mask(why) for query, why in side.unanswered.items()})


def _verdict(verdict: Verdict, mask: Mask) -> Verdict:
    waiver = verdict.waiver and replace(verdict.waiver, reason=mask(verdict.waiver.reason))
    return replace(verdict, reason=mask(verdict.reason), threshold=mask(verdict.threshold), waiver=waiver)


def _query(query: QueryReport, mask: Mask) -> QueryReport:
    return replace(
        query,
        text=mask(query.text),
        reason=mask(query.reason),
        ranking=_documents(query.ranking, mask),
        ideal=_documents(query.ideal, mask),
        missing=_documents(query.missing, mask),
    )


def _documents(documents: Iterable[Titled], mask: Mask) -> tuple[Titled, ...]:
    return tuple(
        document if document.title is None else replace(document, title=mask(document.title)) for document in documents
    )
