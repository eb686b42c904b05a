"""What each kind of answer to one search becomes."""

from __future__ import annotations

from typing import Any

import pytest

from harness.model import Failure, FailureKind, Hit, Ranking, Response
from harness.search.items import read_item, retriable


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


def ranking(item: Any, title_field: str | None = None) -> Ranking:
    response = read_item(item, title_field)
    assert isinstance(response, Ranking), response
    return response


def failure(item: Any) -> Failure:
    response: Response = read_item(item)
    assert isinstance(response, Failure), response
    return response


class TestRanking:
    def test_keeps_the_order_of_the_server_even_where_scores_rise(self) -> None:
        assert ranking(answer(hit("b", 1.0), hit("a", 2.0))).hits == (Hit("b", 1.0), Hit("a", 2.0))

    def test_no_hits_is_a_ranking(self) -> None:
        assert ranking(answer()) == Ranking((), total=0, took=3.0)

    def test_a_document_that_comes_twice_is_kept_at_its_first_place_and_named_once(self) -> None:
        found = ranking(answer(hit("a", 3.0), hit("b", 2.0), hit("a", 1.0), hit("a", 0.5)))

        assert found.hits == (Hit("a", 3.0), Hit("b", 2.0))
        assert found.duplicates == ("a",)

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
        found = ranking(answer(hits={"total": total, "hits": []}))

        assert (found.total, found.total_is_lower_bound) == (expected, is_lower_bound)

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
        assert ranking(answer(hit("a", **document)), field).hits[0].title == expected

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
        assert found.reason == "nothing was searched: no index has a name that the target's pattern fits"

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
        assert not retriable(read_item(item), item)

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
        assert retriable(read_item(item), item)

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
            ({"status": 200}, "`hits`"),
            (answer(hits={}), "`hits.hits`"),
            (answer(hits={"hits": {}}), "found an object"),
            (answer(hit("a"), "text"), "`hits.hits[1]`"),  # type: ignore[arg-type]
            (answer({"_score": 1.0}), "text `_id`"),
            (answer(hit(7)), "found a number"),
            (answer(hit("a", "high")), "`hits.hits[0]._score`"),
            (answer(hit("a", True)), "true or false"),
            (answer(hits={"total": "many", "hits": []}), "`hits.total`"),
            (answer(hits={"total": {"value": "7"}, "hits": []}), "`value`"),
            (answer(_shards=[]), "`_shards`"),
        ],
    )
    def test_what_is_not_as_an_engine_gives_it(self, item: Any, words: str) -> None:
        found = failure(item)

        assert found.kind is FailureKind.MALFORMED
        assert words in found.reason

    def test_an_error_without_words_is_an_error(self) -> None:
        assert failure({"status": 500}).kind is FailureKind.ERROR


@pytest.mark.parametrize(("status", "expected"), [(429, True), (503, True), (400, False), (404, False), (500, False)])
def test_only_a_busy_engine_is_asked_again(status: int, expected: bool) -> None:
    item = {"error": {"type": "es_rejected_execution_exception", "reason": "queue full"}, "status": status}

    assert retriable(read_item(item), item) is expected


def test_a_ranking_is_not_asked_for_again() -> None:
    assert not retriable(read_item(answer()), answer(status=429))
