"""An earlier run of the same queries: which of its responses are kept, and which queries are sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.model import Engine, Failure, FailureKind, Ranking, Response, Run, Suite, chosen, ids_of


def kept_answers(earlier: Run | None) -> Mapping[str, Response]:
    """The rankings of an *earlier* run, whose queries are not sent again."""
    responses = {} if earlier is None else earlier.responses
    return {query: answer for query, answer in responses.items() if isinstance(answer, Ranking)}


def without_answered(active: Suite, kept: Mapping[str, Response]) -> Suite:
    """*active* with the queries that have none of the *kept* answers."""
    left = [query not in kept for query in ids_of(active.queries)]
    return replace(active, queries=chosen(active.queries, left)) if kept else active


def joined(run: Run, earlier: Run | None) -> Run:
    """*run*, which has the responses of *earlier*, with the other findings of *earlier*."""
    if earlier is None or not earlier.has_rankings:
        return run
    return replace(
        earlier,
        responses=run.responses,
        request=run.request,
        index=run.index,
        seconds=earlier.seconds + run.seconds,
        resent={**earlier.resent, **run.resent},
        titles={**earlier.titles, **run.titles},
        checks=run.checks or earlier.checks,
    )


def failed_run(active: Suite, request: str | None, engine: Engine, reason: str, earlier: Run | None) -> Run:
    """A run of *request*, a name, whose queries failed for *reason*, except those that *earlier* has a ranking of."""
    from harness.suites.requests import choose_template

    template, kept = choose_template(active, request), kept_answers(earlier)
    failure = Failure(FailureKind.ERROR, reason)
    responses = {query: kept.get(query, failure) for query in ids_of(active.queries)}
    return joined(Run(responses, engine, template.name, template.index or active.target.index), earlier)
