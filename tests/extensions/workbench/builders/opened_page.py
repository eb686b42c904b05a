"""The page of ``relevance try`` in a browser: opened on a server, and typed in."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

WIDE = {"width": 1400, "height": 860}
NARROW = {"width": 400, "height": 860}
EXPECTED = ("the server responded with a status", "net::ERR_CONNECTION_REFUSED")
"""Complaints of a browser about answers that a test wants."""


@contextmanager
def open_pages(browser) -> Iterator:
    """A function that opens links; at the end it fails if a page complained, or asked for anything but its own."""
    contexts, complaints = [], []

    def open_link(link, **options):
        contexts.append(browser.new_context(**{"viewport": WIDE, **options}))
        page = contexts[-1].new_page()
        own = (link.partition("#")[0], "data:")
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda sent: None if sent.url.startswith(own) else complaints.append(sent.url))
        page.goto(link)
        page.wait_for_selector("#live-hits [role=option]")
        return page

    yield open_link
    for context in contexts:
        context.close()
    assert [text for text in complaints if not any(sentence in text for sentence in EXPECTED)] == []


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def put_cursor(page, before):
    """Goes into the text, behind the words *before* of it, as somebody does without a mouse."""
    lines = page.input_value("#text").partition(before)[0].split("\n")
    press(page, "Escape", "e", "Control+Home", *["ArrowDown"] * (len(lines) - 1), "Home")
    press(page, *["ArrowRight"] * (len(lines[-1]) + len(before)))


def type_title(page, digit):
    """Types *digit* in the place of the weight of the title."""
    put_cursor(page, "title^")
    press(page, "Delete", digit)


def wait_for(page, state):
    page.locator("#state", has_text=re.compile(f"^{state}$")).wait_for()


def wait_for_said(page, text):
    page.locator("#said", has_text=text).wait_for(state="attached")


def read_lead(page):
    """The figures of the bar, by their names."""
    names, values = page.locator("#lead dt").all_inner_texts(), page.locator("#lead dd").all_inner_texts()
    return dict(zip(names, values, strict=True))


def focus_by_tab(page, element):
    """Presses Tab until an element has the focus."""
    for _ in range(60):
        if page.evaluate("document.activeElement.id") == element:
            return
        press(page, "Tab")
    raise AssertionError(f"Tab does not lead to {element}")
