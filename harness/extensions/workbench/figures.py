"""What a try is worth beside what is live: scores by query, means, intervals, and what may move them. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from harness.extensions.compare import coverage
from harness.gate.decide_variants import list_agreements
from harness.gate.ties import find_bands
from harness.gate.two_rankings import ScoredQuery, compute_agreement, compute_loss
from harness.gate.variants import make_variant_query, split_run
from harness.means import are_weighted, find_percentile, mean_of
from harness.metrics.run_scores import failure_text, score_of
from harness.metrics.unjudged import needs_grades
from harness.model.run import Failure, Ranking, Response, Run
from harness.model.suite import Measure, Query, Suite, Variant
from harness.statistics.compare import ComparisonOptions, compare
from harness.statistics.paired import EQUAL
from harness.words import count

LEVEL = 0.05
"""That of the intervals: each has the true value with 95 %."""

FLIPS = 2000
"""Random signs by which the interval of the best of several tries is found."""


@dataclass(frozen=True, slots=True)
class Row:
    """One query of a try, or a variant of one."""

    query: str
    score: float | None
    low: float | None
    """The least score over the orders of documents that tie; *high* is the greatest."""
    high: float | None
    unjudged: int
    """Hits without a grade among the first ones that are shown."""
    live_unjudged: int
    moved: bool
    """Whether other documents are shown, or in another order."""
    error: str | None
    """Why there is no ranking."""
    agreement: float | None = None
    """How far the ranking of a variant agrees with that of its query; None for a query."""
    found: str | None = None
    """The number of hits that are shown, in words, if no result is right for the query; None for any other query."""

    def to_json(self) -> dict[str, str | float | bool | None]:
        """As the page reads it. All values are plain, and need no copies as `dataclasses.asdict` makes them."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class ScoredSide:
    """The *responses* to one request, scored by the judgments of *suite*."""

    suite: Suite
    """With the queries that are shown."""
    measure: Measure
    responses: Mapping[str, Response]
    """To the queries, and to their variants."""
    run: Run
    """What is known of them beside the responses."""
    known: Mapping[str, float | None] = field(default_factory=dict)
    """Scores that were computed before by the same judgments."""
    _unjudged: dict[str, int] = field(default_factory=dict)
    """What `count_unjudged` found, by query: what is live is asked for each try."""

    @cached_property
    def scores(self) -> dict[str, float]:
        """By query; one without an answer, or whose score is undefined, is left out."""
        scores = {}
        for query in self.suite.queries:
            score = self.known[query.id] if query.id in self.known else _score(self, query)
            if score is not None:
                scores[query.id] = score
        return scores

    @cached_property
    def bands(self) -> dict[str, tuple[float, float]]:
        """The least and the greatest score of each query that ties move."""
        return find_bands(self.suite, self.answered, self.measure)

    @cached_property
    def answered(self) -> Run:
        """The run with the responses, those to variants apart."""
        return split_run(replace(self.run, responses=self.responses), self.suite)

    def replace_suite(self, suite: Suite) -> ScoredSide:
        """The same responses by the judgments of another suite; what these do not change is not scored again."""
        before = {query.id: query.judgments for query in self.suite.queries}
        known = {
            query.id: self.scores.get(query.id) for query in suite.queries if query.judgments is before.get(query.id)
        }
        return ScoredSide(suite, self.measure, self.responses, self.run, known)

    def count_unjudged(self, query: Query) -> int:
        """The hits of *query* without a grade, among those that are shown; 0 where no result is right."""
        if query.nothing:
            return 0
        if query.id not in self._unjudged:
            response = self.responses.get(query.id)
            documents = response.ids[: self.suite.depth] if isinstance(response, Ranking) else ()
            self._unjudged[query.id] = sum(document not in query.judgments for document in documents)
        return self._unjudged[query.id]

    def score_variant(self, query: Query, variant: Variant) -> float | None:
        """
        The score of a *variant* by the judgments of its *query*; None where either has no score.

        As for thresholds on a loss, documents that tie are in the order of the query.
        """
        score, ranking = self.scores.get(query.id), self.responses.get(variant.id)
        if score is None or not isinstance(ranking, Ranking):
            return None
        loss = compute_loss(self.suite, ScoredQuery(query, self.measure, score), self.answered, ranking)
        return None if loss is None or not math.isfinite(loss) else score - loss

    def find_agreement(self, query: Query, variant: Variant) -> float | None:
        """How far the ranking of a *variant* agrees with that of its *query*; None where either has none."""
        ranking, of_variant = self.responses.get(query.id), self.responses.get(variant.id)
        if not isinstance(ranking, Ranking) or not isinstance(of_variant, Ranking):
            return None
        agreement = list_agreements(self.suite, query)[0]
        return compute_agreement(agreement, ranking, of_variant, depth=self.suite.depth)


def _score(side: ScoredSide, query: Query) -> float | None:
    value = score_of(side.suite, query, side.measure, side.answered).value
    return value if value is not None and math.isfinite(value) else None


def make_row(live: ScoredSide, tried: ScoredSide, query: Query) -> Row:
    """The row of *query*, which has a response in *tried*."""
    response, before = tried.responses.get(query.id), live.responses.get(query.id)
    score = tried.scores.get(query.id)
    low, high = tried.bands.get(query.id, (score, score))
    is_same = isinstance(response, Ranking) and isinstance(before, Ranking) and response.ids == before.ids
    error = "the query was not asked then" if response is None else None
    if isinstance(response, Failure):
        error = failure_text(response)
    row = Row(query.id, score, low, high, tried.count_unjudged(query), live.count_unjudged(query), not is_same, error)
    if query.nothing and isinstance(response, Ranking):
        row = replace(row, found=count(len(response.ids[: tried.suite.depth]), "hit"))
    return row


def make_variant_row(live: ScoredSide, tried: ScoredSide, query: Query, variant: Variant) -> Row:
    """The row of a *variant* of *query*; what the order of ties may change is not told."""
    row = make_row(live, tried, judge_variant(query, variant))
    score = tried.score_variant(query, variant)
    return replace(row, score=score, low=score, high=score, agreement=tried.find_agreement(query, variant))


def make_rows(live: ScoredSide, tried: ScoredSide, query: Query) -> list[Row]:
    """The rows of *query* and of its variants."""
    return [
        make_row(live, tried, query),
        *(make_variant_row(live, tried, query, variant) for variant in query.variants),
    ]


def judge_variant(query: Query, variant: Variant) -> Query:
    """A *variant* as a query of its own, which should find what *query* should."""
    return replace(make_variant_query(query, variant), judgments=query.judgments)


def count_searches(suite: Suite) -> int:
    """The searches that a request of *suite* takes: one for each query, and for each variant."""
    return sum(1 + len(query.variants) for query in suite.queries)


@dataclass(frozen=True, slots=True)
class Summary:
    """A try beside what is live, over the queries that have a score of both."""

    live: float | None
    tried: float | None
    difference: float | None
    interval: tuple[float, float] | None
    is_grey: bool
    """Whether chance, or hits without a grade, may be all of the difference."""
    wins: int
    losses: int
    same: int
    unjudged: int
    range: tuple[float, float] | None
    """The differences that the grades of unjudged hits leave; None where all are judged."""
    unanswered: int
    sentence: str
    failing: Sequence[tuple[str, bool]] = ()
    """Thresholds that do not hold, each with whether it does not hold today either."""
    graded_here: tuple[int, float | None] | None = None
    """Grades of this session, and the difference without them."""
    best: tuple[int, tuple[float, float]] | None = None
    """If this is the best of several tries: their number, and its interval, corrected for having chosen it."""
    searches: int = 0
    seconds: float = 0.0
    latency: Mapping[str, tuple[float, float]] | None = None
    """p50 and p95 of the engine's own milliseconds, live and try."""


def summarize(live: ScoredSide, tried: ScoredSide) -> Summary:
    """What *tried* is worth beside *live*."""
    suite = tried.suite
    differences = find_differences(live, tried)
    means = _find_means(live, tried, differences)
    wins = sum(difference > EQUAL for difference in differences.values())
    losses = sum(difference < -EQUAL for difference in differences.values())
    possible = find_range(live, tried)
    interval = _find_interval(live, tried) if len(differences) > 1 else None
    is_grey = interval is None or includes_zero(interval) or (possible is not None and includes_zero(possible))
    unanswered = sum(isinstance(tried.responses.get(query.id), Failure) for query in suite.queries)
    summary = Summary(
        live=None if means is None else means[0],
        tried=None if means is None else means[1],
        difference=None if means is None else means[1] - means[0],
        interval=interval,
        is_grey=is_grey,
        wins=wins,
        losses=losses,
        same=len(differences) - wins - losses,
        unjudged=sum(tried.count_unjudged(query) + live.count_unjudged(query) for query in suite.queries),
        range=possible,
        unanswered=unanswered,
        sentence="",
        latency=_measure_latency(live, tried),
    )
    return replace(summary, sentence=describe_summary(summary, tried.measure.text))


def _find_means(live: ScoredSide, tried: ScoredSide, differences: Mapping[str, float]) -> tuple[float, float] | None:
    """The means of both over the queries that have *differences*; None where none has."""
    if not differences:
        return None
    weights = {query.id: query.weight for query in tried.suite.queries if query.id in differences}
    means = [mean_of({query: side.scores[query] for query in differences}, weights) for side in (live, tried)]
    return means[0], means[1]


def _find_interval(live: ScoredSide, tried: ScoredSide) -> tuple[float, float] | None:
    """The interval of the difference, as `relevance compare` has it; None where its test has none."""
    weights = {query.id: query.weight for query in tried.suite.queries}
    comparison = compare(
        {"": dict(live.scores)},
        {"": dict(tried.scores)},
        options=ComparisonOptions(level=LEVEL, has_power=False),
        weights=weights if are_weighted(weights.values()) else None,
    )
    [row] = comparison.measures
    return None if row.low is None or row.high is None else (row.low, row.high)


def describe_summary(summary: Summary, measure: str) -> str:
    """The summary in a sentence, for who does not see the page."""
    if summary.difference is None or summary.live is None:
        return f"{measure}: no query has a score of both"
    parts = [f"{measure} {summary.tried:.3f}, live {summary.live:.3f}, difference {summary.difference:+.3f}"]
    if summary.interval is not None:
        low, high = summary.interval
        chance = ", which may be chance" if includes_zero(summary.interval) else ""
        parts.append(f"95 % interval {low:+.3f} to {high:+.3f}{chance}")
    parts.append(f"{summary.wins} won, {summary.losses} lost, {summary.same} the same")
    if summary.range is not None:
        low, high = summary.range
        parts.append(f"{count(summary.unjudged, 'unjudged hit')} may make it {low:+.3f} to {high:+.3f}")
    if summary.unanswered:
        parts.append(f"{count(summary.unanswered, 'query')} without an answer")
    return "; ".join(parts)


def find_differences(live: ScoredSide, tried: ScoredSide) -> dict[str, float]:
    """The differences of the queries that have a score of both."""
    return {query: score - live.scores[query] for query, score in tried.scores.items() if query in live.scores}


def find_mean_difference(live: ScoredSide, tried: ScoredSide) -> float | None:
    """The mean difference over the queries that have a score of both; None where none has."""
    differences = find_differences(live, tried)
    weights = {query.id: query.weight for query in tried.suite.queries if query.id in differences}
    return mean_of(differences, weights) if differences else None


def judge_queries(suite: Suite, judgments: Mapping[str, Mapping[str, float]]) -> Suite:
    """*suite* with other *judgments* of the queries that have them there."""
    queries = []
    for query in suite.queries:
        others = judgments.get(query.id, query.judgments)
        # What stays as it is stays the same object: it is not scored again.
        queries.append(query if others == query.judgments else replace(query, judgments=others))
    return replace(suite, queries=tuple(queries))


def find_range(live: ScoredSide, tried: ScoredSide) -> tuple[float, float] | None:
    """The range of the mean difference over the grades of unjudged hits; None where all are judged."""
    has_unjudged = any(live.count_unjudged(query) or tried.count_unjudged(query) for query in tried.suite.queries)
    if not has_unjudged or not needs_grades(tried.measure):
        return None
    runs = (live.answered, tried.answered)
    found = coverage.find_range(tried.suite, runs, tried.measure, find_differences(live, tried))
    return None if found is None else (found.low, found.high)


def includes_zero(interval: tuple[float, float]) -> bool:
    """Whether a difference of 0 is in *interval*."""
    return interval[0] <= EQUAL and interval[1] >= -EQUAL


def _measure_latency(live: ScoredSide, tried: ScoredSide) -> dict[str, tuple[float, float]] | None:
    """p50 and p95 of both sides, by nearest rank as thresholds have them; None where a side has no times."""
    times = {}
    for name, side in (("live", live), ("try", tried)):
        found = [_read_time(response) for response in side.responses.values()]
        known = [milliseconds for milliseconds in found if milliseconds is not None]
        if not known:
            return None
        times[name] = (find_percentile(known, 50), find_percentile(known, 95))
    return times


def _read_time(response: Response) -> float | None:
    if not isinstance(response, Ranking):
        return None
    return response.took if response.to_last_byte is None else response.to_last_byte


@dataclass(frozen=True, slots=True)
class Best:
    """The best of several tries."""

    number: int
    of: int
    interval: tuple[float, float]


def find_best(differences: Mapping[int, Mapping[str, float]], weights: Mapping[str, float]) -> Best | None:
    """
    The try with the greatest mean difference, with an interval that holds for whichever would have been chosen.

    Signs of the centred differences are flipped at random, for all tries alike; of each flip the greatest mean counts
    (Westfall and Young, "Resampling-Based Multiple Testing", 1993). None with fewer than two tries or queries.

    Args:
        differences: By the number of a try, its difference to what is live by query.
        weights: Of the queries.
    """
    queries = sorted(set.intersection(*map(set, differences.values()))) if differences else []
    if len(differences) < 2 or len(queries) < 2:
        return None
    numbers = sorted(differences)
    table = np.array([[differences[number][query] for query in queries] for number in numbers])
    shares = np.array([weights[query] for query in queries])
    table = table * (shares / shares.mean())
    means = table.mean(axis=1)
    generator = np.random.default_rng(1)
    signs = generator.choice((-1.0, 1.0), size=(FLIPS, len(queries)))
    greatest = np.abs(signs @ (table - means[:, None]).T / len(queries)).max(axis=1)
    margin = float(np.quantile(greatest, 1 - LEVEL))
    place = int(np.argmax(means))
    return Best(numbers[place], len(numbers), (float(means[place]) - margin, float(means[place]) + margin))
