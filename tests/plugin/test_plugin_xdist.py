"""
Under pytest-xdist a suite runs once over all workers, and only the controller reports.

These sessions start processes: each way to give out items, each field that a worker sends, each file that the
controller writes, and what ends a worker. What else workers change is shown with `builders.workers`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.shown import entries, properties
from harness.model.run import Status
from harness.report.json import loads_report
from harness.store.history_files import read_history

MORE = 'thresholds: ["mean nDCG@10 >= 0.8", "median nDCG@10 >= 0.8", "every nDCG@10 >= 0.6"]'
EXPECTS = 'expect: ["a in top 1"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run_in_two(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs pytest with two workers; temporary folders are made where a test can look for them."""
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("temporary")))
    monkeypatch.setattr("tempfile.tempdir", None)
    return lambda *options: run("-p", "xdist", "-n2", *options)


@pytest.mark.parametrize("mode", ["load", "loadfile", "worksteal"])
def test_with_every_dist_a_suite_runs_once(
    suite: Suite, run_in_two: Run, engine: object, pytester: pytest.Pytester, mode: str
) -> None:
    suite(MORE, shoes=EXPECTS)
    suite(MORE.replace("0.6", "0.9"), name="other.relevance.yaml")

    result = run_in_two("--dist", mode, "--relevance-each-query")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=8, failed=2)
    assert engine.asked == {"red shoes": 2, "rubber boots": 2}
    assert list((pytester.path / "temporary").iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "named"), [("load", ["suites"]), ("loadfile", ["suites/a.relevance.yaml", "suites/b.relevance.yaml"])]
)
def test_suites_outside_of_the_rootdir_all_run(
    suite: Suite, run_in_two: Run, pytester: pytest.Pytester, mode: str, named: list[str]
) -> None:
    pytester.mkdir("ci").joinpath("pytest.ini").write_text("[pytest]\n")
    suite('thresholds: ["mean nDCG@10 >= 0.8"]', name="suites/a.relevance.yaml")
    other = suite('thresholds: ["mean nDCG@10 >= 0.8"]', name="suites/b.relevance.yaml")
    other.write_text(other.read_text().replace("{d: 3}", "{d: 3, f: 3, g: 3}"))

    result = run_in_two("-c", "ci/pytest.ini", "--dist", mode, *named)

    result.assert_outcomes(passed=1, failed=1)


def test_where_every_worker_runs_everything_a_suite_still_runs_once(
    suite: Suite, run_in_two: Run, engine: object
) -> None:
    suite(MORE)

    result = run_in_two("--dist", "each")

    result.assert_outcomes(passed=6)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


def test_without_workers_there_is_nothing_to_share(suite: Suite, run: Run, engine: object) -> None:
    suite(MORE)

    result = run("-p", "xdist", "-n0")

    result.assert_outcomes(passed=3)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


def test_a_failure_looks_as_it_does_without_workers(suite: Suite, run_in_two: Run) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.9"]')

    result = run_in_two()

    result.stdout.fnmatch_lines(
        [
            "*shop: mean nDCG@10 >= 0.9*",
            "mean nDCG@10 (gain exponential) is 0.8155, required >= 0.9*",
            "query boots  rubber boots*",
            "FAILED shop.relevance.yaml::mean-nDCG-10-ge-0.9 - 0.8155 < 0.9: mean nDCG@10 >= 0.9; *",
        ]
    )


def test_an_error_reaches_the_items_of_every_worker(suite: Suite, run_in_two: Run, engine: object) -> None:
    path = suite(MORE)
    path.write_text(path.read_text().replace("index: products", "index: '${RELEVANCE_INDEX}'"))

    result = run_in_two()

    result.assert_outcomes(errors=3)
    assert engine.asked == {}
    assert result.stdout.str().count("RELEVANCE_INDEX") >= 3
    result.stdout.fnmatch_lines("*shop.relevance.yaml: did not run:*")
    assert "Traceback" not in result.stdout.str()


def test_the_controller_writes_each_file_once(
    suite: Suite, run_in_two: Run, engine: object, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    suite(MORE, shoes=EXPECTS)
    suite(MORE, name="other.relevance.yaml", boots='thresholds: ["nDCG@10 >= 0.9"]')
    names = ("out/report.json", "report.html", "report.md", "report.codequality.json")

    result = run_in_two(
        *(f"--relevance-report={name}" for name in names),
        "--junit-xml=junit.xml",
        "--relevance-github",
        "--relevance-history=kept",
        "--relevance-update-baseline",
    )

    result.assert_outcomes(passed=7, failed=1)
    assert engine.asked == {"red shoes": 2, "rubber boots": 2}
    summary = [line.partition(": nDCG@10 0.8155")[0] for line in result.outlines if ": nDCG@10 0.8155" in line]
    assert summary == ["shop (other.relevance.yaml)", "shop (shop.relevance.yaml)"]
    report = loads_report((pytester.path / "out" / "report.json").read_text())
    assert [suite.path for suite in report.suites] == ["other.relevance.yaml", "shop.relevance.yaml"]
    assert "rubber boots" in (pytester.path / "report.html").read_text()
    assert (pytester.path / "report.md").read_text().startswith("## ❌ 1 threshold of 8 did not hold\n")
    assert (pytester.path / "summary.md").read_text().startswith("## ❌ 1 threshold of 8 did not hold\n")
    assert len([line for line in result.outlines if line.startswith("::error file=other.relevance.yaml,")]) == 1
    [entry] = json.loads((pytester.path / "report.codequality.json").read_text())
    assert entry["location"]["path"] == "other.relevance.yaml"
    told = {entry.attrib["name"]: properties(entry) for entry in entries(pytester.path / "junit.xml")}
    assert len(told) == 5
    assert told["mean-nDCG-10-ge-0.8"]["relevance.observed"].startswith("0.8154")
    for name in ("other", "shop"):
        assert [line for line in result.outlines if line.endswith(f"to {name}.baseline.json")] == [
            f"baseline written to {name}.baseline.json"
        ]
        [kept] = json.loads((pytester.path / f"{name}.baseline.json").read_text())["requests"].values()
        assert set(kept["queries"]) == {"shoes", "boots"}
    assert len(read_history(pytester.path / "kept", "shop")) == 2


def test_what_workers_found_reaches_the_controller(suite: Suite, run_in_two: Run, pytester: pytest.Pytester) -> None:
    suite(MORE)
    suite("thresholds: [mean]", name="wrong.relevance.yaml")
    suite(MORE, name="build/left.relevance.yaml")
    suite("", name="bare.relevance.yaml")
    ungated = suite(MORE, name="ungated.relevance.yaml")
    helper = "requests:\n  helper: {gate: false, body: {query: {match: {title: '{{text}}'}}}}\n  other:\n    query:"
    ungated.write_text(ungated.read_text().replace("request:\n  query:", helper))
    suite('thresholds: ["mean nDCG@10 >= 0.9"]', name="asserted.relevance.yml")
    pytester.makepyfile(
        test_it="""
        def test_it(relevance):
            relevance.run("asserted.relevance.yml").assert_thresholds()
        """
    )

    result = run_in_two("-W", "default", "--relevance-report", "report.json")

    assert {**result.parseoutcomes(), "warnings": 0} == {"passed": 3, "failed": 1, "errors": 1, "warnings": 0}
    lines = result.outlines
    left_out = "skipped: build (1 suite); pass a path to run its suites"
    helper_line = "ungated.relevance.yaml: the request 'helper' gates nothing: it has `gate: false`; it has no items"
    assert [line for line in lines if line.startswith(("skipped", "ungated"))] == [helper_line, left_out]
    assert len([line for line in lines if line.startswith("bare.relevance.yaml: it has no thresholds and")]) == 1
    assert len([line for line in lines if line.endswith("#the-grammar")]) == 1, "the page on what the wrong suite lacks"
    result.stdout.fnmatch_lines(["*RelevanceWarning: asserted.relevance.yml is not read: *"])
    report = loads_report((pytester.path / "report.json").read_text())
    assert [missing.path for missing in report.missing] == ["wrong.relevance.yaml"]
    assert [[verdict.status for verdict in suite.verdicts] for suite in report.suites] == [
        [Status.FAILED],
        [Status.PASSED, Status.PASSED, Status.PASSED],
    ]


def test_x_stops_the_workers(suite: Suite, run_in_two: Run) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.9"]', shoes=EXPECTS)

    result = run_in_two("-x", "--dist", "loadfile")

    result.assert_outcomes(failed=1)
    assert result.ret != pytest.ExitCode.OK


def test_a_tag_that_no_query_has_is_said_once(suite: Suite, run_in_two: Run) -> None:
    suite(MORE)

    result = run_in_two("--relevance-tag", "haed")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "no query has the tag 'haed'" in result.stderr.str() + result.stdout.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process as only POSIX can")
def test_where_a_worker_is_killed_the_next_one_runs_the_suite(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(MORE)
    pytester.makeconftest(
        """
        import os, pathlib

        def pytest_runtest_protocol():
            pathlib.Path("worker").write_text(str(os.getpid()))
        """
    )
    killed: list[int] = []

    def kill_the_first() -> None:
        worker = int((pytester.path / "worker").read_text())
        if not killed:
            killed.append(worker)
            os.kill(worker, signal.SIGKILL)

    engine.before_search = kill_the_first

    result = run("-p", "xdist", "-n1")

    assert len(killed) == 1
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines("*worker 'gw0' crashed while running 'shop.relevance.yaml::*")
    result.stdout.fnmatch_lines("shop: nDCG@10 0.8155*")


def test_sigterm_ends_workers_and_removes_the_report_of_an_earlier_session(
    suite: Callable[..., Path], engine: ScriptedEngine, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("temporary")))
    suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    words = ["-p", "relevance", "-p", "xdist", "--relevance-url", engine.url, "--relevance-report", "report.json"]
    command = [sys.executable, "-m", "pytest", *words, "-n", "1"]
    (pytester.path / "report.json").write_text('{"timing": {}, "harness": "yesterday"}')

    def terminate() -> None:
        process.send_signal(signal.SIGTERM)
        engine.closing.wait(30)  # so that the suite cannot end

    engine.before_search = terminate
    process = subprocess.Popen(command, cwd=pytester.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert not (pytester.path / "report.json").exists()
    assert not list((pytester.path / "temporary").glob("relevance-session-*"))
