"""Thresholds on how far the rankings agree with those of the baseline, which need no judgment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.gate.finding import Finding, Scope, describe_tie_changes, list_by_cause, read_weights
from harness.gate.judge_answers import RequestedDepth, explain_no_ranking, explain_what_may_follow
from harness.gate.judge_scores import judge_scores
from harness.gate.pairs import Compared, reference_problem
from harness.gate.ties import restore_tie_order
from harness.metrics.agreement import agreement_value
from harness.model import AgreementCondition, Query, Ranking, Reference, Response, Status
from harness.model.suite import in_force
from harness.words import count, listed


def judge_agreement(
    condition: AgreementCondition, compared: Compared, queries: Sequence[Query], asked_for: RequestedDepth
) -> Finding:
    """
    Compare the rankings of *queries* with the baseline's, down to the cutoff, or to all hits that were *asked_for*.

    Returns:
        ERROR where a query has no ranking on either side; FAILED, or WARNED where the suite's baseline is optional,
        where there is no baseline, it is older than the suite, or the figure falls short; INCONCLUSIVE where a ranking
        ends before the cutoff although more documents may match; SKIPPED where the run is to become the baseline
        itself; else PASSED.
    """
    name = condition.agreement.text
    asked = [query.id for query in queries if not in_force(query.skip, compared.today)]
    skipped = tuple(query.id for query in queries if query.id not in asked)
    if unanswered := _unanswered(asked, compared.run.responses, ""):
        return _without_ranking(condition, unanswered)
    reference = compared.reference
    if reference is not None and reference.updating:
        return Finding(Status.SKIPPED, "not compared: this run is saved as the baseline", measure=name)
    needed = condition.agreement.cutoff or compared.suite.depth
    problem = reference_problem(reference, asked, needed)
    if problem or reference is None or reference.run is None:
        status = Status.WARNED if compared.suite.baseline_optional else Status.FAILED
        return Finding(status, f"{name} cannot be decided: {problem}", None, condition.required, name)
    if unanswered := _unanswered(asked, reference.run.responses, f" in {reference.called}"):
        return _without_ranking(condition, unanswered)
    sides = (compared.run.responses, reference.run.responses)
    ended = _ended_early(asked, sides, replace(asked_for, depth=needed))
    if ended:
        held = listed([f"{query} ({text})" for query, text in ended.items()])
        number = count(len(ended), "query")
        sentence = f"{name} cannot be decided: more documents may match than were returned for {number}: {held}"
        return Finding(Status.INCONCLUSIVE, sentence, None, condition.required, name, tuple(ended))
    return _judge(condition, compared, reference, asked, skipped)


def _without_ranking(condition: AgreementCondition, unanswered: Mapping[str, str]) -> Finding:
    name = condition.agreement.text
    missing = f"no ranking for {count(len(unanswered), 'query')}: {list_by_cause(unanswered)}"
    sentence = f"{name} cannot be decided: {missing}"
    return Finding(Status.ERROR, sentence, None, condition.required, name, tuple(unanswered))


def _judge(
    condition: AgreementCondition,
    compared: Compared,
    reference: Reference,
    asked: Sequence[str],
    skipped: Sequence[str],
) -> Finding:
    before = reference.run.responses if reference.run else {}
    depth, ignored = min(reference.depth, compared.suite.depth), compared.ignores_ties
    pairs = {query: _pair(before[query], compared.run.responses[query], depth, ignores_ties=ignored) for query in asked}
    values = {
        query: agreement_value(condition.agreement, pair.before, pair.after, depth=depth)
        for query, pair in pairs.items()
    }
    scope = Scope(values, (), {}, (), tuple(skipped), read_weights(compared.suite.queries, values))
    finding = judge_scores(condition.as_score, scope, gain="", skip_undefined=False)
    moved = [query for query, pair in pairs.items() if pair.after != pair.came]
    ties = [query for query in moved if pairs[query].after == pairs[query].before]
    excused = describe_tie_changes(ties, [query for query in moved if query not in ties])
    reason = "; ".join([finding.reason, f"compared with {reference.called}", *excused, *reference.changes])
    caveat = "; ".join(excused) if finding.status is Status.PASSED else ""
    return replace(finding, reason=reason, caveat=caveat)


@dataclass(frozen=True, slots=True)
class _RankingPair:
    """The documents of the baseline and of today: as they *came*, and with ties in the baseline's order."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    came: tuple[str, ...]


def _pair(first: Response, second: Response, depth: int, *, ignores_ties: bool) -> _RankingPair:
    """Both rankings, at most *depth* hits of each; *ignores_ties* gives today's ties the order of the baseline."""
    assert isinstance(first, Ranking), "only queries with a ranking on both sides are compared"
    assert isinstance(second, Ranking), "only queries with a ranking on both sides are compared"
    before, came = (tuple(hit.id for hit in one.hits[:depth]) for one in (first, second))
    return _RankingPair(before, restore_tie_order(first, second, depth=depth) if ignores_ties else came, came)


def _ended_early(
    queries: Sequence[str], sides: Iterable[Mapping[str, Response]], asked_for: RequestedDepth
) -> dict[str, str]:
    """The queries of which a side may have fewer hits than were requested, each with the hits it has."""
    found = {}
    for query, side in product(queries, sides):
        ranking = side[query]
        if isinstance(ranking, Ranking) and not ranking.closed and len(ranking.hits) < asked_for.depth:
            found[query] = explain_what_may_follow(ranking, asked_for)
    return {query: text for query, text in found.items() if text}


def _unanswered(queries: Sequence[str], responses: Mapping[str, Response], where: str) -> dict[str, str]:
    found = {query: responses.get(query) for query in queries}
    return {
        query: f"{explain_no_ranking(response)}{where}"
        for query, response in found.items()
        if not isinstance(response, Ranking)
    }
