"""
The pictures of the documentation show what the program shows now.

docs/pictures/digests.json has a digest of the text that was to be read in each picture when it was made. Where the text
has changed since, its test fails; `REMEDY` makes the pictures anew.
"""

import hashlib
import json
import re
from pathlib import Path

import pytest

from builders.golden import masked

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
DIGESTS = PICTURES / "digests.json"
SCHEMES = ("light", "dark")
SIZE = {"width": 1200, "height": 740}
REMEDY = "pytest tests/browser tests/extensions -k picture --update-golden"

TIMES = re.compile(r" *\b\d+ ms\b|\[data-v=\d+\.0\] \d+$", re.MULTILINE)
"""Latencies with the blanks that align them, in texts and in the last column of a report's table of queries."""


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


def photograph(open_html, name, html):
    """Make the pictures of the top of a page, in both schemes."""
    for scheme in SCHEMES:
        page = open_html(html, viewport=SIZE, color_scheme=scheme)
        page.screenshot(path=PICTURES / f"{name}-{scheme}.png")
