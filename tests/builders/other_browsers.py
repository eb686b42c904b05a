"""
Pages in Firefox and in WebKitGTK, by W3C WebDriver; a test skips where the browser or its driver is not there.

Playwright, which has the pages in Chromium, drives of other browsers only builds of its own.
"""

import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import requests

from builders.ports import closed_port
from builders.waiting import wait_until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key of a reference to an element, in W3C WebDriver."""
LEFT = "\ue012"
PATIENCE = 30
COLLECT = """() => {
  window.complaints = [];
  addEventListener("error", (event) => complaints.push(event.message));
  addEventListener("unhandledrejection", (event) => complaints.push(String(event.reason)));
}"""
AXE = """const tell = arguments[0];
axe.run({ resultTypes: ["violations"] }).then(
  (answer) => tell(answer.violations.map((broken) => [broken.id, broken.nodes.map((node) => node.html)])));"""


class OtherBrowser:
    """A window of a browser, driven by requests to *driver*, its driver's address."""

    def __init__(self, driver, capabilities):
        self.address = driver
        session = self.send("/session", capabilities={"alwaysMatch": capabilities})
        self.address = f"{driver}/session/{session['sessionId']}"

    def send(self, path, **body):
        answer = requests.post(self.address + path, json=body, timeout=PATIENCE).json()["value"]
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer

    def open(self, link):
        """Goes to a page, and collects its errors from then on."""
        self.send("/url", url="about:blank")  # a link with another fragment alone opens no page
        self.send("/url", url=link)
        self.evaluate(COLLECT)

    def open_html(self, html, folder):
        file = folder / "report.html"
        file.write_text(html, encoding="utf-8")
        self.open(file.as_uri())

    def evaluate(self, function):
        return self.send("/execute/sync", script=f"return ({function})()", args=[])

    def click(self, selector):
        element = self.send("/element", using="css selector", value=selector)[ELEMENT]
        self.send(f"/element/{element}/click")

    def press(self, *keys):
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.send("/actions", actions=[{"type": "key", "id": "keyboard", "actions": strokes}])

    def wait_for(self, function):
        wait_until(lambda: self.evaluate(function), PATIENCE)

    def wait_for_text(self, selector, text):
        self.wait_for(f"() => document.querySelector({selector!r})?.innerText.startsWith({text!r})")

    def check_page(self):
        """Fails if the page had an error, breaks a rule of accessibility, or is wider than its window."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed").Axe()
        self.send("/execute/sync", script=f"{axe.axe_script}; window.axe = axe;", args=[])
        assert self.send("/execute/async", script=AXE, args=[]) == []
        for width in (450, 1200):  # WebKitGTK's window is not narrower
            self.send("/window/rect", width=width, height=900)
            assert self.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert self.evaluate("() => complaints") == []


def find_program(*names):
    """The first of *names*, programs or patterns of paths below /usr, that is there; otherwise the test skips."""
    for name in names:
        for program in (shutil.which(name), *Path("/usr").glob(name)):
            if program:
                return str(program)
    pytest.skip(f"{names[0]} is not installed")


@contextmanager
def run_process(*command, **options):
    with subprocess.Popen(command, text=True, stderr=subprocess.DEVNULL, **options) as process:
        yield process
        process.terminate()


def prepare_firefox(_):
    """The driver, its environment, and the capabilities of a session."""
    driver, firefox = find_program("geckodriver"), find_program("firefox", "firefox-esr")
    return driver, None, {"moz:firefoxOptions": {"binary": firefox, "args": ["-headless"]}}


def prepare_webkit(stack):
    driver, xvfb = find_program("WebKitWebDriver"), find_program("Xvfb")
    browser = find_program("MiniBrowser", "lib*/*/webkit2gtk-4.*/MiniBrowser")
    screen = run_process(xvfb, "-displayfd", "1", "-screen", "0", "1600x1200x24", stdout=subprocess.PIPE)
    display = stack.enter_context(screen).stdout.readline().strip()
    capabilities = {"webkitgtk:browserOptions": {"binary": browser, "args": ["--automation"]}}
    return driver, {**os.environ, "DISPLAY": f":{display}"}, capabilities


PREPARED = {"firefox": prepare_firefox, "webkit": prepare_webkit}
GROUPED = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in PREPARED]
"""One worker has all tests of a browser, so that it starts once."""


def is_ready(address):
    try:
        return requests.get(f"{address}/status", timeout=PATIENCE).ok
    except requests.ConnectionError:
        return False


@pytest.fixture(scope="session", params=GROUPED)
def other_browser(request):
    """Firefox and WebKitGTK, one after the other."""
    with ExitStack() as stack:
        driver, environment, capabilities = PREPARED[request.param](stack)
        with closed_port() as port:
            address = f"http://127.0.0.1:{port}"
        stack.enter_context(run_process(driver, f"--port={port}", env=environment, stdout=subprocess.DEVNULL))
        wait_until(lambda: is_ready(address), PATIENCE)
        browser = OtherBrowser(address, capabilities)
        yield browser
        requests.delete(browser.address, timeout=PATIENCE)
