"""The nearest known name, for errors that meet an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """
    The one of *known* that *name* was most likely meant to be, letter case aside, or None where nothing is near.

    >>> nearest("treshold", ["threshold", "measure"])
    'threshold'
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """
    The end of a sentence about an unknown *name*: ``; did you mean 'x'?`` or nothing.

    >>> did_you_mean("Mean", ["mean", "median"])
    "; did you mean 'mean'?"
    """
    match = nearest(name, known)
    return f"; did you mean {match!r}?" if match is not None else ""
