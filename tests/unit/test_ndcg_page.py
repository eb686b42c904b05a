"""docs/explanation/ndcg.md: each figure of its tables is what the measures give."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.metrics import parse_measure, score_query
from harness.metrics.ties import tie_band

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "ndcg.md").read_text(encoding="utf-8")


def score(text: str, returned: list[float], missing: int = 0) -> float:
    """The score of a ranking with these grades, where *missing* documents of grade 1 are not returned."""
    grades = {str(rank): grade for rank, grade in enumerate(returned)}
    judgments = {**grades, **{f"missing{number}": 1.0 for number in range(missing)}}
    found = score_query(parse_measure(text), list(grades), judgments)
    assert found is not None
    return found


@pytest.mark.parametrize("row", ["3, 2, 3, 0, 1, 2", "3, 2, 0, 3, 1, 2"])
def test_the_order_counts(row):
    grades = [float(grade) for grade in row.split(", ")]
    figures = [score(f"{name}(gain=linear)@6", grades) for name in ("CG", "DCG", "nDCG")]
    assert f"| {row} | {figures[0]:g} | {figures[1]:.3f} | {figures[2]:.3f} |" in PAGE


def test_what_it_does_not_see():
    negative = "nDCG(gain={-1: -1, 0: 0, 1: 1})@4"
    assert score("nDCG@4", [1, 1, 1, 0]) == score("nDCG@4", [1, 1, 1]) == 1
    assert f"`{negative}`: 1 and {score(negative, [1, 1, 1, -1]):.3f}" in PAGE
    assert score(negative, [1, 1, 1]) == 1
    found = f"{score('nDCG@5', [1, 1, 1], 2):.3f}, P@3 is {score('P@3', [1, 1, 1], 2):g}"
    assert found in PAGE
    assert f"`R@5`: {score('R@5', [1, 1, 1], 2):g}; `nDCG(missing=-1)@5`: " in PAGE
    assert f"`nDCG(missing=-1)@5`: {score('nDCG(missing=-1)@5', [1, 1, 1], 2):.3f}" in PAGE
    assert f"`nDCG@5`: 1 and {score('nDCG@5', [1, 0, 0, 0, 0], 4):.3f}" in PAGE


def test_ties():
    band = tie_band(parse_measure("nDCG@3"), ["a", "b", "c"], [1, 1, 1], {"a": 3, "b": 0, "c": 0})
    assert f"from {band.least:g} to {band.greatest:g} in nDCG@3" in PAGE
