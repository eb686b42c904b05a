"""`relevance.compare` in tests written in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.workers import IN_TWO_WORKERS

Run = Callable[..., pytest.RunResult]

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {query: {match: {title: "new {{text}}"}}}
measures: ["nDCG@10"]
thresholds: ["mean nDCG@10 >= 0.8"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, b: 1}}
  - {id: boots, text: rubber boots, judgments: {d: 3}}
  - {id: hats, text: straw hats, judgments: {h: 1}}
"""
NEW = {"new red shoes": ["b", "a", "c"], "new rubber boots": ["e", "d"], "new straw hats": ["h"]}


@pytest.fixture
def shop(pytester: pytest.Pytester, engine: object) -> Path:
    """Two requests, of which the candidate turns the two judged documents of `shoes` round."""
    engine.rankings |= NEW | {"straw hats": ["h"]}
    path = pytester.path / "shop.relevance.yaml"
    path.write_text(SUITE, encoding="utf-8")
    return path


PAIR = '"request:current", "request:candidate", suite="shop.relevance.yaml"'


def test_two_requests_are_compared_and_share_the_runs_of_the_session(
    shop: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        def test_difference(relevance):
            compared = relevance.compare({PAIR})
            row = compared.difference("nDCG@10")
            assert (row.queries, row.losses, row.ties) == (3, 1, 2)
            assert row.difference == pytest.approx(-0.0967, abs=1e-4)
            assert compared.agreement.same_documents == 3
            assert compared.query("shoes").moved == 2
            assert compared.report.queries[0].id == "shoes"
            compared.assert_thresholds("drop nDCG@10 <= 0.1", "mean RBO >= 0.8", "every overlap@10 >= 1")

        def test_another_measure(relevance):
            compared = relevance.compare({PAIR}, measures=["P(rel=3)@1"], depth=2)
            assert compared.difference("P(rel=3)@1").losses == 1
            assert compared.report.depth == 2

        def test_runs_that_are_there_already(relevance):
            before = relevance.run("shop.relevance.yaml")
            after = relevance.run("shop.relevance.yaml", request="candidate")
            assert relevance.compare(before, after).difference("nDCG@10").losses == 1
            assert relevance.compare(after, "request:current").difference("nDCG@10").wins == 1

        def test_rankings(relevance):
            judgments = {{"q": {{"a": 1}}, "r": {{"b": 1}}}}
            first = relevance.evaluate({{"q": ["a"], "r": ["b"]}}, judgments, measures=["RR"])
            second = relevance.evaluate({{"q": ["x", "a"], "r": ["b"]}}, judgments, measures=["RR"])
            assert relevance.compare(first, second).difference("RR").difference == -0.25
        """
    )

    result = run()

    result.assert_outcomes(passed=5)
    asked = {"red shoes", "rubber boots", "straw hats"}
    assert engine.asked == dict.fromkeys([*asked, *(f"new {text}" for text in asked)], 1)


def test_a_drop_fails_with_the_worst_query_side_by_side(shop: Path, run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        def test_drop(relevance):
            relevance.compare({PAIR}).assert_thresholds("drop nDCG@10 <= 0.05", "mean RBO >= 0.1")
        """
    )

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *AssertionError: request:candidate against request:current",
            "E *FAILED  drop nDCG@10 <= 0.05",
            "E *fell by 0.0967 from 0.8770 to 0.7802, allowed 0.05, over 3 queries; fell most: shoes",
            "E *query shoes  red shoes *2 moved)",
            "E *1  a * 3 * up 1 * b * 1",
        ]
    )
    result.stdout.no_fnmatch_line("E *mean RBO*")


def test_an_engine_that_refuses_a_query_is_no_pass(
    shop: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    engine.broken["new rubber boots"] = 400
    pytester.makepyfile(
        f"""
        def test_drop(relevance):
            relevance.compare({PAIR}).assert_thresholds("mean RBO >= 0.1")
        """
    )

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["E *request:candidate: no ranking for 1 query (boots): engine error (400): *no such thing"]
    )


def test_with_workers_each_request_still_runs_once(
    shop: Path, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    tests = "".join(
        f"def test_{number}(relevance):\n    assert relevance.compare({PAIR}).difference('nDCG@10').losses == 1\n"
        for number in range(4)
    )
    pytester.makepyfile(test_one=tests, test_two=tests)

    result = run(*IN_TWO_WORKERS)

    result.assert_outcomes(passed=9)
    assert set(engine.asked.values()) == {1}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (f"compare({PAIR}, measure=['P@1'])", "UsageError: unknown option 'measure'; did you mean 'measures'?"),
        (f"compare({PAIR}, measures='P@1')", "UsageError: measures is the text 'P@1', expected a sequence"),
        (f"compare({PAIR}, depth=0)", "UsageError: found depth 0, expected at least 1"),
        (f"compare({PAIR}).difference('RR')", "UsageError: RR was not compared, only nDCG@10; name it in measures"),
        (f"compare({PAIR}).query('shoe')", "UsageError: there is no query 'shoe'; did you mean 'shoes'?"),
        (f"compare({PAIR}).assert_thresholds()", "UsageError: there are no thresholds"),
        (f"compare({PAIR}).assert_thresholds('mean RR >= 1')", "applies to one run and not to a difference"),
        ("compare('request:current', 'request:candidate')", "UsageError: request:current is asked with the queries"),
        ("compare('current', 'shop', suite='shop.relevance.yaml')", "the request of that name is 'request:current'"),
    ],
)
def test_what_cannot_be_is_an_error_with_a_sentence(
    shop: Path, run: Run, pytester: pytest.Pytester, call: str, said: str
) -> None:
    pytester.makepyfile(f"def test_it(relevance):\n    relevance.{call}\n")

    result = run("--deselect", "shop.relevance.yaml")

    result.assert_outcomes(failed=1, deselected=1)
    assert said in " ".join(result.outlines)


def test_rankings_that_were_scored_otherwise_are_refused(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from harness.errors import UsageError

        def test_it(relevance):
            first = relevance.evaluate({"q": ["a"]}, {"q": {"a": 1}}, measures=["RR"])
            second = relevance.evaluate({"q": ["a"]}, {"q": {"b": 1}}, measures=["RR"])
            with pytest.raises(UsageError, match="not scored alike: queries q are judged differently"):
                relevance.compare(first, second)

        def test_nothing_in_common(relevance):
            judgments = {"q": {"a": 1}, "r": {"a": 1}}
            first = relevance.evaluate({"q": ["a"]}, judgments, measures=["RR"])
            second = relevance.evaluate({"r": ["a"]}, judgments, measures=["RR"])
            with pytest.raises(UsageError, match="there is no query on which to compare"):
                relevance.compare(first, second)
        """
    )

    run().assert_outcomes(passed=2)
