"""Whether two sides, and the suite that they are compared by, ask the same with each query. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness.compare.sides import ComparedSide
from harness.gate.scope import changed_question
from harness.masking import Masker, question_of
from harness.model import Failure, FailureKind, Question, Suite
from harness.words import count, listed

__all__ = ["questions_of", "same_questions"]


def questions_of(suite: Suite) -> dict[str, Question]:
    """What each query of *suite* asks; of one without requests, which holds judgments alone, nothing is known."""
    masker = Masker(suite.variables)
    return {query.id: question_of(query, masker) for query in suite.queries} if suite.requests else {}


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
    asked = questions_of(suite) if suite is not None else {}
    known = {query: one for query, one in candidate.questions.items() if not asked or query in asked}
    then = _changed(reference.questions, known) | _changed(reference.questions, asked)
    strange = {
        query: both for query, both in _changed(candidate.questions, asked).items() if query not in reference.questions
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
