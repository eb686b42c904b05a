"""The scores of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Outcome(StrEnum):
    """The outcome of a query; docs/reference/outcomes.md describes each."""

    SCORED = "scored"
    ZERO_HITS = "zero hits"
    NOTHING_FOUND = "nothing found"
    """No hit for a query for which no result is right."""
    FALSE_HITS = "false hits"
    """Hits for such a query."""
    UNDEFINED = "undefined"
    ERROR = "error"
    NOT_RUN = "did not run"
    SKIPPED = "skipped"

    @property
    def is_unanswered(self) -> bool:
        """Whether the query failed or did not run, so that it has no ranking."""
        return self in (Outcome.ERROR, Outcome.NOT_RUN)


@dataclass(frozen=True, slots=True)
class Score:
    """One query's value of one measure; *value* is None unless *outcome* is SCORED or ZERO_HITS."""

    query: str
    measure: str
    value: float | None
    outcome: Outcome
    reason: str = ""
    machine_share: float | None = None
    """The share of a machine's grades among those that the score reads; None where no machine judges the query."""


ScoreTable: TypeAlias = Mapping[str, Mapping[str, Score]]
"""Query id to the text of a measure to the score."""


def index_scores(scores: Iterable[Score]) -> dict[str, dict[str, Score]]:
    """*scores* by query and measure."""
    table: dict[str, dict[str, Score]] = {}
    for score in scores:
        table.setdefault(score.query, {})[score.measure] = score
    return table
