"""What time and transport move stands in `timing`: without it, reports of the same rankings are equal."""

import pytest

pytest.importorskip("jsonschema")

import json
import time
from pathlib import Path

from builders.engine import Fault
from builders.reports import without_timing
from builders.schemas import make_validator
from harness.cli import main
from harness.report.json import inspection_schema, loads_report, report_schema

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
thresholds: ["mean nDCG@3 >= 0.9", "p50 latency <= 90 ms", "max latency <= 2 ms"]
queries:
  - {id: shoes, text: red shoes, judgments: {c: 1, x: 1}}
  - {id: boots, text: rubber boots, judgments: {e: 1, y: 1}}
"""


@pytest.fixture
def engine(working_folder, engine, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    return engine


def took(**times):
    """Lets the engine say these times for the queries with these first documents."""

    def change(answer):
        for item in answer["responses"]:
            first = next((hit["_id"] for hit in item["hits"]["hits"]), None)
            item["took"] = times.get(first, 1)
        return answer

    return change


def disturb(engine):
    """Slow, busy for once, and other queries are the slow ones."""
    engine.before_search = lambda: time.sleep(0.05)
    engine.change_all = took(a=8, e=70)
    engine.faults.append(Fault(status=503))


def reports(engine, capsys, *command, url=True):
    """Two JSON texts, of a run as it comes and of one that is disturbed."""
    texts = []
    engine.change_all = took(a=5, e=3)
    for disturbed in (False, True):
        if disturbed:
            disturb(engine)
        main([*command, *(["--url", engine.url] if url else []), "--json"])
        texts.append(capsys.readouterr().out)
    return texts


def test_reports_of_the_same_rankings_are_equal_without_timing(engine, capsys):
    calm, slow = reports(engine, capsys, "run", "shop.relevance.yaml")
    before, after = json.loads(calm), json.loads(slow)
    assert without_timing(before) == without_timing(after)
    assert before != after
    for report in (before, after):
        make_validator(report_schema).validate(report)
    timing = after["suites"][0]["timing"]
    assert timing["search_seconds"] > before["suites"][0]["timing"]["search_seconds"] > 0
    assert timing["resent"] == {"status 503": 2}
    assert sorted(query["timing"]["took"] for query in after["suites"][0]["queries"]) == [8, 70]


def test_figures_of_latencies_are_timing_and_read_back(engine, capsys):
    texts = reports(engine, capsys, "run", "shop.relevance.yaml")
    slow = json.loads(texts[1])["suites"][0]["verdicts"][2]
    assert (slow["status"], slow["observed"], slow["reason"], slow["blamed"]) == ("failed", None, "", [])
    assert (slow["timing"]["observed"], sorted(slow["timing"]["blamed"])) == (70, ["boots", "shoes"])
    mean, half, slowest = loads_report(texts[1]).suites[0].verdicts
    assert (mean.timing, half.timing, slowest.timing) == (None, None, None)
    assert slowest.reason.startswith("max latency is 70 ms, required <= 2 ms, over 2 queries; slowest: ")
    assert (half.observed, slowest.observed) == (8, 70)


def test_an_inspection_is_equal_without_timing(engine, capsys):
    calm, slow = map(json.loads, reports(engine, capsys, "show", "shop.relevance.yaml", "shoes"))
    assert without_timing(calm) == without_timing(slow)
    assert calm["timing"].keys() == {"created"}
    make_validator(inspection_schema).validate(slow)


def test_a_comparison_is_equal_without_timing(engine, capsys):
    calm, slow = reports(
        engine, capsys, "compare", "request:request", "request:request", "--suite", "shop.relevance.yaml"
    )
    assert without_timing(json.loads(calm)) == without_timing(json.loads(slow))
