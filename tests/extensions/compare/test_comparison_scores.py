"""Two runs beside each other: pairing, testing, correcting."""

import pytest

pytest.importorskip("numpy")

from dataclasses import replace

import numpy as np

from harness.errors import StatisticError, UsageError
from harness.model.comparison import TESTS
from harness.statistics.compare import ComparisonOptions, compare
from harness.statistics.power import detectable_by_sign_flip, detectable_by_t
from harness.statistics.tests import sign_flip


def scores(values, prefix="q"):
    return {f"{prefix}{index}": value for index, value in enumerate(values)}


BEFORE = [0.5, 0.6, 0.7, 0.8, 0.4, 0.3]
AFTER = [0.6, 0.6, 0.9, 0.9, 0.5, 0.2]


def test_means_wins_and_what_moved():
    (row,) = compare({"nDCG@10": scores(BEFORE)}, {"nDCG@10": scores(AFTER)}).measures
    assert (row.reference, row.candidate) == (pytest.approx(np.mean(BEFORE)), pytest.approx(np.mean(AFTER)))
    assert row.difference == pytest.approx(0.4 / 6)
    assert (row.wins, row.ties, row.losses) == (4, 1, 1)
    assert row.moved[0] == ("q2", 0.7, 0.9)
    assert {query for query, *_ in row.moved} == {"q0", "q2", "q3", "q4", "q5"}


def test_the_figures_are_those_of_the_statistics():
    differences = np.array(AFTER) - np.array(BEFORE)
    (row,) = compare({"nDCG@10": scores(BEFORE)}, {"nDCG@10": scores(AFTER)}).measures
    assert row.p_value == pytest.approx(sign_flip(differences).p_value)
    assert (row.low, row.high) == (None, None)  # five queries changed, and p cannot be 0.05
    detectable = detectable_by_sign_flip(differences.round(12))
    assert (row.detectable, row.detectable_if_all_move) == (pytest.approx(detectable.difference), True)


@pytest.mark.parametrize("test", TESTS)
def test_the_detectable_difference_is_that_of_the_test_that_was_asked_for(test):
    """None is known of those that rank or count queries."""
    options = ComparisonOptions(test=test, alternative="less", level=0.1)
    (row,) = compare({"AP": scores(BEFORE)}, {"AP": scores(AFTER)}, options=options).measures
    differences = (np.array(AFTER) - np.array(BEFORE)).round(12)
    expected = {
        "sign-flip": detectable_by_sign_flip(differences, level=0.1, alternative="less").difference,
        "t": detectable_by_t(differences.std(ddof=1), 6, level=0.1, alternative="less"),
    }
    assert row.detectable == (pytest.approx(expected[test]) if test in expected else None)


def test_queries_without_a_partner_are_left_out_and_counted():
    reference = {"AP": {**scores(BEFORE), "only-here": 1.0, "undefined": None}}
    candidate = {"AP": {**scores(AFTER), "only-there": 0.0, "undefined": 0.5}}
    found = compare(reference, candidate)
    assert found.measures[0].queries == 6
    assert found.left_out == {"AP": 3}


def test_a_difference_in_the_last_bit_is_none():
    (row,) = compare({"P@5": scores([0.1 + 0.2, 0.5])}, {"P@5": scores([0.3, 0.5])}).measures
    assert (row.ties, row.p_value, row.detectable, row.moved) == (2, 1.0, None, ())


EQUAL_TENTHS = ({"P@10": scores([0.0, 0.2, 0.6, 0.7])}, {"P@10": scores([0.1, 0.3, 0.7, 0.8])})
"""Each query gains a tenth, but for rounding."""


def test_equal_differences_have_no_effect_size_and_no_detectable_difference():
    (row,) = compare(*EQUAL_TENTHS).measures
    assert (row.effect, row.detectable, row.wins, row.p_value) == (None, None, 4, 0.125)
    assert (row.low, row.high) == (None, None)
    (row,) = compare(*EQUAL_TENTHS, options=ComparisonOptions(level=0.2)).measures
    assert (row.low, row.high) == (pytest.approx(0.1), pytest.approx(0.1))


def test_equal_differences_have_no_t_and_the_measure_is_named():
    with pytest.raises(
        StatisticError, match=r"P@10: the t test is not defined where all differences are equal: .* sign-flip"
    ):
        compare(*EQUAL_TENTHS, options=ComparisonOptions(test="t"))


def test_several_measures_are_corrected_together():
    reference = {"nDCG@10": scores(BEFORE), "P@5": scores(BEFORE)}
    candidate = {"nDCG@10": scores(AFTER), "P@5": scores([value + 0.1 for value in BEFORE])}
    first, second = compare(reference, candidate).measures
    assert second.adjusted == pytest.approx(2 * second.p_value)
    assert first.adjusted == max(first.p_value, second.adjusted)
    alone = compare(reference, candidate, options=ComparisonOptions(correction="none"))
    assert [row.adjusted for row in alone.measures] == [row.p_value for row in alone.measures]


@pytest.mark.parametrize("test", ["sign-flip", "t", "wilcoxon", "sign"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_every_test_sees_a_clear_loss(test, alternative):
    generator = np.random.default_rng(4)
    before = generator.uniform(0.4, 0.9, 60)
    after = before - generator.uniform(0.02, 0.2, 60)
    options = ComparisonOptions(test=test, alternative=alternative, samples=999)
    (row,) = compare({"AP": scores(before)}, {"AP": scores(after)}, options=options).measures
    assert (row.p_value > 0.9) if alternative == "greater" else (row.p_value < 0.01)
    if alternative == "greater" or test in ("wilcoxon", "sign"):
        assert row.high is None
    else:
        assert row.high < 0


def test_runs_without_a_common_measure():
    with pytest.raises(UsageError, match="old and new have no measure in common"):
        compare({"AP": scores(BEFORE)}, {"RR": scores(AFTER)}, names=("old", "new"))


def test_runs_without_a_common_query():
    with pytest.raises(UsageError, match="no query has a score of AP in both runs"):
        compare({"AP": scores(BEFORE)}, {"AP": scores(AFTER, prefix="other")})


def test_one_query_cannot_be_tested():
    with pytest.raises(
        StatisticError, match=r"AP: 1 query \(q\) has a score in both reference and candidate, expected 2"
    ):
        compare({"AP": {"q": 0.5}}, {"AP": {"q": 0.6}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "wilcoxn"}, "found test 'wilcoxn', expected one of .*; did you mean 'wilcoxon'"),
        ({"correction": "bonferroni"}, "found correction 'bonferroni'"),
        ({"level": 5}, "found level 5, expected one between 0 and 1"),
        ({"level": 1e-300}, "found level 1e-300"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(UsageError, match=message):
        ComparisonOptions(**options)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_no_test_has_an_interval_that_contradicts_its_p(test, alternative):
    """Means near the limit of what is significant, where figures of two methods would disagree."""
    seen = set()
    for seed in range(12):
        generator = np.random.default_rng(seed)
        queries = 12 if seed % 3 else 60
        after = generator.exponential(0.3, queries).round(1) - generator.uniform(0.0, 0.35)
        after = -after if seed % 4 < 2 else after
        weights = {} if seed % 2 or test not in ("sign-flip", "t") else scores(generator.uniform(1, 9, queries))
        options = ComparisonOptions(test=test, alternative=alternative, samples=499, seed=seed)
        sides = {"AP": scores([0.0] * queries)}, {"AP": scores(after)}
        (row,) = compare(*sides, options=options, weights=weights).measures
        if row.low is None and row.high is None:
            continue
        is_inside = (row.low is None or row.low <= 0) and (row.high is None or row.high >= 0)
        assert is_inside == (row.p_value > 0.05)
        seen.add(is_inside)
    assert seen == ({True, False} if test in ("sign-flip", "t") else set())


@pytest.mark.parametrize(("p_value", "found"), [(0.04, True), (0.05, True), (0.0501, False)])
def test_a_p_equal_to_the_level_is_significant_as_for_the_gate(p_value, found):
    comparison = compare({"AP": scores(BEFORE)}, {"AP": scores(AFTER)})
    assert comparison.is_significant(replace(comparison.measures[0], adjusted=p_value)) is found


# ------------------------------------------------------------------------------------------------ weights


LOADS = scores([40.0, 1.0, 2.0, 3.0, 5.0, 9.0])


def weighted(before, after, weights=LOADS, **options):
    return compare({"AP": scores(before)}, {"AP": scores(after)}, weights=weights, options=ComparisonOptions(**options))


def test_means_and_their_difference_are_weighted():
    found = weighted(BEFORE, AFTER)
    (row,) = found.measures
    assert found.weighted
    assert row.reference == pytest.approx(np.average(BEFORE, weights=list(LOADS.values())), abs=1e-15)
    assert row.candidate == pytest.approx(np.average(AFTER, weights=list(LOADS.values())), abs=1e-15)
    assert row.difference == pytest.approx((40 * 0.1 + 2 * 0.2 + 3 * 0.1 + 5 * 0.1 - 9 * 0.1) / 60, abs=1e-15)
    assert (row.wins, row.ties, row.losses) == (4, 1, 1)
    assert [query for query, *_ in row.moved] == ["q0", "q5", "q4", "q2", "q3"]


@pytest.mark.parametrize("test", ["sign-flip", "t"])
def test_what_is_tested_are_the_differences_times_their_weights(test):
    (row,) = weighted(BEFORE, AFTER, test=test).measures
    pulls = [
        (after - before) * weight / 10 for before, after, weight in zip(BEFORE, AFTER, LOADS.values(), strict=True)
    ]
    (plain,) = compare({"AP": scores([0.0] * 6)}, {"AP": scores(pulls)}, options=ComparisonOptions(test=test)).measures
    assert row.p_value == pytest.approx(plain.p_value)
    assert (row.effect, row.least_p) == (pytest.approx(plain.effect), plain.least_p)
    if test == "t":
        assert row.detectable == pytest.approx(plain.detectable)
    else:
        differences = (np.array(AFTER) - np.array(BEFORE)).round(12)
        assert row.detectable == pytest.approx(
            detectable_by_sign_flip(differences, weights=list(LOADS.values())).difference
        )


@pytest.mark.parametrize("weights", [None, {}, dict.fromkeys(LOADS, 7.0)])
def test_equal_weights_are_none(weights):
    plain = compare({"AP": scores(BEFORE)}, {"AP": scores(AFTER)})
    assert weighted(BEFORE, AFTER, weights) == plain
    assert not plain.weighted


def test_a_difference_that_is_the_same_everywhere_is_certain_whatever_queries_weigh():
    (row,) = weighted([0.25] * 6, [0.5] * 6).measures
    assert (row.low, row.high, row.difference) == (0.25, 0.25, 0.25)


@pytest.mark.parametrize("test", ["sign-flip", "t"])
def test_a_mean_that_a_few_queries_decide_has_its_p_and_no_interval(test):
    queries = [f"q{number}" for number in range(30)]
    before = dict.fromkeys(queries, 0.2)
    after = {query: 0.3 + number / 100 for number, query in enumerate(queries)}
    rows = []
    for power in (0.3, 1.0):
        weights = {query: (number + 1) ** -power for number, query in enumerate(queries)}
        options = ComparisonOptions(test=test)
        rows += compare({"P@1": before}, {"P@1": after}, options=options, weights=weights).measures
    even, unequal = rows
    assert (even.counts_as, even.low is None) == (27, False)
    assert (unequal.counts_as, unequal.low, unequal.high) == (9, None, None)
    assert unequal.p_value < 0.05


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_a_test_that_ranks_or_counts_queries_takes_no_weights(test):
    with pytest.raises(
        UsageError, match=f"^the {test} test does not test a weighted mean; expected sign-flip or t, or"
    ):
        weighted(BEFORE, AFTER, test=test)
    assert weighted(BEFORE, AFTER, None, test=test).measures


def test_a_query_without_a_weight_is_refused_where_it_would_be_compared():
    lacking = {query: weight for query, weight in LOADS.items() if query != "q3"}
    with pytest.raises(UsageError, match=r"^query 'q3' has no weight; expected one for every query that is compared"):
        weighted(BEFORE, AFTER, lacking)
    assert weighted([*BEFORE[:3], None, *BEFORE[4:]], AFTER, lacking).measures[0].queries == 5
