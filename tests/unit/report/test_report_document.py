"""The document of a report: one order for all outputs, and what needs attention."""

import re
from dataclasses import replace

import pytest

from builders.extension_cases import needs_extension
from builders.html import Page
from builders.reports import plain_report, report_of
from harness.model.report import BaselineSummary, QueryBaseline, QueryReport, TagSummary
from harness.model.run import Status, Unit, Verdict
from harness.model.scores import Outcome
from harness.report import markdown
from harness.report.attention import find_attention, is_hardly_judged, needs_attention, order_blamed, order_verdicts
from harness.report.document import Facts, Notes, Queries, Table, Thresholds, join_spans
from harness.report.html import run as html
from harness.report.run_document import (
    build_facts,
    build_notes,
    build_queries,
    build_suite_section,
    build_warnings,
    has_decisions,
)
from harness.report.run_sentences import suggest_command


@pytest.fixture
def tagged(suite):
    tag = TagSummary("head", 1, 0.25, suite.summaries)
    return replace(suite, tags=(tag, TagSummary(None, 3, 0.75, suite.summaries)))


def test_a_suite_has_facts_thresholds_tables_and_notes_in_this_order(tagged):
    kinds = [type(block) for block in build_suite_section(tagged, "products").blocks]
    assert kinds == [Facts, Thresholds, Table, Table, Notes, Queries]


def test_what_is_empty_is_left_out(suite):
    bare = replace(suite, verdicts=(), summaries=(), queries=(), hits=0, judged_hits=0, notes=())
    assert [type(block) for block in build_suite_section(bare, "products").blocks] == [Facts]


def test_every_output_has_the_order_of_the_document(tagged):
    report = report_of(tagged)
    marks = ("hits requested", "too low", "greatest", "no tag", "1 query with outcome zero hits")
    for text in (plain_report(report), markdown.render(report)):
        places = [text.index(mark) for mark in marks]
        assert places == sorted(places)


def test_a_page_begins_with_what_broke_and_why(tagged):
    text = Page(html.render(report_of(tagged))).text
    marks = ("too low", "1 query with outcome zero hits", "greatest", "no tag", "hits requested")
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


def test_facts_are_told_by_name(suite):
    facts = {fact.name: join_spans(fact.text) for fact in build_facts(suite).facts}
    assert facts["engine"] == "opensearch 3.8.0 at default, index products"
    assert facts["request"] == "current, 10 hits requested"


def test_a_run_that_only_reports_decides_nothing(suite):
    assert has_decisions(report_of(suite))
    only = replace(suite, report_only=True)
    assert not has_decisions(report_of(only))


# What needs attention.


def verdict(status, *blamed, query=None, observed=None, number=0):
    return Verdict(f"v{number}", f"threshold {number}", status, "because", observed, query=query, blamed=blamed)


def test_the_worst_come_first_and_passed_ones_of_queries_last():
    verdicts = [verdict(status) for status in Status]
    of_query = verdict(Status.PASSED, query="q")
    statuses = [one.status for one in order_verdicts([of_query, *verdicts])]
    assert statuses[:3] == [Status.ERROR, Status.INCONCLUSIVE, Status.FAILED]
    assert statuses[-2:] == [Status.SKIPPED, Status.PASSED]


@pytest.mark.parametrize(
    ("found", "unanswered", "attention"),
    [
        (verdict(Status.PASSED, "a"), (), False),
        (verdict(Status.WARNED), (), True),
        (verdict(Status.XPASSED), (), True),
        (verdict(Status.NOT_DECIDED), (), False),
        (verdict(Status.NOT_DECIDED, "a"), (), True),
        (verdict(Status.ERROR, "a", "b"), ("a",), True),
        (verdict(Status.ERROR, "a"), ("a", "b"), False),
        (verdict(Status.FAILED, "a"), ("a",), True),
    ],
)
def test_a_verdict_that_only_repeats_that_a_query_has_no_answer_needs_none(found, unanswered, attention):
    assert needs_attention(found, unanswered) is attention


def test_queries_that_are_not_in_the_report_are_not_shown_and_not_counted(suite):
    blaming = replace(suite, verdicts=(verdict(Status.FAILED, "elsewhere", "q2"),))
    attention = find_attention(blaming)
    assert ([query.id for query in attention.queries], attention.more_queries) == (["q2"], ())


NDCG = "nDCG@10"


def make_query(query_id, now, before, *, weight=1.0):
    baseline = None if before is None else QueryBaseline({NDCG: before})
    return QueryReport(query_id, "", Outcome.SCORED, scores={NDCG: now}, weight=weight, baseline=baseline)


FALLEN = (
    make_query("always bad", 0.0, 0.0),
    make_query("fell", 0.2, 0.9),
    make_query("fell a little", 0.1, 0.2),
    make_query("rose", 0.3, 0.1),
    make_query("new", 0.25, None),
)
LOWEST_FIRST = ("always bad", "fell a little", "fell", "new", "rose")


def make_suite_with_fall(suite, *verdicts, baseline=True, queries=FALLEN):
    summary = BaselineSummary("2026-01-02", queries=5) if baseline else None
    return replace(suite, queries=queries, verdicts=verdicts, baseline=summary)


def failed_mean(*blamed, number=0, status=Status.FAILED, unit=None):
    return Verdict(f"v{number}", f"mean {number}", status, "because", 0.1, 0.9, NDCG, blamed=blamed, unit=unit)


def test_with_a_baseline_the_queries_that_fell_come_first_and_expected_failures_last(suite):
    mean, expected = failed_mean(*LOWEST_FIRST), verdict(Status.XFAILED, "always bad", query="always bad", number=1)
    fallen = make_suite_with_fall(suite, mean, expected)
    assert order_blamed(fallen, mean) == ["fell", "fell a little", "new", "rose", "always bad"]
    assert [query.id for query in find_attention(fallen).queries] == ["fell", "fell a little", "new"]
    searched = replace(fallen, path="a.yaml", searched={})
    assert suggest_command(searched, mean) == "relevance show a.yaml fell"
    assert suggest_command(replace(searched, baseline=None), mean) == "relevance show a.yaml 'always bad'"


@needs_extension("judging")
@pytest.mark.parametrize(
    ("if_judged", "command"),
    [
        (None, "relevance show a.yaml fell --index shop"),
        ((-0.4, -0.1), "relevance show a.yaml fell --index shop"),
        ((-0.4, 0.0), "relevance judge a.yaml --index shop"),
        ((-0.4, 0.2), "relevance judge a.yaml --index shop"),
    ],
)
def test_a_significant_drop_that_judgments_may_make_none_leads_to_judging(suite, if_judged, command):
    drop = replace(failed_mean("fell", unit=Unit.P_VALUE), if_judged=if_judged)
    searched = replace(make_suite_with_fall(suite, drop), path="a.yaml", searched={"index": "shop"})
    assert suggest_command(searched, drop) == command


@needs_extension("judging")
def test_what_a_run_is_compared_with_is_no_option_of_judging(suite):
    """`relevance judge` has no option --baseline."""
    drop = replace(failed_mean("fell", unit=Unit.P_VALUE), if_judged=(-0.4, 0.0))
    given = {"url": "http://shop", "baseline": "old.json"}
    searched = replace(make_suite_with_fall(suite, drop), path="a.yaml", searched=given)
    assert suggest_command(searched, drop) == "relevance judge a.yaml --url http://shop"


def test_a_weight_counts_in_what_changed_the_mean(suite):
    queries = (make_query("light", 0.1, 0.9), make_query("heavy", 0.5, 0.8, weight=5.0))
    mean = failed_mean("light", "heavy")
    assert order_blamed(make_suite_with_fall(suite, mean, queries=queries), mean) == ["heavy", "light"]


def test_a_threshold_that_failed_before_is_not_shown_above_one_that_fell(suite):
    before, fell = failed_mean("always bad"), failed_mean("fell a little", "fell", number=1)
    attention = find_attention(make_suite_with_fall(suite, before, fell))
    assert [query.id for query in attention.queries] == ["fell", "fell a little", "always bad"]
    worse = failed_mean("always bad", status=Status.INCONCLUSIVE)
    attention = find_attention(make_suite_with_fall(suite, worse, fell))
    assert [query.id for query in attention.queries] == ["always bad", "fell", "fell a little"]


@pytest.mark.parametrize(("baseline", "unit"), [(False, None), (True, Unit.DROP), (True, Unit.QUERIES)])
def test_without_a_baseline_and_where_the_gate_compares_its_order_stays(suite, baseline, unit):
    mean = failed_mean(*LOWEST_FIRST, unit=unit)
    assert order_blamed(make_suite_with_fall(suite, mean, baseline=baseline), mean) == list(LOWEST_FIRST)


def test_the_query_that_fell_most_is_the_first_of_the_html_report(suite):
    mean = failed_mean(*LOWEST_FIRST)
    page = html.render(report_of(make_suite_with_fall(suite, mean)))
    places = [page.index(f'id="{anchor}"') for anchor in re.findall(r'id="([^"]*/fell)"', page)]
    others = [page.index(f'id="{anchor}"') for anchor in re.findall(r'id="([^"]*/(?:always|new|rose)[^"]*)"', page)]
    assert max(places) < min(others)


def test_a_run_that_only_reports_shows_its_answered_queries_if_they_are_few(suite):
    queries = tuple(QueryReport(f"q{number}", "", Outcome.SCORED) for number in range(11))
    few, many = (replace(suite, report_only=True, verdicts=(), queries=queries[:size]) for size in (10, 11))
    assert len(find_attention(few).queries) == 10
    assert find_attention(many).queries == ()


def test_half_of_the_hits_is_enough():
    assert [is_hardly_judged(0, 0), is_hardly_judged(10, 5), is_hardly_judged(10, 4)] == [False, False, True]


def test_few_judged_hits_are_a_warning_above_the_figures_and_many_a_remark(suite):
    few, many = (replace(suite, hits=20, judged_hits=judged) for judged in (9, 10))
    assert [span.text[:21] for span in build_warnings(few).lines] == ["only 9 of 20 hits are"]
    assert build_warnings(many).lines == ()
    assert "10 of 20 hits are judged (50.0%)" in [span.text for span in build_notes(many).lines]


def test_every_column_of_a_table_has_a_heading(tagged):
    tables = [table for query in build_queries(tagged).queries for table in list_tables(query)]
    headings = [[column.heading for column in table.columns] for table in tables]
    assert "ties" in {heading for row in headings for heading in row}
    assert all(heading for row in headings for heading in row)


def list_tables(section):
    return [block for block in section.blocks if isinstance(block, Table)]


def test_a_query_whose_id_is_its_text_is_named_once(suite, red_shoes):
    named = replace(red_shoes, id="jq", text="jq")
    page = Page(html.render(report_of(replace(suite, queries=(named,), verdicts=()))))
    texts = " ".join(" ".join(page.texts).split())
    assert "jq jq" not in texts
    assert "jq" in texts
    two = Page(html.render(report_of(replace(suite, queries=(replace(named, text="a tool"),), verdicts=()))))
    assert "a tool" in " ".join(two.texts)
