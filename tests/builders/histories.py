"""Histories: suites and runs of two queries, and the entries that are made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from builders.suites import make_suite
from harness.metrics.run_scores import score_run
from harness.model.kept import HistoryEntry
from harness.model.run import Engine, Hit, IndexFacts, Ranking, Run
from harness.model.suite import Query, Suite
from harness.run.report import DecidedRun, assemble
from harness.store.history import EntryOrigin, make_entry

FIRST_DAY = datetime(2026, 11, 1, 3, 0, 0, tzinfo=UTC)
QUERIES = (
    Query("boots", "rubber boots", judgments={"d": 2}, tags=("tail",)),
    Query("shoes", "red shoes", judgments={"a": 3, "b": 1}, tags=("head",)),
)


def make_kept_suite(*queries: Query, measures=("nDCG@3", "RR@3"), depth=3, **fields) -> Suite:
    """A suite with two measures and a depth of three."""
    return make_suite(*(queries or QUERIES), measures=measures, depth=depth, **fields)


def ranking_of(*hits: str | tuple[str, float], **fields) -> Ranking:
    """Hits by id, or by id and score; scores fall where none is given."""
    scored = []
    for place, hit in enumerate(hits):
        scored.append(Hit(hit, 10.0 - place) if isinstance(hit, str) else Hit(*hit))
    return Ranking(tuple(scored), **fields)


def run_of(suite: Suite, **responses) -> Run:
    """A run in which each query of *suite* has its judged documents as hits, unless *responses* has others."""
    found = {query.id: responses.get(query.id, ranking_of(*query.judgments)) for query in suite.queries}
    facts = IndexFacts("m1", "s1", 10)
    return Run(found, Engine("opensearch", "3.8.0"), "current", "products", facts=facts)


def entry_of(suite: Suite, run: Run, *, day: int = 0, **fields) -> HistoryEntry:
    """The entry of *run*, made *day* days after the first one."""
    scores = score_run(suite, run)
    report = assemble(DecidedRun(suite, run, scores, ()), "local")
    origin = EntryOrigin(FIRST_DAY + timedelta(days=day), commit="0123abc", branch="main")
    return replace(make_entry(suite, run, scores, report, origin), **fields)


def entries_of(suite: Suite, runs: Iterable[Run]) -> list[HistoryEntry]:
    """An entry a day for each of *runs*."""
    return [entry_of(suite, run, day=day) for day, run in enumerate(runs)]
