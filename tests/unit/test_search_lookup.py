"""Documents looked up by their ids through the door that searches."""

from dataclasses import replace

import pytest

from harness.errors import SearchError
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking
from harness.search.bodies import make_ids_request
from harness.search.hits import drop_repeated_hits
from harness.search.lookup import (
    HITS_AT_ONCE,
    IDS_AT_ONCE,
    TEXTS_AT_ONCE,
    KnownDocuments,
    LookUp,
    find_similar,
    look_up_documents,
    read_documents,
)
from harness.search.msearch import find_point
from harness.search.protocol import LookUpOptions
from harness.search.testing import FakeSearch

OF_PRODUCTS = SearchRequest("", "products", {})
ASKED = SearchRequest("q", "products", {"query": {"match": {"title": "red shoes"}}, "size": 11})


def look_up(search, ids, request=OF_PRODUCTS, **options):
    [known] = look_up_documents(search, [LookUp(request, ids, LookUpOptions(**options))])
    return known


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
    known = look_up(search, [f"d{n}" for n in range(250)])
    assert known.found == {f"d{n}" for n in range(0, 250, 2)}
    assert known.repeated == set()
    assert [len(one.body["query"]["ids"]["values"]) for one in search.look_ups] == [IDS_AT_ONCE, IDS_AT_ONCE, 50]
    assert {(one.index, one.title_field) for one in search.look_ups} == {("products", None)}


def test_nothing_is_asked_about_no_ids():
    search = Documents({})
    assert look_up(search, []).found == set()
    assert search.look_ups == []


def test_ids_that_several_indexes_hold_are_named():
    known = look_up(Documents({"a": 2, "b": 1}), ["a", "b", "c"])
    assert (known.found, known.repeated) == ({"a", "b"}, {"a"})


def test_an_answer_that_was_cut_is_asked_for_again_in_parts():
    """Fifty indexes with the same hundred ids: the first thousand hits are those of twenty ids."""
    ids = [f"d{n}" for n in range(IDS_AT_ONCE)]
    search = Documents(dict.fromkeys(ids, 50))
    known = look_up(search, ids, SearchRequest("", "products-*", {}))
    assert known.found == known.repeated == set(ids)
    assert len(search.look_ups) > 1
    assert max(one.body["size"] for one in search.look_ups) == HITS_AT_ONCE


def test_one_id_that_more_indexes_hold_than_are_asked_for_ends():
    assert look_up(Documents({"a": 2 * HITS_AT_ONCE}), ["a"]).repeated == {"a"}


@pytest.mark.parametrize("window", [1, 5, 10, 500])
def test_fewer_hits_are_requested_of_an_index_with_a_small_window(window):
    ids = [f"d{n}" for n in range(IDS_AT_ONCE + 7)]
    search = Documents(dict.fromkeys(ids[1:], 1), window=window)
    assert look_up(search, ids).found == set(ids[1:])
    known = look_up(search, ids, title_field="title")
    assert (set(known.hits), known.unread) == (set(ids[1:]), {})


def test_an_index_that_returns_no_hits_at_all_has_no_answer():
    known = look_up(Documents({"a": 1}, window=0), ["a"])
    assert "more than 0" in known.unread["a"]


def test_what_has_no_answer_is_not_taken_for_gone():
    assert look_up(Documents({"a": 1}, failing=["a"]), ["a"]) == KnownDocuments(unread={"a": "failed shards: gone"})
    gone = FakeSearch({}, error=SearchError("it went away"))
    assert look_up(gone, ["a", "b"]).unread == {"a": "it went away", "b": "it went away"}


def test_what_was_returned_in_part_is_known_in_part():
    part = Ranking((Hit("a"),), total=2)
    known = read_documents(["a", "b"], part)
    assert (known.found, known.missing, known.unread) == ({"a"}, set(), {"b": "1 of 2 hits were returned"})
    assert read_documents(["a", "b"], replace(part, total=1)).missing == {"b"}
    assert read_documents(["a", "b"], replace(part, total=1, total_is_lower_bound=True)).missing == set()


@pytest.mark.parametrize(("there", "sizes"), [({"a": 1, "b": 1}, [0]), ({"a": 1}, [0, HITS_AT_ONCE])])
def test_documents_that_are_counted_are_asked_for_where_the_number_is_not_theirs(there, sizes):
    search = Documents(there)
    [known] = look_up_documents(search, [LookUp(OF_PRODUCTS, ["a", "b"], LookUpOptions(size=0), in_bulk=True)])
    assert (known.found, known.missing) == (set(there), {"a", "b"} - set(there))
    assert [request.body["size"] for request in search.look_ups] == sizes


def test_many_documents_are_asked_for_at_once_in_bulk():
    ids = [f"d{n}" for n in range(IDS_AT_ONCE + 1)]
    search = Documents(dict.fromkeys(ids[1:], 1))
    [known] = look_up_documents(search, [LookUp(OF_PRODUCTS, ids, in_bulk=True)])
    assert (known.found, known.missing) == (set(ids[1:]), {"d0"})
    assert [request.body["size"] for request in search.look_ups] == [len(ids)]
    search = Documents(dict.fromkeys(ids[1:], 2), window=150)
    [known] = look_up_documents(search, [LookUp(OF_PRODUCTS, ids, in_bulk=True)])
    assert (known.found, known.missing) == (set(ids[1:]), {"d0"})


def test_an_id_of_another_form_is_found():
    assert find_similar(Documents({"SKU-1": 1, "x": 1}), OF_PRODUCTS, ["sku-1", "y"]) == {"sku-1": "SKU-1"}
    assert find_similar(FakeSearch({}, error=SearchError("gone")), OF_PRODUCTS, ["sku-1"]) == {}


def test_texts_are_asked_for_a_few_at_once_and_leave_out_what_has_no_answer():
    ids = [f"d{n}" for n in range(2 * TEXTS_AT_ONCE)]
    search = Documents(dict.fromkeys(ids, 1), failing=["d0"])
    known = look_up(search, [*ids, "x"], title_field="title", has_snippet=True)
    assert known.reasons == ["failed shards: gone"]
    assert set(known.hits) == set(ids[TEXTS_AT_ONCE:])
    assert known.hits["d39"].title == "title of d39"
    assert {(one.title_field, one.has_snippet) for one in search.look_ups} == {("title", True)}
    assert look_up(search, [], has_snippet=True) == KnownDocuments()


def test_texts_of_an_alias_are_not_cut_by_copies():
    ids = [f"d{n}" for n in range(TEXTS_AT_ONCE)]
    assert set(look_up(Documents(dict.fromkeys(ids, 3)), ids, has_snippet=True).hits) == set(ids)


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
    known = look_up(Documents(dict.fromkeys(ids, 25)), ids, title_field="title")
    assert (set(known.hits), known.unread) == (set(ids), {})
