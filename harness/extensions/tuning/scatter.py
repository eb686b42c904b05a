"""Charts of points: numbers -> coordinates. Words stand beside a drawing, so that a narrow one does not shrink them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

MARGIN = 8
"""The room around the outermost points, for their own size."""
REACH = 4
"""How far below the best the axis may reach, in distances from the best to the median; what is lower is at its end."""


@dataclass(frozen=True, slots=True)
class Axis:
    """From numbers to coordinates: *low* is at *first*, *high* at *last*."""

    low: float
    high: float
    first: float
    last: float

    def place(self, value: float) -> float:
        """
        The coordinate of *value*; one beyond the axis is at its end.

        >>> [Axis(0, 10, 100, 0).place(value) for value in (0, 5, 20)]
        [100.0, 50.0, 0.0]
        """
        if self.high <= self.low:
            return round((self.first + self.last) / 2, 1)
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return round(self.first + share * (self.last - self.first), 1)


@dataclass(frozen=True, slots=True)
class Dot:
    """A point; *kind* is its CSS class and says its shape, *title* what it says of itself."""

    x: float
    y: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Plane:
    """A drawing of *width* and *height* with its axes."""

    width: int
    height: int
    across: Axis
    up: Axis

    def place(self, dot: Dot) -> Dot:
        """*dot* at its coordinates; one that is lower than the axis is at its end, and says so by its class."""
        kind = dot.kind if dot.y >= self.up.low else f"{dot.kind} below"
        return replace(dot, x=self.across.place(dot.x), y=self.up.place(dot.y), kind=kind)

    def trace_steps(self, points: Sequence[tuple[float, float]]) -> str:
        """A line that goes across, then up, from point to point, as SVG writes it."""
        parts: list[str] = []
        for x, y in points:
            across, up = self.across.place(x), self.up.place(y)
            if parts:
                parts.append(f"H{across} V{up}")
            else:
                parts.append(f"M{across} {up}")
        return " ".join(parts)


def make_plane(
    width: int, height: int, dots: Iterable[Dot], levels: Iterable[float] = (), span: tuple[float, float] | None = None
) -> Plane:
    """
    A plane with room for *dots* and for lines at *levels*; *span* is that of the numbers across, by default the dots'.

    A few points that are much lower than the others would leave no room for these: the axis does not reach them.
    """
    all_dots, all_levels = list(dots), list(levels)
    heights = [dot.y for dot in all_dots]
    highest = max([*heights, *all_levels], default=1.0)
    lowest = min(heights, default=0.0)
    if heights:
        reach = REACH * (highest - statistics.median(heights))
        if reach > 0:
            lowest = max(lowest, highest - reach)
    lowest = min([lowest, *all_levels])
    if span is None:
        positions = [dot.x for dot in all_dots]
        span = (min(positions, default=0.0), max(positions, default=1.0))
    left, right = span
    across = Axis(left, right, MARGIN, width - MARGIN)
    # A drawing counts its height from the top.
    up = Axis(lowest, highest, height - MARGIN, MARGIN)
    return Plane(width, height, across, up)


@dataclass(frozen=True, slots=True)
class Scatter:
    """A chart: its dots as drawn, and the words beside it."""

    plane: Plane
    dots: tuple[Dot, ...]
    first: str
    """What stands at the left end; *last* at the right."""
    last: str
    lowest: str
    highest: str
    level: float | None = None
    """The height of a line across."""
    path: str = ""
    """A line of steps."""
    band: tuple[float, float] | None = None
    """Where a part of the plane begins that stands out, and how wide it is."""

    @property
    def below(self) -> int:
        """How many dots are lower than the axis."""
        return sum(dot.kind.endswith("below") for dot in self.dots)
