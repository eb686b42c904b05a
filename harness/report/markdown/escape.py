"""Markdown with untrusted text escaped, within GitHub's limits of size: tables, notes, pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.report.safe_text import printable
from harness.words import count, shorten

# Text from servers and indexes, escaped.


_MARKDOWN = {ord(character): f"&#{ord(character)};" for character in "\\`*_~[]<>&|"}
_TRIGGER = re.compile(r"[@#$:!]|[~%](?=[\w\"])|(?<=\bwww)\.|(?<=\bgh)-(?=\d)", re.IGNORECASE)
"""Characters that begin a mention, a reference, a formula, the name of an emoji, or a link."""
_BEGINS_BLOCK = re.compile(r"^(\d+(?=[.)](?:\s|$))|)([-+=.)\s])")
"""Text at the start of a line that begins a list, or a line below a heading; blanks, which would begin code."""


def escape(text: str, *, most: int | None = None) -> str:
    """
    *text* on one line, escaped for Markdown and for HTML in Markdown; cut to the first *most* characters.

    It begins no list and no code either, as it would at the start of a line.

    >>> escape("a|b <i>")
    'a&#124;b &#60;i&#62;'
    >>> escape("thanks @somebody")
    'thanks <span>@</span>somebody'
    """
    return _BEGINS_BLOCK.sub(lambda found: f"{found[1]}&#{ord(found[2])};", escape_inside(text, most=most))


def escape_inside(text: str, *, most: int | None = None) -> str:
    """As `escape`, of a text that is not at the start of a line, such as that of a cell."""
    shown = printable(text if most is None else shorten(text, most))
    parts = []
    end = 0
    for found in _TRIGGER.finditer(shown):
        parts += [shown[end : found.start()].translate(_MARKDOWN), f"<span>{found[0].translate(_MARKDOWN)}</span>"]
        end = found.end()
    parts.append(shown[end:].translate(_MARKDOWN))
    return "".join(parts)


def format_code(text: str, *, most: int | None = None) -> str:
    """
    *text*, such as an id, a threshold or a path, as code, in which Markdown is not interpreted.

    >>> format_code("sku-17")
    '<code>sku-17</code>'
    """
    return f"<code>{escape(text, most=most)}</code>"


def format_block(text: str, *, most: int, language: str = "text") -> str:
    r"""
    Several lines unchanged, within a fence that none of them ends; cut to the first *most* characters.

    >>> print(format_block("a\n``b``", most=99))
    ```text
    a
    ``b``
    ```
    """
    lines = "\n".join(map(printable, text[:most].splitlines()))
    longest = max((len(run) for run in re.findall("`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{lines}\n{fence}"


# Markdown of several parts within a limit of size.
#
# Parts that would exceed GitHub's limit are left out and counted; the most important parts stay.


LARGEST_SUMMARY = 1024 * 1024
"""GitHub's limit for one step; it shows nothing of a larger summary."""

CLOSING_BYTES = 400
"""Bytes reserved for the sentence on what was left out."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part that is shown or left out as a whole, such as a suite or a query; a lower *turn* takes precedence."""

    turn: int
    noun: str
    text: str


def choose_sign(exit_status: int, *, decided: bool) -> str:
    """A sign for the exit status: a warning where nothing was *decided*."""
    if exit_status:
        return "❌"
    return "✅" if decided else "⚠️"


def fit_pieces(head: str, pieces: Sequence[Piece], limit: int) -> str:
    """*head*, and as many of *pieces* as fit in *limit* bytes of UTF-8."""
    chosen = _choose_pieces(pieces, limit - len(head.encode()) - CLOSING_BYTES)
    left_out = [piece.noun for place, piece in enumerate(pieces) if place not in chosen]
    parts = [head, *(pieces[place].text for place in sorted(chosen))]
    if left_out:
        counts = [count(left_out.count(noun), noun) for noun in dict.fromkeys(left_out)]
        parts.append(f"Omitted because of the size limit: {' and '.join(counts)}. See the HTML or JSON report.\n")
    return "\n".join(parts)


def _choose_pieces(pieces: Sequence[Piece], room: int) -> set[int]:
    """The places of *pieces* that fit in *room* bytes; none of a higher turn before all of a lower one."""
    chosen = set()
    for place in sorted(range(len(pieces)), key=lambda place: pieces[place].turn):
        room -= len(pieces[place].text.encode()) + 1
        if room < 0:
            break
        chosen.add(place)
    return chosen


# Tables in GitHub's and GitLab's Markdown.


def format_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> str:
    """
    Lay out a table.

    Args:
        headings: One per column; headings and cells are Markdown already.
        rows: Rows with as many cells as there are headings.
        right: The headings of columns to align right.

    Returns:
        The table's lines.

    >>> print(format_table(["measure", "mean"], [["P<span>@</span>5", "0.4"]], right=["mean"]))
    | measure | mean |
    | --- | ---: |
    | P<span>@</span>5 | 0.4 |
    """
    rules = ["---:" if heading in right else "---" for heading in headings]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (headings, rules, *rows))


# How much is shown.


MOST_TEXT = 500
"""Characters of a query's text, of a reason and of a note."""

NOTES_SHOWN = 30
