"""A judgment with its place, and what can be found in one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.model import Mark

__all__ = ["FindingKind", "JudgmentFinding", "PlacedJudgment", "words_of"]


class FindingKind(StrEnum):
    """What was found; the name by which JSON knows it."""

    UNREADABLE = "unreadable"
    NO_GRADE = "no-grade"
    OFF_SCALE = "off-scale"
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    UNKNOWN_QUERY = "unknown-query"
    NO_POSITIVE = "no-positive"
    MISSING_DOCUMENT = "missing-document"
    ALIAS = "alias"
    SEVERAL_INDEXES = "several-indexes"


@dataclass(frozen=True, slots=True, order=True)
class JudgmentFinding:
    """One thing to look at: where it stands, what it is, and a sentence that says what to do."""

    mark: Mark
    kind: FindingKind
    message: str

    def __str__(self) -> str:
        return f"{self.mark}: {self.message}"


@dataclass(frozen=True, slots=True)
class PlacedJudgment:
    """A judgment as it stands in the suite or in a file; *grade* is None where none was given yet."""

    query: str
    document: str
    grade: float | None
    mark: Mark

    def __str__(self) -> str:
        return words_of(self.query, self.document)


def words_of(query: str, document: str) -> str:
    """What a judgment is about."""
    return f"document {document!r} for query {query!r}"
