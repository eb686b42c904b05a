"""
Steps and drifts of a line: where it moved at once, and where it moved over many runs. Pure.

A step is a difference of the medians of the runs before and after, which one odd run moves in neither direction. It
counts if it is larger than what single runs differ by. Nothing is decided by it: it says where to look.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from harness.extensions.history.model import Drift, Step

WINDOW = 5
"""Runs on each side whose median is compared, as in a threshold `since 5 runs`."""

LEAST_CHANGE = 0.002
"""Of a mean between 0 and 1, what is too small to be named."""

NOISES = 5.0
"""How many times the usual difference between two runs a step has to be."""

SHORTEST_DRIFT = 4 * WINDOW
"""Runs."""


def find_steps(values: Sequence[float | None]) -> tuple[Step, ...]:
    """
    The steps of a line, in its order; runs without a value are passed over.

    >>> find_steps([0.5] * 8 + [0.4] * 8)
    (Step(place=8, before=0.5, after=0.4),)
    >>> find_steps([0.5] * 8 + [0.1] + [0.5] * 8)
    ()
    """
    places, numbers = _select_known(values, 0, len(values))
    if len(numbers) < 2 * WINDOW:
        return ()
    least = find_least_change(numbers)
    candidates = []
    for index in range(WINDOW, len(numbers) - WINDOW + 1):
        runs_before, runs_after = numbers[index - WINDOW : index], numbers[index : index + WINDOW]
        before, after = median(runs_before), median(runs_after)
        # A line that drifts differs over the window too, but not between two runs, and not in each of them.
        jump = abs(numbers[index] - numbers[index - 1])
        is_apart = min(runs_before) > max(runs_after) or max(runs_before) < min(runs_after)
        if is_apart and abs(after - before) >= least and jump >= abs(after - before) / 2:
            candidates.append((abs(after - before), jump, index, before, after))
    steps: list[tuple[int, Step]] = []
    for _, _, index, before, after in sorted(candidates, key=lambda candidate: candidate[:2], reverse=True):
        # The medians around a step differ too; the greatest difference is where it is.
        if all(abs(index - chosen) >= WINDOW for chosen, _ in steps):
            steps.append((index, Step(places[index], before, after)))
    return tuple(step for _, step in sorted(steps, key=lambda pair: pair[0]))


def find_drifts(values: Sequence[float | None], steps: Sequence[Step]) -> tuple[Drift, ...]:
    """
    Where the line moved between two of its *steps*, in its order.

    >>> [(drift.first, drift.last) for drift in find_drifts([0.5 + run / 1000 for run in range(100)], ())]
    [(13, 90)]
    """
    _, numbers = _select_known(values, 0, len(values))
    if len(numbers) < SHORTEST_DRIFT:
        return ()
    least = find_least_change(numbers)
    drifts = []
    borders = [0, *(step.place for step in steps), len(values)]
    for begin, end in pairwise(borders):
        places, part = _select_known(values, begin, end)
        if len(part) < SHORTEST_DRIFT:
            continue
        before, after = median(part[:WINDOW]), median(part[-WINDOW:])
        if abs(after - before) >= least:
            first, last = _find_span(part, before, after)
            drifts.append(Drift(places[first], places[last], before, after))
    return tuple(drifts)


def _select_known(values: Sequence[float | None], begin: int, end: int) -> tuple[list[int], list[float]]:
    """The places from *begin* to *end* that have a value, and these values."""
    places, numbers = [], []
    for place in range(begin, end):
        value = values[place]
        if value is not None:
            places.append(place)
            numbers.append(value)
    return places, numbers


def _find_span(numbers: Sequence[float], before: float, after: float) -> tuple[int, int]:
    """The places between which medians of the line go from a tenth of the way to nine tenths of it."""
    first = 0
    for place in range(len(numbers)):
        runs_until = numbers[max(0, place - WINDOW + 1) : place + 1]
        share = (median(runs_until) - before) / (after - before)
        if share <= 0.1:
            first = place
        if share >= 0.9:
            return first, place
    return first, len(numbers) - 1


def find_least_change(numbers: Sequence[float]) -> float:
    """
    The least change that is more than what two runs in a row usually differ by.

    Where most runs are equal, as they are on an engine whose documents stay, it is the mean difference that counts; one
    step of the line must not hide itself in it, so the greatest tenth of the differences is left out.
    """
    differences = sorted(abs(second - first) for first, second in pairwise(numbers))
    usual = differences[: max(1, len(differences) * 9 // 10)]
    return max(LEAST_CHANGE, NOISES * sum(usual) / len(usual))
