"""How many hits of both sides are judged, and how far those that are not may move the difference. Pure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness.compare.scores import ScoredSides, score_tables
from harness.compare.sides import ComparedSide, may_share_request
from harness.compare.ties import settle_run
from harness.errors import MeasureError, UndefinedScore
from harness.gate.finding import read_weights
from harness.judging.pool import needs_grades, scale_ends, top_hits
from harness.means import mean_of
from harness.metrics import deepest_cutoff, definition_of, parse_measure, score_query
from harness.metrics.score import common_measures, score_of
from harness.model import DifferenceRange, JudgedHits, Measure, Query, Ranking, Run, SideCoverage, SideKind, Suite


def cover_sides(pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, depth: int) -> JudgedHits | None:
    """
    Count the judged hits of both sides, over the queries that both have a score for.

    Args:
        pair: The two sides.
        scored: Their scores.
        depth: The number of ranks to look at if no measure has a cutoff.

    Returns:
        None where it is not known which documents are judged, or no query is scored on both sides.
    """
    suite = replace(scored.suite, queries=_scored_on_both(scored))
    if not scored.grades_known or not suite.queries:
        return None
    ranks = deepest_cutoff(common_measures(suite)) or depth
    reference, candidate = (_cover_side(suite, run, ranks) for run in scored.runs)
    judged = JudgedHits(ranks, len(suite.queries), reference, candidate)
    if not scored.is_rescored or not (reference.unjudged or candidate.unjudged):
        return judged
    measures = [measure for measure in common_measures(suite) if needs_grades(measure)]
    runs = scored.runs
    if may_share_request(*pair):
        runs = (runs[0], settle_run(*runs))
    ranges = (_find_range(suite, runs, measure) for measure in measures)
    return replace(
        judged,
        ranges=tuple(found for found in ranges if found is not None),
        pool_command=_pool_command(pair, suite),
        judged_only=_leave_out_unjudged(measures),
    )


def _scored_on_both(scored: ScoredSides) -> tuple[Query, ...]:
    first, second = (score_tables(scored, scores) for scores in scored.scores)
    return tuple(
        query
        for query in scored.suite.queries
        if any(
            first[measure][query.id] is not None and second[measure][query.id] is not None
            for measure in first.keys() & second.keys()
        )
    )


def _cover_side(suite: Suite, run: Run, ranks: int) -> SideCoverage:
    measure = parse_measure(f"Judged@{ranks}")
    scores = {query.id: score_of(suite, query, measure, run).value for query in suite.queries}
    known = {query: value for query, value in scores.items() if value is not None}
    hits = {query.id: [hit.id for hit in top_hits(run, query, ranks)] for query in suite.queries}
    unjudged = {
        query.id: sum(document not in query.judgments for document in hits[query.id]) for query in suite.queries
    }
    return SideCoverage(
        judged=mean_of(known, read_weights(suite.queries, known)) if known else None,
        hits=sum(map(len, hits.values())),
        unjudged=sum(unjudged.values()),
        queries=sum(number > 0 for number in unjudged.values()),
    )


def _find_range(suite: Suite, runs: tuple[Run, Run], measure: Measure) -> DifferenceRange | None:
    """The range of the mean difference over the grades of unjudged hits; None where it cannot be computed."""
    ends = scale_ends(suite, measure)
    lows: dict[str, float] = {}
    highs: dict[str, float] = {}
    for query in suite.queries:
        rankings = [run.responses.get(query.id) for run in runs]
        if not isinstance(rankings[0], Ranking) or not isinstance(rankings[1], Ranking):
            continue
        try:
            differences = _possible_differences(suite, query, measure, (rankings[0], rankings[1]), ends)
        except MeasureError:
            return None
        if differences:
            lows[query.id], highs[query.id] = min(differences), max(differences)
    if not lows:
        return None
    weights = read_weights(suite.queries, lows)
    return DifferenceRange(measure.text, mean_of(lows, weights), mean_of(highs, weights))


def _possible_differences(
    suite: Suite, query: Query, measure: Measure, rankings: tuple[Ranking, Ranking], ends: tuple[float, float]
) -> list[float]:
    """
    The difference as judged, and with grades given to the unjudged hits; none for a query without a score.

    A document has one grade on both sides. The grades are: all the worst, all the best, and those that favor one side:
    the best for what the side ranks higher, and the worst for the rest.
    """
    worst, best = ends
    before, after = ({hit.id: rank for rank, hit in enumerate(one.hits[: measure.cutoff])} for one in rankings)
    unjudged = [document for document in before | after if document not in query.judgments]
    higher_in_candidate = {
        document: after.get(document, math.inf) < before.get(document, math.inf) for document in unjudged
    }
    supposed: list[Mapping[str, float]] = [{}]
    if unjudged:
        supposed += [dict.fromkeys(unjudged, worst), dict.fromkeys(unjudged, best)]
        supposed.append({one: best if higher else worst for one, higher in higher_in_candidate.items()})
        supposed.append({one: worst if higher else best for one, higher in higher_in_candidate.items()})
    differences = []
    for grades in supposed:
        try:
            first, second = (_score(suite, measure, one, {**query.judgments, **grades}) for one in rankings)
        except UndefinedScore:
            if not grades:
                return []
            continue
        differences.append(second - first)
    return differences


def _score(suite: Suite, measure: Measure, ranking: Ranking, grades: Mapping[str, float]) -> float:
    return score_query(
        measure,
        [hit.id for hit in ranking.hits],
        grades,
        gain=suite.gain,
        profile=suite.profile,
        scores=[hit.score for hit in ranking.hits],
    )


def _pool_command(pair: Iterable[ComparedSide], suite: Suite) -> str:
    """The command that collects the unjudged hits of both sides; empty where a side has no request of the suite."""
    sides = [one.side for one in pair]
    if not suite.path or any(side.request not in suite.requests for side in sides):
        return ""
    words = ["harness", "judgments", "pool", suite.path]
    for request in dict.fromkeys(str(side.request) for side in sides):
        words += ["--request", request]
    for index in dict.fromkeys(str(side.index) for side in sides if side.kind is SideKind.INDEX):
        words += ["--index", index]
    return shlex.join([*words, "--output", "csv=unjudged.csv"])


def _leave_out_unjudged(measures: Sequence[Measure]) -> str:
    """The first of *measures* that can leave out unjudged hits, as the measure that does; empty where none can."""
    for measure in measures:
        if "judged_only" not in definition_of(measure).parameters or dict(measure.parameters).get("judged_only"):
            continue
        name, at, cutoff = measure.text.partition("@")
        parameters = f"{name[:-1]}, judged_only=true)" if name.endswith(")") else f"{name}(judged_only=true)"
        return parse_measure(parameters + at + cutoff).text
    return ""
