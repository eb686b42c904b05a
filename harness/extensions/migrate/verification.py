"""The scores of a suite, compared with those of `_rank_eval` on the same cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain

from harness.model.run import Engine
from harness.model.suite import Profile


class CauseKind(StrEnum):
    """Why a score differs from that of `_rank_eval`."""

    GRADES = "grades"
    """`_rank_eval` takes only whole numbers as ratings; documents with other grades are not sent."""
    GAIN = "gain"
    """`_rank_eval` has only the exponential gain."""
    NEGATIVE = "negative grades"
    """In `_rank_eval` the gain of a grade below 0 is 2^grade - 1, which is negative; in the suite it is 0."""
    RULES = "rules"
    """The suite's profile, or a parameter of the measure, has other rules."""
    OVERFLOW = "overflow"
    """2^grade is too large for the numbers of `_rank_eval`, whose score is then NaN, infinite or 0."""
    UNDEFINED = "undefined"
    """The score is undefined in the suite, and 0 in `_rank_eval`."""
    PARAMETERS = "parameters"
    """`_rank_eval` does not support a URL parameter of the request."""
    SIZE = "size"
    """The request returns fewer hits than k, or ranks differently for another number of hits."""
    TIES = "ties"
    """Documents with the same score are in another order."""
    SCORES = "scores"
    """The engine gave the same documents other scores; `_rank_eval` does not support `preference`."""
    INDEXES = "indexes"
    """An id is in several indexes: its rating belongs to one of them, but each index may return a hit."""
    CHANGED = "changed"
    """The target changed during the run."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason for a difference."""

    kind: CauseKind
    change: float | None = None
    """How far it moves the score towards that of `_rank_eval`; None if one of the two is undefined or not finite."""
    documents: tuple[str, ...] = ()
    """The documents concerned, if any."""


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """A query whose score differs from that of `_rank_eval`."""

    query: str
    ours: float | None
    """None if it is undefined."""
    theirs: float
    """NaN or infinite if `_rank_eval` returns that."""
    causes: tuple[Cause, ...]

    @property
    def is_explained(self) -> bool:
        """Whether the whole difference has known reasons."""
        return bool(self.causes) and all(cause.kind is not CauseKind.UNKNOWN for cause in self.causes)


@dataclass(frozen=True, slots=True)
class VerifiedMeasure:
    """A measure of the suite and the nearest metric of `_rank_eval`."""

    measure: str
    metric: Mapping[str, Mapping[str, int | bool]]
    """As sent, such as ``{"dcg": {"k": 10, "normalize": true}}``."""
    queries: int
    """The number of queries compared."""
    ours: float | None
    """The suite's mean; None if no query has a score."""
    theirs: float | None
    """The unweighted mean of the scores of `_rank_eval`; None if there are none, or one is not finite."""
    differences: tuple[ScoreDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """One suite, run with one request, compared with `_rank_eval`."""

    suite: str
    path: str
    request: str
    index: str | None
    cluster: str
    engine: Engine
    profile: Profile
    tolerance: float
    """The largest difference at which two scores count as equal."""
    measures: tuple[VerifiedMeasure, ...]
    not_compared: tuple[str, ...] = ()
    """The measures that `_rank_eval` lacks."""
    unanswered: Mapping[str, str] = field(default_factory=dict)
    """Query to the reason why the run or `_rank_eval` did not answer it."""
    parameters: tuple[str, ...] = ()
    """The URL parameters of the request that `_rank_eval` does not support."""
    weighted: bool = False
    """Whether the suite's means are weighted; those of `_rank_eval` are not."""

    @property
    def compared(self) -> int:
        """The number of scores compared."""
        return sum(measure.queries for measure in self.measures)

    @property
    def unexplained(self) -> int:
        """The number of differences that known reasons do not fully explain."""
        differences = chain.from_iterable(measure.differences for measure in self.measures)
        return sum(not difference.is_explained for difference in differences)


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The result of ``relevance verify``."""

    verifications: tuple[Verification, ...]
    exit_status: int
    """3 if a query is unanswered, else 1 if a difference is unexplained or no score was compared, else 0."""
    schema: int = 1
    """The version of the JSON form."""
