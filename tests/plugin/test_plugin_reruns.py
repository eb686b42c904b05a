"""Items that run more than once, as pytest-rerunfailures has them do."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builders.engine import Fault, ScriptedEngine
from builders.workers import IN_TWO_WORKERS

pytest.importorskip("pytest_rerunfailures", reason="pytest-rerunfailures is not installed")

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'
EXPECTS = 'expect: ["a in top 1"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


RERUNS = ("-p", "pytest_rerunfailures", "--reruns", "2")


@pytest.fixture
def rerun(run: Run) -> Run:
    """Runs pytest, and each item that does not hold up to twice more."""
    return lambda *options: run(*RERUNS, *options)


@pytest.fixture
def rerun_in_two(run: Run, engine: ScriptedEngine, pytester: pytest.Pytester) -> Run:
    """As *rerun*, with two workers, and in a process of its own, as the plugin leaves its sockets open."""
    options = ("-p", "relevance", "--relevance-url", engine.url, "-p", "xdist", "-n2", *RERUNS)
    return lambda *others: pytester.runpytest_subprocess(*options, *others)


def fail(engine: ScriptedEngine, text: str, times: int) -> None:
    """The first *times* searches for *text* end with an error; those after them are answered."""

    def before_search() -> None:
        if engine.asked[text] < times:
            engine.broken[text] = 400
        else:
            engine.broken.pop(text, None)

    engine.before_search = before_search


def properties(folder: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The name of each entry in JUnit XML, of which each attempt of an item has one, and its properties."""
    for entry in ET.parse(folder / "junit.xml").iter("testcase"):
        yield entry.attrib["name"], [(one.attrib["name"], one.attrib["value"]) for one in entry.iter("property")]


def test_a_query_without_an_answer_is_asked_again_and_what_was_answered_stays(
    suite: Suite, rerun: Run, engine: ScriptedEngine, pytester: pytest.Pytester
) -> None:
    suite(MEAN, shoes=EXPECTS)
    fail(engine, "red shoes", 1)

    result = rerun("--relevance-report", "report.json")

    result.assert_outcomes(passed=2)
    assert engine.asked == {"red shoes": 2, "rubber boots": 1}
    [report] = json.loads((pytester.path / "report.json").read_text())["suites"]
    assert [query["outcome"] for query in report["queries"]] == ["scored", "scored"]
    assert [verdict["status"] for verdict in report["verdicts"]] == ["passed", "passed"]
    result.stdout.fnmatch_lines(["shop: nDCG@10 0.8155*"])


def test_what_an_item_was_decided_on_is_what_the_report_holds(
    suite: Suite, rerun: Run, engine: ScriptedEngine, pytester: pytest.Pytester
) -> None:
    """The index changes between the run and the rerun: an item that passed is not told otherwise in the report."""
    suite(shoes=EXPECTS, boots='expect: ["e in top 1"]')
    engine.broken["rubber boots"] = 400

    def index_changes() -> None:
        if engine.asked["rubber boots"]:
            del engine.broken["rubber boots"]
            engine.rankings["red shoes"] = ["c", "b", "a"]

    engine.before_search = index_changes
    rerun("--relevance-report", "report.json").assert_outcomes(passed=2)

    [report] = json.loads((pytester.path / "report.json").read_text())["suites"]
    assert [verdict["status"] for verdict in report["verdicts"]] == ["passed", "passed"]


def test_an_error_that_stays_is_asked_for_once_a_run(suite: Suite, rerun: Run, engine: ScriptedEngine) -> None:
    suite(MEAN)
    fail(engine, "red shoes", 10)

    rerun().assert_outcomes(errors=1)

    assert engine.asked == {"red shoes": 3, "rubber boots": 1}


def test_a_suite_that_could_not_be_asked_at_all_is_asked_again(
    suite: Suite, rerun: Run, engine: ScriptedEngine
) -> None:
    suite(MEAN)
    engine.faults = [Fault("/", 400)]

    rerun().assert_outcomes(passed=1)

    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


def test_a_shortfall_is_decided_once(suite: Suite, rerun: Run, engine: ScriptedEngine) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.9"]')

    rerun().assert_outcomes(failed=1)

    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


def test_a_test_that_runs_again_has_its_suite_asked_again_where_that_had_no_answer(
    suite: Suite, rerun: Run, engine: ScriptedEngine, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makepyfile(
        test_it="""
        def test_first(relevance):
            relevance.run("shop.relevance.yaml").assert_thresholds()

        def test_second(relevance):
            relevance.run("shop.relevance.yaml").assert_thresholds()
        """
    )
    fail(engine, "red shoes", 1)

    rerun("test_it.py").assert_outcomes(passed=2)

    assert engine.asked == {"red shoes": 2, "rubber boots": 1}


@pytest.mark.parametrize("workers", [(), IN_TWO_WORKERS], ids=["alone", "workers"])
def test_properties_stand_once_however_often_an_item_ran(
    suite: Suite, rerun: Run, engine: ScriptedEngine, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.9", "median nDCG@10 >= 0.9"]', shoes=EXPECTS)
    fail(engine, "rubber boots", 1)

    rerun("--junit-xml=junit.xml", *workers).assert_outcomes(passed=1, failed=2)

    for _, entry in properties(pytester.path):
        names = [name for name, _ in entry]
        assert sorted(names) == sorted(set(names))
    assert {item: dict(entry)["relevance.verdict"] for item, entry in properties(pytester.path)} == {
        "mean-nDCG-10-ge-0.9": "failed",
        "median-nDCG-10-ge-0.9": "failed",
        "query.shoes": "passed",
    }


def test_properties_of_others_stay(suite: Suite, rerun: Run, engine: ScriptedEngine, pytester: pytest.Pytester) -> None:
    suite(MEAN)
    pytester.makeconftest("def pytest_itemcollected(item): item.user_properties.append(('owner', 'search team'))")
    fail(engine, "rubber boots", 1)

    rerun("--junit-xml=junit.xml").assert_outcomes(passed=1)

    _, last = list(properties(pytester.path))[-1]
    assert last.count(("owner", "search team")) == 1
    assert last.count(("relevance.verdict", "passed")) == 1
    assert ("relevance.verdict", "error") not in last


def test_workers_share_what_was_asked_again(suite: Suite, rerun_in_two: Run, engine: ScriptedEngine) -> None:
    thresholds = ", ".join(f'"mean nDCG@10 >= 0.{number}"' for number in range(10, 18))
    suite(f"thresholds: [{thresholds}]")
    fail(engine, "red shoes", 1)

    rerun_in_two().assert_outcomes(passed=8)

    assert engine.asked == {"red shoes": 2, "rubber boots": 1}
