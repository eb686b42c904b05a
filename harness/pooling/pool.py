"""What is to be judged of one suite, from the runs of its requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.metrics import deepest_cutoff
from harness.metrics.run_scores import common_measures, failure_text, measures_of
from harness.model import Failure, Hit, Query, Suite
from harness.pooling.coverage import (
    Coverage,
    PooledRun,
    QueryCoverage,
    bounded_measure,
    cover_queries,
    cover_run,
    top_hits,
)

__all__ = ["Pool", "PooledDocument", "pool_runs", "pooling_depth", "with_texts"]


@dataclass(frozen=True, slots=True)
class PooledDocument:
    """An unjudged document: *ranks* holds its rank, from 1, by the name of each run that has it in the top k."""

    query: str
    text: str
    document: str
    ranks: Mapping[str, int]
    title: str | None = None
    snippet: str | None = None

    @property
    def best(self) -> int:
        """Its best rank."""
        return min(self.ranks.values())


@dataclass(frozen=True, slots=True)
class Pool:
    """
    What is to be judged of one suite, to the rank *depth*.

    *documents* are sorted by query, then by best rank. *coverage* is that of each run, *queries* those with unjudged
    hits, the one first whose value of *measure* may change most. *unanswered* says why a query has no ranking, by query
    and run. *notes* are sentences about the pool as a whole.
    """

    suite: str
    path: str
    depth: int
    measure: str
    documents: tuple[PooledDocument, ...]
    coverage: tuple[Coverage, ...]
    queries: tuple[QueryCoverage, ...]
    unanswered: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def pooling_depth(suite: Suite) -> int:
    """The deepest cutoff of all that is measured; the suite's depth where nothing has one."""
    measures = [measure for query in suite.queries for measure in measures_of(suite, query)]
    return deepest_cutoff([*common_measures(suite), *measures]) or suite.depth


def pool_runs(suite: Suite, runs: Sequence[PooledRun], depth: int) -> Pool:
    """
    The unjudged documents of the top *depth* of all *runs*, each once.

    Args:
        suite: With the queries that were selected only, and their judgments.
        runs: At least one, with names of their own.
        depth: Ranks that are looked at, >= 1.
    """
    measure = bounded_measure(suite, depth)
    covered = {one.name: cover_queries(suite, one, measure, depth) for one in runs}
    open_ones = [coverage for coverages in covered.values() for coverage in coverages.values() if coverage.unjudged]
    return Pool(
        suite=suite.name,
        path=suite.path,
        depth=depth,
        measure=measure.text,
        documents=tuple(_documents(suite, runs, depth)),
        coverage=tuple(cover_run(suite, one, covered[one.name], depth) for one in runs),
        queries=tuple(sorted(open_ones, key=lambda one: (-one.spread, -one.unjudged, one.query, one.run))),
        unanswered=_unanswered(suite, runs),
    )


def with_texts(pool: Pool, found: Mapping[tuple[str, str], Hit]) -> Pool:
    """*pool* with the titles and snippets that were *found*, by query and document, beside those that it has."""

    def told(one: PooledDocument) -> PooledDocument:
        hit = found.get((one.query, one.document))
        return one if hit is None else replace(one, title=one.title or hit.title, snippet=hit.snippet)

    return replace(pool, documents=tuple(map(told, pool.documents)))


def _documents(suite: Suite, runs: Sequence[PooledRun], depth: int) -> Iterator[PooledDocument]:
    for query in sorted(suite.queries, key=lambda query: query.id):
        ranks: dict[str, dict[str, int]] = {}
        titles: dict[str, str | None] = {}
        for run, rank, hit in _unjudged(query, runs, depth):
            ranks.setdefault(hit.id, {})[run] = rank
            titles[hit.id] = titles.get(hit.id) or hit.title
        pooled = [PooledDocument(query.id, query.text, name, ranks[name], titles[name]) for name in ranks]
        yield from sorted(pooled, key=lambda document: (document.best, document.document))


def _unjudged(query: Query, runs: Sequence[PooledRun], depth: int) -> Iterator[tuple[str, int, Hit]]:
    """The unjudged hits of *query*, each with the name of its run and its rank there, from 1."""
    for one in runs:
        for rank, hit in enumerate(top_hits(one.run, query, depth), start=1):
            if hit.id not in query.judgments:
                yield one.name, rank, hit


def _unanswered(suite: Suite, runs: Sequence[PooledRun]) -> dict[tuple[str, str], str]:
    return {
        (query.id, one.name): failure_text(response)
        for query in suite.queries
        for one in runs
        if isinstance(response := one.run.responses.get(query.id), Failure)
    }
