"""docs/tutorials/better-request.md from its first command to its last: typed in a terminal, and on the page."""

import os
import re
import sys
import webbrowser
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.typed_page import assert_shown, find_blocks, follow_page, type_command
from extensions.workbench.builders.opened_page import focus_by_tab, open_pages, press, read_lead, wait_for

pytest.importorskip("waitress")

PAGE = (Path(__file__).parents[4] / "docs" / "tutorials" / "better-request.md").read_text(encoding="utf-8")


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A reader in an empty folder, with the commands of the harness."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def read_bar(block):
    """The figures of a block that shows the bar, by their names."""
    return dict(re.split(r"\s{2,}", line, maxsplit=1) for line in block.splitlines())


def assert_bar(page, block):
    lead = read_lead(page)
    for name, value in read_bar(block).items():
        assert lead[name].split() == value.split(), name


def follow_steps(page):
    """Type what the tutorial says below `relevance try`; the page has to show what is shown there."""
    first, second, verdict, sentence = find_blocks(PAGE, "text")
    page.select_option("#order", "score")
    page.focus("#list")
    press(page, "j", "n")
    page.locator("#hit-texts dd").nth(1).wait_for()
    press(page, "Escape", "d", "ArrowDown", "ArrowDown")
    page.locator("#lead dt", has_text="try 1").wait_for()
    wait_for(page, "done")
    assert_bar(page, first)
    press(page, "Escape", "e", "Control+a")
    page.keyboard.insert_text(find_blocks(PAGE, "yml")[0])
    page.locator("#lead dt", has_text="try 2").wait_for()
    wait_for(page, "done")
    assert_bar(page, second)
    press(page, "Escape", "l")
    page.locator("#said", has_text="No further query lost.").wait_for(state="attached")
    press(page, "f")
    focus_by_tab(page, "look")
    press(page, "Enter")
    page.locator("#verdict", has_text="held out:").wait_for()
    assert page.inner_text("#verdict").split() == verdict.split()
    press(page, "Escape", "s")
    page.fill("#writing-name", "better")
    press(page, "Enter")
    page.locator("#diff ins", has_text="better:").wait_for()
    assert_shown(find_blocks(PAGE, "diff")[0].rstrip("\n"), page.inner_text("#diff"), "the change")
    focus_by_tab(page, "write-now")
    press(page, "Enter")
    page.locator("#said", has_text=sentence.strip()).wait_for(state="attached")


@pytest.mark.embedded
@pytest.mark.usefixtures("reader", "embedded_node")
def test_the_commands_and_the_page_lead_where_the_tutorial_says(browser, monkeypatch, capfd):
    def open_browser(link):
        with open_pages(browser) as open_link:
            follow_steps(open_link(link))
        raise KeyboardInterrupt  # as a reader ends the command

    monkeypatch.setattr(webbrowser, "get", lambda: SimpleNamespace(open=open_browser))
    commands = 0
    for line, shown in follow_page(PAGE):
        status, printed = type_command(line, capfd)
        assert status == (130 if line.startswith("relevance try") else 0), f"{line}\n{printed}"
        assert_shown(shown, printed, line)
        commands += 1
    assert commands == 4
