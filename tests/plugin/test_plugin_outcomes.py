"""What becomes of items of queries, and what a failure shows; each outcome by itself is in the table of decision 1."""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from builders.engine import ROOT, ScriptedEngine
from builders.workers import IN_A_WORKER
from harness import __version__
from harness.cli import main

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'
TOO_HIGH = 'thresholds: ["mean nDCG@10 >= 0.9"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def junit(run: Run, pytester: pytest.Pytester) -> Callable[..., tuple[pytest.RunResult, dict[str, ET.Element]]]:
    """Runs pytest and reads its JUnit XML: test cases by name."""

    def run_and_read(*options: str) -> tuple[pytest.RunResult, dict[str, ET.Element]]:
        result = run("--junitxml=junit.xml", "-o", "junit_family=xunit1", *options)
        tree = ET.parse(pytester.path / "junit.xml")
        return result, {case.attrib["name"]: case for case in tree.iter("testcase")}

    return run_and_read


def properties(case: ET.Element) -> dict[str, str]:
    return {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")}


def test_a_threshold_that_holds_passes(suite: Suite, junit: Callable[..., tuple]) -> None:
    suite(MEAN)

    result, cases = junit()

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1)
    case = cases["mean-nDCG-10-ge-0.8"]
    assert len(case) == 1, "nothing but its properties"
    assert case.attrib["classname"] == "shop.relevance.yaml"
    assert properties(case)["relevance.threshold"] == "mean nDCG@10 >= 0.8"
    assert float(properties(case)["relevance.observed"]) == pytest.approx(0.8155, abs=1e-4)
    assert properties(case)["relevance.gain"] == "exponential"


def test_a_shortfall_is_a_failure_that_shows_the_worst_query(suite: Suite, junit: Callable[..., tuple]) -> None:
    suite(TOO_HIGH)

    result, cases = junit()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "mean nDCG@10 (gain exponential) is 0.8155, required >= 0.9, over 2 queries; worst: boots 0.6309; "
            "1 of 2 hits of this query is unjudged",
            "*mean nDCG@10 >= 0.9 (shop.relevance.yaml:6:*",
            "query boots  rubber boots*0.6309*",
            "*1*e*unjudged*",
            "*2*d*3*7*",
            "FAILED shop.relevance.yaml::mean-nDCG-10-ge-0.9 - 0.8155 < 0.9: mean nDCG@10 >= 0.9; *",
        ]
    )
    result.stdout.no_fnmatch_line("*harness/collecting*")
    [failure] = cases["mean-nDCG-10-ge-0.9"].findall("failure")
    assert "required >= 0.9" in failure.attrib["message"]
    assert "rubber boots" not in failure.attrib["message"]
    assert "rubber boots" in (failure.text or "")


def test_missing_relevant_documents_are_shown_with_their_rank(suite: Suite, run: Run, engine: object) -> None:
    engine.rankings["rubber boots"] = [*"efghijklmnop", "d"]
    suite(TOO_HIGH)

    result = run()

    result.stdout.fnmatch_lines(["query boots*", "*missing*", "*d*3*at rank 13*"])


def test_an_undefined_query_is_left_out_where_the_suite_says_so(suite: Suite, run: Run) -> None:
    path = suite(f"undefined: skip\n{MEAN}")
    path.write_text(path.read_text().replace("{d: 3}", "{d: 0}"))

    result = run("--relevance-each-query", "-rs")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["shop: *undefined: 1*", "SKIPPED * shop.relevance.yaml:*undefined*"])


def test_an_error_is_an_error_of_each_query_too(suite: Suite, run: Run, engine: object) -> None:
    engine.broken["rubber boots"] = 400
    suite("")

    result = run("--relevance-each-query")

    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines("query boots: error: *no such thing*")


def test_each_query_fails_where_every_threshold_blames_it(suite: Suite, run: Run) -> None:
    suite('thresholds: ["every nDCG@10 >= 0.9"]')

    result = run("--relevance-each-query", "-v")

    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["*::query.shoes PASSED*", "*::query.boots FAILED*"])


def test_an_expectation_that_does_not_hold_says_where_the_document_is(suite: Suite, run: Run) -> None:
    suite("", shoes='expect: ["b in top 1", "c not in top 3", "hits >= 3"]')

    result = run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*b is at rank 2, required in the top 1*", "query shoes*red shoes*"])
    result.stdout.fnmatch_lines(["*c is at rank 3*"])


def test_a_query_s_item_tells_its_outcome(suite: Suite, junit: Callable[..., tuple], engine: object) -> None:
    engine.rankings |= {"rubber boots": [], "what nobody asks": ["d"]}
    path = suite()
    path.write_text(path.read_text().replace("{a: 3, b: 1}", "{a: 0}"))

    result, cases = junit("--relevance-each-query")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["query shoes: undefined*", "shop: *zero hits: 1, undefined: 1*"])
    assert properties(cases["query.boots"])["relevance.outcome"] == "zero hits"
    assert float(properties(cases["query.boots"])["relevance.nDCG@10"]) == 0
    assert properties(cases["query.shoes"])["relevance.outcome"] == "undefined"


@pytest.mark.parametrize("workers", [(), IN_A_WORKER], ids=["alone", "workers"])
def test_an_entry_of_junit_xml_tells_what_it_was_made_with(
    suite: Suite, junit: Callable[..., tuple], engine: object, workers: tuple[str, ...]
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8", "drop nDCG@10 <= 0.02"]', boots='expect: ["d in top 3"]')
    day = date.today()
    assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 0
    days = {day.isoformat(), date.today().isoformat()}

    _, cases = junit(*workers)

    assert set(cases) == {"mean-nDCG-10-ge-0.8", "drop-nDCG-10-le-0.02", "query.boots"}
    for name, place in [("mean-nDCG-10-ge-0.8", "6:14"), ("drop-nDCG-10-le-0.02", "6:37"), ("query.boots", "13:9")]:
        found = properties(cases[name])
        assert found["relevance.place"] == f"shop.relevance.yaml:{place}"
        assert {
            key: found[f"relevance.{key}"] for key in ("suite", "request", "index", "profile", "gain", "engine")
        } == {
            "suite": "shop",
            "request": "request",
            "index": "products",
            "profile": "standard",
            "gain": "exponential",
            "engine": "elasticsearch 9.4.3",
        }
        assert (found["relevance.cluster"], found["relevance.harness"]) == (engine.url, __version__)
        assert found["relevance.baseline"] in days
        assert "relevance.baseline-changes" not in found
        assert found["relevance.verdict"] == "passed"
    assert properties(cases["query.boots"])["relevance.query"] == "boots"


CHANGES = {
    "a threshold is added": ('["mean nDCG@10 >= 0.8"]', '["mean nDCG@10 >= 0.8", "every nDCG@10 >= 0.99"]'),
    "a threshold is changed": ('["mean nDCG@10 >= 0.8"]', '["mean nDCG@10 >= 0.7"]'),
    "a query gets a threshold": ("judgments: {d: 3}", 'judgments: {d: 3}\n    thresholds: ["nDCG@10 >= 0.99"]'),
    "a query gets an expectation": ("judgments: {d: 3}", 'judgments: {d: 3}\n    expect: ["d in top 1"]'),
    "a query with a threshold is added": (
        "  - id: boots",
        '  - {id: wellies, text: rubber boots, judgments: {d: 3}, thresholds: ["nDCG@10 >= 0.99"]}\n  - id: boots',
    ),
}


@pytest.mark.parametrize("options", [(), IN_A_WORKER, ("--relevance-each-query",)], ids=str)
@pytest.mark.parametrize("change", CHANGES)
def test_what_comes_to_a_suite_after_it_was_collected_does_not_pass(
    suite: Suite, run: Run, pytester: pytest.Pytester, change: str, options: tuple[str, ...]
) -> None:
    suite(MEAN, shoes='expect: ["a in top 1"]')
    pytester.makeconftest(
        f"""
        import os
        from pathlib import Path

        import pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_protocol():
            suite = Path(__file__).with_name("shop.relevance.yaml")
            before, after = {CHANGES[change]!r}
            text = suite.read_text()
            changed = suite.with_name(f"{{os.getpid()}}.part")
            changed.write_text(text if after in text else text.replace(before, after))
            changed.replace(suite)
        """
    )

    result = run(*options)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert result.parseoutcomes().keys() == {"errors"}
    result.stdout.fnmatch_lines(["*the suite was changed while it was tested*"])


SKIP = "skip: {reason: waits for synonyms}"


@pytest.mark.parametrize(
    ("thresholds", "boots"),
    [
        (f'["mean nDCG@10 >= 0.8", {{threshold: "every nDCG@10 >= 0.99", {SKIP}}}]', ""),
        ('["mean nDCG@10 >= 0.8"]', f'{SKIP}\n    thresholds: ["nDCG@10 >= 0.99"]'),
    ],
    ids=["of a threshold", "of a query"],
)
def test_a_skip_that_goes_after_the_suite_was_collected_does_not_pass(
    suite: Suite, run: Run, pytester: pytest.Pytester, thresholds: str, boots: str
) -> None:
    path = suite(f"thresholds: {thresholds}", boots=boots)
    run().assert_outcomes(passed=1, skipped=1)
    pytester.makeconftest(
        f"""
        from pathlib import Path

        def pytest_collection_finish():
            suite = Path({str(path)!r})
            suite.write_text(suite.read_text().replace({SKIP!r}, ""))
        """
    )

    result = run()

    result.assert_outcomes(errors=1, skipped=1)
    result.stdout.fnmatch_lines(["*the suite was changed while it was tested*"])


def test_one_cause_of_a_whole_suite_is_printed_once_and_stays_in_junit_xml(
    suite: Callable[..., Path], run: Run, engine: ScriptedEngine, pytester: pytest.Pytester
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8", "every nDCG@10 >= 0.5"]', shoes='expect: ["a in top 1"]')
    engine.broken |= {"red shoes": 404, "rubber boots": 404}

    result = run("--junit-xml=junit.xml", "-rN")

    result.assert_outcomes(errors=3)
    brief = 'no query of shop has an answer; the section "relevance" below says why'
    assert result.outlines.count(brief) == 3
    [cause] = [line for line in result.outlines if "404" in line or "broken" in line]
    assert cause.startswith("shop: 2 queries with outcome error: ")
    messages = [entry.get("message") for entry in ET.parse(pytester.path / "junit.xml").getroot().iter("error")]
    assert len(messages) == 3
    assert all("cannot be decided" in str(message) and brief not in str(message) for message in messages)


def test_causes_that_differ_are_printed_where_they_are(
    suite: Callable[..., Path], run: Run, engine: ScriptedEngine
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    engine.broken |= {"red shoes": 404}

    result = run()

    assert not [line for line in result.outlines if "has an answer" in line]


def test_what_could_not_be_checked_is_printed_at_the_end(suite: Suite, run: Run, engine: ScriptedEngine) -> None:
    """`not in top` does not pass for a document of which nobody knows whether it is there."""

    def refuse_look_up(answer: dict[str, Any]) -> dict[str, Any]:
        if len(answer["responses"]) > 3:  # the sample, the judged documents, those of expectations, the queries
            reason = {"type": "security_exception", "reason": "no permission"}
            answer["responses"][2] = {"error": reason, "status": 403}
        return answer

    suite(shoes='expect: ["x not in top 3"]')
    engine.change_all = refuse_look_up

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines("shop: judged documents were not looked up: engine error (403)*no permission*")
    result.stdout.fnmatch_lines("*cannot be decided: whether x is visible is unknown, as it could not be looked up*")


@pytest.mark.parametrize("hostile", ["##[stop-commands]x", "##vso[task.x]y", "::error::x", "\x1b[2Jx"])
@pytest.mark.parametrize("options", [["-v"], ["-vv"], ["-q", "-rA"], []])
def test_no_node_id_is_a_command_of_a_log(
    suite: Suite, engine: ScriptedEngine, pytester: pytest.Pytester, hostile: str, options: list[str]
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.99"]', shoes="expect: [\"'a' in top 1\"]")
    [path] = pytester.path.glob("*.relevance.yaml")
    path.rename(path.with_name(f"{hostile}.relevance.yaml"))

    result = pytester.runpytest("-p", "no:cacheprovider", "--relevance-url", engine.url, *options)

    assert result.parseoutcomes()
    for line in result.outlines:
        assert not re.search(r"^\s*::|##(vso|teamcity)?\[", line)
        assert "\x1b[2J" not in line


@pytest.mark.parametrize(
    "hostile", ["::stop-commands::x", "##[stop-commands]x", "##vso[x]", "\x1b[2J", "\u202ex", "\x9b2J"]
)
def test_what_an_index_returns_is_no_command_of_a_log_and_no_control(
    suite: Suite, junit: Callable[..., tuple], engine: ScriptedEngine, pytester: pytest.Pytester, hostile: str
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.99"]', shoes="expect: [\"'a' in top 1\"]")
    engine.rankings |= {"red shoes": [hostile, "a", "b"], "rubber boots": [hostile, "d"]}
    engine.root = {**ROOT, "version": {**ROOT["version"], "number": f"9.1.0{hostile}"}}

    result, _ = junit("--relevance-each-query", "-rA")

    written = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    for text in (*result.outlines, *result.errlines, *written.splitlines()):
        assert not re.search(r"^\s*::|##(vso|teamcity)?\[", text)
        assert not [name for name in text if unicodedata.category(name) in ("Cc", "Cf")]


def test_one_query_without_a_score_is_one_cause_of_several_failures(suite: Suite, run: Run) -> None:
    path = suite('thresholds: ["mean nDCG@10 >= 0.1", "median nDCG@10 >= 0.2", "every nDCG@10 >= 0.3"]')
    path.write_text(path.read_text().replace("{d: 3}", "{d: 0}"))

    result = run()

    result.assert_outcomes(failed=3)
    output = result.stdout.str()
    assert "shop: 3 thresholds fail for one reason: mean nDCG@10" in output
    assert output.count("no score for boots, as for mean nDCG@10 >= 0.1") >= 2
    summary = output.partition("short test summary info")[2]
    assert summary.count("is undefined for 1 of 2 queries: boots") <= 1
