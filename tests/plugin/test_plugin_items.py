"""What is collected, under which ids, and how items are chosen."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import harness.suites.loading
from builders.engine import ScriptedEngine
from builders.workers import IN_A_WORKER
from harness.suites.loading import LoadedSuite, load_unchecked

THRESHOLDS = 'thresholds: ["mean nDCG@10 >= 0.8", "every nDCG@10 >= 0.6 for tail"]'
EXPECTS = 'expect: ["a in top 1", "a before b"]'
MEAN = "shop.relevance.yaml::mean-nDCG-10-ge-0.8"
TAIL = "shop.relevance.yaml::every-nDCG-10-ge-0.6-for-tail"
SHOES = "shop.relevance.yaml::query.shoes"
BOOTS = "shop.relevance.yaml::query.boots"

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


def ids(result: pytest.RunResult) -> list[str]:
    """The node ids that ``--collect-only -q`` printed."""
    return [line for line in result.outlines if "::" in line]


def ran(result: pytest.RunResult) -> list[str]:
    """The node ids that ``-v`` printed as passed."""
    return [line.split()[0] for line in result.outlines if re.search(r"::\S+ PASSED", line)]


def test_one_item_a_threshold_and_one_a_query_with_its_own(suite: Suite, run: Run) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("--collect-only", "-q")

    assert result.ret == pytest.ExitCode.OK
    assert ids(result) == [MEAN, TAIL, SHOES]


@pytest.mark.parametrize(
    ("option", "workers"),
    [
        *((option, ()) for option in ("--collect-only", "--setup-plan", "--setup-only", "--fixtures")),
        ("--fixtures-per-test", ()),
        *((option, IN_A_WORKER) for option in ("--collect-only", "--setup-plan")),
    ],
)
def test_a_session_that_runs_no_item_sends_nothing(
    suite: Suite,
    run: Run,
    engine: ScriptedEngine,
    pytester: pytest.Pytester,
    option: str,
    workers: tuple[str, ...],
) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)
    report = pytester.path / "report.json"
    report.write_text(earlier := '{"timing": {}, "harness": "of an earlier session"}')

    result = run(*workers, option, "--relevance-report", "report.json", "--relevance-update-baseline")

    assert result.ret == pytest.ExitCode.OK
    assert engine.sent == []
    assert report.read_text() == earlier
    assert not list(pytester.path.glob("*.baseline.json"))
    assert "did not run" not in result.stdout.str()


def test_an_item_of_each_query_where_that_was_asked_for(suite: Suite, run: Run) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    assert ids(run("--collect-only", "-q", "--relevance-each-query")) == [MEAN, TAIL, SHOES, BOOTS]


def test_the_ini_file_asks_for_an_item_of_each_query(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrelevance_each_query = true\n")
    suite(THRESHOLDS)

    assert ids(run("--collect-only", "-q")) == [MEAN, TAIL, SHOES, BOOTS]
    assert ids(run("--collect-only", "-q", "--no-relevance-each-query")) == [MEAN, TAIL]


@pytest.mark.smoke("pytest")
def test_the_suite_runs_once_for_all_its_items(suite: Suite, run: Run, engine: object) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("--relevance-each-query")

    result.assert_outcomes(passed=4)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


@pytest.mark.parametrize("item", [MEAN, TAIL, SHOES])
def test_an_item_runs_by_its_node_id(suite: Suite, run: Run, item: str) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("-v", item)

    assert result.ret == pytest.ExitCode.OK
    assert ran(result) == [item]


def test_suites_are_found_in_folders_beside_tests_in_python(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(THRESHOLDS, name="search/shop.relevance.yaml")
    pytester.makepyfile("def test_it(): pass")
    pytester.makefile(".yaml", deployment="suite: not one of ours by its name")

    assert ran(run("-v")) == [
        f"search/{MEAN}",
        f"search/{TAIL}",
        "test_suites_are_found_in_folders_beside_tests_in_python.py::test_it",
    ]


def test_a_suite_of_another_name_runs_where_it_is_named(suite: Suite, run: Run) -> None:
    suite(THRESHOLDS, name="shop.yaml")

    assert run("-v").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert ran(run("-v", "shop.yaml")) == [item.replace(".relevance", "") for item in (MEAN, TAIL)]
    assert ran(run("-v", "shop.yaml::mean-nDCG-10-ge-0.8")) == ["shop.yaml::mean-nDCG-10-ge-0.8"]


def test_a_yaml_file_that_is_no_suite_is_left_to_others(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", other="kind: Deployment\nspec:\n  suite: nested\n")

    result = run("other.yaml")

    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("mean", [MEAN]),
        ("tail", [TAIL]),
        ("head", [SHOES]),
        ("shoes or every", [TAIL, SHOES]),
        ("not query", [MEAN, TAIL]),
        ("shop", [MEAN, TAIL, SHOES]),
    ],
)
def test_k_knows_names_and_tags(suite: Suite, run: Run, expression: str, expected: list[str]) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    assert ids(run("--collect-only", "-q", "-k", expression)) == expected


def test_tags_are_no_markers(suite: Suite, run: Run) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("--collect-only", "-q", "-m", "head")

    assert ids(result) == []
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_deselect_takes_an_item_out(suite: Suite, run: Run) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    assert ids(run("--collect-only", "-q", "--deselect", TAIL)) == [MEAN, SHOES]


def test_relevance_tag_runs_only_the_queries_with_it(suite: Suite, run: Run, engine: object) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("-v", "--relevance-tag", "tail")

    assert ran(result) == [TAIL]
    result.assert_outcomes(passed=1, deselected=2)
    assert engine.asked == {"rubber boots": 1}


def test_several_tags_are_either_of_them(suite: Suite, run: Run) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("-v", "--relevance-tag", "tail", "--relevance-tag", "head", "--relevance-each-query")

    assert ran(result) == [TAIL, SHOES, BOOTS]


def test_relevance_query_runs_only_that_query(suite: Suite, run: Run, engine: object) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("-v", "--relevance-query", "shoes")

    assert ran(result) == [SHOES]
    result.assert_outcomes(passed=1, deselected=2)
    assert engine.asked == {"red shoes": 1}


def test_relevance_query_holds_a_query_to_the_thresholds_on_each(suite: Suite, run: Run) -> None:
    suite('thresholds: ["every nDCG@10 >= 0.1 for tail", "mean P@1 >= 0"]', shoes=EXPECTS)

    result = run("-v", "--relevance-query", "boots", "--relevance-each-query")

    assert ran(result) == [BOOTS]


def test_a_query_that_no_suite_has_is_a_usage_error(suite: Suite, run: Run, engine: object) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("--relevance-query", "shoe")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("ERROR: --relevance-query: no query has the id 'shoe'; did you mean 'shoes'?")
    assert not engine.asked


def test_a_tag_that_no_query_has_is_a_usage_error(suite: Suite, run: Run) -> None:
    suite(THRESHOLDS, shoes=EXPECTS)

    result = run("--relevance-tag", "haed")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines("ERROR: --relevance-tag: no query has the tag 'haed'*'head'*")


def test_lf_runs_only_what_failed(suite: Suite, run: Run, engine: object) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.5"]', shoes=EXPECTS)
    engine.rankings["red shoes"] = ["b", "a"]
    run().assert_outcomes(passed=1, failed=1)
    engine.rankings["red shoes"] = ["a", "b"]

    assert ran(run("-v", "--lf")) == [SHOES]


def test_ff_runs_first_what_failed(suite: Suite, run: Run, engine: object) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.5"]', shoes=EXPECTS)
    engine.rankings["red shoes"] = ["b", "a"]
    run().assert_outcomes(passed=1, failed=1)
    engine.rankings["red shoes"] = ["a", "b"]

    assert ran(run("-v", "--ff")) == [SHOES, MEAN.replace("0.8", "0.5")]


@pytest.mark.parametrize("folder", ["", "sub"])
def test_suites_outside_of_the_rootdir_are_chosen_as_others_are(
    suite: Suite, run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    pytester.mkdir("ci").joinpath("pytest.ini").write_text("[pytest]\n")
    (pytester.path / "sub").mkdir()
    monkeypatch.chdir(pytester.path / folder)
    inside = suite('thresholds: ["mean nDCG@10 >= 0.9"]', name="ci/a.relevance.yaml")
    first, second = (suite('thresholds: ["mean nDCG@10 >= 0.9"]', name=f"s{n}/a.relevance.yaml") for n in (1, 2))
    first.write_text(first.read_text().replace("0.9", "0.8"))

    def chosen(*words: str) -> list[str]:
        result = run("-v", "-c", str(pytester.path / "ci/pytest.ini"), *words)
        return sorted(line.split()[0] for line in result.outlines if re.search(r"::\S+ (PASSED|FAILED)", line))

    named = [str(path) for path in (inside, first, second)]
    limits = (0.9, 0.8, 0.9)
    ids = [os.path.relpath(f"{path}::mean-nDCG-10-ge-{limit}") for path, limit in zip(named, limits, strict=True)]
    assert chosen(*named) == sorted(ids)
    assert chosen(ids[2]) == ids[2:]
    assert chosen(*named, "--lf") == sorted([ids[0], ids[2]])
    assert chosen(*named, "--deselect", f"{second}::") == sorted(ids[:2])
    assert chosen(*named, "-k", "ge-0.8") == [ids[1]]


@pytest.mark.parametrize(("option", "failed"), [("-x", 1), ("--maxfail=2", 2)])
def test_x_and_maxfail_stop(suite: Suite, run: Run, engine: object, option: str, failed: int) -> None:
    suite(THRESHOLDS.replace("0.6", "0.9").replace("0.8", "0.99"), shoes=EXPECTS)
    engine.rankings["red shoes"] = ["b", "a"]

    run().assert_outcomes(failed=3)
    run(option).assert_outcomes(failed=failed)


def test_ids_of_foreign_letters_can_be_chosen(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    path = suite("", shoes='expect: ["a in top 1"]')
    text = (
        path.read_text(encoding="utf-8")
        .replace("id: shoes", "id: Größe [42] a/b::c")
        .replace("red shoes", "rote “Schuhe”")
    )
    path.write_text(text, encoding="utf-8")
    engine.rankings["rote “Schuhe”"] = ["a"]

    [item] = ids(run("--collect-only", "-q"))

    assert item == "shop.relevance.yaml::query.Größe-42-a-b-c"
    assert ran(run("-v", item)) == [item]


def test_two_thousand_queries_have_two_thousand_ids(pytester: pytest.Pytester, run: Run) -> None:
    queries = "".join(
        f"  - {{id: q {number}, text: t, judgments: {{a: 1}}, thresholds: ['nDCG@10 >= 0.5']}}\n"
        for number in range(2000)
    )
    head = "suite: s\ntarget: {index: i}\nrequest: {query: {match: {title: '{{text}}'}}}\nmeasures: ['nDCG@10']\n"
    pytester.makefile(".relevance.yaml", large=f"{head}queries:\n{queries}")

    collected = ids(run("--collect-only", "-q"))

    assert len(set(collected)) == 2000
    assert collected[-1] == "large.relevance.yaml::query.q-1999"


def test_sigterm_during_a_run_ends_the_session_as_an_interrupt_does(
    suite: Callable[..., Path], engine: ScriptedEngine, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    engine.before_search = lambda: process.send_signal(signal.SIGTERM)

    words = ["-p", "relevance", "--relevance-url", engine.url, "-W", "error"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *words], cwd=pytester.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    process.communicate(timeout=60)

    assert process.returncode == pytest.ExitCode.INTERRUPTED


@pytest.mark.parametrize("options", [("--relevance-query", "boots"), ("--relevance-tag", "tail")])
def test_a_missing_document_of_the_only_query_that_runs_is_no_wrong_target(
    suite: Suite, run: Run, engine: ScriptedEngine, options: tuple[str, str]
) -> None:
    suite(boots='expect: ["x in top 1"]')
    engine.rankings["rubber boots"] = ["x"]

    run(*options).assert_outcomes(passed=1)


@pytest.mark.parametrize(("least", "times"), [("0.8", 1), ("${RELEVANCE_LEAST:-0.8}", 2)], ids=["plain", "variable"])
def test_a_suite_without_variables_is_loaded_once(
    suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch, least: str, times: int
) -> None:
    """One with variables is collected without the environment, so that its run loads it with it."""
    loaded = []

    def load(path: Path, *arguments: object, **options: object) -> LoadedSuite:
        loaded.append(path.name)
        return load_unchecked(path, *arguments, **options)

    monkeypatch.setattr(harness.suites.loading, "load_unchecked", load)
    suite(f'thresholds: ["mean nDCG@10 >= {least}"]')
    run().assert_outcomes(passed=1)
    assert loaded == ["shop.relevance.yaml"] * times
