"""
ES|QL on a real Elasticsearch, beside the query DSL: RELEVANCE_TEST_ESQL is the URL of one of version 9.1 or later.

The builds that the other tests search have no module x-pack-esql.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from builders.engine_fixtures import missing
from harness.cli import main

VARIABLE = "RELEVANCE_TEST_ESQL"
SUITES = Path(__file__).parents[2] / "suites"
REQUESTS = {
    "dsl": {"query": {"match": {"title": "{{text}}"}}, "sort": ["_score", {"id": "asc"}]},
    "esql": {
        "esql": "FROM products METADATA _id, _score\n"
        "| WHERE MATCH(title, ?text)\n"
        "| SORT _score DESC, id ASC\n"
        "| LIMIT ?depth\n"
        "| KEEP _id, _score, id, title\n"
    },
}


@pytest.fixture
def esql_url() -> str:
    return os.environ.get(VARIABLE) or missing(f"{VARIABLE} names no server: ES|QL was not run")


@pytest.mark.cluster
def test_it_ranks_the_example_suite_as_the_query_dsl_does(
    esql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SUITES / "products", "products")
    suite = yaml.safe_load((SUITES / "products.relevance.yaml").read_text(encoding="utf-8"))
    kept = {key: suite[key] for key in ("suite", "target", "fixture", "grades", "judgments") if key in suite}
    queries = [{"id": query["id"], "text": query["text"]} for query in suite["queries"]]
    # Hostile texts find what the same text finds in the query DSL.
    queries += [{"id": f"hostile-{n}", "text": text} for n, text in enumerate(['tent" | LIMIT 1', "tent ?text // `"])]
    content = {
        **kept,
        "requests": REQUESTS,
        "measures": ["nDCG@10"],
        "checks": False,
        "undefined": "skip",
        "queries": queries,
    }
    Path("both.relevance.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")

    words = ["--all-requests", "--allow-write", "--output", "json=both.json"]
    assert main(["run", "both.relevance.yaml", "--url", esql_url, *words, "-q"]) == 0, capsys.readouterr().out

    dsl, esql = json.loads(Path("both.json").read_text(encoding="utf-8"))["suites"]
    for by_dsl, by_esql in zip(dsl["queries"], esql["queries"], strict=True):
        expected = [(hit["id"], pytest.approx(hit["score"], rel=1e-6)) for hit in by_dsl["ranking"]]
        assert [(hit["id"], hit["score"]) for hit in by_esql["ranking"]] == expected
