"""What sentences for people share: numbers of things, and lists of names."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["either"]


def either(names: Iterable[str]) -> str:
    """
    All of *names*, one of which is expected.

    >>> either(["html", "json", "markdown"]), either(["csv"])
    ('html, json or markdown', 'csv')
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
