"""How deep two sides can be compared, and what would look deeper. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from harness.comparing.sides import ComparedSide
from harness.errors import UsageError
from harness.model import Measure, Suite

__all__ = ["Depths"]


@dataclass(frozen=True, slots=True)
class Depths:
    """
    How many hits of a query each side was asked for, by its name; None where its rankings are whole.

    *suite* is the file of the suite that both are compared by, and *of_suite* how many hits its requests ask for; empty
    and None without one.
    """

    sides: tuple[tuple[str, int | None], ...]
    suite: str = ""
    of_suite: int | None = None

    @classmethod
    def of(cls, pair: Iterable[ComparedSide], suite: Suite | None) -> Self:
        """Those of two sides that are there."""
        return cls.named(((one.side.name, one.depth) for one in pair), suite)

    @classmethod
    def named(cls, sides: Iterable[tuple[str, int | None]], suite: Suite | None) -> Self:
        """Those of *sides* that may have to be asked yet."""
        asks = suite is not None and bool(suite.requests)
        return cls(tuple(sides), suite.path if suite else "", suite.depth if suite and asks else None)

    @property
    def common(self) -> int | None:
        """How many hits both have of a query; None where the rankings are whole."""
        known = [depth for _, depth in self.sides if depth is not None]
        return min([*known, self.of_suite] if self.of_suite is not None else known, default=None)

    def refuse_ranks(self, depth: int | None) -> None:
        """
        Raise UsageError where *depth* ranks are more than both have.

        None asks for as many as there are.
        """
        if depth is not None and self.common is not None and depth > self.common:
            raise UsageError(
                f"depth {depth} is deeper than the {self.common} hits a query that {self._whose()} asked for"
            )

    def refuse_measures(self, measures: Iterable[Measure]) -> None:
        """Raise UsageError where one of *measures* looks at more hits than both have; names all such."""
        deeper = sorted({one.text for one in measures if self.common is not None and (one.cutoff or 0) > self.common})
        if deeper:
            names = ", ".join(deeper)
            raise UsageError(
                f"{names} looks at more hits than the {self.common} a query that {self._whose()} asked for"
            )

    def _whose(self) -> str:
        return " and ".join(name for name, depth in self.sides if depth == self.common) or self.suite
