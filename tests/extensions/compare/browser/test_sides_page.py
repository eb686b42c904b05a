"""The page of several sides in a browser."""

from dataclasses import replace

import pytest

from builders.pages import find_cut_texts, find_faint_texts, find_violations_in_each_scheme, find_wide_boxes
from builders.reports import HOSTILE
from extensions.compare.builders.comparisons import comparison_report, hostile_report, sides_report
from harness.extensions.compare.page import render


def make_sides(*names, make=comparison_report):
    first = make()
    return sides_report(*(replace(first, candidate=replace(first.candidate, name=name)) for name in names))


SIDES = ("request:candidate", "request:a-long-name-of-a-request-without-any-blank-in-it", "baseline")


@pytest.mark.parametrize("width", [1200, 400])
def test_nothing_is_cut_or_wider_than_the_page_and_all_can_be_read(open_html, width):
    page = open_html(render(make_sides(*SIDES)), viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert find_wide_boxes(page) == []
    assert find_cut_texts(page) == []
    assert find_faint_texts(page) == []


def test_axe_finds_nothing(open_html):
    page = open_html(render(make_sides(*SIDES)))
    page.locator("details").evaluate_all("all => all.forEach(details => { details.open = true; })")
    assert find_violations_in_each_scheme(page) == []


def test_each_measure_has_its_strips_and_the_first_is_open(open_html):
    page = open_html(render(make_sides(*SIDES)))
    strips = page.locator("details.strips")
    assert strips.count() >= 1
    assert strips.first.locator("tbody tr").first.is_visible()
    assert page.locator("td.fall-4, td.rise-4").count() >= 3


def test_nothing_from_an_index_runs(open_html):
    page = open_html(render(make_sides(HOSTILE, "b", make=lambda: hostile_report(HOSTILE))))
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0


def test_a_side_sorts_by_its_changes_and_a_query_has_an_address(open_html):
    page = open_html(render(make_sides(*SIDES)))
    table = page.locator("#c-strips-0")
    table.locator("thead button").nth(3).click()
    changes = table.locator("tbody tr td:nth-of-type(3)").evaluate_all("cells => cells.map(c => c.dataset.v)")
    known = [float(change) for change in changes if change is not None]
    assert len(known) > 1
    assert known == sorted(known)
    table.locator("..").locator("..").locator("input[name=text]").fill("red")
    assert table.locator("tbody tr").count() == 1
    assert table.locator("tbody tr").get_attribute("id") == "c/red-shoes"
