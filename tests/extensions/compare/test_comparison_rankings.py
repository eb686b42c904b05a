"""How far two runs rank alike; the figures are worked by hand."""

import pytest

from harness.errors import MeasureError
from harness.metrics.agreement import agreement_value, compare_rankings, mean_agreement
from harness.metrics.grammar import read_agreement


def test_a_pair_is_cut_at_the_depth_before_it_is_compared():
    pair = compare_rankings(["a", "b", "c", "d"], ["a", "x", "b", "y"], depth=2)
    assert (pair.reference, pair.candidate) == (("a", "b"), ("a", "x"))
    assert pair.overlap == 0.5
    # equation 32 of Webber et al. with p = 0.9: (0.1/0.9) * (1/1 * 0.9 + 1/2 * 0.81) + 1/2 * 0.81
    assert pair.rbo == pytest.approx(0.145 + 0.405)
    assert pair.tau is None, "one shared document has no order"


def test_short_rankings_that_are_the_same_agree_wholly():
    pair = compare_rankings(["a", "b"], ["b", "a"], depth=10)
    assert (pair.overlap, pair.tau) == (1.0, -1.0)


def test_a_ranking_beside_none_shares_nothing_and_two_without_a_hit_are_the_same():
    nothing = compare_rankings(["a"], [], depth=10)
    assert (nothing.rbo, nothing.overlap, nothing.tau) == (0.0, 0.0, None)
    empty = compare_rankings([], [], depth=10)
    assert (empty.rbo, empty.overlap, empty.tau) == (1.0, 1.0, None)


def test_below_the_end_of_the_shorter_ranking_nothing_is_shared():
    """Three hits of which nothing changed, with 47 behind them that were not there: no reader calls that the same."""
    three, fifty = ["a", "b", "c"], ["a", "b", "c", *map(str, range(47))]
    weight = {depth: 0.1 * 0.9 ** (depth - 1) for depth in range(1, 51)}
    expected = sum(min(depth, 3) / depth * weight[depth] for depth in weight) + 3 / 50 * 0.9**50
    for pair in (compare_rankings(three, fifty, depth=50), compare_rankings(fifty, three, depth=50)):
        assert pair.rbo == pytest.approx(expected)
        assert pair.overlap == 3 / 50
    assert expected == pytest.approx(0.5226, abs=1e-4)
    assert agreement_value(read_agreement("RBO"), three, fifty, depth=50) == pytest.approx(expected)


def test_means_are_over_the_queries_and_counts_tell_how_many_are_the_same():
    pairs = {
        "same": compare_rankings(["a", "b"], ["a", "b"], depth=2),
        "turned": compare_rankings(["a", "b"], ["b", "a"], depth=2),
        "other": compare_rankings(["a", "b"], ["a", "x"], depth=2),
        "none": compare_rankings([], [], depth=2),
    }
    found = mean_agreement(pairs, depth=2)
    assert (found.queries, found.depth, found.p) == (4, 2, 0.9)
    assert found.overlap == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert found.rbo == pytest.approx(sum(pair.rbo for pair in pairs.values()) / 4)
    assert (found.tau, found.tau_queries) == (0.0, 2)
    assert (found.same_ranking, found.same_documents, found.same_first) == (2, 3, 3)


def test_a_query_that_weighs_more_counts_more_in_the_means_and_once_in_the_counts():
    pairs = {
        "same": compare_rankings(["a", "b"], ["a", "b"], depth=2),
        "other": compare_rankings(["a", "b"], ["x", "y"], depth=2),
    }
    found = mean_agreement(pairs, depth=2, weights={"same": 3, "other": 1})
    assert (found.rbo, found.overlap, found.same_ranking) == (pytest.approx(0.75), 0.75, 1)
    assert (found.tau, found.tau_queries) == (1.0, 1)


def test_no_pair_has_no_mean():
    assert mean_agreement({}, depth=10) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("overlap", 2 / 3),
        ("overlap@1", 0.0),
        ("overlap@2", 1.0),
        ("RBO(p=0.5)@2", 0.5),  # depths 1 and 2 share 0 and 1: 1/1 * 0 + 0.25 + 0.25
    ],
)
def test_a_threshold_looks_down_to_its_cutoff_or_to_the_depth(text, value):
    found = agreement_value(read_agreement(text), ["a", "b", "c"], ["b", "a", "x"], depth=3)
    assert found == pytest.approx(value)


def test_the_usual_persistence_is_0_9():
    rankings = (["a", "b", "c"], ["b", "a", "x"])
    plain, stated = (agreement_value(read_agreement(text), *rankings, depth=3) for text in ("RBO", "RBO(p=0.9)"))
    assert plain == stated == compare_rankings(*rankings, depth=3).rbo


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("RBO", "RBO"), ("RBO( p=.80 ) @ 20", "RBO(p=0.8)@20"), ("overlap@10", "overlap@10"), ("overlap", "overlap")],
)
def test_the_text_of_an_agreement_is_made_canonical(text, canonical):
    assert read_agreement(text).text == canonical


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RBO(p=1)", "RBO's p: found 1, expected a number above 0 and below 1, such as 0.9"),
        ("RBO(p=x)", "RBO's p: found x, expected a number above 0 and below 1"),
        ("RBO(q=0.5)", "RBO has no parameter q; it has p"),
        ("overlap(p=0.5)", "overlap has no parameter p; it has none"),
        ("RBO(p=0.5,p=0.6)", "p is given twice"),
        ("overlap@0", "the cutoff must be at least 1, found 0"),
    ],
)
def test_what_is_no_agreement_is_refused(text, said):
    with pytest.raises(MeasureError, match="^" + said.replace("(", r"\(")):
        read_agreement(text)
