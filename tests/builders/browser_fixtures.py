"""
Pages in a real browser: Debian's chromium driven by playwright, skipped where either is not there.

Its headless shell takes a quarter of the processor time of the browser, which opens a window for each page.
"""

import shutil

import pytest

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def launch():
    """Starts one more browser, a process of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        pytest.skip("there is no chromium on this machine")
    with playwright.sync_playwright() as driver:
        browsers = []

        def start():
            browsers.append(driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"]))
            return browsers[-1]

        yield start
        for browser in browsers:
            browser.close()


@pytest.fixture(scope="session")
def browser(launch):
    return launch()


@pytest.fixture
def open_html(browser, tmp_path):
    """Opens a page; the test fails if the page complains or asks for anything but itself."""
    contexts, complaints = [], []

    def open_page(html, fragment="", **options):
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if request.url != file.as_uri() else None,
        )
        page.goto(file.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
