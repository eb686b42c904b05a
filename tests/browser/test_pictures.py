"""The pictures of a run, on a terminal and as a page."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from builders.golden import page_lines
from builders.pictures import PICTURES, photograph

ROOT = Path(__file__).parents[2]
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
def red_gate(tmp_path_factory, embedded_node):
    """The example suite that fails on purpose."""
    url = embedded_node.url
    report = tmp_path_factory.mktemp("red-gate") / "report.html"
    command = [
        sys.executable,
        "-m",
        "harness",
        *RED_GATE,
        "--url",
        url,
        "--allow-write",
        "--output",
        f"html={report}",
    ]
    environ = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "118"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return RedGate(done.stdout, report.read_text(encoding="utf-8"))


def test_the_picture_of_a_terminal(red_gate, hold_picture):
    # A reader starts a node of their own, which takes --embedded; that of the tests runs already.
    colored = re.sub(r"--url \S+ --allow-write", "--embedded", red_gate.colored)
    lines = colored.splitlines()
    plain = Text.from_ansi(colored).plain

    def make():
        console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True)
        for line in lines[:36]:
            console.print(Text.from_ansi(line), soft_wrap=True)
        title = " ".join(["relevance", *RED_GATE, "--embedded"])
        svg = console.export_svg(title=title, code_format=SVG, unique_id="terminal")
        (PICTURES / "terminal.svg").write_text(svg, encoding="utf-8")

    hold_picture("terminal", plain, make)


def test_the_pictures_of_a_report(red_gate, hold_picture, open_html):
    hold_picture("report", page_lines(red_gate.page), lambda: photograph(open_html, "report", red_gate.page))
