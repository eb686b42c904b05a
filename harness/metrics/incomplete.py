"""Measures for judgments that do not cover what was returned."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["judged"]


def judged(grades: Sequence[float | None]) -> float:
    """
    The share of the hits that have a judgment, whatever its grade; 0 where there are no hits.

    *grades* are those of the first k hits, None for an unjudged document. Divided by the hits there are, not by k:
    a short ranking is not an unjudged one.

    Source: Judged@k of ir_measures.

    >>> judged([3, None, 0, None])
    0.5
    """
    return sum(grade is not None for grade in grades) / len(grades) if grades else 0.0
