"""Thresholds that compare a request with another: what a run sends for them, what it prints, and its exit status."""

import json
from pathlib import Path

import pytest

from builders.suites import write_changed
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
requests:
  approximate: {query: {match: {title: "{{text}}"}}}
  exact: {query: {match: {title: "exact {{text}}"}}}
thresholds:
  - mean overlap@3 with request exact >= 0.9
queries:
  - {id: shoes, text: red shoes}
  - {id: boots, text: rubber boots}
"""
RIGHT = {"exact red shoes": ["a", "b", "c"], "exact rubber boots": ["e", "d"]}


@pytest.fixture
def engine(working_folder, engine, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    write_changed(SUITE)
    engine.rankings |= RIGHT
    return engine


def run(engine, *words):
    return main(["run", "shop.relevance.yaml", "--url", engine.url, *words])


def list_sent(engine):
    """The texts of the searches that were sent for queries, each as often as it was, sorted."""
    return sorted(engine.asked.elements())


BOTH = ["exact red shoes", "exact rubber boots", "red shoes", "rubber boots"]


def test_a_suite_without_judgments_runs_with_the_other_request(engine, capsys):
    assert run(engine, "--output", "json=report.json") == 0
    printed = capsys.readouterr()
    assert "passed  mean overlap@3 with request exact >= 0.9  1.0000" in printed.out
    assert "judged" not in printed.out
    assert "judgments" not in printed.err
    assert list_sent(engine) == BOTH
    [suite] = json.loads(Path("report.json").read_text())["suites"]
    assert (suite["request"], [verdict["status"] for verdict in suite["verdicts"]]) == ("approximate", ["passed"])


def test_a_search_that_misses_documents_fails(engine, capsys):
    engine.rankings["red shoes"] = ["a", "x", "y"]
    assert run(engine) == 1
    assert "overlap@3 with request exact" in capsys.readouterr().out


def test_all_requests_send_each_request_once(engine, capsys):
    assert run(engine, "--all-requests") == 0
    assert list_sent(engine) == BOTH
    printed = capsys.readouterr()
    assert "the request 'exact' gates nothing" in printed.out
    assert "1 threshold: 1 passed" in printed.out
    lines = [line.partition(" in ")[0] for line in printed.err.splitlines() if line.startswith("shop")]
    assert lines == [
        "shop, request exact: 2 queries to run",
        "shop, request approximate: 2 queries to run",
        "shop, request approximate: 1 passed",
        "shop, request exact: no threshold",
    ]


def test_the_other_request_alone_decides_nothing_and_is_sent_alone(engine, capsys):
    assert run(engine, "--request", "exact") == 1
    assert list_sent(engine) == BOTH[:2]
    assert "no threshold is for the request exact" in capsys.readouterr().err


def test_a_query_that_the_other_request_does_not_answer_is_an_error(engine, capsys):
    engine.broken["exact red shoes"] = 500
    assert run(engine) == 3
    printed = capsys.readouterr().out
    assert "no ranking for 1 query: shoes (with request exact: engine error (500): " in printed
    [row] = [line.split() for line in printed.splitlines() if line.split()[:2] == ["shoes", "exact"]]
    assert row[2:5] == ["with", "request", "exact:"]


def test_an_index_that_is_named_is_that_of_both(engine):
    engine.on_index = {("v2", text): found for text, found in RIGHT.items()}
    engine.on_index |= {("v2", "red shoes"): ["x"], ("v2", "rubber boots"): ["x"]}
    assert run(engine, "--index", "v1", "-q") == 0
    assert run(engine, "--index", "v2", "-q") == 1


def test_a_repeated_run_sends_the_other_request_once(engine):
    assert run(engine, "--repeat", "3", "-q") == 0
    assert list_sent(engine).count("exact red shoes") == 1
    assert list_sent(engine).count("red shoes") == 3


def test_parts_of_a_run_are_merged_with_those_of_the_other_request(engine, capsys):
    for part in ("1/2", "2/2"):
        assert run(engine, "--shard", part, "--journal", f"{part[0]}.journal") == 0
    assert list_sent(engine) == BOTH
    assert main(["merge", "1.journal", "2.journal"]) == 0
    assert "passed  mean overlap@3 with request exact >= 0.9  1.0000" in capsys.readouterr().out
    assert list_sent(engine) == BOTH


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            [("with request exact", "with request exakt")],
            "found no request 'exakt', known are approximate, exact; did you mean 'exact'?",
        ),
        (
            [('  exact: {query: {match: {title: "exact {{text}}"}}}\n', "")],
            "found no request 'exact', known are approximate",
        ),
        (
            [('  approximate: {query: {match: {title: "{{text}}"}}}\n', "")],
            "the threshold compares the request 'exact' with itself: the suite has no other request",
        ),
        (
            [(
                "  - mean overlap@3 with request exact >= 0.9",
                "  - {threshold: mean overlap@3 with request exact >= 0.9, requests: [exact]}",
            )],
            "the threshold compares the request 'exact' with itself; remove it here",
        ),
        (
            [("thresholds:", "depth: 2\nthresholds:")],
            "depth 2 is too shallow for 'mean overlap@3 with request exact >= 0.9', which needs 3 hits",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_a_problem_of_the_suite(engine, capsys, changes, sentence):
    write_changed(SUITE, *changes)
    assert main(["validate", "shop.relevance.yaml"]) == 2
    assert sentence in capsys.readouterr().err


def test_reports_show_the_hits_that_were_missed_by_rank_and_score(engine, capsys):
    engine.rankings["red shoes"] = ["a", "x", "y"]
    outputs = [f"{kind}=report.{kind}" for kind in ("html", "markdown", "json", "junit")]
    assert run(engine, *[word for output in outputs for word in ("--output", output)]) == 1
    printed = capsys.readouterr().out
    assert "missed hit of exact" in printed
    rows = [line.split() for line in printed.splitlines()]
    assert ["b", "2", "8"] in rows
    assert ["c", "3", "7"] in rows
    assert ["shoes", "exact", "2", "of", "3", "0.3333"] in rows
    [suite] = json.loads(Path("report.json").read_text())["suites"]
    [compared] = suite["queries"][0]["compared"]
    assert (compared["request"], compared["depth"], compared["hits"]) == ("exact", 3, 3)
    assert [(hit["id"], hit["rank"], hit["score"]) for hit in compared["missed"]] == [("b", 2, 8.0), ("c", 3, 7.0)]
    assert suite["queries"][1]["compared"][0]["missed"] == []
    page = Path("report.html").read_text()
    assert "Missed hits of" in page
    assert ": rank 2, score 8</li>" in page
    for name in ("report.markdown", "report.junit"):
        assert "missed hit of exact" in Path(name).read_text()


def test_all_requests_have_their_agreement_and_latency_in_one_table(engine, capsys):
    engine.rankings["red shoes"] = ["a", "x", "y"]
    assert run(engine, "--all-requests") == 1
    printed = capsys.readouterr().out
    [heading] = [line for line in printed.splitlines() if "p95 ms" in line]
    assert heading.split("overlap@3 with exact")[1].split() == ["p95", "ms", "queries", "held", "failed", "errors"]
    [row] = [line.split() for line in printed.splitlines() if "approximate  " in line and "0.6667" in line]
    assert row[:3] == ["shop", "approximate", "0.6667"]


def test_the_other_request_may_be_of_another_index(engine):
    exact = '  exact: {query: {match: {title: "exact {{text}}"}}}\n'
    write_changed(SUITE, (exact, '  exact: {body: {query: {match: {title: "{{text}}"}}}, index: copy}\n'))
    assert run(engine, "-q") == 0
    engine.on_index = {("copy", "red shoes"): ["x", "y", "z"]}
    assert run(engine, "-q") == 1


@pytest.mark.parametrize("text", ["rubber boots", "exact rubber boots"])
def test_a_resumed_run_sends_no_answered_request_again(engine, text):
    engine.broken[text] = 500
    assert run(engine, "-q", "--journal", "run.journal") == 3
    del engine.broken[text]
    engine.asked.clear()
    assert run(engine, "-q", "--journal", "run.journal", "--resume") == 0
    assert list_sent(engine) == [text]


def test_a_query_that_is_skipped_is_compared_with_no_request(engine, capsys):
    write_changed(SUITE, ("text: red shoes}", "text: red shoes, skip: {reason: out of season}}"))
    assert run(engine, "--output", "json=report.json") == 0
    assert "did not run" not in capsys.readouterr().out
    [suite] = json.loads(Path("report.json").read_text())["suites"]
    assert [len(query["compared"]) for query in suite["queries"]] == [0, 1]


def test_show_has_the_hits_that_a_query_misses(engine, capsys):
    engine.rankings["red shoes"] = ["a", "x", "y"]
    assert main(["show", "shop.relevance.yaml", "shoes", "--url", engine.url]) == 0
    printed = capsys.readouterr().out
    assert "missed hit of exact" in printed
    assert ["b", "2", "8"] in [line.split() for line in printed.splitlines()]
    assert list_sent(engine) == ["exact red shoes", "red shoes"]


def test_show_of_the_other_request_sends_it_alone(engine, capsys):
    assert main(["show", "shop.relevance.yaml", "shoes", "--url", engine.url, "--request", "exact"]) == 0
    assert "missed hit" not in capsys.readouterr().out
    assert list_sent(engine) == ["exact red shoes"]


def test_a_report_that_decides_nothing_lacks_the_answers_of_the_other_request(engine):
    assert run(engine, "--report-only") == 0
    engine.broken["exact red shoes"] = 500
    assert run(engine, "--report-only") == 3
