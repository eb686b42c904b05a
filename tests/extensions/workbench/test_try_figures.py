"""The interval of the best of several tries: it holds although the best was chosen."""

import numpy as np
import pytest

from builders.suites import make_suite
from harness.extensions.compare.coverage import find_range as find_range_of_runs
from harness.extensions.workbench.figures import ScoredSide, find_best, find_range, make_row, summarize
from harness.metrics import parse_measure
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Run
from harness.model.suite import Query

QUERIES = [f"q{number}" for number in range(40)]
WEIGHTS = dict.fromkeys(QUERIES, 1.0)


def make_differences(table):
    return {number: dict(zip(QUERIES, row, strict=True)) for number, row in enumerate(table, start=1)}


def test_the_best_is_that_with_the_greatest_mean():
    best = find_best(make_differences([[0.1] * 40, [0.3] * 20 + [0.1] * 20]), WEIGHTS)
    assert (best.number, best.of) == (2, 2)
    low, high = best.interval
    assert (low + high) / 2 == pytest.approx(0.2)


def test_weights_count():
    table = [[1.0] + [0.0] * 39, [0.0] + [0.1] * 39]
    heavy = WEIGHTS | {"q0": 100.0}
    assert find_best(make_differences(table), WEIGHTS).number == 2
    assert find_best(make_differences(table), heavy).number == 1


@pytest.mark.parametrize("differences", [{}, {1: {"q0": 0.1, "q1": 0.2}}, {1: {"q0": 0.1}, 2: {"q0": 0.2}}])
def test_with_one_try_or_query_there_is_nothing_to_correct(differences):
    assert find_best(differences, WEIGHTS) is None


def test_chance_alone_is_seldom_called_a_gain():
    """Of sessions with ten tries that change nothing, about one in twenty leaves out 0; without correction, a third."""
    generator = np.random.default_rng(7)
    corrected = plain = 0
    for _ in range(200):
        table = generator.normal(0.0, 0.1, size=(10, 40))
        low, _ = find_best(make_differences(table), WEIGHTS).interval
        corrected += low > 0
        row = table[table.mean(axis=1).argmax()]
        plain += row.mean() - 1.96 * row.std(ddof=1) / np.sqrt(40) > 0
    assert corrected <= 16
    assert plain >= 30


def make_side(suite, rankings):
    responses = {query: Ranking(tuple(map(Hit, ids))) for query, ids in rankings.items()}
    responses.setdefault("q2", Failure(FailureKind.ERROR, "no"))
    return ScoredSide(suite, parse_measure("nDCG@3"), responses, Run(responses, Engine("fake")))


def test_the_range_is_that_of_a_comparison():
    """Over the queries with an answer on both sides; where all hits are judged there is none."""
    grades = {"a": 3.0, "b": 1.0, "c": 0.0}
    suite = make_suite(*(Query(f"q{number}", "", judgments=grades, weight=1.0 + number) for number in range(3)))
    live = make_side(suite, {"q0": "abc", "q1": "bca", "q2": "abc"})
    tried = make_side(suite, {"q0": "bac", "q1": "xab"})
    low, high = find_range(live, tried)
    found = find_range_of_runs(suite, (live.run, tried.run), live.measure)
    assert (low, high) == (pytest.approx(found.low), pytest.approx(found.high))
    assert low < high
    assert find_range(live, make_side(suite, {"q0": "bac", "q1": "cab"})) is None


def test_the_latencies_are_percentiles_by_nearest_rank_as_thresholds_have_them():
    suite = make_suite(*(Query(f"q{number}", "", judgments={"a": 1.0}) for number in range(4)))

    def make_timed_side(times):
        responses = {f"q{number}": Ranking((Hit("a"),), took=took) for number, took in enumerate(times)}
        return ScoredSide(suite, parse_measure("nDCG@3"), responses, Run(responses, Engine("fake")))

    summary = summarize(make_timed_side([30, 10, 20, 40]), make_timed_side([1, 2, 3, 100]))
    assert summary.latency == {"live": (20, 40), "try": (2, 100)}


def test_hits_without_a_right_one_are_counted():
    shoes = Query("shoes", "shoes", judgments={"a": 1})
    suite = make_suite(shoes, Query("xq", "xq", nothing=True), measures=["P@1"], depth=2)
    live, tried = (
        ScoredSide(suite, parse_measure("P@1"), run.responses, run)
        for run in (
            Run({"shoes": Ranking((Hit("a"),)), "xq": Ranking(tuple(map(Hit, "abc")))}, Engine("fake")),
            Run({"shoes": Ranking((Hit("b"),)), "xq": Ranking()}, Engine("fake")),
        )
    )
    assert tried.scores == {"shoes": 0}
    rows = [make_row(live, side, query) for side in (live, tried) for query in suite.queries]
    assert [(row.query, row.score, row.found, row.unjudged) for row in rows] == [
        ("shoes", 1, None, 0),
        ("xq", None, "2 hits", 0),
        ("shoes", 0, None, 1),
        ("xq", None, "0 hits", 0),
    ]
    summary = summarize(live, tried)
    assert (summary.live, summary.tried, summary.unjudged) == (1, 0, 1)
