"""
The results of a run that depend on time and transport.

Each class here is the type of a field named `timing`, or part of one. Two runs with the same rankings have equal JSON
apart from the objects of that name, unless a latency threshold passes in only one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ReportTiming:
    """When a report was made."""

    created: str
    """An ISO 8601 time in UTC."""


@dataclass(frozen=True, slots=True)
class ShardCopy:
    """A started copy of a shard."""

    node: str
    """The name of its node."""
    allocation: str = ""
    """The allocation id, which changes when the copy is built again; empty if unknown."""
    primary: bool = False


@dataclass(frozen=True, slots=True)
class SuiteTiming:
    """How long the searches of a suite took, how many were sent again, and which shard copies answered."""

    search_seconds: float = 0.0
    """The duration of the search phase, including pauses and retries."""
    tail_seconds: float | None = None
    """The duration of the deeper searches for documents that tie with last hits; None if there were none."""
    resent: Mapping[str, int] = field(default_factory=dict)
    """Last reason, such as "status 429", to the number of queries whose request was sent again for it."""
    copies: tuple[Mapping[str, tuple[ShardCopy, ...]], ...] = ()
    """
    The started copies of each shard of the target, such as "products[0]"; the one that answers comes first. There are
    several entries, in order of time, if they changed while the queries ran; none if they are unknown.
    """
    repeats: tuple[Mapping[str, ShardCopy], ...] = ()
    """For each repeat after the first searches, the copy of each shard that answered; empty if unknown."""


@dataclass(frozen=True, slots=True)
class QueryTiming:
    """How long a query took."""

    took: float | None = None
    """The engine's or the service's own time in milliseconds; None if unknown."""
    to_last_byte: float | None = None
    """Milliseconds from the request to a service to the last byte of its answer; None for an engine."""


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """Fields of a verdict on latency that depend on time; other verdicts have them outside `timing`."""

    reason: str
    """A sentence."""
    observed: float | None = None
    """Milliseconds, None if there is no figure."""
    blamed: tuple[str, ...] = ()
    """The slow queries, slowest first."""
    repeats: tuple[float, float] | None = None
    """The least and the greatest observed value over the repeats of the run."""
