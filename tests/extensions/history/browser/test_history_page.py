"""The page of a history in a browser."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from builders.histories import QUERIES, entries_of, make_kept_suite, ranking_of, run_of
from builders.other_browsers import LEFT
from builders.pages import find_cut_texts, find_faint_texts, find_violations_in_each_scheme, find_wide_boxes
from builders.reports import HOSTILE
from extensions.history.builders.planted_history import STEP_DOWN, make_history, make_suite
from harness.extensions.history.page import HistoryLimits, render
from harness.extensions.history.timeline import build_timelines
from harness.model.kept import HistoryFigure
from harness.report.sentences import format_difference, format_score

SUITE = make_kept_suite()
WORSE = {"shoes": ranking_of("x", "b", "a")}


@pytest.fixture(scope="module")
def planted():
    return render(build_timelines(make_history(160), make_suite()))


def short_history(suite=SUITE, **fields):
    """Three runs, the last of which is worse for shoes."""
    entries = entries_of(suite, [run_of(suite), run_of(suite), run_of(suite, **WORSE)])
    return build_timelines([replace(entry, **fields) for entry in entries], suite)


def read_rows(page, table):
    return [row.inner_text().split("\t") for row in page.locator(f"{table} tbody tr").all()]


@pytest.mark.parametrize("width", [1200, 400])
def test_nothing_is_cut_or_wider_than_the_page_and_all_can_be_read(open_html, planted, width):
    page = open_html(planted, viewport={"width": width, "height": 900})
    page.locator(".opener").first.click()
    page.locator(".held summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert find_wide_boxes(page) == []
    assert find_cut_texts(page) == []
    assert find_faint_texts(page) == []


@pytest.mark.parametrize("width", [1200, 400])
def test_axe_finds_nothing(open_html, planted, width):
    page = open_html(planted, viewport={"width": width, "height": 900})
    page.locator(".opener").first.click()
    assert find_violations_in_each_scheme(page) == []


def test_the_legend_names_every_line_that_is_drawn_and_no_other(open_html, planted):
    page = open_html(planted, viewport={"width": 1200, "height": 900})
    drawn = set(page.evaluate(CLASSES_OF_LINES))
    assert {"line", "day", "interval", "guide run", "guide before", "guide hover", "mark"} <= drawn
    assert read_legend(page) == drawn
    page.get_by_label("figures of the day").uncheck()
    page.get_by_label("intervals over queries").uncheck()
    assert read_legend(page) == drawn - {"day", "interval"}
    for key in page.locator(".legend li:visible").all():
        assert key.inner_text().strip()


CLASSES_OF_LINES = """[...document.querySelectorAll('.charts svg :is(path, line:not(.grid), rect:not(.lane))')]
    .map((drawn) => drawn.getAttribute('class'))"""


def read_legend(page):
    """The classes of the lines that the legend shows keys of."""
    keys = page.locator(".legend li:visible .key").all()
    return {key.get_attribute("class").removeprefix("key ") for key in keys}


def test_the_last_run_is_shown_against_the_one_before_with_the_queries_that_changed_first(open_html):
    page = open_html(render(short_history()))
    panel = page.locator(".comparison")
    assert panel.locator("h3").inner_text() == "Run 3 against run 2"
    assert "0 queries rose, 1 query fell, of 2 queries on this page." in panel.inner_text()
    first, second = read_rows(page, ".queries-of-runs")
    assert first[0].split() == ["shoes", "red", "shoes"]
    assert first[3].startswith("-0.")
    assert second[1:] == ["1.0000", "1.0000", "0.0000"]


def test_a_click_on_a_line_shows_its_run_and_shift_chooses_the_other(open_html, planted):
    page = open_html(planted, viewport={"width": 1200, "height": 900})
    chart = page.locator(".chart svg").first
    box = chart.bounding_box()
    chart.click(position={"x": 74 + (box["width"] - 86) * 80 / 159, "y": 60})
    heading = page.locator(".comparison h3")
    assert heading.inner_text() == "Run 81 against run 80"
    assert page.url.endswith("#s1/81")
    assert "request: the request" in page.locator(".comparison").inner_text()
    chart.click(position={"x": 76, "y": 60}, modifiers=["Shift"])
    assert heading.inner_text() == "Run 81 against run 1"
    assert page.url.endswith("#s1/81-1")
    # The other stays when another run is chosen.
    chart.click(position={"x": box["width"] - 12, "y": 60})
    assert heading.inner_text() == "Run 160 against run 1"


def test_all_can_be_done_with_the_keyboard(open_html, planted):
    page = open_html(planted)
    page.get_by_label("Run", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    heading = page.locator(".comparison h3")
    assert heading.inner_text() == "Run 159 against run 158"
    assert page.get_by_label("Run", exact=True).get_attribute("aria-valuetext").startswith("run 159, ")
    page.keyboard.press("Home")
    assert heading.inner_text() == "Run 1"
    page.get_by_label("the run before").press("Space")
    page.get_by_label("against").press("ArrowRight")
    assert heading.inner_text() == "Run 1 against run 2"
    page.locator(".opener").first.press("Enter")
    assert page.locator(".two ol").count() == 2


def test_a_query_opens_with_its_hits_in_both_runs_and_their_grades_of_today(open_html):
    page = open_html(render(short_history()))
    button = page.get_by_role("button", name="shoes")
    button.click()
    lists = [side.inner_text().split() for side in page.locator(".two ol").all()]
    assert lists == [["?", "x", "1", "b", "3", "a"], ["3", "a", "1", "b"]]
    button.click()
    assert page.locator(".two").count() == 0


def test_a_step_leads_to_its_runs(open_html, planted):
    page = open_html(planted)
    page.get_by_role("link", name=f"Compare run {STEP_DOWN + 1} with run {STEP_DOWN}").first.click()
    page.wait_for_function("document.querySelector('.comparison h3').textContent === 'Run 81 against run 80'")
    assert re.search("1[0-9] queries fell", page.locator(".comparison").inner_text())


def test_an_address_leads_to_its_runs(open_html, planted):
    page = open_html(planted, "#s1/81-20")
    assert page.locator(".comparison h3").inner_text() == "Run 81 against run 20"


def test_the_lines_of_a_tag_take_the_place_of_those_of_all_queries(open_html, planted):
    page = open_html(planted)
    caption = page.locator(".chart figcaption").first
    before = caption.inner_text()
    page.locator("select[name=tag]").select_option("head")
    page.wait_for_function("(before) => document.querySelector('.chart figcaption').innerText !== before", arg=before)


def test_lines_that_are_not_wanted_are_left_out(open_html, planted):
    page = open_html(planted)
    assert page.locator(".chart path.day").count() == 5
    page.get_by_label("figures of the day").uncheck()
    page.get_by_label("intervals over queries").uncheck()
    assert page.locator(".chart path.day, .chart path.interval").count() == 0


def test_the_marks_are_in_words_too(open_html, planted):
    page = open_html(planted)
    label = page.locator(".chart svg").last.get_attribute("aria-label")
    assert label == "Changes: judgments before run 111; request before run 81, 141; mapping before run 81"


def test_one_run_alone_has_a_page(open_html):
    suite = SUITE
    page = open_html(render(build_timelines(entries_of(suite, [run_of(suite)]), suite)))
    assert page.locator(".comparison h3").inner_text() == "Run 1"
    assert page.locator(".chart svg").count() == 2


def test_what_there_is_no_room_for_is_said(open_html):
    page = open_html(render(short_history(), limits=HistoryLimits(scores=9, documents=0)))
    assert "This page omits the scores of 1 query that differed less over the runs and the hits of 1 query" in (
        page.locator("main").inner_text()
    )
    page.get_by_role("button", name="shoes").click()
    assert "omits the hits of this query" in page.locator(".queries-of-runs").inner_text()


def test_nothing_from_an_index_or_a_suite_runs(open_html):
    queries = (replace(QUERIES[0], text=HOSTILE), replace(QUERIES[1], id=HOSTILE, tags=(HOSTILE,)))
    suite = replace(make_kept_suite(*queries), name=HOSTILE)
    timelines = short_history(suite, commit=HOSTILE, branch=HOSTILE, cluster=HOSTILE, chosen_index=HOSTILE)
    page = open_html(render(timelines))
    assert page.title() != "owned"
    assert page.locator("img").count() == 0
    for button in page.locator(".opener").all():
        button.click()
    assert page.locator("img, script:not(#data):not(:last-child)").count() == 0


@pytest.mark.parametrize("distance", [0.02, 0.08, 0.2, 0.8])
def test_labels_at_equal_distances_differ_by_the_same(open_html, distance):
    """The figure of the day is *distance* below that of today, which decides the scale."""
    [entry] = entries_of(SUITE, [run_of(SUITE)])
    mean = entry.measures["nDCG@3"].mean - distance
    timelines = build_timelines([replace(entry, measures={"nDCG@3": HistoryFigure(mean, 2)})], SUITE)
    page = open_html(render(timelines), viewport={"width": 1200, "height": 900})
    labels = page.locator(".chart svg").first.locator("text[text-anchor=end]").all_text_contents()
    scores = [float(label) for label in labels if not re.fullmatch(r"\d{4}-\d\d-\d\d", label)]
    assert len(scores) > 2
    assert len({round(after - before, 6) for before, after in pairwise(scores)}) == 1, scores


def test_a_window_that_becomes_narrow_has_its_charts_drawn_anew_without_an_error(open_html, planted):
    page = open_html(planted, viewport={"width": 1200, "height": 900})
    page.evaluate("() => { window.errors = []; addEventListener('error', (event) => errors.push(event.message)); }")
    page.set_viewport_size({"width": 450, "height": 900})
    page.wait_for_function("() => document.querySelector('.chart svg').getBoundingClientRect().width < 450")
    assert page.evaluate("errors") == []


def test_other_browsers_have_an_accessible_page_that_keys_lead_through(other_browser, planted, tmp_path):
    other_browser.open_html(planted, tmp_path)
    other_browser.evaluate("() => document.querySelector('input[type=range]').focus()")
    other_browser.press(LEFT)
    other_browser.wait_for_text(".comparison h3", "Run 159 against run 158")
    other_browser.click(".opener")
    other_browser.check_page()


# Of four decimals, those of the first pair have another difference; 1/32 and 3/32 are halfway between two figures.
@pytest.mark.parametrize(("before", "after"), [(0.36266, 0.31304), (0.0, 1 / 32), (3 / 32, 1.0)])
def test_the_page_rounds_figures_and_their_difference_as_the_terminal(open_html, before, after):
    entries = entries_of(SUITE, [run_of(SUITE)] * 2)
    # The suite has no such measure, so that the figures are those of the day.
    kept = [
        replace(entry, measures={"P@3": HistoryFigure(mean, 2)})
        for entry, mean in zip(entries, (before, after), strict=True)
    ]
    page = open_html(render(build_timelines(kept, SUITE)))
    row = read_rows(page, ".comparison table.stacked:not(.queries-of-runs)")[-1]
    figures = [format_score(after), format_score(before), format_difference(after - before)]
    assert row == ["P@3", *figures, f"{figures[0]}, {figures[1]}"]
