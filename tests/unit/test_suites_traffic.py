"""The suite `traffic` on the rankings that its documents give: the means that it reckons, the table that docs show."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builders.executions import run_suite
from builders.reports import tag_lines
from harness.model.run import Status
from harness.options import RunOptions
from harness.search.testing import FakeSearch
from harness.suites import load_suite

ROOT = Path(__file__).parents[2]


@pytest.fixture
def report():
    suite = replace(load_suite(ROOT / "suites" / "traffic.relevance.yaml", {}), fixture=None)
    lines = (ROOT / "suites" / "lessons" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    documents = sorted(map(json.loads, lines), key=lambda document: -document["order"])
    rankings = {
        query.id: [document["id"] for document in documents if document["found_by"] == query.text]
        for query in suite.queries
    }
    return run_suite(suite, FakeSearch(rankings), RunOptions(locate=False))


def test_it_passes_by_weight_where_each_query_counted_once_would_fail(report):
    assert {verdict.status for verdict in report.verdicts} == {Status.PASSED}
    [mean, head, tail, *_] = [verdict.observed for verdict in report.verdicts]
    assert mean == pytest.approx((900 + 60 * 0.7227 + 36 * 0.3392 + 4) / 1000, abs=5e-5)
    assert head == pytest.approx((900 + 60 * 0.7227) / 960, abs=5e-5)
    assert tail == pytest.approx((36 * 0.3392 + 4) / 40, abs=5e-5)
    assert sum(query.scores["nDCG@5"] for query in report.queries) / 4 == pytest.approx(0.7655, abs=5e-5)


def test_the_table_of_the_reference_is_what_is_printed(report):
    printed = "".join(f"{line}\n" for line in tag_lines(report))
    assert f"```\n{printed}```" in (ROOT / "docs" / "reference" / "reports.md").read_text(encoding="utf-8")
