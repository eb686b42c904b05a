"""Answers with fewer hits than were requested and match are told: their ranking may not begin at its first hit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.gate.cut_answers import add_cut_answers, find_cut_answers
from harness.gate.decide_answers import read_requested_depth
from harness.gate.finding import Finding
from harness.model.run import Engine, Hit, Ranking, Run, Status
from harness.model.suite import HttpRequest, Query, RequestTemplate, Suite, Target

QUERIES = (Query("lamp", "lamp"), Query("rope", "rope"))
SERVICE = RequestTemplate("request", None, http=HttpRequest("GET", "/find", "$.ids", size="rows"))
STORED = RequestTemplate("request", {"template": {"id": "t", "params": {"q": "{{text}}"}}})


def rank(number: int, total: int | None, **more: Any) -> Ranking:
    return Ranking(tuple(Hit(f"d{place}") for place in range(number)), total=total, **more)


def find(template: RequestTemplate, ranking: Ranking, **more: Any) -> list[str]:
    suite = Suite("s", "s.relevance.yaml", Target(), {"request": template}, QUERIES, (), depth=7)
    run = Run({"lamp": ranking, "rope": rank(7, 40)}, Engine("http"), **more)
    return list(find_cut_answers(suite, run))


@pytest.mark.parametrize("template", [SERVICE, STORED, RequestTemplate("request", {"query": {"match_all": {}}})])
@pytest.mark.parametrize(
    ("ranking", "is_cut"),
    [
        (rank(5, 8), True),
        (rank(3, 5), True),
        (rank(5, 5), False),
        (rank(7, 400), False),
        (rank(5, None), False),
        (rank(5, 8, total_is_lower_bound=True), False),
        (rank(5, 8, stopped_early=True), False),
        (rank(4, 6, duplicates=("d1", "d2")), False),
        (rank(0, 0), False),
    ],
)
def test_an_answer_with_fewer_hits_than_match_is_found(
    template: RequestTemplate, ranking: Ranking, is_cut: bool
) -> None:
    assert find(template, ranking) == (["lamp"] if is_cut else [])


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"match_all": {}}, "collapse": {"field": "brand"}},
        {"query": {"match_all": {}}, "min_score": 0.5},
        {"query": {"match_all": {}}, "rescore": {"window_size": 3}},
        {"retriever": {"rrf": {"rank_window_size": 5}}},
        {"query": {"hybrid": {"queries": []}}},
        {"template": {"source": {"query": {"match_all": {}}, "collapse": {"field": "brand"}}}},
        {"template": {"source": '{"collapse": {"field": "{{field}}"}}', "params": {}}},
    ],
)
def test_a_body_that_groups_or_filters_its_hits_is_not_cut(body: dict[str, Any]) -> None:
    assert find(RequestTemplate("request", body), rank(5, 8)) == []


def test_nor_is_one_that_the_engine_makes_so_of_a_stored_template() -> None:
    assert find(STORED, rank(5, 8), limits_hits=True) == []


@pytest.mark.parametrize(("status", "is_told"), [(Status.PASSED, True), (Status.FAILED, True), (Status.ERROR, False)])
def test_the_reason_has_it_and_a_pass_is_weak_evidence(status: Status, is_told: bool) -> None:
    suite = Suite("s", "s.relevance.yaml", Target(), {"request": STORED}, QUERIES, (), depth=7)
    run = Run({"lamp": rank(5, 8), "rope": rank(7, 40)}, Engine("opensearch", "3"))
    finding = Finding(status, "as compared")
    told = add_cut_answers(finding, QUERIES, find_cut_answers(suite, run), read_requested_depth(suite, run))

    assert ("lamp (5 hits of 8)" in told.reason) is is_told
    assert bool(told.caveat) is (status is Status.PASSED)
    other = replace(finding, status=Status.PASSED)
    assert add_cut_answers(other, QUERIES[1:], find_cut_answers(suite, run), read_requested_depth(suite, run)) == other
