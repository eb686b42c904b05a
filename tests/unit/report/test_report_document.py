"""The document of a report: one order for all outputs, and what needs attention."""

from dataclasses import replace

import pytest

from builders.comparisons import comparison_report
from builders.html import Page
from builders.reports import plain_report, report_of
from harness.model import Outcome, QueryReport, Status, TagSummary, Verdict
from harness.report import html, markdown
from harness.report.attention import find_attention, is_hardly_judged, needs_attention, order_verdicts
from harness.report.comparison_document import build_comparison_document
from harness.report.document import Difference, Facts, Notes, Table, Thresholds, join_spans
from harness.report.run_document import build_run_document, build_suite_section


@pytest.fixture
def tagged(suite):
    tag = TagSummary("head", 1, 0.25, suite.summaries)
    return replace(suite, tags=(tag, TagSummary(None, 3, 0.75, suite.summaries)))


def test_a_suite_has_facts_thresholds_tables_and_notes_in_this_order(tagged):
    kinds = [type(block) for block in build_suite_section(tagged, "products").blocks()]
    assert kinds == [Facts, Thresholds, Table, Table, Notes]


def test_what_is_empty_is_left_out(suite):
    bare = replace(suite, verdicts=(), summaries=(), queries=(), hits=0, judged_hits=0, notes=())
    assert [type(block) for block in build_suite_section(bare, "products").blocks()] == [Facts]


def test_every_output_has_the_order_of_the_document(tagged):
    report = report_of(tagged)
    for text in (plain_report(report), markdown.render(report), Page(html.render(report)).text):
        marks = ("hits requested", "too low", "greatest", "no tag", "1 query with outcome zero hits")
        places = [text.index(mark) for mark in marks]
        assert places == sorted(places)


def test_a_comparison_has_its_thresholds_before_its_figures():
    document = build_comparison_document(comparison_report(), most=1)
    kinds = [type(block) for block in document.blocks()]
    assert kinds == [Facts, Thresholds, Notes, Table, Notes, Facts, Notes]
    assert (len(document.queries), Difference in kinds) == (1, False)


def test_facts_are_told_by_name(suite):
    facts = {fact.name: join_spans(fact.text) for fact in build_suite_section(suite, "products").facts.facts}
    assert facts["engine"] == "opensearch 3.8.0 at default, index products"
    assert facts["request"] == "current, 10 hits requested"


def test_a_run_that_only_reports_decides_nothing(suite):
    assert build_run_document(report_of(suite)).is_decided
    only = replace(suite, report_only=True)
    assert not build_run_document(report_of(only)).is_decided


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
    assert ([query.id for query in attention.queries], attention.more_queries) == (["q2"], 0)


def test_a_run_that_only_reports_shows_its_answered_queries_if_they_are_few(suite):
    queries = tuple(QueryReport(f"q{number}", "", Outcome.SCORED) for number in range(11))
    few, many = (replace(suite, report_only=True, verdicts=(), queries=queries[:size]) for size in (10, 11))
    assert len(find_attention(few).queries) == 10
    assert find_attention(many).queries == ()


def test_half_of_the_hits_is_enough():
    assert [is_hardly_judged(0, 0), is_hardly_judged(10, 5), is_hardly_judged(10, 4)] == [False, False, True]


def test_few_judged_hits_are_a_warning_above_the_figures_and_many_a_remark(suite):
    few = build_suite_section(replace(suite, hits=20, judged_hits=9), "products")
    assert [span.text[:21] for span in few.warnings.lines] == ["only 9 of 20 hits are"]
    many = build_suite_section(replace(suite, hits=20, judged_hits=10), "products")
    assert (many.warnings.lines, many.remarks.lines[0].text) == ((), "10 of 20 hits are judged (50.0%)")
