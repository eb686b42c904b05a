"""Documents of a service by their ids: what is sent for them, and which of them are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.catalogue_service import CatalogueService
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Failure, FailureKind, Ranking
from harness.model.run import Response as SearchResponse
from harness.model.suite import DocumentsRequest, HttpRequest
from harness.search.dialects import find_dialect, open_search
from harness.search.service_documents import (
    LONGEST_IDS,
    explain_unwritable,
    fill_documents_request,
    filter_search,
    find_documents_problem,
    split_ids,
)

BY_IDS = HttpRequest(
    "GET",
    "/documents",
    "$.id",
    {"id": "{{ids}}", "rows": "{{count}}"},
    hits="$.hits",
    titles="$.title",
    total="$.total",
)
SEARCH = HttpRequest("GET", "/search", "$.id", {"q": "tent"}, hits="$.hits", total="$.total")


def request(documents: DocumentsRequest) -> SearchRequest:
    return SearchRequest("tents", None, None, replace(SEARCH, documents=documents))


def look_up(service: CatalogueService, ids: list[str], documents: DocumentsRequest | None = None) -> SearchResponse:
    asked = find_dialect("http").request_documents(request(documents or DocumentsRequest(BY_IDS)), ids)
    with service.open() as search:
        [response] = search.search([asked])
    return response


def of(*ids: str) -> CatalogueService:
    return CatalogueService({id: {"title": f"The {id}"} for id in ids})


def found(response: SearchResponse) -> list[str]:
    assert isinstance(response, Ranking), response
    assert response.total == response.returned
    return [hit.id for hit in response.hits]


def test_the_documents_that_are_there_come_in_the_order_of_the_ids() -> None:
    response = look_up(of("a", "b", "c"), ["c", "x", "a"])

    assert found(response) == ["c", "a"]
    assert isinstance(response, Ranking)
    assert [hit.title for hit in response.hits] == ["The c", "The a"]


def test_all_found_takes_one_request_and_a_missing_one_another() -> None:
    service = of("a", "b")

    look_up(service, ["a", "b"])
    assert service.asked == [{"id": ["a", "b"], "rows": ["2"]}]
    look_up(service, ["a", "x"])
    assert service.asked[1:] == [{"id": ["a", "x"], "rows": ["2"]}, {"id": ["x"], "rows": ["1"]}]


@pytest.mark.parametrize("says_total", [True, False])
@pytest.mark.parametrize("page", [1, 3, 7, 1000])
def test_a_page_limit_makes_no_document_missing(page: int, says_total: bool) -> None:
    ids = [f"d{number}" for number in range(20)]
    service = replace(of(*ids), page=page, says_total=says_total)

    assert found(look_up(service, [*ids, "x"])) == ids


@given(
    st.sets(st.text(min_size=1, max_size=5), max_size=12),
    st.sets(st.text(min_size=1, max_size=5), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(1, 5),
    st.booleans(),
)
def test_what_is_found_is_what_is_there(there: set[str], asked: set[str], page: int, batch: int, total: bool) -> None:
    service = replace(of(*there), page=page, says_total=total)

    response = look_up(service, sorted(asked), DocumentsRequest(BY_IDS, batch=batch))

    assert found(response) == sorted(asked & there)
    assert all(len(params["id"]) <= batch for params in service.asked)


def test_a_request_that_does_not_select_by_id_shows_nothing() -> None:
    service = replace(of("a", "b"), ignores_ids=True)

    response = look_up(service, ["x", "y"])

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.MALFORMED
    assert response.reason == (
        "the request by ids returned 'a', which was not asked for, and not 'x' and 1 other; "
        "correct `documents` of the request"
    )


def test_hits_that_a_total_promises_and_nobody_sees_are_no_missing_documents(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/documents").respond_with_json({"hits": [], "total": 3})

    assert isinstance(ask(httpserver, DocumentsRequest(BY_IDS), ["a", "b", "c"]), Failure)


def ask(server: HTTPServer, documents: DocumentsRequest, ids: list[str]) -> SearchResponse:
    asked = find_dialect("http").request_documents(request(documents), ids)
    with open_search(Cluster("shop", server.url_for("/"), service="http"), {}) as search:
        [response] = search.search([asked])
    return response


QUOTED = DocumentsRequest(
    replace(BY_IDS, params={"filter": "id:[{{ids}}]"}), join=",", each="`{{id}}`", escape={"`": "\\`", "\\": "\\\\"}
)


@pytest.mark.parametrize(
    ("documents", "sent"),
    [
        (DocumentsRequest(BY_IDS), {"id": ["a,b", 'c"\\ d&e=ü%2F', "{{count}}"], "rows": ["3"]}),
        (
            replace(QUOTED, http=replace(BY_IDS, params={"filter": "id:[{{ids}}]", "n": "of {{count}}"})),
            {"filter": ['id:[`a,b`,`c"\\\\ d&e=ü%2F`,`{{count}}`]'], "n": ["of 3"]},
        ),
    ],
)
def test_ids_arrive_as_they_are(
    httpserver: HTTPServer, documents: DocumentsRequest, sent: dict[str, list[str]]
) -> None:
    received: list[Any] = []

    def respond(request: Request) -> Response:
        received.append(request.args.to_dict(flat=False))
        return Response('{"hits": []}', content_type="application/json")

    httpserver.expect_request("/documents").respond_with_handler(respond)

    ask(httpserver, documents, ["a,b", 'c"\\ d&e=ü%2F', "{{count}}"])

    assert received == [sent]


def test_ids_in_a_body_are_a_list() -> None:
    http = replace(BY_IDS, method="POST", params={}, json={"filter": {"ids": "{{ids}}"}, "size": "{{count}}"})

    filled = fill_documents_request(DocumentsRequest(http), ["a", "{{ids}}"])

    assert filled.json == {"filter": {"ids": ["a", "{{ids}}"]}, "size": 2}


def read_list(text: str) -> list[str]:
    """The ids between backticks, as a service reads them that has backslashes for escapes."""
    ids, place = [], 0
    while place < len(text):
        assert text[place] == "`"
        place += 1
        id = ""
        while text[place] != "`":
            if text[place] == "\\":
                place += 1
            id += text[place]
            place += 1
        ids.append(id)
        place += 2  # the quote and the comma
    return ids


@given(st.lists(st.text(min_size=1), min_size=1))
def test_escaped_ids_are_read_as_they_were(ids: list[str]) -> None:
    filled = fill_documents_request(QUOTED, ids)

    assert all(explain_unwritable(QUOTED, id) == "" for id in ids)
    text = filled.params["filter"]
    assert read_list(text.removeprefix("id:[").removesuffix("]")) == ids


@given(st.lists(st.text(min_size=1), min_size=1), st.sampled_from([",", " OR ", "\x1f"]))
@example(["a OR", "b"], " OR ")
@example(["a", "OR b"], " OR ")
@example(["a OR b"], " OR ")
def test_joined_ids_are_split_into_what_they_were_where_they_can_be_written(ids: list[str], join: str) -> None:
    documents = DocumentsRequest(replace(BY_IDS, params={"ids": "{{ids}}"}), join=join)
    writable = [id for id in ids if not explain_unwritable(documents, id)]

    assert all(join[0] in id or join[-1] in id for id in set(ids) - set(writable))
    if writable:
        assert fill_documents_request(documents, writable).params["ids"].split(join) == writable


def test_a_search_is_filtered_beside_the_filters_that_it_has() -> None:
    search = HttpRequest("GET", "/search", "$.ids", {"q": "tent", "fq": "stock:1"}, total="$.total", size="rows")
    documents = DocumentsRequest(BY_IDS, join=",", filter={"fq": "id:({{ids}})", "n": "{{count}}"}, batch=2)

    filtered = filter_search(search, documents, ["a", "b"])

    assert filtered is not None
    assert filtered.params == {"q": "tent", "fq": ["stock:1", "id:(a,b)"], "n": 2, "rows": 2}
    assert filter_search(search, documents, ["a", "b", "c"]) is None
    assert filter_search(replace(search, total=None), documents, ["a"]) is None
    assert filter_search(search, replace(documents, filter={}), ["a"]) is None


def test_a_search_is_not_filtered_to_more_ids_than_a_url_takes() -> None:
    search = HttpRequest("GET", "/search", "$.ids", total="$.total")
    in_a_body = replace(BY_IDS, method="POST", params={}, json={"ids": "{{ids}}"})
    documents = DocumentsRequest(in_a_body, filter={"id": "{{ids}}"})

    assert filter_search(search, documents, ["a" * 1000] * 2) is not None
    assert filter_search(search, documents, ["a" * 1000] * 4) is None


def test_an_id_with_an_unwritable_text_is_not_sent() -> None:
    # Typesense reads a backslash before the closing backtick as an escape.
    documents = replace(QUOTED, escape={}, unwritable=("\\`",))
    assert explain_unwritable(documents, "a\\b") == ""
    assert explain_unwritable(documents, "a\\") == (
        r"the id 'a\\', written as '`a\\`', has '\\`', which is `unwritable`"
    )
    assert "at which the service would end it" in explain_unwritable(documents, "a`b")


@given(st.lists(st.text(max_size=30), max_size=60), st.integers(1, 50))
def test_parts_have_all_ids_in_their_order(ids: list[str], batch: int) -> None:
    parts = split_ids(DocumentsRequest(BY_IDS, batch=batch), ids)

    assert [id for part in parts for id in part] == ids
    assert all(0 < len(part) <= batch for part in parts)


def test_a_url_does_not_grow_with_long_ids() -> None:
    ids = [f"{number}" + "é" * 150 for number in range(40)]

    parts = split_ids(DocumentsRequest(BY_IDS), ids)

    assert max(map(len, parts)) < 5
    in_a_body = replace(BY_IDS, method="POST", params={}, json={"ids": "{{ids}}"})
    assert len(split_ids(DocumentsRequest(in_a_body), ids)) == 1


@pytest.mark.parametrize(("more", "parts"), [(0, [2]), (1, [1, 1])])
def test_a_url_is_filled_to_its_limit(more: int, parts: list[int]) -> None:
    length = LONGEST_IDS // 2 - len(quote_plus("&ids="))
    ids = ["a" * length, "b" * (length + more)]

    assert [len(part) for part in split_ids(DocumentsRequest(BY_IDS), ids)] == parts


def test_no_part_is_larger_than_a_page() -> None:
    documents = DocumentsRequest(replace(BY_IDS, max_size=7))

    assert max(map(len, split_ids(documents, [str(number) for number in range(20)]))) == 7


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"params": {"rows": "{{count}}"}}, "expected {{ids}} in a value"),
        ({"path": "/documents/{{ids}}"}, "found {{ids}} in the path"),
        ({"json": {"{{ids}}": 1}}, "found {{ids}} in the path, a header or a key"),
        ({"params": {"id": "{{ids}}", "q": "{{text}}"}}, "found {{text}}, expected {{ids}} and {{count}} only"),
        ({"params": {"filter": "id:[{{ids}}]"}}, "expected `join` too"),
    ],
)
def test_what_is_no_request_by_ids(changes: Mapping[str, Any], words: str) -> None:
    assert find_documents_problem(DocumentsRequest(BY_IDS)) == ""
    assert words in find_documents_problem(DocumentsRequest(replace(BY_IDS, **changes)))


@pytest.mark.parametrize("keys", [{"join": ""}, {"escape": {"": "x"}}, {"unwritable": ("",)}])
def test_no_text_is_empty(keys: Mapping[str, Any]) -> None:
    assert "found an empty" in find_documents_problem(DocumentsRequest(BY_IDS, **keys))


def test_a_filter_has_the_ids() -> None:
    assert "in a value of filter" in find_documents_problem(DocumentsRequest(BY_IDS, filter={"fq": "stock:1"}))
    assert "expected `join` too" in find_documents_problem(DocumentsRequest(BY_IDS, filter={"fq": "id:({{ids}})"}))


@pytest.mark.parametrize("each", ["id", "{{id}}{{id}}", "{{ids}}"])
def test_each_has_the_id_once(each: str) -> None:
    assert "expected {{id}} once" in find_documents_problem(DocumentsRequest(BY_IDS, each=each))
