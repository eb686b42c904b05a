"""What a comparison says in words."""

from dataclasses import replace

import pytest

from extensions.compare.builders.comparisons import (
    NDCG,
    boots,
    comparison,
    comparison_report,
    red_shoes,
    row,
    turned_ties,
    unanswered,
    unchanged,
    unjudged_report,
    verdicts,
)
from harness.extensions.compare.document import (
    build_compared_queries,
    build_comparison_document,
    build_comparison_remarks,
    build_measure_notes,
)
from harness.extensions.compare.model import QueryComparison, Side, SideKind
from harness.extensions.compare.sentences import (
    Change,
    classify_change,
    describe_agreement,
    describe_detectable,
    describe_measure_limits,
    describe_method,
    describe_moves,
    describe_origin,
    find_moved_queries,
    format_interval,
    format_scores,
    list_compared_measures,
    mark_change,
    mark_left,
    write_comparison_closing,
    write_comparison_headline,
)
from harness.model.comparison import TESTS, MovedDocument
from harness.model.run import Status
from harness.report.document import Facts, Notes, Queries, Table, Thresholds


@pytest.mark.parametrize(
    ("reference", "candidate", "tied", "marks"),
    [
        (None, 3, False, ("entered", "")),
        (3, None, False, ("", "left")),
        (5, 2, False, ("up 3", "")),
        (2, 5, False, ("down 3", "")),
        (2, 5, True, ("tied", "")),
        (2, 2, True, ("", "")),
        (None, 2, True, ("entered", "")),
        (1, 1_201, False, ("down 1,200", "")),
    ],
)
def test_a_document_is_marked_by_what_became_of_it(reference, candidate, tied, marks):
    document = MovedDocument("a", reference, candidate, tied=tied)
    assert (mark_change(document), mark_left(document)) == marks


@pytest.mark.parametrize(
    ("query", "change", "text"),
    [
        (red_shoes(), Change.DOCUMENTS, "1 entered, 2 left, 4 moved"),
        (boots(), Change.ORDER, "2 moved"),
        (turned_ties(), Change.TIES, "2 moved (only ties)"),
        (unchanged(), Change.SAME, "same ranking"),
        (unanswered(), Change.NONE, "not compared"),
        (QueryComparison("no hits in both", "", rbo=1.0, overlap=1.0), Change.SAME, "same ranking"),
    ],
)
def test_a_query_is_told_by_the_greatest_change(query, change, text):
    assert (classify_change(query), describe_moves(query)) == (change, text)


def test_a_side_is_told_with_all_that_is_known_of_it():
    assert describe_origin(comparison_report().reference) == (
        "baseline of 2026-11-01, opensearch 3.7.0, index products, request current"
    )
    assert describe_origin(Side("a.run", SideKind.RUN)) == "run"
    sent = Side("index:v2", SideKind.INDEX, engine="elasticsearch 9.4.3", index="v2", request="current")
    assert describe_origin(sent) == "elasticsearch 9.4.3, index v2, request current"
    assert describe_origin(Side("index:v2", SideKind.INDEX)) == "index"


def test_scores_that_did_not_change_are_told_once():
    assert dict(format_scores(red_shoes())) == {NDCG: "0.4121 → 0.9121", "P@5": "0.4000"}
    assert dict(format_scores(unanswered())) == {NDCG: "0.3000 → –", "P@5": "0.2000 → –"}


def test_measures_that_only_queries_have_are_named_too():
    assert list_compared_measures(comparison_report(measures=comparison(row("P@5")))) == ("P@5", NDCG)
    assert list_compared_measures(comparison_report(measures=None)) == (NDCG, "P@5")
    assert list_compared_measures(unjudged_report()) == ()


def test_what_makes_a_figure_worth_less_is_told():
    few, left_out = describe_measure_limits(row(), comparison())
    assert few == "so few queries changed that p cannot be below 0.05; the test cannot detect a difference"
    assert left_out == "1 query not scored in both runs, left out"
    assert list(describe_measure_limits(row("P@5", least_p=0.05, wins=20), comparison())) == []


def test_an_interval_of_few_changed_queries_is_called_what_it_is():
    said = "fewer than 20 queries changed, so the interval is of differences not rejected, no confidence interval"
    assert list(describe_measure_limits(row("P@5", least_p=0.01, wins=11, losses=8), comparison())) == [said]
    assert list(describe_measure_limits(row("P@5", least_p=0.01, wins=11, losses=9), comparison())) == []
    without = row("P@5", least_p=0.01, wins=11, losses=8, low=None, high=None)
    assert list(describe_measure_limits(without, comparison())) == []


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ((-0.1, 0.25), "-0.1000 to +0.2500"),
        ((None, 0.25), "up to +0.2500"),
        ((-0.1, None), "from -0.1000"),
        ((None, None), "–"),
        ((0.0, 0.25), "0.0000 to +0.2500"),
        ((0.0000213, 0.25), "+2.1e-05 to +0.2500"),  # 0 is not inside, and must not look so
        ((-0.25, -0.00003), "-0.2500 to -3e-05"),
    ],
)
def test_an_interval_shows_on_which_side_of_0_it_is(limits, text):
    low, high = limits
    assert format_interval(row(low=low, high=high)) == text


def test_intervals_are_told_with_the_test_that_they_are_of():
    texts = {test: describe_method(comparison_report(measures=replace(comparison(), test=test))) for test in TESTS}
    assert "95 % intervals by the same test, from 10,000 samples, seed 20020101" in texts["sign-flip"]
    assert texts["t"].endswith("95 % intervals by the same test")
    assert texts["wilcoxon"].endswith("no intervals, as this test is not of the mean")
    assert texts["sign"].endswith("no intervals, as this test is not of the mean")


def test_the_smallest_detectable_difference_is_told_with_its_test_and_what_it_takes():
    sentence = "smallest detectable difference (80 % power on average, sign-flip test)"
    assert describe_detectable(row(detectable=0.21), comparison()) == sentence
    by_t = replace(comparison(), test="t")
    assert describe_detectable(row(detectable=0.21), by_t) == sentence.replace("sign-flip", "t")
    few = row(detectable=0.21, detectable_if_all_move=True, queries=30, wins=1, losses=2)
    assert describe_detectable(few, comparison()) == f"{sentence}, roughly, if all 30 queries changed"


def test_measures_that_detect_alike_share_a_line():
    measures = comparison(row(detectable=0.21), row("P@5", detectable=0.3))
    lines = [span.text for span in build_measure_notes(comparison_report(measures=measures)).lines]
    assert f"smallest detectable difference (80 % power on average, sign-flip test): {NDCG} 0.2100, P@5 0.3000" in lines


def test_where_no_detectable_difference_is_known_a_reason_is_told_if_there_is_one():
    assert describe_detectable(row(detectable=None), comparison()) == ""
    unchanged = row("P@5", detectable=None, effect=None, wins=0, losses=0, least_p=0.01, low=None, high=None)
    assert list(describe_measure_limits(unchanged, comparison())) == []
    alike = row("P@5", detectable=None, effect=None, wins=30, losses=0, least_p=0.01)
    assert list(describe_measure_limits(alike, comparison())) == [
        "all differences are equal, so Cohen's d and the smallest detectable difference are undefined"
    ]


def test_weights_that_count_are_told():
    assert describe_method(comparison_report(measures=replace(comparison(), weighted=True))).startswith(
        "weighted means, sign-flip test, two-sided,"
    )
    assert describe_method(comparison_report(measures=replace(comparison(), correction="none"))).startswith(
        "sign-flip test, two-sided, level 0.05, not "
    )


def test_queries_without_a_partner_are_told_by_side_and_reason():
    why = {f"q{number}": "timeout" for number in range(5)} | {"q9": ""}
    report = comparison_report(reference=replace(comparison_report().reference, unanswered=why), notes=())
    remarks = build_comparison_remarks(report)
    assert [span.text for span in remarks.lines] == [
        "baseline: no ranking for 5 queries (q0, q1, q2, …): timeout",
        "baseline: no ranking for 1 query (q9)",
        "candidate: no ranking for 1 query (gloves): failed shards: 1 of 5",
        "only in baseline: 1 query (socks)",
        "only in candidate: 2 queries (scarf, mittens)",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "1 threshold of 3 did not hold"),
        ({"verdicts": verdicts()[1:]}, "1 query had no answer"),
        ({"verdicts": verdicts()[1:], "exit_status": 0}, "2 thresholds, all hold"),
        ({"verdicts": (), "exit_status": 0}, "nDCG@10 +0.0750 over 4 queries"),
        ({"verdicts": ()}, "1 query had no answer"),
        ({"verdicts": (), "exit_status": 0, "measures": None}, "The same ranking for 1 of 4 queries"),
        ({"verdicts": (), "exit_status": 0, "measures": None, "agreement": None}, "Nothing could be compared"),
    ],
)
def test_the_headline_tells_thresholds_first_then_what_changed(changes, expected):
    assert write_comparison_headline(comparison_report(**changes)) == expected


def test_the_last_line_counts_every_query_once():
    assert write_comparison_closing(comparison_report()) == (
        "5 queries: other documents 1, other order 1, only ties 1, same ranking 1, not compared 1; "
        "3 thresholds: 2 passed, 1 failed"
    )
    assert write_comparison_closing(unjudged_report(queries=())) == "0 queries"


def test_an_agreement_without_a_tau_says_so():
    agreement = replace(comparison_report().agreement, tau=None, tau_queries=0)
    assert describe_agreement(agreement)["Kendall's tau"] == "–"
    assert describe_agreement(comparison_report().agreement)["Kendall's tau"] == "-0.6000 over 3 queries"


def test_blamed_queries_come_before_those_that_moved_more():
    shown, more = find_moved_queries(comparison_report(), 2)
    assert ([query.id for query in shown], more) == (["boots", "red-shoes"], 1)
    calm = comparison_report(verdicts=())
    assert [query.id for query in find_moved_queries(calm, 9)[0]] == ["red-shoes", "boots", "ties"]
    assert find_moved_queries(calm, 0) == ([], 3)


def test_a_threshold_that_holds_and_a_query_that_did_not_move_are_not_to_be_looked_at():
    failed = verdicts()[0]
    held = replace(failed, status=Status.PASSED, blamed=("ties",))
    still = replace(failed, blamed=("hat", "gloves", "unknown"))
    report = comparison_report(verdicts=(held, still))
    assert [query.id for query in find_moved_queries(report, 1)[0]] == ["red-shoes"]


def test_a_comparison_has_its_thresholds_before_its_figures():
    [section] = build_comparison_document(comparison_report(), most=1).sections
    kinds = [type(block) for block in section.blocks]
    assert kinds == [Facts, Thresholds, Notes, Table, Notes, Table, Notes, Queries]
    assert len(section.blocks[-1].queries) == 1


def test_every_column_of_the_rankings_has_a_heading():
    headings = []
    for query in build_compared_queries(comparison_report(), most=10).queries:
        for rankings in query.blocks:
            headings += [column.heading for column in (*rankings.beside.columns, *rankings.below.columns)]
    assert {"now", "change"} <= set(headings)
    assert all(headings)
