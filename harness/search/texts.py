"""The texts and URLs of a document, from its JSON, as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from harness.masking import is_vector
from harness.model.suite import Json
from harness.words import is_seen

SNIPPET_LENGTH = 200
"""Characters of a snippet."""

SEPARATOR = " · "
"""Between the values of a field that has several."""


def make_snippet(source: Json, title_field: str | None = None) -> str | None:
    """
    The beginning of the longest text that is not the title.

    A text of several words is preferred to one without a space, which may be a URL or encoded binary data. The snippet
    is one line of printable characters, cut at a word; None if there is no text.
    """
    texts = [text for path, text in _walk_texts(source) if path != title_field and isinstance(text, str)]
    text = max(texts, key=lambda text: (" " in text.strip(), len(text)), default="")
    return _cut_at_word(_clean(text)) or None


TEXT_LENGTH = 2_000
"""Characters of a field's text."""


def read_texts(source: Json, fields: Iterable[str]) -> dict[str, str]:
    """
    The text of each of *fields* that has one, as `make_text` makes it.

    >>> shoes = {"title": "Red  shoes", "sizes": [41, 42], "shop": {"city": "Bern"}}
    >>> read_texts(shoes, ["title", "sizes", "shop.city"])
    {'title': 'Red shoes', 'sizes': '41 · 42', 'shop.city': 'Bern'}
    """
    texts = {}
    for field in fields:
        text = make_text(find_value(source, field))
        if text:
            texts[field] = text
    return texts


def make_text(value: Json) -> str:
    """
    The texts and numbers in *value*, without vectors, on one line and cut after a word; empty if there are none.

    >>> make_text(["S", "M"]), make_text(False), make_text({"vector": [0.5] * 64, "model": "e5"})
    ('S · M', 'false', 'e5')
    """
    return _cut_at_word(_clean(_join_texts(value), TEXT_LENGTH), TEXT_LENGTH)


def read_urls(source: Json, fields: Iterable[str]) -> dict[str, str]:
    """
    The URL in each of *fields* that has one.

    >>> read_urls({"image": "https://shop.example/1.png", "name": "boots"}, ["image", "name"])
    {'image': 'https://shop.example/1.png'}
    """
    urls = {}
    for field in fields:
        url = find_url(find_value(source, field))
        if url is not None:
            urls[field] = url
    return urls


LONGEST_URL = 8_192
"""Characters of a URL; a signed one may have two thousand."""


def find_url(value: Json) -> str | None:
    """
    *value*, or the first of several, if it is a URL with http or https; else None, as a page may link to it.

    >>> find_url(["http://shop.example/a b", "x"]), find_url("javascript:alert(1)")
    (None, None)
    """
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, str) or len(value) > LONGEST_URL or not all(map(is_seen, value)) or " " in value:
        return None
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    return value if parts.scheme in ("http", "https") and parts.hostname else None


def find_value(document: Json, path: str) -> Json:
    """The value at *path*; its dots may be nested objects or part of a name, as for engines."""
    if not isinstance(document, dict):
        return None
    if path in document:
        return document[path]
    for name, value in document.items():
        if path.startswith(f"{name}."):
            found = find_value(value, path[len(name) + 1 :])
            if found is not None:
                return found
    return None


def _join_texts(value: Json) -> str:
    return SEPARATOR.join(str(text) for _, text in _walk_texts(value))


def _walk_texts(value: Json) -> Iterator[tuple[str, str | float]]:
    """Each text and number below *value* with its path, in document order; true and false as texts, no vectors."""
    pending: list[tuple[str, Json]] = [("", value)]
    while pending:
        path, current = pending.pop()
        # The last one is taken first, so members are added in reverse.
        if isinstance(current, dict):
            prefix = f"{path}." if path else ""
            pending += [(f"{prefix}{name}", member) for name, member in reversed(current.items())]
        elif is_vector(current):
            continue
        elif isinstance(current, list):
            pending += [(path, item) for item in reversed(current)]
        elif isinstance(current, bool):
            yield path, json.dumps(current)
        elif isinstance(current, (str, int, float)):
            yield path, current


def _clean(text: str, length: int = SNIPPET_LENGTH) -> str:
    """The beginning of *text* on one line, longer than *length*; invisible characters become spaces."""
    begin = "".join(character if is_seen(character) else " " for character in text[: 4 * length])
    return " ".join(begin.split())


def _cut_at_word(text: str, length: int = SNIPPET_LENGTH) -> str:
    """*text* cut after a word, or within a word longer than *length*; the ellipsis counts."""
    if len(text) <= length:
        return text
    beginning, space, _ = text[:length].rpartition(" ")
    if not space:
        beginning = text[: length - 1]
    return f"{beginning}…"
