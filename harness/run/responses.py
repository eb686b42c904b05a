"""The responses of a run, and those of an earlier run that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.model import Engine, Failure, FailureKind, Ranking, Response, Run, Suite


class ReceivedResponses(dict[str, Response]):
    """Responses by query id, as they are received. *replaced* are the queries that had another response before."""

    def __init__(self) -> None:
        super().__init__()
        self.replaced: set[str] = set()

    def keep(self, responses: Mapping[str, Response]) -> None:
        """Store *responses*, in place of earlier responses of the same queries."""
        self.replaced.update(query for query in responses if query in self)
        self.update(responses)

    def in_order_of(self, suite: Suite) -> dict[str, Response]:
        """The responses in the order of the suite's queries."""
        return {query.id: self[query.id] for query in suite.queries if query.id in self}


def kept_answers(earlier: Run | None) -> Mapping[str, Response]:
    """The rankings of an *earlier* run, whose queries are not sent again."""
    responses = {} if earlier is None else earlier.responses
    return {query: answer for query, answer in responses.items() if isinstance(answer, Ranking)}


def without_answered(active: Suite, kept: Mapping[str, Response]) -> Suite:
    """*active* with the queries that have none of the *kept* answers."""
    if not kept:
        return active
    return replace(active, queries=tuple(query for query in active.queries if query.id not in kept))


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
        window_is_full=run.window_is_full or earlier.window_is_full,
    )


def failed_run(active: Suite, request: str | None, engine: Engine, reason: str, earlier: Run | None) -> Run:
    """A run of *request*, a name, whose queries failed for *reason*, except those that *earlier* has a ranking of."""
    from harness.suites.requests import choose_template

    template, kept = choose_template(active, request), kept_answers(earlier)
    failure = Failure(FailureKind.ERROR, reason)
    responses = {query.id: kept.get(query.id, failure) for query in active.queries}
    return joined(Run(responses, engine, template.name, template.index or active.target.index), earlier)
