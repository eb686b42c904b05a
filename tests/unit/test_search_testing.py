"""The search that needs no server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.errors import EngineUnreachable
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking
from harness.search.protocol import Search
from harness.search.testing import FakeSearch


def request(query: str, /, **body: object) -> SearchRequest:
    return SearchRequest(query, "products", body)


def test_answers_in_the_order_of_the_requests() -> None:
    search: Search = FakeSearch({"one": ["a"], "two": ["b"]})

    responses = search.search([request("two"), request("one")])

    assert [response.hits[0].id for response in responses if isinstance(response, Ranking)] == ["b", "a"]


def test_size_cuts_the_ranking_and_the_total_stays() -> None:
    search = FakeSearch({"q": [str(number) for number in range(30)]})

    default, deeper = search.search([request("q"), request("q", size=25)])

    assert isinstance(default, Ranking)
    assert isinstance(deeper, Ranking)
    assert (len(default.hits), len(deeper.hits)) == (10, 25)
    assert default.total == 30


def test_scores_fall_and_given_hits_are_kept_with_titles_where_they_are_asked_for() -> None:
    search = FakeSearch({"q": ["a", Hit("b", score=None, title="B")]})

    titled, plain = search.search([replace(request("q"), title_field="title"), request("q")])

    assert isinstance(titled, Ranking)
    assert isinstance(plain, Ranking)
    assert titled.hits == (Hit("a", 2.0), Hit("b", None, "B"))
    assert plain.hits == (Hit("a", 2.0), Hit("b", None))


def test_a_query_without_a_ranking_fails_and_is_named() -> None:
    [response] = FakeSearch({}).search([request("q")])

    assert isinstance(response, Failure)
    assert '"q"' in response.reason


def test_a_response_is_given_as_it_is() -> None:
    failure = Failure(FailureKind.TIMEOUT, "too slow")

    assert FakeSearch({"q": failure}).search([request("q")]) == [failure]


def test_remembers_what_was_asked_and_that_it_was_closed() -> None:
    with FakeSearch({"q": []}) as search:
        search.search([request("q", query={"match_all": {}})])

    assert [asked.body for asked in search.requests] == [{"query": {"match_all": {}}}]
    assert search.closed


def test_without_time_nothing_runs() -> None:
    search = FakeSearch({"q": ["a"]})

    [response] = search.search([request("q")], budget=0)

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.NOT_RUN
    assert search.requests == []


def test_raises_what_it_was_told_to() -> None:
    with pytest.raises(EngineUnreachable, match="nobody there"):
        FakeSearch({}, error=EngineUnreachable("nobody there")).search([request("q")])
