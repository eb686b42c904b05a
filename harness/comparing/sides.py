"""One of the two that are compared, whatever it was read from or run on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from harness.gate.ties import cut
from harness.metrics.run_scores import failure_text, score_run
from harness.model import Failure, Gain, Profile, Query, Question, Ranking, Response, Run, Score, Side, SideKind, Suite

__all__ = ["ComparedSide", "contender_of_rankings", "cut_at", "with_empty"]


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """
    A side with its rankings, and all that it knows by itself.

    *depth* is how many hits were asked for, None where the rankings are whole. *queries* have the texts, tags and
    grades that it holds. *scores* are as it holds them, made with *gain* and *profile*, None where it has none.
    *template* is a fingerprint of its request, None where that is not known; *orders_ties* says that the request puts
    documents of equal score in an order of its own. *fingerprints* of the judgments by query are a baseline's.
    *questions* are what its queries asked, where that is known. *changed_questions* are what it was asked and what is
    asked now; its answers to the former are taken from it.
    """

    side: Side
    run: Run
    depth: int | None
    queries: tuple[Query, ...]
    scores: tuple[Score, ...] = ()
    gain: Gain | None = None
    profile: Profile | None = None
    template: str | None = None
    orders_ties: bool = False
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)


def contender_of_rankings(suite: Suite, run: Run, name: str) -> ComparedSide:
    """The rankings of *run*, scored in Python and whole, with the judgments of *suite*, called *name*."""
    unanswered = {query: failure_text(one) for query, one in run.responses.items() if isinstance(one, Failure)}
    side = Side(name, SideKind.PYTHON, unanswered=unanswered)
    return ComparedSide(side, run, None, suite.queries, score_run(suite, run), suite.gain, suite.profile)


def cut_at(run: Run, depth: int | None) -> Run:
    """*run* with no more than *depth* hits of each query."""
    return run if depth is None else replace(run, responses={q: _cut(r, depth) for q, r in run.responses.items()})


def with_empty(one: ComparedSide, queries: Iterable[str]) -> ComparedSide:
    """*one* with those of *queries* that it does not hold, without hits; only a run file cannot hold such itself."""
    absent = [query for query in queries if query not in one.run.responses]
    if one.side.kind is not SideKind.RUN or not absent:
        return one
    run = replace(one.run, responses={**one.run.responses, **{query: Ranking() for query in absent}})
    return replace(one, run=run, queries=(*one.queries, *(Query(query, query) for query in absent)))


def _cut(response: Response, depth: int) -> Response:
    return cut(response, depth) if isinstance(response, Ranking) else response
