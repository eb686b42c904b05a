"""Thresholds that compare a request with another are items like others, of every request but the one they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from builders.workers import IN_TWO_WORKERS

SUITE = """\
suite: shop
target: {index: products}
requests:
  approximate: {query: {match: {title: "{{text}}"}}}
  exact: {query: {match: {title: "exact {{text}}"}}}
thresholds:
  - mean overlap@3 with request exact >= 0.9
  - every overlap@3 with request exact >= 0.5
queries:
  - {id: shoes, text: red shoes}
  - {id: boots, text: rubber boots}
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture(autouse=True)
def _compared(pytester: pytest.Pytester, engine: Any) -> None:
    (pytester.path / "shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    engine.rankings |= {"exact red shoes": ["a", "x", "c"], "exact rubber boots": ["e", "d"]}


@pytest.mark.parametrize("options", [(), IN_TWO_WORKERS])
def test_a_threshold_on_another_request_is_an_item(run: Run, options: tuple[str, ...]) -> None:
    result = run("-rA", *options)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*mean overlap@3 with request exact is 0.8333*worst: shoes 0.6667*"])


def test_the_request_that_is_named_has_no_item(run: Run) -> None:
    result = run("--relevance-request", "approximate", "--relevance-request", "exact", "--collect-only", "-q")

    result.stdout.fnmatch_lines(["*mean-overlap-3-with-request-exact-ge-0.9?approximate?"])
    result.stdout.no_fnmatch_line("*?exact?")


def test_a_query_alone_is_held_to_the_other_request(run: Run, engine: Any) -> None:
    engine.rankings["red shoes"] = ["y", "z"]

    run("--relevance-each-query", "-k", "query", *IN_TWO_WORKERS).assert_outcomes(passed=1, failed=1)


def test_a_query_that_the_other_request_does_not_answer_is_an_error(run: Run, engine: Any) -> None:
    engine.broken["exact red shoes"] = 400

    run().assert_outcomes(errors=2)
