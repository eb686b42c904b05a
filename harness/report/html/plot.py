"""Figures as drawn in a page: numbers -> places in a drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.model import Verdict
from harness.report.figures import plain_text
from harness.report.html.histogram import Bin, share_of

METER_WIDTH = 120
PLOT_WIDTH = 320
PLOT_BASE = 92
PLOT_HEIGHT = 72
WHISKER_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram in the coordinates of its drawing, and the interval it stands for as text."""

    x: float
    y: float
    width: float
    height: float
    count: int
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A histogram as drawn; *mean* is where its line stands."""

    bars: tuple[Bar, ...]
    low: str
    high: str
    most: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class Whisker:
    """A difference with its interval as drawn on an axis around zero that ends at *end*."""

    low: float
    high: float
    point: float
    end: str


def plotted(bins: Sequence[Bin], mean: float | None, edge: Callable[[float], str] | None = None) -> Plot:
    """
    *bins* as bars, of which there has to be one that is not empty, and where the line of their *mean* stands.

    *edge* writes the ends of an interval: with four decimals where none is given.
    """
    edge = edge or _edge
    low, high = bins[0].low, bins[-1].high
    most = max(one.count for one in bins)
    step = PLOT_WIDTH / len(bins)
    bars = []
    for index, one in enumerate(bins):
        height = round(PLOT_HEIGHT * one.count / most, 1)
        if one.count:
            place = (round(index * step + 1, 1), round(PLOT_BASE - height, 1), round(step - 2, 1), height)
            bars.append(Bar(*place, one.count, edge(one.low), edge(one.high)))
    position = None
    if mean is not None and low <= mean <= high:
        position = round(share_of(mean, low, high) * PLOT_WIDTH, 1)
    return Plot(tuple(bars), edge(low), edge(high), most, position)


def meter_marks(verdict: Verdict) -> tuple[float, float] | None:
    """Where the bar ends and where the required value stands, for measures between 0 and 1."""
    observed, required = verdict.observed, verdict.required
    if verdict.measure is None or observed is None or required is None:
        return None
    if not (0 <= observed <= 1 and 0 <= required <= 1):
        return None
    return round(observed * METER_WIDTH, 1), round(required * METER_WIDTH, 1)


def whisker(low: float, high: float, point: float, end: float) -> Whisker | None:
    """Where an interval and its *point* stand on an axis from -*end* to *end*; None where one of them is no number."""
    if not all(map(math.isfinite, (low, high, point))):
        return None
    places = [round(_placed(value, end), 1) for value in (low, high, point)]
    return Whisker(places[0], places[1], places[2], plain_text(end))


def _placed(value: float, end: float) -> float:
    return share_of(min(max(value, -end), end), -end, end) * WHISKER_WIDTH


def _edge(value: float) -> str:
    return plain_text(round(value, 4))
