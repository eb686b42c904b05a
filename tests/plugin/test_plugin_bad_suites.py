"""What cannot be: suites that are wrong, variables that are not set, files that go away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("treshold: []", "*shop.relevance.yaml:6:*treshold*thresholds*"),
        ('thresholds: ["mean nDGC@10 >= 0.8"]', "*shop.relevance.yaml:6:*nDGC*nDCG*"),
        ('thresholds: ["mean nDCG@10 >= 7"]', "*shop.relevance.yaml:6:*"),
        ("thresholds: [", "*shop.relevance.yaml:*"),
    ],
)
def test_a_wrong_suite_is_an_error_where_it_is_collected(suite: Suite, run: Run, more: str, sentence: str) -> None:
    suite(more)

    result = run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR collecting shop.relevance.yaml*", sentence])
    assert "Traceback" not in result.stdout.str()
    assert "harness/" not in result.stdout.str()


def test_an_empty_file_is_a_wrong_suite(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makefile(".relevance.yaml", shop="")

    result = run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines("*shop.relevance.yaml*")
    assert "Traceback" not in result.stdout.str()


def test_the_other_suites_run_where_pytest_is_told_to_go_on(suite: Suite, run: Run) -> None:
    suite("treshold: []")
    suite(MEAN, name="other.relevance.yaml")

    result = run("--continue-on-collection-errors")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1)


def test_a_variable_need_not_be_set_where_nothing_runs(suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELEVANCE_LEAST", raising=False)
    suite('thresholds: ["mean nDCG@10 >= ${RELEVANCE_LEAST}"]', shoes='expect: ["a in top 1"]')

    collected = run("--collect-only", "-q")
    result = run()

    assert collected.ret == pytest.ExitCode.OK
    assert "shop.relevance.yaml::mean-nDCG-10-ge-RELEVANCE_LEAST" in collected.outlines
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "*the environment variable RELEVANCE_LEAST is not set*",
            "ERROR *::mean-nDCG-10-ge-RELEVANCE_LEAST - *",
            "ERROR *::query.shoes - *",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "another exception" not in result.stdout.str()


def test_a_variable_is_read_when_the_suite_runs(suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    suite('thresholds: ["mean nDCG@10 >= ${RELEVANCE_LEAST:-0.8}"]')

    run().assert_outcomes(passed=1)
    monkeypatch.setenv("RELEVANCE_LEAST", "0.9")
    result = run("-v")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines("*::mean-nDCG-10-ge-RELEVANCE_LEAST-0.8 FAILED*")


def test_a_suite_that_changes_between_collection_and_run_is_an_error(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makeconftest(
        """
        import pathlib

        def pytest_collection_finish():
            path = pathlib.Path("shop.relevance.yaml")
            path.write_text(path.read_text().replace("mean nDCG", "median nDCG"))
        """
    )

    result = run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        "*shop.relevance.yaml: the suite was changed while it was tested, and is not what was *"
    )


def test_a_defect_is_shown_with_its_traceback(suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    suite(MEAN, shoes='expect: ["a in top 1"]')
    monkeypatch.setattr("harness.run.Runner.run_loaded", lambda *_, **__: 1 / 0)

    result = run()

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*Traceback*", "*ZeroDivisionError: division by zero"])
