"""Tables in GitHub's and GitLab's Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["table"]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> str:
    """
    Lay out a table.

    Args:
        headings: One a column; they, and the cells, are Markdown already.
        rows: As many cells each as there are headings.
        right: The headings of columns with figures.

    Returns:
        The table's lines.

    >>> print(table(["measure", "mean"], [["P<span>@</span>5", "0.4"]], right=["mean"]))
    | measure | mean |
    | --- | ---: |
    | P<span>@</span>5 | 0.4 |
    """
    rules = ["---:" if heading in right else "---" for heading in headings]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rules, *rows))
