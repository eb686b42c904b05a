"""Suites that pytest finds through links: refused unseen where a link leads out of the rootdir and what was named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.workers import IN_A_WORKER

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

SECRET = "hunter2xyz"
MEAN = 'thresholds: ["mean nDCG@10 >= 0.5"]'
SENTENCE = "x.relevance.yaml: this link is not followed: what it leads to is "


@pytest.fixture
def outside(pytester: pytest.Pytester) -> Path:
    """A folder beside the rootdir."""
    folder = pytester.path.parent / f"{pytester.path.name}-outside"
    folder.mkdir()
    return folder


def everything(pytester: pytest.Pytester, result: pytest.RunResult, *files: str) -> str:
    return "\n".join([*result.outlines, *result.errlines, *((pytester.path / file).read_text() for file in files)])


CONTENTS = (f"root:x:0:0:{SECRET}\n", f"[{SECRET}", f"suite: {SECRET}\n")
FOUND = [(name, content, ()) for name in ("passwd", ".netrc", "other.relevance.yaml") for content in CONTENTS]


@pytest.mark.parametrize(
    ("name", "content", "workers"), [*FOUND, *(("passwd", content, IN_A_WORKER) for content in CONTENTS)]
)
def test_a_found_link_is_refused_in_each_report(
    suite: Suite,
    run: Run,
    pytester: pytest.Pytester,
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str,
    workers: tuple[str, ...],
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    suite(MEAN)
    (outside / name).write_text(content)
    (pytester.path / "x.relevance.yaml").symlink_to(outside / name)
    files = ["r.html", "r.json", "r.md"]

    result = run("--relevance-github", "--junitxml=r.xml", *(f"--relevance-report={file}" for file in files), *workers)

    assert result.ret in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED)
    text = everything(pytester, result, *(file for file in [*files, "r.xml", "summary.md"] if Path(file).exists()))
    assert SENTENCE in text
    assert SECRET not in text
    assert "root:x" not in text


def test_a_link_to_a_hidden_file_of_the_rootdir_is_refused(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / ".git").mkdir()
    (pytester.path / ".git" / "config").write_text(f"[remote]\nurl = https://me:{SECRET}@example.org\n")
    (pytester.path / "x.relevance.yaml").symlink_to(".git/config")
    result = run()
    result.stdout.fnmatch_lines([f"*{SENTENCE}hidden: the name of .git begins with a dot*"])
    assert SECRET not in everything(pytester, result)


def test_a_link_that_is_named_is_read(suite: Suite, run: Run, pytester: pytest.Pytester, outside: Path) -> None:
    suite(MEAN).rename(outside / "s.relevance.yaml")
    (pytester.path / "x.relevance.yaml").symlink_to(outside / "s.relevance.yaml")
    run("x.relevance.yaml").assert_outcomes(passed=1)
    run(".").assert_outcomes(errors=1)


def test_a_suite_in_a_linked_folder_out_of_the_rootdir_is_refused(
    suite: Suite, run: Run, pytester: pytest.Pytester, outside: Path
) -> None:
    suite(MEAN).rename(outside / "x.relevance.yaml")
    (pytester.path / "shared").symlink_to(outside)
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*shared/{SENTENCE}*"])
    run("shared").assert_outcomes(passed=1)


def test_a_suite_in_a_linked_folder_that_is_hidden_is_refused(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(f"{MEAN}\njudgments: login.yaml", name=".login/x.relevance.yaml")
    (pytester.path / ".login" / "login.yaml").write_text(f"token: {SECRET}\n")
    (pytester.path / "shared").symlink_to(".login")
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*shared/{SENTENCE}hidden: the name of .login begins with a dot*"])
    assert SECRET not in everything(pytester, result)
    assert SENTENCE not in everything(pytester, run("shared"))


def test_links_within_the_rootdir_and_a_hidden_folder_that_is_searched_are_read(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    pytester.makeini("[pytest]\nnorecursedirs = none\n")
    suite(MEAN, name="deep/s.relevance.yaml")
    suite(MEAN, name=".hidden/s.relevance.yaml")
    (pytester.path / "x.relevance.yaml").symlink_to("deep/s.relevance.yaml")
    run().assert_outcomes(passed=3)


def test_a_skipped_link_is_not_searched(suite: Suite, run: Run, pytester: pytest.Pytester, outside: Path) -> None:
    suite(MEAN)
    (outside / "s.relevance.yaml").touch()
    (pytester.path / "build").symlink_to(outside)
    result = run()
    result.assert_outcomes(passed=1)
    assert "skipped: build" not in result.stdout.str()


def test_the_root_that_is_named_lets_links_lead_into_it(
    suite: Suite, run: Run, pytester: pytest.Pytester, outside: Path
) -> None:
    suite(MEAN + "\njudgments: j.qrels").rename(outside / "s.relevance.yaml")
    (outside / "1.qrels").write_text("shoes 0 c 1\n")
    (pytester.path / "x.relevance.yaml").symlink_to(outside / "s.relevance.yaml")
    (pytester.path / "j.qrels").symlink_to(outside / "1.qrels")
    run().assert_outcomes(errors=1)
    run("--relevance-root", str(outside)).assert_outcomes(passed=1)
    pytester.makeini(f"[pytest]\nrelevance_root = ../{outside.name}\n")
    run().assert_outcomes(passed=1)
    run(*IN_A_WORKER).assert_outcomes(passed=1)
