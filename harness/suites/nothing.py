"""Checks queries for which no result is right, and the thresholds that count them or leave them out."""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import MeasureError
from harness.gate.finding import is_met
from harness.gate.selection import select_counted
from harness.metrics.ranking import gain_of
from harness.model.suite import (
    Before,
    Condition,
    DistinctValues,
    FalseHitsCondition,
    FieldExpectation,
    FieldInTop,
    Gain,
    HitCount,
    HitQuantifier,
    InTop,
    LatencyCondition,
    Query,
    Threshold,
    UnresolvedCondition,
    select_tagged,
)
from harness.suites.grades import Judgments
from harness.suites.yaml import Problems
from harness.words import format_exactly


def check_nothing(thresholds: Sequence[Threshold], queries: Sequence[Query], problems: Problems) -> None:
    """Note own thresholds of *queries* that contradict `nothing: true`, and a suite's *thresholds* that count none."""
    for query in queries:
        if query.nothing:
            _check_own_thresholds(query, problems)
    _check_scopes(thresholds, queries, problems)


def check_no_right_results(queries: Sequence[Query], gain: Gain, judgments: Judgments) -> None:
    """Note the *judgments* by which a document is right for a query for which no result is."""
    sentences = {}
    for query in queries:
        if not query.nothing:
            continue
        for document, grade in query.judgments.items():
            if is_right(gain, grade):
                sentences[query.id, document] = describe_right_result(query.id, document, grade)
        for quote in query.quotes:
            if is_right(gain, quote.grade):
                message = f"a quote makes hits right results for {query.id!r}, which has 'nothing: true'; remove either"
                judgments.problems.note(quote.mark, message)
    judgments.note(sentences)


def is_right(gain: Gain, grade: float) -> bool:
    """Whether a document of *grade* is a right result: its gain is positive, as far as it is known."""
    try:
        return gain_of(gain, grade) > 0
    except MeasureError:
        return False


def describe_right_result(query: str, document: str, grade: float) -> str:
    """The problem that *document* is judged right for *query*, for which the suite says that no result is."""
    return (
        f"grade {format_exactly(grade)} makes document {document!r} a right result for {query!r}, "
        "which has 'nothing: true'; remove either"
    )


def _check_own_thresholds(query: Query, problems: Problems) -> None:
    """Note the thresholds of *query*, which has no scores, and those of its expectations that need a hit."""
    for threshold in query.thresholds:
        condition = threshold.condition
        if _is_expectation(condition):
            if _needs_hit(condition):
                message = f"no result is right for {query.id!r}, and this expects one; remove either"
                problems.note(threshold.mark, message)
        elif not isinstance(condition, LatencyCondition | UnresolvedCondition):
            message = (
                f"no result is right for {query.id!r}, so that it has no scores; expected a threshold of the suite, "
                "such as 'false hits <= 5%', or the expectation 'hits = 0'"
            )
            problems.note(threshold.mark, message)


def _is_expectation(condition: Condition) -> bool:
    if isinstance(condition, UnresolvedCondition):
        return condition.is_expectation
    return isinstance(condition, InTop | Before | HitCount | FieldExpectation)


def _needs_hit(condition: Condition) -> bool:
    """Whether an expectation with *condition* cannot be met by an answer without hits."""
    if isinstance(condition, InTop):
        return not condition.negated
    if isinstance(condition, HitCount | DistinctValues):
        return not is_met(0, condition.operator, condition.required)
    if isinstance(condition, FieldInTop):
        return condition.quantifier is not HitQuantifier.NO
    return isinstance(condition, Before)


def _check_scopes(thresholds: Sequence[Threshold], queries: Sequence[Query], problems: Problems) -> None:
    """Note each of a suite's *thresholds* that counts none of *queries*: it has nothing to decide, and would fail."""
    for threshold in thresholds:
        condition = threshold.condition
        scope = queries if threshold.tag is None else select_tagged(queries, threshold.tag)
        # A tag that no query has is noted by itself.
        if not scope or isinstance(condition, UnresolvedCondition) or select_counted(condition, scope):
            continue
        which = "" if threshold.tag is None else f" with the tag {threshold.tag!r}"
        if isinstance(condition, FalseHitsCondition):
            message = f"no query{which} has 'nothing: true', which this threshold counts"
        else:
            message = f"each query{which} has 'nothing: true', so that this threshold has none to decide on"
        problems.note(threshold.mark, message)
