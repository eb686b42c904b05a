"""What the reports of a session say is decided by its items: what is green in pytest is not red in its reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.workers import IN_A_WORKER, IN_TWO_WORKERS

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

BOOTS = "rubber boots"
SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  weaker: {query: {match: {title: "{{text}}"}}, min_score: 0}
measures: ["nDCG@10"]
thresholds: ["mean nDCG@10 >= MEAN", "mean P@5 >= 0.1"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, b: 1}, EXPECT}
  - {id: boots, text: rubber boots, judgments: {d: 3}}
"""
HOLDS, FAILS = "0.1", "0.99"
WORKERS = pytest.mark.parametrize("workers", [(), IN_TWO_WORKERS], ids=["alone", "workers"])
WORKER = pytest.mark.parametrize("workers", [(), IN_A_WORKER], ids=["alone", "workers"])
"""For sessions in which all that counts is in one item, or in each alike."""
REPORTS = ("report.json", "report.md", "report.html", "report.codequality.json", "junit.xml")


@dataclass(frozen=True)
class Session:
    """What a session and its reports say; *statuses* are those of the verdicts, by the request of the run."""

    result: pytest.RunResult
    exit_status: int
    statuses: dict[str, list[str]]
    notes: list[str]
    summary: str
    errors: int
    findings: int

    def is_green(self) -> bool:
        """Whether pytest and all reports are green."""
        signs = (self.summary.startswith("## \u2705"), self.summary.startswith("## \u26a0"))
        return (int(self.result.ret), self.exit_status, self.errors, self.findings) == (0, 0, 0, 0) and any(signs)


@pytest.fixture
def session(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Session]:
    """Runs a suite, and tests in Python, in a step of GitHub Actions."""
    summary = pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    def call(*options: str, mean: str = HOLDS, expect: str = "params: {}", test: str = "", more: str = "") -> Session:
        suite = SUITE.replace("MEAN", mean).replace("EXPECT", expect) + more
        (pytester.path / "shop.relevance.yaml").write_text(suite, encoding="utf-8")
        if test:
            pytester.makepyfile(test_it=test)
        named = [f"--relevance-report={name}" for name in REPORTS[:-1]]
        result = run(*options, *named, "--relevance-github")
        report = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
        return Session(
            result,
            report["exit_status"],
            {one["request"]: [verdict["status"] for verdict in one["verdicts"]] for one in report["suites"]},
            [note for one in report["suites"] for note in one["notes"]],
            summary.read_text(encoding="utf-8"),
            sum(line.startswith("::error") for line in result.outlines),
            len(json.loads((pytester.path / "report.codequality.json").read_text(encoding="utf-8"))),
        )

    return call


WEAKER = "run = relevance.run('shop.relevance.yaml', request='weaker')"
READS = f"def test_it(relevance):\n    {WEAKER}\n    assert run.mean('nDCG@10') > 0.1\n"
ASSERTS = f"def test_it(relevance):\n    {WEAKER}\n    run.assert_thresholds()\n"
EXPECTS = f"import pytest\n\n@pytest.mark.xfail(strict=True)\n{ASSERTS}"
CATCHES = (
    f"import pytest\n\ndef test_it(relevance):\n    {WEAKER}\n"
    "    with pytest.raises(AssertionError):\n        run.assert_thresholds()\n"
)


@WORKER
@pytest.mark.parametrize("expect", ["params: {}", 'expect: ["b in top 1"]'], ids=["a mean", "an expectation"])
def test_a_run_that_a_test_only_reads_is_not_decided(
    session: Callable[..., Session], workers: tuple[str, ...], expect: str
) -> None:
    found = session("-k", "test_it", *workers, mean=FAILS, expect=expect, test=READS)

    assert found.is_green(), found
    assert set(found.statuses["weaker"]) == {"not decided"}
    assert "a test in Python ran this suite and no item decides it: its thresholds are not decided" in found.notes


@WORKERS
def test_a_run_that_is_not_decided_leaves_that_of_the_items_as_it_is(
    session: Callable[..., Session], workers: tuple[str, ...]
) -> None:
    found = session(*workers, test=READS)
    assert found.is_green(), found
    assert found.statuses == {"current": ["passed", "passed"], "weaker": ["not decided", "not decided"]}
    assert found.summary.startswith("## \u2705 2 thresholds, all hold")

    found = session(*workers, mean=FAILS, test=READS)
    assert (found.exit_status, found.errors, found.findings) == (1, 1, 1)
    assert found.statuses == {"current": ["failed", "passed"], "weaker": ["not decided", "not decided"]}
    assert "1 threshold of 2 did not hold" in found.summary


@WORKER
def test_a_test_that_asserts_the_thresholds_decides_them(
    session: Callable[..., Session], workers: tuple[str, ...]
) -> None:
    found = session("-k", "test_it", *workers, test=ASSERTS)
    assert found.is_green(), found
    assert found.statuses["weaker"] == ["passed", "passed"]

    found = session("-k", "test_it", *workers, mean=FAILS, test=ASSERTS)
    found.result.assert_outcomes(failed=1, deselected=0 if workers else 2)
    assert (found.exit_status, found.errors, found.findings) == (1, 1, 1)
    assert found.statuses["weaker"] == ["failed", "passed"]


@pytest.mark.parametrize("test", [EXPECTS, CATCHES], ids=["xfail", "raises"])
def test_an_assertion_that_a_test_expects_to_fail_decides_nothing(session: Callable[..., Session], test: str) -> None:
    found = session("-k", "test_it", mean=FAILS, test=test)

    assert found.is_green(), found
    assert found.statuses["weaker"] == ["not decided", "not decided"]


@WORKER
@pytest.mark.parametrize("answered", ["no query", "a query"])
def test_queries_without_an_answer_are_no_error_of_a_run_that_is_not_decided(
    session: Callable[..., Session], engine: ScriptedEngine, workers: tuple[str, ...], answered: str
) -> None:
    engine.broken = {BOOTS: 400} if answered == "a query" else {BOOTS: 400, "red shoes": 400}
    test = f"def test_it(relevance):\n    {WEAKER}\n    assert run.report.unanswered\n"

    found = session("-k", "test_it", *workers, test=test)

    assert found.is_green(), found


@pytest.mark.parametrize("caught", [True, False], ids=["caught", "not caught"])
def test_a_suite_that_could_not_run_is_missing_where_the_test_does_not_expect_that(
    session: Callable[..., Session], caught: bool
) -> None:
    run = "relevance.run('shop.relevance.yaml', request='weaker', tags=['none'])"
    body = f"with pytest.raises(Exception):\n        {run}" if caught else run
    found = session(test=f"import pytest\n\ndef test_it(relevance):\n    {body}\n")

    assert found.is_green() == caught
    assert found.exit_status == (0 if caught else 3)


@WORKERS
def test_thresholds_whose_items_are_deselected_are_not_decided(
    session: Callable[..., Session], workers: tuple[str, ...]
) -> None:
    found = session("-k", "P-5", *workers, mean=FAILS)

    assert found.is_green(), found
    assert found.statuses == {"current": ["not decided", "passed"]}
    assert "1 threshold is not decided: its item was deselected, or skipped by pytest" in found.notes


@WORKER
@pytest.mark.parametrize("marker", ["skip(reason='slow')", "xfail(reason='known')"])
def test_thresholds_whose_items_a_conftest_marks_are_as_pytest_takes_them(
    session: Callable[..., Session], pytester: pytest.Pytester, workers: tuple[str, ...], marker: str
) -> None:
    pytester.makeconftest(
        "import pytest\n\ndef pytest_collection_modifyitems(items):\n"
        f"    [item.add_marker(pytest.mark.{marker}) for item in items if 'nDCG' in item.name]\n"
    )

    found = session(*workers, mean=FAILS)

    assert found.is_green(), found
    assert found.statuses == {"current": ["not decided", "passed"]}


@WORKERS
def test_an_item_that_fails_though_no_threshold_does_is_in_the_reports(
    session: Callable[..., Session], workers: tuple[str, ...]
) -> None:
    hats = "  - {id: hats, text: red shoes, judgments: {a: 0}}\n"
    found = session("--relevance-each-query", "-k", "query", *workers, more=hats)

    assert found.result.parseoutcomes()["failed"] == 1
    assert found.exit_status == 1
    assert found.summary.startswith(
        "## \u274c Items failed in pytest for another reason than a threshold; No threshold"
    )
    assert "1 item (query.hats) failed in pytest for another reason than a threshold" in found.notes


def test_what_was_not_reached_before_the_session_ended_is_as_it_ran(session: Callable[..., Session]) -> None:
    found = session("-x", "-p", "no:randomly", mean=FAILS, expect='expect: ["b in top 1"]')

    found.result.assert_outcomes(failed=1)
    assert found.exit_status == 1
    assert found.statuses == {"current": ["failed", "passed", "failed"]}
