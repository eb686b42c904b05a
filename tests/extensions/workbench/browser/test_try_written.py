"""From the link of ``relevance try`` to the suite, in a browser and without a mouse, on a scripted engine."""

import difflib
import json

import pytest

from extensions.workbench.builders.opened_page import (
    focus_by_tab,
    open_pages,
    press,
    put_cursor,
    read_lead,
    type_title,
    wait_for,
    wait_for_said,
)
from extensions.workbench.builders.tried_shop import open_actions
from harness.extensions.workbench.page import ASSETS
from harness.files.judge_files import JudgeFile
from harness.local_server import LocalServer, Site
from harness.local_server.access import OneUser

pytest.importorskip("waitress")


@pytest.fixture
def page(browser, engine, path):
    with open_actions(path, engine.url, judge="anna") as actions:
        server = LocalServer(Site(ASSETS, actions.table, 2**20), OneUser("anna"))
        server.start()
        with open_pages(browser) as open_link:
            yield open_link(server.address.build_link(server.access.token))
        server.close()


def count_hunks(before, after):
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return sum(line.startswith("@@") for line in diff)


def test_a_request_is_typed_judged_kept_and_written(page, path):
    before = path.read_text()
    type_title(page, "6")
    wait_for(page, "done")
    lead = read_lead(page)
    assert (lead["nDCG@5 live"], lead["try 1"], lead["won / lost / same"]) == ("0.7967", "1.0000", "12 / 0 / 0")
    assert lead["difference"].startswith("+0.2033")
    press(page, "Escape", "l")
    wait_for_said(page, "No further query lost.")
    press(page, "w", "n", "0")
    wait_for_said(page, "Graded 0 (bad)")
    page.locator("#lead dd", has_text="11 / 1 / 0").wait_for()
    kept = JudgeFile.read(path.with_name("shop.judged-by.anna.jsonl"))
    assert list(kept.grades.values()) == [0.0]
    press(page, "l", "u")
    wait_for_said(page, "Undone")
    page.locator("#lead dd", has_text="12 / 0 / 0").wait_for()
    press(page, "b", "Control+a", *"more title", "Enter")
    wait_for_said(page, "Kept as more title")
    press(page, "s")
    page.locator("#diff ins", has_text="title^6").wait_for()
    assert page.locator("#diff").inner_text().count("@@ ") == 1
    page.locator("#writing-name").fill("better")
    press(page, "Enter")
    page.locator("#diff ins", has_text="better:").wait_for()
    focus_by_tab(page, "write-now")
    press(page, "Enter")
    wait_for_said(page, "Wrote the request better")
    after = path.read_text()
    assert count_hunks(before, after) == 1
    assert "fields: [title^6, brand]" in after
    lines = path.with_name(".shop.tries.jsonl").read_text().splitlines()
    assert any("more title" in line for line in lines)
    assert all(json.loads(line) for line in lines)


def test_why_lists_what_the_try_changes(page, engine):
    type_title(page, "6")
    wait_for(page, "done")
    sent = sum(engine.asked.values())
    press(page, "Escape", "y")
    page.locator("#why-lines", has_text="title").wait_for()
    assert sum(engine.asked.values()) == sent, "nothing is sent before it was said how much"
    focus_by_tab(page, "why-send")
    press(page, "Enter")
    page.locator("#why-send:disabled").wait_for()
    page.locator("#why-lines", has_text="1 cause among 1 difference: title^3 → title^6").wait_for()
    assert sum(engine.asked.values()) > sent


def test_a_wrong_line_and_a_refused_query_are_told(page):
    put_cursor(page, "brand")
    press(page, "[")
    wait_for(page, "wrong at line 5")
    press(page, "Backspace")
    page.locator("#problem").wait_for(state="hidden")
    put_cursor(page, "tie_breaker: ")
    press(page, "Delete", "3")
    wait_for(page, "failed")
    # The rows are painted in the frame after that.
    page.locator("#list .none").nth(11).wait_for()
    assert page.locator("#list .none").count() == 12
    page.locator("#unanswered", has_text="[tie_breaker] is above 1").wait_for()


def test_the_text_that_is_live_again_is_shown_as_live(page):
    type_title(page, "6")
    wait_for(page, "done")
    press(page, "Backspace", "3")
    page.locator("#try-head", has_text="as live").wait_for()
    wait_for(page, "done")
    assert read_lead(page)["won / lost / same"] == "0 / 0 / 12"
    assert page.locator("#keep").is_disabled()
    press(page, "Escape", "[")
    page.locator("#try-head", has_text="try 1").wait_for()
    assert "title^6" in page.input_value("#text")


def test_a_dial_is_turned_on_the_request_as_written(page):
    press(page, "d", *["ArrowUp"] * 4)
    page.locator("#lead dt", has_text="try 1").wait_for()
    assert "# The title counts most.\n" in page.input_value("#text")
    assert "title^3" not in page.input_value("#text")


def test_a_dial_stops_at_zero(page):
    press(page, "d", *["ArrowDown"] * 9)
    page.locator("#lead dt", has_text="try 1").wait_for()
    assert "title^0," in page.input_value("#text")
