"""A history as it is shown: runs in order, each with its figures of the day and by the judgments of today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.model.kept import HistoryEntry, HistoryFigure


class ChangeKind(StrEnum):
    """What changed between two runs; the values are the words of outputs."""

    JUDGMENTS = "judgments"
    SUITE = "suite"
    """Its queries, gain, profile or depth."""
    REQUEST = "request"
    MAPPING = "mapping"
    """Or the settings of the index."""
    DOCUMENTS = "documents"
    VERSIONS = "versions"


@dataclass(frozen=True, slots=True)
class StateChange:
    """One thing that changed since the run before, with its *text* in words."""

    kind: ChangeKind
    text: str


@dataclass(frozen=True, slots=True)
class TimelineFigure:
    """A measure at one point; None where it has none."""

    of_day: HistoryFigure | None
    rescored: HistoryFigure | None
    """By the judgments of today."""
    band: tuple[float, float] | None = None
    """
    The least and the greatest mean over all orders of tied documents, of *rescored* or else of the day; None if these
    do not move it, or if the judgments of the day are not known any more.
    """


@dataclass(frozen=True, slots=True)
class TimelinePoint:
    """One run."""

    entry: HistoryEntry
    figures: Mapping[str, TimelineFigure]
    """By measure."""
    tags: Mapping[str, Mapping[str, TimelineFigure]] = field(default_factory=dict)
    """By tag, then measure."""
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By the judgments of today: query to measure to value, without queries and measures that have none."""
    changes: tuple[StateChange, ...] = ()
    """Since the point before."""
    changed_queries: tuple[str, ...] = ()
    """Those that the suite asks otherwise by now, and that are not rescored."""

    def find_mean(self, measure: str, tag: str | None = None) -> float | None:
        """The mean by the judgments of today, of the queries with *tag*; that of the day if it cannot be rescored."""
        figure = self.get_figures(tag).get(measure)
        if figure is None:
            return None
        shown = figure.rescored or figure.of_day
        return None if shown is None else shown.mean

    def get_figures(self, tag: str | None = None) -> Mapping[str, TimelineFigure]:
        """By measure, of the queries with *tag*; of all queries if it is None."""
        return self.figures if tag is None else self.tags.get(tag, {})


@dataclass(frozen=True, slots=True)
class Step:
    """Where a line steps up or down between two runs, *place* being the second of them."""

    place: int
    before: float
    """The median of the runs before."""
    after: float

    @property
    def change(self) -> float:
        """How far it steps."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Drift:
    """Where a line moves without a step, from the run *first* to the run *last*."""

    first: int
    last: int
    before: float
    after: float

    @property
    def change(self) -> float:
        """How far it moves."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Timeline:
    """The runs of one suite with one request on one target, oldest first."""

    suite: str
    request: str
    chosen_index: str
    """The index that an option named in place of the suite's own; empty for that."""
    measures: tuple[str, ...]
    tags: tuple[str, ...]
    points: tuple[TimelinePoint, ...]
    older: int = 0
    """The number of runs before the first point that are left out."""
    steps: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    """By measure."""
    drifts: Mapping[str, tuple[Drift, ...]] = field(default_factory=dict)
    """By measure."""
    grades: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The judgments of today: query to document to grade."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The text of each query, as it was kept last."""
