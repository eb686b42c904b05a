"""The site of the documentation: it builds without a warning, loads nothing from elsewhere, and axe finds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from builders.pages import COLOURS, NO_CONTRAST, find_violations

ROOT = Path(__file__).parents[2]
REPORTS = ("a-run.html", "a-red-gate.html", "a-comparison.html")
PAGES = ("", "tutorials/own-index/", "reference/suites/", "reference/api/", "engines/")


class Anchors(HTMLParser):
    """The links of a page, and the places in it to which a link may lead."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[name] for name in ("href", "src") if found.get(name)]
        if "id" in found:
            self.ids.add(found["id"])


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        """Requests are not printed."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with the site."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    reports = tmp_path_factory.mktemp("reports")
    for name in REPORTS:
        (reports / name).write_text(f"<!doctype html><title>{name}</title>", encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environ = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "RELEVANCE_SITE_REPORTS": str(reports)}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def url(site):
    """Where the site is served."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_files_of_the_repository_that_pages_link_to_are_on_the_site(site):
    text = (ROOT / "suites" / "products.relevance.yaml").read_text(encoding="utf-8")
    assert (site / "suites" / "products.relevance.yaml").read_text(encoding="utf-8") == text


def test_the_reports_that_were_made_are_in_the_navigation(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    for name in REPORTS:
        assert (site / "demo" / name).is_file()
        assert f'href="demo/{name}"' in home


def test_each_link_leads_to_a_file_and_a_place_of_the_site(site):
    pages = {
        page: Anchors(page.read_text(encoding="utf-8")) for page in site.rglob("*.html") if page.name != "404.html"
    }
    lost = []
    for page, anchors in pages.items():
        for link in anchors.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            if target.is_dir():
                target /= "index.html"
            known = pages.get(target)
            if not target.is_file() or (address.fragment and known and unquote(address.fragment) not in known.ids):
                lost.append(f"{page.relative_to(site)}: {link}")
    assert len(pages) > 40
    assert lost == []


def test_the_reference_of_python_has_what_the_package_exports(site):
    from harness import api

    text = (site / "reference" / "api" / "index.html").read_text(encoding="utf-8")
    assert [name for name in api.__all__ if f"{name}</span>" not in text and f'harness.api.{name}"' not in text] == []


PALETTES = {"light": "default", "dark": "slate"}
"""The colours of each scheme; a browser keeps those of the first page that it loads."""


@pytest.fixture
def open_page(browser, url):
    """Opens a page of the site in a scheme; the test fails if it loads anything from elsewhere."""
    contexts, requested = [], []

    def open_path(path, scheme, width):
        viewport = {"width": width, "height": 900}
        contexts.append(browser.new_context(color_scheme=scheme, reduced_motion="reduce", viewport=viewport))
        page = contexts[-1].new_page()
        page.on("request", lambda request: requested.append(request.url))
        page.goto(url + path)
        assert page.locator("body").get_attribute("data-md-color-scheme") == PALETTES[scheme]
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert requested
    assert [address for address in requested if not address.startswith((url, "data:", "blob:"))] == []


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(open_page, path):
    """A text has the same colours in a narrow window, in which the other rules are asked again."""
    page = open_page(path, "light", 1200)
    assert find_violations(page) == []
    page.set_viewport_size({"width": 400, "height": 900})
    page.reload()
    assert find_violations(page, **NO_CONTRAST) == []
    assert find_violations(open_page(path, "dark", 1200), **COLOURS) == []


@pytest.mark.parametrize("scheme", PALETTES)
def test_the_head_of_a_narrow_window_has_contrast(open_page, scheme):
    """The template is that of all pages; what stands below its head has the colours of a wide window."""
    assert find_violations(open_page("", scheme, 400), **COLOURS) == []


def test_a_word_is_found(browser, url):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(url)
    page.get_by_placeholder("Search").fill("prediction-powered")
    page.wait_for_selector(".md-search-result__item")
    assert page.locator(".md-search-result__item").count() > 0
    context.close()
