"""What sentences for people share: numbers of things, and lists of names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["count", "listed", "one_of"]

NAMES_SHOWN = 3


def count(size: int, noun: str) -> str:
    """
    A number of things.

    >>> count(1, "query"), count(2000, "query"), count(3, "document")
    ('1 query', '2,000 queries', '3 documents')
    """
    if size == 1:
        return f"1 {noun}"
    return f"{size:,} {noun[:-1]}ies" if noun.endswith("y") else f"{size:,} {noun}s"


def one_of(names: Iterable[str]) -> str:
    """
    All of *names*, one of which is expected.

    >>> one_of(["html", "json", "markdown"]), one_of(["csv"])
    ('html, json or markdown', 'csv')
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def listed(names: Sequence[str]) -> str:
    """
    The first few of *names*, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    shown = ", ".join(names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
