"""Markdown that is safe with text of others and stays small enough to be shown: tables, notes, pieces."""

from __future__ import annotations

import re

from harness.report.printable import printable

__all__ = ["block", "code", "escape"]


_MARKDOWN = {ord(character): f"&#{ord(character)};" for character in "\\`*_~[]<>&|"}
_TRIGGER = re.compile(r"[@#$:!]|[~%](?=[\w\"])|(?<=\bwww)\.|(?<=\bgh)-(?=\d)", re.IGNORECASE)
"""What begins a mention, a reference, a formula, the name of an emoji, a link."""
_BEGINS_BLOCK = re.compile(r"^(\d+(?=[.)](?:\s|$))|)([-+=.)\s])")
"""At the start of a line, a list or a line below a heading; blanks, which would begin code."""


def escape(text: str, *, most: int | None = None) -> str:
    """
    *text* on one line, to be put into Markdown or into HTML in Markdown; of more than *most* characters the first.

    >>> escape("a|b <i>")
    'a&#124;b &#60;i&#62;'
    >>> escape("thanks @somebody")
    'thanks <span>@</span>somebody'
    """
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    shown = printable(text)
    parts = []
    end = 0
    for found in _TRIGGER.finditer(shown):
        parts += [shown[end : found.start()].translate(_MARKDOWN), f"<span>{found[0].translate(_MARKDOWN)}</span>"]
        end = found.end()
    parts.append(shown[end:].translate(_MARKDOWN))
    return _BEGINS_BLOCK.sub(lambda found: f"{found[1]}&#{ord(found[2])};", "".join(parts))


def code(text: str, *, most: int | None = None) -> str:
    """
    *text* as an id, a threshold, a path: in the letters of code, in which nothing is looked for.

    >>> code("sku-17")
    '<code>sku-17</code>'
    """
    return f"<code>{escape(text, most=most)}</code>"


def block(text: str, *, most: int) -> str:
    r"""
    Several lines as they stand, below a fence that none of them ends; of more than *most* characters the first.

    >>> print(block("a\n``b``", most=99))
    ```text
    a
    ``b``
    ```
    """
    lines = "\n".join(map(printable, text[:most].splitlines()))
    longest = max((len(run) for run in re.findall("`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{lines}\n{fence}"
