"""Thresholds on machines as judges: their share of the grades that scores read, and their agreement with people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from harness.agreement import Weights, cohen_kappa
from harness.gate.finding import Finding, Scope, format_number, is_met, scope_scores
from harness.gate.inputs import GateInputs
from harness.means import mean_of
from harness.model import KappaCondition, MachineShareCondition, Operator, Query, ScoreTable, Status, Unit
from harness.words import count, listed


def judge_machine(
    condition: MachineShareCondition | KappaCondition, queries: Sequence[Query], inputs: GateInputs
) -> Finding:
    """Judge *condition* over *queries*."""
    if isinstance(condition, KappaCondition):
        return judge_kappa(condition, queries, inputs.suite.grades.values())
    return judge_machine_share(condition, queries, inputs)


def judge_machine_share(condition: MachineShareCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Compare the mean share of machines' grades over the scores of *queries* with what is allowed.

    Returns:
        ERROR where a query has no answer; FAILED where the share is greater, or no query has a score; else PASSED.
    """
    measure = condition.measure.text
    name = f"the share of machines' grades in {measure}"
    scope = scope_scores(queries, measure, inputs.scores, inputs.today)
    finding = Finding(
        Status.FAILED,
        "",
        None,
        condition.allowed,
        measure,
        counted=len(scope.counted),
        left_out=len(scope.skipped) + len(scope.undefined),
        unit=Unit.SHARE,
        operator=Operator.AT_MOST,
    )
    if scope.unanswered:
        reason = f"{name} cannot be decided: {scope.no_score}"
        return replace(finding, status=Status.ERROR, reason=reason, blamed=tuple(scope.unanswered))
    if not scope.counted:
        return replace(finding, reason=f"{name} has nothing to decide: no query has a score")
    shares = {query: inputs.scores[query][measure].machine_share or 0.0 for query in scope.counted}
    share = mean_of(shares, scope.weights)
    is_allowed = is_met(share, Operator.AT_MOST, condition.allowed)
    sign = "<=" if is_allowed else ">"
    reason = f"{name} is {share:.2%} {sign} {condition.allowed:.2%}"
    if is_allowed:
        return replace(finding, status=Status.PASSED, reason=reason, observed=share)
    most_first = sorted((query for query in shares if shares[query]), key=lambda query: (-shares[query], query))
    reason += f"; most in {listed(most_first)}"
    return replace(finding, reason=reason, observed=share)


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


def judge_kappa(condition: KappaCondition, queries: Sequence[Query], scale: Collection[float]) -> Finding:
    """
    Compare a machine's kappa with people, over the documents of *queries* that both graded, with what is required.

    *scale* are the grades that can be given; those that were are added.

    Returns:
        INCONCLUSIVE where both graded too few documents, or one grade only, so that there is no kappa; FAILED where the
        kappa falls short; else PASSED.
    """
    machine = condition.machine
    grades: list[tuple[float, float]] = []
    for query in queries:
        by_machine = query.machine_grades.get(machine, {})
        by_people = query.people_grades or {}
        grades += [(by_people[document], grade) for document, grade in by_machine.items() if document in by_people]
    name = f"kappa {machine}"
    shared = f"over {count(len(grades), 'document')} that people and {machine} graded"
    finding = Finding(Status.FAILED, "", None, condition.required, name, operator=condition.operator)
    if len(grades) < condition.fewest:
        reason = f"{name} cannot be decided {shared}: expected at least {condition.fewest:,}"
        return replace(finding, status=Status.INCONCLUSIVE, reason=reason)
    kappa = cohen_kappa(grades, scale, weights=Weights.QUADRATIC)
    if kappa is None:
        reason = f"{name} cannot be decided {shared}: all have the same grade"
        return replace(finding, status=Status.INCONCLUSIVE, reason=reason)
    status = Status.PASSED if is_met(kappa, condition.operator, condition.required) else Status.FAILED
    is_short = "" if status is Status.PASSED else "not "
    reason = f"{name} is {kappa:.4f}, {is_short}{condition.operator} {format_number(condition.required)}, {shared}"
    return replace(finding, status=status, reason=f"{reason}, with quadratic weights", observed=kappa)
