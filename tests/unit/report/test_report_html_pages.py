"""What every page keeps to, whatever it shows."""

import base64
import hashlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

import harness
from builders import reports
from builders.extension_cases import map_cases
from builders.html import Page
from harness.report.html import run as html

PAGES = {
    "run": lambda: html.render(reports.report_of(reports.products())),
    "two suites": lambda: html.render(reports.report_of(reports.products(), reports.products())),
    **map_cases("PAGES"),
}


@pytest.fixture(params=PAGES)
def text(request):
    return PAGES[request.param]()


@pytest.fixture
def page(text):
    return Page(text)


def test_the_policy_allows_the_page_s_own_script_and_style_and_nothing_else(text, page):
    [policy] = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        [body] = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_page_asks_for_nothing_else(page):
    asking = [(tag, a) for tag, a in page.elements if {"src", "srcset", "action", "style"} & set(a) or tag == "link"]
    assert asking == []
    assert all(anchor["href"].startswith("#") for anchor in page.all("a"))


def test_every_link_leads_somewhere_and_ids_are_unique(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(ids), "an id is empty"
    assert page.all("a")
    assert {anchor["href"][1:] for anchor in page.all("a")} <= set(ids)
    labels = {attributes["aria-labelledby"] for _, attributes in page.elements if "aria-labelledby" in attributes}
    assert labels <= set(ids)


def test_table_headings_are_headings(page):
    assert page.all("th")
    assert all(heading.get("scope") in ("col", "row") for heading in page.all("th"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_without_javascript_every_ranking_is_there_to_be_opened(page):
    opening = [attributes["data-opens"] for attributes in page.all("a") if "data-opens" in attributes]
    assert opening
    assert set(opening) <= {attributes.get("id") for attributes in page.all("details")}
    assert all("hidden" in form for form in page.all("form"))


def test_controls_are_shown_as_escapes(text):
    assert "\x1b" not in text
    assert r"\x1b[31mtin" in text


def test_no_line_of_a_template_is_too_long_to_read():
    templates = list(Path(harness.__file__).parent.rglob("*.jinja"))
    assert len(templates) > 5
    for template in templates:
        lines = template.read_text(encoding="utf-8").splitlines()
        assert max(map(len, lines)) <= 160, template.name
