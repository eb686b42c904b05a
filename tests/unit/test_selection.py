"""Ids of verdicts, tags, and what is run."""

import re
from dataclasses import replace
from datetime import date

import pytest

from builders.suites import make_suite
from harness.errors import UsageError
from harness.gate.grammar import parse_threshold
from harness.gate.selection import (
    QueryFilter,
    check_query_ids,
    check_tags,
    collect_thresholds,
    is_selected,
    make_query_ids,
    select,
    select_scope,
)
from harness.model.suite import Query, Suite, Target, Threshold, UnresolvedCondition

ANY = UnresolvedCondition(())


def ids_of(*texts):
    return [gated.id for gated in collect_thresholds(make_suite(thresholds=[Threshold(text, ANY) for text in texts]))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean nDCG@10 >= 0.80", "mean-nDCG-10-ge-0.80"),
        ("mean nDCG@10 >= 0.8 for head", "mean-nDCG-10-ge-0.8-for-head"),
        ("95% nDCG@10 >= 0.50", "95pct-nDCG-10-ge-0.50"),
        ("every P(rel=2)@5 > 0", "every-P-rel-eq-2-5-gt-0"),
        ("mean DCG@5 >= -0.5", "mean-DCG-5-ge--0.5"),
        ("drop every nDCG@10 <= 2%", "drop-every-nDCG-10-le-2pct"),
        ("p95 latency <= 200 ms", "p95-latency-le-200-ms"),
        ("sku-17 not in top 3", "sku-17-not-in-top-3"),
        ("mean nDCG@10 >= ${RELEVANCE_LEAST:-0.8}", "mean-nDCG-10-ge-RELEVANCE_LEAST-0.8"),
        ("mean P@1 < 1", "mean-P-1-lt-1"),
    ],
)
def test_a_verdict_s_id_reads_like_its_threshold(text, expected):
    assert ids_of(text) == [expected]


def test_ids_hold_only_what_survives_node_ids_and_junit_xml():
    query = Query(
        '红鞋 [x]::"y"', "q", thresholds=(Threshold("\U0001f45f in top 3", ANY), Threshold("[::] in top 3", ANY))
    )
    for gated in collect_thresholds(make_suite(query, thresholds=[Threshold("mean nDCG@10 >= 0.8 for été", ANY)])):
        assert re.fullmatch(r"[\w.-]+", gated.id)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("红鞋", "红鞋"),
        ("Größe 38", "Größe-38"),
        ("cafe\N{COMBINING ACUTE ACCENT}", "café"),
        ("जूते लाल", "जूते-लाल"),
        ("ботинки/зима", "ботинки-зима"),
    ],
)
def test_ids_keep_the_letters_of_any_script(name, shown):
    assert make_query_ids(make_suite(Query(name, "q"))) == {name: f"query.{shown}"}


def test_what_is_no_letter_and_no_ascii_a_digest_tells_apart():
    queries = [
        Query(name, "q", thresholds=(Threshold("hits >= 1", ANY),)) for name in ("\U0001f45f", "\U0001f460", "shoes")
    ]
    ids = [gated.id for gated in collect_thresholds(make_suite(*queries))]
    assert ids[2] == "query.shoes.hits-ge-1"
    assert len(set(ids)) == 3
    assert not any(id.endswith("-2") for id in ids)


def test_repeated_thresholds_are_numbered_and_take_no_id_of_another():
    assert ids_of("hits >= 1", "hits >= 1") == ["hits-ge-1", "hits-ge-1-2"]
    assert ids_of("hits >= 1", "hits >= 1", "hits >= 1-2") == ["hits-ge-1", "hits-ge-1-3", "hits-ge-1-2"]


def test_thresholds_that_differ_in_replaced_characters_have_digests():
    ids = ids_of("mean P@1 >= 0.5 for a b", "mean P@1 >= 0.5 for a/b", "mean P@1 >= 0.5")
    assert ids == ["mean-P-1-ge-0.5-for-a-b-319adb0c", "mean-P-1-ge-0.5-for-a-b-c549d791", "mean-P-1-ge-0.5"]
    assert ids_of("mean P@1 >= 0.5 for a/b") == ["mean-P-1-ge-0.5-for-a-b"]


COMPOSED, DECOMPOSED = "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["a b", "a/b", "a-b", "a-b-2"], ["a-b-c8687a08", "a-b-c14cddc0", "a-b", "a-b-2"]),
        (["a/b", "a-b", "a-b-2"], ["a-b-c14cddc0", "a-b", "a-b-2"]),
        (["a-b-2", "a b", "a/b"], ["a-b-2", "a-b-c8687a08", "a-b-c14cddc0"]),
        (["a/b", "a-b-2"], ["a-b", "a-b-2"]),
        (["-a", "a-", "a"], ["a-c2748917", "a-9baf4407", "a"]),
        (["a b", "a/b", "a-b-c8687a08"], ["a-b-c8687a08-2", "a-b-c14cddc0", "a-b-c8687a08"]),
        ([DECOMPOSED, COMPOSED], [f"{COMPOSED}-81ef060b", COMPOSED]),
        ([DECOMPOSED, "\U0001f45f", "abd4b74f"], [COMPOSED, "abd4b74f-abd4b74f", "abd4b74f"]),
    ],
)
def test_an_id_that_needs_no_replacement_is_its_own_and_others_have_digests(names, ids):
    found = make_query_ids(make_suite(*(Query(name, "q") for name in names)))
    assert [found[name] for name in names] == [f"query.{one}" for one in ids]


def test_a_query_has_the_same_id_in_those_of_its_thresholds():
    own = (Threshold("hits >= 1", ANY),)
    suite = make_suite(Query("a b", "q", thresholds=own), Query("a-b", "q"), Query("a-b.hits-ge-1", "q"))
    assert [gated.id for gated in collect_thresholds(suite)] == ["query.a-b-c8687a08.hits-ge-1"]
    assert make_query_ids(suite)["a-b.hits-ge-1"] == "query.a-b.hits-ge-1"


def test_ids_of_thresholds_differ_where_ids_of_queries_have_the_letters_of_thresholds():
    queries = (
        Query("a", "q", thresholds=(Threshold("b.x in top 3", ANY),)),
        Query("a.b", "q", thresholds=(Threshold("x in top 3", ANY),)),
    )
    ids = [gated.id for gated in collect_thresholds(make_suite(*queries))]
    assert ids == ["query.a.b.x-in-top-3", "query.a.b.x-in-top-3-2"]


def test_the_scope_of_a_threshold():
    own = Threshold("P@1 >= 1", parse_threshold("P@1 >= 1", of_query=True)[0])
    head, tail = Query("a", "q", tags=("head", "x"), thresholds=(own,)), Query("b", "q", tags=("tail",))
    suite = Suite("s", "s", Target(), {}, (), (head, tail), (Threshold("all", ANY), Threshold("some", ANY, tag="tail")))
    scopes = [select_scope(gated, suite) for gated in collect_thresholds(suite)]
    assert scopes == [(head, tail), (tail,), (head,)]


def test_tags_select_queries_with_any_of_them():
    suite = make_suite(Query("a", "q", tags=("x",)), Query("b", "q", tags=("y", "z")), Query("c", "q"))
    found = select(suite, QueryFilter(("x", "z")), date.min)
    assert [query.id for query in found.selected.queries] == ["a", "b"]
    assert [query.id for query in found.others] == [query.id for query in suite.queries[2:]]
    assert select(suite, QueryFilter(), date.min).selected is suite


@pytest.mark.parametrize(
    ("query_filter", "ids", "thresholds"),
    [
        (QueryFilter(queries=("a",)), "a", ["query.a.hits-ge-1"]),
        (QueryFilter(queries=("c", "a")), "ac", ["query.a.hits-ge-1", "query.c.hits-ge-1"]),
        (QueryFilter(("x",), ("a", "c")), "a", ["query.a.hits-ge-1"]),
        (QueryFilter(("y",), ("a", "c")), "", []),
    ],
)
def test_queries_by_their_ids_leave_out_thresholds_over_several(query_filter, ids, thresholds):
    own = Threshold("hits >= 1", ANY)
    queries = [
        Query(name, "q", tags=tags, thresholds=(own,))
        for name, tags in zip("abc", [("x",), ("x", "y"), ()], strict=True)
    ]
    suite = make_suite(*queries, thresholds=[Threshold("mean", ANY)])
    suite = replace(suite, thresholds=(*suite.thresholds, Threshold("mean for x", ANY, tag="x")))
    assert [query.id for query in select(suite, query_filter, date.min).selected.queries] == list(ids)
    assert [gated.id for gated in collect_thresholds(suite) if is_selected(gated, query_filter)] == thresholds


def test_unknown_queries_are_all_named_with_the_nearest():
    suites = [make_suite(Query("red-shoes", "q")), make_suite(Query("boots", "q"))]
    check_query_ids(suites, ["boots", "red-shoes"])
    with pytest.raises(UsageError) as caught:
        check_query_ids(suites, ["red-shoe", "boots", "17"])
    assert str(caught.value).splitlines() == [
        "no query has the id 'red-shoe'; did you mean 'red-shoes'?",
        "no query has the id '17'",
    ]


def test_unknown_tags_are_all_named_with_the_nearest():
    suite = make_suite(Query("a", "q", tags=("head",)), Query("b", "q", tags=("tail",)))
    with pytest.raises(UsageError) as caught:
        check_tags([suite], ["haed", "head", "torso"])
    first, second = str(caught.value).splitlines()
    assert first == "no query has the tag 'haed', known are head, tail; did you mean 'head'?"
    assert second.startswith("no query has the tag 'torso', known are head, tail")


def test_a_tag_of_any_suite_is_known():
    check_tags([make_suite(Query("a", "q")), make_suite(Query("b", "q", tags=("x",)))], ["x"])


def test_a_tag_where_nothing_is_tagged():
    with pytest.raises(UsageError, match="no query of these suites has a tag"):
        check_tags([make_suite(Query("a", "q"))], ["x"])
