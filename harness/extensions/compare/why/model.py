"""What is known of the differences between two requests: which moved the mean, and which moved each query."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from harness.redaction import UNMASKED


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval, whose limits are None where the queries are too few for one."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class ArmEffect:
    """How much a difference moves the mean: from the request of an arm to the end that it is compared with."""

    mean: Estimate
    """Its interval is simultaneous over all differences."""
    share: Estimate | None = None
    """Of the whole difference; None where that is uncertain."""
    judged: float | None = None
    """The mean share of judged hits of the arm; None where it is not known."""
    range_low: float | None = None
    """The mean if unjudged hits had the grades that lower it most, *range_high* raise it; None if all are judged."""
    range_high: float | None = None


class Finding(StrEnum):
    """Why a difference is named as a cause of the mean, or is not."""

    CAUSE = "cause"
    NOTHING = "moves nothing"
    NOISE = "within the noise"
    OPPOSED = "one way alone, the other way beside the rest"
    UNCERTAIN = "uncertain"
    ONLY_ALONE = "only alone"
    ONLY_BESIDE = "only beside the rest"
    UNJUDGED = "unjudged hits may undo it"
    REFUSED = "refused"
    """The engine answers neither request without it, or with it alone."""


@dataclass(frozen=True, slots=True)
class ExplainedDifference:
    """A difference with its two arms."""

    name: str
    """What changed, in short."""
    places: tuple[str, ...]
    """The JSON pointers of what is switched together."""
    finding: Finding | None
    """None where no cause of the mean was looked for."""
    reverted: ArmEffect | None = None
    """From the new request without it to the new one; None where the engine refuses the arm."""
    alone: ArmEffect | None = None
    """From the old request to the old one with it."""
    refusal: str = ""
    """What the engine says of an arm that it refuses."""


@dataclass(frozen=True, slots=True)
class QueryEffect:
    """How much a difference moves the score of one query."""

    difference: int
    """Its place, from 0 on."""
    reverted: float | None
    """From the new request without it to the new one; None where the engine refuses that."""
    alone: float | None
    """From the old request to the old one with it."""


@dataclass(frozen=True, slots=True)
class ExplainedQuery:
    """A query whose score changed, and the differences that did it."""

    id: str = field(metadata=UNMASKED)
    change: float
    causes: tuple[tuple[int, ...], ...] = ()
    """
    Single differences, or pairs, by their places from 0 on, each of which takes the score back and brings it forth;
    empty where none does.
    """
    alone: tuple[int, ...] = ()
    """
    Without a cause, the differences each of which alone brings all of the change. Taken back, none of them takes the
    score back, as others move it, too.
    """
    effects: tuple[QueryEffect, ...] = ()
    """
    Of the differences in *causes*; without a cause, of all that move the score: first those in *alone*, then those that
    move it most.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyReport:
    """Which differences between two requests moved the results."""

    measure: str = field(metadata=UNMASKED)
    queries: int
    """The number of queries with a score of all requests."""
    level: float
    """The intervals leave out a true mean with at most this chance."""
    searches: int
    """Those that were sent for it, with those of both ends."""
    whole: Estimate
    """The mean difference of the new request to the old one."""
    floor: float
    """The greatest difference of means between two sends of the same request."""
    differences: tuple[ExplainedDifference, ...]
    moved: tuple[ExplainedQuery, ...]
    """Those that changed most come first."""
    unexplained: tuple[float, float] | None = None
    """The whole less the sums of all effects, alone and beside the rest, the lower first; None if one is unknown."""
    parts: tuple[ExplainedDifference, ...] = ()
    """The request and the index, each with all of its differences, where both differ."""
    together: Estimate | None = None
    """What these two do together beyond what each does alone."""
    elsewhere: Estimate | None = None
    """
    The mean difference of the old request, sent today, to the baseline that keeps it: what changed elsewhere, such as
    in the index; None where both requests are sent.
    """
    pairs: int = 0
    """The number of pairs of differences that were sent for queries that no single one explains."""
    pairs_left: int = 0
    """The number of pairs that `--searches` did not allow."""
    indexes: tuple[str, ...] = ()
    """How two indexes differ that exist already, a sentence each; none of it is named as a cause."""
    notes: tuple[str, ...] = ()

    @property
    def looks_for_causes(self) -> bool:
        """Whether a cause of the mean was looked for: not where the mean may have moved by chance."""
        return any(difference.finding is not None for difference in self.differences)

    @property
    def causes(self) -> tuple[ExplainedDifference, ...]:
        """The differences that are named as causes of the mean."""
        return tuple(difference for difference in self.differences if difference.finding is Finding.CAUSE)
