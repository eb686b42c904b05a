"""A suite that is edited between its collection and its run is an error, and every status says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.workers import IN_TWO_WORKERS

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

MEAN = 'thresholds: ["mean nDCG@10 >= {least}"]\njudgments: judgments.csv'
EDITS = {
    "a threshold is met": ("shop.relevance.yaml", "nDCG@10 >= 0.9", "nDCG@10 >= 0.8"),
    "a failure is expected": (
        "shop.relevance.yaml",
        '"mean nDCG@10 >= 0.9"',
        '{threshold: "mean nDCG@10 >= 0.9", xfail: {reason: later}}',
    ),
    "a threshold is skipped": (
        "shop.relevance.yaml",
        '"mean nDCG@10 >= 0.9"',
        '{threshold: "mean nDCG@10 >= 0.9", skip: {reason: later}}',
    ),
    "a threshold goes": ("shop.relevance.yaml", '"mean nDCG@10 >= 0.9"', ""),
    "a query goes": ("shop.relevance.yaml", "  - id: boots\n    text: rubber boots\n    tags: [tail]\n", "  - id: b\n"),
    "a judgment changes": ("shop.relevance.yaml", "judgments: {d: 3}", "judgments: {e: 3}"),
    "a judgment in a file changes": ("judgments.csv", "shoes,x,0", "shoes,x,3"),
    "the suite is wrong now": ("shop.relevance.yaml", "suite: shop", "suit: shop"),
}


@pytest.fixture
def edited(suite: Suite, pytester: pytest.Pytester) -> Callable[[str], Path]:
    """Writes a suite whose threshold fails, beside one that passes, and makes the edit *name* once it is collected."""

    def write(name: str) -> Path:
        file, before, after = EDITS[name]
        path = suite(MEAN.format(least=0.9))
        path.with_name("judgments.csv").write_text("query,document,grade\nshoes,x,0\n", encoding="utf-8")
        suite('thresholds: ["mean nDCG@10 >= 0.5"]', name="zother.relevance.yaml")
        assert before in path.with_name(file).read_text(encoding="utf-8")
        pytester.makeconftest(
            f"""
            from pathlib import Path

            def pytest_collection_finish(session):
                file = Path(__file__).with_name({file!r})
                if not hasattr(session.config, "workerinput"):
                    file.write_text(file.read_text().replace({before!r}, {after!r}))
            """
        )
        return path

    return write


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_after_collection_is_an_error_for_pytest_and_in_json(
    edited: Callable[[str], Path], run: Run, pytester: pytest.Pytester, edit: str
) -> None:
    edited(edit)

    result = run("--relevance-report", "report.json", "--junit-xml", "junit.xml")

    result.assert_outcomes(errors=1, passed=1)
    file = EDITS[edit][0]
    said = f"{file}: the suite was changed while it was tested, and is not what was collected; run pytest again"
    assert said in result.stdout.str().replace("\n", " ")
    report = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
    assert (result.ret, report["exit_status"]) == (pytest.ExitCode.TESTS_FAILED, 3)
    assert [missing["path"] for missing in report["missing"]] == ["shop.relevance.yaml"]
    assert "is not what was collected" in (pytester.path / "junit.xml").read_text(encoding="utf-8")


def test_a_file_that_is_written_again_as_it_was_is_no_edit(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    pytester.makeconftest(
        """
        from pathlib import Path

        def pytest_collection_finish():
            file = Path(__file__).with_name("shop.relevance.yaml")
            file.write_text(file.read_text())
        """
    )
    run().assert_outcomes(passed=1)


def test_a_test_in_python_that_runs_an_edited_suite_fails_in_json_too(
    edited: Callable[[str], Path], run: Run, pytester: pytest.Pytester
) -> None:
    edited("a threshold is met")
    pytester.makepyfile("def test_it(relevance): relevance.run('shop.relevance.yaml').assert_thresholds()")

    result = run("--relevance-report", "report.json")

    result.assert_outcomes(errors=1, passed=1, failed=1)
    report = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
    assert (result.ret, report["exit_status"]) == (pytest.ExitCode.TESTS_FAILED, 3)


def test_a_test_in_another_process_that_cannot_load_the_suite_again_fails_in_json_too(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    pytester.makepyfile(
        """
        import time
        from pathlib import Path

        RAN = Path(__file__).with_name("ran")

        def test_first(relevance):
            relevance.run("shop.relevance.yaml").assert_thresholds()
            RAN.touch()

        def test_second(relevance):
            while not RAN.exists():
                time.sleep(0.01)
            suite = Path(__file__).with_name("shop.relevance.yaml")
            suite.write_text(suite.read_text().replace("suite: shop", "suit: shop"))
            relevance.run("shop.relevance.yaml").assert_thresholds()
        """
    )
    test = next(pytester.path.glob("test_*.py"))

    result = run(test.name, *IN_TWO_WORKERS, "--relevance-report", "report.json")

    result.assert_outcomes(passed=1, failed=1)
    report = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
    assert (result.ret, report["exit_status"]) == (pytest.ExitCode.TESTS_FAILED, 3)
