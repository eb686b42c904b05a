"""
Markdown of several parts that stays small enough to be shown.

What would make it larger than GitHub takes is left out, the worst last, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.figures import counted_text

__all__ = ["MOST_BYTES", "Piece", "fitted", "sign"]


MOST_BYTES = 1024 * 1024
"""What GitHub takes of one step; it shows nothing at all of a larger summary."""

CLOSING_BYTES = 400
"""Kept free for the sentence on what was left out."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part that is in or out as a whole, such as a suite, or a query; those of a lower *turn* come in first."""

    turn: int
    noun: str
    text: str


def sign(exit_status: int, *, decided: bool) -> str:
    """Whether all is well, and a warning where nothing was *decided*."""
    if exit_status:
        return "❌"
    return "✅" if decided else "⚠️"


def fitted(head: str, pieces: Sequence[Piece], limit: int) -> str:
    """*head*, and as many of *pieces* as there is room for in *limit* bytes of UTF-8."""
    chosen = _chosen(pieces, limit - len(head.encode()) - CLOSING_BYTES)
    left_out = [piece.noun for place, piece in enumerate(pieces) if place not in chosen]
    parts = [head, *(pieces[place].text for place in sorted(chosen))]
    if left_out:
        counts = [counted_text(left_out.count(noun), noun) for noun in dict.fromkeys(left_out)]
        parts.append(f"Left out, for no more would be shown: {' and '.join(counts)}. An HTML or JSON report has all.\n")
    return "\n".join(parts)


def _chosen(pieces: Sequence[Piece], room: int) -> set[int]:
    """Which of *pieces* there is room for: none of a higher turn before all of a lower one."""
    chosen = set()
    for place in sorted(range(len(pieces)), key=lambda place: pieces[place].turn):
        room -= len(pieces[place].text.encode()) + 1
        if room < 0:
            break
        chosen.add(place)
    return chosen
