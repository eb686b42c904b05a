"""
Text of others made safe to print.

Ids, titles and messages come from indexes and servers. On a terminal, an escape sequence in a title could recolour or
rewrite what was printed before, and a bidirectional control could turn an id around; both are shown as what they are.
"""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"  # Persian, Indic scripts and emoji are written with these
_UNSEEN = (
    "Cc",
    "Cf",
    "Cs",
    "Zl",
    "Zp",
)  # controls, formats such as bidirectional ones, half pairs, line and paragraph separators


def printable(text: str) -> str:
    r"""
    *text* on one line, each character that is not for reading written as its escape.

    >>> printable("red\x1b[31m\nshoes")
    'red\\x1b[31m\\nshoes'
    """
    if text.isprintable():
        return text
    return "".join(character if _is_readable(character) else _escape(character) for character in text)


def _is_readable(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in _UNSEEN


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
