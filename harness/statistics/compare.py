"""
Two runs' scores -> a comparison: what changed, by how much, and whether chance would do the same.

Queries that only one run has a score for are left out and counted, for a paired test has nothing to pair them with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, get_args

import numpy as np

from harness.errors import StatisticError, UsageError
from harness.means import are_weighted, mean, scale_by_weights
from harness.model.comparison import CORRECTIONS, SAMPLES, SEED, TESTS, TESTS_OF_MEANS, Comparison, MeasureComparison
from harness.statistics.intervals import FlipSettings, MeanTest, run_sign_flips, t_interval
from harness.statistics.mean_intervals import count_by_weights, find_fewest
from harness.statistics.paired import EQUAL, pair_defined
from harness.statistics.power import Detectable, detectable_by_sign_flip, detectable_by_t
from harness.statistics.tests import (
    Alternative,
    EffectSize,
    FloatArray,
    Significance,
    benjamini_hochberg,
    effect_size,
    holm,
    paired_t,
    sign_test,
    wilcoxon,
)
from harness.words import did_you_mean, grouped


@dataclass(frozen=True, slots=True)
class PairedScores:
    """
    One measure's scores of the queries that both runs have, in the reference's order.

    *weighed* are the differences, each times its weight over the mean weight; *weights* is None where all are alike.
    """

    measure: str
    queries: Sequence[str]
    reference: FloatArray
    candidate: FloatArray
    differences: FloatArray
    weighed: FloatArray
    weights: tuple[float, ...] | None
    left_out: int


def pair_up(
    measure: str,
    reference: Mapping[str, float | None],
    candidate: Mapping[str, float | None],
    weights: Mapping[str, float],
) -> PairedScores:
    """
    Pair the scores of the queries that both runs have.

    Args:
        measure: The text of the measure.
        reference: Its scores in the run to compare with, by query; None where it is undefined.
        candidate: Its scores in the run to compare, by query.
        weights: The weight of each query; empty where all weigh the same.

    Raises:
        UsageError: No query has both scores, or one that has them has no weight.
    """
    pairs = pair_defined(reference, candidate)
    if not pairs:
        raise UsageError(f"no query has a score of {measure} in both runs")
    queries = list(pairs)
    before_and_after = np.array(list(pairs.values()), dtype=np.float64)
    differences = before_and_after[:, 1] - before_and_after[:, 0]
    differences[np.abs(differences) <= EQUAL] = 0.0  # the same score, but summed in another order
    weights_of_queries = _list_weights(queries, weights)
    weighed_differences = differences
    if weights_of_queries is not None:
        weighed_differences = np.array(scale_by_weights(differences.tolist(), weights_of_queries))
    return PairedScores(
        measure=measure,
        queries=queries,
        reference=before_and_after[:, 0],
        candidate=before_and_after[:, 1],
        differences=differences,
        weighed=weighed_differences,
        weights=weights_of_queries,
        left_out=len(reference.keys() | candidate.keys()) - len(queries),
    )


def _list_weights(queries: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...] | None:
    if not weights:
        return None
    lacking = [query for query in queries if query not in weights]
    if lacking:
        raise UsageError(
            f"query {lacking[0]!r} has no weight; expected one for every query that is compared, or for none"
        )
    return tuple(weights[query] for query in queries)


Scores: TypeAlias = Mapping[str, Mapping[str, float | None]]
"""Measure -> query -> score, None where it is undefined."""

CORRECTED: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "none": list,
}
"""What corrects p-values, by each name in `CORRECTIONS`."""


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """
    How a difference is tested.

    *test* is one of `TESTS`, *correction* one of `CORRECTIONS`; *level* is that of the test, such as 0.05, and the
    interval's is its complement. *samples* and *seed* are for sign flips that are drawn, where there are too many to
    count them all.
    """

    test: str = TESTS[0]
    alternative: Alternative = "two-sided"
    level: float = 0.05
    correction: str = CORRECTIONS[0]
    samples: int = SAMPLES
    seed: int = SEED
    has_power: bool = True
    """Whether the detectable difference is computed, which takes ten times as long as the test."""

    def __post_init__(self) -> None:
        _check_choice("test", self.test, TESTS)
        _check_choice("alternative", self.alternative, get_args(Alternative))
        _check_choice("correction", self.correction, CORRECTIONS)
        if not 0 < 1 - self.level < 1:  # the interval's level, which floats may round to 1
            raise UsageError(f"found level {self.level:g}, expected one between 0 and 1, such as 0.05")
        if self.seed < 0:
            raise UsageError(f"found seed {self.seed}, expected at least 0")


def compare(
    reference: Scores,
    candidate: Scores,
    *,
    names: tuple[str, str] = ("reference", "candidate"),
    options: ComparisonOptions | None = None,
    weights: Mapping[str, float] | None = None,
) -> Comparison:
    """
    Compare two runs on every measure that both have.

    Args:
        reference: The scores of the run to compare with.
        candidate: The scores of the run to compare.
        names: The names of the two in reports.
        options: How the difference is tested.
        weights: What each query weighs, above 0. The means and their difference are then weighted, and what
            is tested are the differences, each times its weight over the mean weight:
            under the null hypothesis the scores of a query may be swapped, whatever it weighs. Cohen's d, the
            detectable difference and the order of what moved are of the same. Left out, and where all weigh the same,
            nothing is weighted.

    Raises:
        UsageError: The runs share no measure, a measure of theirs has no query scored in both, a query has no weight
            while others have one, or the test takes no weights.
        StatisticError: A single query is left to compare, or the test is the t test and the differences have no spread.
    """
    options = options or ComparisonOptions()
    shared = [measure for measure in reference if measure in candidate]
    if not shared:
        raise UsageError(f"{names[0]} and {names[1]} have no measure in common")
    weights = weights if weights and are_weighted(weights.values()) else {}
    if weights and options.test not in TESTS_OF_MEANS:
        raise UsageError(
            f"the {options.test} test does not test a weighted mean; expected {' or '.join(TESTS_OF_MEANS)}, "
            "or queries with equal weights"
        )
    pairs = [pair_up(measure, reference[measure], candidate[measure], weights) for measure in shared]
    for pair in pairs:
        if len(pair.queries) == 1:
            both = f"both {names[0]} and {names[1]}"
            raise StatisticError(
                f"{pair.measure}: 1 query ({pair.queries[0]}) has a score in {both}, expected 2 or more"
            )
    tests = _test_pairs(pairs, options)
    adjusted = CORRECTED[options.correction]([test.significance.p_value for test in tests])
    rows = zip(pairs, tests, adjusted, strict=True)
    return Comparison(
        *names,
        test=options.test,
        alternative=options.alternative,
        level=options.level,
        correction=options.correction,
        measures=tuple(_build_row(*row, options) for row in rows),
        left_out={pair.measure: pair.left_out for pair in pairs if pair.left_out},
        samples=options.samples,
        seed=options.seed,
        weighted=bool(weights),
    )


def _test_pairs(pairs: Sequence[PairedScores], options: ComparisonOptions) -> list[MeanTest]:
    """The test of each of *pairs*; measures with the same queries share the sign flips."""
    if options.test != "sign-flip":
        return [_test_pair(pair, options) for pair in pairs]
    settings = FlipSettings(options.alternative, options.level, options.samples, options.seed)
    pairs_by_queries = grouped((tuple(pair.queries), pair) for pair in pairs)
    tests: dict[str, MeanTest] = {}
    for pairs_of_queries in pairs_by_queries.values():
        # The flips are most of the work: one matrix has the differences of all these measures.
        differences = np.column_stack([pair.weighed for pair in pairs_of_queries])
        tests_of_queries = run_sign_flips(differences, _compute_loads(pairs_of_queries[0]), settings)
        for pair, test in zip(pairs_of_queries, tests_of_queries, strict=True):
            tests[pair.measure] = test
    return [tests[pair.measure] for pair in pairs]


def _test_pair(pair: PairedScores, options: ComparisonOptions) -> MeanTest:
    """A test that draws nothing. One that ranks or counts queries does not test the mean, and gives no interval."""
    tests: Mapping[str, Callable[..., Significance]] = {"t": paired_t, "wilcoxon": wilcoxon, "sign": sign_test}
    try:
        significance = tests[options.test](pair.weighed, alternative=options.alternative)
    except StatisticError as error:
        raise StatisticError(f"{pair.measure}: {error}; use another test, such as {TESTS[0]}") from None
    interval = None
    if options.test == "t":
        interval = t_interval(pair.weighed, _compute_loads(pair), alternative=options.alternative, level=options.level)
    return MeanTest(significance, interval)


def _compute_loads(pair: PairedScores) -> FloatArray:
    """The weight of each query over the mean weight."""
    ones = [1.0] * len(pair.queries)
    return np.array(ones if pair.weights is None else scale_by_weights(ones, pair.weights))


def _build_row(pair: PairedScores, test: MeanTest, adjusted: float, options: ComparisonOptions) -> MeasureComparison:
    size = effect_size(pair.weighed)
    interval = test.interval
    counts_as = None
    if pair.weights is not None and are_weighted(pair.weights):
        counts_as = count_by_weights(pair.weights)
        # The test is valid for any weights: it asks whether the queries differ at all. The mean of all is another
        # matter, where a few queries decide it.
        # Differences that are all the same have the same mean, whatever the queries weigh.
        is_certain = interval is not None and interval.low == interval.high
        if counts_as < find_fewest(len(pair.queries)) and not is_certain:
            interval = None
    detectable = _find_detectable(pair, size, options) if options.has_power else None
    return MeasureComparison(
        measure=pair.measure,
        queries=len(pair.queries),
        reference=mean(pair.reference.tolist(), pair.weights),
        candidate=mean(pair.candidate.tolist(), pair.weights),
        difference=mean(pair.differences.tolist(), pair.weights),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        p_value=test.significance.p_value,
        adjusted=adjusted,
        least_p=test.significance.least_p,
        wins=size.wins,
        ties=size.ties,
        losses=size.losses,
        effect=size.cohen_dz,
        detectable=detectable.difference if detectable else None,
        moved=_list_moved(pair),
        detectable_if_all_move=detectable is not None and detectable.all_move,
        counts_as=counts_as,
    )


def _find_detectable(pair: PairedScores, size: EffectSize, options: ComparisonOptions) -> Detectable | None:
    """The detectable difference of the selected test; None for tests that rank or count queries."""
    level, alternative = options.level, options.alternative
    try:
        if options.test == "sign-flip":
            return detectable_by_sign_flip(
                pair.differences,
                weights=pair.weights,
                level=level,
                alternative=alternative,
                seed=options.seed,
            )
        if options.test == "t":
            difference = detectable_by_t(
                size.standard_deviation, len(pair.queries), level=level, alternative=alternative
            )
            return Detectable(difference)
    except StatisticError:
        # Without spread, or at a level above the power, there is none; the comparison stands.
        return None
    return None


def _list_moved(pair: PairedScores) -> tuple[tuple[str, float, float], ...]:
    """The queries that changed, those first that moved the mean most."""
    order = sorted(np.flatnonzero(pair.differences).tolist(), key=lambda index: -abs(pair.weighed[index]))
    return tuple((pair.queries[index], float(pair.reference[index]), float(pair.candidate[index])) for index in order)


def _check_choice(what: str, found: str, known: Sequence[str]) -> None:
    if found not in known:
        raise UsageError(f"found {what} {found!r}, expected one of {', '.join(known)}{did_you_mean(found, known)}")
