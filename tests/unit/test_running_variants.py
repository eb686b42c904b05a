"""Variants on their way through a run: sent once, recorded, repeated, compared, and kept out of what is of queries."""

import json
from dataclasses import replace
from datetime import date

import pytest

from builders.executions import cell_of, finish, run_suite
from builders.suites import make_suite
from harness.gate.selection import QueryFilter, select
from harness.gate.variants import add_variant_queries, remove_variants
from harness.masking import Masker
from harness.model.report import Report
from harness.model.run import Failure, FailureKind, Status
from harness.model.suite import Query, Variant
from harness.model.timing import ReportTiming
from harness.options import RunOptions, Shard
from harness.report.html.run import render as render_html
from harness.report.json import dumps_report, loads_report
from harness.report.markdown import render as render_markdown
from harness.run.recorded import make_rerun
from harness.search.testing import FakeSearch
from harness.store.header import make_header

DAY = date(2026, 6, 1)
BODY = {"query": {"match": {"title": "{{text}}"}}, "post_filter": {"term": {"brand": "{{brand}}"}}}


def query(name, *variants, **fields):
    return Query(name, f"text of {name}", {"brand": name}, judgments={"a": 1}, variants=variants, **fields)


SHOES = query("shoes", Variant("shoes~1", "shoos"), Variant("schuhe", "text of schuhe", "same as"))
SCHUHE = query("schuhe", tags=("de",))
RANKINGS = {"shoes": ["a", "b"], "shoes~1": ["b", "a"], "schuhe": ["a", "b"]}


def make_varied_suite(*queries, thresholds=("mean RBO of variants >= 0.5",), **fields):
    queries = queries or (SHOES, SCHUHE)
    return make_suite(*queries, measures=["RR@2"], thresholds=thresholds, body=BODY, depth=2, checks=False, **fields)


def run(suite=None, rankings=RANKINGS, **options):
    search = FakeSearch(rankings)
    report = run_suite(suite or make_varied_suite(), search, RunOptions(today=DAY, **options))
    return report, [request.query for request in search.requests], search


def test_variants_are_sent_after_the_queries_and_each_search_once():
    report, sent, search = run()
    assert sent == ["shoes", "schuhe", "shoes~1"]
    bodies = {request.query: request.body for request in search.requests}
    assert bodies["shoes~1"] == {**bodies["shoes"], "query": {"match": {"title": "shoos"}}}
    [verdict] = report.verdicts
    assert verdict.status is Status.PASSED


def test_a_variant_counts_in_no_figure_of_queries():
    report, _, _ = run(rankings={**RANKINGS, "shoes~1": ["b", "a"]})
    assert [found.id for found in report.queries] == ["shoes", "schuhe"]
    assert [(summary.mean, summary.counted) for summary in report.summaries] == [(1.0, 2)]
    assert report.hits == 4


def test_the_report_has_what_each_variant_finds():
    report, _, _ = run(rankings={**RANKINGS, "shoes~1": []})
    typo, translated = report.queries[0].variants
    assert (typo.id, typo.text, typo.hits, typo.agreements, typo.losses) == (
        "shoes~1",
        "shoos",
        0,
        {"RBO": 0},
        {"RR@2": 1},
    )
    assert (translated.rule, translated.agreements, translated.losses) == ("same as", {"RBO": 1}, {"RR@2": 0})
    assert report.queries[1].variants == ()


def test_without_a_threshold_the_report_has_two_agreements():
    report, _, _ = run(make_varied_suite(thresholds=()))
    assert list(report.queries[0].variants[0].agreements) == ["RBO", "overlap@2"]


def test_a_selected_query_takes_its_variants_along():
    report, sent, search = run(queries=("shoes",))
    assert sent == ["shoes", "shoes~1", "schuhe"]
    brands = [request.body["post_filter"]["term"]["brand"] for request in search.requests]
    assert brands == ["shoes", "shoes", "schuhe"]
    assert [found.id for found in report.queries] == ["shoes"]
    assert [variant.hits for variant in report.queries[0].variants] == [2, 2]
    assert run(tags=("de",))[1] == ["schuhe"]


def test_a_variant_without_an_answer_is_an_error_of_its_threshold():
    report, _, _ = run(rankings={**RANKINGS, "shoes~1": Failure(FailureKind.TIMEOUT, "too slow")})
    [verdict] = report.verdicts
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("shoes",))
    variant = report.queries[0].variants[0]
    assert (variant.hits, variant.reason) == (None, "timeout: too slow")


def test_a_rerun_sends_neither_queries_nor_variants_that_have_a_ranking():
    suite, search = make_varied_suite(), FakeSearch({"shoes": ["a"], "schuhe": ["a"]})
    options = RunOptions(today=DAY)
    first = finish(suite, search, options)
    assert first.report.verdicts[0].status is Status.ERROR
    assert set(first.run.responses) == {"shoes", "schuhe"}
    cell = cell_of(suite, options)
    incomplete = make_rerun(cell, first)
    assert incomplete is not None
    assert incomplete.whole_run is None
    whole = finish(suite, FakeSearch(RANKINGS), options)
    rerun = make_rerun(cell, whole)
    assert rerun is not None
    assert rerun.whole_run is not None
    assert set(rerun.whole_run.responses) == {"shoes", "schuhe", "shoes~1"}


def test_repeats_have_variants_of_their_own():
    finished = finish(make_varied_suite(), FakeSearch(RANKINGS), RunOptions(today=DAY, repeat=2))
    [repeat] = finished.run.repeats
    assert set(repeat.responses) == {"shoes", "schuhe"}
    assert set(repeat.variants) == {"shoes~1", "schuhe"}


@pytest.mark.parametrize(("shard", "searches"), [(None, 3), (Shard(1, 2), 3), (Shard(2, 2), 1)])
def test_a_part_of_the_queries_has_the_variants_of_these(shard, searches):
    selection = select(make_varied_suite(), QueryFilter(), DAY)
    options = replace(cell_of(make_varied_suite(), RunOptions(today=DAY)).options, shard=shard)
    header = make_header(selection, options, {}, "default", Masker({}))
    assert header.own_searches == searches


def test_other_variants_are_another_run():
    def fingerprint(suite):
        options = cell_of(suite, RunOptions(today=DAY)).options
        return make_header(select(suite, QueryFilter(), DAY), options, {}, "default", Masker({})).parts["queries"]

    other = replace(SHOES, variants=(Variant("shoes~1", "shooos"), SHOES.variants[1]))
    assert fingerprint(make_varied_suite()) != fingerprint(make_varied_suite(other, SCHUHE))


def test_the_judgments_of_a_query_are_not_those_of_its_variants_requests():
    searched = add_variant_queries(make_varied_suite(), make_varied_suite())
    assert [(found.id, dict(found.judgments), found.params["brand"]) for found in searched.queries] == [
        ("shoes", {"a": 1}, "shoes"),
        ("schuhe", {"a": 1}, "schuhe"),
        ("shoes~1", {}, "shoes"),
    ]
    assert remove_variants(make_varied_suite()).queries[0].variants == ()


def test_reports_list_the_variants_that_agree_least_first():
    report, _, _ = run(rankings={**RANKINGS, "shoes~1": []})
    whole = Report(ReportTiming("2026-06-01T00:00:00+00:00"), "1", (report,), 0)
    text = render_markdown(whole)
    rows = [line for line in text.splitlines() if "shoos" in line or "text of schuhe" in line]
    assert rows[0].split("|")[2:7] == [" shoos ", "  ", " **0** ", " 0.0000 ", " 1.0000 "]
    page = render_html(whole)
    assert page.index("<h3>Variants</h3>") < page.index('<td data-label="text">shoos</td>')
    written = json.loads(dumps_report(whole))
    assert [variant["id"] for variant in written["suites"][0]["queries"][0]["variants"]] == ["shoes~1", "schuhe"]
    assert loads_report(dumps_report(whole)).suites[0].queries == report.queries
