"""The interval of the best of several tries: it holds although the best was chosen."""

import numpy as np
import pytest

from harness.extensions.workbench.figures import find_best

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
