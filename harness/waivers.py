"""Until when a waiver, an expected failure or a skip, holds."""

from __future__ import annotations

from datetime import date

from harness.model import Waiver

__all__ = ["first_ended", "first_in_force", "in_force"]


def in_force(waiver: Waiver | None, today: date) -> bool:
    """Whether *waiver* is given and *today* is not after its last day."""
    return waiver is not None and (waiver.until is None or today <= waiver.until)


def first_in_force(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* that holds *today*; the one nearest to the threshold is given first."""
    return next((waiver for waiver in waivers if in_force(waiver, today)), None)


def first_ended(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* whose last day is over."""
    return next((waiver for waiver in waivers if waiver is not None and not in_force(waiver, today)), None)
