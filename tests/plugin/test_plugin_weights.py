"""Weights of queries in pytest: what decides, what is printed, what is blamed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from harness.cli import main

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


def test_weights_decide_what_the_plain_mean_would_not(suite: Suite, run: Run) -> None:
    """The plain mean is 0.8155; (9 x 1 + 0.6309) / 10 = 0.9631."""
    suite('thresholds: ["mean nDCG@10 >= 0.96"]', shoes="weight: 9", boots="weight: 1")
    result = run()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["shop: nDCG@10 0.9631; 2 queries, *; means are weighted; gain exponential; *"])


def test_the_failure_blames_what_costs_the_mean_most(suite: Suite, run: Run) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8"]', shoes="weight: 1", boots="weight: 9")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "weighted mean nDCG@10 (gain exponential) is 0.6678, required >= 0.8, over 2 queries; "
            "cost most: boots 0.6309 (weight 9); 1 of 2 hits of this query is unjudged",
            "query boots*",
        ]
    )


def test_a_drop_is_of_the_weighted_mean(suite: Suite, run: Run, engine, capsys) -> None:
    path = suite('thresholds: ["drop nDCG@10 <= 0.3"]', shoes="weight: 9", boots="weight: 1")
    assert main(["baseline", "save", path.name, "--url", engine.url, "-q"]) == 0
    assert "nDCG@10 (weighted) 0.9631" in capsys.readouterr().out
    engine.rankings["red shoes"] = ["c", "x", "y", "b", "a"]
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["weighted mean nDCG@10*fell by *; cost most: shoes 1.0000 -> 0.*(weight 9)*"])


@needs_extension("compare")
def test_weights_that_changed_since_the_baseline_are_named(suite: Suite, run: Run, engine, capsys) -> None:
    path = suite('thresholds: ["drop nDCG@10 <= 0"]')
    assert main(["baseline", "save", path.name, "--url", engine.url, "-q"]) == 0
    capsys.readouterr()
    suite('thresholds: ["drop nDCG@10 <= 0"]', shoes="weight: 1", boots="weight: 9")
    result = run()
    result.assert_outcomes(passed=1)
    assert main(["baseline", "diff", path.name, "--url", engine.url, "-q"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "the weights changed: 1 query (boots)" in printed
    assert "weighted means" in printed
    assert "nDCG@10 0.6678 0.6678 0.0000" in printed, "both by the weights of today"


def test_a_forgotten_weight_stops_the_collection(suite: Suite, run: Run) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.8"]', shoes="weight: 9")
    result = run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*shop.relevance.yaml:*: 1 of 2 queries has no weight: boots; expected a weight*"])


def test_the_fixture_gives_the_weighted_mean(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(shoes="weight: 9", boots="weight: 1")
    pytester.makepyfile(
        """
        import pytest

        def test_mean(relevance):
            found = relevance.run("shop.relevance.yaml")
            assert found.mean("nDCG@10") == pytest.approx((9 + 0.6309) / 10, abs=1e-4)
            assert found.median("nDCG@10") == pytest.approx((1 + 0.6309) / 2, abs=1e-4)
        """
    )
    run("test_the_fixture_gives_the_weighted_mean.py").assert_outcomes(passed=1)
