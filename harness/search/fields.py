"""Fields: those that a request names in known positions, and those that an index has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import quote, urlencode

from harness.errors import SearchError
from harness.model import Json, iterate_members
from harness.search.answers import COMPLETE, describe_refusal, read_json
from harness.search.connection import Connection
from harness.search.msearch import make_index_path
from harness.search.server_health import Retries, ServerRequest, ask_one

# What a request names. Scripts, aggregations and whatever else may hold a name of the user's own are left alone.


Named: TypeAlias = tuple[str, str]
"""A field, and its place in the body: ``("title", "query.bool.must[0].match")``."""

KEYED = frozenset(
    {
        "fuzzy", "intervals", "match", "match_bool_prefix", "match_phrase", "match_phrase_prefix", "prefix", "range",
        "regexp", "span_term", "term", "terms", "terms_set", "wildcard",
    }
)  # fmt: skip
"""Queries whose key is a field: ``match: {title: …}``."""

LISTING = frozenset({"combined_fields", "more_like_this", "multi_match", "query_string", "simple_query_string"})
"""Queries with a list of ``fields``, which may have boosts and wildcards."""

NAMING = frozenset({"distance_feature", "rank_feature"})
"""Queries whose ``field`` is one."""

NO_FIELDS = frozenset({"_name", "boost", "value_type"})
"""Keys of a query beside the field."""

COMPOUND: Mapping[str, tuple[str, ...]] = {
    "bool": ("must", "filter", "should", "must_not"),
    "boosting": ("positive", "negative"),
    "constant_score": ("filter",),
    "dis_max": ("queries",),
    "function_score": ("query", "functions"),
    "has_child": ("query",),
    "has_parent": ("query",),
    "hybrid": ("queries",),
    "nested": ("query",),
    "pinned": ("organic",),
    "script_score": ("query",),
}
"""Queries that hold others, and where."""


def select_runtime_fields(body: Json) -> dict[str, Json]:
    """The parts of *body* that define fields of its own."""
    if not isinstance(body, Mapping):
        return {}
    return {key: body[key] for key in ("runtime_mappings", "derived") if key in body}


def find_named_fields(body: Json) -> dict[str, str]:
    """
    The fields that a body of `_search` names, each with its first place.

    Those that the request itself defines, fields of the engine's own such as `_id`, and wildcards are left out.

    >>> find_named_fields({"query": {"multi_match": {"fields": ["title^3", "*_en"]}}, "sort": ["_score", "price"]})
    {'title': 'query.multi_match.fields[0]', 'price': 'sort[1]'}
    """
    fields: dict[str, str] = {}
    if not isinstance(body, Mapping):
        return fields
    own_fields: set[str] = set()
    for definitions in select_runtime_fields(body).values():
        own_fields.update(_as_mapping(definitions))
    for name, place in _walk_search(body, ""):
        if name.startswith("_") or "*" in name:
            continue
        # A part of a composite runtime field begins with its name.
        if own_fields.isdisjoint((*list_parents(name), name)):
            fields.setdefault(name, place)
    return fields


def has_fixed_fields(template: Json) -> bool:
    """
    Whether all texts that may be filled into *template* leave the fields that it names as they are.

    >>> has_fixed_fields({"query": {"match": {"title": "{{text}}"}}}), has_fixed_fields({"sort": "{{by}}"})
    (True, False)
    """
    names = list(find_named_fields(template))
    names += [key for key, _ in iterate_members(template)]
    return not any("{{" in name for name in names)


def _walk_search(body: Mapping[str, Json], at: str) -> Iterator[Named]:
    """Of a body, or of a retriever, which has the same keys for what it searches."""
    for key in ("query", "post_filter", "filter"):
        yield from _walk_queries(body.get(key), f"{at}{key}")
    for clause, place in _walk_clauses(body.get("knn"), f"{at}knn"):
        yield from _walk_knn(clause, place)
    for clause, place in _walk_clauses(body.get("rescore"), f"{at}rescore"):
        yield from _walk_queries(_as_mapping(clause.get("query")).get("rescore_query"), f"{place}.query.rescore_query")
    for clause, place in _walk_clauses(body.get("sub_searches"), f"{at}sub_searches"):
        yield from _walk_queries(clause.get("query"), f"{place}.query")
    yield from _walk_sorts(body.get("sort"), f"{at}sort")
    yield from _walk_text(_as_mapping(body.get("collapse")).get("field"), f"{at}collapse.field")
    for clause, place in _walk_clauses(body.get("retriever"), f"{at}retriever"):
        yield from _walk_retriever(clause, place)


def _walk_retriever(clause: Mapping[str, Json], at: str) -> Iterator[Named]:
    """A retriever of any kind, and those that it holds."""
    for kind, inner in clause.items():
        place = f"{at}.{kind}"
        if kind == "knn":
            yield from _walk_knn(_as_mapping(inner), place)
        elif isinstance(inner, Mapping):
            yield from _walk_search(inner, f"{place}.")
            for held, at_held in _walk_clauses(inner.get("retrievers"), f"{place}.retrievers"):
                weighted = held.get("retriever")
                if isinstance(weighted, Mapping):
                    yield from _walk_retriever(weighted, f"{at_held}.retriever")
                else:
                    yield from _walk_retriever(held, at_held)


def _walk_queries(value: Json, at: str) -> Iterator[Named]:
    """Of a query, or of a list of them."""
    for clause, place in _walk_clauses(value, at):
        for kind, inner in clause.items():
            if isinstance(inner, Mapping):
                yield from _walk_query(kind, inner, f"{place}.{kind}")


def _walk_listed(inner: Mapping[str, Json], at: str) -> Iterator[Named]:
    """Of a query with a list of fields, without their boosts."""
    fields = inner.get("fields")
    if isinstance(fields, list):
        for number, name in enumerate(fields):
            if isinstance(name, str):
                yield name.partition("^")[0], f"{at}.fields[{number}]"
    yield from _walk_text(inner.get("default_field"), f"{at}.default_field")


def _walk_query(kind: str, inner: Mapping[str, Json], at: str) -> Iterator[Named]:
    """Of a query of this *kind*, whose content is *inner*."""
    if kind in KEYED:
        for name in inner:
            if name not in NO_FIELDS:
                yield name, at
    elif kind in LISTING:
        yield from _walk_listed(inner, at)
    elif kind in NAMING:
        yield from _walk_text(inner.get("field"), f"{at}.field")
    elif kind == "knn":
        yield from _walk_knn(inner, at)
    else:
        for key in COMPOUND.get(kind, ()):
            if key == "functions":
                for function, place in _walk_clauses(inner.get(key), f"{at}.functions"):
                    yield from _walk_queries(function.get("filter"), f"{place}.filter")
            else:
                yield from _walk_queries(inner.get(key), f"{at}.{key}")


def _walk_knn(clause: Mapping[str, Json], at: str) -> Iterator[Named]:
    """The field of a ``knn``: Elasticsearch has the key ``field``; in OpenSearch the field is itself a key."""
    yield from _walk_text(clause.get("field"), f"{at}.field")
    yield from _walk_queries(clause.get("filter"), f"{at}.filter")
    if "field" not in clause:
        for name, inner in clause.items():
            if isinstance(inner, Mapping) and "vector" in inner:
                yield name, at
                yield from _walk_queries(inner.get("filter"), f"{at}.{name}.filter")


def _walk_sorts(value: Json, at: str) -> Iterator[Named]:
    """Of the keys of a `sort`."""
    keys = value if isinstance(value, list) else [value]
    for number, key in enumerate(keys):
        place = f"{at}[{number}]" if isinstance(value, list) else at
        if isinstance(key, str):
            yield key, place
        elif isinstance(key, Mapping):
            for name, options in key.items():
                # A field that may be unmapped says so, and need not be there.
                if "unmapped_type" not in _as_mapping(options):
                    yield name, place


def _walk_clauses(value: Json, at: str) -> Iterator[tuple[Mapping[str, Json], str]]:
    """The mapping, or those of the list, with its place."""
    if isinstance(value, Mapping):
        yield value, at
    elif isinstance(value, list):
        for number, clause in enumerate(value):
            if isinstance(clause, Mapping):
                yield clause, f"{at}[{number}]"


def _walk_text(value: Json, at: str) -> Iterator[Named]:
    if isinstance(value, str):
        yield value, at


def _as_mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


# What an index has.


LONGEST_NAMES = 2000
"""Bytes of the names in one URL; engines take 4,096 for all of it."""

OPEN_ENDED = frozenset({"flat_object", "flattened", "rank_features", "semantic", "semantic_text", "sparse_vector"})
"""Types of fields with parts that the engine does not list."""


def read_field_types(
    connection: Connection, retries: Retries, index: str, names: Sequence[str], url_params: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """
    The types of those of *names*, which may have wildcards, that any index behind *index* has as fields; *url_params*
    say which these are.

    Raises:
        SearchError: The engine refuses to say, or its answer cannot be read.
    """
    field_types: dict[str, frozenset[str]] = {}
    query = urlencode({**url_params, "fields": ""})
    for part in _split_names(names):
        path = f"{make_index_path(index)}/_field_caps?{query}{part}"
        answer = ask_one(connection, retries, ServerRequest("GET", path))
        if answer.status not in COMPLETE:
            raise SearchError(connection.mask(describe_refusal(answer)))
        content = read_json(answer)
        if not isinstance(content, Mapping) or content.get("failures"):
            raise SearchError("the answer to `_field_caps` is not complete")
        fields = content.get("fields")
        if not isinstance(fields, Mapping):
            raise SearchError("the answer to `_field_caps` is not complete")
        field_types |= {name: frozenset(types) for name, types in fields.items() if isinstance(types, Mapping)}
    return field_types


def _split_names(names: Sequence[str]) -> Iterator[str]:
    """*names* as they stand in URLs, several in each."""
    part = ""
    for name in names:
        quoted = quote(name.encode("utf-8", "surrogatepass"), safe="*")
        if part and len(part) + len(quoted) >= LONGEST_NAMES:
            yield part
            part = ""
        part = f"{part},{quoted}" if part else quoted
    if part:
        yield part


def list_unknown_fields(names: Sequence[str], types: Mapping[str, frozenset[str]]) -> list[str]:
    """The *names* that are not in *types*, and not parts of a field that may have parts of any name."""
    unknown = []
    for name in names:
        is_open_part = any(types.get(parent, frozenset()) & OPEN_ENDED for parent in list_parents(name))
        if name not in types and not is_open_part:
            unknown.append(name)
    return unknown


def list_parents(name: str) -> list[str]:
    """
    The names of which *name* may be a part.

    >>> list_parents("attributes.color.name")
    ['attributes', 'attributes.color']
    """
    parts = name.split(".")
    return [".".join(parts[:size]) for size in range(1, len(parts))]
