"""
Why a document has its score for a request, or none: the engine's explanation, and the clauses that do not match.

A hit is explained by the request itself with `explain`. Any other document is asked for by a `post_filter` on its id,
which leaves scores as they are and works where the index is an alias or a list. If that finds nothing, the document is
looked up by its id, and the clauses of the query are tried one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import quote, urlencode

from harness.errors import SearchError, UsageError
from harness.metrics.run_scores import failure_text
from harness.model.inspection import ClauseMatch, Explained, Explanation
from harness.model.request import SearchRequest
from harness.model.run import Failure
from harness.model.suite import Json
from harness.search.bodies import make_ids_query, select_index_params
from harness.search.connected import ConnectedSearch, ask_json
from harness.search.connection import Connection
from harness.search.esql import is_esql
from harness.search.hits import MalformedAnswer, make_excerpt, read_id
from harness.search.msearch import describe_shards, make_single_search, select_shard_params
from harness.search.score_parts import LONGEST_CLAUSE, find_score_parts
from harness.words import find_nearest

_LEFT_OUT = frozenset({
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
    explainer = _Explainer(search, request)
    try:
        explainer.render_template()
    except SearchError as error:
        return tuple(Explanation(document, Explained.UNKNOWN, reason=str(error)) for document in documents)
    ranks = {document: rank for rank, document in enumerate(ranking, start=1)}
    known_ids = {*ranking, *known}
    return tuple(explainer.explain(document, ranks.get(document), known_ids) for document in documents)


def _describe_score(document: str, tree: Json, hit: Mapping[str, Json]) -> Explanation:
    """The explanation of a score whose *tree* the engine gave, of *document*, which is *hit*."""
    score, parts = find_score_parts(tree)
    return Explanation(document, Explained.SCORED, score=score, index=hit.get("_index"), parts=parts)


def render_template(search: ConnectedSearch[Connection], request: SearchRequest) -> Mapping[str, Json]:
    """
    The body that the search template of *request* becomes.

    Raises:
        SearchError: The login may not render it, or the engine cannot.
    """
    _, filled = make_single_search(request)
    output = ask_json(search, "POST", "/_render/template", filled).get("template_output")
    return output if isinstance(output, Mapping) else {}


class _Explainer:
    """Asks the engine about single documents of one request."""

    def __init__(self, search: ConnectedSearch[Connection], request: SearchRequest) -> None:
        self._search = search
        self._request = request
        self._ranked: dict[str, Mapping[str, Json]] | None = None
        """The hits of the request with their explanations, by id; None before they are asked for."""
        self.body: Mapping[str, Json] = {}
        if isinstance(request.body, Mapping):
            self.body = request.body

    def render_template(self) -> None:
        """Fill the search template of the request, which the engine may keep."""
        if is_esql(self.body):
            raise SearchError("Elasticsearch does not explain the scores of ES|QL")
        if "template" in self.body:
            self.body = render_template(self._search, self._request)

    def explain(self, document: str, rank: int | None, known_ids: Set[str]) -> Explanation:
        """Explain the score of *document*, which the request ranks at *rank*, or why it has none."""
        try:
            hit = self._find_explained(document, in_ranking=rank is not None)
            if hit is not None:
                explanation = _describe_score(document, hit["_explanation"], hit)
                if rank is not None:
                    return replace(explanation, rank=rank)
                return self._add_doubt(explanation, hit)
            visible = self._find_visible(document)
            if visible is None:
                return Explanation(
                    document, Explained.INVISIBLE, nearest=find_nearest(document, known_ids - {document})
                )
            return self._explain_unmatched(document, visible)
        except (SearchError, MalformedAnswer, UsageError) as error:
            return Explanation(document, Explained.UNKNOWN, rank=rank, reason=str(error))

    def _find_explained(self, document: str, *, in_ranking: bool) -> Mapping[str, Json] | None:
        """
        The hit that *document* is, with its explanation; None if the request does not find it.

        If it is *in_ranking*, the request itself is sent again, once for all documents of the ranking.
        """
        if in_ranking:
            if self._ranked is None:
                self._ranked = self._search_explained(self.body)
            if document in self._ranked:
                return self._ranked[document]
        body = {key: value for key, value in self.body.items() if key not in _LEFT_OUT}
        body |= {"size": 1, "post_filter": self._make_query(document)}
        return self._search_explained(body).get(document)

    def _search_explained(self, body: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
        """The hits of *body* with their explanations, by id."""
        explained = {}
        for hit in self._search_hits({**body, "explain": True, "_source": False}):
            if "_explanation" in hit:
                id_field = self._request.id_field
                identity = str(hit.get("_id")) if id_field is None else read_id(hit, id_field)
                explained[identity] = hit
        return explained

    def _make_query(self, document: str) -> Json:
        """A query that finds *document* by its id."""
        return make_ids_query([document], self._request.id_field)

    def _add_doubt(self, explanation: Explanation, hit: Mapping[str, Json]) -> Explanation:
        """
        *explanation*, with the reason why its document is not among the hits although it matches the query.

        *hit* is the document as a search of it alone returns it.
        """
        left_out = replace(explanation, outcome=Explained.LEFT_OUT)
        if "post_filter" in self.body and self._match(hit, [self.body["post_filter"]]) == [False]:
            return replace(left_out, reason="the `post_filter` of the request leaves it out")
        least, score = self.body.get("min_score"), explanation.score
        if isinstance(least, int | float) and score is not None and score < least:
            return replace(left_out, reason=f"its score is below the `min_score` {least:g} of the request")
        if "rescore" in self.body:
            reason = "the request rescores its first hits only; this is the score as one of them"
            return replace(explanation, reason=reason)
        if "collapse" in self.body:
            return replace(explanation, reason="`collapse` may show another document of its group")
        return explanation

    def _explain_unmatched(self, document: str, visible: Mapping[str, Json]) -> Explanation:
        """Explain a document that the target shows, as *visible*, and the request does not find."""
        tree = self._explain_query_alone(visible)
        if tree is not None:
            reason = f"the query matches it, and {self._find_what_leaves_out(document)}"
            explanation = _describe_score(document, tree, visible)
            return replace(explanation, outcome=Explained.LEFT_OUT, reason=reason)
        clauses = list(_walk_clauses(self.body.get("query"), "query"))
        clauses += _walk_clauses(self.body.get("post_filter"), "post_filter")
        matches = self._match(visible, [clause.query for clause in clauses])
        clause_matches = []
        for clause, is_matched in zip(clauses, matches, strict=True):
            text = make_excerpt(json.dumps(clause.query, ensure_ascii=False), LONGEST_CLAUSE)
            clause_matches.append(ClauseMatch(clause.place, text, is_matched, clause.fails(is_matched)))
        reason = ""
        if "knn" in self.body:
            reason = "it is not among the nearest documents that `knn` asks for"
        elif not clauses:
            reason = "the request has no `query` whose clauses could be tried"
        return Explanation(
            document,
            Explained.UNMATCHED,
            index=str(visible.get("_index")),
            clauses=tuple(clause_matches),
            reason=reason,
        )

    def _find_what_leaves_out(self, document: str) -> str:
        """What leaves out a document that the query matches, in words."""
        shards = select_shard_params(self._request.url_params)
        if shards and self._find_visible(document, shards) is None:
            return f"the request does not search its shard ({describe_shards(shards)})"
        return "something beside the query leaves it out"

    def _find_visible(
        self, document: str, shards: Mapping[str, str] = MappingProxyType({})
    ) -> Mapping[str, Json] | None:
        """The document itself, as the target shows it, or its *shards* alone; None if there is none."""
        url_params = {**select_index_params(self._request.url_params), **shards}
        body = {"query": self._make_query(document), "size": 1, "_source": False}
        hits = self._search_hits(body, replace(self._request, url_params=url_params))
        return hits[0] if hits else None

    def _explain_query_alone(self, visible: Mapping[str, Json]) -> Json:
        """The explanation of the query for a document on its own index; None if the query does not match it."""
        if "query" not in self.body:
            return None
        path = f"/{quote(str(visible['_index']), safe='')}/_explain/{quote(str(visible['_id']), safe='')}"
        if "_routing" in visible:
            path += f"?{urlencode({'routing': visible['_routing']})}"
        # This API takes no point in time.
        answer = self._ask(path, {"query": self.body["query"]})
        return answer.get("explanation") if answer.get("matched") is True else None

    def _match(self, visible: Mapping[str, Json], queries: Sequence[Json]) -> list[bool]:
        """Whether the document that is *visible* matches each of *queries*, found by a search of it alone."""
        only_it = {"ids": {"values": [visible["_id"]]}}
        index = str(visible["_index"])
        # Without these a query may name fields that do not exist, or see another state of the index.
        common = {key: self.body[key] for key in ("pit", "runtime_mappings") if key in self.body}
        requests = []
        for query in queries:
            body = {**common, "query": {"bool": {"filter": [query, only_it]}}, "size": 1}
            requests.append(SearchRequest("", index, body))
        matches = []
        for response in self._search.search(requests):
            if isinstance(response, Failure):
                raise SearchError(f"the engine does not try each clause: {failure_text(response)}")
            matches.append(bool(response.hits))
        return matches

    def _search_hits(self, body: Mapping[str, Json], request: SearchRequest | None = None) -> list[Mapping[str, Json]]:
        """
        Send *body* as a `_search`, and return the hits of the answer.

        Args:
            body: It is sent in the point in time of the request that is explained, if that has one.
            request: Gives the index and the URL parameters; by default the request that is explained.
        """
        if request is None:
            request = self._request
        if "pit" in self.body:
            body = {"pit": self.body["pit"], **body}
        path, content = make_single_search(replace(request, body=body, title_field=None))
        outer = self._ask(path, content).get("hits")
        hits = None
        if isinstance(outer, Mapping):
            hits = outer.get("hits")
        if not isinstance(hits, list):
            raise MalformedAnswer("the answer should have a list `hits.hits`")
        return hits

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


def _walk_clauses(query: Json, place: str, *, required: bool | None = True) -> Iterator[_Clause]:
    """The clauses of *query*, which is at *place* in the body: for a bool and its like the clauses inside it."""
    if not isinstance(query, Mapping) or len(query) != 1:
        return
    [(kind, content)] = query.items()
    if not isinstance(content, Mapping):
        yield _Clause(place, query, required)
        return
    inner_key = _INNER.get(kind, "")
    if isinstance(content.get(inner_key), Mapping):
        yield from _walk_clauses(content[inner_key], f"{place}.{kind}.{inner_key}", required=required)
    elif kind == "bool":
        yield from _walk_bool(content, f"{place}.bool", required)
    elif kind == "dis_max":
        yield _Clause(place, query, required)
        for number, inner in enumerate(content.get("queries") or []):
            yield from _walk_clauses(inner, f"{place}.dis_max.queries[{number}]", required=None)
    else:
        yield _Clause(place, query, required)
        yield from _weaken(kind, content, place)


def _walk_bool(content: Mapping[str, Json], place: str, required: bool | None) -> Iterator[_Clause]:
    """The clauses of the *content* of a bool query at *place*; *required* is that of the query, see `_Clause`."""
    has_required = bool(content.get("must") or content.get("filter"))
    # Beside required clauses a `should` only adds to the score, unless it says how many must match.
    if content.get("should") and (not has_required or "minimum_should_match" in content):
        shoulds = {key: content[key] for key in ("should", "minimum_should_match") if key in content}
        yield _Clause(f"{place}.should", {"bool": shoulds}, required)
    for occurrence, is_needed in (("must", True), ("filter", True), ("should", None), ("must_not", False)):
        value = content.get(occurrence) or []
        clauses = value if isinstance(value, list) else [value]
        for number, clause in enumerate(clauses):
            clause_place = f"{place}.{occurrence}"
            if isinstance(value, list):
                clause_place += f"[{number}]"
            if is_needed is False:
                yield _Clause(clause_place, clause, False if required else None)
            else:
                # Where a clause need not match, those inside it need not match either.
                yield from _walk_clauses(clause, clause_place, required=required if is_needed else None)


def _weaken(kind: str, content: Mapping[str, Json], place: str) -> Iterator[_Clause]:
    """
    Weaker forms of the clause at *place*: on each single field, and without the requirement of several terms.

    They show which field, or which requirement, keeps a document out.
    """
    if kind == "multi_match":
        fields = content.get("fields")
        if isinstance(fields, list) and len(fields) > 1:
            for field in fields:
                query = {kind: {**content, "fields": [field]}}
                yield _Clause(f"{place}.multi_match.fields {field}", query, None)
        loose, strict = _loosen(content)
        if strict:
            yield _Clause(f"{place} without {' and '.join(strict)}", {kind: loose}, None)
    elif kind == "match":
        for field, options in content.items():
            loose, strict = _loosen(options)
            if strict:
                yield _Clause(f"{place} without {' and '.join(strict)}", {kind: {field: loose}}, None)


def _loosen(options: Json) -> tuple[Json, list[str]]:
    """*options* of a query without those that require several terms, and their names."""
    if not isinstance(options, Mapping):
        return options, []
    strict = [key for key in ("operator", "minimum_should_match") if key in options]
    return {key: value for key, value in options.items() if key not in strict}, strict
