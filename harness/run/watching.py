"""Looks at the state of a target before, between and after the searches of a run."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from harness.model import IndexState

SECONDS_FOR_STATE = 5.0
"""How long one request of a look may take."""

SHARE = 0.05
"""The part of the time of a run that looks may take while its queries are under way."""


class TargetWatch:
    """
    The *states* that a target was in, each only where it is not as at the look before.

    A change that is taken back before the searches end, such as an alias that is moved there and back, is seen if a
    look falls between. The quicker the server answers, the more often it is looked at.
    """

    def __init__(self, read: Callable[[float], IndexState] | None, *, budget: float | None = None) -> None:
        """
        Args:
            read: Gives the state, with so many seconds for each request; None where nothing is looked at.
            budget: Seconds for the run, after which there is no look.
        """
        self.states: list[IndexState] = []
        self._read = read
        self._begun = perf_counter()
        self._budget = budget
        self._due = self._begun

    @property
    def first(self) -> IndexState | None:
        """The state at the first look, None if it is unknown."""
        return self.states[0] if self.states else None

    def look(self) -> None:
        """Look at the target now."""
        if self._read is None:
            return
        begun = perf_counter()
        left = SECONDS_FOR_STATE if self._budget is None else self._budget - (begun - self._begun)
        state = self._read(min(SECONDS_FOR_STATE, left))
        if state != (self.states[-1] if self.states else IndexState()):
            self.states.append(state)
        ended = perf_counter()
        self._due = ended + (ended - begun) / SHARE

    def look_if_due(self) -> None:
        """Look at the target if that was not done lately; called whenever a query has its response."""
        if perf_counter() >= self._due:
            self.look()
