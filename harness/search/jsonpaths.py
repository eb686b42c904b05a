"""
The hits in the answer of an application's own search API, found by JSONPath (RFC 9535).

A path that matches nothing because it is misspelled must not look like an answer without hits: where a list of items
is expected, there has to be one, and each item has to have its id.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, TypeAlias

from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment, JSONPathError
from jsonpath.function_extensions import Match, Search
from jsonpath.segments import JSONPathRecursiveDescentSegment

from harness.errors import UsageError
from harness.model import Hit, HttpRequest, Json, Ranking
from harness.search.hits import (
    MalformedAnswer,
    describe_kind,
    describe_value,
    drop_repeated_hits,
    is_text,
    make_printable,
    read_score,
    read_total,
)
from harness.words import count

SECONDS_TO_MATCH = 2.0
"""How long the regular expressions of one path may take for all of an answer."""

_END: ContextVar[float] = ContextVar("end of matching")


def _matches(function: Match | Search, name: str, value: object, pattern: object) -> bool:
    """Whether *pattern* fits a text; the package regex gives up at a time, as the standard library's cannot."""
    if not isinstance(value, str) or not isinstance(pattern, str):
        return False
    expression = function.check_cache(pattern)
    left = _END.get(math.inf) - time.monotonic()
    return expression is not None and bool(
        getattr(expression, name)(value, timeout=max(0.001, min(left, SECONDS_TO_MATCH)), concurrent=True)
    )


class _MatchInTime(Match):
    def __call__(self, value: object, pattern: object) -> bool:
        return _matches(self, "fullmatch", value, pattern)


class _SearchInTime(Search):
    def __call__(self, value: object, pattern: object) -> bool:
        return _matches(self, "search", value, pattern)


@cache
def _environment() -> JSONPathEnvironment:
    """RFC 9535, with regular expressions that end in time."""
    environment = JSONPathEnvironment(strict=True)
    environment.function_extensions["match"] = _MatchInTime(thread_safe=True)
    environment.function_extensions["search"] = _SearchInTime(thread_safe=True)
    return environment


Place: TypeAlias = tuple[int, ...]
"""The list indexes in the path of a value, which an item's id, score and title have in common."""


def read_service_answer(content: Json, http: HttpRequest) -> Ranking:
    """
    The ranking in *content*, found by the paths of *http*.

    Raises:
        MalformedAnswer: A path finds nothing, or a value of the wrong type, or a regular expression takes too long.
        UsageError: A path is not a JSONPath.
    """
    _END.set(time.monotonic() + SECONDS_TO_MATCH)
    try:
        return _read(content, http)
    except TimeoutError:
        raise MalformedAnswer(
            f"the regular expressions of the paths take more than {SECONDS_TO_MATCH:g} s for this answer"
        ) from None


def _read(content: Json, http: HttpRequest) -> Ranking:
    if not isinstance(content, (Mapping, list)):
        raise MalformedAnswer(f"the answer should be an object or a list, found {describe_kind(content)}")
    ids = _find(content, http.ids)
    scores = _column(content, http.scores, ids)
    if ids and not scores and http.scores is not None:
        raise MalformedAnswer(
            f"`{http.scores}` finds no score of {count(len(ids), 'hit')}; if there are none, remove it"
        )
    titles = _column(content, http.titles, ids)
    hits = [
        Hit(_id(value, http.ids), read_score(scores.get(place), f"`{http.scores}`"), _title(titles.get(place)))
        for place, value in ids.items()
    ]
    unique, duplicates = drop_repeated_hits(hits)
    total, doubt = _total(content, http.total, len(hits))
    if total and not hits:
        matches = count(total, "document")
        raise MalformedAnswer(f"`{http.ids}` finds no id, and `{http.total}` says that {matches} match")
    return Ranking(unique, total=total, duplicates=duplicates, total_doubt=doubt, exact_scores=True)


HAS_FUNCTION = re.compile(r"\b(?:match|search)\s*\(")


@lru_cache(maxsize=64)
def compile_path(text: str) -> JSONPath:
    """
    The compiled path *text*.

    Raises:
        UsageError: It is not a path, or more than one.
    """
    path = _compile(text)
    if isinstance(path, str):
        raise UsageError(f'"{text}" is not a JSONPath: {path}')
    return path


def find_path_problem(text: str) -> str | None:
    """Why *text* is not a JSONPath; None if it is."""
    path = _compile(text)
    return path if isinstance(path, str) else None


def _compile(text: str) -> JSONPath | str:
    """The path, or a sentence about the error."""
    if not text.startswith("$"):
        return "it should begin with $"
    if HAS_FUNCTION.search(text) and find_spec("regex") is None:
        return "its regular expressions need the package regex: pip install regex"
    try:
        path = _environment().compile(text)
    except JSONPathError as error:
        return _wrong_at(text, error)
    except (ValueError, OverflowError):  # the library reads numbers as Python does
        return "it has a number that is no index and no value of JSON"
    except RecursionError:
        return "the nesting is too deep"
    return "it is more than one path" if isinstance(path, CompoundJSONPath) else path


def _wrong_at(text: str, error: JSONPathError) -> str:
    """The library's message with its place, unless it contains names of the library's tokens."""
    token = getattr(error, "token", None)
    index = getattr(token, "index", -1)
    found = f"found {text[index:]!r} at character {index + 1}" if 0 <= index < len(text) else "found the end"
    said = str(error.args[0]) if error.args else ""
    in_its_own_words = not said or "TOKEN" in said or said.startswith("unexpected token")
    return f"{found}, which is invalid there" if in_its_own_words else f"{found}: {said}"


def _find(content: Json, text: str) -> dict[Place, Json]:
    """The values at the path, by the place of their item: the elements of a list, or the matches."""
    path = compile_path(text)
    if path.singular_query():
        return {(place,): value for place, value in enumerate(_only_list(content, path, text))}
    items = _items(content, path, text)
    found = list(path.finditer(content))
    if len(found) != len(items):
        raise MalformedAnswer(f"`{text}` finds {len(found)} values in {len(items)} items")
    return _placed([(match.parts, match.obj) for match in found])


def _placed(found: Sequence[tuple[Sequence[str | int], Json]]) -> dict[Place, Json]:
    places = [tuple(part for part in parts if isinstance(part, int)) for parts, _ in found]
    if len(set(places)) < len(places):  # members of an object have an order only
        places = [(place,) for place in range(len(found))]
    return {place: value for place, (_, value) in zip(places, found, strict=True)}


def _only_list(content: Json, path: JSONPath, text: str) -> list[Json]:
    found = path.findall(content)
    if len(found) != 1 or not isinstance(found[0], list):
        what = describe_kind(found[0]) if found else "nothing"
        raise MalformedAnswer(f"`{text}` should find a list, found {what}{_members(content)}")
    return found[0]


def _items(content: Json, path: JSONPath, text: str) -> list[Any]:
    """The matches of the path's last wildcard, such as `[*]`; each wildcard must have a container to match in."""
    choices = [number for number, segment in enumerate(path.segments) if not _is_single(path, segment)]
    found: list[Any] = [content]
    for choice in choices:
        container = _cut(path, choice)
        held = container.findall(content)
        wrong = [one for one in held if not isinstance(one, (list, Mapping)) or one == {}]
        if found and (wrong or not held):
            what = "nothing" if not held else "an empty object" if wrong[0] == {} else describe_kind(wrong[0])
            raise MalformedAnswer(f"`{text}` should find items at `{container}`, found {what}{_members(content)}")
        if len(held) < len(found):
            raise MalformedAnswer(
                f"`{text}` should find items at each `{container}`, found {len(held)} of {len(found)}"
            )
        found = _cut(path, choice + 1).findall(content)
    if not found and any(isinstance(path.segments[choice], JSONPathRecursiveDescentSegment) for choice in choices):
        raise MalformedAnswer(
            f"`{text}` finds nothing, and `..` cannot distinguish an empty list from a missing one: name the list"
        )
    return found


def _cut(path: JSONPath, length: int) -> JSONPath:
    return JSONPath(env=path.env, segments=path.segments[:length])


def _is_single(path: JSONPath, segment: Any) -> bool:
    return JSONPath(env=path.env, segments=(segment,)).singular_query()


def _members(content: Json) -> str:
    if not isinstance(content, Mapping):
        return f"; the answer is {describe_kind(content)}"
    return f"; the answer has {', '.join(f'`{name}`' for name in list(content)[:12]) or 'no members'}"


def _column(content: Json, text: str | None, ids: Mapping[Place, Json]) -> Mapping[Place, Json]:
    """Scores or titles by place; an item may lack one, but each must belong to an item."""
    if text is None:
        return {}
    path = compile_path(text)
    if path.singular_query():
        column: Mapping[Place, Json] = {(place,): one for place, one in enumerate(_only_list(content, path, text))}
    else:
        column = _placed([(match.parts, match.obj) for match in path.finditer(content)])
    if not column.keys() <= ids.keys():
        raise MalformedAnswer(f"`{text}` finds {len(column)} values that do not all belong to the {len(ids)} ids")
    return column


def _id(value: Json, text: str) -> str:
    if is_text(value) or type(value) is int:
        return str(value)
    raise MalformedAnswer(f"`{text}` should find ids, which are texts or whole numbers; found {describe_value(value)}")


def _title(value: Json) -> str | None:
    return None if value is None else make_printable(str(value))


def _total(content: Json, text: str | None, returned: int) -> tuple[int | None, str]:
    """The number of matching documents, or why it is unknown."""
    if text is None:
        return None, ""
    found = compile_path(text).findall(content)
    if len(found) != 1:
        return None, f"`{text}` finds {len(found)} values"
    return read_total(found[0], f"`{text}`", returned)
