"""What ties with the last hits of a run: how it is looked for, and when it is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from builders.executions import cell_of, finish, search_suite
from builders.suites import BODY, make_suite
from harness.errors import EngineUnreachable
from harness.gate.grammar import parse_threshold
from harness.gate.selection import list_read_fields
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking, TailSearch
from harness.model.suite import HttpRequest, Query, RequestTemplate, Suite, Target, Threshold
from harness.options import RunOptions
from harness.run.cell import AnsweredCell, conclude_cell
from harness.run.tails import SEARCHED, SIZES, search_tails
from harness.search.testing import FakeSearch

TIED = [Hit(f"d{n:04}", 1.0) for n in range(1200)]


def make_tied_suite(body: Any = None, *, queries: int = 1, depth: int = 3, **fields: Any) -> Suite:
    return make_suite(*(Query(f"q{n}", f"text {n}") for n in range(queries)), body=body, depth=depth, **fields)


def hits(text: str) -> list[Hit]:
    return [Hit(word[0], float(word[1:])) for word in text.split()]


class Search(FakeSearch):
    """A fake that counts as *total* says: exactly, as a lower bound, or not at all."""

    total = "exact"

    def _respond(self, request: SearchRequest) -> Any:
        answer = super()._respond(request)
        if not isinstance(answer, Ranking) or self.total == "exact":
            return answer
        return replace(answer, total=None if self.total == "none" else answer.total, total_is_lower_bound=True)


def run_of(found: Any, body: Any = None, *, total: str = "exact", **more: Any) -> tuple[Ranking, Search]:
    tested = make_tied_suite(body, **more)
    search = Search({"q0": found})
    search.total = total
    [ranking] = search_suite(tested, search).responses.values()
    assert isinstance(ranking, Ranking)
    return ranking, search


def asked(search: FakeSearch) -> list[Any]:
    return [one.body["size"] for one in search.requests]


# ------------------------------------------------------------------------------------------------ one hit further


@pytest.mark.parametrize(
    ("found", "shown", "tail", "closed"),
    [
        ("a5 b4 c3", "abc", "", True),
        ("a5 b4 c3 d2", "abc", "", True),
        ("a5 b4 c3 d3", "abc", "d", True),
        ("a5 b4 c3 d3 e3", "abc", "d", False),
        ("a5 b4", "ab", "", True),
        ("", "", "", True),
    ],
    ids=["all that match", "a lower one below", "all, one of them below", "more may follow", "fewer", "none"],
)
def test_one_hit_more_than_is_needed_tells_whether_the_last_one_ties(
    found: str, shown: str, tail: str, closed: bool
) -> None:
    ranking, search = run_of(hits(found))
    assert asked(search) == [4]
    assert "".join(hit.id for hit in ranking.hits) == shown
    assert "".join(hit.id for hit in ranking.tail) == tail
    assert ranking.closed is closed


@pytest.mark.parametrize("total", ["none", "lower bound"])
@pytest.mark.parametrize(("found", "closed"), [("a5 b4 c3", False), ("a5 b4", False), ("a5 b4 c3 d2", True)])
def test_only_an_exact_total_or_a_deeper_hit_shows_that_nothing_follows(total: str, found: str, closed: bool) -> None:
    assert run_of(hits(found), total=total)[0].closed is closed


GROUPED = {**BODY, "collapse": {"field": "brand"}}


@pytest.mark.parametrize(
    ("body", "found", "stopped", "closed"),
    [
        (GROUPED, "a5 b4", False, True),
        (GROUPED, "a5 b4 c3", False, True),
        (GROUPED, "a5 b4 c3 d3", False, False),
        (GROUPED, "a5 b4", True, False),
        (BODY, "a5 b4", False, False),
        ({**GROUPED, "size": 3}, "a5 b4 c3", False, False),
    ],
    ids=["fewer", "without the extra hit", "more may follow", "stopped early", "no groups", "as many as asked for"],
)
def test_a_short_answer_with_collapse_has_the_last_group_although_its_total_counts_all_documents(
    body: Any, found: str, stopped: bool, closed: bool
) -> None:
    answer = Ranking(tuple(hits(found)), total=500, stopped_early=stopped)
    assert run_of(answer, body)[0].closed is closed


def test_the_groups_of_collapse_that_tie_are_looked_for_until_there_are_no_more() -> None:
    search = FakeSearch({"q0": Ranking(tuple(TIED[:40]), total=500)})
    ranking, run = completed(make_tied_suite(GROUPED), search)
    assert asked(search) == [4, SIZES[0]]
    assert (len(ranking.hits) + len(ranking.tail), ranking.closed, run.tails.left_open) == (40, True, 0)


def test_scores_of_which_the_last_digit_differs_are_the_same() -> None:
    ranking, _ = run_of([Hit("a", 5.0), Hit("b", 4.0), Hit("c", 3.0), Hit("d", 2.9999999)])
    assert [hit.id for hit in ranking.tail] == ["d"]


KNN = {"field": "v", "query_vector": [0.5] * 4}
TEXT_TEMPLATE = {"template": {"source": '{"query": {}, "size": {{size}}}', "params": {"q": "{{text}}"}}}


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (BODY, 4),
        ({**BODY, "collapse": {"field": "brand"}}, 4),
        ({**BODY, "rescore": {"window_size": 50, "query": {}}}, 4),
        ({"knn": {**KNN, "k": 10}}, 4),
        ({"query": {"knn": {"v": {"vector": [0.5], "k": 10}}}}, 4),
        ({**BODY, "size": 3}, 3),
        ({**BODY, "size": "{{depth}}"}, 3),
        ({**BODY, "rescore": {"window_size": 3, "query": {}}}, 3),
        ({**BODY, "rescore": [{"window_size": 50, "query": {}}, {"window_size": 3, "query": {}}]}, 3),
        ({**BODY, "search_pipeline": "rerank"}, 3),
        ({**BODY, "ext": {"rerank": {}}}, 3),
        ({"retriever": {"rrf": {}}}, 3),
        ({"sub_searches": [], "rank": {"rrf": {}}}, 3),
        ({"query": {"hybrid": {"queries": []}}}, 3),
        ({"query": {"bool": {"should": [{"semantic": {"field": "s"}}]}}}, 3),
        ({"knn": KNN}, 3),
        ({"knn": [{**KNN, "k": 10}, KNN]}, 3),
        ({"knn": {**KNN, "k": 3}}, 3),
        (TEXT_TEMPLATE, 3),
        ({"template": {"id": "kept", "params": {}}}, 3),
    ],
    ids=str,
)
def test_it_is_not_asked_for_where_it_could_change_the_others(body: Any, size: int) -> None:
    ranking, search = run_of(hits("a5 b4 c3 d3"), body)
    assert asked(search) == [size]
    assert [hit.id for hit in ranking.hits] == ["a", "b", "c"]


def test_no_more_is_asked_for_than_engines_give() -> None:
    assert asked(run_of(hits("a5"), depth=9_999)[1]) == [10_000]
    assert asked(run_of(hits("a5"), depth=10_000)[1]) == [10_000]


def test_a_rescorer_that_does_not_say_looks_at_ten() -> None:
    body = {**BODY, "rescore": {"query": {}}}
    assert asked(run_of(hits("a5"), body, depth=9)[1]) == [10]
    assert asked(run_of(hits("a5"), body, depth=10)[1]) == [10]


def test_a_list_that_ends_with_what_was_looked_at_is_not_all_that_matches() -> None:
    body = {"knn": {**KNN, "k": 10}}
    assert not run_of(hits("a5 b4 c3"), body)[0].closed
    assert run_of(hits("a5 b4 c3 d2"), body)[0].closed
    stopped = Ranking(tuple(hits("a5 b4 c3")), total=3, stopped_early=True)
    assert not run_of(stopped, {**BODY, "terminate_after": 3})[0].closed


def test_a_service_is_sent_what_the_suite_says_and_its_exact_total_is_believed() -> None:
    http = HttpRequest("GET", "/search", "$.ids", {"limit": "{{depth}}"}, scores="$.scores")
    template = RequestTemplate("request", None, http=http)
    tested = replace(make_tied_suite(requests={"request": template}), target=Target(service="http"))
    search = FakeSearch({"q0": Ranking(tuple(hits("a5 b4 c3")), total=3), "q1": Ranking(tuple(hits("a5 b4 c3 d2")))})
    run = search_suite(replace(tested, queries=(*tested.queries, Query("q1", "x"))), search)
    assert [one.http.params for one in search.requests if one.http] == [{"limit": 3}] * 2
    assert [one.closed for one in run.responses.values() if isinstance(one, Ranking)] == [True, True]
    assert [len(one.hits) for one in run.responses.values() if isinstance(one, Ranking)] == [3, 3]


# ------------------------------------------------------------------------------------------------ further down


def completed(tested: Suite, search: FakeSearch, **more: Any) -> tuple[Ranking, Any]:
    run = search_tails(tested, search_suite(tested, search), search, **more)
    ranking = run.responses["q0"]
    assert isinstance(ranking, Ranking)
    return ranking, run


def test_what_ties_is_looked_for_until_the_group_ends() -> None:
    tested, search = (
        make_tied_suite(),
        FakeSearch({"q0": [*TIED[:40], Hit("low", 0.5), *(Hit(f"l{n}", 0.1) for n in range(99))]}),
    )
    ranking, run = completed(tested, search)
    assert asked(search) == [4, SIZES[0]]
    assert ([hit.id for hit in (*ranking.hits, *ranking.tail)], ranking.closed) == ([one.id for one in TIED[:40]], True)
    assert replace(run.tails, seconds=0.0) == TailSearch(1, SIZES[0], 0.0)


def test_where_it_goes_on_so_does_the_search_down_to_a_thousand() -> None:
    search = FakeSearch({"q0": TIED})
    ranking, run = completed(make_tied_suite(), search)
    assert asked(search) == [4, *SIZES]
    assert (len(ranking.hits), len(ranking.tail), ranking.closed) == (3, SEARCHED - 3, False)
    assert replace(run.tails, seconds=0.0) == TailSearch(1, SEARCHED, 0.0, left_open=1)


def test_only_queries_that_go_on_are_asked_again_and_for_ids_alone() -> None:
    body = {**BODY, "aggs": {"brands": {}}, "highlight": {}, "_source": True, "track_total_hits": False, "min_score": 1}
    tested = make_tied_suite(body, queries=3)
    search = FakeSearch({"q0": hits("a5 b4 c3 d2"), "q1": TIED[:20], "q2": Failure(FailureKind.ERROR, "no")})
    run = search_tails(tested, search_suite(tested, search), search)
    assert [(one.query, one.body) for one in search.requests[3:]] == [
        ("q1", {"query": {"match": {"title": "text 1"}}, "min_score": 1, "size": SIZES[0]})
    ]
    assert run.tails is not None
    assert run.tails.queries == 1


def test_which_fields_are_read_is_found_out_once_and_not_for_each_query(monkeypatch: pytest.MonkeyPatch) -> None:
    found_out = []

    def list_fields(suite: Suite, request: str) -> tuple[str, ...]:
        found_out.append(request)
        return list_read_fields(suite, request)

    monkeypatch.setattr("harness.run.tails.list_read_fields", list_fields)
    tested = make_tied_suite(queries=20)
    search = FakeSearch({query.id: TIED[:20] for query in tested.queries})
    run = search_tails(tested, search_suite(tested, search), search)
    assert run.tails is not None
    assert (run.tails.queries, found_out) == (20, ["current"])


def test_a_deeper_answer_that_begins_otherwise_is_not_believed() -> None:
    class Shifting(FakeSearch):
        def _respond(self, request: SearchRequest) -> Any:
            answer = super()._respond(request)
            assert isinstance(answer, Ranking)
            deep = isinstance(request.body, dict) and request.body["size"] > 4
            return replace(answer, hits=answer.hits[1:]) if deep else answer

    ranking, run = completed(make_tied_suite(), Shifting({"q0": TIED[:20]}))
    assert (len(ranking.tail), ranking.closed, run.tails.left_open) == (1, False, 1)


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        ({**BODY, "size": 3}, [3, *SIZES]),
        ({"template": {"id": "kept", "params": {}}}, [3, *SIZES]),
        ({**BODY, "rescore": {"window_size": 50, "query": {}}}, [4, 50]),
        ({**BODY, "rescore": {"window_size": 3, "query": {}}}, [3]),
        ({"retriever": {}}, [3]),
    ],
    ids=str,
)
def test_how_deep_a_request_may_be_asked(body: Any, sizes: list[int]) -> None:
    search = FakeSearch({"q0": TIED})
    completed(make_tied_suite(body), search)
    assert asked(search) == sizes


def test_a_search_template_is_asked_by_its_parameter() -> None:
    search = FakeSearch({"q0": TIED})
    completed(make_tied_suite({"template": {"id": "kept", "params": {"size": "{{depth}}"}}}), search)
    assert [one.body["template"]["params"]["size"] for one in search.requests] == [3, *SIZES]


def test_a_service_is_not_asked_again() -> None:
    http = HttpRequest("GET", "/search", "$.ids", {"limit": "{{depth}}"}, scores="$.scores")
    template = RequestTemplate("request", None, http=http)
    tested = replace(make_tied_suite(requests={"request": template}), target=Target(service="http"))
    search = FakeSearch({"q0": Ranking(tuple(TIED[:3]))})
    ranking, run = completed(tested, search)
    assert (len(search.requests), ranking.closed, run.tails) == (1, False, None)


def test_without_time_nothing_is_asked_again() -> None:
    search = FakeSearch({"q0": TIED})
    ranking, run = completed(make_tied_suite(), search, budget=0.0)
    assert (asked(search), ranking.closed, run.tails) == ([4], False, None)


def test_an_engine_that_goes_away_leaves_the_run_as_it_is() -> None:
    tested = make_tied_suite()
    run = search_suite(tested, FakeSearch({"q0": TIED}))
    found = search_tails(tested, run, FakeSearch({}, error=EngineUnreachable("gone")))
    assert found.responses == run.responses
    assert found.tails is not None
    assert found.tails.problem == "gone"


# ------------------------------------------------------------------------------------------------ where it matters


def drop(*texts: str) -> dict[str, Any]:
    return {"thresholds": tuple(Threshold(text, parse_threshold(text, of_query=False)[0]) for text in texts)}


@pytest.mark.parametrize(
    ("thresholds", "options", "again"),
    [
        ((), {}, False),
        (("mean nDCG@3 >= 0",), {}, False),
        (("drop nDCG@3 <= 0",), {}, True),
        (("mean RBO >= 0.9",), {}, True),
        ((), {"save_baseline": True}, True),
        ((), {"tails": True}, True),
    ],
)
def test_it_is_looked_for_where_something_compares(thresholds: Any, options: Any, again: bool) -> None:
    search = FakeSearch({"q0": TIED[:20]})
    tested = make_tied_suite(**drop(*thresholds))
    finished = finish(tested, search, RunOptions(**options))
    assert asked(search) == ([4, SIZES[0]] if again else [4])
    notes = [note for note in finished.report.notes if "repeated for ties" in note]
    assert len(notes) == again
    assert finished.report.queries[0].closed is again


def test_a_pool_asks_for_what_it_needs() -> None:
    search = FakeSearch({"q0": TIED[:20]})
    finish(make_tied_suite(), search, RunOptions(unjudged=True))
    assert asked(search) == [3]


@pytest.mark.parametrize(
    ("tails", "note"),
    [
        (TailSearch(2, 100, 0.04), "2 queries repeated for ties below rank 3: at most 100 hits each"),
        (
            TailSearch(1, 1000, 0.51, left_open=1),
            "1 query repeated for ties below rank 3: at most 1,000 hits each; some are unknown for 1 query",
        ),
        (TailSearch(1, 100, 0.1, 1, "gone"), "the documents that tie with the last hit of 1 query are unknown: gone"),
    ],
)
def test_the_report_says_what_it_cost(tails: TailSearch, note: str) -> None:
    tested = make_tied_suite()
    run = replace(search_suite(tested, FakeSearch({"q0": TIED})), tails=tails)
    answered = AnsweredCell(cell_of(tested, RunOptions()), run)
    assert note in conclude_cell(answered).report.notes
