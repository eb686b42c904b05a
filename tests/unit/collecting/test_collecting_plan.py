"""Which items a suite has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from harness.gate.selection import QueryFilter
from harness.metrics import parse_measure
from harness.model.suite import (
    InTop,
    Mark,
    NoRepeats,
    Operator,
    Query,
    RequestTemplate,
    ScoreCondition,
    StatisticKind,
    Suite,
    Target,
    Threshold,
    UnresolvedCondition,
    Waiver,
)
from harness.pytest_plugin.plan import PlannedItem, plan_items, repeat_for_cells

TODAY = date(2026, 6, 15)
NDCG = parse_measure("nDCG@10")


def threshold(statistic: StatisticKind, text: str, **others: object) -> Threshold:
    return Threshold(text, ScoreCondition(statistic, NDCG, Operator.AT_LEAST, 0.5), **others)


MEAN = threshold(StatisticKind.MEAN, "mean nDCG@10 >= 0.5", mark=Mark("s.yaml", 7, 5))
EVERY = threshold(StatisticKind.EVERY, "every nDCG@10 >= 0.5")
EVERY_TAIL = threshold(StatisticKind.EVERY, "every nDCG@10 >= 0.5 for tail", tag="tail")
OWN = Threshold("a in top 3", InTop("a", 3), markers=("slow",))


def suite(*queries: Query, thresholds: tuple[Threshold, ...] = (), **others: object) -> Suite:
    return Suite("shop", "s.yaml", Target(), {}, (NDCG,), queries, thresholds, **others)


def plan(of: Suite, *, each_query: bool = False, tags: tuple[str, ...] = ()) -> dict[str, PlannedItem]:
    items = plan_items(of, each_query=each_query, query_filter=QueryFilter(tags), today=TODAY)
    by_name = {item.name: item for item in items}
    assert len(by_name) == len(items), "names are unique"
    return by_name


def test_one_item_a_threshold_and_one_a_query_with_its_own() -> None:
    items = plan(
        suite(Query("shoes", "red shoes", thresholds=(OWN, OWN)), Query("boots", "b"), thresholds=(MEAN, EVERY))
    )

    assert list(items) == ["mean-nDCG-10-ge-0.5", "every-nDCG-10-ge-0.5", "query.shoes"]
    assert items["query.shoes"].verdicts == ("query.shoes.a-in-top-3", "query.shoes.a-in-top-3-2")
    assert items["query.shoes"].shared == ()


def test_a_threshold_says_where_it_stands() -> None:
    item = plan(suite(Query("q", "q"), thresholds=(MEAN,)))["mean-nDCG-10-ge-0.5"]

    assert item.mark == Mark("s.yaml", 7, 5)
    assert item.headline == "shop: mean nDCG@10 >= 0.5"
    assert ("relevance.threshold", "mean nDCG@10 >= 0.5") in item.properties


def test_each_query_is_held_to_what_the_suite_expects_of_each_query() -> None:
    field = Threshold("no repeated group in top 3", NoRepeats("group", 3), tag="tail")
    unset = Threshold("hits >= ${LEAST}", UnresolvedCondition(("LEAST",), is_expectation=True))
    of = suite(Query("shoes", "red shoes", tags=("tail",)), Query("boots", "b"), thresholds=(field, unset))

    items = plan(of, each_query=True)

    assert items["query.shoes"].shared == ("no-repeated-group-in-top-3", "hits-ge-LEAST")
    assert items["query.boots"].shared == ("hits-ge-LEAST",)


def test_each_query_is_held_to_the_thresholds_of_every_query_it_falls_under() -> None:
    of = suite(
        Query("shoes", "s", tags=("head",)),
        Query("boots", "b", tags=("tail",), thresholds=(OWN,)),
        thresholds=(MEAN, EVERY, EVERY_TAIL),
    )

    items = plan(of, each_query=True)

    every, every_tail = "every-nDCG-10-ge-0.5", "every-nDCG-10-ge-0.5-for-tail"
    assert items["query.shoes"].shared == (every,)
    assert items["query.boots"].shared == (every, every_tail)
    assert items["query.boots"].verdicts == ("query.boots.a-in-top-3",)


def test_a_threshold_whose_variables_are_not_filled_yet_is_known_by_its_first_word() -> None:
    unknown = UnresolvedCondition(("RELEVANCE_LEAST",))
    of = suite(
        Query("shoes", "s"),
        thresholds=(
            Threshold("every nDCG@10 >= ${RELEVANCE_LEAST}", unknown),
            Threshold("mean nDCG@10 >= ${RELEVANCE_LEAST}", unknown),
        ),
    )

    assert plan(of, each_query=True)["query.shoes"].shared == ("every-nDCG-10-ge-RELEVANCE_LEAST",)


def test_only_waivers_in_force_let_a_query_off() -> None:
    over, open_end = Waiver("fixed", date(2026, 6, 14)), Waiver("waits for synonyms")
    of = suite(
        Query("shoes", "s"),
        thresholds=(
            threshold(StatisticKind.EVERY, "every nDCG@10 >= 0.5", xfail=over),
            threshold(StatisticKind.EVERY, "every nDCG@10 >= 0.6", skip=open_end),
            threshold(StatisticKind.EVERY, "every nDCG@10 >= 0.7", xfail=open_end),
        ),
    )

    item = plan(of, each_query=True)["query.shoes"]

    assert len(item.shared) == 3
    assert item.waived == ("every-nDCG-10-ge-0.6", "every-nDCG-10-ge-0.7")


@pytest.mark.parametrize("text", ["ascii only", "Größe: 42½ — “rot”", "靴", "a/b::c[d]", "  ", "-", "x" * 300])
def test_names_survive_node_ids_and_junit_xml(text: str) -> None:
    items = plan(suite(Query(text, text), Query("ascii-only", "b")), each_query=True)

    assert len(items) == 2
    assert all(re.fullmatch(r"[\w.-]+", name) for name in items)


def test_a_query_may_be_called_like_a_threshold_of_another() -> None:
    items = plan(suite(Query("a", "a", thresholds=(OWN,)), Query("a.a-in-top-3", "b")), each_query=True)

    assert sorted(items) == ["query.a", "query.a.a-in-top-3"]
    assert items["query.a"].verdicts == ("query.a.a-in-top-3",)


def test_tags_and_the_id_are_keywords_and_only_markers_are_markers() -> None:
    of = suite(
        Query("shoes", "s", tags=("head",), markers=("wip",), thresholds=(OWN,)),
        thresholds=(EVERY_TAIL,),
        markers=("nightly",),
    )

    items = plan(of)

    assert items["query.shoes"].keywords == ("shop", "shoes", "head")
    assert items["query.shoes"].markers == ("nightly", "wip", "slow")
    assert items["every-nDCG-10-ge-0.5-for-tail"].keywords == ("shop", "tail")
    assert items["every-nDCG-10-ge-0.5-for-tail"].markers == ("nightly",)


@pytest.mark.parametrize(("until", "holds"), [(None, True), (TODAY, True), (date(2026, 6, 14), False)])
def test_a_skip_holds_until_the_end_of_its_last_day(until: date | None, *, holds: bool) -> None:
    waiver = Waiver("not indexed yet", until)
    skipped = threshold(StatisticKind.MEAN, "mean nDCG@10 >= 0.5", skip=waiver)

    items = plan(suite(Query("q", "q", thresholds=(OWN,), skip=waiver), thresholds=(skipped,)))

    assert [item.skip for item in items.values()] == [waiver if holds else None] * 2


def test_tags_select_the_queries_that_have_one_and_the_thresholds_for_one() -> None:
    of = suite(
        Query("shoes", "s", tags=("head",)),
        Query("boots", "b", tags=("tail", "wet")),
        thresholds=(MEAN, EVERY_TAIL),
    )

    items = plan(of, each_query=True, tags=("tail", "other"))

    assert {name: item.selected for name, item in items.items()} == {
        "mean-nDCG-10-ge-0.5": False,
        "every-nDCG-10-ge-0.5-for-tail": True,
        "query.shoes": False,
        "query.boots": True,
    }


def with_requests(*names: str) -> Suite:
    templates = {name: RequestTemplate(name, {}) for name in names}
    return Suite("shop", "s.yaml", Target(), templates, (NDCG,), (Query("q", "shoes", thresholds=(OWN,)),), (MEAN,))


def repeat(
    items: Sequence[PlannedItem], of: Suite, requests: Sequence[str | None] = (None,), indexes: Sequence[str] = ()
) -> tuple[PlannedItem, ...]:
    return repeat_for_cells(dict.fromkeys(requests, items), of, indexes)


def test_each_item_is_there_once_a_request_those_of_the_first_before_the_others() -> None:
    of = with_requests("current", "candidate")
    items = plan_items(of, each_query=False, query_filter=QueryFilter(), today=TODAY)

    found = repeat(items, of, ["candidate", "current"])

    assert [item.name for item in found] == [
        "mean-nDCG-10-ge-0.5[candidate]",
        "query.q[candidate]",
        "mean-nDCG-10-ge-0.5[current]",
        "query.q[current]",
    ]
    assert [item.request for item in found] == ["candidate", "candidate", "current", "current"]
    assert found[0].headline == "shop: mean nDCG@10 >= 0.5, request candidate"
    assert found[0].verdicts == items[0].verdicts
    assert found[0].keywords == (*items[0].keywords, "candidate")
    assert found[1].properties == (*items[1].properties, ("relevance.request", "candidate"))


def test_a_request_that_the_suite_lacks_has_no_items() -> None:
    of = with_requests("current")
    items = plan_items(of, each_query=False, query_filter=QueryFilter(), today=TODAY)
    assert {item.request for item in repeat(items, of, ["current", "candidate"])} == {"current"}


def test_names_stay_unique_where_requests_differ_in_what_no_id_can_hold() -> None:
    of = with_requests("a b", "a-b", "a@b")
    items = plan_items(of, each_query=False, query_filter=QueryFilter(), today=TODAY)

    names = [item.name for item in repeat(items, of, ["a@b", "a-b", "a b"])]

    assert len(set(names)) == len(names)
    assert names[0] == "mean-nDCG-10-ge-0.5[a-b-7508d8b5]"
    assert "mean-nDCG-10-ge-0.5[a-b]" in names
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+\[[A-Za-z0-9_.-]+\]", name) for name in names)


def test_several_indexes_are_told_apart_by_their_own_ids() -> None:
    of = with_requests("current", "candidate")
    items = plan_items(of, each_query=False, query_filter=QueryFilter(), today=TODAY)[:1]

    found = repeat(items, of, ["current"], ["products-*", "products"])
    both = repeat(items, of, ["current", "candidate"], ["v1", "v2"])

    assert [item.name for item in found] == ["mean-nDCG-10-ge-0.5[products-c9f29541]", "mean-nDCG-10-ge-0.5[products]"]
    assert [(item.request, item.index) for item in found] == [(None, "products-*"), (None, "products")]
    assert found[0].headline == "shop: mean nDCG@10 >= 0.5, index products-*"
    assert [item.name.partition("[")[2] for item in both] == [
        "current@v1]",
        "current@v2]",
        "candidate@v1]",
        "candidate@v2]",
    ]
    assert both[1].keywords[-2:] == ("current", "v2")
    assert both[1].properties[-2:] == (("relevance.request", "current"), ("relevance.index", "v2"))


def test_ids_of_cells_are_unique_where_a_name_could_be_cut_in_two_places() -> None:
    of = with_requests("a", "a-b")
    items = plan_items(of, each_query=False, query_filter=QueryFilter(), today=TODAY)
    names = [item.name for item in repeat(items, of, ["a", "a-b"], ["c", "b-c"])]
    assert len(set(names)) == len(names) == 8


def test_one_request_on_one_index_leaves_items_as_they_are() -> None:
    of = with_requests("current", "candidate")
    items = plan_items(of, each_query=False, query_filter=QueryFilter(), today=TODAY)
    assert repeat(items, of, ["candidate"], ["v1"]) == repeat(items, of) == items


def test_a_request_has_the_items_of_its_thresholds_only() -> None:
    only_current = replace(MEAN, text="mean nDCG@10 >= 0.9", requests=("current",))
    expected = replace(OWN, requests=("current",))
    of = replace(
        with_requests("current", "candidate", "helper"),
        queries=(Query("q", "shoes", thresholds=(expected,)), Query("r", "boots", thresholds=(OWN, expected))),
        thresholds=(MEAN, only_current),
    )
    of = replace(of, requests={**of.requests, "helper": RequestTemplate("helper", {}, gates=False)})

    def names(request: str | None, *, each_query: bool = False) -> list[str]:
        return [
            item.name
            for item in plan_items(of, request, each_query=each_query, query_filter=QueryFilter(), today=TODAY)
        ]

    assert names(None) == ["mean-nDCG-10-ge-0.5", "mean-nDCG-10-ge-0.9", "query.q", "query.r"]
    assert names("candidate") == ["mean-nDCG-10-ge-0.5", "query.r"]
    assert names("candidate", each_query=True) == ["mean-nDCG-10-ge-0.5", "query.q", "query.r"]
    assert names("helper") == names("helper", each_query=True) == []
    [item] = [
        item
        for item in plan_items(of, "candidate", each_query=False, query_filter=QueryFilter(), today=TODAY)
        if item.name == "query.r"
    ]
    assert item.verdicts == ("query.r.a-in-top-3",)
