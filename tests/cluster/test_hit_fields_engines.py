"""Expectations of the fields of hits, on real engines: what is requested, what is read, and who decides alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.cli import main
from harness.model.report import SuiteReport
from harness.model.run import Ranking, Status, Verdict
from harness.options import RunOptions
from harness.report.json import loads_report
from harness.run import Runner
from harness.search.engine import EngineSearch

MAPPINGS: dict[str, Any] = {
    "properties": {
        "name": {"type": "text"},
        "brand": {
            "type": "keyword",
            "normalizer": "low",
            "fields": {"short": {"type": "keyword", "ignore_above": 4}},
        },
        "price": {"type": "double"},
        "in_stock": {"type": "boolean"},
        "group": {"type": "keyword"},
        "added": {"type": "date"},
        "offers": {"type": "nested", "properties": {"shop": {"type": "keyword"}}},
        "label": {"type": "alias", "path": "group"},
        "extra": {"type": "object", "enabled": False},
    }
}
SETTINGS = {"analysis": {"normalizer": {"low": {"type": "custom", "filter": ["lowercase"]}}}}
DOCUMENTS: dict[str, Any] = {
    "a": {
        "name": "tent tent tent",
        "brand": "Acme",
        "price": 149.5,
        "in_stock": True,
        "group": "x",
        "added": "2026-01-31T10:00:00Z",
        "offers": [{"shop": "north"}, {"shop": "south"}],
        "extra": {"note": 7},
    },
    "b": {"name": "tent tent", "brand": "Big Co", "price": "99.90", "in_stock": "true", "group": "y"},
    "c": {"name": "tent and a stove and a lamp", "brand": "Acme", "in_stock": False, "group": "x"},
}
SUITE = """\
suite: shop
target: {{cluster: "{url}", index: {index}}}
request: {request}
expect:
{expect}
queries:
  - {{id: tents, text: tent}}
"""
MATCH = '{query: {match: {name: "{{text}}"}}}'
TEMPLATE = '{template: {source: \'{"query": {"match": {"name": "{{q}}"}}SELECTED}\', params: {q: "{{text}}"}}}'
BODIES = {
    "plain": MATCH,
    "selecting": MATCH.replace("{query", "{_source: [name], query"),
    "without source": MATCH.replace("{query", "{_source: false, query"),
    "template": TEMPLATE.replace("SELECTED", ""),
    "template without source": TEMPLATE.replace("SELECTED", ', "_source": false'),
}
MET = (
    "in_stock = true in top 2",
    "every hit in top 2 has in_stock = true",
    "no hit in top 3 has price > 149.5",
    "price in 99.9..149.5 in top 2",
    "every hit in top 3 has group in {x, y}",
    "distinct group = 2 in top 3",
    "no repeated group in top 2",
    "added = 2026-01-31 in top 1",
    "every hit in top 1 has offers.shop = south",
    "every hit in top 1 has extra.note = 7",
)
MISSED = {
    "every hit in top 3 has in_stock = true": "c at rank 3 (false)",
    "no repeated group in top 3": "c at rank 3 (x, as a)",
    "every hit in top 3 has price": "c at rank 3 (no price)",
}


@pytest.fixture
def write(kept_index: Callable[..., str], engine_url: str, tmp_path: Path) -> Callable[..., Path]:
    """Writes a suite with expectations on an index with the documents."""
    name = kept_index(DOCUMENTS, mappings=MAPPINGS, settings=SETTINGS)

    def write_lines(*lines: str, request: str = MATCH) -> Path:
        path = tmp_path / "shop.relevance.yaml"
        expect = "\n".join(f"  - {line}" for line in lines)
        path.write_text(SUITE.format(url=engine_url, index=name, request=request, expect=expect), encoding="utf-8")
        return path

    return write_lines


def run(path: Path, *words: str, status: int) -> SuiteReport:
    """The report of *path*, whose run ends with *status*."""
    file = path.with_name("report.json")
    assert main(["run", str(path), *words, "--output", f"json={file}", "-q"]) == status
    [report] = loads_report(file.read_text(encoding="utf-8")).suites
    return report


def skip_without_templates(request_text: str, search: EngineSearch) -> None:
    """Skip the test where *request_text* is a search template, and the server has no module for these."""
    if "template" in request_text and search.engine.kind == "elasticsearch":
        pytest.skip("this Elasticsearch has no module for search templates")


def find(report: SuiteReport, text: str) -> Verdict:
    return next(verdict for verdict in report.verdicts if verdict.threshold == text)


@pytest.mark.parametrize("request_text", BODIES.values(), ids=BODIES)
def test_fields_decide_whatever_the_request_selects(
    write: Callable[..., Path], search: EngineSearch, request_text: str
) -> None:
    skip_without_templates(request_text, search)
    # An object that is not enabled has no fields, so that it is only in a source that is returned.
    met = MET if request_text in (BODIES["plain"], BODIES["template"]) else MET[:-1]
    if "template" in request_text:
        met = MET
    report = run(write(*met, *MISSED, request=request_text), status=1)
    for text in met:
        assert find(report, text).status is Status.PASSED, find(report, text)
    for text, reason in MISSED.items():
        verdict = find(report, text)
        assert (verdict.status, verdict.blamed) == (Status.FAILED, ("tents",))
        assert reason in verdict.reason


def test_a_keyword_is_as_it_was_written_and_a_subfield_as_it_is_indexed(write: Callable[..., Path]) -> None:
    lines = ("brand = Acme in top 1", "brand.short = Acme in top 1", "label = x in top 1")
    assert {verdict.status for verdict in run(write(*lines), status=0).verdicts} == {Status.PASSED}
    report = run(write("every hit in top 3 has brand.short"), status=1)
    assert "b at rank 2 (no brand.short)" in report.verdicts[0].reason, "ignore_above leaves Big Co out"


def test_the_mapping_tells_what_no_document_can_have(write: Callable[..., Path]) -> None:
    lines = {
        "no hit in top 3 has in_stok = false": "no searched index has a field 'in_stok'; did you mean 'in_stock'?",
        "no hit in top 3 has in_stock = no": "the field 'in_stock' is mapped as boolean, which is never no",
        "no hit in top 3 has price = cheap": "the field 'price' is mapped as double, which is never cheap",
        "no repeated offers in top 3": "which has no value; name a field in it",
    }
    report = run(write(*lines), status=3)
    for text, reason in lines.items():
        verdict = find(report, text)
        assert verdict.status is Status.ERROR
        assert reason in verdict.reason
    unchecked = run(write(*lines), "--no-checks", status=3)
    misspelled, truth, word, _ = lines
    assert "no hit of the run has a value in the field 'in_stok'" in find(unchecked, misspelled).reason
    # Without the mapping, true and false still are no words, and numbers are other than words.
    assert "a at rank 1 has in_stock = true, which cannot be compared with no" in find(unchecked, truth).reason
    assert find(unchecked, word).status is Status.PASSED


def test_a_value_that_cannot_be_compared_is_an_error(write: Callable[..., Path]) -> None:
    [verdict] = run(write("group <= 5 in top 3"), status=3).verdicts
    assert verdict.reason.endswith(
        "a at rank 1 has group = x, which cannot be compared with 5 (the field is mapped as keyword))"
    )


def test_a_field_of_the_request_s_own_is_read(write: Callable[..., Path], search: EngineSearch) -> None:
    key = "derived" if search.engine.kind == "opensearch" else "runtime_mappings"
    runtime = MATCH.replace("{query", f"{{{key}: {{half: {{type: double, script: {{source: 'emit(0.5)'}}}}}}, query")
    report = run(write("every hit in top 3 has half = 0.5", request=runtime), status=0)
    assert report.verdicts[0].status is Status.PASSED


def test_ranking_and_scores_stay_the_same(write: Callable[..., Path]) -> None:
    rankings = []
    for lines in (["hits >= 1"], ["hits >= 1", *MET, *MISSED]):
        with Runner({}) as runner:
            [finished] = runner.run([write(*lines)], RunOptions())
        response = finished.run.responses["tents"]
        assert isinstance(response, Ranking)
        rankings.append([(hit.id, hit.score) for hit in response.hits])
    assert rankings[0] == rankings[1]
    assert [document for document, _ in rankings[0]] == ["a", "b", "c"]


def test_repeats_and_a_run_that_goes_on_read_them_too(
    write: Callable[..., Path], search: EngineSearch, tmp_path: Path
) -> None:
    skip_without_templates(BODIES["template without source"], search)
    path, journal = write(*MET, *MISSED, request=BODIES["template without source"]), tmp_path / "run.journal"
    first = run(path, "--repeat", "2", "--journal", str(journal), status=1)
    again = run(path, "--repeat", "2", "--journal", str(journal), "--resume", status=1)
    assert first.verdicts == again.verdicts


@pytest.mark.one_engine
def test_pytest_and_the_command_decide_alike(
    write: Callable[..., Path], tmp_path: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(*MET, *MISSED)
    report = run(path, status=1)
    junit = tmp_path / "junit.xml"
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    ended = pytester.runpytest("-p", "relevance", "-p", "no:cacheprovider", f"--junitxml={junit}", path)
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    failed = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        failure = case.find("failure")
        failed[case.get("name")] = None if failure is None else failure.text
    for verdict in report.verdicts:
        said = failed[verdict.id]
        assert (said is not None) == (verdict.status is Status.FAILED)
        if said is not None:
            assert verdict.reason.partition(": ")[0] in " ".join(said.split())
