"""
What time and transport move in the results of a run.

Each of these stands in a field named `timing`. The JSON forms of two runs with the same rankings are equal without the
objects of that name, unless a threshold on latency holds in one of them only.
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
    """The name of the node that holds it."""
    allocation: str = ""
    """The id that a copy has until it is built anew; empty if unknown."""
    primary: bool = False


@dataclass(frozen=True, slots=True)
class SuiteTiming:
    """How long the searches of a suite took, and what it took to have their answers."""

    search_seconds: float = 0.0
    """The duration of the search phase, with all pauses and retries."""
    tail_seconds: float | None = None
    """The duration of the repeated searches for what ties with last hits; None if there were none."""
    resent: Mapping[str, int] = field(default_factory=dict)
    """The number of queries whose request was sent more than once, by the last reason, such as "status 429"."""
    copies: tuple[Mapping[str, tuple[ShardCopy, ...]], ...] = ()
    """
    The started copies of each shard of the target, such as "products[0]"; the one that answers comes first. More than
    one entry if they changed while the queries ran, in order of time; empty if unknown.
    """
    repeats: tuple[Mapping[str, ShardCopy], ...] = ()
    """The copy of each shard that answered the second repeat, and those that followed; empty if unknown."""


@dataclass(frozen=True, slots=True)
class QueryTiming:
    """How long a query took."""

    took: float | None = None
    """The engine's own time in milliseconds; None if unknown."""


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """What a verdict on latency has in place of fields of the same names that stand outside `timing` elsewhere."""

    reason: str
    """A sentence."""
    observed: float | None = None
    """Milliseconds, None if there is no figure."""
    blamed: tuple[str, ...] = ()
    """The slow queries, slowest first."""
    repeats: tuple[float, float] | None = None
    """The least and the greatest observed value over the repeats of the run."""
