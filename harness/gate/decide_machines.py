"""Thresholds on machines as judges: their share of the grades that scores read, and their agreement with people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from harness.agreement import Weights, cohen_kappa
from harness.gate.decide_answers import list_without_ranking, refuse_unanswered
from harness.gate.finding import (
    Finding,
    Scope,
    add_left_out,
    describe_undefined,
    explain_nothing_left,
    format_number,
    is_met,
    scope_scores,
    split_skipped,
)
from harness.gate.inputs import GateInputs
from harness.means import mean_of
from harness.model.run import Cause, Status, Unit
from harness.model.scores import ScoreTable
from harness.model.suite import KappaCondition, MachineShareCondition, Operator, Query
from harness.words import count, listed


def decide_on_grades(
    condition: MachineShareCondition | KappaCondition, queries: Sequence[Query], inputs: GateInputs
) -> Finding:
    """Decide a condition on the grades of machines, over *queries*."""
    if isinstance(condition, KappaCondition):
        return decide_kappa(condition, queries, inputs)
    return decide_machine_share(condition, queries, inputs)


def decide_machine_share(condition: MachineShareCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Compare the mean share of machines' grades over the scores of *queries* with what is allowed.

    Returns:
        ERROR where a query has no answer; FAILED where one is undefined and may not be left out, where the share is
        greater, or no query has a score; else PASSED.
    """
    measure = condition.measure.text
    name = f"the share of machines' grades in {measure}"
    scope = scope_scores(queries, measure, inputs.scores, inputs.today)
    left_out = len(scope.skipped)
    if inputs.suite.skip_undefined:
        left_out += len(scope.undefined)
    finding = Finding(
        Status.FAILED,
        "",
        None,
        condition.allowed,
        measure,
        counted=len(scope.counted),
        left_out=left_out,
        unit=Unit.SHARE,
        operator=Operator.AT_MOST,
    )
    if scope.unanswered:
        reason = f"{name} cannot be decided: {scope.no_score}"
        blamed = tuple(scope.unanswered)
        return replace(finding, status=Status.ERROR, reason=reason, blamed=blamed, cause=Cause.UNANSWERED)
    if scope.undefined and not inputs.suite.skip_undefined:
        # Their grades are in no score: with them the share may be any.
        reason = f"{name} {describe_undefined(scope.undefined, scope.size)}"
        return replace(finding, reason=reason, blamed=scope.undefined, cause=Cause.UNDEFINED)
    if not scope.counted:
        why = explain_nothing_left(scope.skipped, scope.undefined)
        reason = f"{name} has nothing to decide: {why}"
        return replace(finding, reason=reason, blamed=scope.undefined, cause=Cause.NOTHING_TO_DECIDE)
    shares = {}
    for query in scope.counted:
        shares[query] = inputs.scores[query][measure].machine_share or 0.0
    share = mean_of(shares, scope.weights)
    is_allowed = is_met(share, Operator.AT_MOST, condition.allowed)
    sign = "<=" if is_allowed else ">"
    reason = f"{name} is {share:.2%} {sign} {condition.allowed:.2%}"
    if scope.zero_hits:
        reason += f"; zero hits: {listed(scope.zero_hits)}"
    finding = replace(finding, reason=reason, observed=share)
    if is_allowed:
        finding = replace(finding, status=Status.PASSED)
    else:
        with_share = [query for query in shares if shares[query] > 0]
        with_share.sort(key=lambda query: (-shares[query], query))
        finding = replace(finding, reason=f"{reason}; most in {listed(with_share)}")
    return add_left_out(finding, scope.skipped, scope.undefined)


def add_machine_share(finding: Finding, scope: Scope, measure: str, scores: ScoreTable) -> Finding:
    """Say in *finding*, which compares the scores of *scope*, how many of the grades are machines'."""
    shares = {}
    for query in scope.counted:
        share = scores[query][measure].machine_share
        if share is not None:
            shares[query] = share
    if not any(shares.values()):
        return finding
    share = mean_of(shares, scope.weights)
    return replace(finding, reason=f"{finding.reason}; {share:.2%} of the grades are machines'")


def decide_kappa(condition: KappaCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Compare a machine's kappa with people, over the documents of *queries* that both graded, with what is required.

    Returns:
        ERROR where a query has no answer, as for every other threshold, though no grade depends on it; INCONCLUSIVE
        where both graded too few documents, or one grade only, so that there is no kappa; FAILED where no query is
        left, or where the kappa falls short; else PASSED.
    """
    active, skipped = split_skipped(queries, inputs.today)
    finding = Finding(
        Status.FAILED,
        "",
        None,
        condition.required,
        f"kappa {condition.machine}",
        counted=len(active),
        left_out=len(skipped),
        operator=condition.operator,
    )
    without_ranking = list_without_ranking([query.id for query in active], inputs.run.responses, "")
    if without_ranking:
        return refuse_unanswered(finding, without_ranking)
    if not active:
        reason = f"{finding.measure} has nothing to decide: {explain_nothing_left(skipped)}"
        return replace(finding, reason=reason, cause=Cause.NOTHING_TO_DECIDE)
    return add_left_out(_compare_grades(condition, finding, active, inputs.suite.grades.values()), skipped)


def _compare_grades(
    condition: KappaCondition, finding: Finding, queries: Sequence[Query], scale: Collection[float]
) -> Finding:
    """
    Complete *finding* by the kappa over the documents of *queries*.

    *scale* are the grades that can be given; those that were are added.
    """
    machine, name = condition.machine, finding.measure
    grades: list[tuple[float, float]] = []
    for query in queries:
        by_machine = query.machine_grades.get(machine, {})
        by_people = query.people_grades or {}
        grades += [(by_people[document], grade) for document, grade in by_machine.items() if document in by_people]
    shared = f"over {count(len(grades), 'document')} that people and {machine} graded"
    if len(grades) < condition.fewest:
        reason = f"{name} cannot be decided {shared}: expected at least {condition.fewest:,}"
        return replace(finding, status=Status.INCONCLUSIVE, reason=reason, cause=Cause.TOO_FEW_DOCUMENTS)
    kappa = cohen_kappa(grades, scale, weights=Weights.QUADRATIC)
    if kappa is None:
        reason = f"{name} cannot be decided {shared}: all have the same grade"
        return replace(finding, status=Status.INCONCLUSIVE, reason=reason, cause=Cause.TOO_FEW_DOCUMENTS)
    status, comparison = Status.FAILED, f"not {condition.operator}"
    if is_met(kappa, condition.operator, condition.required):
        status, comparison = Status.PASSED, f"{condition.operator}"
    reason = f"{name} is {kappa:.4f}, {comparison} {format_number(condition.required)}, {shared}"
    return replace(finding, status=status, reason=f"{reason}, with quadratic weights", observed=kappa)
