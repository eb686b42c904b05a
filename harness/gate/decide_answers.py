"""Expectations of single documents and of the number of hits, and thresholds on the engine's own time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.gate.conditions import list_named_documents
from harness.gate.finding import (
    Finding,
    add_left_out,
    explain_nothing_left,
    format_number,
    is_met,
    list_by_cause,
    split_skipped,
)
from harness.id_forms import describe_invisible
from harness.means import find_percentile
from harness.metrics.run_scores import failure_text
from harness.model.run import Cause, Failure, Ranking, Response, Run, Status, TargetChecks, Unit
from harness.model.suite import Before, HitCount, InTop, LatencyCondition, Operator, Query, Suite
from harness.words import count, listed


@dataclass(frozen=True, slots=True)
class RequestedDepth:
    """The number of hits that a run requested, and whether the server returned so many if so many match."""

    depth: int
    doubt: str = ""
    """Why that is not known, and what to do about it, in words; empty where it is known."""
    doubt_of_short_response: str = ""
    """As *doubt*, for a response with fewer hits than its own total says; it holds whatever other responses show."""
    of_service: bool = False
    """Whether the requests went to an HTTP service."""


DOUBT_OF_SERVICE = "the service may return fewer by default: send it `{{depth}}`, and set `total`"

DOUBT_OF_SERVICE_WITH_SIZE = "the service may have a limit: set `total`, and a `depth` within the limit"

DOUBT_OF_TEMPLATE = "the search template may have its own size: use `{{size}}` in it"


def read_requested_depth(suite: Suite, run: Run) -> RequestedDepth:
    """
    How many hits *run* requested, and whether the server applied that size.

    An engine applies the size of a body. A service, or a template stored in the engine, may have a smaller size of its
    own; one response with as many hits as were requested shows that it has not. A service that returns fewer hits than
    it says there are has one for that query.
    """
    template = suite.requests.get(run.request)
    if template is None:
        return RequestedDepth(suite.depth)
    is_service = template.http is not None
    doubt_of_short_response = ""
    if template.http is not None:
        doubt = DOUBT_OF_SERVICE
        if template.http.size is not None:
            doubt = DOUBT_OF_SERVICE_WITH_SIZE
        doubt_of_short_response = doubt
    elif isinstance(template.body, Mapping) and "template" in template.body:
        doubt = DOUBT_OF_TEMPLATE
    else:
        return RequestedDepth(suite.depth)
    for response in run.responses.values():
        if isinstance(response, Ranking) and response.returned >= suite.depth:
            # One response with as many hits shows that the server applies the size that it is sent.
            doubt = ""
    return RequestedDepth(suite.depth, doubt, doubt_of_short_response, is_service)


def decide_expectation(
    condition: InTop | Before | HitCount,
    query: Query,
    response: Response | None,
    requested: RequestedDepth,
    checks: TargetChecks | None = None,
) -> Finding:
    """
    Compare one ranking with a rank expectation.

    Args:
        condition: The rank expectation.
        query: The query; the reason names it, and the finding blames it.
        response: The query's response; None where it did not run.
        requested: The number of hits that were requested.
        checks: What is known of the target.

    Returns:
        ERROR where there is no ranking, or where a document that *condition* names is not visible through the target;
        INCONCLUSIVE where the ranking is not deep enough, where the number of hits is not known well enough, or where
        it would pass but for a document that could not be looked up; else PASSED or FAILED.
    """
    if not isinstance(response, Ranking):
        reason = f"cannot be decided: {explain_no_ranking(response)}"
        return Finding(Status.ERROR, reason, blamed=(query.id,), cause=Cause.UNANSWERED)
    if isinstance(condition, HitCount):
        return _decide_hit_count(condition, query, response, requested)
    documents = list_named_documents(condition)
    if checks is not None:
        # No ranking can hold a document that is not visible: "not in top 10" would pass whatever the request does.
        absent = [document for document in documents if document in checks.absent]
        if absent:
            sentences = [describe_invisible(document, checks.target, checks.absent[document]) for document in absent]
            reason = f"cannot be decided: {'; '.join(sentences)}"
            return Finding(Status.ERROR, reason, blamed=(query.id,), cause=Cause.NOT_VISIBLE)
    if isinstance(condition, Before):
        finding = _decide_before(condition, query, response, requested)
    else:
        finding = _decide_in_top(condition, query, response, requested)
    if checks is None or finding.status is not Status.PASSED:
        return finding
    unread = [document for document in documents if document in checks.unread]
    if unread:
        reason = f"cannot be decided: whether {unread[0]} is visible is unknown, as it could not be looked up"
        return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=(query.id,), cause=Cause.NOT_VISIBLE)
    return finding


def _decide_in_top(condition: InTop, query: Query, ranking: Ranking, requested: RequestedDepth) -> Finding:
    """Decide ``DOCUMENT in top K``, or ``DOCUMENT not in top K``."""
    operator, requirement = Operator.AT_MOST, f"required in the top {condition.k}"
    if condition.negated:
        operator, requirement = Operator.ABOVE, f"required not in the top {condition.k}"
    rank = _find_rank(condition.document, ranking)
    undecided = Finding(Status.INCONCLUSIVE, "", observed=None, required=condition.k, unit=Unit.RANK, operator=operator)
    incomplete_hits = describe_incomplete_hits(ranking, requested)
    if rank is None and incomplete_hits and condition.k > len(ranking.hits):
        reason = f"cannot be decided: {condition.document} is not in the {incomplete_hits}"
        if ranking.returned >= requested.depth:
            # Hits that repeat a document take a rank of the response, and none of the ranking.
            reason += f", set `depth: {condition.k + len(ranking.duplicates)}`"
        return replace(undecided, reason=reason, blamed=(query.id,), cause=Cause.MORE_HITS)
    is_in_top = rank is not None and rank <= condition.k
    finding = replace(undecided, reason=f"{_describe_rank(condition.document, ranking)}, {requirement}", observed=rank)
    return _complete_finding(finding, query, passed=is_in_top != condition.negated)


def _decide_before(condition: Before, query: Query, ranking: Ranking, requested: RequestedDepth) -> Finding:
    """Decide ``DOCUMENT before OTHER``. A document that is not in the ranking counts as below all that are."""
    rank, other_rank = _find_rank(condition.document, ranking), _find_rank(condition.other, ranking)
    undecided = Finding(Status.INCONCLUSIVE, "", required=other_rank, unit=Unit.RANK, operator=Operator.BELOW)
    incomplete_hits = describe_incomplete_hits(ranking, requested)
    if rank is None and other_rank is None and incomplete_hits:
        reason = f"cannot be decided: neither {condition.document} nor {condition.other} is in the {incomplete_hits}"
        if ranking.returned >= requested.depth:
            reason += ", increase `depth`"
        return replace(undecided, reason=reason, blamed=(query.id,), cause=Cause.MORE_HITS)
    reason = f"{_describe_rank(condition.document, ranking)}, {_describe_rank(condition.other, ranking)}"
    finding = replace(undecided, reason=reason, observed=rank)
    if rank is None:
        return _complete_finding(finding, query, passed=False)
    if other_rank is not None and other_rank < rank:
        finding = replace(finding, reason=f"{reason}, required in the opposite order")
    return _complete_finding(finding, query, passed=other_rank is None or rank < other_rank)


def _decide_hit_count(condition: HitCount, query: Query, ranking: Ranking, requested: RequestedDepth) -> Finding:
    """Decide ``hits >= N``, by the number of documents that match."""
    operator, unit = condition.operator, Unit.HITS
    undecided = Finding(Status.INCONCLUSIVE, "", required=condition.required, unit=unit, operator=operator)
    requirement = f"required {operator} {condition.required}"
    if ranking.total_doubt:
        reason = f"cannot be decided: {ranking.total_doubt}, {requirement}"
        return replace(undecided, reason=reason, blamed=(query.id,), cause=Cause.MORE_HITS)
    if ranking.total is None or ranking.total_is_lower_bound:
        least = ranking.total
        if least is None:
            # Each document counts once, also if it was returned twice.
            least = len(ranking.hits)
        undecided = replace(undecided, observed=least, reason=f"at least {count(least, 'hit')}, {requirement}")
        return _decide_lower_bound(condition, query, ranking, undecided, of_service=requested.of_service)
    reason = f"{count(ranking.total, 'hit')}, {requirement}"
    finding = replace(undecided, reason=reason, observed=ranking.total)
    return _complete_finding(finding, query, passed=is_met(ranking.total, operator, condition.required))


def _decide_lower_bound(
    condition: HitCount, query: Query, ranking: Ranking, undecided: Finding, *, of_service: bool
) -> Finding:
    """
    Decide by *undecided.observed*, of which it is only known that at least so many hits match.

    That can pass ``>=`` and ``>``, and fail all other comparisons. *undecided.reason* says how many hits there are, and
    how many are required.
    """
    least = undecided.observed or 0
    if condition.operator in (Operator.AT_LEAST, Operator.ABOVE):
        if is_met(least, condition.operator, condition.required):
            return _complete_finding(undecided, query, passed=True)
    else:
        greatest_allowed = condition.required
        if condition.operator is Operator.BELOW:
            greatest_allowed -= 1
        if least > greatest_allowed:
            return _complete_finding(undecided, query, passed=False)
    if ranking.total is None:
        reason = f"cannot be decided: the answer has no number of matching documents, {undecided.reason}"
        return replace(undecided, reason=reason, blamed=(query.id,), cause=Cause.MORE_HITS)
    remedy = "set `track_total_hits: true` in the request"
    if ranking.stopped_early:
        remedy = "remove `terminate_after` from the request"
    server = "engine"
    if of_service:
        server, remedy = "service", "make it count all"
    reason = f"cannot be decided: the {server} counted {undecided.reason}; {remedy}"
    return replace(undecided, reason=reason, blamed=(query.id,), cause=Cause.MORE_HITS)


def _complete_finding(undecided: Finding, query: Query, *, passed: bool) -> Finding:
    """*undecided*, which has its reason and its figures, as the finding that *query* passed or failed."""
    if passed:
        return replace(undecided, status=Status.PASSED, counted=1)
    return replace(undecided, status=Status.FAILED, counted=1, blamed=(query.id,))


def explain_no_ranking(response: Response | None) -> str:
    """Why *response* is no ranking; None is that of a query that did not run."""
    if isinstance(response, Failure):
        return failure_text(response)
    return "did not run"


def list_without_ranking(queries: Sequence[str], responses: Mapping[str, Response], where: str) -> dict[str, str]:
    """The queries without a ranking, with the reason of each, which ends with *where*, such as " in the baseline"."""
    reasons = {}
    for query in queries:
        response = responses.get(query)
        if not isinstance(response, Ranking):
            reasons[query] = f"{explain_no_ranking(response)}{where}"
    return reasons


def list_without_hits(queries: Iterable[str], responses: Mapping[str, Response]) -> tuple[str, ...]:
    """The *queries* that were answered with no hit."""
    without_hits = []
    for query in queries:
        response = responses.get(query)
        if isinstance(response, Ranking) and not response.hits:
            without_hits.append(query)
    return tuple(without_hits)


def describe_without_ranking(unanswered: Mapping[str, str], noun: str = "query") -> str:
    """That there is no ranking of those *unanswered*, with the reason of each; *noun* says what they are."""
    return f"no ranking for {count(len(unanswered), noun)}: {list_by_cause(unanswered)}"


def refuse_unanswered(finding: Finding, unanswered: Mapping[str, str]) -> Finding:
    """*finding* as ERROR: queries have no ranking, for the reasons in *unanswered*."""
    reason = f"{finding.measure} cannot be decided: {describe_without_ranking(unanswered)}"
    return replace(finding, status=Status.ERROR, reason=reason, blamed=tuple(unanswered), cause=Cause.UNANSWERED)


def _find_rank(document: str, ranking: Ranking) -> int | None:
    """The rank of *document*, counted from 1; None where it is not in *ranking*."""
    for rank, hit in enumerate(ranking.hits, start=1):
        if hit.id == document:
            return rank
    return None


def _describe_rank(document: str, ranking: Ranking) -> str:
    rank = _find_rank(document, ranking)
    if rank is None:
        return f"{document} is not among the {count(len(ranking.hits), 'hit')}"
    return f"{document} is at rank {rank}"


def describe_incomplete_hits(ranking: Ranking, requested: RequestedDepth) -> str:
    """
    The hits of *ranking*, in words, if more documents may match than were returned; empty if it has all that match.

    The words follow "is not in the": "10 hits requested", or "3 hits returned, where 10 were requested; …".
    """
    returned = ranking.returned
    if ranking.total is not None and not ranking.total_is_lower_bound and ranking.total <= returned:
        return ""
    if returned >= requested.depth:
        if not ranking.duplicates:
            return f"{count(requested.depth, 'hit')} requested"
        hits = f"{returned} hits requested"
        if returned > requested.depth:
            # One hit beyond the depth is requested to see ties. It may be the one that repeats a document.
            hits = f"{returned} hits returned"
        return f"{hits}, {len(ranking.duplicates)} of which repeat a document"
    doubt = requested.doubt
    if not doubt and ranking.total is not None:
        doubt = requested.doubt_of_short_response
    if not doubt or not returned:
        return ""
    matching = ""
    if ranking.total is not None:
        matching = f" and {ranking.total} match"
    return f"{count(returned, 'hit')} returned, where {requested.depth} were requested{matching}; {doubt}"


def decide_latency(
    condition: LatencyCondition, queries: Sequence[Query], responses: Mapping[str, Response], today: date
) -> Finding:
    """
    Compare a percentile of the server's own times, in milliseconds, with the threshold.

    A service whose request has no path to its own time is decided by the times to the last byte of its answers.

    The percentile is the nearest rank: the least time that so many per cent of the queries do not exceed. A query
    without a response makes the finding an ERROR; a response without a time makes it INCONCLUSIVE.
    """
    active_queries, skipped = split_skipped(queries, today)
    name = f"p{condition.percentile} latency"
    if condition.percentile == 100:
        name = "max latency"
    times, untimed = _read_times([query.id for query in active_queries], responses)
    finding = Finding(
        Status.FAILED,
        "",
        required=condition.milliseconds,
        counted=len(times),
        left_out=len(skipped),
        unit=Unit.MILLISECONDS,
        operator=Operator.AT_MOST,
    )
    if untimed:
        are_all_answered = all(isinstance(responses.get(query), Ranking) for query in untimed)
        status, cause = Status.ERROR, Cause.UNANSWERED
        if are_all_answered:
            status, cause = Status.INCONCLUSIVE, Cause.NO_TIME
        reason = f"{name} cannot be decided: {list_by_cause(untimed)}"
        return replace(finding, status=status, reason=reason, blamed=tuple(untimed), cause=cause)
    if not times:
        reason = f"{name} has nothing to decide: {explain_nothing_left(skipped)}"
        return replace(finding, reason=reason, cause=Cause.NOTHING_TO_DECIDE)
    for query in times:
        response = responses[query]
        if isinstance(response, Ranking) and response.took is None:
            name += " to the last byte"
            break
    return add_left_out(_compare_times(condition, finding, name, times), skipped)


def _compare_times(condition: LatencyCondition, finding: Finding, name: str, times: Mapping[str, float]) -> Finding:
    """Complete *finding* by the percentile, by nearest rank, and the queries that are slower than the limit."""
    limit = condition.milliseconds
    observed = find_percentile(times.values(), condition.percentile)
    reason = f"{name} is {format_number(observed)} ms, required <= {format_number(limit)} ms"
    reason += f", over {count(len(times), 'query')}"
    if is_met(observed, Operator.AT_MOST, limit):
        return replace(finding, status=Status.PASSED, reason=reason, observed=observed)
    slow = [query for query in times if not is_met(times[query], Operator.AT_MOST, limit)]
    slow.sort(key=lambda query: (-times[query], query))
    slowest = listed([f"{query} {format_number(times[query])} ms" for query in slow])
    return replace(finding, reason=f"{reason}; slowest: {slowest}", observed=observed, blamed=tuple(slow))


def _read_times(queries: Sequence[str], responses: Mapping[str, Response]) -> tuple[dict[str, float], dict[str, str]]:
    """The time of each query in milliseconds, and of each that has none the reason."""
    times: dict[str, float] = {}
    untimed: dict[str, str] = {}
    for query in queries:
        response = responses.get(query)
        if not isinstance(response, Ranking):
            untimed[query] = explain_no_ranking(response)
            continue
        milliseconds = response.took
        if milliseconds is None and not response.took_doubt:
            # The request to a service has no path to its own time.
            milliseconds = response.to_last_byte
        if milliseconds is None:
            untimed[query] = response.took_doubt or "the answer has no `took`"
        else:
            times[query] = milliseconds
    return times, untimed
