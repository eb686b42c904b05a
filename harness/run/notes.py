"""The notes of a report: how its suite was run, what was left out, and what is doubtful in the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.config import ENGINES
from harness.gate.conditions import gates_anything, iterate_thresholds, list_for_other_requests
from harness.gate.selection import QueryFilter, Selection, collect_thresholds, needs_baseline
from harness.gate.stability import explain_changed_target
from harness.metrics.near_ids import JudgedRanking, describe_near_ids
from harness.metrics.ranking import gain_of
from harness.metrics.run_scores import outcome_of
from harness.model.kept import Reference
from harness.model.report import QueryBaseline
from harness.model.request import Cluster
from harness.model.run import Engine, IndexState, Ranking, Run, TailSearch, Verdict
from harness.model.scores import Outcome
from harness.model.suite import PEOPLE, LatencyCondition, Suite, Threshold
from harness.options import RunOptions
from harness.run.quotes import describe_found_quotes
from harness.store.differences import describe_not_compared
from harness.words import count, counted, listed, one_of


def describe_run(
    selection: Selection, run: Run, options: RunOptions, server: Cluster | None, verdicts: Sequence[Verdict]
) -> Iterator[str]:
    """How the suite was run: over the connection to *server*, on which index, and what was left out."""
    suite = selection.whole_suite
    yield from describe_connection(server, run.engine)
    yield from suite.judge_notes
    yield from describe_means_beside_estimates(suite)
    yield from _describe_requests(suite, run, options)
    yield from _describe_state(suite, run)
    yield from describe_near_hits(selection.selected, run)
    yield from describe_found_quotes(selection.selected, run)
    yield from describe_repeated_documents(selection.selected, run)
    if options.tags or options.queries:
        yield from _describe_deselection(selection, run.request, options, verdicts)
    if run.tails is not None:
        yield from _describe_tails(run.tails, suite.depth)
    if run.has_rankings:
        yield from _describe_times(suite, run, options, server)
    if options.history is not None:
        reason = explain_not_kept(selection.selected, run, options)
        if reason:
            yield f"the run is not kept in the history: {reason}"


def describe_means_beside_estimates(suite: Suite) -> Iterator[str]:
    """Whose grades the means of the report have, where a threshold has an estimate of the same measure beside them."""
    if any(threshold.is_estimated for threshold in iterate_thresholds(suite)):
        machines = listed([judge for judge in suite.judges if judge != PEOPLE])
        yield (
            f"the means in the table are by people's grades, and by those of {machines} where there are none; the "
            "estimate of a threshold corrects these by the sample, and is the figure to quote"
        )


def describe_near_hits(suite: Suite, run: Run) -> Iterator[str]:
    """That hits are judged under another form of their id."""
    sentence = describe_near_ids(_iterate_judged_rankings(suite, run))
    if sentence:
        yield sentence


def describe_repeated_documents(suite: Suite, run: Run) -> Iterator[str]:
    """That more hits were asked for, as several were of one document, and which queries still have too few."""
    if run.deepened:
        yield (
            f"hits of one document count once, at the best: for {counted(list(run.deepened), 'query')} up to "
            f"{max(run.deepened.values()):,} hits were asked for, to find {suite.depth:,} documents"
        )
    short = []
    for query, response in run.responses.items():
        if isinstance(response, Ranking) and response.duplicates and len(response.ids) < suite.depth:
            short.append(query)
    if short:
        yield f"{counted(short, 'query')} with fewer than {suite.depth:,} different documents among the hits"


def _iterate_judged_rankings(suite: Suite, run: Run) -> Iterator[JudgedRanking]:
    for query in suite.queries:
        response = run.responses.get(query.id)
        if isinstance(response, Ranking):
            yield JudgedRanking(response.ids, query.judgments)


def describe_connection(cluster: Cluster | None, engine: Engine) -> Iterator[str]:
    """What is insecure about the connection to *cluster*, and what the login may not read about *engine*."""
    from harness.search.client_object import UNKNOWN_ENGINE
    from harness.search.login import list_login_remarks

    if cluster is not None:
        yield from list_login_remarks(cluster)
    if engine.kind in ENGINES and not engine.version and not engine.stated:
        yield f"the version of {engine.kind} is unknown, because the login may not use `GET /`"
    if engine == UNKNOWN_ENGINE:
        yield "the engine is unknown, because the client has no `info`: state `engine` in the target"


def _describe_requests(suite: Suite, run: Run, options: RunOptions) -> Iterator[str]:
    """What was sent otherwise than the suite alone says: where, by which code, with which body, on which index."""
    from harness.search.dialects import find_dialect

    template = suite.requests.get(run.request)
    if options.keeps_cluster:
        yield (
            f"the request {run.request!r} was sent to its own cluster, {suite.target.cluster}: "
            "the server that was named takes the place of the suite's"
        )
    # Hooks are code outside the suite that may change requests and so results.
    hooks = list(options.hooks.describe())
    if hooks:
        yield f"hooks: {', '.join(hooks)}"
    if template is not None:
        parameters = find_dialect(suite.target.service).list_unbatched_params(template)
        if parameters:
            yield f"each query is sent by itself with _search, as _msearch does not take {', '.join(parameters)}"
    if options.body is not None:
        yield f"the request {run.request} was sent with another body than that of the suite, given in Python"
    own_index = suite.target.index
    if template is not None and template.index:
        own_index = template.index
    if options.index is not None and options.index != own_index:
        yield f"index {options.index} was used instead of {own_index or 'none'}"


def _describe_state(suite: Suite, run: Run) -> Iterator[str]:
    """That it is open whether the target changed: between several runs, or because its state could not be read."""
    target = run.index or "the target"
    if run.target_unknown:
        yield (
            "answers of an earlier run or of another part were kept, and the state of "
            f"{target} could not be compared: it may have changed between them"
        )
    if run.states and run.states[-1] == IndexState():
        yield f"the state of {target} could not be read after the searches: it may have changed"
    unread = _list_unread_parts(suite, run.states)
    if unread:
        yield f"of {target} could not be read: {', '.join(unread)}; a change of that during the run is not noticed"


def _list_unread_parts(suite: Suite, states: Sequence[IndexState]) -> list[str]:
    """What could not be read of a target in *states*, in words, such as "mapping"."""
    parts: list[str] = []
    known = [state for state in states if state != IndexState()]
    if known and not suite.target.point_in_time:
        if all(state.uuids is None for state in known):
            parts.append("the indexes that it stands for")
        # Behind the filter of an alias, the documents of a shard say nothing about those that are searched.
        if all(state.visible is None and not state.filters for state in known):
            parts.append("the documents of each shard (`_stats`)")
    for state in known:
        if state.definitions is not None:
            parts += [unread for unread in state.definitions.unread if unread not in parts]
    return parts


def explain_not_kept(suite: Suite, run: Run, options: RunOptions) -> str:
    """Why a *run* of *suite* with *options* is none that others can be compared with; empty if it is."""
    query_filter = QueryFilter.from_options(options)
    if query_filter.selects_part:
        return f"it has no other queries than {query_filter}"
    if options.body is not None:
        return "its body is not that of the suite"
    unanswered = []
    for query in suite.queries:
        response = run.responses.get(query.id)
        outcome, _ = outcome_of(query, response)
        # A query that was skipped has no response.
        if not isinstance(response, Ranking) and outcome is not Outcome.SKIPPED:
            unanswered.append(query.id)
    if unanswered:
        return f"no answer came to {count(len(unanswered), 'query')}: {listed(unanswered)}"
    if not run.responses:
        return "it has no queries"
    return explain_changed_target(run)


def _describe_deselection(
    selection: Selection, request: str, options: RunOptions, verdicts: Sequence[Verdict]
) -> Iterator[str]:
    """The queries and thresholds that the options left out, of those for *request*."""
    suite = selection.whole_suite
    query_filter = QueryFilter.from_options(options)
    if query_filter.queries and not selection.selected.queries:
        yield f"nothing was sent: the suite has no query {one_of(query_filter.queries)}{query_filter.tag_words}"
    left_out = len(collect_thresholds(suite)) - len(list_for_other_requests(suite, request)) - len(verdicts)
    if left_out == 1:
        yield f"1 threshold is not decided: it is about other queries than {query_filter}"
    elif left_out:
        yield f"{left_out} thresholds are not decided: they are about other queries than {query_filter}"


def _describe_times(suite: Suite, run: Run, options: RunOptions, server: Cluster | None) -> Iterator[str]:
    """Which time thresholds on latency compare, and how often the queries were sent."""
    template = suite.requests.get(run.request)
    if template is not None and template.http is not None and _has_latency_threshold(suite):
        if template.http.took is not None:
            yield f"latency is the service's own time, at `{template.http.took}` of each answer"
        else:
            together = ""
            if server is not None and server.concurrency > 1:
                together = f", with up to {server.concurrency} requests at the same time"
            yield f"latency is the time to the last byte of each answer{together}, as the request has no path `took`"
    warm_up = options.warm_up or suite.warm_up
    if warm_up:
        yield f"warm-up: all queries were sent {count(warm_up, 'time')} before, for answers that were thrown away"
    repeats, wanted = len(run.repeats) + 1, options.repeat or 1
    if repeats < wanted:
        yield f"the time budget of the run sufficed for {repeats} of {wanted} repeats"


def _has_latency_threshold(suite: Suite) -> bool:
    thresholds = list(suite.thresholds)
    for query in suite.queries:
        thresholds += query.thresholds
    return any(isinstance(threshold.condition, LatencyCondition) for threshold in thresholds)


def _describe_tails(tails: TailSearch, depth: int) -> Iterator[str]:
    """What it cost to find out which documents tie with the last hits."""
    queries = count(tails.queries, "query")
    if tails.problem:
        yield f"the documents that tie with the last hit of {queries} are unknown: {tails.problem}"
        return
    note = f"{queries} repeated for ties below rank {depth}: at most {count(tails.hits, 'hit')} each"
    if tails.left_open:
        note += f"; some are unknown for {count(tails.left_open, 'query')}"
    yield note


def describe_since_baseline(
    suite: Suite, run: Run, reference: Reference, before: Mapping[str, QueryBaseline]
) -> Iterator[str]:
    """What changed since the baseline, and what is not compared; none where verdicts report that it is missing."""
    if reference.run is None and needs_baseline(suite, run.request):
        return
    yield from reference.changes
    tied = [query for query, in_baseline in before.items() if in_baseline.ties_only]
    if tied:
        queries = counted(tied, "query")
        yield f"since the baseline of {reference.created} only the order of ties changed in {queries}"
    note = describe_not_compared(suite, run, reference)
    if note:
        yield note


OTHERS_SHOWN = 3
"""Thresholds for other requests that a note names."""


def describe_other_requests(suite: Suite, request: str) -> Iterator[str]:
    """That *request* of *suite* gates nothing, and why; or which thresholds are left out for it."""
    others = list_for_other_requests(suite, request)
    if not suite.requests[request].gates:
        yield f"the request {request!r} gates nothing: it has `gate: false`"
    elif others:
        texts = listed([_name_other(threshold) for threshold in others], OTHERS_SHOWN)
        if gates_anything(suite, request):
            are_for = "threshold is for another request" if len(others) == 1 else "thresholds are for other requests"
            yield f"{len(others):,} {are_for} than {request!r}: {texts}"
        else:
            yield f"the request {request!r} gates nothing: all thresholds are for other requests: {texts}"


def _name_other(threshold: Threshold) -> str:
    """A *threshold* for other requests, with their names; one that compares with the request is for all others."""
    if not threshold.requests:
        return threshold.text
    return f"{threshold.text} ({', '.join(threshold.requests)})"


def describe_target(suite: Suite, run: Run) -> Iterator[str]:
    """The judged documents that no search can return, and what could not be checked of the target."""
    checks = run.checks
    if checks is None:
        return
    target = checks.target or "the target"
    absent_relevant: set[str] = set()
    for query in suite.queries:
        for document in checks.absent.keys() & query.judgments.keys():
            if gain_of(suite.gain, query.judgments[document]) > 0:
                absent_relevant.add(document)
    if absent_relevant and run.has_rankings:
        verb = "is" if len(absent_relevant) == 1 else "are"
        number = f"{len(absent_relevant):,} of {count(checks.relevant, 'document')} judged relevant {verb}"
        yield f"{number} not visible through {target}: {listed(sorted(absent_relevant))}"
    for problem in checks.problems:
        yield f"{target}: {problem}"


def describe_doubts(
    changed: str, stopped: Sequence[str], uncounted: Sequence[str], untimed: Sequence[str]
) -> Iterator[str]:
    """
    What leaves the rankings as they are: how the target *changed*, the queries for which the engine *stopped* early,
    and those whose number of matching documents, or whose time, is unknown.
    """
    if changed:
        yield changed
    doubts = {
        "the engine collected only a part of the documents because of `terminate_after`": stopped,
        "the number of matching documents is unknown": uncounted,
        "the server's own time is unknown": untimed,
    }
    for sentence, queries in doubts.items():
        if queries:
            yield f"{sentence}: {listed(queries)}"
