"""The page of a comparison in a browser."""

from dataclasses import replace

import pytest

from builders.pages import (
    contrasts,
    find_cut_texts,
    find_faint_texts,
    find_high_cells,
    find_violations_in_each_scheme,
    find_wide_boxes,
    shown,
    unfold,
)
from builders.reports import HOSTILE
from extensions.compare.builders.comparisons import (
    comparison_report,
    hostile_report,
    large_report,
    row,
    unjudged_report,
)
from harness.extensions.compare.page import render
from harness.model.comparison import Comparison
from harness.report.html.run import Limits, encode_address

NARROW = {"viewport": {"width": 400, "height": 900}}


@pytest.fixture
def show(open_html):
    return lambda report, fragment="", limits=None, **options: open_html(
        render(report, limits=limits), fragment, **options
    )


def address_of_first(report):
    return f"#c/{encode_address(report.queries[0].id)}"


def sort_by(page, heading):
    page.locator("table.queries > thead").get_by_role("button", name=heading).click()


def test_nothing_from_an_index_runs(show):
    page = show(hostile_report(HOSTILE), address_of_first(hostile_report(HOSTILE)))
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0
    assert page.locator("tr.open .detail").is_visible()


def test_every_figure_of_a_query_sorts(show):
    page = show(comparison_report())
    assert shown(page) == ["boots", "red-shoes", "ties", "hat", "gloves"]
    sort_by(page, "Δ nDCG@10")
    assert shown(page) == ["boots", "ties", "hat", "red-shoes", "gloves"]
    sort_by(page, "Δ nDCG@10")
    assert shown(page)[0] == "red-shoes"
    sort_by(page, "RBO")
    assert shown(page) == ["red-shoes", "ties", "boots", "hat", "gloves"]
    sort_by(page, "Left")
    sort_by(page, "Left")
    assert shown(page)[0] == "red-shoes"


@pytest.mark.parametrize("width", [400, 1400])
def test_axe_finds_nothing_whether_parts_are_folded_or_open(show, width):
    page = show(comparison_report(), address_of_first(comparison_report()), viewport={"width": width, "height": 900})
    assert find_violations_in_each_scheme(page) == []
    unfold(page)
    assert find_violations_in_each_scheme(page) == []


def test_filters_narrow_the_table_to_a_change_a_tag_a_word_or_what_is_blamed(show):
    page = show(comparison_report())
    page.get_by_label("Change").select_option("only ties")
    assert shown(page) == ["ties"]
    page.get_by_label("Change").select_option("")
    page.get_by_label("Tag").select_option(label="head")
    assert shown(page) == ["boots", "red-shoes"]
    page.get_by_label("only those").check()
    assert shown(page) == ["boots"]
    assert page.locator("output").inner_text() == "1 of 5 shown"
    page.get_by_label("only those").uncheck()
    page.get_by_label("Find").fill("RUNNING")
    assert shown(page) == ["red-shoes"]


def test_without_thresholds_and_tags_the_other_filters_serve(show):
    report = unjudged_report()
    page = show(replace(report, queries=tuple(replace(query, tags=()) for query in report.queries)))
    page.get_by_label("Find").fill("boots")
    assert shown(page) == ["boots"]


def test_a_query_opens_with_its_rankings_side_by_side(show):
    page = show(comparison_report())
    page.get_by_role("button", name="red-shoes").click()
    left, right = (page.locator(f"tr.open .beside > div:nth-child({number})") for number in (1, 2))
    assert "sku-2" in left.inner_text()
    assert "left" in left.inner_text()
    assert "entered" in right.inner_text()
    assert left.bounding_box()["y"] == right.bounding_box()["y"]
    assert left.bounding_box()["x"] + left.bounding_box()["width"] <= right.bounding_box()["x"]


def test_a_threshold_leads_to_the_query_that_it_blames(show):
    page = show(comparison_report())
    page.get_by_label("Change").select_option("same ranking")
    page.locator("table.thresholds").get_by_role("link", name="boots").click()
    page.locator("tr.open .detail").wait_for()  # the page hears of its new address after the click
    assert "winter boots" in page.locator("tr.open .detail").inner_text()


def test_without_javascript_rankings_open_by_themselves(show):
    page = show(comparison_report(), java_script_enabled=False)
    assert page.locator("form").is_hidden()
    page.locator(".rankings summary").first.click()
    assert page.locator(".rankings > details[open] .detail .beside").is_visible()


@pytest.mark.parametrize("report", [comparison_report(), unjudged_report()], ids=["judged", "not judged"])
@pytest.mark.parametrize("leads_to_query", [False, True])
def test_a_narrow_window_needs_no_scrolling_sideways_but_in_the_table_of_queries(show, report, leads_to_query):
    page = show(report, address_of_first(report) if leads_to_query else "", **NARROW)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    inside = "[...document.querySelectorAll('.measures td, .measures svg, .card, .beside > div, .sides td')]"
    assert page.evaluate(f"{inside}.length") > 8
    assert page.evaluate(f"Math.max(...{inside}.map((one) => one.getBoundingClientRect().right))") <= 400


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("odd", ["x" * 400, "עברית " * 30, "\u202eevil\u202c", "a|b"])
def test_odd_texts_do_not_widen_the_page(show, odd, width):
    page = show(hostile_report(odd), address_of_first(hostile_report(odd)), viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("tr.open .detail").bounding_box()["width"] <= width


USUAL = ["nDCG@10", "P(rel=2)@5", "RR@10", "R(rel=2)@10", "Judged@10"]


def compared_by(names, report):
    """*report* with the measures *names* alone."""
    queries = tuple(replace(query, scores=dict.fromkeys(names, (0.5, 0.6))) for query in report.queries)
    tested: Comparison = replace(report.measures, measures=tuple(map(row, names)))
    return replace(report, measures=tested, queries=queries)


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("name", ["shoes", "a rather long name " * 20, "x" * 400], ids=["short", "words", "no blank"])
def test_usual_measures_fit_and_no_cell_is_high_however_long_names_are(show, name, width):
    report = compared_by(USUAL, comparison_report())
    queries = tuple(replace(query, id=f"{query.id} {name}", text=name, tags=(name, "head")) for query in report.queries)
    verdicts = tuple(replace(verdict, reason=name * 5, blamed=(queries[0].id,) * 9) for verdict in report.verdicts)
    sides = {side: replace(getattr(report, side), name=name, index=name) for side in ("reference", "candidate")}
    long = replace(report, queries=queries, verdicts=verdicts, **sides)
    page = show(long, viewport={"width": width, "height": 900})
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert find_wide_boxes(page) == []
    assert find_high_cells(page, {1200: 14, 400: 20}[width]) == []
    assert find_cut_texts(page) == []


def test_a_narrow_window_shows_the_differences_of_a_query_below_its_name(show):
    page = show(compared_by(USUAL, comparison_report()), **NARROW)
    differences = page.locator("table.queries > tbody > tr >> nth=0").locator("td[data-label^='Δ']")
    assert differences.count() == len(USUAL)
    for difference in differences.all():
        assert difference.is_visible()
        box = difference.bounding_box()
        assert box["x"] + box["width"] <= 400


def test_a_narrow_window_names_each_figure_of_a_measure(show):
    page = show(comparison_report(), **NARROW)
    labels = page.evaluate(
        "[...document.querySelectorAll('.measures tbody tr:first-child td.number')]"
        ".map((cell) => getComputedStyle(cell, '::before').content)"
    )
    assert labels[:4] == ['"reference "', '"candidate "', '"difference "', '"interval "']
    assert len(labels) == 8


@pytest.mark.parametrize("measures", [1, 2, 3, 4])
def test_few_measures_stay_on_their_card(show, measures):
    names = ["nDCG@10", "P(rel=2)@5", "Judged@10", "R(rel=2)@10"][:measures]
    page = show(compared_by(names, comparison_report()), address_of_first(comparison_report()))
    for width in (1000, 1150, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        box = page.locator("tr.open .detail").bounding_box()
        assert box["x"] + box["width"] <= width


def test_many_measures_scroll_and_a_ranking_stays_in_view(show):
    names = [f"nDCG(gain=linear)@{cutoff}" for cutoff in range(1, 21)]
    page = show(compared_by(names, comparison_report()), address_of_first(comparison_report()))
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator("tr.open .detail").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


def test_every_text_has_contrast_enough(show):
    page = show(comparison_report(), address_of_first(comparison_report()))
    unfold(page)
    assert len(contrasts(page)) > 100
    assert find_faint_texts(page) == []


def test_thousands_of_queries_sort_and_filter(show):
    page = show(large_report(2_000), limits=Limits(details=50))
    sort_by(page, "Δ nDCG@10")
    page.get_by_label("Find").fill("query-0199")
    assert len(shown(page)) == 10


def test_other_browsers_have_an_accessible_page_that_opens_a_query(other_browser, tmp_path):
    other_browser.open_html(render(comparison_report()), tmp_path)
    other_browser.click(".first-queries [href='#c/red-shoes']")
    other_browser.wait_for_text("tr.open:has([href='#c/red-shoes']) .detail", "")
    other_browser.check_page()
