"""
JSONPaths (RFC 9535) of a suite, and what they find in the answer of a service.

A path that matches nothing because it is misspelled must not look like an answer without hits: where a list of items
is expected, there has to be one.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, TypeAlias

from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch
from jsonpath.function_extensions import Match, Search
from jsonpath.segments import JSONPathRecursiveDescentSegment

from harness.errors import UsageError
from harness.model.suite import Json
from harness.search.hits import MalformedAnswer, describe_kind

SECONDS_TO_MATCH = 2.0
"""How long the regular expressions of one path may take for all of an answer."""

_END: ContextVar[float] = ContextVar("end of matching")


def start_matching() -> None:
    """Give the regular expressions of paths `SECONDS_TO_MATCH` for the answer that is read next in this thread."""
    _END.set(time.monotonic() + SECONDS_TO_MATCH)


def _matches(function: Match | Search, name: str, value: object, pattern: object) -> bool:
    """Whether *pattern* fits a text; the package regex gives up at a time, as the standard library's cannot."""
    if not isinstance(value, str) or not isinstance(pattern, str):
        return False
    expression = function.check_cache(pattern)
    if expression is None:
        return False
    seconds_left = _END.get(math.inf) - time.monotonic()
    timeout = max(0.001, min(seconds_left, SECONDS_TO_MATCH))
    return bool(getattr(expression, name)(value, timeout=timeout, concurrent=True))


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


class MissingList(MalformedAnswer):
    """A path finds nothing in place of its list: nothing matches, or the path is misspelled."""

    def __init__(self, message: str, *, has_parent: bool) -> None:
        """Args: *has_parent*: whether what would hold the list is there, so that the list alone is missing."""
        super().__init__(message)
        self.has_parent = has_parent


ListIndexes: TypeAlias = tuple[int, ...]
"""The list indexes in the path of a value, which an item's id, score and title have in common."""


HAS_FUNCTION = re.compile(r"\b(?:match|search)\s*\(")


@lru_cache(maxsize=1024)
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
        return _describe_error(text, error)
    except (ValueError, OverflowError):
        # The library reads numbers as Python does.
        return "it has a number that is no index and no value of JSON"
    except RecursionError:
        return "the nesting is too deep"
    return "it is more than one path" if isinstance(path, CompoundJSONPath) else path


def _describe_error(text: str, error: JSONPathError) -> str:
    """The library's message with its place, unless it contains names of the library's tokens."""
    token = getattr(error, "token", None)
    index = getattr(token, "index", -1)
    found = "found the end"
    if 0 <= index < len(text):
        found = f"found {text[index:]!r} at character {index + 1}"
    message = str(error.args[0]) if error.args else ""
    if not message or "TOKEN" in message or message.startswith("unexpected token"):
        return f"{found}, which is invalid there"
    return f"{found}: {message}"


def find_all(value: Json, text: str) -> list[Json]:
    """
    All that the path *text* finds in *value*, which may be a part of an answer.

    >>> find_all({"sizes": [41, 42]}, "$.sizes[*]"), find_all("sku-1", "$"), find_all("sku-1", "$.sku")
    ([41, 42], ['sku-1'], [])
    """
    path = compile_path(text)
    if isinstance(value, (Mapping, list)):
        return list(path.findall(value))
    # The library would parse a text as JSON.
    return [] if path.segments else [value]


def find_items(content: Json, text: str) -> dict[ListIndexes, Json]:
    """
    The items at the path *text* by their list indexes: the elements of a list, or the matches.

    Raises:
        MissingList: There is nothing in place of their list.
        MalformedAnswer: There is something else, or an item lacks its value.
    """
    path = compile_path(text)
    if path.singular_query():
        return {(number,): value for number, value in enumerate(_find_list(content, path, text))}
    items = _find_last_matches(content, path, text)
    values = _index_matches(path.finditer(content))
    if len(values) != len(items):
        raise MalformedAnswer(f"`{text}` finds {len(values)} values in {len(items)} items")
    return values


def _index_matches(matches: Iterable[JSONPathMatch]) -> dict[ListIndexes, Json]:
    """The values of *matches* by the list indexes in their paths: that of `hits[3].tags[0]` by (3, 0)."""
    values: list[Json] = []
    values_by_indexes: dict[ListIndexes, Json] = {}
    for match in matches:
        indexes = tuple(part for part in match.parts if isinstance(part, int))
        values.append(match.obj)
        values_by_indexes[indexes] = match.obj
    if len(values_by_indexes) == len(values):
        return values_by_indexes
    # Members of an object have no list index, so several have the same ones: they are numbered in their order.
    return {(number,): value for number, value in enumerate(values)}


def _find_list(content: Json, path: JSONPath, text: str) -> list[Json]:
    """The list that *path*, which has no wildcard, finds."""
    values = path.findall(content)
    if len(values) != 1 or not isinstance(values[0], list):
        kind = describe_kind(values[0]) if values else "nothing"
        message = f"`{text}` should find a list, found {kind}{list_members(content)}"
        if values in ([], [None]):
            raise MissingList(message, has_parent=_has_parent(content, path, len(path.segments)))
        raise MalformedAnswer(message)
    return values[0]


def _find_last_matches(content: Json, path: JSONPath, text: str) -> list[Any]:
    """The matches of the path's last wildcard, such as `[*]`; each wildcard must have a container to match in."""
    items: list[Any] = [content]
    has_descent = False
    for number, segment in enumerate(path.segments):
        if JSONPath(env=path.env, segments=(segment,)).singular_query():
            continue
        has_descent = has_descent or isinstance(segment, JSONPathRecursiveDescentSegment)
        container_path = JSONPath(env=path.env, segments=path.segments[:number])
        containers = container_path.findall(content)
        if items:
            problem = _find_container_problem(containers)
            if problem:
                members = list_members(content)
                message = f"`{text}` should find items at `{container_path}`, found {problem}{members}"
                if containers in ([], [None]):
                    raise MissingList(message, has_parent=_has_parent(content, path, number))
                raise MalformedAnswer(message)
        if len(containers) < len(items):
            raise MalformedAnswer(
                f"`{text}` should find items at each `{container_path}`, found {len(containers)} of {len(items)}"
            )
        items = JSONPath(env=path.env, segments=path.segments[: number + 1]).findall(content)
    if not items and has_descent:
        message = f"`{text}` finds nothing, and `..` cannot distinguish an empty list from a missing one: name the list"
        raise MissingList(message, has_parent=False)
    return items


def _has_parent(content: Json, path: JSONPath, number: int) -> bool:
    """Whether *content* has the object whose member the first *number* segments of *path* name."""
    parent_path = JSONPath(env=path.env, segments=path.segments[: number - 1])
    return any(isinstance(parent, Mapping) for parent in parent_path.findall(content))


def _find_container_problem(containers: Sequence[Json]) -> str:
    """What is in place of lists and objects in *containers*, in words; empty if nothing is."""
    if not containers:
        return "nothing"
    for container in containers:
        if container == {}:
            return "an empty object"
        if not isinstance(container, (list, Mapping)):
            return describe_kind(container)
    return ""


def list_members(content: Json, name: str = "the answer") -> str:
    """What *content*, which is called *name*, has at its top, as the end of a sentence."""
    if not isinstance(content, Mapping):
        return f"; {name} is {describe_kind(content)}"
    names = ", ".join(f"`{member}`" for member in list(content)[:12])
    return f"; {name} has {names or 'no members'}"


def find_column(content: Json, text: str, items: Mapping[ListIndexes, Json]) -> Mapping[ListIndexes, Json]:
    """
    The values at the path *text* by the list indexes of their item. An item may lack one, but each must belong to an
    item.

    Raises:
        MalformedAnswer: A value belongs to none of *items*.
    """
    path = compile_path(text)
    if path.singular_query():
        values = _find_list(content, path, text)
        column: Mapping[ListIndexes, Json] = {(number,): value for number, value in enumerate(values)}
    else:
        column = _index_matches(path.finditer(content))
    if not column.keys() <= items.keys():
        raise MalformedAnswer(f"`{text}` finds {len(column)} values that do not all belong to the {len(items)} ids")
    return column
