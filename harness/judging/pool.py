"""
What is still to be judged: the ungraded documents at the top of several rankings, and how much a measure depends on
them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.means import are_weighted, mean_of
from harness.metrics import Needs, deepest_cutoff, definition_of, parse_measure, settings_of, unjudged_bounds
from harness.metrics.score import common_measures, failure_text, measures_of, score_of
from harness.model import (
    Coverage,
    Failure,
    GainKind,
    Hit,
    Measure,
    Pool,
    PooledDocument,
    Query,
    QueryCoverage,
    Ranking,
    Response,
    Run,
    Suite,
)

# Coverage.


FALLBACK = "nDCG@{depth}"
"""The measure whose bounds are shown where no measure of the suite depends on judgments."""


@dataclass(frozen=True, slots=True)
class PooledRun:
    """One *run* of the pool, and its *name* there: that of its request."""

    name: str
    run: Run


def top_hits(run: Run, query: Query, depth: int) -> tuple[Hit, ...]:
    """The first *depth* hits of *query*; none where it has no ranking."""
    response = run.responses.get(query.id)
    return response.hits[:depth] if isinstance(response, Ranking) else ()


def cover_queries(suite: Suite, one: PooledRun, measure: Measure, depth: int) -> dict[str, QueryCoverage]:
    """The coverage of each query with a ranking, by its id."""
    worst, best = scale_ends(suite, measure)
    coverages = {}
    for query in suite.queries:
        response = one.run.responses.get(query.id)
        if not isinstance(response, Ranking):
            continue
        bounds = unjudged_bounds(
            measure,
            [hit.id for hit in response.hits],
            query.judgments,
            worst=worst,
            best=best,
            gain=suite.gain,
            profile=suite.profile,
        )
        unjudged = sum(hit.id not in query.judgments for hit in response.hits[:depth])
        coverages[query.id] = QueryCoverage(query.id, one.name, unjudged, bounds)
    return coverages


def cover_run(suite: Suite, one: PooledRun, covered: Mapping[str, QueryCoverage], depth: int) -> Coverage:
    """The coverage of a whole run, from that of its queries."""
    weights = {query.id: query.weight for query in suite.queries}
    weights = weights if are_weighted(weights.values()) else {}
    bounds = [(name, coverage.bounds) for name, coverage in covered.items()]
    whole = {
        name: (bound.if_worst, bound.as_judged, bound.if_best)
        for name, bound in bounds
        if None not in (bound.if_worst, bound.as_judged, bound.if_best)
    }

    def mean_at(place: int) -> float | None:
        values = {name: value for name, values in whole.items() if (value := values[place]) is not None}
        return mean_of(values, weights) if values else None

    judged = _judged(suite, one.run, depth)
    return Coverage(
        run=one.name,
        hits=sum(len(top_hits(one.run, query, depth)) for query in suite.queries),
        unjudged=sum(coverage.unjudged for coverage in covered.values()),
        queries=sum(coverage.unjudged > 0 for coverage in covered.values()),
        judged=mean_of(judged, weights) if judged else None,
        if_worst=mean_at(0),
        as_judged=mean_at(1),
        if_best=mean_at(2),
    )


def _judged(suite: Suite, run: Run, depth: int) -> dict[str, float]:
    """Judged@k of each query with a ranking, computed as for a threshold."""
    measure = parse_measure(f"Judged@{depth}")
    scores = [score_of(suite, query, measure, run) for query in suite.queries]
    return {score.query: score.value for score in scores if score.value is not None}


def bounded_measure(suite: Suite, depth: int) -> Measure:
    """The first of the suite's measures that depends on the grades of returned documents."""
    for measure in common_measures(suite):
        if needs_grades(measure):
            return measure
    return parse_measure(FALLBACK.format(depth=depth))


def needs_grades(measure: Measure) -> bool:
    """Whether the score of *measure* depends on the grades of returned documents."""
    definition = definition_of(measure)
    return definition.diverse is None and definition.needs is not Needs.NOTHING


def scale_ends(suite: Suite, measure: Measure) -> tuple[float, float]:
    """
    The grades of least and of greatest gain for *measure*, among those that have a name or a gain, or are in use.

    Where no grade is known, 0 and 1. Only a gain map can give a lower grade the greater gain.
    """
    settings = settings_of(measure, suite.gain, suite.profile)
    if settings.gain.kind is GainKind.MAP:
        grades = sorted((gain, grade) for grade, gain in settings.gain.table)
        return grades[0][1], grades[-1][1]
    used = {grade for query in suite.queries for grade in query.judgments.values()}
    best = max({*suite.grades.values(), *used}, default=0.0)
    top = settings.values.get("max")
    if isinstance(top, int | float):
        best = min(best, float(top))
    return min([0.0, *suite.grades.values(), *used]), best if best > 0 else 1.0


# Pools.


def pooling_depth(suite: Suite) -> int:
    """The deepest cutoff of the suite's measures; the suite's depth where none has a cutoff."""
    measures = [measure for query in suite.queries for measure in measures_of(suite, query)]
    return deepest_cutoff([*common_measures(suite), *measures]) or suite.depth


def pool_runs(suite: Suite, runs: Sequence[PooledRun], depth: int) -> Pool:
    """
    The unjudged documents of the top *depth* of all *runs*, each once.

    Args:
        suite: The suite with the selected queries only, and their judgments.
        runs: At least one, with different names.
        depth: Ranks to pool, >= 1.
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
        zero_hits=_zero_hits(suite, runs),
    )


def with_texts(pool: Pool, found: Mapping[tuple[str, str], Hit]) -> Pool:
    """*pool* with the titles and snippets that were *found*, by query and document, beside those that it has."""

    def with_text(one: PooledDocument) -> PooledDocument:
        hit = found.get((one.query, one.document))
        if hit is None:
            return one
        return replace(one, title=one.title or hit.title, snippet=hit.snippet, texts=hit.texts or {})

    return replace(pool, documents=tuple(map(with_text, pool.documents)))


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


def _zero_hits(suite: Suite, runs: Sequence[PooledRun]) -> dict[str, tuple[str, ...]]:
    found = {
        query.id: tuple(one.name for one in runs if _is_empty(one.run.responses.get(query.id)))
        for query in suite.queries
    }
    return {query: names for query, names in found.items() if names}


def _is_empty(response: Response | None) -> bool:
    return isinstance(response, Ranking) and not response.hits
