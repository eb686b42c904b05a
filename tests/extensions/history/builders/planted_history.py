"""
A made history of 300 runs of a suite of 40 queries, with steps, a drift, and changes of judgments at known places.

Runs are a day apart and count from 0 here. Single runs differ a little: in each, up to three queries have their first
two hits swapped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from builders.histories import entry_of, make_kept_suite
from harness.extensions.history.model import Timeline
from harness.extensions.history.timeline import build_timelines
from harness.metrics import parse_measure
from harness.model.kept import HistoryEntry
from harness.model.run import Engine, Hit, IndexFacts, Ranking, Run
from harness.model.suite import Query, RequestTemplate, Suite

RUNS = 300
QUERIES = 40
HITS = 10

STEP_DOWN = 80
"""The first run with a worse request, which pushes the best document of 14 queries down."""
STEP_UP = 140
"""The first run with the old request again."""
DRIFT = range(180, 240)
"""Runs in which documents are added, and push relevant ones down in one more query each fourth run."""
JUDGED = (110, 220)
"""The first runs with more judgments."""
UPGRADE = 265
"""The first run on another version of the engine, which changes nothing."""

MEASURES = ("nDCG@10", "nDCG@3", "RR@10", "P@5", "R@10")


def list_documents(query: int) -> list[str]:
    """The documents of a query, the best first."""
    return [f"q{query}-d{place}" for place in range(HITS)]


def make_judgments(query: int, run: int) -> dict[str, float]:
    """The judgments of a query on the day of a run: more hits are judged later, some of them relevant."""
    best, second, third, fourth, *others = list_documents(query)
    judgments = {best: 3.0, third: 1.0}
    if run >= JUDGED[0] and query < 20:
        judgments |= {second: 2.0, others[0]: 0.0}
    if run >= JUDGED[1]:
        judgments |= {second: 2.0, fourth: 1.0, **dict.fromkeys(others, 0.0)}
    return judgments


@cache
def make_suite(run: int = RUNS) -> Suite:
    """The suite on the day of a run."""
    queries = []
    for number in range(QUERIES):
        tags = ("head",) if number < 10 else ("tail", "long words") if number % 3 else ("tail",)
        queries.append(Query(f"q{number}", f"words of {number}", judgments=make_judgments(number, run), tags=tags))
    measures = tuple(map(parse_measure, MEASURES))
    body = {"match": {"title": "{{text}}"}}
    if STEP_DOWN <= run < STEP_UP:
        body = {"match_phrase": {"title": "{{text}}"}}
    template = RequestTemplate("current", {"query": body})
    return replace(make_kept_suite(*queries), measures=measures, depth=HITS, requests={"current": template})


def rank(query: int, run: int, swapped: bool) -> Ranking:
    """The hits of a query in a run."""
    documents = list_documents(query)
    if STEP_DOWN <= run < STEP_UP and query < 14:
        documents.insert(3, documents.pop(0))
    pushed = (min(run, DRIFT[-1]) - DRIFT[0]) // 4
    if run >= DRIFT[0] and QUERIES - 1 - pushed <= query:
        documents.insert(2, documents.pop(0))
    if swapped:
        documents[:2] = reversed(documents[:2])
    scores = [float(HITS - place) for place in range(HITS)]
    if query == 3:
        # Two hits tie, one of them relevant.
        scores[3] = scores[4]
    return Ranking(tuple(Hit(document, score) for document, score in zip(documents, scores, strict=True)))


def make_history(runs: int = RUNS) -> list[HistoryEntry]:
    """The first *runs* entries."""
    return list(_keep_entries(runs))


@cache
def make_timelines() -> tuple[Timeline, ...]:
    """The timelines of the whole history."""
    return build_timelines(make_history(), make_suite())


@cache
def _keep_entries(runs: int) -> tuple[HistoryEntry, ...]:
    return tuple(_make_entries(runs))


def _make_entries(runs: int) -> Iterator[HistoryEntry]:
    chance = random.Random(1)
    for run in range(runs):
        swapped = chance.sample(range(QUERIES), chance.randrange(4))
        suite = make_suite(_find_state(run))
        responses = {query.id: rank(place, run, place in swapped) for place, query in enumerate(suite.queries)}
        added = min(max(run - DRIFT[0] + 1, 0), len(DRIFT))
        facts = IndexFacts("m1" if run < STEP_DOWN else "m2", "s1", 1_000 + added)
        engine = Engine("opensearch", "3.8.0" if run < UPGRADE else "3.9.0")
        entry = entry_of(suite, Run(responses, engine, "current", "products", facts=facts), day=run)
        yield replace(entry, commit=f"{run:07x}")


def _find_state(run: int) -> int:
    """The last run in which the suite changed, so that suites are made once."""
    return max(border for border in (0, STEP_DOWN, STEP_UP, *JUDGED) if border <= run)
