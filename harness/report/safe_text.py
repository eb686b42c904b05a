"""
Untrusted text made safe to print.

Ids, titles and messages come from indexes and servers. On a terminal, an escape sequence in a title could recolor
or rewrite what was printed before, and a bidirectional control could reverse an id; both are printed as escapes.
"""

from __future__ import annotations

import re

from harness.words import is_seen


def printable(text: str) -> str:
    r"""
    *text* on one line, with an escape for each character that is not printable.

    >>> printable("red\x1b[31m\nshoes")
    'red\\x1b[31m\\nshoes'
    """
    if text.isprintable():
        return text
    return "".join(character if is_seen(character) else _escape(character) for character in text)


def _escape(character: str) -> str:
    r"""*character* as an escape of Python, such as ``\x1b``."""
    return character.encode("unicode_escape").decode("ascii")


def join_lines(text: str) -> str:
    r"""
    *text*, which may have several lines, as one paragraph.

    >>> join_lines("A light tent\n  for two.")
    'A light tent for two.'
    """
    return " ".join(text.split())


def printable_lines(text: str) -> str:
    """*text* with its lines, each made printable."""
    return "\n".join(map(printable, text.split("\n")))


_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#(?:vso|teamcity)?\[)", re.MULTILINE)


def escape_commands(text: str, escape: str = r"\x") -> str:
    r"""
    *text* without what GitHub Actions, Azure Pipelines and TeamCity would execute as a command in a log.

    *escape* begins the number of a character.

    >>> escape_commands("::error::a suite")
    '\\x3a:error::a suite'
    """

    def escape_character(found: re.Match[str]) -> str:
        return f"{escape}23" if found[1] is None else f"{found[1]}{escape}3a"

    return _COMMAND.sub(escape_character, text)


def make_loggable(text: str) -> str:
    r"""
    *text* as `printable`, and no command of a CI system: for a line of a log.

    >>> make_loggable("##[stop-commands]x\x1b[31m")
    '\\x23#[stop-commands]x\\x1b[31m'
    """
    return escape_commands(printable(text))


def make_loggable_lines(text: str) -> str:
    """*text* with its lines, each made loggable."""
    return escape_commands(printable_lines(text))
