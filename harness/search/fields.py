"""Fields: those that a request names in known positions, and those that an index has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import quote, urlencode

from harness.errors import SearchError
from harness.model.suite import Json, iterate_members
from harness.search.answers import COMPLETE, describe_refusal, read_json
from harness.search.connection import Connection
from harness.search.msearch import make_index_path
from harness.search.server_health import Retries, ServerRequest, ask_one

# What a request names. Scripts, and what only says which parts of a hit are returned, are left alone.


Named: TypeAlias = tuple[str, str]
"""A field, and its place in the body: ``("title", "query.bool.must[0].match")``."""

KEYED = frozenset(
    {
        "fuzzy", "geo_bounding_box", "geo_distance", "geo_grid", "geo_polygon", "geo_shape", "intervals", "match",
        "match_bool_prefix", "match_phrase", "match_phrase_prefix", "neural", "neural_sparse", "prefix", "range",
        "regexp", "shape", "span_term", "term", "terms", "terms_set", "text_expansion", "weighted_tokens", "wildcard",
        "xy_shape",
    }
)  # fmt: skip
"""Queries whose key is a field: ``match: {title: …}``."""

DECAYS = ("exp", "gauss", "linear")
"""Functions of a function_score whose key is a field, as in `KEYED`."""

LISTING = frozenset({"combined_fields", "more_like_this", "multi_match", "query_string", "simple_query_string"})
"""Queries with a list of ``fields``, which may have boosts and wildcards."""

NAMING = frozenset(
    {
        "distance_feature", "exists", "field_masking_span", "percolate", "rank_feature", "semantic", "sparse_vector",
    }
)  # fmt: skip
"""Queries whose ``field`` is one."""

FUNCTIONS_WITH_FIELD = ("field_value_factor", "random_score")
"""Functions of a function_score whose ``field`` is one."""

NO_FIELDS = frozenset(
    {
        "_name", "boost", "distance", "distance_type", "ignore_unmapped", "mode", "multi_value_mode", "nested",
        "nested_filter", "nested_path", "optimize_bbox", "order", "type", "unit", "validation_method", "value_type",
    }
)  # fmt: skip
"""Keys beside the field, of a query, of a function, or of a sort by distance."""

COMPOUND: Mapping[str, tuple[str, ...]] = {
    "bool": ("must", "filter", "should", "must_not"),
    "boosting": ("positive", "negative"),
    "constant_score": ("filter",),
    "dis_max": ("queries",),
    "field_masking_span": ("query",),
    "function_score": ("query",),
    "has_child": ("query",),
    "has_parent": ("query",),
    "hybrid": ("queries",),
    "nested": ("query",),
    "pinned": ("organic",),
    "rule": ("organic",),
    "script_score": ("query",),
    "span_containing": ("big", "little"),
    "span_first": ("match",),
    "span_multi": ("match",),
    "span_near": ("clauses",),
    "span_not": ("include", "exclude"),
    "span_or": ("clauses",),
    "span_within": ("big", "little"),
}
"""Queries that hold others, and where."""

AGGREGATIONS = ("aggs", "aggregations")
"""The two names of aggregations, in a body and in an aggregation."""


def select_runtime_fields(body: Json) -> dict[str, Json]:
    """The parts of *body* that define fields of its own."""
    if not isinstance(body, Mapping):
        return {}
    return {key: body[key] for key in ("runtime_mappings", "derived") if key in body}


def list_own_fields(body: Json) -> frozenset[str]:
    """
    The fields that *body* defines itself.

    >>> sorted(list_own_fields({"runtime_mappings": {"margin": {"type": "double"}}}))
    ['margin']
    """
    own_fields: set[str] = set()
    for definitions in select_runtime_fields(body).values():
        own_fields.update(_as_mapping(definitions))
    return frozenset(own_fields)


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
    own_fields = list_own_fields(body)
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
    collapse = _as_mapping(body.get("collapse"))
    yield from _walk_text(collapse.get("field"), f"{at}collapse.field")
    for clause, place in _walk_clauses(collapse.get("inner_hits"), f"{at}collapse.inner_hits"):
        yield from _walk_sorts(clause.get("sort"), f"{place}.sort")
    yield from _walk_aggregations(body, at)
    for clause, place in _walk_clauses(body.get("retriever"), f"{at}retriever"):
        yield from _walk_retriever(clause, place)


def _walk_retriever(clause: Mapping[str, Json], at: str) -> Iterator[Named]:
    """A retriever of any kind, and those that it holds."""
    for kind, inner in clause.items():
        place = f"{at}.{kind}"
        if kind == "knn":
            yield from _walk_knn(_as_mapping(inner), place)
        elif isinstance(inner, Mapping):
            yield from _walk_text(inner.get("field"), f"{place}.field")
            yield from _walk_listed(inner, place)
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
    if isinstance(fields, str):
        yield fields.partition("^")[0], f"{at}.fields"
    elif isinstance(fields, list):
        for number, name in enumerate(fields):
            if isinstance(name, str):
                yield name.partition("^")[0], f"{at}.fields[{number}]"
    yield from _walk_text(inner.get("default_field"), f"{at}.default_field")


def _walk_query(kind: str, inner: Mapping[str, Json], at: str) -> Iterator[Named]:
    """Of a query of this *kind*, whose content is *inner*."""
    if kind in KEYED:
        yield from _walk_keys(inner, at)
    elif kind in LISTING:
        yield from _walk_listed(inner, at)
    elif kind == "knn":
        yield from _walk_knn(inner, at)
    if kind in NAMING:
        yield from _walk_text(inner.get("field"), f"{at}.field")
    for key in COMPOUND.get(kind, ()):
        yield from _walk_queries(inner.get(key), f"{at}.{key}")
    if kind == "function_score":
        yield from _walk_function(inner, at)
        for function, place in _walk_clauses(inner.get("functions"), f"{at}.functions"):
            yield from _walk_queries(function.get("filter"), f"{place}.filter")
            yield from _walk_function(function, place)


def _walk_keys(inner: Mapping[str, Json], at: str) -> Iterator[Named]:
    """Of what has a field as a key, beside options."""
    # What may be unmapped says so, as in a sort.
    if inner.get("ignore_unmapped") is True:
        return
    for name, options in inner.items():
        if name not in NO_FIELDS:
            yield name, at
            # The other fields that `terms_set`, and the filters that `neural` has.
            content = _as_mapping(options)
            place = f"{at}.{name}"
            yield from _walk_text(content.get("minimum_should_match_field"), f"{place}.minimum_should_match_field")
            yield from _walk_queries(content.get("filter"), f"{place}.filter")


def _walk_function(function: Mapping[str, Json], at: str) -> Iterator[Named]:
    """Of a function of a function_score, which may stand in the function_score itself."""
    for kind in FUNCTIONS_WITH_FIELD:
        yield from _walk_text(_as_mapping(function.get(kind)).get("field"), f"{at}.{kind}.field")
    for kind in DECAYS:
        yield from _walk_keys(_as_mapping(function.get(kind)), f"{at}.{kind}")


def _walk_aggregations(holder: Mapping[str, Json], at: str) -> Iterator[Named]:
    """Of the aggregations of a body, or of an aggregation, the names of which are the user's own."""
    for key in AGGREGATIONS:
        for name, aggregation in _as_mapping(holder.get(key)).items():
            for kind, content in _as_mapping(aggregation).items():
                # A `bucket_sort` sorts by other aggregations; a `scripted_metric` has names of scripts only.
                if kind not in (*AGGREGATIONS, "bucket_sort", "meta", "scripted_metric"):
                    yield from _walk_aggregation(kind, content, f"{at}{key}.{name}.{kind}")
            yield from _walk_aggregations(_as_mapping(aggregation), f"{at}{key}.{name}.")


def _walk_aggregation(kind: str, content: Json, at: str) -> Iterator[Named]:
    """
    Of an aggregation of this *kind*: its ``field`` or those of its sources, its sort, and its filters.

    A ``fields`` of texts is that of `matrix_stats`.
    """
    if kind == "filter":
        yield from _walk_queries(content, at)
        return
    for clause, place in _walk_clauses(content, at):
        yield from _walk_text(clause.get("field"), f"{place}.field")
        yield from _walk_sorts(clause.get("sort"), f"{place}.sort")
        for key, inner in clause.items():
            if key == "filters":
                filters = inner if isinstance(inner, Mapping) else {}
                for name, query in filters.items():
                    yield from _walk_queries(query, f"{place}.filters.{name}")
                yield from _walk_queries(inner if isinstance(inner, list) else None, f"{place}.filters")
            elif key == "fields" and isinstance(inner, list) and all(isinstance(name, str) for name in inner):
                yield from _walk_listed(clause, place)
            elif key not in ("sort", "script", "meta"):
                yield from _walk_aggregation(key, inner, f"{place}.{key}")


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
                content = _as_mapping(options)
                if name == "_geo_distance":
                    yield from _walk_keys(content, f"{place}._geo_distance")
                # A field that may be unmapped says so, and need not be there.
                elif "unmapped_type" not in content:
                    yield name, place
                nested = _as_mapping(content.get("nested"))
                yield from _walk_queries(nested.get("filter"), f"{place}.{name}.nested.filter")


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

DERIVED_OBJECT = "derived object"
OPEN_ENDED = frozenset(
    {DERIVED_OBJECT, "flat_object", "flattened", "rank_features", "semantic", "semantic_text", "sparse_vector"}
)
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


def read_derived_fields(
    connection: Connection, retries: Retries, index: str, url_params: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """
    The types of the derived fields of OpenSearch in the mappings behind *index*, which `_field_caps` does not list.

    None are known if the login may not read mappings.
    """
    path = f"{make_index_path(index)}/_mapping?{urlencode(url_params)}"
    content = read_json(ask_one(connection, retries, ServerRequest("GET", path)))
    field_types: dict[str, frozenset[str]] = {}
    for definition in _as_mapping(content).values():
        derived_fields = _as_mapping(_as_mapping(definition).get("mappings")).get("derived")
        for name, field in _as_mapping(derived_fields).items():
            derived_type = f"derived {_as_mapping(field).get('type')}"
            field_types[name] = field_types.get(name, frozenset()) | {derived_type}
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
