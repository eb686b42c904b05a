"""How many hits of both sides are judged, and how far those that are not may move the difference. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from harness.extensions.compare.model import DifferenceRange, JudgedHits, SideCoverage, SideKind
from harness.extensions.compare.scores import ScoredSides, tabulate_scores
from harness.extensions.compare.sides import ComparedSide, may_share_request
from harness.extensions.compare.ties import settle_run
from harness.extensions.judging.pool import list_top_hits
from harness.gate.finding import read_weights
from harness.means import mean_of
from harness.metrics import deepest_cutoff, parse_measure
from harness.metrics.measures import common_measures
from harness.metrics.run_scores import score_of
from harness.metrics.unjudged import bound_differences, counts_unjudged, has_unjudged, needs_grades
from harness.model.run import Ranking, Run
from harness.model.suite import Measure, Query, Suite
from harness.options import format_options
from harness.statistics.paired import pair_defined

NONE_KNOWN: Mapping[str, float] = MappingProxyType({})


def cover_sides(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, depth: int, pool_command: str
) -> JudgedHits | None:
    """
    Count the judged hits of both sides, over the queries that both have a score for.

    Args:
        pair: The two sides.
        scored: Their scores.
        depth: The number of ranks to look at if no measure has a cutoff.
        pool_command: The command that collects the unjudged hits of all sides; empty if there is none.

    Returns:
        None where it is not known which documents are judged, or no query with any is scored on both sides.
    """
    suite = replace(scored.suite, queries=_select_scored(scored))
    if not scored.grades_known or not suite.queries:
        return None
    ranks = deepest_cutoff(common_measures(suite)) or depth
    reference, candidate = (count_judged(suite, run, ranks) for run in scored.runs)
    judged = JudgedHits(ranks, len(suite.queries), reference, candidate)
    # Stored scores cannot be computed with other grades, and where all hits are judged there is nothing to suppose.
    if not scored.is_rescored or not (reference.unjudged or candidate.unjudged):
        return judged
    runs, deep_runs = scored.runs, scored.deep_runs
    # The differences are those of the comparison, which takes ties in the order of the reference.
    if may_share_request(*pair):
        runs, deep_runs = (runs[0], settle_run(*runs)), (deep_runs[0], settle_run(*deep_runs))
    measures = [measure for measure in common_measures(suite) if needs_grades(measure)]
    ranges = [find_range(suite, runs if measure.cutoff else deep_runs, measure) for measure in measures]
    return replace(
        judged,
        ranges=tuple(difference for difference in ranges if difference is not None),
        pool_command=pool_command,
        judged_only=_leave_out_unjudged(measures),
    )


def _select_scored(scored: ScoredSides) -> tuple[Query, ...]:
    """The queries that have a score on both sides, by any measure, without those of which only quotes are judged."""
    first, second = (tabulate_scores(scored, scores) for scores in scored.scores)
    ids: set[str] = set()
    for measure in first:
        ids.update(pair_defined(first[measure], second[measure]))
    return tuple(query for query in scored.suite.queries if query.id in ids and not query.has_only_quotes)


def count_judged(suite: Suite, run: Run, ranks: int) -> SideCoverage:
    """The judged hits of *run* in the first *ranks* of each query."""
    measure = parse_measure(f"Judged@{ranks}")
    shares: dict[str, float] = {}
    hits = unjudged = queries = irrelevant = 0
    for query in suite.queries:
        share = score_of(suite, query, measure, run).value
        if share is not None:
            shares[query.id] = share
        documents = [hit.id for hit in list_top_hits(run, query, ranks)]
        unjudged_of_query = sum(document not in query.judgments for document in documents)
        hits += len(documents)
        unjudged += unjudged_of_query
        queries += unjudged_of_query > 0
        grades = [query.judgments[document] for document in documents if document in query.judgments]
        irrelevant += sum(grade <= 0 for grade in grades)
    judged = None
    if shares:
        judged = mean_of(shares, read_weights(suite.queries, shares))
    return SideCoverage(judged, hits, unjudged, queries, irrelevant)


def find_range(
    suite: Suite, runs: tuple[Run, Run], measure: Measure, differences: Mapping[str, float] = NONE_KNOWN
) -> DifferenceRange | None:
    """
    The range of the mean difference over the grades of unjudged hits; None where it cannot be computed.

    Args:
        suite: Gives the queries and their judgments.
        runs: Before and after.
        measure: The measure, which `needs_grades`.
        differences: Those of queries by their scores, as far as these are known. A query whose hits are all judged is
            not scored again then.
    """
    rankings: dict[str, tuple[Ranking, Ranking]] = {}
    judged: dict[str, tuple[float, float]] = {}
    for query in suite.queries:
        before, after = (run.responses.get(query.id) for run in runs)
        if not isinstance(before, Ranking) or not isinstance(after, Ranking):
            continue
        if query.id in differences and not has_unjudged(query, measure, (before, after)):
            judged[query.id] = (differences[query.id], differences[query.id])
        else:
            rankings[query.id] = (before, after)
    ranges = bound_differences(suite, measure, rankings)
    if not ranges and (rankings or not judged):
        return None
    ranges |= judged
    weights = read_weights(suite.queries, ranges)
    low = mean_of({query: least for query, (least, _) in ranges.items()}, weights)
    high = mean_of({query: greatest for query, (_, greatest) in ranges.items()}, weights)
    return DifferenceRange(measure.text, low, high)


def write_pool_command(sides: Iterable[ComparedSide], suite: Suite, searched: Mapping[str, str | bool]) -> str:
    """
    The command that collects the unjudged hits of all sides, with the options that *searched* them.

    Empty where a side has no request of the suite.
    """
    sides = list(sides)
    if not suite.path or any(side.request not in suite.requests for side in sides):
        return ""
    words = ["relevance", "judgments", "pool", suite.path]
    for request in dict.fromkeys(str(side.request) for side in sides):
        words += ["--request", request]
    for index in dict.fromkeys(str(side.index) for side in sides if side.kind is SideKind.INDEX):
        words += ["--index", index]
    return shlex.join([*words, *format_options(searched), "--output", "csv=unjudged.csv"])


def _leave_out_unjudged(measures: Sequence[Measure]) -> str:
    """The first of *measures* that can leave out unjudged hits, as the measure that does; empty where none can."""
    for measure in measures:
        if not counts_unjudged(measure):
            continue
        name, at, cutoff = measure.text.partition("@")
        # A measure with parameters has them in parentheses already, as in RBP(p=0.8).
        prefix = f"{name[:-1]}, " if name.endswith(")") else f"{name}("
        return parse_measure(f"{prefix}judged_only=true){at}{cutoff}").text
    return ""
