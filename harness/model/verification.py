"""A suite's scores beside those of the cluster's own `_rank_eval`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.model.measure import Profile
from harness.model.run import Engine


class CauseKind(StrEnum):
    """Why a score is not that of `_rank_eval`."""

    GRADES = "grades"
    """Ratings are whole numbers; documents with other grades are not sent."""
    GAIN = "gain"
    """`_rank_eval` has the exponential gain only."""
    NEGATIVE = "negative grades"
    """A grade below 0 costs gain with `_rank_eval`: its gain is 2^grade - 1, not 0."""
    RULES = "rules"
    """The suite's profile, or a parameter of the measure, has other rules."""
    OVERFLOW = "overflow"
    """2^grade is too large for a number of `_rank_eval`, whose score is then NaN, infinite or 0."""
    UNDEFINED = "undefined"
    """The score is undefined, and 0 with `_rank_eval`."""
    PARAMETERS = "parameters"
    """`_rank_eval` does not take a parameter of the request's URL."""
    SIZE = "size"
    """The request asks for fewer hits than k, or ranks otherwise for another number of hits."""
    TIES = "ties"
    """Documents with the same score are in another order."""
    SCORES = "scores"
    """The engine gave the same documents other scores; `_rank_eval` takes no `preference`."""
    INDEXES = "indexes"
    """An id is in several indexes: a rating belongs to one of them, and a hit counts in each."""
    CHANGED = "changed"
    """The target changed meanwhile."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason of a difference."""

    kind: CauseKind
    change: float | None = None
    """How far it moves the score towards that of `_rank_eval`; None if one of the two is undefined or not finite."""
    documents: tuple[str, ...] = ()
    """Those that it is about, if any."""


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """A query whose score is not that of `_rank_eval`."""

    query: str
    ours: float | None
    """None if it is undefined."""
    theirs: float
    """NaN or infinite where `_rank_eval` says so."""
    causes: tuple[Cause, ...]

    @property
    def is_explained(self) -> bool:
        """Whether all of it has a known reason."""
        return bool(self.causes) and all(cause.kind is not CauseKind.UNKNOWN for cause in self.causes)


@dataclass(frozen=True, slots=True)
class VerifiedMeasure:
    """A measure of the suite and the nearest metric of `_rank_eval`."""

    measure: str
    metric: Mapping[str, Mapping[str, int | bool]]
    """As it is sent: ``{"dcg": {"k": 10, "normalize": true}}``."""
    queries: int
    """The number of queries compared."""
    ours: float | None
    """The mean of the suite; None if no query has a score."""
    theirs: float | None
    """The mean of the queries with `_rank_eval`, without weights; None if none was answered, or one is not finite."""
    differences: tuple[ScoreDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """One suite, run with one request, beside `_rank_eval`."""

    suite: str
    path: str
    request: str
    index: str | None
    cluster: str
    engine: Engine
    profile: Profile
    tolerance: float
    """Scores that differ by no more are equal."""
    measures: tuple[VerifiedMeasure, ...]
    not_compared: tuple[str, ...] = ()
    """The measures that `_rank_eval` lacks."""
    unanswered: Mapping[str, str] = field(default_factory=dict)
    """The queries that one of the two has no answer to, and why."""
    parameters: tuple[str, ...] = ()
    """The parameters of the request's URL that `_rank_eval` does not take."""
    weighted: bool = False
    """Whether the suite's means are weighted; those of `_rank_eval` are not."""

    @property
    def unexplained(self) -> int:
        """The number of differences without a known reason."""
        return sum(not one.is_explained for measure in self.measures for one in measure.differences)


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """All that ``harness verify`` compared."""

    verifications: tuple[Verification, ...]
    exit_status: int
    schema: int = 1
    """The version of the JSON form."""
