"""What is kept of runs: the baseline of a suite, the entries of its history, and what a later run is compared with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.model.run import Cause, FoundQuotes, IndexFacts, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Json, Measure, Profile

TEXT_PLACEHOLDER = "text"
"""The placeholder of the text of a query."""

# The name of a param may hold blanks and colons, so a fingerprint ends at its last digit and not at the next blank.
_NAMED_FINGERPRINT = re.compile(r"(.+?):([0-9a-f]{16})(?: |$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question:
    """What a request asked: the text and the params of a query that it uses."""

    fingerprint: str
    """
    The name and the fingerprint of each value that the request uses: "near:a66c04a3661eb02f text:2c26b46b68ffc68f".
    Empty if it is unknown.
    """
    text: str
    """Masked, as are *params*. Known even if the request does not use it."""
    params: Json = None
    """Those that the request uses; None if they are unknown or too large."""

    @property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of each value by its name; empty if unknown."""
        return dict(_NAMED_FINGERPRINT.findall(self.fingerprint))

    def is_another(self, other: Question) -> bool:
        """
        Whether *other* has another text or other params.

        Two requests may use different values, such as the text and a vector. Then those that both use are compared,
        and the text if one of them uses it. Only the texts are compared if a fingerprint is unknown.
        """
        mine, theirs = self.fingerprints, other.fingerprints
        if mine and theirs:
            if any(mine[name] != theirs[name] for name in mine.keys() & theirs.keys()):
                return True
            is_used_once = (TEXT_PLACEHOLDER in mine) != (TEXT_PLACEHOLDER in theirs)
            return is_used_once and self.text != other.text
        return self.text != other.text


# Kept runs.


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuery:
    """One query of a kept run. A baseline keeps the engine's scores, and a history which documents tied by them."""

    outcome: Outcome
    question: str
    """See `Question.fingerprint`."""
    text: str
    """Masked, as are *params*. Kept for readers even if the request does not use it."""
    judgments: str
    """A fingerprint of the judgments of *scores*."""
    ranking: tuple[str, ...] = ()
    """The ids of the first hits, best first; as many as the suite requested."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Measure to score, on the day of the run."""
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """
    Measure to its least and greatest score over all orders of tied documents, for measures where they differ. Empty in
    a history, which computes them of the ranking where they are shown.
    """
    weight: float = 1.0
    """Its weight in means."""
    tail: tuple[str, ...] = ()
    """Documents below the ranking that tie with its last hit."""
    closed: bool = True
    """Whether *tail* is complete: no other document ties with the last hit."""
    found_quotes: FoundQuotes | None = None
    """What of the query's quotes the ranking and its tail hold; None for a query without quotes."""

    engine_scores: tuple[int | float | None, ...] | None = None
    """The engine's score of each hit; None in a history."""
    sort: tuple[tuple[Json, ...] | None, ...] = ()
    """`Hit.sort` of each hit; empty where the engine sorted by score."""
    exact_scores: bool = False
    """As in `Ranking`."""
    short: bool = False
    """
    Whether the ranking has fewer hits than were requested. It shows a depth of the entry that was changed by hand: a
    ranking of ten hits would else be taken for all of twenty.
    """
    params: Mapping[str, Json] | None = field(default_factory=dict)
    """Those that the request uses; None if they are too large."""
    created: str | None = None
    """The day it was saved, an ISO date; None if it was saved with the entry, from the same index."""
    documents: int | None = None
    """The number of documents of the index on that day; None if it is unknown, or if *created* is None."""

    ties: tuple[tuple[int, int], ...] = ()
    """The first and the last rank of each group of tied documents in a history; ranks count from 1."""
    judged: int = 0
    """The number of documents of *ranking* that were judged."""
    tags: tuple[str, ...] = ()

    @property
    def asked(self) -> Question:
        """What the request asked."""
        return Question(self.question, self.text, self.params)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """What is kept of a run of one request, as a `Baseline` or as a `HistoryEntry`."""

    created: str
    """An ISO date in a baseline. In a history a time in UTC, "2026-11-25T23:19:46.123456+00:00"."""
    harness: str
    engine: str
    gain: str
    profile: Profile
    depth: int
    """The number of hits requested."""
    queries: Mapping[str, KeptQuery]
    cluster: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(KeptRun):
    """
    The entry of a request in a file of baselines. Queries that a later save left out have a day of their own. Its
    cluster is the name in relevance.toml, masked: empty for a URL, and in earlier entries.
    """

    template: str
    """A fingerprint of the request before placeholders were filled."""
    index: IndexFacts
    request: Json = None
    """The request, masked; None if it is too large."""


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """The baselines of one suite."""

    suite: str
    requests: Mapping[str, Baseline]
    """By the name of the request."""
    schema: int = 2
    """The version of the file format."""


@dataclass(frozen=True, slots=True)
class HistoryFigure:
    """The mean of one measure on the day of the run."""

    mean: float | None
    """None if no query has a score."""
    queries: int
    """The number of queries with a score."""
    interval: tuple[float, float] | None = None
    """As in `MeasureSummary`."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry(KeptRun):
    """A run of one suite with one request, in a history. Its cluster is the name of the server, as in reports."""

    suite: str
    """The name of the suite."""
    request: str
    """The name of the request."""
    state: HistoryState
    measures: Mapping[str, HistoryFigure]
    tags: Mapping[str, Mapping[str, HistoryFigure]] = field(default_factory=dict)
    """Tag to measure to figure."""
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
    schema: int = 2
    """The version of the file format."""

    @property
    def moment(self) -> str:
        """By which entries are put in the order in which they were kept."""
        return self.kept or self.created

    @property
    def series(self) -> tuple[str, str, str]:
        """What entries share that are points of one line: the suite, the request, and the index that was chosen."""
        return self.suite, self.request, self.chosen_index or ""


# What a run is compared with.


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A stored text and the current one, compared line by line."""

    name: str
    """Either "request", "mapping" or "settings"."""
    lines: tuple[str, ...]
    """In the unified format without its header; secrets are masked."""
    left_out: int = 0
    """The number of further lines."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The baseline or other run that a run is compared with."""

    run: Run | None = None
    """None if there is none."""
    scores: Sequence[Score] = ()
    """With the current judgments, gain and profile."""
    depth: int = 0
    """The number of hits stored per query."""
    created: str = ""
    same_request: bool = False
    """Whether the request is unchanged."""
    changes: tuple[str, ...] = ()
    """Sentences on what changed since then."""
    problem: str = ""
    """Why there is no *run*."""
    cause: Cause = Cause.UNUSABLE_BASELINE
    """The same, for programs."""
    remedy: str = ""
    """How to solve *problem*."""
    updating: bool = False
    """Whether the current run is saved as the baseline, so that nothing is compared."""
    name: str = ""
    """Its name in sentences; empty for a baseline."""
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)
    """Query to its stored and its current question, where these differ; *run* does not contain these queries."""
    diffs: tuple[TextDiff, ...] = ()
    """Of the request, the mapping and the settings."""
    unsearched: tuple[str, ...] = ()
    """Queries whose kept hits were not searched for all quotes of today; *run* does not contain these queries."""

    @property
    def called(self) -> str:
        """Its name in sentences."""
        return self.name or "the baseline"

    def is_cut(self, measure: Measure, depth: int) -> bool:
        """
        Whether *measure*, which counts all hits, would lose some at *depth*, as it has no cutoff.

        Cut there, the rankings of then and of today lose the same hits, so that a drop is hidden.
        """
        return measure.cutoff is None and self.depth > depth


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
    repeats: tuple[int, ...] = ()
    """The numbers of runs that do not count, as they repeat the one that is judged; not those before all *entries*."""
    repeated: tuple[int, ...] = ()
    """Of runs that do not count, as a later one of the same commit and day repeats them."""
    file: str = ""
    """The file of the suite, as *other_files* are named."""
    other_files: tuple[str, ...] = ()
    """Files of suites of the same name, whose runs do not count."""
