"""Figures over all queries and over those of each tag, worked by hand."""

import pytest

from builders.suites import make_suite
from harness.metrics import parse_measure
from harness.model.run import Status, Verdict
from harness.model.scores import Outcome, Score
from harness.model.suite import Query
from harness.run.summaries import summarize_measures, summarize_tags

P = parse_measure("P@10")
RR = parse_measure("RR@10")


def scores_of(measure=P, **values):
    return [
        Score(query, measure.text, None, Outcome.ERROR)
        if value is None
        else Score(query, measure.text, value, Outcome.SCORED)
        for query, value in values.items()
    ]


A = Query("a", "", tags=("head",), weight=6.0)
B = Query("b", "", tags=("head", "new"), weight=2.0)
C = Query("c", "", tags=("tail",), weight=1.0)
D = Query("d", "", weight=1.0)
SUITE = make_suite(A, B, C, D, measures=[P])
SCORES = scores_of(a=1.0, b=0.5, c=0.25, d=0.75)


def tagged(suite=SUITE, scores=SCORES, verdicts=()):
    return {one.tag: one for one in summarize_tags(suite, scores, verdicts)}


def test_a_mean_is_weighted_and_the_other_figures_are_not():
    [summary] = summarize_measures(SUITE, SCORES)
    assert summary.mean == 0.8  # (6 * 1 + 2 * 0.5 + 0.25 + 0.75) / 10
    assert (summary.median, summary.least, summary.greatest, summary.weighted) == (0.625, 0.25, 1.0, True)


def test_without_weights_a_mean_is_plain():
    [summary] = summarize_measures(make_suite(*(Query(name, "") for name in "abcd"), measures=[P]), SCORES)
    assert (summary.mean, summary.weighted) == (0.625, False)


def test_a_query_without_a_value_is_left_out_with_its_weight():
    [summary] = summarize_measures(SUITE, scores_of(a=None, b=0.5, c=0.25, d=0.75))
    assert (summary.mean, summary.counted, summary.left_out) == (0.5, 3, 1)  # (2 * 0.5 + 0.25 + 0.75) / 4


def test_where_nothing_has_a_value_there_is_no_figure():
    [summary] = summarize_measures(SUITE, scores_of(a=None, b=None, c=None, d=None))
    assert (summary.mean, summary.median, summary.counted, summary.left_out) == (None, None, 0, 4)


def many(count, *, weight=1.0):
    """As many queries, the even ones with the tag "even"; the first weighs *weight*. Each other score is 1."""
    queries = [Query(f"q{place}", "", tags=() if place % 2 else ("even",)) for place in range(count)]
    queries[0] = Query("q0", "", tags=("even",), weight=weight)
    scores = scores_of(**{query.id: float(place % 4 < 2) for place, query in enumerate(queries)})
    return make_suite(*queries, measures=[P]), scores


def test_a_mean_has_its_interval_which_ends_where_the_measure_does():
    [summary] = summarize_measures(*many(8))
    assert summary.interval == pytest.approx((0.0531, 0.9469), abs=1e-4)
    [summary] = summarize_measures(*many(6))
    assert summary.interval == pytest.approx((0.1247, 1.0), abs=1e-4)  # two thirds, and more than 1 without P's bound


def test_a_weighted_mean_has_that_of_its_weights():
    [plain] = summarize_measures(*many(12))
    [weighted] = summarize_measures(*many(12, weight=3.0))
    assert weighted.mean == pytest.approx(8 / 14)
    assert weighted.interval[1] - weighted.interval[0] > plain.interval[1] - plain.interval[0]


def test_a_weighted_mean_says_as_how_many_queries_its_own_count():
    [plain] = summarize_measures(*many(12))
    assert plain.counts_as is None
    [weighted] = summarize_measures(*many(12, weight=3.0))
    assert (weighted.counts_as, weighted.interval is None) == (9, False)  # (11 + 3)^2 / (11 + 9)
    [unequal] = summarize_measures(*many(12, weight=9.0))
    assert (unequal.counts_as, unequal.interval) == (4, None)
    [without] = summarize_measures(*many(12, weight=9.0), has_intervals=False)
    assert without.counts_as is None


def test_a_mean_of_few_queries_has_none():
    [summary] = summarize_measures(*many(5))
    assert summary.interval is None


def test_queries_without_a_value_do_not_count_for_the_interval():
    suite, scores = many(6)
    [summary] = summarize_measures(suite, [*scores[:5], *scores_of(q5=None)])
    assert summary.interval is None


def test_each_tag_has_the_interval_of_its_queries():
    found = tagged(*many(12))
    assert found["even"].summaries[0].interval == pytest.approx((0.0, 1.0))
    assert found[None].summaries[0].interval is not None
    assert tagged(*many(10))["even"].summaries[0].interval is None, "five queries"


def test_intervals_can_be_left_out():
    suite, scores = many(12)
    [summary] = summarize_measures(suite, scores, has_intervals=False)
    assert summary.interval is None
    for tag in summarize_tags(suite, scores, (), has_intervals=False):
        assert tag.summaries[0].interval is None


def test_each_tag_has_its_figures_and_its_share_of_the_weight():
    found = tagged()
    assert {tag: one.share for tag, one in found.items()} == pytest.approx(
        {"head": 0.8, "new": 0.2, "tail": 0.1, None: 0.1}
    )
    assert {tag: one.queries for tag, one in found.items()} == {"head": 2, "new": 1, "tail": 1, None: 1}
    assert {tag: one.summaries[0].mean for tag, one in found.items()} == {
        "head": 0.875,
        "new": 0.5,
        "tail": 0.25,
        None: 0.75,
    }
    assert {tag: one.summaries[0].weighted for tag, one in found.items()} == {
        "head": True, "new": False, "tail": False, None: False,
    }  # fmt: skip


def test_the_heaviest_tag_comes_first_and_the_queries_without_one_last():
    assert list(tagged()) == ["head", "new", "tail", None]
    alike = make_suite(Query("x", "", tags=("b", "a")), Query("y", ""), Query("z", ""), measures=[P])
    assert list(tagged(alike, scores_of(x=1.0, y=1.0, z=1.0))) == ["a", "b", None]


def test_where_all_weigh_the_same_the_share_is_that_of_the_queries():
    suite = make_suite(Query("a", "", tags=("t",)), Query("b", ""), Query("c", ""), measures=[P])
    found = tagged(suite, scores_of(a=1, b=1, c=1))
    assert (found["t"].share, found[None].share) == (1 / 3, 2 / 3)


def test_without_tags_there_are_no_summaries_of_them():
    suite = make_suite(Query("a", ""), Query("b", ""), measures=[P])
    assert summarize_tags(suite, scores_of(a=1, b=0), ()) == ()
    assert summarize_tags(make_suite(measures=[P]), (), ()) == ()


def test_the_thresholds_for_a_tag_are_named_with_it():
    verdicts = [
        Verdict("mean-for-head", "mean P@10 >= 1 for head", Status.FAILED, "", tag="head"),
        Verdict("mean", "mean P@10 >= 1", Status.FAILED, ""),
        Verdict("every-for-head", "every P@10 >= 0 for head", Status.PASSED, "", tag="head"),
    ]
    found = tagged(verdicts=verdicts)
    assert found["head"].verdicts == ("mean-for-head", "every-for-head")
    assert {tag: one.verdicts for tag, one in found.items() if tag != "head"} == {"new": (), "tail": (), None: ()}


def test_every_common_measure_is_there_in_the_suites_order():
    suite = make_suite(A, C, measures=(RR, P))
    scores = scores_of(a=1.0, c=0.5) + scores_of(RR, a=0.5, c=1.0)
    assert [summary.measure for summary in tagged(suite, scores)["head"].summaries] == ["RR@10", "P@10"]
