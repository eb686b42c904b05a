"""Titles and fields of documents: for which they are looked up, and how often."""

from __future__ import annotations

from dataclasses import replace

from harness.errors import EngineUnreachable
from harness.model.report import MissingDocument
from harness.model.request import SearchRequest
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Response, Run
from harness.model.suite import Display, HttpRequest, Query, RequestTemplate, Suite, Target
from harness.run.look_ups import (
    DOCUMENTS_DESCRIBED,
    RANKS_DESCRIBED,
    TITLES_AT_ONCE,
    LookUpConnection,
    describe_documents,
    find_untitled_hits,
    look_up_titles,
)
from harness.search.testing import FakeSearch

REQUEST = RequestTemplate("request", {"query": {"match": {"title": "{{text}}"}}})


def suite(*queries: Query, title: str | None = None) -> Suite:
    return Suite(
        "products",
        "products.relevance.yaml",
        Target(index="products"),
        {"request": REQUEST},
        (),
        queries,
        display=Display(title=title),
    )


class Titles(FakeSearch):
    """Knows a title for each document that is looked up, and fails as *failing* says."""

    def __init__(self, failing: Exception | None = None) -> None:
        super().__init__({}, error=failing)

    def _respond(self, request: SearchRequest) -> Response:
        ids = request.body["query"]["ids"]["values"]
        return Ranking(tuple(Hit(name, 1.0, f"title of {name}") for name in ids))


def run_of_hits(*hits: Hit) -> Run:
    return Run({"q": Ranking(hits)}, Engine("elasticsearch"), index="products")


TITLED = suite(Query("q", "red"), title="title")


def test_titles_are_looked_up_once_for_each_document() -> None:
    search = Titles()
    run = look_up_titles(TITLED, run_of_hits(Hit("a", 1.0, "A"), Hit("b")), search, ["b", "gone", "b"])
    assert run.titles == {"b": "title of b", "gone": "title of gone"}
    [sent] = search.look_ups
    assert (sent.index, sent.title_field, sent.body["query"]) == (
        "products",
        "title",
        {"ids": {"values": ["b", "gone"]}},
    )
    assert look_up_titles(TITLED, run, search, ["b", "gone"]) == run
    assert len(search.look_ups) == 1


def test_a_look_up_of_titles_decides_nothing() -> None:
    search, hits = Titles(), run_of_hits(Hit("a"))
    gone = Titles(EngineUnreachable("gone"))
    assert look_up_titles(TITLED, hits, gone, ["a"]) == hits
    assert look_up_titles(suite(Query("q", "red")), hits, search, ["a"]) == hits, "the suite names no title field"
    assert look_up_titles(TITLED, hits, gone, []) == hits


def test_every_title_is_known_however_many_documents_there_are() -> None:
    run = look_up_titles(TITLED, run_of_hits(), Titles(), map(str, range(TITLES_AT_ONCE + 5)))
    assert len(run.titles) == TITLES_AT_ONCE + 5


def test_titles_are_missed_for_hits_that_came_without() -> None:
    run = replace(
        run_of_hits(),
        responses={
            "q": Ranking((Hit("a", 1.0, "A"), Hit("b"))),
            "r": Failure(FailureKind.ERROR, "no"),
            "s": Ranking((Hit("c"),)),
        },
    )
    assert list(find_untitled_hits(run)) == ["b", "c"]
    assert list(find_untitled_hits(run, ["s", "r", "not run"])) == ["c"]


def test_titles_are_looked_up_in_what_was_searched() -> None:
    search, pit = Titles(), {"id": "p"}
    for body, parameters in (({}, {"ignore_unavailable": True}), ({"pit": pit}, {})):
        template = replace(REQUEST, body={**REQUEST.body, **body}, url_params=parameters)
        asked = replace(suite(Query("q", "red"), title="title"), requests={"request": template})
        look_up_titles(asked, run_of_hits(), search, ["a"])
    first, second = search.look_ups
    assert (first.index, first.url_params) == ("products", {"ignore_unavailable": "true"})
    assert (second.index, second.body["pit"]) == (None, pit)


def test_a_look_up_is_made_from_a_query_that_was_answered() -> None:
    """The size of another query may be one that no request can have."""
    template = replace(REQUEST, body={**REQUEST.body, "size": "{{n}}"})
    queries = (Query("p", "red", params={"n": 1}), Query("q", "red", params={"n": 20}))
    tested = replace(suite(*queries, title="title"), requests={"request": template})
    assert look_up_titles(tested, run_of_hits(Hit("a")), Titles(), ["a"]).titles == {"a": "title of a"}
    failed = Run({"q": Failure(FailureKind.ERROR, "gone")}, Engine("elasticsearch"))
    assert look_up_titles(tested, failed, Titles(EngineUnreachable("gone")), ["a"]) == failed


# Fields.


def make_shop(*queries: Query, fields: tuple[str, ...] = ("price",)) -> Suite:
    return replace(suite(*queries), display=Display(title="title", fields=fields))


class Fields(FakeSearch):
    """Knows a price of each document, and marks the words of the query that is looked up for; or *fails*."""

    def __init__(self, failing: Exception | None = None) -> None:
        super().__init__({}, error=failing)

    def _respond(self, request: SearchRequest) -> Response:
        words = request.body["highlight"]["highlight_query"]["match"]["title"]
        texts = {"price": f"price for {words}"}
        ids = request.body["query"]["ids"]["values"]
        return Ranking(tuple(Hit(name, texts=texts) for name in ids))


def describe(shop: Suite, run: Run, search: FakeSearch | None, *queries: str) -> dict[str, dict[str, str]]:
    missing = {"r": (MissingDocument("gone", 1.0),)}
    described = describe_documents(shop, run, LookUpConnection(search), queries, missing)
    return {
        query: {name: (hit.texts or {})["price"] for name, hit in hits.items()} for query, hits in described.items()
    }


def test_fields_are_looked_up_for_the_first_hits_of_the_queries_that_are_shown() -> None:
    shop = make_shop(Query("q", "red"), Query("r", "blue"), Query("s", "green"), Query("failed", "x"))
    hits = tuple(Hit(f"d{number}") for number in range(RANKS_DESCRIBED + 5))
    failure = Failure(FailureKind.ERROR, "gone")
    responses = {"q": Ranking(hits), "r": Ranking(hits[:1]), "s": Ranking(), "failed": failure}
    run = Run(responses, Engine("opensearch"), index="products-2")
    search = Fields()
    described = describe(shop, run, search, "r", "q", "r", "s", "failed", "unknown")
    assert described["r"] == {"d0": "price for blue", "gone": "price for blue"}
    assert set(described["q"]) == {hit.id for hit in hits[:RANKS_DESCRIBED]}
    assert set(described["q"].values()) == {"price for red"}
    assert described.keys() == {"q", "r"}
    assert {(look_up.index, look_up.fields, look_up.title_field) for look_up in search.look_ups} == {
        ("products-2", ("price",), "title")
    }


def test_the_documents_of_which_fields_are_looked_up_are_bounded() -> None:
    queries = tuple(Query(f"q{number}", "red") for number in range(DOCUMENTS_DESCRIBED // RANKS_DESCRIBED + 2))
    hits = tuple(Hit(f"d{number}") for number in range(RANKS_DESCRIBED))
    run = Run({query.id: Ranking(hits) for query in queries}, Engine("opensearch"), index="products")
    described = describe(make_shop(*queries), run, Fields(), *(query.id for query in queries))
    assert sum(map(len, described.values())) == DOCUMENTS_DESCRIBED


def test_fields_that_cannot_be_looked_up_decide_nothing() -> None:
    run = run_of_hits(Hit("a"))
    shop = make_shop(Query("q", "red"))
    assert describe(shop, run, Fields(EngineUnreachable("gone")), "q") == {}
    assert describe(shop, run, None, "q") == {}
    search = Fields()
    assert describe(make_shop(Query("q", "red"), fields=()), run, search, "q") == {}
    assert describe(shop, run, search) == {}
    assert search.look_ups == []


def test_a_service_has_returned_its_fields_with_the_hits() -> None:
    http = HttpRequest("GET", "/", "$.ids", fields={"price": "$.prices"})
    shop = replace(
        suite(Query("q", "red")),
        target=Target(service="http"),
        requests={"request": RequestTemplate("request", None, http=http)},
    )
    assert describe(shop, run_of_hits(Hit("a", texts={"price": "9.5"})), None, "q") == {"q": {"a": "9.5"}}
