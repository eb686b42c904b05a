"""--relevance-github and Markdown reports: what GitHub's runner reads of a pytest session, with workers too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.workers import IN_A_WORKER

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

TOO_HIGH = 'thresholds: ["mean nDCG@10 >= 0.9", "every nDCG@10 >= 0.1"]'


@pytest.fixture
def summary(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A step of GitHub Actions whose repository is the folder above the rootdir."""
    path = pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def annotations(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("::")]


@pytest.mark.parametrize("workers", [(), IN_A_WORKER], ids=["alone", "workers"])
def test_a_shortfall_is_annotated_and_summarized_once(
    suite: Suite, run: Run, pytester: pytest.Pytester, summary: Path, workers: tuple[str, ...]
) -> None:
    suite(TOO_HIGH, boots='thresholds: ["nDCG@10 >= 0.7"]')

    result = run("--relevance-github", *workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=2, passed=1)
    file = f"{pytester.path.name}/shop.relevance.yaml"
    first, second = annotations(result)
    assert first.startswith(f"::error file={file},line=6,col=14,title=shop%3A mean nDCG@10 >= 0.9::mean nDCG@10 ")
    assert second.startswith(f"::error file={file},line=17,col=18,title=shop%3A nDCG@10 >= 0.7 (query boots)::nDCG@10 ")
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("## ❌ 2 thresholds of 3 did not hold\n")
    assert text.count("## ❌") == 1


@pytest.mark.parametrize("workers", [(), IN_A_WORKER], ids=["alone", "workers"])
def test_a_wrong_suite_is_annotated_on_its_line(
    suite: Suite, run: Run, pytester: pytest.Pytester, summary: Path, workers: tuple[str, ...]
) -> None:
    path = suite(TOO_HIGH)
    path.write_text(path.read_text().replace("measures:", "mesures:"))

    result = run("--relevance-github", *workers)

    assert result.ret != pytest.ExitCode.OK
    [line] = annotations(result)
    assert line.startswith(f"::error file={pytester.path.name}/shop.relevance.yaml,line=5,col=1,title=relevance::")
    assert "measures" in line
    assert summary.read_text(encoding="utf-8").startswith("## ❌ Nothing was decided\n")


def test_a_suite_that_did_not_run_is_annotated(
    suite: Suite, run: Run, pytester: pytest.Pytester, summary: Path
) -> None:
    path = suite(TOO_HIGH)
    path.write_text(path.read_text().replace("index: products", 'index: "${RELEVANCE_NOT_SET_ANYWHERE}"'))

    result = run("--relevance-github")

    result.assert_outcomes(errors=2)
    [line] = annotations(result)
    assert line.startswith(f"::error file={pytester.path.name}/shop.relevance.yaml,line=2,col=17,title=relevance::the ")
    result.stdout.fnmatch_lines(["shop.relevance.yaml: did not run: *variable RELEVANCE_NOT_SET_ANYWHERE is not set*"])
    assert "RELEVANCE_NOT_SET_ANYWHERE" in summary.read_text(encoding="utf-8")


def test_elsewhere_the_option_is_refused_and_the_line_of_the_ini_file_says_nothing(
    suite: Suite, run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    suite(TOO_HIGH)

    refused = run("--relevance-github")

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*--relevance-github works only in GitHub Actions*--relevance-report FILE.md*"])
    pytester.makeini("[pytest]\nrelevance_github = true\n")
    result = run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert annotations(result) == []


def test_the_line_of_the_ini_file_holds_in_github_actions_unless_the_command_line_says_no(
    suite: Suite, run: Run, pytester: pytest.Pytester, summary: Path
) -> None:
    pytester.makeini("[pytest]\nrelevance_github = true\n")
    suite(TOO_HIGH)
    assert annotations(run("--no-relevance-github")) == []
    assert not summary.exists()
    assert len(annotations(run())) == 1
    assert summary.exists()


def test_where_all_holds_there_is_a_summary_and_no_annotation(suite: Suite, run: Run, summary: Path) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    result = run("--relevance-github")
    assert result.ret == pytest.ExitCode.OK
    assert annotations(result) == []
    assert summary.read_text(encoding="utf-8").startswith("## ✅ 1 threshold, all hold\n")


def test_a_summary_that_cannot_be_written_is_said_and_ends_in_an_error(
    suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch, summary: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary / "no" / "folder"))
    suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    result = run("--relevance-github")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*the job's summary could not be written: *"])


def test_without_suites_nothing_is_said(run: Run, pytester: pytest.Pytester, summary: Path) -> None:
    pytester.makepyfile("def test_one(): pass")
    result = run("--relevance-github")
    assert result.ret == pytest.ExitCode.OK
    assert annotations(result) == []
    assert not summary.exists()


@pytest.mark.parametrize("workers", [(), IN_A_WORKER], ids=["alone", "workers"])
def test_a_report_in_markdown_is_written(
    suite: Suite, run: Run, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite(TOO_HIGH)
    result = run("--relevance-report", "report.md", *workers)
    text = (pytester.path / "report.md").read_text(encoding="utf-8")
    assert text.startswith("## ❌ 1 threshold of 2 did not hold\n")
    assert "<code>boots</code>" in text
    result.stdout.fnmatch_lines(["report written to *report.md"])
