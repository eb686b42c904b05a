"""Whatever a comparison holds, it can be printed, and what is printed cannot command a terminal or a browser."""

import pytest

pytest.importorskip("cmarkgfm")

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from builders.markdown import Page as MarkdownPage
from builders.odd_texts import assert_page_is_ours, commands, texts, thorough, verdicts
from harness.extensions.compare.model import (
    ComparisonReport,
    DifferenceRange,
    JudgedHits,
    QueryComparison,
    Side,
    SideComparison,
    SideCoverage,
    SideKind,
)
from harness.extensions.compare.page import render as page_of
from harness.extensions.compare.printers import print_comparison_report
from harness.extensions.compare.printers import render_markdown as markdown_of
from harness.model.comparison import Agreement, Comparison, MeasureComparison, MovedDocument
from harness.model.suite import Profile
from harness.model.timing import ReportTiming
from harness.report.terminal import render_plain

MEASURES = ("nDCG@10", "P@5")
floats = st.floats()
shares = st.floats(0, 1)
counts = st.integers(0, 9)
sides = st.builds(
    Side,
    texts,
    st.sampled_from(SideKind),
    texts,
    st.none() | texts,
    st.none() | texts,
    texts,
    st.dictionaries(texts, texts, max_size=2),
)
rows = st.builds(
    MeasureComparison,
    st.sampled_from(MEASURES) | texts,
    counts,
    *[floats] * 8,
    *[counts] * 3,
    st.none() | floats,
    st.none() | floats,
    st.lists(st.tuples(texts, floats, floats), max_size=2).map(tuple),
)
comparisons = st.builds(
    Comparison,
    texts,
    texts,
    texts,
    texts,
    shares,
    texts,
    st.lists(rows, max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(MEASURES), counts),
    counts,
    counts,
    st.booleans(),
)
agreements = st.builds(
    Agreement, st.integers(1, 99), shares, counts, shares, shares, st.none() | shares, counts, counts, counts, counts
)


@st.composite
def documents(draw):
    """Two rankings of documents of which some are in both."""
    names = draw(st.lists(texts, max_size=4, unique=True))
    before, after = (draw(st.permutations(names)) for _ in range(2))
    absent = {name: draw(st.sampled_from(["", "reference", "candidate"])) for name in names}
    ranked = [
        [name for name in order if absent[name] != which]
        for order, which in ((before, "reference"), (after, "candidate"))
    ]
    ranks = [{name: rank for rank, name in enumerate(order, start=1)} for order in ranked]
    ordered = [*ranked[1], *(name for name in ranked[0] if name not in ranks[1])]
    grades = st.none() | st.floats(-5, 5)
    return tuple(
        MovedDocument(
            name,
            ranks[0].get(name),
            ranks[1].get(name),
            draw(grades),
            draw(grades),
            draw(st.none() | texts),
            draw(st.booleans()),
        )
        for name in ordered
    )


queries = st.builds(
    QueryComparison,
    texts,
    texts,
    st.lists(texts, max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(MEASURES), st.tuples(st.none() | floats, st.none() | floats)),
    documents(),
    counts,
    counts,
    counts,
    st.none() | shares,
    st.none() | shares,
    st.none() | shares,
    st.booleans(),
)
coverages = st.builds(SideCoverage, st.none() | shares, counts, counts, counts)
ranges = st.builds(DifferenceRange, st.sampled_from(MEASURES) | texts, floats, floats)
judged_hits = st.builds(
    JudgedHits, st.integers(1, 99), counts, coverages, coverages, st.lists(ranges, max_size=2).map(tuple), texts, texts
)
PARTS = {
    "reference": sides,
    "candidate": sides,
    "gain": texts,
    "profile": st.sampled_from(Profile),
    "depth": st.integers(1, 99),
    "measures": st.none() | comparisons,
    "agreement": st.none() | agreements,
    "queries": st.lists(queries, max_size=3).map(tuple),
    "verdicts": st.lists(verdicts, max_size=2).map(tuple),
    "notes": st.lists(texts, max_size=2).map(tuple),
    "only_reference": st.lists(texts, max_size=2).map(tuple),
    "only_candidate": st.lists(texts, max_size=2).map(tuple),
    "judged": st.none() | judged_hits,
}
reports = st.builds(
    ComparisonReport,
    **PARTS,
    timing=st.builds(ReportTiming, texts),
    harness=texts,
    suite=texts,
    further=st.lists(st.builds(SideComparison, **PARTS), max_size=1).map(tuple),
    exit_status=st.sampled_from([0, 1, 3]),
)


@thorough
@given(reports, st.integers(40, 200), st.booleans())
def test_any_comparison_is_plain_lines_of_the_width_asked_for(report, width, quiet):
    text = render_plain(print_comparison_report(report, quiet=quiet), width)
    assert commands(text) == set()
    assert all(cell_len(line) <= width for line in text.split("\n"))


@thorough
@given(reports)
def test_any_comparison_is_a_page_with_one_script_and_one_style(report):
    assert_page_is_ours(page_of(report))


@thorough
@given(reports)
def test_any_comparison_is_markdown_without_a_link_or_a_script(report):
    text = markdown_of(report)
    text.encode("utf-8")
    assert commands(text) == set()
    assert not {"a", "script", "img", "style", "pre", "blockquote", "ol"} & set(MarkdownPage(text).elements)
