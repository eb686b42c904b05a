"""
Why a document has its score for a request, or none: the engine's explanation, and the clauses that do not match.

A hit is explained by the request itself with `explain`. Any other document is asked for by a `post_filter` on its id,
which leaves scores as they are and works where the index is an alias or a list. If that finds nothing, the document is
looked up by its id, and the clauses of the query are tried one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from harness.errors import SearchError, UsageError
from harness.metrics.score import failure_text
from harness.model import ClauseMatch, Explained, Explanation, Failure, Json, Ranking, SearchRequest
from harness.search.bodies import make_ids_query, select_index_params
from harness.search.connected import ConnectedSearch, ask_json
from harness.search.connection import Connection
from harness.search.hits import MalformedAnswer, make_excerpt, read_id
from harness.search.msearch import describe_shards, make_single_search, select_shard_params
from harness.search.score_parts import LONGEST_CLAUSE, find_score_parts
from harness.words import nearest

LEFT_OUT = frozenset({
    "_source", "aggregations", "aggs", "collapse", "docvalue_fields", "fields", "highlight", "min_score", "post_filter",
    "profile", "script_fields", "size", "sort", "stored_fields", "suggest", "terminate_after", "track_scores",
    "track_total_hits",
})  # fmt: skip
"""Keys of a body that change no score: one document is explained without them, whatever keeps it out of the hits."""


def explain_documents(
    search: ConnectedSearch[Connection],
    request: SearchRequest,
    documents: Sequence[str],
    *,
    ranking: Sequence[str],
    known: Iterable[str] = (),
) -> tuple[Explanation, ...]:
    """
    Explain the scores of *documents* for *request*, in their order.

    Args:
        search: Where the request was sent.
        request: As it was sent.
        documents: Ids.
        ranking: The ids of the hits, best first.
        known: Other ids, one of which may be meant by an id that is not visible.

    Returns:
        An explanation for each. If a document cannot be explained, its explanation has the reason.
    """
    asker = _Asker(search, request)
    try:
        asker.render_template()
    except SearchError as error:
        return tuple(Explanation(one, Explained.UNKNOWN, reason=str(error)) for one in documents)
    ranks = {document: rank for rank, document in enumerate(ranking, start=1)}
    ids = [*ranking, *known]
    return tuple(_explain(asker, document, ranks.get(document), ids) for document in documents)


def _explain(asker: _Asker, document: str, rank: int | None, known: Iterable[str]) -> Explanation:
    try:
        hit = asker.explained(document, in_ranking=rank is not None)
        if hit is not None:
            return replace(_scored(document, hit["_explanation"], hit), rank=rank, **asker.doubt(hit, rank))
        held = asker.held(document)
        if held is None:
            return Explanation(document, Explained.INVISIBLE, nearest=nearest(document, set(known) - {document}))
        return _unmatched(asker, document, held)
    except (SearchError, MalformedAnswer, UsageError) as error:
        return Explanation(document, Explained.UNKNOWN, rank=rank, reason=str(error))


def _scored(document: str, tree: Json, hit: Mapping[str, Json]) -> Explanation:
    score, parts = find_score_parts(tree)
    return Explanation(document, Explained.SCORED, score=score, index=hit.get("_index"), parts=parts)


def _left_out(reason: str) -> dict[str, Any]:
    return {"outcome": Explained.LEFT_OUT, "reason": reason}


def _unmatched(asker: _Asker, document: str, held: Mapping[str, Json]) -> Explanation:
    """A document that the target has and the request does not find."""
    index = str(held.get("_index"))
    tree = asker.of_query_alone(held)
    if tree is not None:
        reason = f"the query matches it, and {asker.what_leaves_out(document)}"
        return replace(_scored(document, tree, held), **_left_out(reason))
    clauses = list(_clauses(asker.body.get("query"), "query"))
    clauses += _clauses(asker.body.get("post_filter"), "post_filter")
    matches = asker.matching(held, [clause.query for clause in clauses])
    found_clauses = tuple(
        ClauseMatch(clause.place, _shown(clause.query), matched, clause.fails(matched))
        for clause, matched in zip(clauses, matches, strict=True)
    )
    reason = "" if clauses else "the request has no `query` whose clauses could be tried"
    if "knn" in asker.body:
        reason = "it is not among the nearest documents that `knn` asks for"
    return Explanation(document, Explained.UNMATCHED, index=index, clauses=found_clauses, reason=reason)


def _shown(query: Json) -> str:
    return make_excerpt(json.dumps(query, ensure_ascii=False), LONGEST_CLAUSE)


class _Asker:
    """Asks the engine about single documents of one request."""

    def __init__(self, search: ConnectedSearch[Connection], request: SearchRequest) -> None:
        self._search = search
        self._request = request
        self._ranked: dict[str, Mapping[str, Json]] | None = None
        self.body: Mapping[str, Json] = request.body if isinstance(request.body, Mapping) else {}

    def render_template(self) -> None:
        """Fill the search template of the request, which the engine may keep."""
        if "template" in self.body:
            _, filled = make_single_search(self._request)
            self.body = self._ask("/_render/template", filled).get("template_output") or {}

    def explained(self, document: str, *, in_ranking: bool) -> Mapping[str, Json] | None:
        """The hit that *document* is, with its explanation; None if the request does not find it."""
        if in_ranking:
            if self._ranked is None:
                self._ranked = self._explained_hits(self.body)
            if document in self._ranked:
                return self._ranked[document]
        body = {key: value for key, value in self.body.items() if key not in LEFT_OUT}
        return self._explained_hits({**body, "size": 1, "post_filter": self._only(document)}).get(document)

    def _explained_hits(self, body: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
        hits = self._hits({**body, "explain": True, "_source": False})
        return {self._id_of(hit): hit for hit in hits if "_explanation" in hit}

    def _only(self, document: str) -> Json:
        return make_ids_query([document], self._request.id_field)

    def _id_of(self, hit: Mapping[str, Json]) -> str:
        field = self._request.id_field
        return str(hit.get("_id")) if field is None else read_id(hit, field)

    def doubt(self, hit: Mapping[str, Json], rank: int | None) -> dict[str, Any]:
        """How the request handles a document that matches its query and is not among the hits."""
        if rank is not None:
            return {}
        least, (score, _) = self.body.get("min_score"), find_score_parts(hit["_explanation"])
        if "post_filter" in self.body and self.matching(hit, [self.body["post_filter"]]) == [False]:
            return _left_out("the `post_filter` of the request leaves it out")
        if isinstance(least, int | float) and score < least:
            return _left_out(f"its score is below the `min_score` {least:g} of the request")
        if "rescore" in self.body:
            return {"reason": "the request rescores its first hits only; this is the score as one of them"}
        return {"reason": "`collapse` may show another document of its group"} if "collapse" in self.body else {}

    def what_leaves_out(self, document: str) -> str:
        """What leaves out a document that the query matches, in words."""
        shards = select_shard_params(self._request.url_params)
        if shards and self.held(document, shards) is None:
            return f"the request does not search its shard ({describe_shards(shards)})"
        return "something beside the query leaves it out"

    def held(self, document: str, shards: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, Json] | None:
        """The document itself, as the target shows it, or its *shards* alone; None if there is none."""
        request = replace(self._request, url_params={**select_index_params(self._request.url_params), **shards})
        body = {"query": self._only(document), "size": 1, "_source": False}
        return next(iter(self._hits(body, request)), None)

    def of_query_alone(self, held: Mapping[str, Json]) -> Json:
        """The explanation of the query for a document on its own index; None if the query does not match it."""
        if "query" not in self.body:
            return None
        routing = {"routing": held["_routing"]} if "_routing" in held else {}
        path = f"/{quote(str(held['_index']), safe='')}/_explain/{quote(str(held['_id']), safe='')}"
        found = self._ask(f"{path}?{urlencode(routing)}" if routing else path, {"query": self.body["query"]})
        return found.get("explanation") if found.get("matched") is True else None

    def matching(self, held: Mapping[str, Json], queries: Sequence[Json]) -> list[bool]:
        """Whether a document matches each of *queries*."""
        ids = {"ids": {"values": [held["_id"]]}}
        kept = {key: self.body[key] for key in ("pit", "runtime_mappings") if key in self.body}
        bodies = [{**kept, "query": {"bool": {"filter": [query, ids]}}, "size": 1} for query in queries]
        responses = self._search.search([SearchRequest("", str(held["_index"]), body) for body in bodies])
        failures = [one for one in responses if isinstance(one, Failure)]
        if failures:
            raise SearchError(f"the engine does not try each clause: {failure_text(failures[0])}")
        return [isinstance(one, Ranking) and bool(one.hits) for one in responses]

    def _hits(self, body: Json, request: SearchRequest | None = None) -> list[Mapping[str, Json]]:
        """The hits of *body*, sent as the request is or as another one."""
        path, content = make_single_search(replace(request or self._request, body=self._pinned(body), title_field=None))
        hits = self._ask(path, content).get("hits")
        found = hits.get("hits") if isinstance(hits, Mapping) else None
        if not isinstance(found, list):
            raise MalformedAnswer("the answer should have a list `hits.hits`")
        return found

    def _pinned(self, body: Json) -> Json:
        return {"pit": self.body["pit"], **body} if "pit" in self.body else body

    def _ask(self, path: str, body: Json) -> Mapping[str, Json]:
        return ask_json(self._search, "POST", path, body, refused="the engine does not explain it: ")


# The clauses of a query.


@dataclass(frozen=True, slots=True)
class _Clause:
    """
    One clause: *place* is its path in the body, *query* its JSON. Where *required* is true a document has to match it,
    where false it must not; where None it need not.
    """

    place: str
    query: Json
    required: bool | None

    def fails(self, matches: bool) -> bool:
        """Whether a document that *matches*, or does not, is kept out by this clause."""
        return self.required is not None and matches is not self.required


_INNER: Mapping[str, str] = {
    "function_score": "query",
    "script_score": "query",
    "constant_score": "filter",
    "boosting": "positive",
}
"""The key of the query in a query that only gives it other scores."""


def _clauses(query: Json, place: str, *, required: bool | None = True) -> Iterator[_Clause]:
    """The clauses of *query*, a bool and its like by their own clauses."""
    if not isinstance(query, Mapping) or len(query) != 1:
        return
    [(kind, content)] = query.items()
    if isinstance(content, Mapping) and isinstance(content.get(_INNER.get(kind, "")), Mapping):
        yield from _clauses(content[_INNER[kind]], f"{place}.{kind}.{_INNER[kind]}", required=required)
    elif kind == "bool" and isinstance(content, Mapping):
        yield from _bool_clauses(content, f"{place}.bool", required)
    elif kind == "dis_max" and isinstance(content, Mapping):
        yield _Clause(place, query, required)
        for number, inner in enumerate(content.get("queries") or []):
            yield from _clauses(inner, f"{place}.dis_max.queries[{number}]", required=None)
    else:
        yield _Clause(place, query, required)
        yield from _weaker(kind, content, place)


def _bool_clauses(content: Mapping[str, Json], place: str, required: bool | None) -> Iterator[_Clause]:
    is_optional = any(content.get(key) for key in ("must", "filter")) and "minimum_should_match" not in content
    if content.get("should") and not is_optional:
        shoulds = {key: content[key] for key in ("should", "minimum_should_match") if key in content}
        yield _Clause(f"{place}.should", {"bool": shoulds}, required)
    for occurrence, needed in (("must", True), ("filter", True), ("should", None), ("must_not", False)):
        inner = content.get(occurrence) or []
        for number, clause in enumerate(inner if isinstance(inner, list) else [inner]):
            at = f"{place}.{occurrence}[{number}]" if isinstance(inner, list) else f"{place}.{occurrence}"
            if needed is False:
                yield _Clause(at, clause, False if required else None)
            else:
                yield from _clauses(clause, at, required=needed and required)


def _weaker(kind: str, content: Json, place: str) -> Iterator[_Clause]:
    """Weaker forms of a clause: on each single field, and without the requirement of several terms."""
    if not isinstance(content, Mapping):
        return
    fields = content.get("fields")
    if kind == "multi_match" and isinstance(fields, list):
        for field in fields if len(fields) > 1 else []:
            yield _Clause(f"{place}.multi_match.fields {field}", {kind: {**content, "fields": [field]}}, None)
    for name, options in [("", content)] if kind == "multi_match" else content.items():
        strict = [
            key for key in ("operator", "minimum_should_match") if isinstance(options, Mapping) and key in options
        ]
        if strict and kind in ("match", "multi_match"):
            loose = {key: value for key, value in options.items() if key not in strict}
            yield _Clause(f"{place} without {' and '.join(strict)}", {kind: {name: loose} if name else loose}, None)
