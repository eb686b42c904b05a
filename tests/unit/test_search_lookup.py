"""Documents looked up by their ids through the door that searches."""

from dataclasses import replace

import pytest

from harness.errors import SearchError
from harness.model.request import ANY_TEXT, SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking
from harness.search.bodies import make_ids_request
from harness.search.hits import drop_repeated_hits
from harness.search.lookup import (
    HITS_AT_ONCE,
    IDS_AT_ONCE,
    TEXTS_AT_ONCE,
    find_documents,
    find_texts,
)
from harness.search.msearch import find_point
from harness.search.protocol import LookUpOptions
from harness.search.testing import FakeSearch

OF_PRODUCTS = SearchRequest("", "products", {})
ASKED = SearchRequest("q", "products", {"query": {"match": {"title": "red shoes"}}, "size": 11})


class Documents(FakeSearch):
    """
    Holds each of *ids* as often as it says, and answers searches for ids; *failing* ids answer nothing. No more hits
    than *window* may be requested.
    """

    def __init__(self, ids, failing=(), window=10_000):
        super().__init__({})
        self.ids, self.failing, self.window = ids, set(failing), window

    def _respond(self, request):
        if request.body["size"] > self.window:
            return Failure(FailureKind.ERROR, f"more than {self.window}, see [index.max_result_window]", 400)
        wanted = request.body["query"]["ids"]["values"]
        if self.failing & set(wanted):
            return Failure(FailureKind.SHARDS, "gone")
        hits = [Hit(one, title=f"title of {one}") for one in wanted for _ in range(self.ids.get(one, 0))]
        kept, twice = drop_repeated_hits(hits[: request.body["size"]], unique_ids=True)
        return Ranking(kept, total=len(hits), duplicates=twice)


def test_ids_are_found_in_batches():
    search = Documents({f"d{n}": 1 for n in range(0, 250, 2)})
    known = find_documents(search, OF_PRODUCTS, [f"d{n}" for n in range(250)])
    assert known.found == {f"d{n}" for n in range(0, 250, 2)}
    assert known.repeated == frozenset()
    assert [len(one.body["query"]["ids"]["values"]) for one in search.look_ups] == [IDS_AT_ONCE, IDS_AT_ONCE, 50]
    assert {(one.index, one.title_field) for one in search.look_ups} == {("products", None)}


def test_nothing_is_asked_about_no_ids():
    search = Documents({})
    assert find_documents(search, OF_PRODUCTS, []).found == frozenset()
    assert search.look_ups == []


def test_ids_that_several_indexes_hold_are_named():
    known = find_documents(Documents({"a": 2, "b": 1}), OF_PRODUCTS, ["a", "b", "c"])
    assert (known.found, known.repeated) == ({"a", "b"}, {"a"})


def test_an_answer_that_was_cut_is_asked_for_again_in_parts():
    """Fifty indexes with the same hundred ids: the first thousand hits are those of twenty ids."""
    ids = [f"d{n}" for n in range(IDS_AT_ONCE)]
    search = Documents(dict.fromkeys(ids, 50))
    known = find_documents(search, SearchRequest("", "products-*", {}), ids)
    assert known.found == known.repeated == set(ids)
    assert len(search.look_ups) > 1
    assert max(one.body["size"] for one in search.look_ups) == HITS_AT_ONCE


def test_one_id_that_more_indexes_hold_than_are_asked_for_ends():
    assert find_documents(Documents({"a": 2 * HITS_AT_ONCE}), OF_PRODUCTS, ["a"]).repeated == {"a"}


@pytest.mark.parametrize("window", [1, 5, 10, 500])
def test_fewer_hits_are_requested_of_an_index_with_a_small_window(window):
    ids = [f"d{n}" for n in range(IDS_AT_ONCE + 7)]
    search = Documents(dict.fromkeys(ids[1:], 1), window=window)
    assert find_documents(search, OF_PRODUCTS, ids).found == set(ids[1:])
    found, reasons = find_texts(search, ASKED, ids, LookUpOptions(title_field="title"))
    assert (set(found), reasons) == (set(ids[1:]), [])


def test_an_index_that_returns_no_hits_at_all_has_no_answer():
    with pytest.raises(SearchError, match="more than 0"):
        find_documents(Documents({"a": 1}, window=0), OF_PRODUCTS, ["a"])


def test_what_has_no_answer_is_not_taken_for_gone():
    with pytest.raises(SearchError, match="cannot look up documents in products: failed shards: gone"):
        find_documents(Documents({"a": 1}, failing=["a"]), OF_PRODUCTS, ["a"])


def test_texts_are_asked_for_a_few_at_once_and_leave_out_what_has_no_answer():
    ids = [f"d{n}" for n in range(2 * TEXTS_AT_ONCE)]
    search = Documents(dict.fromkeys(ids, 1), failing=["d0"])
    found, reasons = find_texts(search, ASKED, [*ids, "x"], LookUpOptions(title_field="title", snippet=ANY_TEXT))
    assert reasons == ["failed shards: gone"]
    assert set(found) == set(ids[TEXTS_AT_ONCE:])
    assert found["d39"].title == "title of d39"
    assert {(one.title_field, one.snippet) for one in search.look_ups} == {("title", ANY_TEXT)}
    assert find_texts(search, ASKED, [], LookUpOptions(snippet=ANY_TEXT)) == ({}, [])


def test_texts_of_an_alias_are_not_cut_by_copies():
    ids = [f"d{n}" for n in range(TEXTS_AT_ONCE)]
    found, _ = find_texts(Documents(dict.fromkeys(ids, 3)), ASKED, ids, LookUpOptions(snippet=ANY_TEXT))
    assert set(found) == set(ids)


def test_a_point_in_time_is_kept():
    request = make_ids_request(replace(ASKED, body={"pit": {"id": "p"}}), ["a"])
    assert request.body == {"query": {"ids": {"values": ["a"]}}, "size": 1, "pit": {"id": "p"}}
    assert find_point({"pit": {"id": "p"}, "query": {}}) == {"id": "p"}
    assert find_point({"query": {}}) is find_point("text") is find_point(None) is None


def test_a_look_up_searches_what_the_request_searches_and_nothing_else():
    parameters = {"ignore_unavailable": "true", "routing": "7", "preference": "_local"}
    found = make_ids_request(replace(ASKED, url_params=parameters, id_field="sku"), ["a"])
    assert (found.index, found.url_params) == ("products", {"ignore_unavailable": "true"})
    assert (found.id_field, found.body) == ("sku", {"query": {"terms": {"sku": ["a"]}}, "size": 1})


def test_titles_of_ids_with_many_documents_are_not_cut():
    ids = [f"d{n}" for n in range(IDS_AT_ONCE)]
    found, reasons = find_texts(Documents(dict.fromkeys(ids, 25)), ASKED, ids, LookUpOptions(title_field="title"))
    assert (set(found), reasons) == (set(ids), [])
