"""What is sent as ES|QL, and what its answers mean, by a server that answers as the documentation says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from builders.engine import Fault
from builders.esql import EsqlEngine, table_of
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking, Response
from harness.search.dialects import find_dialect, open_search
from harness.search.esql import EsqlError, list_pieces, parse_esql

TEXT = "FROM products METADATA _id, _score | WHERE MATCH(title, ?text) | SORT _score DESC | LIMIT 10"


@pytest.fixture
def esql() -> Iterator[EsqlEngine]:
    with EsqlEngine() as engine:
        yield engine


def request_of(text: str = "red shoes", esql: str = TEXT, **fields: Any) -> SearchRequest:
    body = {"esql": esql, "params": {"text": text}, "size": 10}
    return replace(SearchRequest("q1", "products", body), **fields)


def search(server: EsqlEngine, *requests: SearchRequest, **options: Any) -> list[Response]:
    with open_search(Cluster("default", server.url), {}, **options) as opened:
        return opened.search(requests)


def read(engine: EsqlEngine, answer: object, **fields: Any) -> Response:
    engine.tables["red shoes"] = answer
    [response] = search(engine, request_of(**fields))
    return response


# What is sent.


def test_each_text_is_sent_by_itself_with_its_named_parameters(esql: EsqlEngine) -> None:
    responses = search(esql, request_of("red shoes"), request_of("rubber boots"))

    assert [response.ids for response in responses if isinstance(response, Ranking)] == [("a", "b", "c"), ("e", "d")]
    assert sorted(esql.asked_esql, key=str) == [
        {"query": TEXT, "params": [{"text": "red shoes"}]},
        {"query": TEXT, "params": [{"text": "rubber boots"}]},
    ]
    assert ("POST", "/_query") in esql.sent


@pytest.mark.parametrize("value", ['" | LIMIT 1 //', "?text", "a\nb", "`", "\u2028", "\\", '"""', "{{text}}"])
def test_a_hostile_value_is_a_parameter(esql: EsqlEngine, value: str) -> None:
    esql.rankings[value] = ["a"]
    search(esql, request_of(value))

    assert esql.asked_esql == [{"query": TEXT, "params": [{"text": value}]}]


def test_the_request_is_shown_as_it_is_sent() -> None:
    sent = find_dialect("engine").describe(request_of(), Cluster("default", "http://localhost:9200/"))

    assert (sent.method, sent.url) == ("POST", "http://localhost:9200/_query")
    assert sent.body == {"query": TEXT, "params": [{"text": "red shoes"}]}


def test_opensearch_is_sent_none(esql: EsqlEngine) -> None:
    [response] = search(esql, request_of(), engine="opensearch 2.19")

    assert response == Failure(FailureKind.ERROR, "OpenSearch has no ES|QL: it is a language of Elasticsearch alone")
    assert esql.asked_esql == []


@pytest.mark.parametrize(("status", "resent"), [(429, "status 429"), (503, "status 503"), (None, "connection closed")])
def test_it_is_sent_again_as_a_search_is(esql: EsqlEngine, status: int | None, resent: str) -> None:
    esql.faults.append(Fault("/_query", status))
    with open_search(Cluster("default", esql.url), {}) as opened:
        [streamed] = opened.stream([request_of()])

    assert isinstance(streamed.response, Ranking)
    assert streamed.resent == resent


def test_a_body_that_a_hook_broke_is_an_error_of_its_query(esql: EsqlEngine) -> None:
    broken = [{"esql": 3}, {"esql": TEXT, "params": [1]}, {"esql": "FROM a | WHERE (", "params": {}}]
    responses = search(esql, *(replace(request_of(), body=body) for body in broken))

    assert [response.reason for response in responses if isinstance(response, Failure)] == [
        "`esql` should be a text, and `params` beside it an object",
        "`esql` should be a text, and `params` beside it an object",
        "`esql` cannot be read at its character 16: the bracket ( is not closed",
    ]


# What is read.


def test_rows_are_hits_in_their_order_with_scores(esql: EsqlEngine) -> None:
    response = read(
        esql, table_of([[2.5, "a", "Tent"], [2.5, "b", None]], ["_score", "_id", "title"]), title_field="title"
    )

    assert isinstance(response, Ranking)
    assert response.hits == (Hit("a", 2.5, "Tent"), Hit("b", 2.5))
    assert response.took == 4
    assert not response.exact_scores


def test_fewer_rows_than_the_limit_are_all_that_match(esql: EsqlEngine) -> None:
    request = request_of()
    for rows, total in ((2, 2), (0, 0), (10, None)):
        response = read(esql, table_of([[f"d{number}", 1.0] for number in range(rows)]))
        assert isinstance(response, Ranking)
        assert response.total == total
        assert find_dialect("engine").has_all_matches(response, request) is (total is not None)


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("| SORT", "| SORT _score DESC | LIMIT 50 | SORT"),
        TEXT.replace("MATCH(title, ?text)", "KNN(vector, ?text)"),
        f'{TEXT} | WHERE brand == "acme"',
    ],
)
def test_but_not_where_something_else_limits_them(esql: EsqlEngine, text: str) -> None:
    response = read(esql, table_of([["a", 1.0]]), esql=text)

    assert isinstance(response, Ranking)
    assert response.total is None


def test_rows_tie_by_the_columns_that_order_them(esql: EsqlEngine) -> None:
    text = TEXT.replace("_score DESC", "_score DESC, `brand` ASC NULLS LAST")
    columns = ["_id", "_score", "brand"]
    response = read(esql, table_of([["a", 1.0, "x"], ["b", 1.0, ["y", "z"]]], columns), esql=text)

    assert isinstance(response, Ranking)
    assert [hit.sort for hit in response.hits] == [(1.0, "x"), (1.0, '["y", "z"]')]


def test_the_first_column_of_the_order_is_the_score_where_there_is_no_other(esql: EsqlEngine) -> None:
    response = read(esql, table_of([["a", 3], ["b", 2.5]], ["_id", "boost"]), esql=TEXT.replace("_score", "boost"))

    assert isinstance(response, Ranking)
    assert list(response.scores) == [3, 2.5]
    assert response.exact_scores


@pytest.mark.parametrize("order", ["boost * 2 DESC", "boost DESC", "boost DESC, brand"])
def test_an_order_by_what_is_not_returned_ties_nothing(esql: EsqlEngine, order: str) -> None:
    response = read(esql, table_of([["a", 1.0], ["b", 1.0]]), esql=TEXT.replace("_score DESC", order))

    assert isinstance(response, Ranking)
    assert [hit.sort for hit in response.hits] == [(), ()]


def test_the_field_of_ids_of_the_target_holds_them(esql: EsqlEngine) -> None:
    response = read(esql, table_of([["x", 7, 1.0]], ["_id", "sku", "_score"]), id_field="sku")

    assert isinstance(response, Ranking)
    assert response.ids == ("7",)


def test_a_document_with_two_rows_counts_once_where_ids_are_unique(esql: EsqlEngine) -> None:
    rows = table_of([["a", 2.0], ["a", 1.0], ["b", 1.0]])
    response = read(esql, rows, unique_ids=True)

    assert isinstance(response, Ranking)
    assert response.ids == ("a", "b")
    assert response.duplicates == ("a",)


MALFORMED = {
    "a null id": (
        table_of([["a", 1.0], [None, 1.0]]),
        "`values[1]` should have one text or whole number as '_id', which holds the ids of documents, found nothing",
    ),
    "two values of an id": (
        table_of([[["a", "b"], 1.0]]),
        "`values[0]` should have one text or whole number as '_id', which holds the ids of documents, found a list",
    ),
    "no id": (
        table_of([[1.0]], ["_score"]),
        "`columns` has no '_id', which holds the ids of documents: write METADATA _id behind FROM, and keep the column",
    ),
    "a column twice": (table_of([["a", "b", 1.0]], ["_id", "_id", "_score"]), "`columns` has '_id' twice"),
    "a column without a name": (
        table_of([], columns=()) | {"columns": [{"type": "long"}]},
        "`columns[0]` should have a text `name`, found nothing",
    ),
    "a short row": (
        table_of([["a"]]),
        "`values[0]` should be a list of 2 values, as there are columns",
    ),
    "a document twice": (
        table_of([["a", 2.0], ["a", 1.0]]),
        '"a" is at rank 1 and at rank 2, and a search returns a document once: correct it, or set `ids: unique` in the '
        "target, by which it counts at its first rank only",
    ),
    "a score that is a text": (
        table_of([["a", "high"]]),
        'the score of `values[0]` should be a finite number, found "high"',
    ),
    "scores in a list": (
        table_of([["a", [1.0, 2.0]]]),
        "the score of `values[0]` should be a finite number, found a list",
    ),
    "too many rows": (
        table_of([[f"d{number}", 1.0] for number in range(11)]),
        "`values` has 11 rows, and the LIMIT is 10",
    ),
    "no columns": ({"took": 1, "values": []}, "the answer should have a list `columns`, found nothing"),
    "no values": (table_of([]) | {"values": {}}, "the answer should have a list `values`, found an object"),
    "a list": ({"columns": [1], "values": []}, "`columns[0]` should have a text `name`, found nothing"),
    "partial or not": (
        table_of([["a", 1.0]], is_partial="no"),
        '`is_partial` should be true or false, found "no"',
    ),
}


@pytest.mark.parametrize(("answer", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_ranking_is_malformed(esql: EsqlEngine, answer: object, reason: str) -> None:
    response = read(esql, answer)

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.MALFORMED
    assert response.reason == reason


CLUSTERS = {
    "total": 1,
    "successful": 0,
    "partial": 1,
    "skipped": 0,
    "failed": 0,
    "running": 0,
    "details": {
        "(local)": {
            "status": "partial",
            "indices": "products",
            "failures": [{"shard": 0, "index": "products", "reason": {"type": "io", "reason": "disk is gone"}}],
        }
    },
}
PARTIAL = {
    "partial": (
        table_of([["a", 1.0]], is_partial=True),
        FailureKind.PARTIAL,
        "the answer is partial: `is_partial` is true",
    ),
    "running": (
        table_of([["a", 1.0]], is_running=True),
        FailureKind.PARTIAL,
        "the answer is partial: `is_running` is true",
    ),
    "with its reason": (
        table_of([["a", 1.0]], is_partial=True, _clusters=CLUSTERS),
        FailureKind.SHARDS,
        "1 of 1 clusters did not answer in full: (local): io: disk is gone",
    ),
    "a cluster that was skipped, and nothing else said": (
        table_of([["a", 1.0]], _clusters={"total": 2, "successful": 1, "skipped": 1}),
        FailureKind.SHARDS,
        "1 of 2 clusters did not answer in full",
    ),
}


@pytest.mark.parametrize(("answer", "kind", "reason"), PARTIAL.values(), ids=PARTIAL)
def test_a_part_of_the_rows_is_an_error(esql: EsqlEngine, answer: object, kind: FailureKind, reason: str) -> None:
    response = read(esql, answer)

    assert isinstance(response, Failure)
    assert (response.kind, response.reason) == (kind, reason)


def test_an_answer_of_all_clusters_is_a_ranking(esql: EsqlEngine) -> None:
    clusters = {"total": 1, "successful": 1, "details": {"(local)": {"status": "successful"}}}

    assert isinstance(read(esql, table_of([["a", 1.0]], _clusters=clusters)), Ranking)


def test_versions_that_do_not_say_whether_an_answer_is_partial_are_read(esql: EsqlEngine) -> None:
    answer = table_of([["a", 1.0]])
    del answer["is_partial"]

    assert isinstance(read(esql, answer), Ranking)


def test_an_error_has_the_reason_of_the_engine(esql: EsqlEngine) -> None:
    error = {"type": "verification_exception", "reason": "Found 1 problem\nline 1:45: Unknown column [titel]"}
    response = read(esql, {"error": {"root_cause": [error], **error}, "status": 400})

    assert response == Failure(
        FailureKind.ERROR, "verification_exception: Found 1 problem line 1:45: Unknown column [titel]", 400
    )


def test_a_server_without_it_says_so(esql: EsqlEngine) -> None:
    # As 9.4.3 without the module answers.
    error = "Incorrect HTTP method for uri [/_query] and method [POST], allowed: [GET, PUT, DELETE, HEAD]"
    response = read(esql, {"error": error, "status": 405})

    assert isinstance(response, Failure)
    assert response.reason == (
        f"{error}; this server has no ES|QL: Elasticsearch has it from version 8.11 on, with its module x-pack-esql"
    )


def test_no_score_is_explained(esql: EsqlEngine) -> None:
    with open_search(Cluster("default", esql.url), {}) as opened:
        [explanation] = opened.inspector.explain(request_of(), ["a"], ranking=["a"])

    assert explanation.reason == "Elasticsearch does not explain the scores of ES|QL"


# How a text is divided.


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ('"a | \\" b" | c', ['"a | \\" b"', "|", "c"]),
        ('"""a "b" | ?c""" d', ['"""a "b" | ?c"""', "d"]),
        ("`a|b``c` ?d", ["`a|b``c`", "?d"]),
        ("a // ?b | c\n| d", ["a", "|", "d"]),
        ("a /* /* | */ ?b */ c", ["a", "c"]),
        ("??field == ?1", ["??field", "=", "=", "?1"]),
        ('""', ['""']),
    ],
)
def test_strings_names_and_comments_are_one_piece(text: str, pieces: list[str]) -> None:
    assert [piece.text for piece in list_pieces(text)] == pieces


@pytest.mark.parametrize("text", ['"a', "`a", '"""a\nb"""', '"a\nb"', "/* /* */", "(", ")", "([)]"])
def test_what_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(EsqlError):
        list_pieces(text)


def test_a_pipe_in_brackets_ends_no_command() -> None:
    query = parse_esql("FROM a METADATA _id | FORK (WHERE x | LIMIT 2) (WHERE y | SORT z) | SORT _id | LIMIT 3")

    assert [command.name for command in query.commands] == ["FROM", "FORK", "SORT", "LIMIT"]
    assert not query.lists_all


@pytest.mark.parametrize(
    ("source", "index"),
    [
        ("products", "products"),
        ("shop-*, -shop-old", "shop-*,-shop-old"),
        ('"logs-a", logs-b', "logs-a,logs-b"),
        ("remote:products", "remote:products"),
        ("products [METADATA _id]", "products"),
    ],
)
def test_the_index_is_what_from_names(source: str, index: str) -> None:
    assert parse_esql(f"FROM {source} | SORT a").index == index


def test_all_that_is_read_is_known() -> None:
    query = parse_esql(
        'FROM a, b METADATA _id | LOOKUP JOIN c ON k | ENRICH p ON k WITH v | FORK (ENRICH "q") (LIMIT 3) | SORT k'
    )

    assert query.sources == ("a,b", "c", "p", '"q"')
