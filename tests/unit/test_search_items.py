"""What each kind of answer to one search becomes."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import pytest

from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, HitColumns, Ranking, Response
from harness.search.answers import may_succeed_again, read_item
from harness.search.msearch import Entry, make_entry


def answer(*hits: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": len(hits), "relation": "eq"}, "hits": list(hits)},
        "status": 200,
        **more,
    }


def hit(identity: Any, score: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {"_index": "products", "_id": identity, "_score": score, **more}


def read(item: Any, **entry: Any) -> Response:
    return read_item(item, Entry(0, b"", **entry))


def ranking(item: Any, **entry: Any) -> Ranking:
    response = read(item, **entry)
    assert isinstance(response, Ranking), response
    return response


def failure(item: Any, **entry: Any) -> Failure:
    response = read(item, **entry)
    assert isinstance(response, Failure), response
    return response


def without(item: dict[str, Any], member: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != member}


class TestRanking:
    def test_keeps_the_order_of_the_server_even_where_scores_rise(self) -> None:
        assert ranking(answer(hit("b", 1.0), hit("a", 2.0))).hits == (Hit("b", 1.0), Hit("a", 2.0))

    def test_keeps_ids_and_scores_and_makes_the_hits_when_they_are_read(self) -> None:
        read_late = ranking(answer(hit("b", 2.0), hit("é", 1.0), hit("c", 0.5)))
        assert read_late.columns == HitColumns(("b", "é", "c"), (2.0, 1.0, 0.5))
        assert (list(read_late.ids), read_late.returned) == (["b", "é", "c"], 3)
        assert read_late.keep_first(2, closed=True).columns == HitColumns(("b", "é"), (2.0, 1.0))
        whole = Ranking((Hit("b", 2.0), Hit("é", 1.0), Hit("c", 0.5)), total=3, took=3)
        assert whole.columns is None
        assert (list(whole.ids), whole.returned) == (["b", "é", "c"], 3)
        assert whole == read_late
        for place in (1, 3):
            assert read_late.list_hits_from(place) == whole.list_hits_from(place) == whole.hits[place:]
        assert whole.keep_first(2, closed=True) == read_late.keep_first(2, closed=True)
        assert pickle.loads(pickle.dumps(read_late)) == whole
        assert read_late.change(total=4) == replace(whole, total=4)

    @pytest.mark.parametrize(
        ("item", "entry"),
        [
            (answer(hit("a", None)), {}),
            (answer(hit("a", 2**60)), {}),
            (answer(hit("a"), hit("a")), {"unique_ids": True}),
            (answer(hit("a", _source={"title": "A"})), {"title_field": "title"}),
            (answer(), {}),
        ],
        ids=["no score", "a whole number", "repeated", "with a title", "no hits"],
    )
    def test_reads_hits_one_by_one_where_they_are_more_than_ids_and_scores(self, item: Any, entry: Any) -> None:
        read_whole = ranking(item, **entry)
        assert read_whole.columns is None
        assert [document.id for document in read_whole.hits] == (["a"] if read_whole.hits else [])

    @pytest.mark.parametrize(
        ("sort", "values"),
        [
            (["_score", "brand"], (1.0, "acme")),  # the third is of the key that engines add to a point in time
            ([{"price": "asc", "brand": "asc"}], (1.0, "acme")),
            ({"price": "asc"}, (1.0,)),
            ("price", (1.0,)),
            (["_score", "brand", "size"], (1.0, "acme", 7)),
            ([{"popularity": {"order": "desc"}}, "_score"], (1.0, "acme")),
            ({"_score": "desc", "id": "asc"}, (1.0, "acme")),
            ([{"_script": {"type": "number", "script": "1"}}], (1.0,)),
            (["_doc", "brand", {"_shard_doc": "desc"}], ("acme",)),
            (["_score", {"_doc": "asc"}], None),
            ([{"_score": "asc"}], None),
            ("_score", None),
            (["_doc"], None),
            ([], None),
            (None, None),
        ],
        ids=str,
    )
    def test_the_values_of_keys_that_order_documents_are_kept(self, sort: Any, values: Any) -> None:
        entry = make_entry(0, SearchRequest("q", None, {"sort": sort, "size": 10}))
        assert isinstance(entry, Entry)
        found = read_item(answer(hit("a", None, sort=[1.0, "acme", 7])), entry)
        assert isinstance(found, Ranking)
        assert found.hits == (Hit("a", None, sort=values),)

    @pytest.mark.parametrize(
        ("template", "values"),
        [
            ({"id": "kept"}, (1.0, "acme")),
            ({"source": '{"sort": ["{{key}}", "brand"]}'}, (1.0, "acme")),
            ({"source": {"sort": ["price", "_doc"]}}, (1.0,)),
            ({"source": {"query": {}}}, None),
        ],
        ids=str,
    )
    def test_so_are_those_of_a_search_template(self, template: Any, values: Any) -> None:
        entry = make_entry(0, SearchRequest("q", None, {"template": template}))
        assert isinstance(entry, Entry)
        found = read_item(answer(hit("a", 2.0, sort=[1.0, "acme"])), entry)
        assert isinstance(found, Ranking)
        assert found.hits[0].sort == values

    def test_values_that_are_missing_are_unknown_where_the_request_sorts(self) -> None:
        for places, sort in (((0,), ()), (None, None), ((), None)):
            assert ranking(answer(hit("a", 2.0)), sort_places=places).hits[0].sort == sort
        assert ranking(answer(hit("a", 2.0, sort=[])), sort_places=None).hits[0].sort == ()

    def test_values_that_differ_stay_different(self) -> None:
        values = ["\ud800", "\ud801", [1], {"a": 1}, 2**53 + 1, float(2**53), True, None]
        found = ranking(answer(*(hit(str(n), sort=[value]) for n, value in enumerate(values))), sort_places=(0,))
        assert len({one.sort for one in found.hits}) == len(values)

    @pytest.mark.parametrize(
        ("values", "reason"),
        [
            ("x", '`hits.hits[0].sort` should be a list, found "x"'),
            ([1], "`hits.hits[0].sort` should have 2 values, found 1"),
            ([1, math.inf], "a value in `sort` should be a finite number, found Infinity"),
        ],
    )
    def test_sort_values_that_an_engine_does_not_send_are_a_failure(self, values: Any, reason: str) -> None:
        found = read(answer(hit("a", 1.0, sort=values)), sort_places=(0, 1))
        assert isinstance(found, Failure)
        assert reason in found.reason

    def test_no_hits_is_a_ranking(self) -> None:
        assert ranking(answer()) == Ranking((), total=0, took=3.0)

    def test_a_document_that_comes_again_is_kept_at_its_first_place_and_named_each_time(self) -> None:
        found = ranking(answer(hit("a", 3.0), hit("b", 2.0), hit("a", 1.0), hit("a", 0.5)), unique_ids=True)

        assert found.hits == (Hit("a", 3.0), Hit("b", 2.0))
        assert found.duplicates == ("a", "a")
        assert found.returned == 4

    def test_sorting_by_a_field_leaves_scores_out(self) -> None:
        assert ranking(answer(hit("a", None, sort=[1]))).hits == (Hit("a", None),)

    @pytest.mark.parametrize(
        ("total", "expected", "is_lower_bound"),
        [
            ({"value": 10000, "relation": "gte"}, 10000, True),
            ({"value": 7, "relation": "eq"}, 7, False),
            (7, 7, False),
            (-1, None, False),
            (None, None, False),
        ],
    )
    def test_total_in_each_form(self, total: Any, expected: int | None, is_lower_bound: bool) -> None:
        found = ranking(answer(hits={"total": total, "hits": [hit("a")]}))

        assert (found.total, found.total_is_lower_bound) == (expected, is_lower_bound)

    @pytest.mark.parametrize("total", [3, {"value": 3, "relation": "eq"}, {"value": 3, "relation": "gte"}])
    def test_no_hits_where_some_match_are_malformed(self, total: Any) -> None:
        found = failure(answer(hits={"total": total, "hits": []}), size=10)

        assert found.kind is FailureKind.MALFORMED
        assert "`hits.hits` is empty, and `hits.total` says that 3 documents match" in found.reason
        assert ranking(answer(hits={"total": total, "hits": []}), size=0).hits == ()

    def test_more_hits_than_were_asked_for_are_malformed(self) -> None:
        three = answer(hit("a"), hit("b"), hit("c"))

        assert "`hits.hits` has 3 hits, and 2 were asked for" in failure(three, size=2).reason
        assert len(ranking(three, size=3).hits) == 3
        assert len(ranking(three).hits) == 3

    def test_hits_that_are_not_tracked_have_no_total(self) -> None:
        assert ranking(answer(hits={"hits": []})).total is None

    def test_skipped_shards_hold_no_match_and_are_not_missed(self) -> None:
        shards = {"total": 5, "successful": 5, "skipped": 4, "failed": 0}

        assert ranking(answer(hit("a"), _shards=shards)).hits == (Hit("a", 1.0),)


class TestTitle:
    @pytest.mark.parametrize(
        ("field", "document", "expected"),
        [
            ("title", {"_source": {"title": "Red shoes"}}, "Red shoes"),
            ("title", {"fields": {"title": ["Red shoes", "Shoes"]}}, "Red shoes"),
            ("name.en", {"_source": {"name": {"en": "Shoes"}}}, "Shoes"),
            ("name.en", {"_source": {"name.en": "Shoes"}}, "Shoes"),
            ("a.b.c", {"_source": {"a.b": {"c": "deep"}}}, "deep"),
            ("year", {"_source": {"year": 1999}}, "1999"),
            ("title", {"_source": {"title": []}}, None),
            ("title", {"_source": {"title": {"en": "x"}}}, None),
            ("title", {"_source": {}}, None),
            ("title", {}, None),
        ],
    )
    def test_is_found_where_engines_put_it(self, field: str, document: dict[str, Any], expected: str | None) -> None:
        assert ranking(answer(hit("a", **document)), title_field=field).hits[0].title == expected

    def test_is_not_looked_for_unasked(self) -> None:
        assert ranking(answer(hit("a", _source={"title": "Red"}))).hits[0].title is None


class TestFailure:
    def test_a_wrong_query_says_what_and_where(self) -> None:
        error = {
            "type": "parsing_exception",
            "reason": "unknown query [mtch] did you mean [match]?",
            "line": 1,
            "col": 18,
        }

        found = failure({"error": {"root_cause": [error], **error}, "status": 400})

        assert found.kind is FailureKind.ERROR
        assert found.status == 400
        assert "parsing_exception: unknown query [mtch] did you mean [match]?" in found.reason
        assert "line 1, column 18" in found.reason

    def test_a_pattern_that_fits_no_index_is_no_answer_of_no_hits(self) -> None:
        found = failure(answer(_shards={"total": 0, "successful": 0, "skipped": 0, "failed": 0}))

        assert found.kind is FailureKind.ERROR
        assert found.reason == "nothing was searched: no index matches the target's pattern"

    def test_a_missing_index_is_named(self) -> None:
        error = {"type": "index_not_found_exception", "reason": "no such index [nope]"}

        found = failure({"error": {"root_cause": [error], **error}, "status": 404})

        assert (found.kind, found.status) == (FailureKind.ERROR, 404)
        assert "no such index [nope]" in found.reason
        assert "`index:`" in found.reason

    def test_timed_out_is_no_ranking_although_it_has_hits(self) -> None:
        assert failure(answer(hit("a"), timed_out=True)).kind is FailureKind.TIMEOUT

    def test_a_timeout_in_the_error_is_one_although_its_status_says_busy(self) -> None:
        cause = {"type": "search_timeout_exception", "reason": "Time exceeded", "timed_out": True}
        error = {"type": "search_phase_execution_exception", "reason": "Partial shards failure", "root_cause": [cause]}
        item = {"error": error, "status": 429}

        assert failure(item).kind is FailureKind.TIMEOUT
        assert not may_succeed_again(read(item), item)

    def test_a_timeout_is_one_where_only_its_words_say_so(self) -> None:
        cause = {"type": "query_phase_execution_exception", "reason": "Time exceeded"}
        error = {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": [cause]}

        assert failure({"error": error, "status": 500}).kind is FailureKind.TIMEOUT

    def test_a_failed_shard_is_named_with_its_reason(self) -> None:
        cause = {
            "type": "script_exception",
            "reason": "runtime error",
            "caused_by": {"reason": "/ by zero", "type": "x"},
        }
        error = {
            "root_cause": [{"type": "script_exception", "reason": "runtime error"}],
            "type": "search_phase_execution_exception",
            "reason": "Partial shards failure",
            "failed_shards": [{"shard": 1, "index": "products", "reason": cause}],
        }

        found = failure({"error": error, "status": 400})

        assert found.kind is FailureKind.SHARDS
        assert "products[1]" in found.reason
        assert "/ by zero" in found.reason

    def test_all_shards_failing_alike_is_an_error_of_the_query(self) -> None:
        cause = {"type": "illegal_argument_exception", "reason": "Result window is too large"}
        error = {
            "root_cause": [cause],
            "type": "search_phase_execution_exception",
            "reason": "all shards failed",
            "failed_shards": [{"shard": 0, "index": "products", "reason": cause}],
        }

        assert failure({"error": error, "status": 400}).kind is FailureKind.ERROR

    @pytest.mark.parametrize(
        "error",
        [
            {
                "root_cause": [],
                "type": "search_phase_execution_exception",
                "reason": "all shards failed",
                "failed_shards": [],
            },
            {
                "root_cause": [{"type": "no_shard_available_action_exception", "reason": None}],
                "type": "x",
                "reason": "y",
            },
        ],
    )
    def test_no_copy_of_a_shard_is_there(self, error: dict[str, Any]) -> None:
        item = {"error": error, "status": 503}

        assert failure(item).kind is FailureKind.SHARDS
        assert may_succeed_again(read(item), item)

    def test_failed_shards_in_a_success_are_no_success(self) -> None:
        reason = {"type": "script_exception", "reason": "runtime error"}
        shards = {"total": 2, "successful": 1, "skipped": 0, "failed": 1, "failures": [{"shard": 0, "reason": reason}]}

        found = failure(answer(hit("a"), _shards=shards))

        assert found.kind is FailureKind.SHARDS
        assert "1 of 2 shards" in found.reason
        assert "runtime error" in found.reason

    def test_a_shard_that_is_not_assigned_is_missed_although_none_failed(self) -> None:
        shards = {"total": 2, "successful": 1, "skipped": 0, "failed": 0}

        assert failure(answer(hit("a"), _shards=shards)).kind is FailureKind.SHARDS

    @pytest.mark.parametrize("lacking", ["skipped", "partial", "failed"])
    @pytest.mark.parametrize("shards", [0, 1])
    def test_a_remote_cluster_that_was_left_out_is_missed(self, lacking: str, shards: int) -> None:
        asked = {"total": shards, "successful": shards, "skipped": 0, "failed": 0}
        found = failure(answer(hit("a"), _shards=asked, _clusters={"total": 2, "successful": 1, lacking: 1}))

        assert found.kind is FailureKind.SHARDS
        assert "1 of 2 clusters" in found.reason

    @pytest.mark.parametrize(
        ("item", "words"),
        [
            ("text", "found a text"),
            (None, "found nothing"),
            ({"status": 200}, "`timed_out`"),
            (without(answer(), "hits"), "`hits`"),
            (answer(hits={}), "`hits.hits`"),
            (answer(hits={"hits": {}}), "found an object"),
            (answer(hit("a"), "text"), "`hits.hits[1]`"),  # type: ignore[arg-type]
            (answer({"_score": 1.0}), "text `_id`"),
            (answer(hit(7)), "found 7"),
            (answer(hit("")), 'text `_id`, found ""'),
            (answer(hit("\ud800")), r'text `_id`, found "\ud800"'),
            (answer(hit("a", _index=None)), "text `_index`, found nothing"),
            (answer(hit("a", "high")), "`hits.hits[0]._score`"),
            (answer(hit("a", True)), "a finite number, found true"),
            (answer(hit("a", math.nan)), "a finite number, found NaN"),
            (answer(hit("a", "Infinity")), 'a finite number, found "Infinity"'),
            (answer(hit("a", 10**400)), "a finite number, found 1000"),
            (answer(_shards=[]), "`_shards`"),
            (without(answer(), "_shards"), "`_shards` should be an object, found nothing"),
            (answer(_shards={"total": 2, "successful": 2}), "`failed` should be a whole number, found nothing"),
            (
                answer(_shards={"total": -1, "successful": -1, "failed": 0}),
                "`total` should be a whole number, found -1",
            ),
            (answer(_shards={"total": 2.0, "successful": 2, "failed": 0}), "found 2.0"),
            (answer(_shards={"total": True, "successful": True, "failed": 0}), "found true"),
            (answer(_shards={"total": 2, "successful": 3, "failed": 0}), "3 successful and 0 failed of 2"),
            (answer(_shards={"total": 2, "successful": 2, "failed": 1}), "2 successful and 1 failed of 2"),
            (answer(_shards={"total": 2, "successful": 2, "failed": 0, "skipped": None}), "`skipped`"),
            (answer(_clusters=[]), "`_clusters`"),
            (answer(_clusters={"total": 1, "successful": 2}), "`_clusters` counts 2 successful of 1"),
            (answer(_clusters={"total": 1}), "`successful`"),
            (answer(_clusters={"total": 1, "successful": 1, "details": []}), "`_clusters.details`"),
            (without(answer(), "timed_out"), "`timed_out` should be true or false, found nothing"),
            (answer(timed_out="false"), '`timed_out` should be true or false, found "false"'),
            (answer(timed_out=0), "`timed_out`"),
            (answer(terminated_early=True), "`terminated_early` is true, and the request sets no `terminate_after`"),
            (answer(terminated_early="false"), "`terminated_early` should be true or false"),
            (answer(status=206), "`status` should be 200, or an error status, found 206"),
            (answer(status="500"), "`status`"),
            (answer(status=True), "`status`"),
        ],
    )
    def test_what_is_not_as_an_engine_gives_it(self, item: Any, words: str) -> None:
        found = failure(item)

        assert found.kind is FailureKind.MALFORMED
        assert words in found.reason

    @pytest.mark.parametrize("item", [{"status": 500}, answer(error={}), answer(error=""), answer(error=False)])
    def test_an_error_without_words_is_an_error(self, item: Any) -> None:
        assert failure(item).kind is FailureKind.ERROR
        assert failure(item).reason == "the engine gave no reason"

    @pytest.mark.parametrize(
        ("failures", "because"),
        [
            ([{"shard": 0, "reason": {"type": "x", "reason": "y"}}], ": x: y"),
            ([{"shard": 0}], ""),
            (["x"], ""),
            ({"shard": 0}, ""),
        ],
    )
    def test_failures_of_which_none_is_counted_are_failures(self, failures: Any, because: str) -> None:
        shards = {"total": 2, "successful": 2, "skipped": 0, "failed": 0, "failures": failures}

        found = failure(answer(hit("a"), _shards=shards))

        assert found.kind is FailureKind.SHARDS
        assert found.reason == f"`_shards` lists failures but counts none{because}"

    @pytest.mark.parametrize(
        "clusters",
        [
            {"total": 2, "successful": 1},
            {"total": 2, "successful": 2, "running": 1},
            {"total": 2, "successful": 2, "details": {"(local)": {"status": "successful"}, "r": {"status": "partial"}}},
            {"total": 2, "successful": 2, "details": {"(local)": {"status": "successful"}, "r": None}},
        ],
    )
    def test_a_remote_cluster_that_did_not_answer_in_full_is_missed(self, clusters: Any) -> None:
        found = failure(answer(hit("a"), _clusters=clusters))

        assert (found.kind, found.reason) == (FailureKind.SHARDS, "1 of 2 clusters did not answer in full")

    def test_a_remote_cluster_is_named_with_its_reason(self) -> None:
        failures = [{"shard": -1, "index": None, "reason": {"type": "x_exception", "reason": "no such index [a]"}}]
        details = {"west": {"status": "skipped", "failures": []}, "east": {"status": "skipped", "failures": failures}}
        found = failure(answer(_clusters={"total": 2, "successful": 0, "skipped": 2, "details": details}))

        assert found.reason == "2 of 2 clusters did not answer in full: east: x_exception: no such index [a]"

    def test_clusters_that_all_answered_are_no_failure(self) -> None:
        details = {"(local)": {"status": "successful"}, "remote": {"status": "successful", "_shards": {"total": 1}}}
        clusters = {"total": 2, "successful": 2, "skipped": 0, "running": 0, "partial": 0, "failed": 0}

        assert ranking(answer(hit("a"), _clusters=clusters)) == ranking(answer(hit("a")))
        assert ranking(answer(hit("a"), _clusters={**clusters, "details": details})) == ranking(answer(hit("a")))


class TestDoubt:
    """What ranks nothing is left out where it cannot be, with the reason, and the ranking stays."""

    @pytest.mark.parametrize(
        ("total", "doubt"),
        [
            ({"relation": "eq"}, "`hits.total.value` is nothing"),
            ({"value": -1, "relation": "eq"}, "`hits.total.value` is -1"),
            ({"value": -1, "relation": "gte"}, "`hits.total.value` is -1"),
            ({"value": 1, "relation": "eq"}, "`hits.total.value` is 1, but 2 hits were returned"),
            ({"value": "7", "relation": "eq"}, '`hits.total.value` is "7"'),
            ({"value": 7.0, "relation": "eq"}, "`hits.total.value` is 7.0"),
            ({"value": True, "relation": "eq"}, "`hits.total.value` is true"),
            ({"value": math.nan, "relation": "eq"}, "`hits.total.value` is NaN"),
            ({"value": 10**400, "relation": "gte"}, f"`hits.total.value` is 1{'0' * 38}…"),
            ({"value": 2**63, "relation": "eq"}, f"`hits.total.value` is {2**63}"),
            ({"value": 7}, "`hits.total.relation` is nothing"),
            ({"value": 7, "relation": "about"}, '`hits.total.relation` is "about"'),
            ({"value": 7, "relation": ["eq"]}, "`hits.total.relation` is a list"),
            ({}, "`hits.total.relation` is nothing"),
            (1, "`hits.total` is 1, but 2 hits were returned"),
            (-2, "`hits.total` is -2"),
            (-1.0, "`hits.total` is -1.0"),
            ("many", '`hits.total` is "many"'),
            (False, "`hits.total` is false"),
            ([], "`hits.total` is a list"),
        ],
    )
    def test_a_total_that_cannot_be(self, total: Any, doubt: str) -> None:
        found = ranking(answer(hits={"total": total, "hits": [hit("a"), hit("b")]}))

        assert found == Ranking((Hit("a", 1.0), Hit("b", 1.0)), total=None, took=3.0, total_doubt=doubt)

    def test_at_least_so_many_may_be_fewer_than_came(self) -> None:
        found = ranking(answer(hits={"total": {"value": 1, "relation": "gte"}, "hits": [hit("a"), hit("b")]}))

        assert (found.total, found.total_is_lower_bound, found.total_doubt) == (1, True, "")

    def test_a_document_that_came_again_is_a_hit_that_came(self) -> None:
        twice = {"total": {"value": 1, "relation": "eq"}, "hits": [hit("a"), hit("a")]}
        found = ranking(answer(hits=twice), unique_ids=True)

        assert found.total_doubt == "`hits.total.value` is 1, but 2 hits were returned"

    @pytest.mark.parametrize(
        ("took", "doubt"),
        [
            (-1, "`took` is -1"),
            (math.nan, "`took` is NaN"),
            (math.inf, "`took` is Infinity"),
            (True, "`took` is true"),
            ("3", '`took` is "3"'),
            (10**400, f"`took` is 1{'0' * 38}…"),
            ({}, "`took` is an object"),
        ],
    )
    def test_a_time_that_cannot_be(self, took: Any, doubt: str) -> None:
        assert ranking(answer(took=took)) == Ranking((), total=0, took=None, took_doubt=doubt)

    def test_no_time_is_no_doubt(self) -> None:
        assert ranking(without(answer(), "took")) == Ranking((), total=0)


class TestStoppedEarly:
    def test_is_what_a_request_may_want_and_then_counts_what_it_saw(self) -> None:
        found = ranking(answer(hit("a"), terminated_early=True), may_stop_early=True)

        assert (found.stopped_early, found.total, found.total_is_lower_bound) == (True, 1, True)

    @pytest.mark.parametrize("told", [False, None])
    def test_is_not_where_the_engine_saw_all(self, told: Any) -> None:
        found = ranking(answer(hit("a"), terminated_early=told), may_stop_early=True)

        assert (found.stopped_early, found.total, found.total_is_lower_bound) == (False, 1, False)

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ({"query": {"match_all": {}}, "terminate_after": 5}, True),
            ({"retriever": {"standard": {"query": {"match_all": {}}, "terminate_after": 5}}}, True),
            ({"query": {"match": {"title": "terminate_after"}}}, False),
            ({"query": {"terms": {"title": ["terminate_after"]}}}, False),
            ({"template": {"id": "kept", "params": {}}}, True),
            ({"template": {"source": '{"terminate_after": 5}', "params": {}}}, True),
            ({"template": {"source": {"terminate_after": "{{n}}"}, "params": {}}}, True),
            ({"template": {"source": {"query": {}}, "params": {"text": "terminate_after"}}}, False),
        ],
    )
    def test_is_wanted_where_the_body_says_so_or_nobody_knows_what_it_says(self, body: Any, expected: bool) -> None:
        entry = make_entry(0, SearchRequest("q", "products", body))

        assert isinstance(entry, Entry)
        assert entry.may_stop_early is expected


class TestSeveralIndexes:
    def test_the_same_id_in_two_is_two_documents(self) -> None:
        found = failure(answer(hit("a"), hit("b"), hit("a", _index="archive")))

        assert found.kind is FailureKind.AMBIGUOUS
        assert found.reason == (
            '"a" is in products at rank 1 and in archive at rank 3, and a judgment cannot distinguish them: use a '
            "target with one index, or set `ids: unique` in the target if both are one document"
        )

    def test_so_is_the_same_id_under_two_routings(self) -> None:
        found = failure(answer(hit("a"), hit("a", _routing="b")))

        assert found.kind is FailureKind.AMBIGUOUS
        assert 'is in products at rank 1 and in products (routing "b") at rank 2' in found.reason

    @pytest.mark.parametrize(
        ("hits", "said"),
        [
            ([hit("a"), hit("a")], '"a" of products is at rank 1 and at rank 2'),
            ([hit("b"), hit("a"), hit("c"), hit("a", _score=-9.5e9)], '"a" of products is at rank 2 and at rank 4'),
            ([hit("a", _routing="x")] * 2, '"a" of products (routing "x") is at rank 1 and at rank 2'),
            ([hit("a"), hit("a"), hit("a", _index="archive")], '"a" of products is at rank 1 and at rank 2'),
        ],
        ids=["twice", "below others", "with a routing", "before one of another index"],
    )
    def test_one_document_twice_is_no_ranking(self, hits: list[Any], said: str) -> None:
        """As of a `hybrid` query without a search pipeline."""
        found = failure(answer(*hits))

        assert found.kind is FailureKind.MALFORMED
        assert found.reason == (
            f"{said}, and a search returns a document once: correct it, or set `ids: unique` in the target, by which "
            "it counts at its first rank only; a `hybrid` query does so with a search pipeline that normalizes scores"
        )

    def test_one_document_twice_is_no_ranking_whatever_field_holds_its_id(self) -> None:
        found = failure(answer(*[hit("1", fields={"sku": ["s"]})] * 2), id_field="sku")

        assert found.kind is FailureKind.MALFORMED
        assert found.reason.startswith('"s" of products (_id 1) is at rank 1 and at rank 2, and a search')

    def test_one_document_twice_counts_once_where_ids_are_unique(self) -> None:
        found = ranking(answer(hit("a"), hit("b"), hit("a")), unique_ids=True)

        assert (found.hits, found.duplicates) == ((Hit("a", 1.0), Hit("b", 1.0)), ("a",))

    def test_different_ids_in_two_are_what_they_are(self) -> None:
        assert ranking(answer(hit("a"), hit("b", _index="archive"))).hits == (Hit("a", 1.0), Hit("b", 1.0))

    @pytest.mark.parametrize("found", ["sku-1", ["sku-1"]])
    def test_the_id_may_be_that_of_a_field(self, found: Any) -> None:
        hits = [hit("1", fields={"sku": found}), hit("2", _source={"sku": 7})]

        assert [one.id for one in ranking(answer(*hits), id_field="sku").hits] == ["sku-1", "7"]

    @pytest.mark.parametrize(
        ("found", "shown"),
        [(None, "nothing"), ([], "a list"), (["a", "b"], "a list"), (1.5, "1.5"), (True, "true"), ("", '""')],
    )
    def test_a_field_without_one_id_makes_no_ranking(self, found: Any, shown: str) -> None:
        reason = failure(answer(hit("2", fields={"sku": found})), id_field="sku").reason

        should = "should have one text or whole number in 'sku', the `id_field` of the target"
        assert reason == f'`hits.hits[0]` ("2") {should}, found {shown}'

    def test_two_documents_with_one_id_in_the_field_are_told_apart_by_their_own(self) -> None:
        hits = [hit("1", fields={"sku": ["s"]}), hit("2", fields={"sku": ["s"]})]

        assert failure(answer(*hits), id_field="sku").reason.startswith(
            '"s" is in products (_id 1) at rank 1 and in products (_id 2) at rank 2'
        )
        assert (
            "use another `id_field`, or set `ids: unique` in the target"
            in failure(answer(*hits), id_field="sku").reason
        )
        assert [one.id for one in ranking(answer(*hits), id_field="sku", unique_ids=True).hits] == ["s"]

    def test_where_ids_are_unique_the_copies_are_one_document(self) -> None:
        found = ranking(answer(hit("a"), hit("a", _index="archive")), unique_ids=True)

        assert (found.hits, found.duplicates) == ((Hit("a", 1.0),), ("a",))


@pytest.mark.parametrize(("status", "expected"), [(429, True), (503, True), (400, False), (404, False), (500, False)])
def test_only_a_busy_engine_is_asked_again(status: int, expected: bool) -> None:
    item = {"error": {"type": "es_rejected_execution_exception", "reason": "queue full"}, "status": status}

    assert may_succeed_again(read(item), item) is expected


def test_a_ranking_is_not_asked_for_again() -> None:
    assert not may_succeed_again(read(answer()), answer(status=429))
