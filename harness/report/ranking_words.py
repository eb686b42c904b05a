"""One query's ranking in words and numbers, the same on a terminal, in a page and in Markdown; nothing is escaped."""

from __future__ import annotations

from harness.model import MissingDocument, MovedDocument, QueryReport, RankedDocument
from harness.report.figures import matching_text, plain_text, score_text

__all__ = ["MISSING_SHOWN", "RANKS_SHOWN", "grade_text", "known_text", "missing_place"]


RANKS_SHOWN = 10
MISSING_SHOWN = 10
UNJUDGED = "unjudged"


def missing_place(missing: MissingDocument) -> str:
    """Where a deeper search found the document, in words."""
    if missing.rank is not None:
        return f"at rank {missing.rank:,}"
    if missing.searched:
        return f"not in the first {missing.searched:,}"
    return "not returned"


def known_text(query: QueryReport, measure: str | None = None) -> str:
    """The score of *measure*, or of all measures, what became of the query, and how many documents match it."""
    scores = query.scores if measure is None else {measure: query.scores.get(measure)}
    shown = ", ".join(f"{name} {score_text(value)}" for name, value in scores.items())
    known = [shown] if shown else []
    known.append(str(query.outcome))
    if query.total is not None:
        known.append(f"{matching_text(query)} matching")
    return "; ".join(known)


def grade_text(document: RankedDocument | MovedDocument) -> str:
    """The grade, or that there is none: unjudged is not grade 0."""
    return UNJUDGED if document.grade is None else plain_text(document.grade)
