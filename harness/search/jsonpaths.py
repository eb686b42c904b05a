"""
The hits in the answer of an application's own search API, found by JSONPath (RFC 9535).

A path that matches nothing because it is misspelled must not look like an answer without hits: where a list of items
is expected, there has to be one, and each item has to have its id. Only the total, or the suite, can say that a list is
missing because nothing matches.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, TypeAlias

from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch
from jsonpath.function_extensions import Match, Search
from jsonpath.segments import JSONPathRecursiveDescentSegment

from harness.errors import UsageError
from harness.model import FieldScalar, Hit, HttpRequest, Json, Ranking
from harness.search.hits import (
    MalformedAnswer,
    describe_kind,
    describe_value,
    drop_repeated_hits,
    is_text,
    list_scalars,
    make_printable,
    read_score,
    read_total,
)
from harness.search.texts import find_url, make_text
from harness.words import count

SECONDS_TO_MATCH = 2.0
"""How long the regular expressions of one path may take for all of an answer."""

_END: ContextVar[float] = ContextVar("end of matching")


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


NUMBER_TEXT = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")
"""A text that is a number of JSON. Services write 64-bit numbers so, because JavaScript has fewer bits."""


class MissingList(MalformedAnswer):
    """A path finds nothing in place of its list: nothing matches, or the path is misspelled."""

    def __init__(self, message: str, *, has_parent: bool) -> None:
        """Args: *has_parent*: whether what would hold the list is there, so that the list alone is missing."""
        super().__init__(message)
        self.has_parent = has_parent


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
        return _read_content(content, http)
    except TimeoutError:
        raise MalformedAnswer(
            f"the regular expressions of the paths take more than {SECONDS_TO_MATCH:g} s for this answer"
        ) from None
    except (JSONPathError, RecursionError) as error:
        # The library follows `..` a hundred levels down.
        paths = ", ".join(f"`{path}`" for path in http.response_paths)
        raise MalformedAnswer(f"the nesting of the answer is too deep for {paths}: name the list") from error


def _read_content(content: Json, http: HttpRequest) -> Ranking:
    if not isinstance(content, (Mapping, list)):
        raise MalformedAnswer(f"the answer should be an object or a list, found {describe_kind(content)}")
    try:
        ids = _find_values(content, http.ids)
    except MissingList as error:
        return _read_missing_list(content, http, error)
    scores = _find_column(content, http.scores, ids)
    if ids and not scores and http.scores is not None:
        raise MalformedAnswer(
            f"`{http.scores}` finds no score of {count(len(ids), 'hit')}; if there are none, remove it"
        )
    titles = _find_column(content, http.titles, ids)
    columns = {field: _find_column(content, path, ids) for field, path in http.fields.items()}
    hits = []
    for place, value in ids.items():
        if not is_text(value) and type(value) is not int:
            raise MalformedAnswer(
                f"`{http.ids}` should find ids, which are texts or whole numbers; found {describe_value(value)}"
            )
        score = read_score(_read_number(scores.get(place)), f"`{http.scores}`")
        hit = Hit(str(value), score, _make_title(titles.get(place)))
        if columns:
            shown = {field: column.get(place) for field, column in columns.items()}
            hit = replace(hit, texts=_make_texts(shown), urls=_find_urls(shown), values=_list_values(shown))
        hits.append(hit)
    unique_hits, duplicates = drop_repeated_hits(hits)
    total, doubt = _find_total(content, http.total, len(hits))
    if total and not hits:
        matches = count(total, "document")
        raise MalformedAnswer(f"`{http.ids}` finds no id, and `{http.total}` says that {matches} match")
    return Ranking(unique_hits, total=total, duplicates=duplicates, total_doubt=doubt, exact_scores=True)


def _make_title(value: Json) -> str | None:
    """*value* as a title: a text as it is, or all texts and numbers in it."""
    if isinstance(value, str):
        return make_printable(value)
    return make_text(value) or None


def _make_texts(values: Mapping[str, Json]) -> dict[str, str]:
    texts = {field: make_text(value) for field, value in values.items()}
    return {field: text for field, text in texts.items() if text}


def _list_values(values: Mapping[str, Json]) -> dict[str, tuple[FieldScalar, ...]]:
    scalars = {field: tuple(list_scalars(value)) for field, value in values.items()}
    return {field: found for field, found in scalars.items() if found}


def _find_urls(values: Mapping[str, Json]) -> dict[str, str]:
    urls = {field: find_url(value) for field, value in values.items()}
    return {field: url for field, url in urls.items() if url is not None}


def _read_missing_list(content: Json, http: HttpRequest, error: MissingList) -> Ranking:
    """
    The ranking without hits of an answer that has no list of ids, where nothing matches.

    Its total must say so, or the suite, if the list alone is missing: an error has no list either.

    Raises:
        MalformedAnswer: *error*, if neither says so.
    """
    total, doubt = _find_total(content, http.total, 0)
    if total == 0:
        return Ranking(total=0, exact_scores=True)
    # A service that leaves an empty list out may leave a total of 0 out too.
    if total is None and http.ids_optional and error.has_parent:
        has_total = http.total is not None and bool(compile_path(http.total).findall(content))
        if not has_total:
            return Ranking(total=0, exact_scores=True)
        return Ranking(total=None, total_doubt=doubt, exact_scores=True)
    raise error


def _read_number(value: Json) -> Json:
    """
    The number that a text spells; any other value as it is.

    >>> _read_number("0.25"), _read_number("17"), _read_number("high"), _read_number(3)
    (0.25, 17, 'high', 3)
    """
    if not isinstance(value, str) or NUMBER_TEXT.fullmatch(value) is None:
        return value
    try:
        return int(value)
    except ValueError:
        return float(value)


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


def _find_values(content: Json, text: str) -> dict[Place, Json]:
    """The values at the path, by the place of their item: the elements of a list, or the matches."""
    path = compile_path(text)
    if path.singular_query():
        return {(place,): value for place, value in enumerate(_find_list(content, path, text))}
    items = _find_items(content, path, text)
    values = _place_values(path.finditer(content))
    if len(values) != len(items):
        raise MalformedAnswer(f"`{text}` finds {len(values)} values in {len(items)} items")
    return values


def _place_values(matches: Iterable[JSONPathMatch]) -> dict[Place, Json]:
    """The values of *matches* by the list indexes in their paths."""
    all_matches = list(matches)
    places = [tuple(part for part in match.parts if isinstance(part, int)) for match in all_matches]
    if len(set(places)) < len(places):
        # Members of an object have no index: their order is their place.
        places = [(place,) for place in range(len(all_matches))]
    return {place: match.obj for place, match in zip(places, all_matches, strict=True)}


def _find_list(content: Json, path: JSONPath, text: str) -> list[Json]:
    """The list that *path*, which has no wildcard, finds."""
    values = path.findall(content)
    if len(values) != 1 or not isinstance(values[0], list):
        kind = describe_kind(values[0]) if values else "nothing"
        message = f"`{text}` should find a list, found {kind}{_list_members(content)}"
        if values in ([], [None]):
            raise MissingList(message, has_parent=_has_parent(content, path, len(path.segments)))
        raise MalformedAnswer(message)
    return values[0]


def _find_items(content: Json, path: JSONPath, text: str) -> list[Any]:
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
                members = _list_members(content)
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


def _list_members(content: Json) -> str:
    """What *content* has at its top, as the end of a sentence."""
    if not isinstance(content, Mapping):
        return f"; the answer is {describe_kind(content)}"
    names = ", ".join(f"`{name}`" for name in list(content)[:12])
    return f"; the answer has {names or 'no members'}"


def _find_column(content: Json, text: str | None, ids: Mapping[Place, Json]) -> Mapping[Place, Json]:
    """Scores, titles or another field by place; an item may lack one, but each must belong to an item."""
    if text is None:
        return {}
    path = compile_path(text)
    if path.singular_query():
        column: Mapping[Place, Json] = {(place,): value for place, value in enumerate(_find_list(content, path, text))}
    else:
        column = _place_values(path.finditer(content))
    if not column.keys() <= ids.keys():
        raise MalformedAnswer(f"`{text}` finds {len(column)} values that do not all belong to the {len(ids)} ids")
    return column


def _find_total(content: Json, text: str | None, returned: int) -> tuple[int | None, str]:
    """The number of matching documents, or why it is unknown."""
    if text is None:
        return None, ""
    values = compile_path(text).findall(content)
    if len(values) != 1:
        return None, f"`{text}` finds {len(values)} values"
    return read_total(_read_number(values[0]), f"`{text}`", returned)
