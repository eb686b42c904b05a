"""The steps of docs/coming-from/index.md from a Quepid export to a gate, as a reader takes them."""

import os
import re
import shlex
from pathlib import Path

import pytest

from harness.cli import main
from harness.scaffold import list_scaffold_files

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from" / "index.md").read_text(encoding="utf-8")
STEPS = PAGE.split("### From a Quepid export to a gate\n")[1].split("\n## ")[0]
BLOCK = re.compile(r"(?:`([\w.]+)`:\n\n)?```(\w+)\n(.*?)```", re.DOTALL)


def words_of(line):
    return " ".join(line.split())


@pytest.mark.embedded
@pytest.mark.skipif("RELEVANCE_TEST_OPENSEARCH" in os.environ, reason="the page shows the embedded node's scores")
def test_the_steps_lead_where_the_page_says(opensearch_url, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("fixture.relevance.yaml").write_text(
        "suite: migration-path\nrequest: {query: {match: {title: '{{text}}'}}}\n"
        "fixture:\n  documents: documents.jsonl\n"
        "  settings: {number_of_shards: 1, number_of_replicas: 0}\n  mappings: {properties: {title: {type: text,"
        " analyzer: english}, description: {type: text, analyzer: english}}}\n"
        "queries: [{id: q, text: tent, judgments: {p07: 1}}]\n"
    )
    Path("documents.jsonl").write_text(list_scaffold_files()["products/documents.jsonl"])
    assert main(["run", "fixture.relevance.yaml", "--url", opensearch_url, "--allow-write"]) == 0
    index = re.search(r"index (migration-path-\S+)", capsys.readouterr().out)[1]
    ran = 0
    for name, kind, text in BLOCK.findall(STEPS):
        if kind != "console":
            path = Path(name)
            path.write_text((path.read_text() if kind == "yaml" else "") + text)
            continue
        for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, *expected = command.strip("\n").split("\n")
            words = shlex.split(line.replace("http://127.0.0.1:9200", opensearch_url).replace("products", index))[1:]
            status = main(words)
            printed = capsys.readouterr().out.replace(opensearch_url, "http://127.0.0.1:9200")
            shown = [words_of(one) for one in printed.splitlines()]
            assert status == (1 if "FAILED" in command else 0), line
            for one in map(words_of, expected):
                assert one in shown, f"{line}\n{printed}"
            ran += 1
    assert ran == 7
