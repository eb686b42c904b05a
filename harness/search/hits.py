"""The hits of an answer, as JSON -> a ranking, with titles and snippets."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeGuard

from harness.metrics.ranking import exact_number, finite
from harness.model.run import Failure, FailureKind, FieldScalar, Hit, HitColumns, Ranking
from harness.model.suite import Json
from harness.search.highlights import read_highlights
from harness.search.msearch import Entry
from harness.search.texts import find_value, make_snippet, read_texts, read_urls
from harness.words import count

LARGEST_COUNT = 2**63 - 1
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
        raise MalformedAnswer(f"the answer should have an object `hits`, found {describe_kind(outer)}")
    inner = outer.get("hits")
    if not isinstance(inner, list):
        raise MalformedAnswer(f"`hits.hits` should be a list, found {describe_kind(inner)}")
    hits: tuple[Hit, ...] = ()
    duplicates: tuple[str, ...] = ()
    columns = None if entry.reads_fields else _read_columns(inner)
    if columns is None:
        all_hits = [_read_hit(hit, position, entry) for position, hit in enumerate(inner)]
        if not entry.unique_ids:
            ambiguity = _explain_ambiguity(all_hits, inner, with_id=entry.id_field is not None)
            if ambiguity:
                return Failure(FailureKind.AMBIGUOUS, ambiguity)
        hits, duplicates = drop_repeated_hits(all_hits, unique_ids=entry.unique_ids)
    total, is_lower_bound, total_doubt = _read_total(outer.get("total"), len(inner))
    took, took_doubt = read_took(answer.get("took"))
    _check_number(len(inner), total, entry.size)
    ranking = Ranking(
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
    if columns is not None:
        ranking.make_late(columns)
    return ranking


def _check_number(returned: int, total: int | None, size: int | None) -> None:
    """Refuse no hits where some match, and more hits than the *size* that was sent; None where the engine chose it."""
    if not returned and total and size != 0:
        raise MalformedAnswer(f"`hits.hits` is empty, and `hits.total` says that {count(total, 'document')} match")
    if size is not None and returned > size:
        raise MalformedAnswer(f"`hits.hits` has {returned} hits, and {size} were asked for")


def _read_columns(hits: Sequence[Any]) -> HitColumns | None:
    """
    The ids and scores of *hits*, all at once: scripts/bench/runner --by-hand.

    None where one of them is wrong or repeated, or has no score that is a float: these are read one by one.
    """
    try:
        ids = tuple([hit["_id"] for hit in hits])
        scores = tuple([hit["_score"] for hit in hits])
        texts = {hit["_index"] for hit in hits}.union(ids)
    except (KeyError, TypeError):
        return None
    are_floats = set(map(type, scores)) == {float} and all(map(math.isfinite, scores))
    if are_floats and len(set(ids)) == len(ids) and are_texts(texts):
        return HitColumns(ids, scores)
    return None


def are_texts(values: Collection[Any]) -> bool:
    """Whether each of *values* is a text as `is_text` has it, all at once: scripts/bench/runner --by-hand."""
    try:
        is_ascii = "".join(values).isascii()
    except TypeError:
        return False
    return "" not in values and (is_ascii or all(map(is_text, values)))


def _read_hit(hit: Json, position: int, entry: Entry) -> Hit:
    """The *hit* at *position* of the answer, with what *entry* reads of it."""
    if not isinstance(hit, dict):
        raise MalformedAnswer(f"`hits.hits[{position}]` should be an object, found {describe_kind(hit)}")
    identity, score = hit.get("_id"), hit.get("_score")
    if not (is_text(identity) and is_text(hit.get("_index"))):
        key = "_index" if is_text(identity) else "_id"
        raise MalformedAnswer(
            f"`hits.hits[{position}]` should have a text `{key}`, found {describe_value(hit.get(key))}"
        )
    if type(score) is not float or not math.isfinite(score):
        score = read_score(score, f"`hits.hits[{position}]._score`")
    if entry.id_field is not None:
        identity = read_id(hit, entry.id_field, f"`hits.hits[{position}]`")
    title = snippet = sort = None
    if entry.title_field is not None:
        title = _read_title(hit, entry.title_field)
    if entry.has_snippet:
        snippet = make_snippet(hit.get("_source"), entry.title_field)
    if entry.sort_places != ():
        sort = _read_sort_values(hit.get("sort"), entry.sort_places, position)
    document = Hit(identity, score, title, snippet, sort=sort)
    if entry.value_fields:
        document = replace(document, values=read_values(hit, entry.value_fields))
    return _add_texts(document, hit, entry) if entry.fields or entry.highlights else document


def _add_texts(document: Hit, hit: dict[str, Any], entry: Entry) -> Hit:
    """*document*, which was read from *hit*, with the texts and URLs of fields, and with words of the query in them."""
    source = hit.get("_source")
    texts = read_texts(source, entry.fields)
    highlights = None
    if entry.highlights:
        highlighted = dict(texts)
        if entry.title_field is not None and document.title is not None:
            highlighted[entry.title_field] = document.title
        highlights = read_highlights(hit.get("highlight"), highlighted)
    return replace(document, texts=texts, urls=read_urls(source, entry.fields), highlights=highlights)


def read_values(hit: Mapping[str, Json], fields: Iterable[str]) -> dict[str, tuple[FieldScalar, ...]]:
    """
    The values of each of *fields* that *hit* has: those of its `_source`, else those of its `fields`.

    An engine may return another form in `fields`, such as the lower case of a keyword, but it has there what no source
    has: subfields, runtime fields and aliases.

    >>> shoes = {"_source": {"price": 9.5, "sizes": [41, 42], "shop": [{"open": True}, {"open": None}]}}
    >>> read_values(shoes, ["price", "sizes", "shop.open", "brand"])
    {'price': (9.5,), 'sizes': (41, 42), 'shop.open': (True,)}
    """
    values = {}
    for field in fields:
        found = find_scalars(hit.get("_source"), field) or find_scalars(hit.get("fields"), field)
        if found:
            values[field] = tuple(found)
    return values


def find_scalars(document: Json, path: str) -> list[FieldScalar]:
    """All texts, numbers and booleans at *path* as `find_value` follows it, but into each object of a list too."""
    found: list[FieldScalar] = []
    if isinstance(document, list):
        for part in document:
            found += find_scalars(part, path)
    elif isinstance(document, dict):
        for name, value in document.items():
            if name == path:
                found += list_scalars(value)
            elif path.startswith(f"{name}."):
                found += find_scalars(value, path[len(name) + 1 :])
    return found


def list_scalars(value: Json) -> list[FieldScalar]:
    """*value*, or the members of a list, in lists too, that are texts, numbers or booleans; not those of objects."""
    if isinstance(value, str):
        return [make_printable(value)]
    if isinstance(value, float) and not math.isfinite(value):
        return []  # a number that is too large for JSON, of which nothing is known
    if isinstance(value, bool | int | float):
        return [value]
    scalars: list[FieldScalar] = []
    if isinstance(value, list):
        for member in value:
            scalars += list_scalars(member)
    return scalars


def _read_sort_values(values: Json, places: tuple[int, ...] | None, rank: int) -> tuple[Json, ...] | None:
    """
    Those of the sort *values* that are at *places*, empty where there are none; or all of them, where that is None.

    Raises:
        MalformedAnswer: They are not a list, or too few, or one is not finite.
    """
    if values is None:
        return None if places is None else ()
    if not isinstance(values, list):
        raise MalformedAnswer(f"`hits.hits[{rank}].sort` should be a list, found {describe_value(values)}")
    if places is not None and places[-1] >= len(values):
        expected = count(places[-1] + 1, "value")
        raise MalformedAnswer(f"`hits.hits[{rank}].sort` should have {expected}, found {len(values)}")
    if places is not None:
        values = [values[place] for place in places]
    return tuple(map(make_storable, values))


def make_storable(value: Json) -> Json:
    """*value* so that it can be written, and equals no other value that it does not equal now."""
    if isinstance(value, float) and not math.isfinite(value):
        raise MalformedAnswer(f"a value in `sort` should be a finite number, found {describe_value(value)}")
    if isinstance(value, (list, dict)):
        return json.dumps(value)
    if isinstance(value, str):
        # A lone surrogate cannot be written as UTF-8, and two of them must not become equal.
        return value.encode(errors="backslashreplace").decode()
    return value


def read_id(hit: Mapping[str, Json], field: str, name: str = "the hit") -> str:
    """
    The id of a document that has it in *field*; *name* is what a reason calls the *hit*.

    Raises:
        MalformedAnswer: It has no such value, or several, or one that is neither a text nor a whole number.
    """
    value = find_value(hit.get("fields"), field)
    if value is None:
        value = find_value(hit.get("_source"), field)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not is_text(value) and type(value) is not int:
        raise MalformedAnswer(
            f"{name} ({describe_value(hit.get('_id'))}) should have one text or whole number in {field!r}, the "
            f"`id_field` of the target, found {describe_value(value)}"
        )
    return str(value)


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
        raise MalformedAnswer(f"{name} should be a finite number, found {describe_value(score)}")
    return value


def _read_title(hit: dict[str, Any], field: str) -> str | None:
    """The title in *field*, the first where there are several."""
    value = find_value(hit.get("_source"), field)
    if value is None:
        value = find_value(hit.get("fields"), field)
    if isinstance(value, list) and value:
        value = value[0]
    return make_printable(str(value)) if isinstance(value, (str, int, float)) else None


def _read_total(total: Json, returned: int) -> tuple[int | None, bool, str]:
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
        return None, False, f"`hits.total.relation` is {describe_value(relation)}"
    is_lower_bound = relation == "gte"
    # A lower bound may be less than the hits that came with it.
    least = 0 if is_lower_bound else returned
    value, doubt = read_total(total.get("value"), "`hits.total.value`", least)
    return value, is_lower_bound and value is not None, doubt


def read_total(value: Json, name: str, returned: int) -> tuple[int | None, str]:
    """
    The number of matching documents, or why the value is impossible.

    Args:
        value: As in the answer.
        name: Its name in a reason.
        returned: The hits returned, which is the least possible value; 0 for no check.
    """
    if type(value) is not int or not 0 <= value <= LARGEST_COUNT:
        return None, f"{name} is {describe_value(value)}"
    if value < returned:
        return None, f"{name} is {value}, but {returned} hits were returned"
    return value, ""


def read_took(took: Json) -> tuple[float | None, str]:
    """The engine's own milliseconds, or why they are unknown."""
    if took is None:
        return None, ""
    milliseconds = finite(took)
    if milliseconds is None or milliseconds < 0:
        return None, f"`took` is {describe_value(took)}"
    return milliseconds, ""


def _explain_ambiguity(hits: Sequence[Hit], documents: Sequence[Json], *, with_id: bool) -> str:
    """
    Why the first id that is repeated among *hits* belongs to two of *documents*, the same hits as JSON; with a remedy.

    Empty if none is repeated.

    Raises:
        MalformedAnswer: It is one document.
    """
    repeated = _find_repeated(hits)
    if repeated is None:
        return ""
    known_rank, rank = repeated
    first, second = _find_place(documents[known_rank - 1]), _find_place(documents[rank - 1])
    if first == second:
        hint = "; a `hybrid` query does so with a search pipeline that normalizes scores"
        name = f'"{hits[rank - 1].id}" of {_describe_place(first, with_id=with_id)}'
        raise MalformedAnswer(f"{_explain_repeated(name, repeated)}{hint}")
    remedy = "another `id_field`" if with_id and first[0] == second[0] else "a target with one index"
    return (
        f'"{hits[rank - 1].id}" is in {_describe_place(first, with_id=with_id)} at rank {known_rank} and in '
        f"{_describe_place(second, with_id=with_id)} at rank {rank}, and a judgment cannot distinguish them: use "
        f"{remedy}, or set `ids: unique` in the target if both are one document"
    )


def _find_repeated(hits: Sequence[Hit]) -> tuple[int, int] | None:
    """The first rank at which a document is there again, behind its rank before; None if each is there once."""
    if len({hit.id for hit in hits}) == len(hits):
        return None
    ranks: dict[str, int] = {}
    for rank, hit in enumerate(hits, start=1):
        known_rank = ranks.setdefault(hit.id, rank)
        if known_rank != rank:
            return known_rank, rank
    return None


def _find_place(hit: Json) -> _Place:
    return hit["_index"], hit.get("_routing"), hit["_id"]


def _describe_place(place: _Place, *, with_id: bool) -> str:
    index, routing, identity = place
    details = []
    if routing is not None:
        details.append(f"routing {describe_value(routing)}")
    if with_id:
        details.append(f"_id {identity}")
    return f"{index} ({', '.join(details)})" if details else index


def _explain_repeated(name: str, ranks: tuple[int, int]) -> str:
    """Why a list is no ranking in which the document *name* is at both of *ranks*, with a remedy."""
    return (
        f"{name} is at rank {ranks[0]} and at rank {ranks[1]}, and a search returns a document once: correct it, or "
        "set `ids: unique` in the target, by which it counts at its first rank only"
    )


def drop_repeated_hits(hits: Sequence[Hit], *, unique_ids: bool) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """
    *hits* with each document at its first rank only, and the id of each repeated hit: of any server, and of hooks.

    Raises:
        MalformedAnswer: A document is repeated, and the target has no `ids: unique` (*unique_ids*). A search returns
            each document once: such a list is no ranking.
    """
    repeated = _find_repeated(hits)
    if repeated is None:
        return tuple(hits), ()
    if not unique_ids:
        raise MalformedAnswer(_explain_repeated(f'"{hits[repeated[1] - 1].id}"', repeated))
    first: dict[str, Hit] = {}
    again = [hit.id for hit in hits if first.setdefault(hit.id, hit) is not hit]
    return tuple(first.values()), tuple(again)


def read_count(numbers: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """
    The whole number *name*, or *default* if it is missing.

    Raises:
        MalformedAnswer: It is missing and has no default, or is not a whole number, or below 0.
    """
    value = numbers.get(name, default)
    if type(value) is not int or not 0 <= value <= LARGEST_COUNT:
        raise MalformedAnswer(f"`{name}` should be a whole number, found {describe_value(value)}")
    return value


EXCERPT_LENGTH = 600


def describe_kind(value: Json) -> str:
    """What *value* is, in words."""
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number")


def describe_value(value: Json) -> str:
    """*value* itself if it is short, else its type."""
    if value is None or isinstance(value, (dict, list)):
        return describe_kind(value)
    text = json.dumps(value, ensure_ascii=False)
    if make_printable(text) is not text:
        text = json.dumps(value)  # with escapes in place of what cannot be encoded
    return make_excerpt(text, 40)


def make_excerpt(text: str, longest: int = EXCERPT_LENGTH) -> str:
    """*text* on one line, cut to *longest* characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def is_text(value: Json) -> TypeGuard[str]:
    """Whether *value* is a text that is not empty and can be encoded: JSON may contain lone surrogates."""
    return isinstance(value, str) and value != "" and (value.isascii() or make_printable(value) is value)


def make_printable(text: str) -> str:
    """*text* with a question mark for each lone surrogate, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
