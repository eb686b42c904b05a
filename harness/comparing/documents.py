"""
Two rankings of one query -> what entered, what left, what moved, and which of that is no more than another order of
documents that the engine scored the same.

Pure: rankings and grades in, values out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.gate.ties import cut, tie_groups
from harness.metrics.ranking import gain_of
from harness.model import Gain, Hit, MovedDocument, Ranking

__all__ = ["DocumentNotes", "RankingChanges", "ranking_changes"]


@dataclass(frozen=True, slots=True)
class DocumentNotes:
    """What is known of documents apart from where they rank; *gain* is None where no grade is worth anything."""

    grades: Mapping[str, float] = field(default_factory=dict)
    gain: Gain | None = None
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankingChanges:
    """*documents* as in `harness.model.QueryComparison`, and how many of them *entered*, *left* and *moved*."""

    documents: tuple[MovedDocument, ...]
    entered: int
    left: int
    moved: int

    @property
    def ties_only(self) -> bool:
        """Whether something changed, and nothing but the order among equal scores."""
        changed = [document for document in self.documents if document.reference != document.candidate]
        return bool(changed) and all(document.tied for document in changed)


def ranking_changes(
    reference: Ranking, candidate: Ranking, *, depth: int, notes: DocumentNotes, ties: bool = True
) -> RankingChanges:
    """
    Compare two rankings document by document.

    Args:
        reference: What is compared with.
        candidate: What is compared.
        depth: Ranks that are looked at; documents below are not there.
        notes: Grades and titles.
        ties: Whether documents of equal score stand in an order that nobody asked for.
    """
    first, second = cut(reference, depth), cut(candidate, depth)
    before, after = _ranks(first.hits), _ranks(second.hits)
    tied = _tied(first, second) if ties else frozenset()
    names = [*after, *(document for document in before if document not in after)]
    documents = tuple(_document(name, before.get(name), after.get(name), notes, name in tied) for name in names)
    return RankingChanges(
        documents,
        entered=sum(document.reference is None for document in documents),
        left=sum(document.candidate is None for document in documents),
        moved=sum(None not in (one.reference, one.candidate) and one.reference != one.candidate for one in documents),
    )


def _ranks(hits: Iterable[Hit]) -> dict[str, int]:
    return {hit.id: rank for rank, hit in enumerate(hits, start=1)}


def _document(name: str, before: int | None, after: int | None, notes: DocumentNotes, tied: bool) -> MovedDocument:
    grade = notes.grades.get(name)
    gain = None if grade is None or notes.gain is None else gain_of(notes.gain, grade)
    return MovedDocument(name, before, after, grade, gain, notes.titles.get(name), tied and before != after)


def _tied(first: Ranking, second: Ranking) -> frozenset[str]:
    """
    The documents of groups that are groups of ties on both sides, at the same places, with the same documents.

    The scores of the two sides need not be the same: another engine may multiply all by a constant.
    """
    at_place = {group.start: group for group in tie_groups(first)}
    found: set[str] = set()
    for group in tie_groups(second):
        match = at_place.get(group.start)
        if match is not None and group.holds_as(match):
            found.update(group.shown, match.shown)
    return frozenset(found)
