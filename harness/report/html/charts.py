"""Charts of a page: the distribution of a measure's scores over the queries, and the colors of grades."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.model.comparison import MovedDocument
from harness.model.report import QueryReport, RankedDocument
from harness.model.run import Unit, Verdict
from harness.report.run_sentences import format_grade
from harness.report.sentences import format_value

# The distribution of a measure's scores over the queries.


BINS = 20
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Bin:
    """*count* scores from *low* up to *high*, which belongs to the next bin except in the last."""

    low: float
    high: float
    count: int


def count_bins(scores: Iterable[float | None], *, around_zero: bool = False) -> tuple[Bin, ...]:
    """
    Counts of *scores* in `BINS` intervals of equal width; None and infinite numbers are not counted.

    If all scores are within [0, 1], as for most measures, the bins cover all of it, so that two measures and two runs
    can be compared by eye; else they cover the range of the scores. With *around_zero*, for differences, they extend
    equally to both sides, so that the bins, whose number is even, separate falls from rises.

    >>> [b.count for b in count_bins([0, 0.04, 0.5, 1, None])]
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    finite = [score for score in scores if score is not None and math.isfinite(score)]
    if not finite:
        return ()
    if around_zero:
        high = round_up(max(map(abs, finite)))
        low = -high
    else:
        low, high = _choose_interval(finite)
    counts = [0] * BINS
    for score in finite:
        counts[min(int(compute_share(score, low, high) * BINS), BINS - 1)] += 1
    edges = [low * (1 - index / BINS) + high * (index / BINS) for index in range(BINS + 1)]
    return tuple(Bin(edges[index], edges[index + 1], counts[index]) for index in range(BINS))


def compute_share(value: float, low: float, high: float) -> float:
    """The position of *value* between *low* (0) and *high* (1); computed from halves where their span overflows."""
    if math.isfinite(high - low):
        return (value - low) / (high - low)
    return (value / 2 - low / 2) / (high / 2 - low / 2)


def _choose_interval(scores: list[float]) -> tuple[float, float]:
    """The ends of the bins of *scores*: 0 and 1 if all are within, else the least and the greatest."""
    low, high = min(scores), max(scores)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    # Halves, as the difference of the largest numbers is infinite.
    if high / 2 == low / 2:
        margin = max(0.5, abs(low) / 1000)
        return max(low - margin, -_LARGEST), min(high + margin, _LARGEST)
    return low, high


def round_up(value: float) -> float:
    """
    The next 1, 2 or 5 times a power of ten: the end of an axis.

    >>> round_up(0.034), round_up(0.5), round_up(0)
    (0.05, 0.5, 1.0)
    """
    if value <= 0 or not math.isfinite(value):
        return 1.0
    exponent = math.floor(math.log10(value))
    for factor in (1, 2, 5, 10):
        end = float(f"{factor}e{exponent}")
        if value <= end and math.isfinite(end):
            return end
    return value


# Charts as drawn in a page: numbers -> coordinates.


METER_WIDTH = 120
PLOT_WIDTH = 320
PLOT_BASE = 92
PLOT_HEIGHT = 72
WHISKER_WIDTH = 160


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram in the coordinates of its drawing, with its interval as text."""

    x: float
    y: float
    width: float
    height: float
    count: int
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A histogram as drawn; *mean* is the position of its line."""

    bars: tuple[Bar, ...]
    low: str
    high: str
    most: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class Whisker:
    """A difference with its interval, as drawn on an axis around zero that ends at *end*."""

    low: float
    high: float
    point: float
    end: str


def format_edge(value: float) -> str:
    """An end of an interval with four decimals."""
    return format_value(round(value, 4))


def plot_bins(bins: Sequence[Bin], mean: float | None, edge: Callable[[float], str] = format_edge) -> Plot:
    """
    *bins* as bars, at least one of which must not be empty, and the position of the line of their *mean*.

    *edge* formats the ends of an interval; by default with four decimals.
    """
    low, high = bins[0].low, bins[-1].high
    most = max(scores.count for scores in bins)
    step = PLOT_WIDTH / len(bins)
    bars = []
    for index, scores in enumerate(bins):
        if scores.count:
            height = round(PLOT_HEIGHT * scores.count / most, 1)
            # A gap of one unit at each side separates the bars.
            bar = Bar(
                x=round(index * step + 1, 1),
                y=round(PLOT_BASE - height, 1),
                width=round(step - 2, 1),
                height=height,
                count=scores.count,
                low=edge(scores.low),
                high=edge(scores.high),
            )
            bars.append(bar)
    position = None
    if mean is not None and low <= mean <= high:
        position = round(compute_share(mean, low, high) * PLOT_WIDTH, 1)
    return Plot(tuple(bars), edge(low), edge(high), most, position)


def place_meter(verdict: Verdict) -> tuple[float, float] | None:
    """The positions of the observed and of the required value, for scores and shares between 0 and 1; else None."""
    observed, required = verdict.observed, verdict.required
    if verdict.unit not in (None, Unit.SHARE) or verdict.measure is None or observed is None or required is None:
        return None
    if not (0 <= observed <= 1 and 0 <= required <= 1):
        return None
    return round(observed * METER_WIDTH, 1), round(required * METER_WIDTH, 1)


def draw_whisker(low: float, high: float, point: float, end: float) -> Whisker | None:
    """An interval and its *point* on an axis from -*end* to *end*; None where one of the numbers is not finite."""
    if not all(map(math.isfinite, (low, high, point))):
        return None
    return Whisker(
        low=_find_coordinate(low, end),
        high=_find_coordinate(high, end),
        point=_find_coordinate(point, end),
        end=format_value(end),
    )


def _find_coordinate(value: float, end: float) -> float:
    """The coordinate of *value* on an axis from -*end* to *end*; one beyond the axis is at its end."""
    value_on_axis = min(max(value, -end), end)
    return round(compute_share(value_on_axis, -end, end) * WHISKER_WIDTH, 1)


# Grades and scores as colors. A color never stands alone: the grade, the score or a sign is written in it.


GRADE_STEPS = 4
SCORE_STEPS = 5
STRIP = 10
"""The ranks that a strip shows."""


@dataclass(frozen=True, slots=True)
class Strip:
    """The grades of the first hits: the shade and the text of each of *cells*; *label* has all of it in words."""

    cells: tuple[tuple[str, str], ...]
    label: str


def choose_shade(document: RankedDocument | MovedDocument, greatest: float) -> str:
    """
    The CSS class that colors a document; *greatest* is the greatest gain of all.

    >>> choose_shade(RankedDocument(1, "a", grade=3, gain=7.0), 7.0)
    'gain-4'
    """
    if document.gain is None:
        return "unjudged"
    if document.gain < 0:
        return "gain-negative"
    if document.gain == 0:
        return "gain-0"
    share = document.gain / greatest if greatest > 0 else 1.0
    return f"gain-{min(GRADE_STEPS, int(share * GRADE_STEPS) + 1)}"


def find_greatest_gain(documents: Iterable[RankedDocument | MovedDocument]) -> float:
    """The greatest gain of *documents*, 0 where none has one."""
    return max((document.gain for document in documents if document.gain is not None), default=0.0)


def make_strip(query: QueryReport, greatest: float, depth: int) -> Strip:
    """
    The grades of the first hits of *query*, up to *depth*; a rank without a hit has an empty cell.

    Where only quotes are judged, a cell has how many of them the hit holds.

    >>> make_strip(QueryReport("q", "", "scored", ranking=(RankedDocument(1, "a", 3, 7.0),)), 7.0, 2)
    Strip(cells=(('gain-4', '3'), ('', '')), label='grades by rank: 3, no hit')
    """
    ranks = min(STRIP, depth)
    hits = query.ranking[:ranks]
    cells = []
    texts = []
    for hit in hits:
        if query.has_only_quotes:
            held = sum(hit.rank in dict(quote.hits) for quote in query.quotes)
            cells.append(("gain-4" if held else "gain-0", f"{held}"))
            texts.append(f"{held}")
            continue
        grade = "?" if hit.grade is None else _shorten_grade(hit.grade)
        cells.append((choose_shade(hit, greatest), grade))
        texts.append(format_grade(hit))
    empty = ranks - len(hits)
    cells += [("", "")] * empty
    if empty == 1:
        texts.append("no hit")
    elif empty:
        texts.append(f"{empty} ranks without a hit")
    heading = "quotes" if query.has_only_quotes else "grades"
    return Strip(tuple(cells), f"{heading} by rank: {', '.join(texts)}")


def _shorten_grade(grade: float) -> str:
    """A grade in a cell of three characters: "0.25" without the 0, and the beginning of any other."""
    text = format_value(grade)
    if text.startswith("0."):
        return text[1:4]
    return text[:3]


def choose_step(value: float | None, bins: Sequence[Bin]) -> str:
    """
    The CSS class that colors a score of a measure whose *bins* span 0 to 1; empty for others, whose best is not known.

    >>> choose_step(0.5, count_bins([0.5])), choose_step(7.0, count_bins([7.0]))
    ('score-2', '')
    >>> choose_step(math.inf, count_bins([0.5]))
    ''
    """
    if value is None or not math.isfinite(value) or not bins or (bins[0].low, bins[-1].high) != (0.0, 1.0):
        return ""
    return f"score-{min(SCORE_STEPS - 1, int(value * SCORE_STEPS))}"
