"""A coverage gate in pytest: thresholds on Judged@k pass and fail like any other, and name what is to be judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

# Of red shoes a and b are judged, and c is not; of rubber boots d is, and e is not: 2/3 and 1/2.


def test_enough_coverage_passes(suite: Suite, run: Run) -> None:
    suite('thresholds: ["mean Judged@10 >= 0.58", "every Judged@10 >= 0.5", "every Judged@1 >= 0.6 for head"]')
    run().assert_outcomes(passed=3)


@needs_extension("judging")
def test_too_little_fails_and_names_the_unjudged_documents_of_the_worst_queries(suite: Suite, run: Run) -> None:
    suite('thresholds: ["mean Judged@10 >= 0.9", "every Judged@10 >= 0.6"]', shoes='thresholds: ["Judged@2 >= 1"]')

    result = run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=2)
    said = " ".join(result.stdout.str().split())
    assert "mean Judged@10 is 0.5833, required >= 0.9, over 2 queries; worst: boots 0.5000, shoes 0.6667;" in said
    assert "unjudged hits of boots: e (rank 1); of shoes: c (rank 3);" in said
    assert "Judged@10 is >= 0.6 for 1 of 2 queries, required for every one; worst: boots 0.5000;" in said
    assert "`relevance judgments pool` collects them for grading" in said
    assert any(line.split()[:3] == ["1", "e", "unjudged"] for line in result.outlines)


def test_each_query_is_held_to_it(suite: Suite, run: Run) -> None:
    suite('thresholds: ["every Judged@10 >= 0.6"]')
    result = run("--relevance-each-query")
    result.assert_outcomes(passed=1, failed=2)
    assert "unjudged hits of boots: e (rank 1)" in " ".join(result.stdout.str().split())


def test_a_graded_file_makes_the_gate_hold(suite: Suite, run: Run) -> None:
    path = suite('thresholds: ["every Judged@10 >= 1"]\njudgments: {files: [more.csv, more.yaml], ungraded: ignore}')
    (path.parent / "more.csv").write_text("query,document,grade,title\nshoes,c,0,Socks\nboots,e,,Boots\n")
    (path.parent / "more.yaml").write_text("boots:\n")
    run().assert_outcomes(failed=1)
    (path.parent / "more.yaml").write_text("boots:\n  e: 1\n")
    run().assert_outcomes(passed=1)
