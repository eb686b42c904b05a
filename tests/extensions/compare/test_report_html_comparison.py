"""The page of a comparison."""

import math
from dataclasses import replace

import pytest

from builders.html import Page
from builders.odd_texts import assert_page_is_ours
from builders.reports import HOSTILE
from extensions.compare.builders.comparisons import (
    NDCG,
    ODD,
    boots,
    comparison,
    comparison_report,
    hostile_report,
    large_report,
    red_shoes,
    row,
    unchanged,
    unjudged_report,
    verdicts,
)
from harness.extensions.compare.model import QueryComparison, SideKind
from harness.extensions.compare.page import draw_intervals, render
from harness.model.comparison import MovedDocument
from harness.report.html.run import Limits
from harness.statistics.paired import compute_change


def rows_of(page):
    return [attributes for attributes in page.all("tr") if "data-outcome" in attributes]


def test_the_page_says_what_was_compared_and_what_it_came_to():
    text = Page(render(comparison_report())).text
    assert "1 threshold of 3 did not hold" in text
    assert "candidate against baseline error" in text
    for fact in (
        "baseline: baseline of 2026-11-01, opensearch 3.7.0",
        "candidate: request, opensearch 3.8.0",
        "Depth 10 ranks",
        "Suite prod",
    ):
        assert fact in text
    assert "candidate: no ranking for 1 query (gloves): failed shards: 1 of 5" in text
    assert "sign-flip test, two-sided, level 0.05, corrected by holm" in text
    assert "nDCG@10 0.5530 0.6280 +0.0750 -0.1000 to +0.2500" in text
    assert "candidate 0.8531 0.9286 -0.6000 over 3 queries" in text
    assert "nDCG@10: 1 query not scored in both runs, left out" in text


def test_intervals_stand_where_their_figures_are():
    page = Page(render(comparison_report(measures=comparison(row(low=-0.5, high=0.25, difference=0.0)))))
    [interval] = page.all("line", **{"class": "interval"})
    [point] = page.all("circle", **{"class": "point"})
    assert (float(interval["x1"]), float(interval["x2"]), float(point["cx"])) == (0.0, 120.0, 80.0)


@pytest.mark.parametrize(
    ("limits", "drawn", "text"),
    [
        ((None, 0.25), [(0.0, 120.0)], "up to +0.2500"),
        ((-0.25, None), [(40.0, 160.0)], "from -0.2500"),
        ((None, None), [], "–"),
    ],
)
def test_an_open_interval_goes_to_the_end_and_none_is_not_drawn(limits, drawn, text):
    rows = (row(low=limits[0], high=limits[1], difference=0.0), row("P@5", low=-0.5, high=0.5))
    page = Page(render(comparison_report(measures=comparison(*rows))))
    lines = [(float(line["x1"]), float(line["x2"])) for line in page.all("line", **{"class": "interval"})]
    assert lines[: len(drawn)] == drawn
    assert len(lines) == len(drawn) + 1
    assert text in page.text


def test_measures_within_one_share_an_axis_and_others_have_their_own():
    rows = (row(low=-0.3, high=0.1), row("P@5", low=-0.01, high=0.02), row("DCG@10", low=-1.0, high=7.0))
    intervals = draw_intervals(comparison_report(measures=comparison(*rows)))
    assert [interval.whisker.end for interval in intervals] == ["0.5", "0.5", "10"]


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_a_figure_that_is_no_number_is_told_and_not_drawn(value):
    query = replace(red_shoes(), scores={NDCG: (0.0, value)})
    measures = comparison(row(candidate=value, difference=value, high=value))
    page = Page(render(comparison_report(measures=measures, queries=(query, boots()))))
    assert page.all("circle", **{"class": "point"}) == []
    assert str(value) in page.text


def test_a_change_that_is_told_from_chance_is_coloured():
    found = Page(render(comparison_report(measures=comparison(row(adjusted=0.01)))))
    assert len(found.all("svg", **{"class": "whisker better"})) == 1
    chance = Page(render(comparison_report(queries=())))
    assert chance.all("svg", **{"class": "whisker better"}) == []
    assert chance.all("span", **{"class": "better"}) == []
    assert "+0.0750" in chance.text


def test_differences_are_drawn_to_either_side_of_zero():
    page = Page(render(comparison_report()))
    better, worse = (page.all("rect", **{"class": f"bar {side}"}) for side in ("better", "worse"))
    assert min(float(bar["x"]) for bar in better) >= 160 > max(float(bar["x"]) for bar in worse)
    assert "rose 1 fell 1 the same, not drawn 2" in page.text


def test_a_difference_in_the_last_bit_is_none():
    assert compute_change(0.1 + 0.2, 0.3) == 0.0
    assert compute_change(math.inf, math.inf) == 0.0
    assert compute_change(0.5, None) is None


def test_what_a_threshold_blames_comes_first_then_what_moved_most():
    page = Page(render(comparison_report()))
    changes = [row["data-outcome"] for row in rows_of(page)]
    assert changes == ["other order", "other documents", "only ties", "same ranking", "not compared"]
    assert ["data-blamed" in row for row in rows_of(page)] == [True, False, False, False, False]


def test_two_rankings_stand_side_by_side_with_what_became_of_each_document():
    detail = Page(render(comparison_report())).text.split("Rankings")[1]
    query = detail.split("red running shoes red-shoes")[1].split("ties green tea")[0]
    assert "1 entered, 2 left, 4 moved" in query
    assert "nDCG@10 0.4121 → 0.9121" in query
    reference, candidate = query.split("Reference")[1].split("Candidate")
    assert "sku-2 Red socks 1 left" in reference
    assert "3 sku-17 Red running shoes 3 1" in reference
    assert "1 sku-17 Red running shoes 3 up 2" in candidate
    assert "文書-22 走るための赤い靴 unjudged entered" in candidate
    assert "4 sku-9 unjudged tied" in candidate


def test_grades_are_coloured_by_gain():
    page = Page(render(comparison_report()))
    for shade in ("gain-4", "gain-0", "gain-negative", "unjudged"):
        assert page.all("span", **{"class": f"grade {shade}"}), shade


def test_a_query_that_a_side_did_not_answer_says_why():
    text = Page(render(comparison_report())).text
    assert "No ranking in candidate : failed shards: 1 of 5" in text
    unknown = QueryComparison("socks", "socks")
    assert "A side has no ranking of this query." in Page(render(comparison_report(queries=(unknown,)))).text
    neither = QueryComparison("no hits", "", rbo=1.0, overlap=1.0)
    assert "No hits on either side." in Page(render(comparison_report(queries=(neither,)))).text


def test_texts_from_outside_never_become_markup():
    assert_page_is_ours(render(hostile_report(HOSTILE)))
    assert HOSTILE in "".join(Page(render(hostile_report(HOSTILE))).texts)


@pytest.mark.parametrize("odd", ODD)
def test_odd_texts_are_shown_and_not_obeyed(odd):
    text = render(hostile_report(odd))
    assert_page_is_ours(text)
    assert "\u202e" not in text
    assert len(text) < 120_000


def test_a_report_without_judgments_has_no_measures_and_no_thresholds():
    page = Page(render(unjudged_report()))
    assert "Measures" not in page.text
    assert "Thresholds" not in page.text
    assert "Gain" not in page.text
    assert page.all("input", type="checkbox") == []
    assert "The same ranking for 1 of 4 queries" in page.text
    assert len(page.all("rect", **{"class": "bar"})) > 1


@pytest.mark.parametrize(
    "changes",
    [
        {"queries": (), "measures": None, "agreement": None, "verdicts": ()},
        {"queries": (unchanged(),), "measures": None},
        {"queries": (boots(),)},
        {"measures": comparison(row(low=0.0, high=0.0, difference=0.0))},
    ],
)
def test_a_report_of_little_is_a_page_too(changes):
    page = Page(render(comparison_report(**changes)))
    assert len(rows_of(page)) == len(changes.get("queries", comparison_report().queries))


def test_thousands_of_queries_make_a_page_that_still_opens():
    text = render(large_report(5_200))
    page = Page(text)
    assert len(rows_of(page)) == Limits().rows
    assert len([details for details in page.all("details") if "class" not in details]) == Limits().details
    assert len(text) < 8_000_000
    assert "This page omits 200 queries that changed least" in page.text
    assert "This page omits the rankings of 4,500 queries that changed less than those shown" in page.text


def test_a_blamed_query_is_on_the_page_however_little_it_moved():
    many = large_report(40)
    failed = replace(verdicts()[0], blamed=("query-00039",))
    text = render(replace(many, verdicts=(failed,)), limits=Limits(rows=5, details=2))
    page = Page(text)
    assert len(rows_of(page)) == 5
    assert 'data-opens="c/query-00039"' in text
    assert "Look at: query-00039" in page.text


def test_rows_after_the_first_stand_in_a_template():
    [before, after] = render(large_report(7), limits=Limits(first_rows=4)).split("<template")
    assert (before.count("<tr data-outcome"), after.count("<tr data-outcome")) == (4, 3)
    assert "only the first 4 of\n7 queries" in before


def test_thresholds_that_are_left_out_are_counted():
    failed = tuple(replace(verdicts()[0], id=f"f{number}") for number in range(7))
    text = Page(render(comparison_report(verdicts=failed), limits=Limits(thresholds=5))).text
    assert "This page omits 2 thresholds that did not hold" in text


def test_ranks_below_the_limit_are_left_out_and_counted():
    documents = tuple(MovedDocument(f"d{rank}", rank, rank % 40 + 1) for rank in range(1, 41))
    query = QueryComparison("long", "", (), {}, documents, moved=40, rbo=0.5, overlap=1.0)
    page = Page(render(unjudged_report(queries=(query,)), limits=Limits(ranks=20)))
    assert "and 20 ranks more" in page.text
    assert sum("Ranking of the" in text for text in page.texts) == 2
    assert "d21 " not in page.text.split("Reference")[-1].split("Candidate")[0]


def test_a_side_that_was_made_earlier_says_when():
    side = replace(comparison_report().reference, kind=SideKind.REPORT, created="2026-11-02")
    assert "report of 2026-11-02" in Page(render(comparison_report(reference=side))).text
