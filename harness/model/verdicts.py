"""Scores, and what the gate decided on them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.model.conditions import Waiver
from harness.model.places import Mark

__all__ = ["Outcome", "Score", "Status", "Verdict"]


class Outcome(StrEnum):
    """What became of a query; decision 1 of the product, in docs/outcomes.md."""

    SCORED = "scored"
    ZERO_HITS = "zero hits"
    UNDEFINED = "undefined"
    ERROR = "error"
    NOT_RUN = "did not run"
    SKIPPED = "skipped"

    @property
    def is_unanswered(self) -> bool:
        """Whether there is no ranking though there was to be one: the query failed, or did not run."""
        return self in (Outcome.ERROR, Outcome.NOT_RUN)


@dataclass(frozen=True, slots=True)
class Score:
    """One query's value of one measure; *value* is None where *outcome* is not SCORED or ZERO_HITS."""

    query: str
    measure: str
    value: float | None
    outcome: Outcome
    reason: str = ""


class Status(StrEnum):
    """How a threshold came out; docs/outcomes.md has the exit status of each."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    WARNED = "warned"
    XFAILED = "expected failure"
    XPASSED = "unexpected pass"
    SKIPPED = "skipped"

    @property
    def is_undecided(self) -> bool:
        """Whether it neither passed nor failed: an answer is missing, or does not allow to decide."""
        return self in (Status.INCONCLUSIVE, Status.ERROR)


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What the gate decided about one threshold.

    *observed* and *required* are numbers in the measure's unit, None where there is none; *unit* names it where they
    are no score, rank or count. *reason* is a sentence for people. *blamed* holds the queries to look at, worst first;
    *query* is set for a query's own threshold. *counted* is how many queries went into it, *left_out* how many did not
    for being undefined or skipped. *caveat* is a sentence on why a threshold that holds tells less than it seems to.
    """

    id: str
    threshold: str
    status: Status
    reason: str
    observed: float | None = None
    required: float | None = None
    measure: str | None = None
    tag: str | None = None
    query: str | None = None
    blamed: tuple[str, ...] = ()
    counted: int = 0
    left_out: int = 0
    mark: Mark = Mark()
    waiver: Waiver | None = None
    markers: tuple[str, ...] = ()
    unit: str | None = None
    caveat: str = ""
