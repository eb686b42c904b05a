"""What docs/coming-from/ and docs/guides/clicks.md show of imports is what the commands write."""

import re
from pathlib import Path

import pytest

from builders.typed_page import assert_shown, follow_page, type_command
from harness.extensions.migrate.formats import FORMATS

DOCS = Path(__file__).parents[3] / "docs"
PAGES = [*sorted((DOCS / "coming-from").glob("*.md")), DOCS / "guides" / "clicks.md"]


def test_every_format_has_a_row():
    text = (DOCS / "coming-from" / "index.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| [^|]+ \| (`[^|]+) \|", text, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(.+?)`", cell)} == set(FORMATS)


def test_every_format_is_imported_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"relevance import ([\w-]+) ", text)) == set(FORMATS) - {"jsonl"}  # as csv


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_an_import_writes_is_what_the_page_shows(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for line, shown in follow_page(page.read_text(encoding="utf-8")):
        # The rest needs an engine, or a collection.
        if re.match(r"relevance (import (?!beir|ir_datasets)|export|evaluate)", line):
            status, printed = type_command(line, capfd)
            assert status == 0, printed
            assert_shown(shown, printed, line)
