"""An engine's error, as it stands in its JSON, as one sentence for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from harness.model import Json

__all__ = ["excerpt", "is_text", "printable", "reason_of", "walk_causes"]


LONGEST = 600
DEEPEST = 12
"""Causes that are followed down; an engine's own chains have three or four."""

HINTS: Mapping[str, str] = {
    "index_not_found_exception": "the target's `index:` names none that is there",
    "circuit_breaking_exception": "the node is out of memory for it",
    "es_rejected_execution_exception": "its search queue is full",
    "rejected_execution_exception": "its search queue is full",
}


def reason_of(error: Json) -> str:
    """
    What went wrong: type and reason of the root cause, where in the body, and the cause below it where it tells more.

    *error* is the ``error`` member of an answer: an object, or a plain text.

    >>> reason_of({"type": "parsing_exception", "reason": "unknown query [mtch]", "line": 1, "col": 18})
    'parsing_exception: unknown query [mtch], at line 1, column 18 of the request'
    """
    if not isinstance(error, Mapping):
        return excerpt(str(error)) if error else "the engine gives no reason"
    root = _root(error)
    parts = [_sentence(root)]
    line, column = root.get("line"), root.get("col")
    deeper = _deepest_reason(error)
    if isinstance(line, int) and isinstance(column, int) and line > 0:
        parts.append(f"at line {line}, column {column} of the request")
    elif deeper and deeper not in parts[0]:
        parts.append(f"because of {deeper}")
    hint = HINTS.get(str(root.get("type")))
    if hint:
        parts.append(hint)
    return excerpt(", ".join(parts))


def walk_causes(error: Json, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """*error* and every error inside it: root causes, failed shards' reasons, what they were caused by."""
    if not isinstance(error, Mapping) or depth > DEEPEST:
        return
    yield error
    for name in ("root_cause", "failed_shards", "failures"):
        inner = error.get(name)
        for one in inner if isinstance(inner, list) else ():
            yield from walk_causes(one, depth + 1)
    for name in ("caused_by", "reason"):
        yield from walk_causes(error.get(name), depth + 1)


def excerpt(text: str, longest: int = LONGEST) -> str:
    """*text* on one line, cut where it is longer than *longest*."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def is_text(value: Json) -> TypeGuard[str]:
    """Whether *value* is a text that is not empty and can be written: JSON may hold the half of a character."""
    return isinstance(value, str) and bool(value) and printable(value) is value


def printable(text: str) -> str:
    """*text* itself where UTF-8 can hold it, else with a question mark for each half of a character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def _root(error: Mapping[str, Any]) -> Mapping[str, Any]:
    causes = error.get("root_cause")
    if isinstance(causes, list) and causes and isinstance(causes[0], Mapping):
        return causes[0]
    return error


def _sentence(error: Mapping[str, Any]) -> str:
    kind, reason = error.get("type"), error.get("reason")
    if kind and isinstance(reason, str) and reason:
        return f"{kind}: {reason}"
    return str(kind or reason or "the engine gives no reason")


def _deepest_reason(error: Mapping[str, Any]) -> str | None:
    """The last link of the longest chain of causes: often what a person needs, such as a script's exception."""
    link: Json = _first_shard_reason(error) or error
    depth = 0
    while isinstance(link, Mapping) and isinstance(link.get("caused_by"), Mapping) and depth < DEEPEST:
        link, depth = link["caused_by"], depth + 1
    reason = link.get("reason") if isinstance(link, Mapping) else None
    return reason if depth and isinstance(reason, str) else None


def _first_shard_reason(error: Mapping[str, Any]) -> Json:
    shards = error.get("failed_shards")
    if isinstance(shards, list) and shards and isinstance(shards[0], Mapping):
        return shards[0].get("reason")
    return None
