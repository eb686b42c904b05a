"""The page of a tuning in a browser."""

import pytest

from builders.pages import find_cut_texts, find_faint_texts, find_violations_in_each_scheme, find_wide_boxes
from builders.reports import HOSTILE
from extensions.tuning.builders.tunings import tuning_report, undecided_report
from harness.extensions.tuning.page import render

CHANGE = ["--- a/shop.relevance.yaml", "+++ b/shop.relevance.yaml", "-  today: 2", "+  today: 4"]


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("report", [tuning_report(), undecided_report()], ids=["gain", "none"])
def test_all_can_be_read(open_html, report, width):
    """Nothing is cut or wider than the page, and all can be read."""
    page = open_html(render(report, change=CHANGE), viewport={"width": width, "height": 900})
    for summary in page.locator("details > summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert find_wide_boxes(page) == []
    assert find_cut_texts(page) == []
    assert find_faint_texts(page) == []


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("odd", ["x" * 400, "עברית " * 30, "\u202eevil\u202c"])
def test_odd_texts_do_not_widen_the_page(open_html, odd, width):
    page = open_html(render(tuning_report(odd)), viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_nothing_from_an_index_runs(open_html):
    page = open_html(render(tuning_report(HOSTILE)))
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0


def test_axe_finds_nothing(open_html):
    page = open_html(render(tuning_report(), change=CHANGE), bypass_csp=True)
    assert find_violations_in_each_scheme(page) == []
