"""A suite and a search to a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from builders.executions import finish, search_suite
from builders.suites import BODY, make_suite
from harness.errors import EngineUnreachable
from harness.gate.expectations import parse_expectation
from harness.gate.selection import QueryFilter, select
from harness.hooks import Hooks
from harness.model.report import Absence, MissingDocument
from harness.model.request import SearchRequest
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Response, Run
from harness.model.suite import (
    Display,
    Gain,
    GainKind,
    HttpRequest,
    Query,
    RequestTemplate,
    Suite,
    Target,
    Threshold,
    Waiver,
)
from harness.options import RunOptions
from harness.run.look_ups import locate_missing
from harness.run.tails import SEARCHED
from harness.search.testing import FakeSearch

DAY = date(2026, 11, 21)
NOT_VISIBLE = Absence.NOT_VISIBLE


SHOES = Query("shoes", "red shoes", judgments={"a": 3, "b": 2, "c": 1, "d": 0})
HATS = Query("hats", "blue hats", judgments={"x": 1})


class WindowedSearch(FakeSearch):
    """Refuses to return more than *window* hits, as an index does."""

    def __init__(self, rankings: Mapping[str, Any], window: int) -> None:
        super().__init__(rankings)
        self._window = window

    def _respond(self, request: SearchRequest) -> Response:
        size = request.body["size"]
        if size <= self._window:
            return super()._respond(request)
        reason = f"[{self._window}] but was [{size}]. This limit can be set by [index.max_result_window]"
        return Failure(FailureKind.ERROR, reason, 400)


class TestExecute:
    def test_sends_each_query_and_keeps_each_response_in_the_suites_order(self) -> None:
        search = FakeSearch({"hats": ["x"], "shoes": ["a", "b"]}, engine=Engine("opensearch", "3.8.0"))

        run = search_suite(make_suite(SHOES, HATS), search)

        assert list(run.responses) == ["shoes", "hats"]
        assert [hit.id for hit in run.responses["shoes"].hits] == ["a", "b"]  # type: ignore[union-attr]
        assert (run.engine, run.request, run.index) == (Engine("opensearch", "3.8.0"), "current", "products")
        assert [one.body for one in search.requests] == [
            {"query": {"match": {"title": "red shoes"}}, "size": 11},
            {"query": {"match": {"title": "blue hats"}}, "size": 11},
        ]

    @pytest.mark.parametrize(
        ("window", "found", "sizes"), [(10, Ranking, [11, 11, 10, 10]), (9, Failure, [11, 11, 10, 10])]
    )
    def test_an_index_that_refuses_the_extra_hit_is_asked_without_it(
        self, window: int, found: type[Response], sizes: list[int]
    ) -> None:
        search = WindowedSearch({"hats": ["x"], "shoes": ["a", "b"]}, window)

        run = search_suite(make_suite(SHOES, HATS), search)

        assert [type(one) for one in run.responses.values()] == [found, found]
        assert [one.body["size"] for one in search.requests] == sizes
        assert run.window_is_full

    def test_repeats_do_not_ask_for_the_extra_hit_that_was_refused(self) -> None:
        search = WindowedSearch({"hats": ["x"], "shoes": ["a", "b"]}, 10)

        finish(make_suite(SHOES, HATS), search, RunOptions(repeat=2, no_checks=True, locate=False))

        assert [one.body["size"] for one in search.requests] == [11, 11, 10, 10, 10, 10]

    def test_a_window_that_has_room_costs_nothing(self) -> None:
        search = WindowedSearch({"hats": ["x"], "shoes": ["a", "b"]}, 11)

        run = search_suite(make_suite(SHOES, HATS), search)
        assert [one.body["size"] for one in search.requests] == [11, 11]
        assert not run.window_is_full

    def test_the_size_of_the_suite_is_not_changed(self) -> None:
        search = WindowedSearch({"hats": ["x"], "shoes": ["a", "b"]}, 10)

        run = search_suite(make_suite(SHOES, HATS, body={**BODY, "size": 20}), search)
        assert [one.body["size"] for one in search.requests] == [20, 20]
        assert isinstance(run.responses["hats"], Failure)

    def test_the_named_request_is_sent_to_its_own_index(self) -> None:
        candidate = RequestTemplate("candidate", {"query": {"match_all": {}}}, index="products-v2")
        both = {"current": RequestTemplate("current", BODY), "candidate": candidate}
        search = FakeSearch({"shoes": []})

        run = search_suite(make_suite(SHOES, requests=both), search, request="candidate")

        assert (run.request, run.index) == ("candidate", "products-v2")
        assert search.requests[0].index == "products-v2"

    @pytest.mark.parametrize(
        ("skip", "runs"),
        [
            (Waiver("no stock"), False),
            (Waiver("no stock", until=DAY), False),
            (Waiver("no stock", until=date(2026, 11, 20)), True),
            (None, True),
        ],
    )
    def test_a_skipped_query_does_not_run_until_its_last_day_is_over(self, skip: Waiver | None, runs: bool) -> None:
        search = FakeSearch({"shoes": [], "hats": []})

        tested = make_suite(replace(SHOES, skip=skip), HATS)
        run = search_suite(replace(tested, queries=select(tested, QueryFilter(), DAY).active), search)

        assert ("shoes" in run.responses) is runs
        assert "hats" in run.responses

    def test_a_spent_budget_leaves_queries_that_did_not_run(self) -> None:
        run = search_suite(make_suite(SHOES), FakeSearch({"shoes": ["a"]}), budget=0)

        response = run.responses["shoes"]
        assert isinstance(response, Failure)
        assert response.kind is FailureKind.NOT_RUN

    @pytest.mark.parametrize("error", [EngineUnreachable("nobody there"), KeyboardInterrupt()])
    def test_an_engine_that_is_not_there_and_an_interrupt_are_no_run(self, error: Any) -> None:
        with pytest.raises(type(error)):
            search_suite(make_suite(SHOES), FakeSearch({}, error=error))


def located(*arguments: Any) -> Any:
    """The missing documents by query."""
    return locate_missing(*arguments, hooks=Hooks())[0]


class TestLocateMissing:
    def run_of(self, tested: Suite, rankings: dict[str, Any], **more: Any) -> tuple[Run, FakeSearch]:
        search = FakeSearch(rankings)
        return search_suite(tested, search, **more), search

    def test_finds_the_rank_of_relevant_documents_below_the_cutoff(self) -> None:
        tested = make_suite(SHOES, depth=2)
        run, search = self.run_of(tested, {"shoes": ["z", "a", "y", "c", "d"]})

        missing = located(tested, run, search, ["shoes"])

        assert missing == {
            "shoes": (
                MissingDocument("b", 2, rank=None, searched=SEARCHED, absence=NOT_VISIBLE, target="products"),
                MissingDocument("c", 1, rank=4, searched=SEARCHED),
            )
        }

    @pytest.mark.parametrize(
        ("parameters", "told"),
        [
            ({"routing": "east"}, "products with routing east"),
            ({"preference": "_shards:0"}, "products with preference _shards:0"),
        ],
    )
    def test_a_document_on_a_shard_that_the_request_does_not_search_is_not_visible(
        self, parameters: dict[str, str], told: str
    ) -> None:
        class Sharded(FakeSearch):
            def _respond(self, request: SearchRequest) -> Response:
                response = super()._respond(request)
                if isinstance(response, Failure) or not request.url_params:
                    return response
                return replace(response, hits=tuple(hit for hit in response.hits if hit.id != "b"), total=None)

        template = RequestTemplate("request", BODY, url_params=parameters)
        tested = make_suite(SHOES, requests={"request": template})
        search = Sharded({"shoes": ["a"], "others": ["b", "c"]})
        run = search_suite(tested, search)

        missing = {one.id: one for one in located(tested, run, search, ["shoes"])["shoes"]}

        assert (missing["b"].absence, missing["b"].target, missing["b"].similar) == (NOT_VISIBLE, told, None)
        assert missing["c"].absence is Absence.NO_MATCH

    def test_the_deeper_search_is_the_same_but_for_its_size_and_what_ranks_nothing(self) -> None:
        body = {**BODY, "from": 0, "aggs": {"n": {}}, "highlight": {}, "_source": ["title"], "min_score": 1}
        tested = make_suite(SHOES, body=body)
        run, search = self.run_of(tested, {"shoes": ["z"]})

        located(tested, run, search, ["shoes"])

        query = {"match": {"title": "red shoes"}}
        assert search.requests[-1].body == {"query": query, "from": 0, "min_score": 1, "size": SEARCHED}
        assert search.requests[-1].title_field is None

    def test_missing_documents_get_their_titles_whether_a_search_finds_them_or_not(self) -> None:
        class Catalogue(FakeSearch):
            def _respond(self, request: SearchRequest) -> Response:
                wanted = request.body["query"].get("ids")  # type: ignore[index, call-overload, union-attr]
                titles = {"b": "Blue", "c": "Crimson"}
                return (
                    Ranking(tuple(Hit(one, 1.0, titles.get(one)) for one in wanted["values"]))
                    if wanted
                    else (super()._respond(request))
                )

        tested = make_suite(SHOES, depth=2, display=Display(title="name.en"))
        search = Catalogue({"shoes": ["z", "a", "y", "c"]})
        run = search_suite(tested, search)

        missing = located(tested, run, search, ["shoes"])

        assert missing == {
            "shoes": (
                MissingDocument("b", 2, rank=None, searched=SEARCHED, title="Blue", absence=Absence.NO_MATCH),
                MissingDocument("c", 1, rank=4, searched=SEARCHED, title="Crimson"),
            )
        }
        assert search.look_ups[-1] == SearchRequest(
            "",
            "products",
            {"query": {"ids": {"values": ["b", "c"]}}, "size": 2},
            title_field="name.en",
            unique_ids=True,
        )

    def test_titles_that_cannot_be_had_leave_the_ranks_known(self) -> None:
        class Untitled(FakeSearch):
            def _respond(self, request: SearchRequest) -> Response:
                return Failure(FailureKind.ERROR, "no") if request.title_field else super()._respond(request)

        tested = make_suite(SHOES, depth=2)
        search = Untitled({"shoes": ["z", "a", "y", "c"]})
        run = search_suite(tested, search)

        missing = located(replace(tested, display=Display(title="title")), run, search, ["shoes"])

        assert [(one.id, one.rank, one.title) for one in missing["shoes"]] == [("b", None, None), ("c", 4, None)]

    def test_titles_are_asked_of_the_point_in_time_that_was_searched(self) -> None:
        tested = make_suite(SHOES, body={**BODY, "pit": {"id": "p1"}}, target=Target(), display=Display(title="title"))
        run, search = self.run_of(tested, {"shoes": ["z"]})

        located(tested, run, search, ["shoes"])

        assert search.look_ups[0].body == {
            "query": {"ids": {"values": ["a", "b", "c"]}},
            "size": 3,
            "pit": {"id": "p1"},
        }

    def test_a_search_template_is_asked_by_its_parameter(self) -> None:
        body = {"template": {"id": "products", "params": {"q": "{{text}}", "size": "{{depth}}"}}}
        tested = make_suite(SHOES, body=body)
        run, search = self.run_of(tested, {"shoes": ["z"]})

        located(tested, run, search, ["shoes"])

        assert search.requests[-1].body["template"]["params"] == {"q": "red shoes", "size": SEARCHED}

    @pytest.mark.parametrize(("total", "absence"), [(30, Absence.BEYOND), (2, Absence.NO_MATCH)])
    def test_a_template_with_a_size_of_its_own_shows_no_thousand_ranks(self, total: int, absence: Absence) -> None:
        """The deeper search returned as few hits; the document was said not to be in the first 1,000."""
        tested = make_suite(SHOES, body={"template": {"id": "products"}})
        few = Ranking((Hit("x"), Hit("y")), total=total)
        run, search = self.run_of(tested, {"shoes": few, "others": ["a", "b", "c"]})

        for missing in located(tested, run, search, ["shoes"])["shoes"]:
            assert (missing.absence, missing.searched) == (absence, 2)

    def test_the_index_that_was_searched_is_searched_again(self) -> None:
        tested = make_suite(SHOES)
        built = replace(tested, target=replace(tested.target, index="products-0123456789ab"))
        run, search = self.run_of(built, {"shoes": ["z"]})

        located(tested, run, search, ["shoes"])

        assert search.requests[-1].index == "products-0123456789ab"

    def test_what_gains_nothing_is_not_missed(self) -> None:
        gain = Gain(GainKind.MAP, ((0, -1.0), (1, 0.0), (2, 0.5), (3, 1.0)))
        tested = make_suite(SHOES, gain=gain)
        run, search = self.run_of(tested, {"shoes": ["a"]})

        assert [one.id for one in located(tested, run, search, ["shoes"])["shoes"]] == ["b"]

    def test_a_query_that_misses_nothing_is_not_asked_again(self) -> None:
        tested = make_suite(SHOES, HATS)
        run, search = self.run_of(tested, {"shoes": ["a", "b", "c"], "hats": ["x"]})
        asked = len(search.requests)

        assert located(tested, run, search, ["shoes", "hats"]) == {}
        assert len(search.requests) == asked

    def test_only_chosen_queries_that_have_a_ranking_are_looked_at(self) -> None:
        tested = make_suite(SHOES, HATS)
        run, search = self.run_of(tested, {"shoes": Failure(FailureKind.TIMEOUT, "slow"), "hats": []})

        assert located(tested, run, search, ["shoes"]) == {}
        assert list(located(tested, run, search, ["hats"])) == ["hats"]

    def test_where_the_deeper_search_fails_the_run_tells_how_deep_it_went(self) -> None:
        tested = make_suite(SHOES)
        run, _ = self.run_of(tested, {"shoes": ["z", "y", "a"]})

        missing, why = locate_missing(tested, run, FakeSearch({}), ["shoes"], hooks=Hooks())

        assert why == 'the fake search has no ranking for query "shoes"'
        assert missing["shoes"][0] == MissingDocument(
            "b", 2, rank=None, searched=3, absence=NOT_VISIBLE, target="products"
        )

    @pytest.mark.parametrize(
        ("ranking", "deep"),
        [
            ("zy", "yzxb"),
            ("zy", "zxyb"),
            ("zy", "bzy"),
            ("", "xb"),
            ("z", "zb"),
            ("zy", "z"),
        ],
        ids=["swapped", "one between", "it is first", "only a suggestion", "the ranking is whole", "fewer hits"],
    )
    def test_a_search_for_more_hits_that_ranks_otherwise_gives_no_ranks(self, ranking: str, deep: str) -> None:
        """As with `knn` without a `k`, with the small window of a rescorer, and in a body with `suggest` only."""
        tested = make_suite(SHOES, depth=2)
        run, _ = self.run_of(tested, {"shoes": list(ranking)}, further=False)
        again = FakeSearch({"shoes": list(deep), "others": ["b", "c"]})

        missing, why = locate_missing(tested, run, again, ["shoes"], hooks=Hooks())

        assert why == "a search for more hits does not continue the ranking of 1 query (shoes)"
        assert {one.rank for one in missing["shoes"]} == {None}
        assert {one.searched for one in missing["shoes"]} == {len(ranking)}
        absence = {one.id: one.absence for one in missing["shoes"]}
        assert absence["a"] is NOT_VISIBLE
        assert absence["b"] is (None if "b" in deep else Absence.NO_MATCH)

    @pytest.mark.parametrize(
        ("retriever", "size"),
        [
            ({"rrf": {"retrievers": [], "rank_window_size": 50}}, 50),
            ({"text_similarity_reranker": {"rank_window_size": 2000}}, SEARCHED),
            ({"linear": {"retrievers": []}}, 10),
            ({"rescorer": {"rescore": {"window_size": 30, "query": {}}}}, 30),
            ({"rescorer": {"rescore": [{"window_size": 30}, {"window_size": 20}]}}, 20),
            ({"standard": {"query": {"match_all": {}}}}, SEARCHED),
            ({"knn": {"field": "v", "k": 20, "rank_window_size": 20}}, SEARCHED),
        ],
    )
    @pytest.mark.parametrize("is_template", [False, True])
    def test_a_retriever_is_asked_with_its_own_window(self, retriever: Any, size: int, is_template: bool) -> None:
        body: Any = {"retriever": retriever}
        tested = make_suite(SHOES, depth=10, body={"template": {"source": body}} if is_template else body)
        hits = [f"d{number}" for number in range(100)]
        run, search = self.run_of(tested, {"shoes": [*hits[:15], "c", *hits[15:]], "others": ["b"]})

        missing = {one.id: one for one in located(tested, run, search, ["shoes"])["shoes"]}

        assert search.requests[-1].body["size"] == size
        assert missing["c"].rank == (16 if size > 10 else None)
        assert missing["c"].searched == size

    def test_a_size_of_its_own_below_the_default_window_stays(self) -> None:
        tested = make_suite(SHOES, depth=20, body={"retriever": {"rrf": {"retrievers": []}}, "size": 20})
        run, search = self.run_of(tested, {"shoes": ["z"]})

        located(tested, run, search, ["shoes"])

        assert search.requests[-1].body["size"] == 20

    def test_an_http_service_is_not_asked_for_more(self) -> None:
        http = RequestTemplate("request", None, http=HttpRequest("GET", "/search", "$.ids", {"q": "{{text}}"}))
        tested = make_suite(SHOES, requests={"request": http}, target=Target(service="http"))
        run, search = self.run_of(tested, {"shoes": Ranking()})
        asked = len(search.requests)

        missing = located(tested, run, search, ["shoes"])

        assert [one.id for one in missing["shoes"]] == ["a", "b", "c"]
        assert {one.rank for one in missing["shoes"]} == {None}
        assert len(search.requests) == asked


@pytest.mark.parametrize("body", [{"template": "products"}, {"template": {"id": "products"}}])
def test_a_template_without_parameters_is_asked_for_more_by_its_size(body: Any) -> None:
    tested = make_suite(SHOES, body=body)
    search = FakeSearch({"shoes": ["z"]})
    run = search_suite(tested, search)

    located(tested, run, search, ["shoes"])

    assert search.requests[-1].body == {**body, "size": SEARCHED}


@pytest.mark.parametrize(
    ("body", "title_field"),
    [
        (BODY, None),
        ({**BODY, "_source": ["title"]}, "title"),
        ({**BODY, "stored_fields": []}, "title"),
        ({"template": {"id": "stored"}}, "title"),
    ],
)
def test_a_search_asks_for_no_title_and_reads_one_that_the_request_returns_itself(body: Any, title_field: Any) -> None:
    search = FakeSearch({"q": ["a"]})
    search_suite(make_suite(Query("q", "red"), body=body, display=Display(title="title")), search)
    assert [one.title_field for one in search.requests] == [title_field]


class TestAbsence:
    """Why a document is not in a ranking, by what the engine answers about it."""

    def missing(self, found: list[str], there: str, body: Any = None, **answers: Any) -> dict[str, Any]:
        """Each missing document of SHOES by id; *found* are the hits, however deep, *there* the visible documents."""

        class Answering(FakeSearch):
            def _respond(self, request: SearchRequest) -> Response:
                if not request.query:
                    return super()._respond(request)
                kind = (
                    "matching"
                    if "bool" in request.body.get("post_filter", {})
                    else "deep"
                    if request.body["size"] > 11
                    else "run"
                )
                given = answers.get(kind, found)
                return given if isinstance(given, Failure) else Ranking(tuple(map(Hit, given)), total=len(given))

        search = Answering({"shoes": found, "others": there.split()})
        tested = make_suite(SHOES, body=body)
        run = search_suite(tested, search)
        self.search = search
        return {one.id: one for one in located(tested, run, search, ["shoes"]).get("shoes", ())}

    def test_a_document_that_is_not_there_names_the_one_that_was_meant(self) -> None:
        missing = self.missing(["b", "c"], "A")
        assert missing == {
            "a": MissingDocument("a", 3, searched=SEARCHED, absence=Absence.NOT_VISIBLE, target="products", similar="A")
        }

    def test_a_document_that_the_request_does_not_match(self) -> None:
        assert self.missing(["b", "c"], "a b c", matching=[])["a"].absence is Absence.NO_MATCH

    def test_a_document_that_collapse_hides(self) -> None:
        body = {**BODY, "collapse": {"field": "family"}, "sort": ["price"], "post_filter": {"term": {"shop": 1}}}
        assert self.missing(["b", "c"], "a", body, matching=["a"])["a"].absence is Absence.COLLAPSED
        [asked] = [one for one in self.search.requests if "bool" in one.body.get("post_filter", {})]
        assert asked.body == {
            "query": {"match": {"title": "red shoes"}},
            "sort": ["price"],
            "post_filter": {"bool": {"filter": [{"ids": {"values": ["a"]}}, {"term": {"shop": 1}}]}},
            "size": 1,
        }

    @pytest.mark.parametrize(
        "body",
        [
            {"knn": {"field": "vector", "query_vector": [1.0], "k": 2}},
            {"query": {"knn": {"vector": {"vector": [1.0], "k": 2}}}},
            {"retriever": {"standard": {"query": {"match_all": {}}}}},
        ],
    )
    def test_a_document_beyond_what_the_request_can_return(self, body: Any) -> None:
        missing = self.missing(["b", "c"], "a", body)["a"]
        assert (missing.absence, missing.searched) == (Absence.BEYOND, 2)

    def test_a_document_that_is_not_collected(self) -> None:
        missing = self.missing(["b", "c"], "a", {**BODY, "terminate_after": 2}, matching=["a"])["a"]
        assert (missing.absence, missing.searched) == (Absence.BEYOND, 2)

    def test_a_document_whose_score_is_too_low_matches(self) -> None:
        missing = self.missing(["b", "c"], "a", {**BODY, "min_score": 100}, matching=["a"])["a"]
        assert (missing.absence, missing.searched) == (Absence.BEYOND, 2)
        assert not any("min_score" in one.body for one in self.search.requests if "post_filter" in one.body)

    def test_a_document_below_what_is_searched(self) -> None:
        deep = [f"d{number}" for number in range(SEARCHED)]
        assert self.missing(deep[:10], "a", matching=["a"], deep=deep)["a"].absence is Absence.BELOW

    def test_what_cannot_be_known_is_not_said(self) -> None:
        missing = self.missing(["b", "c"], "a", matching=Failure(FailureKind.ERROR, "no"))["a"]
        assert (missing.absence, missing.rank) == (None, None)
        missing = self.missing(["b", "c"], "a", matching=["a"], deep=Failure(FailureKind.ERROR, "no"))["a"]
        assert (missing.absence, missing.searched) == (None, 2)

    def test_an_expected_document_is_located_like_a_judged_one(self) -> None:
        texts = ("x in top 3", "y before b", "z not in top 3", "b in top 3")
        expected = tuple(Threshold(text, parse_expectation(text)) for text in texts)
        tested = make_suite(replace(SHOES, thresholds=expected), display=Display(title="title"))
        search = FakeSearch({"shoes": ["a", "b", "c", *map(str, range(10)), "x"], "others": [Hit("y", title="Why")]})
        missing = located(tested, search_suite(tested, search), search, ["shoes"])["shoes"]
        assert [(one.id, one.grade, one.rank, one.absence) for one in missing] == [
            ("x", None, 14, None),
            ("y", None, None, Absence.NO_MATCH),
        ]


@pytest.mark.parametrize(
    "target", [Target(index="products", id_field="sku"), Target(index="products", unique_ids=True)]
)
def test_where_an_id_may_be_of_several_documents_a_search_returns_the_title_of_its_own(target: Target) -> None:
    search = FakeSearch({"q": ["a"]})
    search_suite(make_suite(Query("q", "red"), display=Display(title="title"), target=target), search)
    assert [one.title_field for one in search.requests] == ["title"]


def test_hooks_that_may_read_titles_get_them() -> None:
    search = FakeSearch({"q": ["a"]})
    search_suite(make_suite(Query("q", "red"), display=Display(title="title")), search, titles=True)
    assert [one.title_field for one in search.requests] == ["title"]
