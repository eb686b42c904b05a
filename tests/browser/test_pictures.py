"""
The pictures of the documentation show what the program shows now.

docs/pictures/digests.json has a digest of the text that was to be read in each picture when it was made. Where the text
has changed since, the test fails; `pytest tests/browser/test_pictures.py --update-golden` makes the pictures anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from builders.golden import masked, page_lines
from builders.judging import link_of, make_server, make_view
from builders.planted_history import make_history, make_suite
from harness.embedded.jars import cache_folder
from harness.errors import EngineStartError
from harness.extensions.history import page as history
from harness.extensions.history.timeline import build_timelines
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.session import GradeChoice
from harness.files.judge_files import JudgeFile
from harness.pytest_plugin.node import RemoteNode
from harness.suites import load_suite

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
DIGESTS = PICTURES / "digests.json"
SCHEMES = ("light", "dark")
SIZE = {"width": 1200, "height": 740}
REMEDY = "pytest tests/browser/test_pictures.py --update-golden"

TIMES = re.compile(r" *\b\d+ ms\b|\[data-v=\d+\.0\] \d+$", re.MULTILINE)
"""Latencies with the blanks that align them, in texts and in the last column of a report's table of queries."""

RED_GATE = ["run", "suites/failing/products.failing.yaml"]
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="A terminal">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own picture of a terminal loads a font from another host."""


@dataclass(frozen=True)
class RedGate:
    """A run whose gate fails, on the embedded node."""

    colored: str
    """What it printed, with the codes of colors."""
    page: str
    """Its report."""


@pytest.fixture(scope="module")
def red_gate(tmp_path_factory):
    """The example suite that fails on purpose."""
    try:
        url = RemoteNode(cache_folder()).obtain_url()
    except EngineStartError as error:
        pytest.skip(str(error))
    report = tmp_path_factory.mktemp("red-gate") / "report.html"
    command = [sys.executable, "-m", "harness", *RED_GATE, "--url", url, "--allow-write", "--output", f"html={report}"]
    environ = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "118"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return RedGate(done.stdout, report.read_text(encoding="utf-8"))


@pytest.fixture
def hold_picture(pytestconfig, tmp_path):
    """Fails if the text of a picture has changed since the picture was made, or has it made anew."""

    def hold(name, text, make):
        text = TIMES.sub("<milliseconds>", masked(text, tmp_path))
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        digests = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}
        if pytestconfig.getoption("update_golden"):
            PICTURES.mkdir(exist_ok=True)
            make()
            digests[name] = digest
            DIGESTS.write_text(json.dumps(digests, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        assert digests.get(name) == digest, f"the picture {name} shows another text: {REMEDY}"

    return hold


def test_the_picture_of_a_terminal(red_gate, hold_picture):
    lines = red_gate.colored.splitlines()
    plain = Text.from_ansi(red_gate.colored).plain

    def make():
        console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True)
        for line in lines[:36]:
            console.print(Text.from_ansi(line), soft_wrap=True)
        title = " ".join(["relevance", *RED_GATE])
        svg = console.export_svg(title=title, code_format=SVG, unique_id="terminal")
        (PICTURES / "terminal.svg").write_text(svg, encoding="utf-8")

    hold_picture("terminal", plain, make)


def test_the_pictures_of_a_report(red_gate, hold_picture, open_html):
    hold_picture("report", page_lines(red_gate.page), lambda: photograph(open_html, "report", red_gate.page))


def test_the_pictures_of_a_history(hold_picture, open_html):
    page = history.render(build_timelines(make_history(160), make_suite()))
    hold_picture("history", page_lines(page), lambda: photograph(open_html, "history", page))


def test_the_pictures_of_the_judging_page(hold_picture, browser, tmp_path):
    suite = load_suite(ROOT / "suites" / "products.relevance.yaml", None)
    [query] = [query for query in suite.queries if query.id == "tent"]
    lines = (ROOT / "suites" / "products" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    products = {product["id"]: product for product in map(json.loads, lines)}
    documents = []
    for rank, document in enumerate(list(query.judgments)[:8], start=1):
        product = products[document]
        texts = {"brand": product["brand"], "price": str(product["price"])}
        documents.append(
            PooledDocument(
                query.id, query.text, document, {"current": rank}, product["title"], product["description"], texts=texts
            )
        )
    choices = [GradeChoice(grade, name, str(int(grade))) for name, grade in suite.grades.items()]
    view = make_view(suite, documents, choices, JudgeFile(tmp_path / "anna.jsonl"))
    server = make_server(view)
    server.start()
    try:
        contexts = {scheme: browser.new_context(viewport=SIZE, color_scheme=scheme) for scheme in SCHEMES}
        pages = {scheme: context.new_page() for scheme, context in contexts.items()}
        for page in pages.values():
            page.goto(link_of(server))
            page.wait_for_selector("#item:not([hidden])")

        def make():
            for scheme, page in pages.items():
                page.screenshot(path=PICTURES / f"judging-{scheme}.png")

        hold_picture("judging", pages["light"].inner_text("body"), make)
        for context in contexts.values():
            context.close()
    finally:
        server.close()


def photograph(open_html, name, html):
    """Make the pictures of the top of a page, in both schemes."""
    for scheme in SCHEMES:
        page = open_html(html, viewport=SIZE, color_scheme=scheme)
        page.screenshot(path=PICTURES / f"{name}-{scheme}.png")
