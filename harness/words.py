"""What sentences for people share: numbers of things, lists of names, and the name that was probably meant."""

from __future__ import annotations

import difflib
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


def listed(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """
    The first *most* of *names*, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    shown = ", ".join(names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def nearest(name: str, known: Iterable[str]) -> str | None:
    """
    The one of *known* that *name* was most likely meant to be, letter case aside, or None where nothing is near.

    >>> nearest("treshold", ["threshold", "measure"])
    'threshold'
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


def unknown_key(key: str, known: Iterable[str]) -> str:
    """
    What is wrong where a table holds *key*, and none of the *known* ones.

    >>> unknown_key("tresholds", ["thresholds", "queries"])
    "unknown key 'tresholds', expected thresholds, queries; did you mean 'thresholds'?"
    """
    known = tuple(known)
    return f"unknown key {key!r}, expected {', '.join(known)}{did_you_mean(key, known)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """
    The end of a sentence about an unknown *name*: ``; did you mean 'x'?`` or nothing.

    >>> did_you_mean("Mean", ["mean", "median"])
    "; did you mean 'mean'?"
    """
    match = nearest(name, known)
    return f"; did you mean {match!r}?" if match is not None else ""
