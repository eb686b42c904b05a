"""Whatever a report holds, it can be printed, and what is printed cannot command a terminal or a browser."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from builders.odd_texts import assert_page_is_ours, commands, texts, thorough, verdicts
from builders.reports import plain_report
from harness.model.report import MeasureSummary, MissingDocument, QueryReport, RankedDocument, Report, SuiteReport
from harness.model.run import Engine
from harness.model.scores import Outcome
from harness.model.suite import Profile
from harness.model.timing import QueryTiming, ReportTiming
from harness.report.html.run import render
from harness.report.terminal.run import format_failure

numbers = st.none() | st.floats()
grades = st.none() | st.floats(-5, 5)
documents = st.builds(
    RankedDocument, st.integers(1, 99), texts, grades, grades, numbers, st.none() | texts, st.booleans()
)
missing = st.builds(MissingDocument, texts, st.floats(-5, 5), st.none() | st.integers(1, 9999), st.integers(0, 9999))
queries = st.builds(
    QueryReport,
    texts,
    texts,
    st.sampled_from(Outcome),
    texts,
    st.lists(texts, max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(["nDCG@10", "P@5"]), numbers),
    st.lists(documents, max_size=3).map(tuple),
    st.lists(documents, max_size=3).map(tuple),
    st.lists(missing, max_size=2).map(tuple),
    st.none() | st.integers(0, 10**9),
    timing=st.builds(QueryTiming, st.none() | st.floats(0, 1e6)),
)
summaries = st.builds(
    MeasureSummary, st.just("nDCG@10"), texts, numbers, numbers, numbers, numbers, st.just(1), st.just(0)
)
suites = st.builds(
    SuiteReport,
    texts,
    texts,
    texts,
    texts,
    st.none() | texts,
    st.builds(Engine, texts, texts),
    st.sampled_from(Profile),
    texts,
    st.integers(1, 100),
    st.lists(summaries, max_size=2).map(tuple),
    st.lists(verdicts, max_size=3).map(tuple),
    st.lists(queries, max_size=3).map(tuple),
    notes=st.lists(texts, max_size=2).map(tuple),
)
reports = st.builds(
    Report, st.builds(ReportTiming, texts), texts, st.lists(suites, max_size=2).map(tuple), st.sampled_from([0, 1, 3])
)


@thorough
@given(reports, st.integers(40, 200))
def test_any_report_is_plain_lines_of_the_width_asked_for(report, width):
    text = plain_report(report, width=width)
    assert commands(text) == set()
    assert all(cell_len(line) <= width for line in text.split("\n"))


@thorough
@given(suites)
def test_any_verdict_can_be_explained(suite):
    for verdict in suite.verdicts:
        assert commands(format_failure(suite, verdict)) == set()


@thorough
@given(reports)
def test_any_report_is_a_page_with_one_script_and_one_style(report):
    assert_page_is_ours(render(report))
