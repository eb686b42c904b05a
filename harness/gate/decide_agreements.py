"""Thresholds on how far the rankings agree with those of the baseline, which need no judgment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.gate.decide_answers import (
    RequestedDepth,
    describe_incomplete_hits,
    list_without_hits,
    list_without_ranking,
    refuse_unanswered,
)
from harness.gate.decide_scores import Extremes, decide_scores_with_ties
from harness.gate.finding import Finding, Scope, describe_tie_changes, read_weights, split_skipped
from harness.gate.inputs import GateInputs
from harness.gate.pairs import explain_unusable, find_cause_of_refusal, suggest_tie_remedy
from harness.gate.ties import list_possible_orders, restore_tie_order, truncate_ranking
from harness.metrics.agreement import agreement_value, find_agreement_range
from harness.model.kept import Reference
from harness.model.run import Cause, Ranking, Response, Status
from harness.model.suite import AgreementCondition, Measure, Query
from harness.words import listed


def decide_agreement(condition: AgreementCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Compare the rankings of *queries* with the baseline's, down to the cutoff, or to all hits that were requested.

    Returns:
        ERROR where a query has no ranking on either side; FAILED, or WARNED where the suite's baseline is optional,
        where there is no baseline, it is older than the suite, or the figure falls short; INCONCLUSIVE where a ranking
        ends before the cutoff although more documents may match, or where it is not known which documents tie with the
        last hit, and their order decides; SKIPPED where the run is to become the baseline
        itself; else PASSED.
    """
    name = condition.agreement.text
    finding = Finding(Status.FAILED, "", None, condition.required, name)
    active_queries, skipped = split_skipped(queries, inputs.today)
    active = [query.id for query in active_queries]
    without_ranking = list_without_ranking(active, inputs.run.responses, "")
    if without_ranking:
        return refuse_unanswered(finding, without_ranking)
    reference = inputs.reference
    if reference is not None and reference.updating:
        reason = "not compared: this run is saved as the baseline"
        return Finding(Status.SKIPPED, reason, measure=name, cause=Cause.NOT_COMPARED)
    needed = condition.agreement.cutoff or inputs.suite.depth
    problem = explain_unusable(reference, active, needed)
    if problem or reference is None or reference.run is None:
        status = Status.WARNED if inputs.suite.baseline_optional else Status.FAILED
        reason = f"{name} cannot be decided: {problem}"
        return replace(finding, status=status, reason=reason, cause=find_cause_of_refusal(reference))
    without_ranking = list_without_ranking(active, reference.run.responses, f" in {reference.called}")
    if without_ranking:
        return refuse_unanswered(finding, without_ranking)
    requested = replace(inputs.requested, depth=needed)
    incomplete = list_incomplete(active, inputs.run.responses, requested)
    incomplete |= list_incomplete(active, reference.run.responses, requested)
    if incomplete:
        return refuse_incomplete(finding, incomplete, [query for query in active if query in incomplete])
    rankings = _pair_rankings(active, inputs, reference)
    return _decide_rankings(condition, rankings, inputs, reference, skipped)


@dataclass(frozen=True, slots=True)
class _RankingPair:
    """
    Documents *before*, in the baseline, and today: *as_returned*, and *after* with ties in the baseline's order.

    *possible_orders* has those of today as `list_possible_orders` lists them: it may not be known which documents tie
    with the last hit.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    as_returned: tuple[str, ...]
    possible_orders: tuple[Sequence[str], ...]

    def find_range(self, agreement: Measure, value: float, *, depth: int) -> tuple[float, float]:
        """The least and the greatest *value* of the agreement over the orders of ties."""
        if all(len(documents) == 1 for documents in self.possible_orders):
            return value, value
        before = [(document,) for document in self.before]
        lengths = len(self.before), len(self.after)
        least, greatest = find_agreement_range(agreement, before, self.possible_orders, lengths, depth=depth)
        return min(least, value), max(greatest, value)


def _pair_rankings(queries: Sequence[str], inputs: GateInputs, reference: Reference) -> dict[str, _RankingPair]:
    """Both rankings of each query, as deep as both runs requested."""
    assert reference.run is not None, "only a baseline with a run is compared with"
    depth = min(reference.depth, inputs.suite.depth)
    pairs = {}
    for query in queries:
        first, second = reference.run.responses[query], inputs.run.responses[query]
        assert isinstance(first, Ranking), "only queries with a ranking on both sides are compared"
        assert isinstance(second, Ranking), "only queries with a ranking on both sides are compared"
        before = first.ids[:depth]
        as_returned = second.ids[:depth]
        after = as_returned
        possible_orders: list[Sequence[str]] = [(document,) for document in as_returned]
        if inputs.ignores_ties:
            after = restore_tie_order(first, second, depth=depth)
            possible_orders = list_possible_orders(truncate_ranking(first, depth), truncate_ranking(second, depth))
        pairs[query] = _RankingPair(before, after, as_returned, tuple(possible_orders))
    return pairs


def _decide_rankings(
    condition: AgreementCondition,
    pairs: Mapping[str, _RankingPair],
    inputs: GateInputs,
    reference: Reference,
    skipped: tuple[str, ...],
) -> Finding:
    """Compare the agreement of each of *pairs* with what *condition* requires; *skipped* are queries left out."""
    depth = min(reference.depth, inputs.suite.depth)
    values, least, greatest = {}, {}, {}
    for query, pair in pairs.items():
        value = agreement_value(condition.agreement, pair.before, pair.after, depth=depth)
        values[query] = value
        least[query], greatest[query] = pair.find_range(condition.agreement, value, depth=depth)
    zero_hits = list_without_hits(values, inputs.run.responses)
    scope = Scope(values, zero_hits, {}, (), skipped, read_weights(inputs.suite.queries, values))
    extremes = Extremes(least, greatest, suggest_tie_remedy(inputs))
    finding = decide_scores_with_ties(condition.as_score, scope, extremes, gain="", skip_undefined=False)
    only_ties: list[str] = []
    ties_and_more: list[str] = []
    for query, pair in pairs.items():
        if pair.after == pair.as_returned:
            continue
        if pair.after == pair.before:
            only_ties.append(query)
        else:
            ties_and_more.append(query)
    tie_changes = describe_tie_changes(only_ties, ties_and_more)
    reason = "; ".join([finding.reason, f"compared with {reference.called}", *tie_changes])
    caveat = ""
    if finding.status is Status.PASSED:
        caveat = "; ".join(tie_changes)
    return replace(finding, reason=reason, caveat=caveat)


def refuse_incomplete(finding: Finding, incomplete: Mapping[str, str], blamed: Sequence[str]) -> Finding:
    """*finding* as INCONCLUSIVE: more documents may match than were returned, by query or variant in *incomplete*."""
    hits = listed([f"{name} ({returned})" for name, returned in incomplete.items()])
    reason = f"{finding.measure} cannot be decided: more documents may match than were returned: {hits}"
    return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=tuple(blamed), cause=Cause.MORE_HITS)


def list_incomplete(
    queries: Sequence[str], responses: Mapping[str, Response], requested: RequestedDepth
) -> dict[str, str]:
    """The queries that may have fewer hits than were requested, each with the hits it has."""
    incomplete = {}
    for query in queries:
        ranking = responses[query]
        if isinstance(ranking, Ranking) and not ranking.closed and len(ranking.hits) < requested.depth:
            hits = describe_incomplete_hits(ranking, requested)
            if hits:
                incomplete[query] = hits
    return incomplete
