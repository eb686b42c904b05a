"""From ``relevance try`` on a terminal to the written suite, on a real engine, in a browser and without a mouse."""

import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from extensions.workbench.builders.opened_page import (
    focus_by_tab,
    open_pages,
    press,
    put_cursor,
    read_lead,
    wait_for,
    wait_for_said,
)
from harness.suites import load_suite

pytest.importorskip("waitress")

PRODUCTS = Path(__file__).parents[4] / "suites" / "products.relevance.yaml"


@pytest.fixture
def path(tmp_path):
    shutil.copytree(PRODUCTS.parent / "products", tmp_path / "products")
    return Path(shutil.copy(PRODUCTS, tmp_path))


@contextmanager
def run_command(path, url):
    """The link that the command prints; it is interrupted at the end."""
    words = ["try", str(path), "--url", url, "--allow-write", "--no-open", "--judge", "anna"]
    command = [sys.executable, "-m", "harness", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


@pytest.mark.one_engine
def test_a_better_request_is_found_judged_and_written(browser, path, engine_url):
    with run_command(path, engine_url) as link, open_pages(browser) as open_link:
        page = open_link(link)
        assert "held out" in page.inner_text("#notes")
        put_cursor(page, "fields: [title")
        press(page, *".synonyms")
        wait_for(page, "done")
        lead = read_lead(page)
        assert lead["difference"].startswith("+")
        won, lost, same = map(int, lead["won / lost / same"].split(" / "))
        assert (won > lost, won + lost + same) == (True, len(load_suite(path, {}).queries) - 18)
        press(page, "Escape", "w", "n", "x")
        page.locator("#explanation-lines li").first.wait_for()
        press(page, "0")
        wait_for_said(page, "Graded 0 (bad)")
        press(page, "u")
        wait_for_said(page, "Undone")
        press(page, "Escape", "b", "Control+a", *"synonyms", "Enter")
        wait_for_said(page, "Kept as synonyms")
        press(page, "f")
        focus_by_tab(page, "look")
        press(page, "Enter")
        page.locator("#verdict", has_text="held out").wait_for()
        press(page, "Escape", "s")
        page.locator("#diff ins", has_text="title.synonyms^3").wait_for()
        focus_by_tab(page, "write-now")
        press(page, "Enter")
        wait_for_said(page, "Wrote the request current-try-1")
    written = load_suite(path, {}).requests["current-try-1"]
    assert written.body["query"]["multi_match"]["fields"][0] == "title.synonyms^3"
