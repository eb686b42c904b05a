"""Runs of a session that are kept in a history."""

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.workers import IN_TWO_WORKERS
from harness.store.history_files import read_history

MORE = 'thresholds: ["mean nDCG@10 >= 0.8", "every nDCG@10 >= 0.6"]'
Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.mark.parametrize("options", [[], IN_TWO_WORKERS])
def test_each_suite_of_a_session_is_kept_once(
    suite: Suite, run: Run, pytester: pytest.Pytester, options: list[str]
) -> None:
    suite(MORE, shoes='expect: ["a in top 1"]')

    result = run(*options, "--relevance-history", "kept", "--relevance-each-query")

    assert result.ret == pytest.ExitCode.OK
    [entry] = read_history(pytester.path / "kept", "shop")
    assert entry.measures["nDCG@10"].mean == pytest.approx(0.8155, abs=1e-4)
    result.stdout.fnmatch_lines(["*kept in kept/shop/*.json*"])


def test_a_line_of_the_ini_file_and_one_of_the_configuration_name_the_folder(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(MORE)
    pytester.makeini("[pytest]\nrelevance_history = of_ini\n")
    run()
    pytester.makefile(".toml", relevance='history = "of_toml"')
    pytester.makeini("[pytest]\n")
    run()
    assert len(read_history(pytester.path / "of_ini", "shop")) == 1
    assert len(read_history(pytester.path / "of_toml", "shop")) == 1


def test_a_part_of_a_suite_is_not_kept(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MORE, shoes='expect: ["a in top 1"]')
    run("--relevance-history", "kept", "--relevance-tag", "head")
    assert read_history(pytester.path / "kept", "shop") == []


def test_each_request_and_index_is_kept(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MORE)
    run("--relevance-history", "kept", "--relevance-index", "products", "--relevance-index", "other")
    entries = read_history(pytester.path / "kept", "shop")
    assert {entry.series for entry in entries} == {("shop", "request", ""), ("shop", "request", "other")}


def test_a_folder_that_cannot_be_written_fails_the_session(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MORE)
    (pytester.path / "kept").write_text("")
    result = run("--relevance-history", "kept")
    result.stdout.fnmatch_lines(["*the history *kept* cannot be written*"])
    assert result.ret != pytest.ExitCode.OK


@pytest.mark.parametrize("options", [[], IN_TWO_WORKERS])
def test_a_drop_since_earlier_runs_fails_its_item_and_those_of_its_queries(
    suite: Suite, run: Run, engine: ScriptedEngine, options: list[str]
) -> None:
    suite('thresholds: ["drop every nDCG@10 <= 0.1 since 2 runs"]')
    kept = ["--relevance-history", "kept", "--relevance-each-query", *options]
    for _ in range(2):
        run(*kept).assert_outcomes(failed=3)
    run(*kept).assert_outcomes(passed=3)
    engine.rankings["rubber boots"] = ["e"]

    result = run(*kept)

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*compared with the median of each query in the last 2 runs*"])
