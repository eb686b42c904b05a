"""Plain texts of the code, such as the help of an option, as Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

CODE = re.compile(r"(`[^`]*`)")
OPTION_OR_NAME = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|[^\s`(),;]*[*_][^\s`(),;]*[^\s`(),;.:])")
"""An option, or a word that Markdown would read as emphasis."""


def mark_code(text: str) -> str:
    """*text* with options, and words that have a star or an underscore, in backticks."""
    parts = CODE.split(text)
    # The parts at odd places are in backticks already.
    parts[::2] = [OPTION_OR_NAME.sub(r"`\1`", part) for part in parts[::2]]
    return "".join(parts)


def write_paragraph(text: str) -> str:
    """*text* as a paragraph in lines of the width that the pages have."""
    words = " ".join(mark_code(text).split())
    return "\n".join(textwrap.wrap(words, 120, break_long_words=False, break_on_hyphens=False))


def write_block(language: str, lines: Iterable[str]) -> str:
    """A fenced block."""
    return "\n".join([f"```{language}", *lines, "```"])


def write_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown, in which a bar is escaped here."""
    lines = [write_row(header), "|---" * len(header) + "|"]
    lines.extend(write_row(row) for row in rows)
    return "\n".join(lines)


def write_row(cells: Iterable[str]) -> str:
    escaped = [cell.replace("|", r"\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"
