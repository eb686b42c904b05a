"""
Thresholds that compare a request with another one of the same run: an approximate search with an exact one.

How far two rankings agree needs no judgment. How much the request loses is scored with the judgments of the queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.gate.conditions import is_for_request
from harness.gate.decide_agreements import list_incomplete, refuse_incomplete
from harness.gate.decide_answers import (
    list_without_hits,
    list_without_ranking,
    read_requested_depth,
    refuse_unanswered,
)
from harness.gate.decide_scores import Extremes, decide_scores_with_ties
from harness.gate.finding import Finding, Scope, read_weights, scope_scores, split_skipped
from harness.gate.inputs import GateInputs
from harness.gate.stability import explain_changed_target
from harness.gate.ties import suggest_tie_break
from harness.gate.two_rankings import (
    RangedValue,
    ScoredQuery,
    compare_with_reference,
    compute_loss_with_range,
)
from harness.metrics.run_scores import gain_text, score_of
from harness.model.run import Cause, Ranking, Response, Run, Status
from harness.model.suite import (
    AgreementCondition,
    LossCondition,
    Measure,
    Query,
    Suite,
    get_other_request,
    select_by_id,
)
from harness.words import listed


def decide_with_request(
    condition: AgreementCondition | LossCondition, request: str, queries: Sequence[Query], inputs: GateInputs
) -> Finding:
    """
    Compare the rankings of *queries* with those of the other *request*, which *condition* names.

    A query for which neither request finds anything is left out: two empty rankings say nothing.

    Returns:
        ERROR where a query has no ranking on either side; INCONCLUSIVE where a ranking ends before the cutoff although
        more documents may match, where the order of tied documents decides, or where the target changed meanwhile;
        FAILED where no query is left, where a score is undefined and may not be left out, or where the figure falls
        short; else PASSED.
    """
    score_condition = condition.as_score
    name = score_condition.measure.text
    finding = Finding(Status.FAILED, "", None, score_condition.required, name)
    other = inputs.run.others.get(request)
    if other is None:
        reason = f"{name} cannot be decided: the request {request} was not sent"
        return replace(finding, status=Status.ERROR, reason=reason, cause=Cause.UNANSWERED)
    active, skipped = split_skipped(queries, inputs.today)
    unanswered = _list_unanswered([query.id for query in active], inputs.run, other)
    if unanswered:
        return refuse_unanswered(finding, unanswered)
    incomplete = _list_incomplete([query.id for query in active], score_condition.measure, inputs, other)
    if incomplete:
        return refuse_incomplete(finding, incomplete, list(incomplete))
    compared = [query for query in active if _has_hits(query, inputs.run) or _has_hits(query, other)]
    without_hits = [query.id for query in active if query not in compared]
    if active and not compared:
        reason = f"{name} has nothing to decide: neither request finds anything for {listed(without_hits)}"
        return replace(finding, reason=reason, blamed=tuple(without_hits), cause=Cause.NOTHING_TO_DECIDE)

    gain = ""
    if isinstance(condition, AgreementCondition):
        values = _compute_agreements(condition.agreement, compared, inputs, other)
        scope = Scope({}, (), {}, (), skipped)
    else:
        gain = gain_text(condition.measure, inputs.suite)
        scope = scope_scores(compared, condition.measure.text, inputs.scores, inputs.today)
        values = _compute_losses(condition.measure, select_by_id(compared, scope.counted), inputs, other)
        unscored = [query for query in scope.counted if query not in values]
        reasons = dict.fromkeys(unscored, f"no {condition.measure} with request {request}")
        scope = replace(scope, unanswered={**scope.unanswered, **reasons}, skipped=skipped)
    scope = replace(
        scope,
        counted={query: value.value for query, value in values.items()},
        zero_hits=list_without_hits(values, inputs.run.responses),
        weights=read_weights(inputs.suite.queries, values),
    )
    extremes = Extremes(
        least={query: value.least for query, value in values.items()},
        greatest={query: value.greatest for query, value in values.items()},
        remedy=suggest_tie_break(inputs.suite.requests.get(inputs.run.request)),
    )
    finding = decide_scores_with_ties(
        score_condition, scope, extremes, gain=gain, skip_undefined=inputs.suite.skip_undefined
    )
    sentences = [finding.reason]
    if without_hits:
        sentences.append(f"left out, as neither request finds anything: {listed(without_hits)}")
    if _share_no_document(compared, inputs.run, other):
        sentences.append("no query finds a document that both requests find: are the ids of both the same?")
    finding = replace(finding, reason="; ".join(sentences))
    change = explain_changed_target(inputs.run, other)
    if change and finding.status in (Status.PASSED, Status.FAILED):
        reason = f"{change}; {finding.reason}"
        finding = replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=(), cause=Cause.MOVING_INDEX)
    return finding


@dataclass(frozen=True, slots=True)
class RequestComparison:
    """What thresholds compare of a query with another request: *agreements*, and *measures* that it may lose."""

    agreements: tuple[Measure, ...]
    measures: tuple[Measure, ...]
    depth: int
    """The ranks of the deepest agreement; those of the suite without one."""


def list_comparisons(suite: Suite, query: Query, request: str) -> dict[str, RequestComparison]:
    """What thresholds compare of *query* in a run with *request*, by the name of the other request."""
    agreements: dict[str, dict[str, Measure]] = {}
    measures: dict[str, dict[str, Measure]] = {}
    for threshold in (*suite.thresholds, *query.thresholds):
        condition = threshold.condition
        if threshold.tag is not None and threshold.tag not in query.tags:
            continue
        other = get_other_request(condition)
        if other is None or not is_for_request(threshold, suite, request):
            continue
        agreements_of_request = agreements.setdefault(other, {})
        measures_of_request = measures.setdefault(other, {})
        if isinstance(condition, AgreementCondition):
            agreements_of_request[condition.agreement.text] = condition.agreement
        elif isinstance(condition, LossCondition):
            measures_of_request[condition.measure.text] = condition.measure
    comparisons = {}
    for name, compared in agreements.items():
        depth = max((agreement.cutoff or suite.depth for agreement in compared.values()), default=suite.depth)
        comparisons[name] = RequestComparison(tuple(compared.values()), tuple(measures[name].values()), depth)
    return comparisons


def _list_unanswered(queries: Sequence[str], run: Run, other: Run) -> dict[str, str]:
    """The queries that one of both requests has no ranking for, with the reason."""
    unanswered = list_without_ranking(queries, other.responses, "")
    unanswered = {query: f"with request {other.request}: {reason}" for query, reason in unanswered.items()}
    return unanswered | list_without_ranking(queries, run.responses, "")


def _list_incomplete(queries: Sequence[str], measure: Measure, inputs: GateInputs, other: Run) -> dict[str, str]:
    """The queries with fewer hits than were requested by one of both requests, although more documents may match."""
    incomplete: dict[str, str] = {}
    for run in (other, inputs.run):
        requested = read_requested_depth(inputs.suite, run)
        requested = replace(requested, depth=measure.cutoff or inputs.suite.depth)
        incomplete |= list_incomplete(queries, run.responses, requested)
    return incomplete


def _has_hits(query: Query, run: Run) -> bool:
    response = run.responses[query.id]
    return isinstance(response, Ranking) and bool(response.ids)


def _compute_agreements(
    agreement: Measure, queries: Sequence[Query], inputs: GateInputs, other: Run
) -> dict[str, RangedValue]:
    depth = inputs.suite.depth
    values = {}
    for query in queries:
        reference, candidate = _take_ranking(other.responses, query), _take_ranking(inputs.run.responses, query)
        values[query.id] = compare_with_reference(agreement, reference, candidate, depth=depth)
    return values


def _compute_losses(
    measure: Measure, queries: Sequence[Query], inputs: GateInputs, other: Run
) -> dict[str, RangedValue]:
    """The losses by query, without those that have no score with the other request."""
    values = {}
    for query in queries:
        scored = ScoredQuery(query, measure, score_of(inputs.suite, query, measure, other).value)
        candidate = _take_ranking(inputs.run.responses, query)
        loss = compute_loss_with_range(inputs.suite, scored, other, candidate)
        if loss is not None:
            values[query.id] = loss
    return values


def _take_ranking(responses: Mapping[str, Response], query: Query) -> Ranking:
    response = responses[query.id]
    assert isinstance(response, Ranking), "queries without a ranking were refused"
    return response


def _share_no_document(queries: Sequence[Query], run: Run, other: Run) -> bool:
    """Whether both requests find something, and for no query the same, as where ids are written in two ways."""
    finds_something = False
    for query in queries:
        first, second = _take_ranking(other.responses, query).ids, _take_ranking(run.responses, query).ids
        if not set(first).isdisjoint(second):
            return False
        finds_something = finds_something or bool(first and second)
    return finds_something
