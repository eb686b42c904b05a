"""The notes of a report on how its suite was run: over which connection, on which index, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.config import ENGINES
from harness.gate.selection import QueryFilter, Selection, gated_thresholds
from harness.model import Cluster, Engine, IndexState, Run, Suite, Verdict
from harness.options import RunOptions
from harness.words import count, one_of


def connection_notes(cluster: Cluster | None, engine: Engine) -> Iterator[str]:
    """What is insecure about the connection to *cluster*, and what the login may not read about *engine*."""
    from harness.search.login import remarks_on

    yield from [] if cluster is None else remarks_on(cluster)
    if engine.kind in ENGINES and not engine.version and not engine.stated:
        yield f"the version of {engine.kind} is unknown, because the login may not use `GET /`"


def hooks_note(options: RunOptions) -> Iterator[str]:
    """The hooks, which are code outside the suite that may change requests and so results."""
    in_force = [] if options.hooks is None else list(options.hooks.in_force())
    if in_force:
        yield f"hooks: {', '.join(in_force)}"


def single_search_note(suite: Suite, run: Run) -> Iterator[str]:
    """That each query costs a request, where an `_msearch` cannot carry the suite's parameters."""
    from harness.search.msearch import IN_HEADER

    template = suite.requests.get(run.request)
    others = sorted(template.url_params.keys() - IN_HEADER) if template else []
    if others:
        yield f"each query is sent by itself with _search, as _msearch does not take {', '.join(others)}"


def index_note(suite: Suite, run: Run, options: RunOptions) -> Iterator[str]:
    """The index that was searched in place of the suite's own."""
    index, template = options.index, suite.requests.get(run.request)
    own = (template.index if template else None) or suite.target.index
    if index is not None and index != own:
        yield f"index {index} was used instead of {own or 'none'}"


def kept_note(run: Run) -> Iterator[str]:
    """That the responses are of several runs, whose targets could not be compared."""
    if run.target_unknown:
        yield (
            "answers of an earlier run or of another part were kept, and the state of "
            f"{run.index or 'the target'} could not be compared: it may have changed between them"
        )


def state_note(run: Run) -> Iterator[str]:
    """That it is open whether the target changed, as its state could be read before the searches and not after them."""
    if run.states and run.states[-1] == IndexState():
        yield f"the state of {run.index or 'the target'} could not be read after the searches: it may have changed"


def deselection_notes(selection: Selection, options: RunOptions, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The queries and thresholds that the options left out."""
    query_filter = QueryFilter.of(options)
    if query_filter.queries and not selection.selected.queries:
        yield f"nothing was sent: the suite has no query {one_of(query_filter.queries)}{query_filter.with_tags}"
    left_out = len(gated_thresholds(selection.suite)) - len(verdicts)
    if left_out:
        left = (
            "1 threshold is not decided: it is" if left_out == 1 else f"{left_out} thresholds are not decided: they are"
        )
        yield f"{left} about other queries than {query_filter}"


def warm_up_note(suite: Suite, run: Run, options: RunOptions) -> Iterator[str]:
    """That caches were warm when latencies were measured."""
    times = options.warm_up or suite.warm_up
    if times and run.has_rankings:
        yield f"warm-up: all queries were sent {count(times, 'time')} before, for answers that were thrown away"


def repeats_note(run: Run, options: RunOptions) -> Iterator[str]:
    """That the budget left no time for all repeats."""
    times = options.repeat or 1
    if run.has_rankings and len(run.repeats) + 1 < times:
        yield f"the time budget of the run sufficed for {len(run.repeats) + 1} of {times} repeats"


def tails_note(run: Run, suite: Suite) -> Iterator[str]:
    """What it cost to find out which documents tie with the last hits."""
    tails = run.tails
    if tails is None:
        return
    queries = count(tails.queries, "query")
    if tails.problem:
        yield f"the documents that tie with the last hit of {queries} are unknown: {tails.problem}"
        return
    left = f"; some are unknown for {count(tails.left_open, 'query')}" if tails.left_open else ""
    yield f"{queries} repeated for ties below rank {suite.depth}: at most {count(tails.hits, 'hit')} each{left}"
