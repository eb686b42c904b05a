"""From the answer of a service to a ranking."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.run import Failure, FailureKind, Hit, Ranking, Response
from harness.model.suite import HttpRequest
from harness.search.hits import MalformedAnswer
from harness.search.service_answers import read_service_answer


def read(content: Any, ids: str, **paths: Any) -> Ranking:
    response = read_service_answer(content, HttpRequest("GET", "/search", ids, **paths))
    assert isinstance(response, Ranking)
    return response


ITEMS = {
    "count": 3,
    "results": [
        {"id": "a", "score": 3, "doc": {"name": "A"}},
        {"id": 17, "score": 2.5, "doc": {"name": "B"}},
        {"id": "c", "score": None, "doc": {}},
    ],
}


def test_ids_scores_titles_and_total() -> None:
    found = read(ITEMS, "$.results[*].id", scores="$.results[*].score", titles="$.results[*].doc.name", total="$.count")

    assert found == Ranking((Hit("a", 3.0, "A"), Hit("17", 2.5, "B"), Hit("c", None, None)), total=3, exact_scores=True)


def test_fields_by_item_and_in_lists_beside_the_ids() -> None:
    picture = "https://shop.example/a b.png"
    items = {
        "results": [
            {"id": "a", "price": 29.5, "sizes": ["S", "M"], "new": True, "img": picture, "vector": [0.25] * 64},
            {"id": "b", "price": None, "img": ["https://shop.example/1.png", "https://shop.example/2.png"]},
        ]
    }
    names = ("price", "sizes", "new", "img", "vector")
    found = read(items, "$.results[*].id", fields={name: f"$.results[*].{name}" for name in names})
    first, second = found.hits
    assert first.texts == {"price": "29.5", "sizes": "S · M", "new": "true", "img": picture}
    assert first.urls == {}, "a URL has no blank"
    assert second.urls == {"img": "https://shop.example/1.png"}
    lists = {"ids": ["a", "b"], "prices": [1, 2]}
    assert [hit.texts for hit in read(lists, "$.ids", fields={"price": "$.prices"}).hits] == [
        {"price": "1"},
        {"price": "2"},
    ]
    assert [hit.texts for hit in read(lists, "$.ids").hits] == [None, None]


def test_a_field_that_belongs_to_no_hit_is_a_wrong_path() -> None:
    with pytest.raises(MalformedAnswer, match=r"`\$.prices` finds 3 values that do not all belong to the 1 ids"):
        read({"ids": ["a"], "prices": [1, 2, 3]}, "$.ids", fields={"price": "$.prices"})
    with pytest.raises(MalformedAnswer, match=r"`\$.prices` should find a list, found nothing"):
        read({"ids": ["a"]}, "$.ids", fields={"price": "$.prices"})


def test_parallel_lists() -> None:
    found = read({"ids": ["a", "b"], "scores": [2, 1]}, "$.ids", scores="$.scores")

    assert found.hits == (Hit("a", 2.0), Hit("b", 1.0))


def test_a_list_at_the_top() -> None:
    assert [hit.id for hit in read([{"id": "a"}, {"id": "b"}], "$[*].id").hits] == ["a", "b"]


def test_groups_keep_their_order_and_their_titles() -> None:
    groups = {
        "groups": [{"docs": [{"id": "a"}, {"id": "b", "t": "B"}]}, {"docs": []}, {"docs": [{"id": "c", "t": "C"}]}]
    }

    found = read(groups, "$.groups[*].docs[*].id", titles="$.groups[*].docs[*].t")

    assert found.hits == (Hit("a"), Hit("b", None, "B"), Hit("c", None, "C"))


def test_members_of_an_object_in_its_order() -> None:
    found = read({"hits": {"x": {"id": "a"}, "y": {"id": "b"}}}, "$.hits.*.id")

    assert [hit.id for hit in found.hits] == ["a", "b"]


def test_a_filter_may_leave_nothing() -> None:
    content = {"results": [{"type": "ad", "id": "a"}]}

    assert read(content, "$.results[?@.type == 'product'].id").hits == ()
    assert [hit.id for hit in read(content, "$.results[?@.type == 'ad'].id").hits] == ["a"]


def test_each_group_must_have_its_list() -> None:
    content = {"groups": [{"items": [{"sku": "a"}]}, {"error": 1}, {"items": [{"sku": "b"}]}]}

    with pytest.raises(MalformedAnswer, match=r"should find items at each `.*`, found 2 of 3"):
        read(content, "$.groups[*].items[*].sku")


def test_scores_that_no_hit_has_are_a_wrong_path() -> None:
    content = {"results": [{"sku": "a", "score": 2}, {"sku": "b"}]}

    with pytest.raises(
        MalformedAnswer, match=r"`\$.results\[\*\].scor` finds no score of 2 hits; if there are none, re"
    ):
        read(content, "$.results[*].sku", scores="$.results[*].scor")
    assert [hit.score for hit in read(content, "$.results[*].sku", scores="$.results[*].score").hits] == [2, None]
    assert read({"results": []}, "$.results[*].sku", scores="$.results[*].scor").hits == ()


def test_a_document_that_comes_twice_is_an_error_as_of_an_engine() -> None:
    with pytest.raises(MalformedAnswer, match=r'"b" is at rank 2 and at rank 4, .*`ids: unique`'):
        read({"ids": ["a", "b", "c", "b", "a"]}, "$.ids")
    with pytest.raises(MalformedAnswer, match='"7" is at rank 1 and at rank 2'):
        read({"ids": [7, "7"]}, "$.ids")


def test_a_document_that_comes_twice_is_kept_once_where_the_target_says_so() -> None:
    found = read({"ids": ["a", "b", "a"]}, "$.ids", unique_ids=True)

    assert [hit.id for hit in found.hits] == ["a", "b"]
    assert found.duplicates == ("a",)
    assert found.returned == 3


def test_a_title_that_cannot_be_written_is_shown_as_far_as_it_can() -> None:
    found = read({"r": [{"id": 1, "t": "half a \ud83d"}]}, "$.r[*].id", titles="$.r[*].t")

    assert found.hits == (Hit("1", None, "half a ?"),)


@pytest.mark.parametrize("ids", ["$.results[*].id", "$.results"])
def test_no_hits_is_a_ranking(ids: str) -> None:
    assert read({"results": []}, ids) == Ranking(exact_scores=True)


@pytest.mark.parametrize(
    ("content", "paths", "words"),
    [
        (ITEMS, {"ids": "$.result[*].id"}, r"`\$\['result'\]`, found nothing; the answer has `count`, `results`"),
        (ITEMS, {"ids": "$.results[*].sku"}, "0 values in 3 items"),
        (ITEMS, {"ids": "$.results[*].doc.name"}, "2 values in 3 items"),
        (ITEMS, {"ids": "$.ids"}, "should find a list, found nothing"),
        (ITEMS, {"ids": "$.count"}, "should find a list, found a number"),
        (ITEMS, {"ids": "$.results[*].doc"}, "found an object"),
        (ITEMS, {"ids": "$.results[*].score"}, r"found 2\.5"),
        ({"results": None}, {"ids": "$.results[*].id"}, "found nothing"),
        ({"results": 0}, {"ids": "$.results[*].id"}, "found a number"),
        ({"ids": ["a", ""]}, {"ids": "$.ids"}, "texts or whole numbers"),
        ({"ids": [True]}, {"ids": "$.ids"}, "found true"),
        ({"ids": ["\ud800"]}, {"ids": "$.ids"}, r'found "\\ud800"'),
        ({"ids": [1.0]}, {"ids": "$.ids"}, r"found 1\.0"),
        ({"results": {}}, {"ids": "$.results[*].id"}, "found an empty object"),
        ({}, {"ids": "$.*.id"}, "found an empty object"),
        ({"groups": [{"docs": {}}]}, {"ids": "$.groups[*].docs[*].id"}, "found an empty object"),
        (
            {"groups": [{"dox": []}]},
            {"ids": "$.groups[*].docs[*].id"},
            r"`\$\['groups'\]\[\*\]\['docs'\]`, found nothing",
        ),
        ({"message": "the index is away"}, {"ids": "$..id"}, "name the list"),
        ({"ids": ["a"], "s": [1, 2]}, {"ids": "$.ids", "scores": "$.s"}, "2 values that do not all belong"),
        ({"ids": ["a"], "s": ["x"]}, {"ids": "$.ids", "scores": "$.s"}, 'a finite number, found "x"'),
        ({"ids": ["a"], "s": [math.nan]}, {"ids": "$.ids", "scores": "$.s"}, "found NaN"),
        ({"ids": ["a"], "s": [math.inf]}, {"ids": "$.ids", "scores": "$.s"}, "found Infinity"),
        ({"ids": ["a"], "s": [10**400]}, {"ids": "$.ids", "scores": "$.s"}, "found 1000"),
        ({"ids": ["a"], "s": [True]}, {"ids": "$.ids", "scores": "$.s"}, "found true"),
        ({"ids": ["a"]}, {"ids": "$.ids", "scores": "$.s"}, "should find a list"),
        ("[1]", {"ids": "$[*]"}, "object or a list, found a text"),
        (None, {"ids": "$[*]"}, "found nothing"),
    ],
)
def test_what_does_not_fit_is_never_an_empty_ranking(content: Any, paths: dict[str, str], words: str) -> None:
    with pytest.raises(MalformedAnswer, match=words):
        read(content, **paths)


@pytest.mark.parametrize(
    ("total", "path", "doubt"),
    [
        ({}, "$.n", "`$.n` finds 0 values"),
        ({"n": [1, 2]}, "$.n[*]", "`$.n[*]` finds 2 values"),
        ({"n": "1"}, "$.n", "`$.n` is 1, but 2 hits were returned"),
        ({"n": "many"}, "$.n", '`$.n` is "many"'),
        ({"n": None}, "$.n", "`$.n` is nothing"),
        ({"n": True}, "$.n", "`$.n` is true"),
        ({"n": -1}, "$.n", "`$.n` is -1"),
        ({"n": 1.5}, "$.n", "`$.n` is 1.5"),
        ({"n": 1}, "$.n", "`$.n` is 1, but 2 hits were returned"),
        ({"n": 10**400}, "$.n", f"`$.n` is 1{'0' * 38}…"),
    ],
)
def test_a_number_of_matches_that_cannot_be_leaves_the_ranking(total: dict[str, Any], path: str, doubt: str) -> None:
    found = read({"ids": ["a", "b"], **total}, "$.ids", total=path)

    assert found == Ranking((Hit("a"), Hit("b")), total=None, total_doubt=doubt, exact_scores=True)


def test_no_hits_beside_a_total_is_no_ranking() -> None:
    with pytest.raises(MalformedAnswer, match=r"`\$\.ids` finds no id, and `\$\.total` says that 5 documents match"):
        read({"ids": [], "total": 5}, "$.ids", total="$.total")

    assert read({"ids": [], "total": 0}, "$.ids", total="$.total") == Ranking((), total=0, exact_scores=True)


@pytest.mark.parametrize(
    ("content", "ids", "total"),
    [
        ({"root": {"id": "top", "fields": {"totalCount": 0}}}, "$.root.children[*].id", "$.root.fields.totalCount"),
        ({"ids": None, "total": 0}, "$.ids", "$.total"),
        ({"total": "0"}, "$.ids", "$.total"),
        ({"found": {"count": 0}}, "$.found.groups[*].docs[*].id", "$.found.count"),
        ({"n": 0}, "$..id", "$.n"),
    ],
)
def test_a_missing_list_beside_a_total_of_0_is_no_hit(content: Any, ids: str, total: str) -> None:
    assert read(content, ids, total=total, scores=ids, titles=ids) == Ranking(total=0, exact_scores=True)


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ({"summary": {}}, "$.results[*].id"),
        ({}, "$.ids"),
        ({"data": {"hits": None}}, "$.data.hits[*].id"),
    ],
)
def test_a_suite_may_say_that_a_missing_list_is_no_hit(content: Any, ids: str) -> None:
    no_hits = Ranking(total=0, exact_scores=True)

    assert read(content, ids, ids_optional=True) == no_hits
    assert read(content, ids, ids_optional=True, total="$.totalSize") == no_hits
    with pytest.raises(MalformedAnswer, match="found nothing"):
        read(content, ids)


@pytest.mark.parametrize(
    ("content", "ids", "total"),
    [
        ({"results": "none", "total": 0}, "$.results[*].id", "$.total"),
        ({"results": {}, "total": 0}, "$.results", "$.total"),
        ({"total": 3}, "$.results[*].id", "$.total"),
        ({"error": "away"}, "$.root.children[*].id", None),
        ({"error": "away"}, "$..id", None),
        ({"groups": [{"ids": [1]}, {}]}, "$.groups[*].ids[*]", None),
    ],
)
def test_what_is_no_missing_list_stays_malformed(content: Any, ids: str, total: str | None) -> None:
    with pytest.raises(MalformedAnswer):
        read(content, ids, total=total, ids_optional=True)


def test_a_total_that_cannot_be_read_is_not_0() -> None:
    found = read({"total": -1}, "$.ids", total="$.total", ids_optional=True)

    assert found == Ranking(total=None, total_doubt="`$.total` is -1", exact_scores=True)


@pytest.mark.parametrize(
    ("text", "score"), [("0.73", 0.73), ("12", 12), ("-1.5e-3", -0.0015), ("9007199254740993", 9007199254740993)]
)
def test_a_score_may_be_the_text_of_a_number(text: str, score: float) -> None:
    found = read({"ids": ["a"], "s": [text], "n": "12"}, "$.ids", scores="$.s", total="$.n")

    assert found == Ranking((Hit("a", score),), total=12, exact_scores=True)


@pytest.mark.parametrize("text", ["", "NaN", "Infinity", "1e999", "1,5", " 1", "0x1", "1_000", "٣", "9" * 5000])
def test_a_text_that_is_no_number_is_no_score(text: str) -> None:
    with pytest.raises(MalformedAnswer, match="a finite number, found"):
        read({"ids": ["a"], "s": [text]}, "$.ids", scores="$.s")


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1), st.floats(allow_nan=False, allow_infinity=False), st.one_of(st.none(), st.text())
        ),
        max_size=20,
    )
)
def test_columns_stay_with_their_ids(rows: list[tuple[str, float, str | None]]) -> None:
    items = [{"id": identity, "s": score} | ({} if title is None else {"t": title}) for identity, score, title in rows]

    found = read({"r": items}, "$.r[*].id", scores="$.r[*].s", titles="$.r[*].t", unique_ids=True)

    first: dict[str, Hit] = {}
    for identity, score, title in rows:
        first.setdefault(identity, Hit(identity, score, title))
    assert found.hits == tuple(first.values())


def test_a_regular_expression_that_takes_for_ever_is_a_malformed_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("regex")
    for module in ("jsonpaths", "service_answers"):
        monkeypatch.setattr(f"harness.search.{module}.SECONDS_TO_MATCH", 0.25)
    path = "$.items[?match(@.id, '(a|aa)+c')].id"

    with pytest.raises(MalformedAnswer, match=r"take more than 0\.25 s for this answer"):
        read({"items": [{"id": "a" * 100 + "cd"}] * 50}, path)
    assert [hit.id for hit in read({"items": [{"id": "aac"}, {"id": "b"}]}, path).hits] == ["aac"]


@pytest.mark.parametrize("depth", [101, 300, 3000])
@pytest.mark.parametrize("path", ["ids", "scores", "titles", "total"])
def test_an_answer_nested_too_deep_for_a_path_is_malformed(path: str, depth: int) -> None:
    nested: Any = "x"
    for level in range(depth):
        nested = {"x": nested} if level % 2 else [nested]
    paths = {"ids": "$.ids", path: "$..x"}

    with pytest.raises(MalformedAnswer, match="the nesting of the answer is too deep for"):
        read({"ids": ["a"], "nested": nested}, **paths)


# Hit by hit.

SOLR: dict[str, Any] = {
    "responseHeader": {"status": 0, "QTime": 12},
    "response": {
        "numFound": 40,
        "numFoundExact": True,
        "docs": [
            {"id": "a", "score": 3.5, "name": "A", "sizes": [41, 42], "price": 9.5},
            {"id": 17, "score": 2, "sizes": [], "price": None},
            {"id": "c", "score": 2, "name": ["C", "3"], "price": 7},
        ],
    },
}
SOLR_PATHS: dict[str, Any] = {
    "hits": "$.response.docs[*]",
    "ids": "$.id",
    "scores": "$.score",
    "titles": "$.name",
    "sort": ("$.score", "$.price"),
    "fields": {"sizes": "$.sizes[*]", "price": "$.price"},
    "total": "$.response.numFound",
    "total_exact": "$.response.numFoundExact",
    "took": "$.responseHeader.QTime",
    "partial": "$.responseHeader.partialResults",
    "partial_optional": True,
    "error": "$.error.msg",
}


def respond(content: Any, **paths: Any) -> Response:
    return read_service_answer(content, HttpRequest("GET", "/search", **{**SOLR_PATHS, **paths}))


def change_solr(header: dict[str, Any] | None = None, response: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer of Solr with these members in its header and in its response."""
    return {
        "responseHeader": {**SOLR["responseHeader"], **(header or {})},
        "response": {**SOLR["response"], **(response or {})},
    }


def test_each_hit_is_read_by_itself() -> None:
    ranking = read(SOLR, **SOLR_PATHS)

    first, second, third = ranking.hits
    assert (ranking.total, ranking.total_is_lower_bound, ranking.took) == (40, False, 12.0)
    assert (first.id, first.score, first.title, first.sort) == ("a", 3.5, "A", (3.5, 9.5))
    assert first.values == {"sizes": (41, 42), "price": (9.5,)}
    assert (second.id, second.title, second.sort, second.values) == ("17", None, (2, None), {})
    assert (third.title, third.texts) == ("C · 3", {"price": "7"})


@pytest.mark.parametrize("hits", ["$.docs", "$.docs[*]", "$..docs[*]", "$['docs'][?@.id != 'ad']"])
def test_hits_may_be_a_list_or_its_elements(hits: str) -> None:
    content = {"docs": [{"id": "a", "t": "A"}, {"id": "b"}]}

    assert read(content, "$.id", hits=hits, titles="$.t").hits == (Hit("a", None, "A"), Hit("b"))


def test_hits_may_be_ids_themselves_or_the_answer_a_list() -> None:
    assert [hit.id for hit in read({"ids": ["a", "[1]", 3]}, "$", hits="$.ids").hits] == ["a", "[1]", "3"]
    assert [hit.id for hit in read([{"id": "a"}], "$.id", hits="$").hits] == ["a"]
    groups = {"groups": [{"docs": [{"id": "a"}]}, {"docs": [{"id": "b"}]}]}
    assert [hit.id for hit in read(groups, "$.id", hits="$.groups[*].docs[*]").hits] == ["a", "b"]


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (
            {"ids": "$.sku"},
            r"`\$.sku` should find one id in each hit, found nothing in hit 1; the hit has `id`, `score`",
        ),
        ({"ids": "$.response.docs[*].id"}, "found nothing in hit 1, but in the whole answer: where `hits` is given, `"),
        ({"ids": "$..[?@ > 1]"}, "found 4 values in hit 1"),
        ({"ids": "$.name"}, "found nothing in hit 2"),
        ({"ids": "$.price"}, r"texts or whole numbers; found 9\.5"),
        ({"hits": "$.response.documents[*]"}, "found nothing; the answer has `responseHeader`, `response`"),
        ({"hits": "$.response.numFound"}, "should find a list, found a number"),
        ({"scores": "$.scor"}, r"`\$.scor` finds no score of 3 hits; if there are none, remove it"),
        ({"scores": "$.name"}, 'should be a finite number, found "A"'),
        ({"scores": "$.sizes[*]"}, "should find one value in each hit, found 2 in hit 1"),
        ({"sort": ("$.score", "$.rank")}, r"`\$.rank` finds no value of 3 hits for the order"),
        ({"sort": ("$.sizes[*]",)}, "found 2 in hit 1"),
    ],
)
def test_a_path_that_does_not_fit_the_hits_is_malformed(paths: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedAnswer, match=words):
        respond(SOLR, **paths)


def test_a_path_of_a_preset_may_find_nothing() -> None:
    content = {"response": {"numFound": 1, "docs": [{"id": "a"}]}}
    names = frozenset({"scores", "total_exact"})

    ranking = respond(content, sort=(), preset_paths=names)
    assert isinstance(ranking, Ranking)
    assert (ranking.hits[0].score, ranking.total, ranking.total_is_lower_bound) == (None, 1, False)
    assert ranking.took_doubt == "`$.responseHeader.QTime` finds 0 values"


@pytest.mark.parametrize(
    ("exact", "total", "is_lower_bound", "doubt"),
    [
        ({"numFoundExact": True}, 40, False, ""),
        ({"numFoundExact": False}, 40, True, ""),
        ({"numFoundExact": False, "numFound": 2}, 2, True, ""),
        ({"numFoundExact": "gte"}, None, False, '`$.response.numFoundExact` is "gte", which is neither true nor false'),
        (
            {"numFoundExact": None},
            None,
            False,
            "`$.response.numFoundExact` is nothing, which is neither true nor false",
        ),
        ({"numFound": 2}, None, False, "`$.response.numFound` is 2, but 3 hits were returned"),
    ],
)
def test_a_total_that_is_not_exact_is_a_lower_bound(
    exact: dict[str, Any], total: int | None, is_lower_bound: bool, doubt: str
) -> None:
    ranking = respond(change_solr(response=exact))

    assert isinstance(ranking, Ranking)
    assert (ranking.total, ranking.total_is_lower_bound, ranking.total_doubt) == (total, is_lower_bound, doubt)


def test_a_path_to_exactness_that_finds_nothing_leaves_the_total_unknown() -> None:
    ranking = respond(SOLR, total_exact="$.response.exact")

    assert isinstance(ranking, Ranking)
    assert (ranking.total, ranking.total_doubt) == (None, "`$.response.exact` finds 0 values")


@pytest.mark.parametrize(
    ("took", "milliseconds", "doubt"),
    [
        (0, 0.0, ""),
        ("3.5", 3.5, ""),
        (-1, None, "`$.responseHeader.QTime` is -1"),
        ("3 ms", None, '`$.responseHeader.QTime` is "3 ms"'),
        (10**400, None, f"`$.responseHeader.QTime` is 1{'0' * 38}…"),
    ],
)
def test_the_time_of_a_service_is_read_in_milliseconds(took: Any, milliseconds: float | None, doubt: str) -> None:
    ranking = respond(change_solr(header={"QTime": took}))

    assert isinstance(ranking, Ranking)
    assert (ranking.took, ranking.took_doubt) == (milliseconds, doubt)


@pytest.mark.parametrize("partial", [True, 1, "omitted", ["shard1"], {"shard1": "timeout"}, [None]])
@pytest.mark.parametrize("documents", [SOLR["response"]["docs"], []])
def test_partial_results_are_a_failure_with_and_without_hits(partial: Any, documents: list[Any]) -> None:
    response = respond(change_solr({"partialResults": partial}, {"docs": documents, "numFound": len(documents)}))

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.PARTIAL
    assert response.reason.startswith(
        "the service searched only a part of the documents (`$.responseHeader.partialResults`: "
    )


@pytest.mark.parametrize("path", ["$.timed_out", "$.meta.timedOut", "$.shards[*].failed", "$..timed_out"])
def test_a_path_to_partial_results_that_finds_nothing_is_an_error(path: str) -> None:
    content = {"ids": ["a"], "meta": {"timed_out_shards": 2}, "shards": []}
    with pytest.raises(MalformedAnswer, match=r"of `partial` finds nothing.*`partial_optional: true`"):
        read(content, "$.ids", partial=path)
    assert [hit.id for hit in read(content, "$.ids", partial=path, partial_optional=True).hits] == ["a"]


def test_an_answer_without_what_is_partial_is_one_of_the_error_in_it() -> None:
    assert respond({"message": "no such index"}, error="$.message", partial="$.partial").reason == "no such index"


@pytest.mark.parametrize("partial", [False, None, 0, "", "false", [], {}])
def test_what_is_empty_is_no_partial_result(partial: Any) -> None:
    assert isinstance(respond(change_solr({"partialResults": partial})), Ranking)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"error": {"msg": "undefined field nam", "code": 400}}, "undefined field nam"),
        ({"error": {"msg": ["first", "second"]}, "response": {"docs": [], "numFound": 0}}, "first · second"),
        ({"error": {"msg": {"code": None}}}, "an object"),
    ],
)
def test_an_error_without_hits_is_the_failure_of_its_query(content: Any, reason: str) -> None:
    assert respond(content) == Failure(FailureKind.ERROR, reason)


@pytest.mark.parametrize("message", [None, False, "", [], {}])
def test_an_error_that_says_nothing_is_none(message: Any) -> None:
    content = {**change_solr(), "error": {"msg": message}}

    assert isinstance(respond(content), Ranking)
    with pytest.raises(MalformedAnswer):
        respond({"error": {"msg": message}})


def test_hits_beside_an_error_are_partial_results() -> None:
    """Those of a shard that failed are not among them."""
    content = {**change_solr(), "error": {"msg": "shard 2 failed"}}
    reason = "the service returned hits and an error (`$.error.msg`): shard 2 failed"
    assert respond(content) == Failure(FailureKind.PARTIAL, reason)
    assert isinstance(respond(content, error=None), Ranking)


def test_what_says_that_results_are_partial_goes_before_an_error() -> None:
    content = {**change_solr({"partialResults": True}), "error": {"msg": "shard 2 failed"}}
    [reason] = [respond(content).reason]
    assert reason.startswith("the service searched only a part of the documents")


def test_several_reasons_are_joined() -> None:
    errors = [{"message": "no class Prodct"}, {"message": "bad limit"}, {"message": "bad limit"}]

    response = respond({"data": None, "errors": errors}, error="$.errors[*].message", partial="$.errors")
    assert response == Failure(FailureKind.ERROR, "no class Prodct; bad limit")


@given(
    st.lists(
        st.fixed_dictionaries(
            {"id": st.one_of(st.text(min_size=1), st.integers())},
            optional={
                "score": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
                "name": st.one_of(st.none(), st.text(), st.lists(st.text(), max_size=3)),
                "price": st.one_of(st.none(), st.integers(), st.lists(st.integers(), max_size=3)),
            },
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_a_hit_is_the_same_whatever_the_other_hits_lack(documents: list[dict[str, Any]], in_groups: bool) -> None:
    paths: dict[str, Any] = {
        "hits": "$.groups[*].docs[*]" if in_groups else "$.docs[*]",
        "ids": "$.id",
        "titles": "$.name",
        "fields": {"price": "$.price"},
        # That no hit at all has a score is a wrong path of a suite.
        "scores": "$.score",
        "sort": ("$.score", "$.price"),
        "preset_paths": frozenset({"scores", "sort"}),
        "unique_ids": True,
    }

    def arrange(hits: list[dict[str, Any]]) -> Any:
        return {"groups": [{"docs": [hit]} for hit in hits]} if in_groups else {"docs": hits}

    alone: dict[str, Hit] = {}
    for document in documents:
        [hit] = read(arrange([document]), **paths).hits
        alone.setdefault(hit.id, hit)
    assert read(arrange(documents), **paths).hits == tuple(alone.values())
