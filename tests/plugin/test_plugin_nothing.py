"""Queries for which no result is right, in pytest: one item for the share of them that has hits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

MORE = 'thresholds: ["mean nDCG@10 >= 0.99", "every nDCG@10 >= 0.99", "false hits <= 0%"]'
NOTHING = "nothing: true"


@pytest.fixture
def write(suite: Suite) -> Callable[[], Path]:
    """Writes the suite of `shoes`, whose nDCG is 1, and of `boots`, for which no result is right."""

    def write_suite(more: str = MORE) -> Path:
        path = suite(more)
        text = path.read_text(encoding="utf-8").replace("judgments: {d: 3}", NOTHING)
        path.write_text(text, encoding="utf-8")
        return path

    return write_suite


def test_one_item_decides_on_false_hits_and_names_them(write: Callable[[], Path], run: Run) -> None:
    write()
    result = run("-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*::mean-nDCG-10-ge-0.99 PASSED*",
            "*::every-nDCG-10-ge-0.99 PASSED*",
            "*::false-hits-le-0pct FAILED*",
            "false hits in 1 of 1 query for which no result is right: 100.00% > 0.00%; most for boots (* hits)",
            "query boots*",
        ]
    )
    result.stdout.fnmatch_lines(["shop: nDCG@10 1.0000; 2 queries, false hits: 1, *"])


def test_it_passes_where_they_find_nothing(write: Callable[[], Path], run: Run, engine: ScriptedEngine) -> None:
    write()
    engine.rankings["rubber boots"] = []
    result = run()
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["shop: nDCG@10 1.0000; 2 queries, nothing found: 1, *"])


def test_an_item_of_each_query_leaves_them_out(write: Callable[[], Path], run: Run, engine: ScriptedEngine) -> None:
    write()
    engine.rankings["rubber boots"] = []
    result = run("--relevance-each-query")
    result.assert_outcomes(passed=5)


def test_a_mean_of_the_fixture_leaves_them_out(write: Callable[[], Path], run: Run, pytester: pytest.Pytester) -> None:
    write()
    pytester.makepyfile(
        """
        def test_mean(relevance):
            found = relevance.run("shop.relevance.yaml")
            assert found.mean("nDCG@10") == 1
            assert found.mean("P@1") == 1
        """
    )
    run("-k", "test_mean").assert_outcomes(passed=1)
