"""docs/guides/chunks.md: the commands, as a reader with an index of chunks types them on the embedded node."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from builders.typed_page import assert_shown, follow_page, hold_index, type_command
from harness.suites import load_suite

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "chunks.md").read_text(encoding="utf-8")

MAPPINGS = {
    "properties": {"manual": {"type": "keyword"}, "part": {"type": "integer"}, "body": {"type": "text"}},
}
MANUALS = {
    "boiler": [
        "The boiler has a relief valve on its upper side.",
        "The relief valve opens at 3",
        "bar, and it closes again below 2 bar.",
        "Have a valve that leaks replaced.",
    ],
    "pump": ["The pump has a filter.", "Rinse the filter with cold water. Never use a brush.", "Dry the filter."],
}


def make_chunks(size: int) -> dict[str, dict[str, object]]:
    """The manuals in chunks of so many parts."""
    chunks = {}
    for manual, parts in MANUALS.items():
        for start in range(0, len(parts), size):
            body = " ".join(parts[start : start + size])
            chunks[f"{manual}-{size}-{start}"] = {"manual": manual, "part": start, "body": body}
    return chunks


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    # A command that sets a variable is typed into a shell.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


@pytest.mark.embedded
@pytest.mark.one_engine
def test_the_page_goes_from_an_index_of_chunks_to_a_gate(folder, opensearch_url, capfd):
    with (
        hold_index(opensearch_url, "manual-chunks", make_chunks(2), MAPPINGS),
        hold_index(opensearch_url, "manual-chunks-short", make_chunks(1), MAPPINGS),
    ):
        statuses = []
        for line, shown in follow_page(PAGE.replace("http://localhost:9200", opensearch_url)):
            status, printed = type_command(line, capfd)
            statuses.append(status)
            assert_shown(shown, printed, line)
    assert statuses == [0, 0, 0, 1, 1, 0]
    reports = [json.loads((folder / name).read_text(encoding="utf-8")) for name in ("long.json", "short.json")]
    assert [report["suites"][0]["depth"] for report in reports] == [3, 6]


def test_a_table_of_passages_becomes_the_queries_of_the_suite(folder):
    list(follow_page(PAGE))
    rows = (
        "question,document,passage,importance\nwhen,boiler,at 3 bar,must\nhow,pump,cold water,nice\nwhen,,2 bar,good\n"
    )
    (folder / "answers.csv").write_text(rows, encoding="utf-8")
    [command] = re.findall(r"`(python make-queries.py > \S+)`", PAGE)
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0
    text = (folder / "manuals.relevance.yaml").read_text(encoding="utf-8")
    path = folder / "manuals.relevance.yaml"
    path.write_text(f"{text.partition('queries:')[0]}queries: queries.jsonl\n", encoding="utf-8")
    quotes = {}
    for query in load_suite(path, {}).queries:
        quotes[query.text] = [(quote.text, quote.grade, quote.document) for quote in query.quotes]
    assert quotes == {
        "when": [("at 3 bar", 3, "boiler"), ("2 bar", 2, "")],
        "how": [("cold water", 1, "pump")],
    }
