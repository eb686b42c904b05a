"""
Two rankings of one query -> what entered, what left, what moved, and which of that is no more than another order of
documents that the engine scored the same.

Pure: rankings and grades in, values out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.gate.ties import same_scores, tie_groups
from harness.metrics.gain import gain_of
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
    first, second = reference.hits[:depth], candidate.hits[:depth]
    before, after = _ranks(first), _ranks(second)
    tied = _tied(first, second, depth) if ties else frozenset()
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


def _tied(first: Sequence[Hit], second: Sequence[Hit], depth: int) -> frozenset[str]:
    """
    The documents of groups that are groups of ties on both sides, at the same places.

    The scores of the two sides need not be the same: another engine may multiply all by a constant. A group that
    reaches *depth* may go on below it, so there documents may have taken each other's place where the scores are the
    same.
    """
    if not _scored(first) or not _scored(second):
        return frozenset()
    found: set[str] = set()
    for start, stop in set(tie_groups(first)) & set(tie_groups(second)):
        if stop - start == 1 and stop < depth:
            continue  # one document is no tie, unless others of its score may stand below
        ours, theirs = first[start:stop], second[start:stop]
        members = {hit.id for hit in ours}
        if members == {hit.id for hit in theirs} or (stop == depth and same_scores(ours, theirs)):
            found |= members | {hit.id for hit in theirs}
    return frozenset(found)


def _scored(hits: Iterable[Hit]) -> bool:
    return all(hit.score is not None for hit in hits)
