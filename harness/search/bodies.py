"""
The bodies of `_search`: how many hits one asks for, what these are, and others that ask for the same documents.

Both engines take the same bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.model.request import SearchRequest
from harness.model.run import Ranking
from harness.model.suite import Json, iterate_members
from harness.search.esql import is_esql
from harness.search.fields import select_runtime_fields
from harness.search.highlights import make_highlight
from harness.search.msearch import INDEX_PARAMS, find_point
from harness.search.protocol import IDS_ONLY, LookUpOptions

COSTLY_KEYS = frozenset(
    {
        "_source", "aggregations", "aggs", "docvalue_fields", "explain", "fields", "highlight", "profile",
        "script_fields", "suggest", "track_total_hits",
    }
)  # fmt: skip
"""Keys of a body that do not affect the ranking; a deeper search, which needs only ids, leaves them out."""

RANKING_KEYS = frozenset({"collapse", "min_score", "rescore", "terminate_after"})
"""Keys of a body that do not say what matches, and may hide some of it or cost time."""

# How many hits.

RESULT_WINDOW = 10_000
"""The default of `index.max_result_window`, the deepest hit that engines return."""

DEFAULT_RESCORE_WINDOW = 10
"""The default of a rescorer's `window_size`."""

SIZE_DEPENDENT_KEYS = frozenset({"retriever", "rank", "sub_searches", "search_pipeline", "ext", "hybrid", "semantic"})
"""Keys whose ranking depends on the size: they fuse, normalize or rerank that many hits."""

LIMITED_KEYS = frozenset({"knn", "neural", *SIZE_DEPENDENT_KEYS})
"""Keys whose list of hits may end before all matches are in it."""


def find_deepest_size(body: Json) -> int:
    """
    The greatest size of *body* that does not change the hits of a smaller size.

    Hits below a rescorer's window keep their first score, and are merged with the others; the default `k` of `knn` is
    the size. 0 if any other size may change the ranking.
    """
    sizes = [RESULT_WINDOW]
    for key, value in iterate_members(body):
        if key in SIZE_DEPENDENT_KEYS:
            return 0
        clauses = value if isinstance(value, list) else [value]
        if key == "knn":
            sizes += [_read_neighbors(clause) for clause in clauses]
        elif key == "rescore":
            sizes += [_read_window_size(clause) for clause in clauses]
    return min(sizes)


def _read_neighbors(clause: Json) -> int:
    """The `k` of a `knn`, which in OpenSearch is below the name of the field; 0 if there is none."""
    if not isinstance(clause, Mapping):
        return 0
    for part in (clause, *clause.values()):
        neighbors = _read_whole_number(part.get("k")) if isinstance(part, Mapping) else 0
        if neighbors:
            return neighbors
    return 0


def _read_window_size(clause: Json) -> int:
    return _read_whole_number(clause.get("window_size", DEFAULT_RESCORE_WINDOW)) if isinstance(clause, Mapping) else 0


def _read_whole_number(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


DEFAULT_RETRIEVER_WINDOW = 10
"""The default of a retriever's `rank_window_size`."""

WINDOWLESS_RETRIEVERS = frozenset({"standard", "knn"})
"""Retrievers that take any size."""


def find_window(body: Json) -> int | None:
    """
    The window of the retriever of *body*: engines refuse a greater size. None where nothing limits it.

    >>> find_window({"retriever": {"rrf": {"retrievers": [], "rank_window_size": 50}}}), find_window({"query": {}})
    (50, None)
    """
    if not isinstance(body, Mapping):
        return None
    template = body.get("template")
    source = template.get("source") if isinstance(template, Mapping) else body
    retriever = source.get("retriever") if isinstance(source, Mapping) else None
    if not isinstance(retriever, Mapping):
        return None
    for kind, content in retriever.items():
        if not isinstance(content, Mapping):
            continue
        if kind == "rescorer":
            rescore = content.get("rescore")
            clauses = rescore if isinstance(rescore, list) else [rescore]
            return min(_read_window_size(clause) for clause in clauses)
        if kind not in WINDOWLESS_RETRIEVERS:
            return _read_whole_number(content.get("rank_window_size")) or DEFAULT_RETRIEVER_WINDOW
    return None


def lists_all_matches(body: Json) -> bool:
    """Whether an answer to *body* that is as long as its total has all matches."""
    return not any(key in LIMITED_KEYS for key, _ in iterate_members(body))


def groups_hits(body: Json) -> bool:
    """Whether *body* returns one document of each group, while its total counts all of them."""
    return isinstance(body, Mapping) and "collapse" in body


def has_all_matches(ranking: Ranking, request: SearchRequest) -> bool:
    """
    Whether an exact total in *ranking*, the response to *request*, shows that nothing else matches.

    With `collapse` the total counts the documents of all groups; there, a short response has the last group.
    """
    if ranking.total is None or ranking.total_is_lower_bound or ranking.stopped_early:
        return False
    body = request.body
    if is_esql(body):
        return True  # it has a total only where its rows are all that match
    is_last_group = False
    if groups_hits(body):
        size = body.get("size")
        is_last_group = isinstance(size, int) and ranking.returned < size
    if ranking.total > ranking.returned and not is_last_group:
        return False
    return lists_all_matches([request.url_params, body])


def deepen(request: SearchRequest, size: int) -> SearchRequest:
    """*request* for *size* hits, with ids only."""
    body = request.body
    if not isinstance(body, Mapping):
        return request
    if "template" not in body:
        kept = {key: value for key, value in body.items() if key not in COSTLY_KEYS}
        return replace(request, body=kept | {"size": size})
    template = body["template"]
    if isinstance(template, Mapping) and isinstance(template.get("params"), Mapping):
        template = {**template, "params": {**template["params"], "size": size}}
    return replace(request, body={**body, "template": template, "size": size})


# Other bodies for the same documents.


def make_ids_request(request: SearchRequest, ids: Sequence[str], options: LookUpOptions = IDS_ONLY) -> SearchRequest:
    """A search for the documents *ids* themselves, in the indexes or the point in time that *request* searches."""
    size = len(ids) if options.size is None else options.size
    body: dict[str, Json] = {"query": make_ids_query(ids, request.id_field), "size": size}
    highlight = None
    if options.highlights:
        titles = [options.title_field] if options.title_field is not None else []
        highlight = make_highlight(request, dict.fromkeys([*titles, *options.fields]))
    if highlight is not None:
        body["highlight"] = highlight
    return replace(
        _look_up(request, body),
        title_field=options.title_field,
        has_snippet=options.has_snippet,
        fields=options.fields,
        value_fields=options.value_fields,
        highlights=highlight is not None,
    )


def make_sample_request(request: SearchRequest, size: int) -> SearchRequest:
    """A search for any *size* documents in the indexes or the point in time that *request* searches."""
    return _look_up(request, {"query": {"match_all": {}}, "size": size})


def _look_up(request: SearchRequest, body: dict[str, Json]) -> SearchRequest:
    """*body* as a request to what *request* searches, of no query."""
    point = find_point(request.body)
    if point is not None:
        body["pit"] = point
    body |= select_runtime_fields(request.body)
    return SearchRequest(
        "",
        request.index if point is None else None,
        body,
        unique_ids=True,
        id_field=request.id_field,
        url_params=select_index_params(request.url_params),
    )


def make_ids_query(ids: Sequence[str], id_field: str | None) -> Json:
    """The query for the documents *ids*, which *id_field* holds, or `_id` where it is None."""
    return {"ids": {"values": list(ids)}} if id_field is None else {"terms": {id_field: list(ids)}}


def select_index_params(url_params: Mapping[str, str]) -> dict[str, str]:
    """Those of *url_params* that say which indexes are searched; a look-up by id is not routed."""
    return {name: value for name, value in url_params.items() if name in INDEX_PARAMS}


def filter_to_ids(request: SearchRequest, ids: Sequence[str]) -> SearchRequest:
    """*request*, which then finds those of *ids* alone that match."""
    body = {key: value for key, value in request.body.items() if key not in COSTLY_KEYS | RANKING_KEYS}
    filters: list[Json] = [make_ids_query(ids, request.id_field)]
    if "post_filter" in body:
        filters.append(body["post_filter"])
    body |= {"post_filter": {"bool": {"filter": filters}}, "size": len(ids)}
    # Hooks have had the request, and pass one that is built for no query.
    return replace(request, body=body, unique_ids=True, built_for=None)
