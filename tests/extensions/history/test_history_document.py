"""What is said of a history, on a terminal and on the page."""

import json
import re
from dataclasses import replace

import pytest

from builders.histories import QUERIES, entries_of, entry_of, make_kept_suite, ranking_of, run_of
from extensions.history.builders.planted_history import make_timelines
from harness.extensions.history.document import (
    build_history_document,
    build_run_changes,
    describe_movement,
    draw_sparkline,
    list_movements,
)
from harness.extensions.history.page import HistoryLimits, render
from harness.extensions.history.timeline import build_timelines
from harness.report.document import join_spans
from harness.report.terminal import print_document, render_plain

SUITE = make_kept_suite()
WORSE = {"shoes": ranking_of("x", "b", "a")}


@pytest.fixture(scope="module")
def planted():
    return make_timelines()


def print_lines(timelines, width=120):
    text = render_plain(print_document(build_history_document(timelines)), width)
    return [line.rstrip() for line in text.splitlines()]


def read_data(html):
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html)
    return json.loads(text)


def test_steps_and_drifts_are_told_with_what_changed_before_them(planted):
    [timeline] = planted
    drift, up, down = [describe_movement(timeline, movement) for movement in list_movements(timeline)]
    figures = r"nDCG@3 fell by 0\.0\d+ to 0\.9\d+, nDCG@10 fell by 0\.0\d+ to 0\.9\d+"
    assert re.match(rf"{figures}, without a step, from run 18\d \(.*\) to run 23\d \(", drift)
    assert up.endswith("with run 141 (2027-03-21, commit 000008b..000008c), before which changed: the request")
    assert down.endswith(
        "with run 81 (2027-01-20, commit 000004f..0000050), before which changed: the request; the mapping of the index"
    )


def test_runs_before_which_only_documents_changed_are_counted(planted):
    [timeline] = planted
    changes = build_run_changes(timeline)
    assert [join_spans(row[0]) for row in changes.rows] == ["266", "221", "141", "111", "81"]
    assert [join_spans(row[2]) for row in changes.rows][-1] == "000004f..0000050"
    assert changes.remarks == ("before 59 other runs only documents changed",)


def test_the_terminal_draws_a_line_for_each_measure_and_tag(planted):
    lines = print_lines(planted)
    [line] = [line for line in lines if line.startswith("  nDCG@10  all queries")]
    assert re.fullmatch(
        r"  nDCG@10  all queries  [▁-█]{30} +0\.9\d{3} +[+-]?0\.00\d\d +0\.8\d{3} +1\.0000 +0\.9\d{3}", line
    )
    assert [line.split()[1] for line in lines if line.startswith("  nDCG@10 ")][1:4] == ["tail", "long", "head"]
    assert lines[0] == "shop  request current"
    assert lines[-1] == "300 runs from 2026-11-01 to 2027-08-27, scored with the judgments of today"


def test_the_headline_says_how_the_last_run_differs():
    runs = [run_of(SUITE)] * 5 + [run_of(SUITE, **WORSE)]
    document = build_history_document(build_timelines(entries_of(SUITE, runs), SUITE))
    assert re.fullmatch(
        r"shop: nDCG@3 0\.7\d{3}, -0\.2\d{3} against the median of the 5 runs before", document.headline
    )
    document = build_history_document(build_timelines(entries_of(SUITE, runs[:5]), SUITE))
    assert document.headline == "shop: nDCG@3 1.0000"


def test_the_headline_names_the_newest_step(planted):
    headline = build_history_document(planted).headline
    assert re.search(r"; newest step: nDCG@\d+ rose by 0\.\d{4} to .* with run 141 \(2027-03-21\)$", headline)
    runs = [run_of(SUITE)] * 6 + [run_of(SUITE, **WORSE)] * 6 + [run_of(SUITE)] * 6
    headline = build_history_document(build_timelines(entries_of(SUITE, runs), SUITE)).headline
    assert "nDCG@3 rose by" in headline
    assert "run 13 (2026-11-13)" in headline


def test_the_days_of_runs_are_the_first_and_the_last_though_a_clock_went_back():
    entries = entries_of(SUITE, [run_of(SUITE)] * 3)
    entries = [entries[1], entries[2], replace(entries[0], kept="2026-11-03T03:00:00.000001+00:00")]
    document = build_history_document(build_timelines(entries, SUITE))
    assert join_spans(document.closing).startswith("3 runs from 2026-11-01 to 2026-11-03")


def test_runs_keep_their_numbers_when_older_ones_are_left_out():
    entries = entries_of(SUITE, [run_of(SUITE)] * 5)
    lines = print_lines(build_timelines(entries, SUITE, most=2))
    assert "  runs      2 runs from 2026-11-04 to 2026-11-05, and 3 older" in lines
    assert any("run 5 (2026-11-05, commit 0123abc)" in line for line in lines)


def test_what_the_lines_do_not_count_is_said():
    entries = [entry_of(SUITE, run_of(SUITE))]
    today = replace(
        make_kept_suite(replace(QUERIES[0], text="rubber wellies"), QUERIES[1]), measures=SUITE.measures[:1]
    )
    text = " ".join(print_lines(build_timelines(entries, today)))
    assert "1 query had another text or other params in earlier runs, which are left out there" in text
    assert "RR@3: runs that keep too few hits, or whose measure the suite has no longer" in text


def test_a_run_without_a_value_is_a_blank_of_the_line():
    assert draw_sparkline([None, None]) == "  "
    assert draw_sparkline([0.5]) == "▄"
    assert draw_sparkline([0.0] * 60 + [1.0] * 60, width=4) == "▁▁██"


# The page.


def test_the_page_of_300_runs_and_5_measures_is_small(planted):
    assert len(render(planted).encode()) < 600_000


def test_what_does_not_change_is_in_the_page_once():
    [data] = read_data(render(build_timelines(entries_of(SUITE, [run_of(SUITE)] * 50), SUITE)))
    shoes = next(query for query in data["queries"] if query["id"] == "shoes")
    assert shoes["scores"] == {"nDCG@3": [0, 1.0], "RR@3": [0, 1.0]}
    assert shoes["hits"] == [[0, [0, 1]]]
    assert shoes["documents"] == [["a", 3.0], ["b", 1.0]]
    assert data["lines"][""]["RR@3"]["mean"] == [1.0] * 50


def test_means_and_scores_have_all_digits_as_the_page_subtracts_them():
    timelines = build_timelines(entries_of(SUITE, [run_of(SUITE, **WORSE)]), SUITE)
    [data] = read_data(render(timelines))
    [point] = timelines[0].points
    assert data["lines"][""]["nDCG@3"]["mean"] == [point.find_mean("nDCG@3")]
    shoes = next(query for query in data["queries"] if query["id"] == "shoes")
    assert shoes["scores"]["nDCG@3"] == [0, point.scores["shoes"]["nDCG@3"]]


def test_the_size_of_the_page_is_bounded_and_the_queries_that_differed_most_stay():
    queries = [replace(QUERIES[1], id=f"q{number}") for number in range(200)]
    suite = make_kept_suite(*queries)
    entries = entries_of(suite, [run_of(suite), run_of(suite, q77=ranking_of("x", "b"))])
    html = render(build_timelines(entries, suite), limits=HistoryLimits(scores=100, documents=20))
    [data] = read_data(html)
    assert data["queries"][0]["id"] == "q77"
    assert len(data["queries"]) < 30
    assert "This page omits the scores of" in html


def test_nothing_ends_the_element_that_holds_the_figures():
    suite = make_kept_suite(replace(QUERIES[0], text="</script><b>"), QUERIES[1])
    html = render(build_timelines(entries_of(suite, [run_of(suite)]), suite))
    [data] = read_data(html)
    assert {query["text"] for query in data["queries"]} == {"</script><b>", "red shoes"}
