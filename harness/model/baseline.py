"""A baseline: what is kept of a run, and what a later run is compared with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.model.run import IndexFacts, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Json, Profile


@dataclass(frozen=True, slots=True)
class BaselineQuery:
    """One query in a baseline."""

    outcome: Outcome
    question: str
    """See `Question.fingerprint`."""
    text: str
    """Masked, as are *params*. Kept for readers even if the request does not use it."""
    judgments: str
    """A fingerprint of the judgments of *scores*."""
    ranking: tuple[tuple[str, int | float | None], ...] = ()
    """Document id and engine score, best first."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Measure to score."""
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Measure to its least and greatest score over all orders of tied documents, for measures where they differ."""
    weight: float = 1.0
    """Its weight in means."""
    params: Mapping[str, Json] | None = field(default_factory=dict)
    """Those that the request uses; None if they are too large."""
    tail: tuple[str, ...] = ()
    """Documents below the ranking that tie with its last hit."""
    closed: bool = False
    """Whether *tail* is complete: no other document ties with it."""
    sort: tuple[tuple[Json, ...] | None, ...] = ()
    """`Hit.sort` of each hit; empty where the engine sorted by score."""
    exact_scores: bool = False
    """As in `Ranking`."""
    short: bool = False
    """
    Whether the ranking has fewer hits than were requested. It shows a depth of the entry that was changed by hand: a
    ranking of ten hits would else be taken for all of twenty.
    """
    created: str | None = None
    """The day it was saved, an ISO date; None if it was saved with the entry, from the same index."""
    documents: int | None = None
    """The number of documents of the index on that day; None if it is unknown, or if *created* is None."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A stored run of one request, and its source."""

    created: str
    """An ISO date. Queries that a later save left out have a date of their own."""
    harness: str
    engine: str
    gain: str
    profile: Profile
    depth: int
    """The number of hits requested."""
    template: str
    """A fingerprint of the request before placeholders were filled."""
    index: IndexFacts
    queries: Mapping[str, BaselineQuery]
    request: Json = None
    """The request, masked; None if it is too large."""
    cluster: str = ""
    """The name in relevance.toml of the target's cluster, masked. Empty for a URL, and in earlier entries."""


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """The baselines of one suite."""

    suite: str
    requests: Mapping[str, Baseline]
    """By the name of the request."""
    schema: int = 2
    """The version of the file format."""


TEXT = "text"
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
            is_used_once = (TEXT in mine) != (TEXT in theirs)
            return is_used_once and self.text != other.text
        return self.text != other.text


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

    @property
    def called(self) -> str:
        """Its name in sentences."""
        return self.name or "the baseline"
