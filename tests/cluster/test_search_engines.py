"""The search door on real engines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SearchError
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Failure, FailureKind, IndexState, Ranking, Response
from harness.search.dialects import open_search
from harness.search.engine import EngineSearch
from harness.search.server_health import Retries
from harness.suites import load_suite
from harness.suites.requests import build_requests

SHOES = {
    "1": {"title": "red shoes", "price": 1, "name": {"en": "Red Shoes"}},
    "2": {"title": "blue shoes", "price": 2, "name": {"en": "Blue Shoes"}},
    "3": {"title": "green hat", "price": 0, "name": {"en": "Green Hat"}},
}
MAPPINGS = {"properties": {"title": {"type": "text"}, "price": {"type": "long"}}}
MakeIndex = Callable[..., str]


def ask(search: EngineSearch, index: str | None, *bodies: Any, title_field: str | None = None) -> list[Response]:
    requests = [SearchRequest(str(n), index, body, title_field=title_field) for n, body in enumerate(bodies)]
    return search.search(requests)


def ids(response: Response) -> list[str]:
    assert isinstance(response, Ranking), response
    return [hit.id for hit in response.hits]


def failure(response: Response) -> Failure:
    assert isinstance(response, Failure), response
    return response


def test_says_what_it_is(search: EngineSearch) -> None:
    assert search.engine.kind in ("elasticsearch", "opensearch")
    assert int(search.engine.version.split(".")[0]) >= 2
    assert not search.engine.stated


def test_many_searches_in_one_go_with_titles_and_totals(search: EngineSearch, index: MakeIndex) -> None:
    name = index(SHOES, mappings=MAPPINGS)

    shoes, hat, nothing = ask(
        search,
        name,
        {"query": {"match": {"title": "red shoes"}}, "size": 10},
        {"query": {"match": {"title": "hat"}}, "size": 10},
        {"query": {"match": {"title": "coat"}}, "size": 10},
        title_field="name.en",
    )

    assert ids(shoes) == ["1", "2"]
    assert isinstance(shoes, Ranking)
    assert [hit.title for hit in shoes.hits] == ["Red Shoes", "Blue Shoes"]
    assert shoes.total == 2
    assert shoes.took is not None
    assert all(hit.score is not None for hit in shoes.hits)
    assert ids(hat) == ["3"]
    assert ids(nothing) == []


def test_no_hits_is_a_ranking_whether_they_are_counted_or_not(search: EngineSearch, index: MakeIndex) -> None:
    query = {"query": {"match": {"title": "coat"}}, "aggs": {"dearest": {"max": {"field": "price"}}}}

    counted, uncounted = ask(search, index(SHOES, mappings=MAPPINGS), query, {**query, "track_total_hits": False})

    assert counted == Ranking((), total=0, took=counted.took)  # type: ignore[union-attr]
    assert uncounted == Ranking((), total=None, took=uncounted.took)  # type: ignore[union-attr]


def test_the_order_of_the_server_is_kept_where_it_sorts_by_a_field(search: EngineSearch, index: MakeIndex) -> None:
    [response] = ask(search, index(SHOES, mappings=MAPPINGS), {"sort": [{"price": "desc"}]})

    assert ids(response) == ["2", "1", "3"]
    assert isinstance(response, Ranking)
    assert [hit.score for hit in response.hits] == [None, None, None]


@pytest.mark.parametrize("body", [{"_source": ["name"]}, {"_source": False, "fields": ["name.en"]}])
def test_a_body_that_says_what_comes_back(search: EngineSearch, index: MakeIndex, body: dict[str, Any]) -> None:
    [response] = ask(search, index(SHOES), {"query": {"match": {"title": "hat"}}, **body}, title_field="name.en")

    assert isinstance(response, Ranking)
    assert response.hits[0].title == "Green Hat"


def test_a_total_that_is_not_counted_to_its_end(search: EngineSearch, index: MakeIndex) -> None:
    documents = {str(n): {"title": "shoes"} for n in range(20)}

    [response] = ask(
        search, index(documents), {"query": {"match": {"title": "shoes"}}, "track_total_hits": 5, "size": 1}
    )

    assert isinstance(response, Ranking)
    assert (response.total, response.total_is_lower_bound) == (5, True)


def test_a_malformed_query_fails_alone_and_says_where(search: EngineSearch, index: MakeIndex) -> None:
    good = {"query": {"match_all": {}}}

    responses = ask(search, index(SHOES), *[good] * 5, {"query": {"mtch": {"title": "x"}}}, *[good] * 5)

    wrong = failure(responses.pop(5))
    assert wrong.kind is FailureKind.ERROR
    assert "unknown query [mtch] did you mean [match]?" in wrong.reason
    assert "line 1, column" in wrong.reason
    assert all(len(ids(response)) == 3 for response in responses)


def test_a_missing_index_fails_alone(search: EngineSearch, index: MakeIndex) -> None:
    here = SearchRequest("here", index(SHOES), {})
    gone = SearchRequest("gone", "relevance-test-nowhere", {})

    found, missing = search.search([here, gone])

    assert len(ids(found)) == 3
    assert failure(missing).status == 404
    assert "no such index [relevance-test-nowhere]" in failure(missing).reason


def test_a_shard_that_fails_is_no_ranking_of_the_others(search: EngineSearch, index: MakeIndex) -> None:
    documents = {str(n): {"price": n} for n in range(12)}
    name = index(documents, mappings=MAPPINGS, settings={"number_of_shards": 3})
    script = {"source": "if (doc['price'].value == 0) { throw new RuntimeException('no price') } return 1"}

    [response] = ask(search, name, {"query": {"script_score": {"query": {"match_all": {}}, "script": script}}})

    assert failure(response).kind is FailureKind.SHARDS
    assert name in failure(response).reason
    assert "script_exception" in failure(response).reason


def test_a_script_that_fails_on_every_shard_is_an_error_of_the_query(search: EngineSearch, index: MakeIndex) -> None:
    script = {"source": "throw new RuntimeException('never')"}

    [response] = ask(search, index(SHOES), {"query": {"script_score": {"query": {"match_all": {}}, "script": script}}})

    assert failure(response).kind is FailureKind.ERROR
    assert "script_exception" in failure(response).reason


def test_a_shard_without_a_node_is_missed(call: Callable[..., Any], search: EngineSearch, index: MakeIndex) -> None:
    name = index({})
    call("DELETE", f"/{name}")
    nowhere = {"number_of_replicas": 0, "index.routing.allocation.require._name": "no-such-node"}
    call("PUT", f"/{name}?wait_for_active_shards=0", {"settings": nowhere})
    impatient = EngineSearch(search.connection, search.engine, retries=Retries(attempts=2, base=0.01, patience=1.0))

    [response] = ask(impatient, name, {})

    assert failure(response).kind is FailureKind.SHARDS
    assert failure(response).status == 503


def laborious(steps: int) -> dict[str, Any]:
    """A search that divides that often for each document, which takes about 2 ns each time."""
    loop = (
        f"long sum = 0; long price = doc['price'].value + 1; for (int i = 0; i < {steps}; i++) {{ sum += i % price }}"
    )
    return {"query": {"script": {"script": {"source": f"{loop} return sum >= 0"}}}}


def test_a_search_that_runs_out_of_time_is_a_timeout(search: EngineSearch, index: MakeIndex) -> None:
    # An engine looks at the time after the first 4,096 documents of a segment, at a clock that moves each 200 ms.
    documents = {str(n): {"price": n} for n in range(6_000)}
    slow = {"timeout": "20ms", **laborious(200_000)}

    [response] = ask(search, index(documents, mappings=MAPPINGS), slow)

    assert failure(response).kind is FailureKind.TIMEOUT


def test_a_search_that_the_client_does_not_wait_for_is_a_timeout_and_the_others_are_answered(
    search: EngineSearch, index: MakeIndex
) -> None:
    name = index(
        {str(n): {"price": n} for n in range(20_000)}, mappings=MAPPINGS
    )  # an engine gives up between documents
    quick, slow = {"query": {"match_all": {}}, "size": 1}, laborious(150_000)
    hasty = EngineSearch(search.connection, search.engine, timeout=2.0)

    responses = ask(hasty, name, quick, slow, quick, quick)

    assert [type(response) for response in responses] == [Ranking, Failure, Ranking, Ranking]
    assert failure(responses[1]).kind is FailureKind.TIMEOUT


def test_knn_and_retriever_bodies_pass_as_they_are(search: EngineSearch, index: MakeIndex) -> None:
    if search.engine.kind != "elasticsearch":
        pytest.skip("this OpenSearch has no knn plugin, and no OpenSearch has retrievers")
    vector = {"properties": {"v": {"type": "dense_vector", "dims": 2, "index": True, "similarity": "cosine"}}}
    name = index({"east": {"v": [1, 0]}, "north": {"v": [0, 1]}, "north-east": {"v": [1, 1]}}, mappings=vector)
    knn = {"field": "v", "query_vector": [0.9, 0.1], "k": 3, "num_candidates": 10}

    plain, retriever = ask(search, name, {"knn": knn, "size": 3}, {"retriever": {"knn": knn}, "size": 3})

    assert ids(plain) == ids(retriever) == ["east", "north-east", "north"]


def test_a_point_in_time(search: EngineSearch, index: MakeIndex, call: Callable[..., Any]) -> None:
    name = index(SHOES)
    if search.engine.kind == "elasticsearch":
        pit = call("POST", f"/{name}/_pit?keep_alive=1m")["id"]
    else:
        pit = call("POST", f"/{name}/_search/point_in_time?keep_alive=1m")["pit_id"]

    [response] = ask(search, name, {"pit": {"id": pit}, "query": {"match": {"title": "hat"}}})

    assert ids(response) == ["3"]


def test_search_templates(search: EngineSearch, index: MakeIndex) -> None:
    name = index(SHOES)
    source = '{"query": {"match": {"title": "{{q}}"}}, "size": {{size}}}'
    template = {"template": {"source": source, "params": {"q": "shoes"}}, "size": 1}
    plain = {"query": {"match": {"title": "hat"}}}

    shoes, hat, unknown = ask(search, name, template, plain, {"template": {"id": "relevance-test-none"}})

    assert ids(hat) == ["3"]
    if search.engine.kind == "elasticsearch" and isinstance(shoes, Failure):
        assert "lang-mustache" in shoes.reason
        return
    assert len(ids(shoes)) == 1
    assert "relevance-test-none" in failure(unknown).reason


AS_TEXT = """'{"query": {"match": {"title": "{{q}}"}}, "size": {{size}}}'"""
AS_MAPPING = '{query: {match: {title: "{{q}}"}}, size: "{{size}}"}'


@pytest.mark.parametrize("source", [AS_TEXT, AS_MAPPING], ids=["text", "mapping"])
def test_a_text_with_quotes_and_braces_reaches_a_template_of_a_suite_unharmed(
    search: EngineSearch, index: MakeIndex, tmp_path: Path, source: str
) -> None:
    """The titles are not analysed, so that only the very text finds its document."""
    awkward = 'a "quoted" \\\\ {{text}} {brace} \\n </b> it\'s é'
    name = index(
        {"1": {"title": awkward}, "2": {"title": "shoes"}}, mappings={"properties": {"title": {"type": "keyword"}}}
    )
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(
        f"suite: shop\ntarget: {{index: {name}}}\nmeasures: [nDCG@10]\n"
        f'request: {{template: {{source: {source}, params: {{q: "{{{{text}}}}"}}}}}}\n'
        f"queries: [{{id: awkward, text: {json.dumps(awkward)}, judgments: {{1: 1}}}}]\n",
        encoding="utf-8",
    )

    [response] = search.search(build_requests(load_suite(path, {}), None))

    if search.engine.kind == "elasticsearch" and isinstance(response, Failure):
        assert "lang-mustache" in response.reason
        return
    assert ids(response) == ["1"]


def test_a_template_that_is_the_only_one_and_not_there(search: EngineSearch, index: MakeIndex) -> None:
    [response] = ask(search, index(SHOES), {"template": {"id": "relevance-test-none", "params": {}}, "size": 1})

    assert failure(response).kind is FailureKind.ERROR
    assert "search template" in failure(response).reason


def test_hundreds_of_searches_are_answered_in_their_order(search: EngineSearch, index: MakeIndex) -> None:
    documents = {str(n): {"price": n} for n in range(40)}
    name = index(documents, mappings=MAPPINGS)

    responses = ask(search, name, *({"query": {"term": {"price": n % 40}}, "size": 1} for n in range(600)))

    assert [ids(response) for response in responses] == [[str(n % 40)] for n in range(600)]


def test_a_spent_budget_leaves_the_rest_unsent(search: EngineSearch, index: MakeIndex) -> None:
    [response] = search.search([SearchRequest("q", index(SHOES), {})], budget=0.0)

    assert failure(response).kind is FailureKind.NOT_RUN


def test_a_stated_engine_searches_without_being_asked(engine_url: str, index: MakeIndex) -> None:
    with open_search(Cluster("stated", url=engine_url), {}, engine="opensearch 2.19") as stated:
        [response] = stated.search([SearchRequest("q", index(SHOES), {"size": 3})])

    assert stated.engine.stated
    assert len(ids(response)) == 3


def test_a_users_own_client(search: EngineSearch, engine_url: str, index: MakeIndex) -> None:
    import elasticsearch
    import opensearchpy

    name = index(SHOES)
    clients: list[Any] = [opensearchpy.OpenSearch([engine_url])]
    if search.engine.kind == "elasticsearch" and int(search.engine.version.split(".")[0]) >= elasticsearch.VERSION[0]:
        clients.append(elasticsearch.Elasticsearch(engine_url))  # a newer client is refused by an older server

    for client in clients:
        with open_search(Cluster("given"), {}, client=client) as door:
            assert door.engine == search.engine
            hat, wrong = door.search(
                [
                    SearchRequest("a", name, {"query": {"match": {"title": "hat"}}}),
                    SearchRequest("b", name, {"query": {"mtch": {}}}),
                ]
            )
        assert ids(hat) == ["3"]
        assert "unknown query [mtch]" in failure(wrong).reason
        client.close()


def test_a_url_that_is_no_engine(engine_url: str) -> None:
    with pytest.raises(SearchError, match="was not answered by Elasticsearch or OpenSearch"):
        open_search(Cluster("wrong", url=f"{engine_url}/no/such/path"), {})


def test_scores_are_numbers_as_the_engine_gave_them(search: EngineSearch, index: MakeIndex) -> None:
    body = {"query": {"function_score": {"query": {"match_all": {}}, "script_score": {"script": "0.1 + 0.2"}}}}

    [response] = ask(search, index({"1": {}}), body)

    assert isinstance(response, Ranking)
    assert math.isclose(response.hits[0].score or 0.0, 0.3, rel_tol=1e-6)
    assert replace(response, took=None).total == 1


def test_the_state_of_an_index_changes_with_its_documents_and_its_identity(
    search: EngineSearch, index: Callable[..., str], call: Callable[..., Any]
) -> None:
    first, second = index({"a": {"t": 1}, "b": {"t": 2}}), index({"c": {"t": 3}})
    alias = f"{first}-alias"
    call("POST", "/_aliases", {"actions": [{"add": {"index": first, "alias": alias}}]})

    before = search.index_state(alias, timeout=5.0, url_params={})
    assert before == search.index_state(alias, timeout=5.0, url_params={})
    assert (before.documents, list(before.uuids or ())) == (2, [first])
    [(shard, [copy])] = (before.copies or {}).items()
    assert (shard, copy.primary, bool(copy.node and copy.allocation)) == (f"{first}[0]", True, True)
    for still in ("_forcemerge?max_num_segments=1", "_refresh", "_flush"):
        call("POST", f"/{first}/{still}")
    assert search.index_state(alias, timeout=5.0, url_params={}) == before
    assert (before.newest, list((before.visible or {}).values())) == (1, [2])
    call("PUT", f"/{first}/_doc/a?refresh=true", {"t": 9})
    replaced = search.index_state(alias, timeout=5.0, url_params={})
    assert replaced == replace(before, writes=replaced.writes, newest=2, visible=replaced.visible)
    assert list((replaced.visible or {}).values()) == [3]
    assert [
        after - then
        for then, after in zip((before.writes or {}).values(), (replaced.writes or {}).values(), strict=True)
    ] == [1]
    call("DELETE", f"/{first}/_doc/a?refresh=true")
    deleted = search.index_state(alias, timeout=5.0, url_params={})
    assert deleted == replace(before, documents=1, writes=deleted.writes, visible=deleted.visible) != replaced
    actions = [{"remove": {"index": first, "alias": alias}}, {"add": {"index": second, "alias": alias}}]
    call("POST", "/_aliases", {"actions": actions})
    assert list(search.index_state(alias, timeout=5.0, url_params={}).uuids or ()) == [second]
    uuids = search.index_state(second, timeout=5.0, url_params={}).uuids
    call("DELETE", f"/{second}")
    call("PUT", f"/{second}", {})
    again = search.index_state(second, timeout=5.0, url_params={})
    assert again.documents == 0
    assert again.uuids is not None
    assert again.uuids != uuids
    assert search.index_state("there-is-none", timeout=5.0, url_params={}) == IndexState()


def test_another_filter_of_an_alias_is_another_state(
    search: EngineSearch, index: Callable[..., str], call: Callable[..., Any]
) -> None:
    name = index({"a": {"t": 1}, "b": {"t": 2}})

    def filtered(number: int) -> IndexState:
        alias = {"index": name, "alias": f"{name}-alias", "filter": {"range": {"t": {"gte": number, "lte": number}}}}
        call("POST", "/_aliases", {"actions": [{"add": alias}]})
        return search.index_state(f"{name}-alias", timeout=5.0, url_params={})

    one, two = filtered(1), filtered(2)
    assert (one.documents, two.documents, list(one.filters or ())) == (1, 1, [name])
    assert (one.newest, two.newest) == (0, 1)
    assert replace(one, filters=None) == replace(two, filters=None, newest=0)
    assert one.filters != two.filters
    assert one == filtered(1)


def test_writes_count_where_a_search_could_see_them(
    search: EngineSearch, index: Callable[..., str], call: Callable[..., Any]
) -> None:
    name = index({"a": {"tenant": "north"}}, settings={"number_of_shards": 2})
    add = {"index": name, "filter": {"match": {"tenant": "north"}}}
    call("POST", "/_aliases", {"actions": [{"add": {**add, "alias": f"{name}-north"}}]})
    call("POST", "/_aliases", {"actions": [{"add": {"index": name, "alias": f"{name}-0", "routing": "0"}}]})

    def written(target: str, routing: str | None = None) -> dict[str, int] | None:
        state = search.index_state(target, timeout=5.0, url_params={"routing": routing} if routing else {})
        return None if state.writes is None else dict(state.writes)

    def changed(routing: str) -> list[str]:
        before = written(name) or {}
        call("PUT", f"/{name}/_doc/b?routing={routing}&refresh=true", {"tenant": "south"})
        return [shard for shard, highest in (written(name) or {}).items() if highest != before[shard]]

    [zero] = changed("0")
    away = next(other for other in map(str, range(1, 99)) if changed(other) != [zero])
    assert written(f"{name}-north") is None
    for target, routing in ((f"{name}-0", None), (name, "0")):
        before = written(target, routing)
        assert list(before or ()) == [zero]
        changed(away)
        assert written(target, routing) == before
        changed("0")
        assert written(target, routing) == {zero: (before or {})[zero] + 1}
    assert len(written(f"{name},{name}-north") or {}) == 2
