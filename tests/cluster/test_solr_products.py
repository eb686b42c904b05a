"""The product suite on a real Solr: thresholds, two requests compared, a baseline, and pytest."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from builders.extension_cases import needs_extension
from builders.solr import CORE
from harness.cli import main
from harness.model.run import Status
from harness.report.json import loads_report

ROOT = Path(__file__).parents[2]
PRODUCTS = ROOT / "suites" / "products.relevance.yaml"
CONFIGURATION = """\
[clusters.solr]
url = "{url}/solr"
service = "solr"
"""
SELECT = {
    "path": f"/{CORE}/select",
    "sort": ["$.score", "$.popularity", "$.id"],
    "fields": {"title": "$.title"},
}
PARAMS = {
    "q": "{{text}}",
    "defType": "edismax",
    "fl": "id,score,title,popularity",
    "sort": "score desc,popularity desc,id asc",
}
REQUESTS = {
    "current": {"qf": "title^3 brand^2 category colour tags description"},
    "candidate": {
        "qf": "title_shop^3 category_shop tags_shop description_shop",
        "bq": ["{!field f=category_shop v=$q}^1.5", "{!field f=brand v=$q}^2", "{!field f=colour v=$q}^3"],
        "boost": "log(sum(popularity,1))",
    },
}


@pytest.fixture
def products(tmp_path, solr_url, monkeypatch):
    """The product suite with its requests as Solr takes them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)  # where no baseline is saved
    shutil.copytree(PRODUCTS.parent / "products", tmp_path / "products")
    Path("relevance.toml").write_text(CONFIGURATION.format(url=solr_url), encoding="utf-8")
    suite = yaml.safe_load(PRODUCTS.read_text(encoding="utf-8"))
    del suite["fixture"], suite["tune"]  # of Elasticsearch
    suite["target"] = {"cluster": "solr"}
    suite["requests"] = {
        name: {"http": {**SELECT, "params": {**PARAMS, **params}}} for name, params in REQUESTS.items()
    }
    path = tmp_path / PRODUCTS.name
    path.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    return path


def run(path, *words, status=0):
    """The report of a run that ends with *status*."""
    file = path.with_name("report.json")
    assert main(["run", str(path), *words, "-q", "--output", f"json={file}"]) == status
    [report] = loads_report(file.read_text(encoding="utf-8")).suites
    return report


def test_the_request_of_today_meets_the_thresholds_of_the_product_suite(products):
    report = run(products)
    assert {verdict.status for verdict in report.verdicts} == {Status.PASSED, Status.XFAILED}
    assert not any("ties" in note for note in report.notes)
    latency = next(verdict for verdict in report.verdicts if verdict.threshold == "p95 latency <= 2000 ms")
    assert latency.status is Status.PASSED
    assert not any("last byte" in note for note in report.notes), "it is Solr's own time"


@needs_extension("compare")
def test_the_candidate_is_compared_with_the_request_of_today(products, tmp_path):
    from harness.extensions.compare.outputs import loads_comparison

    file = tmp_path / "comparison.json"
    sides = ["request:current", "request:candidate"]
    status = main(["compare", *sides, "--suite", str(products), "-q", "--output", f"json={file}"])
    assert status == 0
    comparison = loads_comparison(file.read_text(encoding="utf-8")).measures
    assert comparison is not None
    by_measure = {measure.measure: measure for measure in comparison.measures}
    assert by_measure["nDCG@10"].difference > 0.1
    assert by_measure["nDCG@10"].adjusted < 0.01


def test_a_request_that_lost_its_best_field_drops_below_its_baseline(products):
    text = products.read_text(encoding="utf-8").replace("mean nDCG@10 >= 0.68", "drop nDCG@10 <= 0.02")
    products.write_text(text, encoding="utf-8")
    assert main(["baseline", "save", str(products), "-q"]) == 0
    assert run(products).baseline is not None
    products.write_text(text.replace("title^3 ", ""), encoding="utf-8")
    report = run(products, status=1)
    drop = next(verdict for verdict in report.verdicts if verdict.threshold == "drop nDCG@10 <= 0.02")
    assert drop.status is Status.FAILED


def test_pytest_decides_what_the_command_decides(products, pytester, monkeypatch):
    monkeypatch.chdir(products.parent)
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", str(products), f"--junitxml={products.parent / 'junit.xml'}"
    )
    result.assert_outcomes(passed=18, xfailed=4)
    [junit] = ElementTree.parse(products.parent / "junit.xml").getroot()
    assert junit.get("errors") == junit.get("failures") == "0"
