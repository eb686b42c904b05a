"""An item of each query is held to what `every` asks of it, whatever became of the other queries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders.shown import entries, properties
from harness.cli import main

EVERY = 'thresholds: ["every nDCG@10 >= 0.9"]'
SHOES = "shop.relevance.yaml::query.shoes"
BOOTS = "shop.relevance.yaml::query.boots"

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run_queries(run: Run) -> Run:
    return lambda *options: run("--relevance-each-query", "-rA", *options)


def test_a_query_falls_short_though_another_had_no_answer(suite: Suite, run_queries: Run, engine: Any) -> None:
    suite(EVERY)
    engine.broken["red shoes"] = 400

    result = run_queries("-k", "query")

    result.assert_outcomes(failed=1, errors=1, deselected=1)
    result.stdout.fnmatch_lines(
        ["nDCG@10 (gain exponential) is >= 0.9 for 0 of 1 query, required for every one; worst: boots 0.6309*"]
    )


def test_a_query_falls_short_though_another_is_undefined(suite: Suite, run_queries: Run) -> None:
    path = suite(EVERY)
    path.write_text(path.read_text("utf-8").replace("{a: 3, b: 1}", "{a: 0}"), "utf-8")

    run_queries(BOOTS).assert_outcomes(failed=1)
    run_queries(SHOES).assert_outcomes(failed=1)


def test_a_query_that_holds_is_not_blamed_for_another(suite: Suite, run_queries: Run, engine: Any) -> None:
    suite(EVERY)
    engine.broken["rubber boots"] = 400

    run_queries(SHOES).assert_outcomes(passed=1)


@pytest.mark.parametrize(("tag", "outcomes"), [("head", {"passed": 1}), ("tail", {"failed": 1})])
def test_a_selection_by_tag_holds_its_queries_to_the_thresholds_on_every_query(
    suite: Suite, run_queries: Run, tag: str, outcomes: dict[str, int]
) -> None:
    suite(EVERY)

    run_queries("--relevance-tag", tag).assert_outcomes(**outcomes, deselected=2)


def test_what_is_undefined_and_may_be_is_left_out_of_a_selection_too(suite: Suite, run_queries: Run) -> None:
    path = suite(f"{EVERY}\nundefined: skip")
    path.write_text(path.read_text("utf-8").replace("{d: 3}", "{d: 0}"), "utf-8")

    run_queries("--relevance-tag", "tail").assert_outcomes(skipped=1, deselected=2)


def test_a_waiver_of_the_threshold_is_one_for_each_query(suite: Suite, run_queries: Run) -> None:
    suite('thresholds: [{threshold: "every nDCG@10 >= 0.9", xfail: {reason: waits for synonyms}}]')

    run_queries("--relevance-tag", "tail").assert_outcomes(passed=1, deselected=2)


@pytest.mark.parametrize("bound", ["${RELEVANCE_LEAST}", "${RELEVANCE_LEAST:-0.1}"])
@pytest.mark.parametrize("options", [(), ("--relevance-tag", "tail")])
def test_a_bound_from_the_environment_holds_each_query(
    suite: Suite, run_queries: Run, monkeypatch: pytest.MonkeyPatch, bound: str, options: tuple[str, ...]
) -> None:
    suite(f'thresholds: ["every nDCG@10 >= {bound}"]')
    monkeypatch.setenv("RELEVANCE_LEAST", "0.9")

    run_queries(*options, BOOTS).assert_outcomes(failed=1, deselected=0)


def test_a_query_is_judged_by_the_suite_as_it_ran(suite: Suite, run_queries: Run, engine: Any) -> None:
    path = suite(EVERY)
    engine.before_search = lambda: path.unlink(missing_ok=True)

    run_queries("--relevance-tag", "tail").assert_outcomes(failed=1, deselected=2)


def test_a_suite_that_is_gone_when_another_process_judges_a_query_is_an_error(
    suite: Suite, run_queries: Run, engine: Any
) -> None:
    path = suite(EVERY)
    engine.before_search = lambda: path.unlink(missing_ok=True)

    result = run_queries("--relevance-tag", "tail", "-p", "xdist", "-n2", "--dist", "each")

    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*shop.relevance.yaml*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("least", [0.5, 0.9])
def test_no_query_passes_on_an_index_that_changed_during_the_run(
    suite: Suite, run_queries: Run, engine: Any, least: float
) -> None:
    suite(f'thresholds: ["every nDCG@10 >= {least}"]', shoes='expect: ["a in top 1"]')
    left = iter(range(100, 0, -1))

    def delete_one() -> None:
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        engine.gets["/products/_count?preference=relevance-harness"] = {"count": next(left), "_shards": shards}

    delete_one()
    engine.before_search = delete_one

    run_queries().assert_outcomes(errors=3)


def test_a_query_tells_its_own_value_and_not_that_of_the_worst(
    suite: Suite, run_queries: Run, engine: Any, pytester: pytest.Pytester
) -> None:
    suite(EVERY)
    engine.rankings["red shoes"] = ["c", "b", "a"]

    result = run_queries("--junit-xml=junit.xml")

    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            "*is >= 0.9 for 0 of 1 query, required for every one; worst: boots 0.6309*",
            "next: relevance show shop.relevance.yaml boots *",
            "FAILED *query.boots - 0.6309 < 0.9: every nDCG@10 >= 0.9; *",
        ]
    )
    own = [properties(entry) for entry in entries(pytester.path / "junit.xml")][1:]
    assert [one["relevance.observed"] for one in own] == [one["relevance.nDCG@10"] for one in own]
    assert len({one["relevance.observed"] for one in own}) == 2


@pytest.fixture
def saved(suite: Suite, engine: Any, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Path]:
    """A suite with one threshold, and its baseline."""

    def save(threshold: str) -> Path:
        path = suite(f'thresholds: ["{threshold}"]')
        assert main(["baseline", "save", path.name, "--url", engine.url, "-q"]) == 0
        capsys.readouterr()
        return path

    return save


@pytest.mark.parametrize("options", [(), ("--relevance-tag", "head", "--relevance-tag", "tail")])
@pytest.mark.parametrize(
    ("threshold", "observed"), [("drop every nDCG@10 <= 0.1", "drop 0."), ("every RBO@3 >= 0.9", "0.")]
)
def test_a_query_that_fell_fails_by_its_own_drop(
    saved: Callable[[str], Path], run_queries: Run, engine: Any, threshold: str, observed: str, options: tuple[str, ...]
) -> None:
    saved(threshold)
    engine.rankings["red shoes"] = ["c", "b", "a"]

    result = run_queries(*options, SHOES)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"FAILED *query.shoes - {observed}*: {threshold}; *"])
    run_queries(*options, BOOTS).assert_outcomes(passed=1)


def test_a_query_without_a_baseline_does_not_pass(suite: Suite, run_queries: Run) -> None:
    suite('thresholds: ["drop every nDCG@10 <= 0.1"]')

    result = run_queries(BOOTS)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*cannot be compared with the baseline*"])


def test_the_order_of_ties_alone_is_no_drop_of_a_query(
    saved: Callable[[str], Path], run_queries: Run, engine: Any
) -> None:
    engine.score = 1.0
    saved("drop every nDCG@10 <= 0.1")
    engine.rankings["red shoes"] = ["c", "b", "a"]

    run_queries(SHOES).assert_outcomes(passed=1)
