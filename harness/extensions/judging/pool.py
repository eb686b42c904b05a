"""
What is still to be judged: the ungraded documents at the top of several rankings, and how much a measure depends on
them. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from harness.extensions.judging.model import Coverage, Pool, PooledDocument, QueryCoverage
from harness.means import are_weighted, mean_of
from harness.metrics import deepest_cutoff, parse_measure, unjudged_bounds
from harness.metrics.measures import common_measures, measures_of
from harness.metrics.run_scores import failure_text, score_of
from harness.metrics.unjudged import find_scale_ends, needs_grades
from harness.model.run import Failure, Hit, Ranking, Run
from harness.model.suite import Display, Measure, Query, Suite

# Coverage.


FALLBACK = "nDCG@{depth}"
"""The measure whose bounds are shown where no measure of the suite depends on judgments."""


@dataclass(frozen=True, slots=True)
class PooledRun:
    """One *run* of the pool, and its *name* there: that of its request."""

    name: str
    run: Run


def list_top_hits(run: Run, query: Query, depth: int) -> tuple[Hit, ...]:
    """The first *depth* hits of *query*; none where it has no ranking."""
    response = run.responses.get(query.id)
    if not isinstance(response, Ranking):
        return ()
    return response.hits[:depth]


def cover_queries(suite: Suite, pooled: PooledRun, measure: Measure, depth: int) -> dict[str, QueryCoverage]:
    """The coverage of each query with a ranking, by its id."""
    worst, best = find_scale_ends(suite, measure)
    coverages = {}
    for query in suite.queries:
        response = pooled.run.responses.get(query.id)
        if not isinstance(response, Ranking):
            continue
        bounds = unjudged_bounds(
            measure,
            response.ids,
            query.judgments,
            worst=worst,
            best=best,
            gain=suite.gain,
            profile=suite.profile,
        )
        unjudged = sum(hit.id not in query.judgments for hit in response.hits[:depth])
        coverages[query.id] = QueryCoverage(query.id, pooled.name, unjudged, bounds)
    return coverages


def cover_run(suite: Suite, pooled: PooledRun, coverages: Mapping[str, QueryCoverage], depth: int) -> Coverage:
    """The coverage of a whole run, from that of its queries."""
    judged_at_depth = parse_measure(f"Judged@{depth}")
    weights = {query.id: query.weight for query in suite.queries}
    if not are_weighted(weights.values()):
        weights = {}
    hits = 0
    judged, if_worst, as_judged, if_best = {}, {}, {}, {}
    for query in suite.queries:
        hits += len(list_top_hits(pooled.run, query, depth))
        # Computed as for a threshold on Judged@k.
        share = score_of(suite, query, judged_at_depth, pooled.run).value
        if share is not None:
            judged[query.id] = share
    for name, coverage in coverages.items():
        bounds = coverage.bounds
        # The three means are over the same queries, so that they can be compared.
        if bounds.if_worst is not None and bounds.as_judged is not None and bounds.if_best is not None:
            if_worst[name] = bounds.if_worst
            as_judged[name] = bounds.as_judged
            if_best[name] = bounds.if_best
    return Coverage(
        run=pooled.name,
        hits=hits,
        unjudged=sum(coverage.unjudged for coverage in coverages.values()),
        queries=sum(coverage.unjudged > 0 for coverage in coverages.values()),
        judged=mean_of(judged, weights) if judged else None,
        if_worst=mean_of(if_worst, weights) if if_worst else None,
        as_judged=mean_of(as_judged, weights) if as_judged else None,
        if_best=mean_of(if_best, weights) if if_best else None,
    )


def choose_bounded_measure(suite: Suite, depth: int) -> Measure:
    """The first of the suite's measures that depends on the grades of returned documents."""
    for measure in common_measures(suite):
        if needs_grades(measure):
            return measure
    return parse_measure(FALLBACK.format(depth=depth))


# Pools.


def find_pooling_depth(suite: Suite) -> int:
    """The deepest cutoff of the suite's measures; the suite's depth where none has a cutoff."""
    measures = list(common_measures(suite))
    for query in suite.queries:
        measures += measures_of(suite, query)
    return deepest_cutoff(measures) or suite.depth


def pool_runs(suite: Suite, runs: Sequence[PooledRun], depth: int) -> Pool:
    """
    The unjudged documents of the top *depth* of all *runs*, each once.

    Args:
        suite: The suite with the selected queries only, and their judgments.
        runs: At least one, with different names.
        depth: Ranks to pool, >= 1.
    """
    measure = choose_bounded_measure(suite, depth)
    documents: list[PooledDocument] = []
    for query in sorted(suite.queries, key=lambda query: query.id):
        documents += _pool_query(query, runs, depth)
    coverages = []
    open_queries = []
    for pooled in runs:
        by_query = cover_queries(suite, pooled, measure, depth)
        coverages.append(cover_run(suite, pooled, by_query, depth))
        open_queries += [coverage for coverage in by_query.values() if coverage.unjudged]
    unanswered = {}
    zero_hits: dict[str, tuple[str, ...]] = {}
    for query in suite.queries:
        for pooled in runs:
            response = pooled.run.responses.get(query.id)
            if isinstance(response, Failure):
                unanswered[query.id, pooled.name] = failure_text(response)
            elif isinstance(response, Ranking) and not response.hits:
                zero_hits[query.id] = (*zero_hits.get(query.id, ()), pooled.name)
    return Pool(
        suite=suite.name,
        path=suite.path,
        depth=depth,
        measure=measure.text,
        documents=tuple(documents),
        coverage=tuple(coverages),
        queries=tuple(sorted(open_queries, key=lambda item: (-item.spread, -item.unjudged, item.query, item.run))),
        unanswered=unanswered,
        zero_hits=zero_hits,
        selected=tuple(query.id for query in suite.queries),
    )


def _pool_query(query: Query, runs: Sequence[PooledRun], depth: int) -> list[PooledDocument]:
    """The unjudged documents of *query* in all *runs*, by their best rank."""
    ranks: dict[str, dict[str, int]] = {}
    titles: dict[str, str | None] = {}
    for pooled in runs:
        for rank, hit in enumerate(list_top_hits(pooled.run, query, depth), start=1):
            if hit.id not in query.judgments:
                ranks.setdefault(hit.id, {})[pooled.name] = rank
                titles[hit.id] = titles.get(hit.id) or hit.title
    documents = [
        PooledDocument(query.id, query.text, name, ranks[name], titles[name], need=query.need) for name in ranks
    ]
    return sorted(documents, key=lambda document: (document.best, document.document))


def add_documents(pool: Pool, suite: Suite, added: Set[tuple[str, str]], *, only_added: bool) -> Pool:
    """*pool* with those of *added*, queries and documents, that no run returns; without all others if *only_added*."""
    documents = list(pool.documents)
    if only_added:
        documents = [document for document in documents if document.pair in added]
    pooled = {document.pair for document in documents}
    texts = {query.id: query.text for query in suite.queries}
    for query, document in sorted(added - pooled):
        if query in texts:
            documents.append(PooledDocument(query, texts[query], document, {}))
    # Sorted by query only, so that those of a query stay in the order of their ranks.
    return replace(pool, documents=tuple(sorted(documents, key=lambda document: document.query)))


def add_texts(pool: Pool, texts: Mapping[tuple[str, str], Hit], display: Display, fields: Sequence[str]) -> Pool:
    """*pool* with what *texts*, by query and document, have of *fields* and *display*, beside the titles it has."""
    documents = []
    for document in pool.documents:
        hit = texts.get(document.pair)
        if hit is None:
            documents.append(document)
            continue
        hit_texts, urls, highlights = hit.texts or {}, hit.urls or {}, hit.highlights or {}
        documents.append(
            replace(
                document,
                title=document.title or hit.title,
                snippet=hit.snippet,
                texts={field: hit_texts[field] for field in fields if field in hit_texts},
                image=None if display.image is None else urls.get(display.image),
                link=None if display.link is None else urls.get(display.link),
                highlights={
                    field: highlight for field, highlight in highlights.items() if field in (display.title, *fields)
                },
            )
        )
    return replace(pool, documents=tuple(documents))
