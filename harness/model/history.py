"""A history: what is kept of each run, to be shown over time, and what a later run is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.run import Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Profile


@dataclass(frozen=True, slots=True)
class HistoryFigure:
    """The mean of one measure on the day of the run."""

    mean: float | None
    """None if no query has a score."""
    queries: int
    """The number of queries with a score."""
    interval: tuple[float, float] | None = None
    """As in `MeasureSummary`."""
    band: tuple[float, float] | None = None
    """The least and the greatest mean over all orders of tied documents; None if these do not move it."""


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """One query of an entry. The scores of the engine are not kept, only which documents tied."""

    outcome: Outcome
    text: str
    """Masked."""
    question: str
    """See `Question.fingerprint`."""
    judgments: str
    """A fingerprint of the judgments of *scores*."""
    ranking: tuple[str, ...] = ()
    """The ids of the first hits, best first, in the order that was scored; as many as the suite requested."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Measure to score, on the day of the run."""
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Measure to its least and greatest score over all orders of tied documents, for measures where they differ."""
    ties: tuple[tuple[int, int], ...] = ()
    """The first and the last rank of each group of tied documents; ranks count from 1."""
    tail: tuple[str, ...] = ()
    """Documents below the ranking that tie with its last hit."""
    closed: bool = True
    """Whether *tail* is complete: no other document ties with the last hit."""
    judged: int = 0
    """The number of documents of *ranking* that were judged."""
    weight: float = 1.0
    """Its weight in means."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryState:
    """Fingerprints of what decides the scores of a run; those that are unknown are None. A change of one is marked."""

    suite: str
    """Of the queries: their ids, texts, params, tags and weights."""
    judgments: str
    request: str
    """As in `Baseline.template`."""
    mapping: str | None = None
    settings: str | None = None
    documents: int | None = None
    """Not a fingerprint: the number of documents of the index."""
    content: str | None = None
    """Changes if documents of the index are added, replaced or deleted."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A run of one suite with one request."""

    suite: str
    """The name of the suite."""
    request: str
    """The name of the request."""
    created: str
    """When it ran, in UTC, in the ISO format with microseconds: "2026-11-25T23:19:46.123456+00:00"."""
    harness: str
    engine: str
    gain: str
    profile: Profile
    depth: int
    """The number of hits requested."""
    state: HistoryState
    measures: Mapping[str, HistoryFigure]
    queries: Mapping[str, HistoryQuery]
    schema: int
    """The version of the file format; without a default, so that a file has to say it."""
    tags: Mapping[str, Mapping[str, HistoryFigure]] = field(default_factory=dict)
    """Tag to measure to figure."""
    cluster: str = ""
    """The name of the server, as in reports."""
    index: str | None = None
    """The searched index; None for a service."""
    chosen_index: str | None = None
    """The index that an option named in place of the suite's own."""
    commit: str | None = None
    """
    The commit of the working tree, or that which CI runs on; with "-dirty" at its end where files of the working tree
    were not as in that commit.
    """
    branch: str | None = None
    file: str | None = None
    """The file of the suite, relative to the root of its project; None in entries of earlier versions."""
    kept: str | None = None
    """
    Its place in the order of runs, written as *created*, where the clock was behind the entry that was kept before it.
    None where *created* is its place.
    """

    @property
    def moment(self) -> str:
        """By which entries are put in the order in which they were kept."""
        return self.kept or self.created

    @property
    def series(self) -> tuple[str, str, str]:
        """What entries share that are points of one line: the suite, the request, and the index that was chosen."""
        return self.suite, self.request, self.chosen_index or ""


@dataclass(frozen=True, slots=True)
class RescoredEntry:
    """An entry with the judgments, the gain and the profile of today."""

    entry: HistoryEntry
    run: Run
    """The kept rankings of the queries that the suite still has, with the same text and params."""
    scores: tuple[Score, ...]
    """Of the queries of *run*, by each measure of today's suite that *entry* has enough hits for."""
    same_request: bool = False
    """Whether the request is unchanged."""
    changed: tuple[str, ...] = ()
    """The queries that the suite has with another text or other params by now; they are not in *run*."""
    number: int = 0
    """Its number among the runs of its suite, request and index, counted from the oldest that is kept; 0 if unknown."""
    is_repeat: bool = False
    """Whether it repeats the run that is compared with it: the same commit, and the same rankings or index."""


@dataclass(frozen=True, slots=True)
class History:
    """The earlier entries that a run is compared with; those that count most are last."""

    entries: tuple[RescoredEntry, ...] = ()
    """As many as a threshold looks back, if there are so many, without those of *later*."""
    folder: str | None = None
    """The folder that they are from; None if none was named."""
    later: tuple[str, ...] = ()
    """When entries were created that do not count, as that is later than now."""
    entries_with_later: tuple[RescoredEntry, ...] = ()
    """As *entries*, if those of *later* counted too; empty if there are none of these."""
    newest: int = 0
    """The number of the newest entry that may count."""
    other_files: tuple[str, ...] = ()
    """Files of suites of the same name, whose runs do not count."""
