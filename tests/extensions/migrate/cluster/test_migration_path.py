"""The pages of docs/coming-from, from an export to a gate and back, as a reader takes them."""

import json
import os
from pathlib import Path

import pytest

from builders.typed_page import assert_shown, follow_page, hold_index, type_command
from harness.extensions.migrate.scaffold import list_scaffold_files

PAGES = Path(__file__).parents[4] / "docs" / "coming-from"
TEXT = {"type": "text", "analyzer": "english"}
COMMANDS = {
    "csv.md": 3,
    "quepid.md": 9,
    "rank-eval.md": 3,
    "rre.md": 3,
    "search-relevance-workbench.md": 3,
    "trec-eval.md": 4,
}
"""How many commands each page has; beir.md has a collection that is downloaded."""

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.xdist_group("index-of-coming-from"),  # all of them need the one index
    pytest.mark.skipif("RELEVANCE_TEST_OPENSEARCH" in os.environ, reason="the pages show the embedded node's scores"),
]


def cut_section(page, heading):
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def products(opensearch_url):
    """An index of this name with the documents that `relevance init` writes."""
    lines = list_scaffold_files()["products/documents.jsonl"].splitlines()
    documents = {document["id"]: document for document in map(json.loads, lines)}
    mappings = {"properties": {"title": TEXT, "description": TEXT}}
    with hold_index(opensearch_url, "products", documents, mappings):
        yield


def test_every_page_with_a_gate_is_taken():
    gated = {path.name for path in PAGES.glob("*.md") if "\n## From an export to a gate\n" in path.read_text("utf-8")}
    assert gated == set(COMMANDS)


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_lead_where_the_page_says(name, opensearch_url, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    page = (PAGES / name).read_text(encoding="utf-8")
    headings = ("From an export to a gate", "The next export", "Going back")
    steps = "".join(cut_section(page, heading) for heading in headings)
    typed = 0
    for line, shown in follow_page(steps):
        status, printed = type_command(line.replace("http://127.0.0.1:9200", opensearch_url), capfd)
        assert status == (1 if "FAILED" in shown else 0), f"{line}\n{printed}"
        assert_shown(shown, printed, line)
        typed += 1
    assert typed == COMMANDS[name]
