"""The hits of an answer, as JSON -> a ranking, with titles and snippets."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from harness.metrics.ranking import exact_number, finite
from harness.model import ANY_TEXT, Failure, FailureKind, Hit, Json, Ranking
from harness.search.msearch import Entry
from harness.words import count, is_seen

MOST_COUNTED = 2**63 - 1
"""Engines count in 64 bits."""


class MalformedAnswer(Exception):
    """An answer is invalid; the message says where. It becomes the `Failure` of its query."""


_Place: TypeAlias = tuple[str, Json, str]
"""The index, routing and `_id` of a document: an index may have the same `_id` with different routings."""


def read_ranking(answer: Mapping[str, Any], entry: Entry, *, stopped_early: bool = False) -> Ranking | Failure:
    """
    The ranking in *answer*, which must not be an error; a failure if one id belongs to two documents.

    Where an id identifies one document, repeated hits count once.

    Args:
        answer: One element of an `_msearch`'s ``responses``, or a whole answer of `_search`.
        entry: The search: its title field and snippets, and whether an id is unique.
        stopped_early: The engine did not collect all documents, so more may match than it counted.

    Raises:
        MalformedAnswer: It is invalid, or one document is in it twice.
    """
    outer = answer.get("hits")
    if not isinstance(outer, dict):
        raise MalformedAnswer(f"the answer should have an object `hits`, found {kind_of(outer)}")
    inner = outer.get("hits")
    if not isinstance(inner, list):
        raise MalformedAnswer(f"`hits.hits` should be a list, found {kind_of(inner)}")
    read = _hit if entry.reads_fields else _bare_hit
    found = [read(hit, place, entry) for place, hit in enumerate(inner)]
    hits, duplicates = unique_hits(found)
    if duplicates and not entry.unique_ids:
        reason = _explain_repeated(found, inner, with_id=entry.id_field is not None)
        return Failure(FailureKind.AMBIGUOUS, reason)
    total, is_lower_bound, total_doubt = _total(outer.get("total"), len(found))
    took, took_doubt = _took(answer.get("took"))
    _check_number(len(inner), total, entry.size)
    return Ranking(
        hits,
        total=total,
        took=took,
        total_is_lower_bound=is_lower_bound or (stopped_early and total is not None),
        duplicates=duplicates,
        total_doubt=total_doubt,
        took_doubt=took_doubt,
        stopped_early=stopped_early,
        indexes=tuple(sorted({hit["_index"] for hit in inner})),
    )


def _check_number(returned: int, total: int | None, size: int | None) -> None:
    """Refuse no hits where some match, and more hits than the *size* that was sent; None where the engine chose it."""
    if not returned and total and size != 0:
        raise MalformedAnswer(f"`hits.hits` is empty, and `hits.total` says that {count(total, 'document')} match")
    if size is not None and returned > size:
        raise MalformedAnswer(f"`hits.hits` has {returned} hits, and {size} were asked for")


def _bare_hit(hit: Json, place: int, entry: Entry) -> Hit:
    """As `_hit`, in two thirds of the time, if only ids and scores are read: a run has many hits."""
    if type(hit) is dict:
        identity, index, score = hit.get("_id"), hit.get("_index"), hit.get("_score")
        if type(score) is float and math.isfinite(score) and is_text(identity) and is_text(index):
            return Hit.build(identity, score, None, None, None, None)
    return _hit(hit, place, entry)


def _hit(hit: Json, place: int, entry: Entry) -> Hit:
    if not isinstance(hit, dict):
        raise MalformedAnswer(f"`hits.hits[{place}]` should be an object, found {kind_of(hit)}")
    identity, score, title, snippet, texts = hit.get("_id"), hit.get("_score"), None, None, None
    if not (is_text(identity) and is_text(hit.get("_index"))):
        key = "_index" if is_text(identity) else "_id"
        raise MalformedAnswer(f"`hits.hits[{place}]` should have a text `{key}`, found {shown(hit.get(key))}")
    if type(score) is not float or not math.isfinite(score):
        score = read_score(score, f"`hits.hits[{place}]._score`")
    if entry.id_field is not None:
        identity = id_in(hit, entry.id_field, f"`hits.hits[{place}]`")
    if entry.title_field is not None:
        title = _title(hit, entry.title_field)
    if entry.snippet is not None:
        snippet = snippet_of(hit.get("_source"), entry.snippet, entry.title_field)
    if entry.fields:
        texts = texts_of(hit.get("_source"), entry.fields)
    sort = None if entry.sort_places == () else _sort_values(hit.get("sort"), entry.sort_places, place)
    return Hit.build(identity, score, title, snippet, texts, sort)


def _sort_values(values: Json, places: tuple[int, ...] | None, rank: int) -> tuple[Json, ...] | None:
    """
    Those of the sort *values* that are at *places*, empty where there are none; or all of them, where that is None.

    Raises:
        MalformedAnswer: They are not a list, or too few, or one is not finite.
    """
    if values is None:
        return None if places is None else ()
    if not isinstance(values, list):
        raise MalformedAnswer(f"`hits.hits[{rank}].sort` should be a list, found {shown(values)}")
    if places is not None and places[-1] >= len(values):
        expected = count(places[-1] + 1, "value")
        raise MalformedAnswer(f"`hits.hits[{rank}].sort` should have {expected}, found {len(values)}")
    return tuple(map(_sort_value, values if places is None else [values[place] for place in places]))


def _sort_value(value: Json) -> Json:
    """*value* so that it can be written, and equals no other value that it does not equal now."""
    if isinstance(value, float) and not math.isfinite(value):
        raise MalformedAnswer(f"a value in `sort` should be a finite number, found {shown(value)}")
    if isinstance(value, (list, dict)):
        return json.dumps(value)
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def id_in(hit: Mapping[str, Json], field: str, name: str = "the hit") -> str:
    """
    The id of a document that has it in *field*; *name* is what a reason calls the *hit*.

    Raises:
        MalformedAnswer: It has no such value, or several, or one that is neither a text nor a whole number.
    """
    found = value_at(hit.get("fields"), field)
    if found is None:
        found = value_at(hit.get("_source"), field)
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not is_text(found) and type(found) is not int:
        raise MalformedAnswer(
            f"{name} ({shown(hit.get('_id'))}) should have one text or whole number in {field!r}, the `id_field` of "
            f"the target, found {'nothing' if found is None else shown(found)}"
        )
    return str(found)


def read_score(score: Json, name: str) -> int | float | None:
    """
    *score*, a number; None if there is none, because hits are sorted by something else.

    Raises:
        MalformedAnswer: It is not a number, or infinite, or too large for a float.
    """
    if score is None:
        return None
    value = exact_number(score)
    if value is None:
        raise MalformedAnswer(f"{name} should be a finite number, found {shown(score)}")
    return value


def _title(hit: dict[str, Any], field: str) -> str | None:
    found = value_at(hit.get("_source"), field)
    if found is None:
        found = value_at(hit.get("fields"), field)
    if isinstance(found, list):
        found = found[0] if found else None
    return printable(str(found)) if isinstance(found, (str, int, float)) else None


def _total(total: Json, returned: int) -> tuple[int | None, bool, str]:
    """
    The number of matching documents, whether it is a lower bound, and why it is unknown.

    It is a number if `rest_total_hits_as_int` is set, absent or -1 if hits are not tracked, else an object.
    """
    if total is None or (type(total) is int and total == -1):
        return None, False, ""
    if not isinstance(total, Mapping):
        value, doubt = read_total(total, "`hits.total`", returned)
        return value, False, doubt
    relation = total.get("relation")
    if relation not in ("eq", "gte"):
        return None, False, f"`hits.total.relation` is {shown(relation)}"
    is_lower_bound = relation == "gte"
    value, doubt = read_total(total.get("value"), "`hits.total.value`", 0 if is_lower_bound else returned)
    return value, is_lower_bound and value is not None, doubt


def read_total(value: Json, name: str, returned: int) -> tuple[int | None, str]:
    """
    The number of matching documents, or why the value is impossible.

    Args:
        value: As in the answer.
        name: Its name in a reason.
        returned: The hits returned, which is the least possible value; 0 for no check.
    """
    if type(value) is not int or not 0 <= value <= MOST_COUNTED:
        return None, f"{name} is {shown(value)}"
    return (value, "") if value >= returned else (None, f"{name} is {value}, but {returned} hits were returned")


def _took(took: Json) -> tuple[float | None, str]:
    """The engine's own milliseconds, or why they are unknown."""
    if took is None:
        return None, ""
    value = finite(took)
    return (value, "") if value is not None and value >= 0 else (None, f"`took` is {shown(took)}")


def _explain_repeated(found: Sequence[Hit], inner: Sequence[Json], *, with_id: bool) -> str:
    """
    Why the first id that is repeated among *found* belongs to two documents of *inner*, with a remedy.

    Raises:
        MalformedAnswer: It is one document. A search returns each document once: such a list is no ranking.
    """
    ranks: dict[str, int] = {}
    for rank, hit in enumerate(found, start=1):
        known_rank = ranks.setdefault(hit.id, rank)
        if known_rank == rank:
            continue
        first, second = _place_of(inner[known_rank - 1]), _place_of(inner[rank - 1])
        if first == second:
            raise MalformedAnswer(
                f'"{hit.id}" of {_described(first, with_id=with_id)} is at rank {known_rank} and at rank {rank}, and a '
                "search returns a document once; a `hybrid` query does so with a search pipeline that normalizes scores"
            )
        other = "another `id_field`" if with_id and first[0] == second[0] else "a target with one index"
        return (
            f'"{hit.id}" is in {_described(first, with_id=with_id)} at rank {known_rank} '
            f"and in {_described(second, with_id=with_id)} at rank {rank}, "
            f"and a judgment cannot distinguish them: use {other}, or set `ids: unique` in the target if "
            "both are one document"
        )
    raise AssertionError("no id is repeated")


def _place_of(hit: Json) -> _Place:
    return hit["_index"], hit.get("_routing"), hit["_id"]


def _described(place: _Place, *, with_id: bool) -> str:
    index, routing, identity = place
    details = [] if routing is None else [f"routing {shown(routing)}"]
    details += [f"_id {identity}"] if with_id else []
    return f"{index} ({', '.join(details)})" if details else index


def unique_hits(hits: Sequence[Hit]) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """*hits* with each document at its first rank only, and the id of each repeated hit."""
    if len({hit.id for hit in hits}) == len(hits):
        return tuple(hits), ()
    first: dict[str, Hit] = {}
    again = [hit.id for hit in hits if first.setdefault(hit.id, hit) is not hit]
    return tuple(first.values()), tuple(again)


def count_of(numbers: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """
    The whole number *name*, or *default* if it is missing.

    Raises:
        MalformedAnswer: It is missing and has no default, or is not a whole number, or below 0.
    """
    value = numbers.get(name, default)
    if type(value) is not int or not 0 <= value <= MOST_COUNTED:
        raise MalformedAnswer(f"`{name}` should be a whole number, found {shown(value)}")
    return value


LENGTH = 200
"""Characters of a snippet."""

_SEPARATOR = " · "


def snippet_of(source: Json, field: str, title_field: str | None = None) -> str | None:
    """
    The beginning of the text in *field*; for `ANY_TEXT`, of the longest text that is not the title.

    A text of several words is preferred to one without a space, which may be a URL or encoded binary data. The snippet
    is one line of printable characters, cut at a word; None if there is no text.
    """
    if field == ANY_TEXT:
        texts = [text for path, text in _texts(source) if path != title_field and isinstance(text, str)]
        found = max(texts, key=lambda text: (" " in text.strip(), len(text)), default="")
    else:
        found = _SEPARATOR.join(str(text) for _, text in _texts(value_at(source, field)))
    return _cut(_readable(found)) or None


LONGEST_TEXT = 2_000
"""Characters of a field's text."""


def texts_of(source: Json, fields: Iterable[str]) -> dict[str, str]:
    """
    The text of each of *fields* that has one, on one line and cut after a word.

    >>> texts_of({"title": "Red  shoes", "sizes": [41, 42], "shop": {"city": "Bern"}}, ["title", "sizes", "shop.city"])
    {'title': 'Red shoes', 'sizes': '41 · 42', 'shop.city': 'Bern'}
    """
    joined = {field: _SEPARATOR.join(str(text) for _, text in _texts(value_at(source, field))) for field in fields}
    cut = {field: _cut(_readable(text, LONGEST_TEXT), LONGEST_TEXT) for field, text in joined.items()}
    return {field: text for field, text in cut.items() if text}


def value_at(document: Json, path: str) -> Json:
    """The value at *path*; its dots may be nested objects or part of a name, as for engines."""
    if not isinstance(document, dict):
        return None
    if path in document:
        return document[path]
    for name, value in document.items():
        if path.startswith(f"{name}."):
            found = value_at(value, path[len(name) + 1 :])
            if found is not None:
                return found
    return None


def _texts(value: Json) -> Iterator[tuple[str, str | float]]:
    """Each text and number below *value* with its path, in document order."""
    pending: list[tuple[str, Json]] = [("", value)]
    while pending:
        path, one = pending.pop()
        if isinstance(one, dict):
            pending += [(f"{path}.{name}" if path else name, held) for name, held in reversed(one.items())]
        elif isinstance(one, list):
            pending += [(path, held) for held in reversed(one)]
        elif isinstance(one, (str, int, float)) and not isinstance(one, bool):
            yield path, one


def _readable(text: str, length: int = LENGTH) -> str:
    """The beginning of *text* on one line, longer than *length*; invisible characters become spaces."""
    begin = "".join(character if is_seen(character) else " " for character in text[: 4 * length])
    return " ".join(begin.split())


def _cut(text: str, length: int = LENGTH) -> str:
    """*text* cut after a word, or within a word longer than *length*; the ellipsis counts."""
    if len(text) <= length:
        return text
    begin, blank, _ = text[:length].rpartition(" ")
    return f"{begin if blank else text[: length - 1]}…"


LONGEST = 600


def kind_of(value: Json) -> str:
    """What *value* is, in words."""
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number")


def shown(value: Json) -> str:
    """*value* itself if it is short, else its type."""
    if value is None or isinstance(value, (dict, list)):
        return kind_of(value)
    written = json.dumps(value, ensure_ascii=False)
    return excerpt(written if printable(written) is written else json.dumps(value), 40)


def excerpt(text: str, longest: int = LONGEST) -> str:
    """*text* on one line, cut to *longest* characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def is_text(value: Json) -> TypeGuard[str]:
    """Whether *value* is a text that is not empty and can be encoded: JSON may contain lone surrogates."""
    return isinstance(value, str) and value != "" and (value.isascii() or printable(value) is value)


def printable(text: str) -> str:
    """*text* with a question mark for each lone surrogate, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
