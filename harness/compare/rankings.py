"""
Two rankings of one query side by side, and those of all queries: whether they answer the same question, what entered,
what left and what moved. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from harness.compare.scores import ScoredSides, score_tables
from harness.compare.sides import ComparedSide, questions_of
from harness.gate.grammar import TOLERANCE
from harness.gate.scope import changed_question
from harness.gate.ties import cut, tie_groups
from harness.metrics.agreement import RankPair, compare_rankings
from harness.metrics.ranking import gain_of
from harness.model import (
    Failure,
    FailureKind,
    Gain,
    Hit,
    MovedDocument,
    Query,
    QueryComparison,
    Question,
    Ranking,
    Suite,
)
from harness.words import count, listed

__all__ = ["DocumentNotes", "RankingChanges", "SideBySide", "most_moved_first", "ranking_changes", "same_questions"]


# Which rankings answer the same question.


def same_questions(
    pair: tuple[ComparedSide, ComparedSide], suite: Suite | None
) -> tuple[tuple[ComparedSide, ComparedSide], tuple[str, ...]]:
    """
    Take the answers to other questions from two sides.

    A query of the reference that asks something else than the candidate, or than *suite*, is one that the reference
    does not have. Where only the candidate is known to ask something else than the suite, it has no answer.

    Returns:
        Both sides, and a sentence on each that asked something else.
    """
    reference, candidate = pair
    now = questions_of(suite) if suite is not None else {}
    known = {query: one for query, one in candidate.questions.items() if not now or query in now}
    then = _changed(reference.questions, known) | _changed(reference.questions, now)
    strange = {
        query: both for query, both in _changed(candidate.questions, now).items() if query not in reference.questions
    }
    failed = {query: _unasked(query, both) for query, both in strange.items()}
    run = replace(candidate.run, responses={**candidate.run.responses, **failed})
    notes = (*_note(reference, then), *_note(candidate, strange))
    return (_without(reference, then), replace(candidate, run=run)), notes


def _changed(then: Mapping[str, Question], now: Mapping[str, Question]) -> dict[str, tuple[Question, Question]]:
    return {query: (then[query], now[query]) for query in then if query in now and then[query].is_another(now[query])}


def _unasked(query: str, both: tuple[Question, Question]) -> Failure:
    return Failure(FailureKind.NOT_RUN, f"something else was asked: {changed_question(query, *both)}")


def _note(side: ComparedSide, changed: Mapping[str, tuple[Question, Question]]) -> Iterator[str]:
    if changed:
        told = listed([changed_question(query, *both) for query, both in changed.items()])
        yield f"{side.side.name} asked something else for {count(len(changed), 'query')}, not compared: {told}"


def _without(one: ComparedSide, changed: Mapping[str, tuple[Question, Question]]) -> ComparedSide:
    """*one* without what it has of the queries that are *changed*."""
    responses = {query: response for query, response in one.run.responses.items() if query not in changed}
    return replace(
        one,
        run=replace(one.run, responses=responses),
        queries=tuple(query for query in one.queries if query.id not in changed),
        scores=tuple(score for score in one.scores if score.query not in changed),
        fingerprints={query: judged for query, judged in one.fingerprints.items() if query not in changed},
        changed_questions=changed,
    )


# Two rankings of one query -> what entered, what left, what moved, and which of that is no more than another order of
# documents that the engine scored the same.


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


# Each query of two runs, side by side.


@dataclass(frozen=True, slots=True)
class SideBySide:
    """
    Compares queries one by one: *depth* ranks, with persistence *p*.

    *ties* says that documents of equal score stand in an order that nobody asked for.
    """

    scored: ScoredSides
    depth: int
    p: float
    ties: bool

    def pairs(self) -> dict[str, RankPair]:
        """The rankings of the queries that both sides answered."""
        answered = {query.id: self._rankings(query.id) for query in self.scored.suite.queries}
        return {
            query: compare_rankings(*(_documents(ranking) for ranking in rankings), depth=self.depth, p=self.p)
            for query, rankings in answered.items()
            if rankings is not None
        }

    def queries(self, pairs: Mapping[str, RankPair]) -> list[QueryComparison]:
        """Every query, in the suite's order; *pairs* are those that `pairs` gave."""
        titles = self._titles()
        tables = [score_tables(self.scored, scores) for scores in self.scored.scores]
        found = []
        for query in self.scored.suite.queries:
            scores = {measure: (tables[0][measure][query.id], tables[1][measure][query.id]) for measure in tables[0]}
            plain = QueryComparison(query.id, query.text, query.tags, scores if self.scored.is_judged else {})
            pair = pairs.get(query.id)
            found.append(plain if pair is None else self._compared(plain, query, pair, titles))
        return found

    def _compared(
        self, plain: QueryComparison, query: Query, pair: RankPair, titles: Mapping[str, str]
    ) -> QueryComparison:
        rankings = self._rankings(query.id)
        assert rankings is not None
        notes = DocumentNotes(query.judgments, self.scored.suite.gain, titles)
        changes = ranking_changes(*rankings, depth=self.depth, notes=notes, ties=self.ties)
        return replace(
            plain,
            documents=changes.documents,
            entered=changes.entered,
            left=changes.left,
            moved=changes.moved,
            rbo=pair.rbo,
            overlap=pair.overlap,
            tau=pair.tau,
            ties_only=changes.ties_only,
        )

    def _rankings(self, query: str) -> tuple[Ranking, Ranking] | None:
        first, second = (run.responses.get(query) for run in self.scored.runs)
        return (first, second) if isinstance(first, Ranking) and isinstance(second, Ranking) else None

    def _titles(self) -> dict[str, str]:
        """Every title that either run brought, the candidate's first."""
        responses = chain.from_iterable(run.responses.values() for run in self.scored.runs)
        hits = chain.from_iterable(one.hits for one in responses if isinstance(one, Ranking))
        return {hit.id: hit.title for hit in hits if hit.title is not None}


def most_moved_first(queries: Sequence[QueryComparison], measure: str | None) -> list[QueryComparison]:
    """
    *queries* by how far *measure* changed, then by how little their rankings agree; those without both rankings last.

    Equal ones stay as they stand.
    """

    def order(query: QueryComparison) -> tuple[bool, bool, float, float]:
        before, after = query.scores.get(measure or "", (None, None))
        change = None if before is None or after is None else abs(after - before)
        size = 0.0 if change is None or change <= TOLERANCE else change
        return query.rbo is None, change is None, -size, query.rbo or 0.0

    return sorted(queries, key=order)


def _documents(ranking: Ranking) -> list[str]:
    return [hit.id for hit in ranking.hits]
