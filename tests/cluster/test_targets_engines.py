"""The product suite on OpenSearch and on Solr: one suite, whose requests are compared in one table."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from builders.extension_cases import needs_extension
from builders.solr import CORE
from harness.cli import main
from harness.model.run import Status
from harness.report.json import loads_report

pytestmark = pytest.mark.one_engine

PRODUCTS = Path(__file__).parents[2] / "suites" / "products.relevance.yaml"
CONFIGURATION = """\
[clusters.solr]
url = "{url}/solr"
service = "solr"
"""
SOLR = {
    "target": {"cluster": "solr"},
    "http": {
        "path": f"/{CORE}/select",
        "params": {
            "q": "{{text}}",
            "defType": "edismax",
            "qf": "title^3 brand^2 category colour tags description",
            "fl": "id,score,title,popularity",
            "sort": "score desc,popularity desc,id asc",
        },
        "sort": ["$.score", "$.popularity", "$.id"],
        "fields": {"title": "$.title"},
    },
}


@pytest.fixture
def products(tmp_path, solr_url, monkeypatch):
    """The product suite, which builds its index on an engine, with a request for Solr beside its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    shutil.copytree(PRODUCTS.parent / "products", tmp_path / "products")
    Path("relevance.toml").write_text(CONFIGURATION.format(url=solr_url), encoding="utf-8")
    suite = yaml.safe_load(PRODUCTS.read_text(encoding="utf-8"))
    suite["requests"] = {"current": suite["requests"]["current"], "solr": SOLR}
    path = tmp_path / PRODUCTS.name
    path.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    return path


@needs_extension("compare")
def test_solr_is_compared_with_opensearch(products, opensearch_url, solr_url, tmp_path, capsys):
    from harness.extensions.compare.outputs import loads_comparison

    outputs = {kind: tmp_path / f"comparison.{kind}" for kind in ("json", "html", "markdown")}
    words = [word for kind, file in outputs.items() for word in ("--output", f"{kind}={file}")]
    sides = ["request:current", "request:solr", "--suite", str(products)]
    assert main(["compare", *sides, "--url", opensearch_url, "--allow-write", *words]) == 0
    printed = capsys.readouterr().out
    assert re.search(rf"request:current: opensearch \S+ at {re.escape(opensearch_url)}, index ", printed)
    assert f"request:solr: solr at solr ({solr_url}/solr), request solr" in printed
    report = loads_comparison(outputs["json"].read_text(encoding="utf-8"))
    assert report.measures is not None
    assert all(measure.queries > 30 for measure in report.measures.measures)
    assert not report.only_reference
    assert not report.only_candidate
    for file in outputs.values():
        text = file.read_text(encoding="utf-8").replace("<span>:</span>", ":")
        assert opensearch_url in text
        assert f"{solr_url}/solr" in text


def test_each_server_is_held_to_the_thresholds_of_the_suite(products, opensearch_url, tmp_path):
    file = tmp_path / "report.json"
    words = ["--all-requests", "--url", opensearch_url, "--allow-write", "-q", "--output", f"json={file}"]
    assert main(["run", str(products), *words]) == 0
    on_opensearch, on_solr = loads_report(file.read_text(encoding="utf-8")).suites
    assert on_opensearch.cluster == opensearch_url
    assert on_solr.cluster.startswith("solr (")
    for report in (on_opensearch, on_solr):
        assert {verdict.status for verdict in report.verdicts} == {Status.PASSED, Status.XFAILED}


def test_where_solr_is_down_opensearch_is_decided(products, opensearch_url, tmp_path):
    Path("relevance.toml").write_text(CONFIGURATION.format(url="http://127.0.0.1:9"), encoding="utf-8")
    file = tmp_path / "report.json"
    words = ["--all-requests", "--url", opensearch_url, "--allow-write", "-q", "--output", f"json={file}"]
    assert main(["run", str(products), *words]) == 3
    decided = {
        suite["request"]: {verdict["status"] for verdict in suite["verdicts"]}
        for suite in json.loads(file.read_text(encoding="utf-8"))["suites"]
    }
    assert decided["current"] == {"passed", "expected failure"}
    assert "error" in decided["solr"]


@needs_extension("judging")
def test_documents_of_both_servers_are_pooled_with_their_titles(products, opensearch_url, tmp_path):
    file = tmp_path / "pool.csv"
    words = ["--all-requests", "--url", opensearch_url, "--allow-write", "-q", "--output", f"csv={file}"]
    assert main(["judgments", "pool", str(products), "--depth", "3", *words]) in (0, 1)
    header, *rows = file.read_text(encoding="utf-8").splitlines()
    assert rows
    place = header.split(",").index("title")
    assert all(row.split(",")[place] for row in rows)
