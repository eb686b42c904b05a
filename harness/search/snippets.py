"""A short cut of a document's text, so that a person can tell what it is without looking it up."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from harness.model import ANY_TEXT, Json

__all__ = ["LENGTH", "lookup", "snippet_of"]


LENGTH = 200
"""Characters of a snippet."""

_SEPARATOR = " · "
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"


def snippet_of(source: Json, field: str, title_field: str | None = None) -> str | None:
    """
    The begin of the text in *field*, or of the longest text that is not the title where *field* is `ANY_TEXT`.

    A text of several words goes before one without a blank, which is an address or an image in letters. The snippet is
    one line of readable characters, cut at a word; None where there is nothing to read.
    """
    if field == ANY_TEXT:
        texts = [text for path, text in _texts(source) if path != title_field and isinstance(text, str)]
        found = max(texts, key=lambda text: (" " in text.strip(), len(text)), default="")
    else:
        found = _SEPARATOR.join(str(text) for _, text in _texts(lookup(source, field)))
    return _cut(_readable(found)) or None


def lookup(document: Json, path: str) -> Json:
    """The value at *path*, whose dots may be objects or part of a name, as engines take both for the same field."""
    if not isinstance(document, dict):
        return None
    if path in document:
        return document[path]
    for name, value in document.items():
        if path.startswith(f"{name}."):
            found = lookup(value, path[len(name) + 1 :])
            if found is not None:
                return found
    return None


def _texts(value: Json) -> Iterator[tuple[str, str | float]]:
    """Each text and number below *value* with its path, in the order of the document."""
    pending: list[tuple[str, Json]] = [("", value)]
    while pending:
        path, one = pending.pop()
        if isinstance(one, dict):
            pending += [(f"{path}.{name}" if path else name, held) for name, held in reversed(one.items())]
        elif isinstance(one, list):
            pending += [(path, held) for held in reversed(one)]
        elif isinstance(one, (str, int, float)) and not isinstance(one, bool):
            yield path, one


def _readable(text: str) -> str:
    """The begin of *text* on one line, more of it than is shown; characters that nobody sees are taken for blanks."""
    begin = "".join(character if _is_seen(character) else " " for character in text[: 4 * LENGTH])
    return " ".join(begin.split())


def _is_seen(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in _UNSEEN


def _cut(text: str) -> str:
    """*text* cut behind a word, or in a word that is longer than a snippet; the ellipsis counts."""
    if len(text) <= LENGTH:
        return text
    begin, blank, _ = text[:LENGTH].rpartition(" ")
    return f"{begin if blank else text[: LENGTH - 1]}…"
