"""p-values of several measures at once, corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """
    Holm's (1979) adjusted p-values, in the order given: the chance of any false alarm stays at the level.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """
    Benjamini & Hochberg's (1995) adjusted p-values: the share of false alarms among the alarms stays at the level.

    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    adjusted, lowest = [0.0] * len(p_values), 1.0
    for place, index in enumerate(order):
        lowest = min(lowest, p_values[index] * len(order) / (len(order) - place))
        adjusted[index] = lowest
    return adjusted
