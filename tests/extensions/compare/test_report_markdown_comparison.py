"""A comparison as Markdown, read by GitHub's own parser."""

import pytest

pytest.importorskip("cmarkgfm")

import re
from dataclasses import replace

from builders.markdown import Page
from builders.reports import HOSTILE
from extensions.compare.builders.comparisons import (
    ODD,
    boots,
    comparison,
    comparison_report,
    hostile_report,
    large_report,
    row,
    unchanged,
    unjudged_report,
)
from harness.extensions.compare.model import QueryComparison
from harness.extensions.compare.printers import QUERIES_IN_MARKDOWN as MOST
from harness.extensions.compare.printers import render_markdown as render
from harness.model.comparison import MovedDocument
from harness.report.markdown.escape import NOTES_SHOWN

OURS = {
    *("h2", "h3", "p", "ul", "li", "code", "strong", "span", "details", "summary", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def test_what_it_comes_to_is_in_the_first_line():
    assert render(comparison_report()).splitlines()[0] == "## ❌ 1 threshold of 3 did not hold"
    held = comparison_report(verdicts=comparison_report().verdicts[1:], exit_status=0)
    assert render(held).splitlines()[0] == "## ✅ 2 thresholds, all hold"
    assert render(unjudged_report()).splitlines()[0] == "## The same ranking for 1 of 4 queries"


def test_both_sides_measures_agreement_and_notes_are_told():
    page = Page(render(comparison_report()))
    assert "products: candidate against baseline" in page.text
    assert "reference baseline: baseline of 2026-11-01, opensearch 3.7.0, index products, request current" in page.text
    assert page.row("nDCG@10")[1:5] == ["0.5530", "0.6280", "+0.0750", "-0.1000 to +0.2500"]
    assert page.row("FAILED")[1:4] == ["drop every nDCG@10 <= 0.1", "0.2000", "0.1"]
    for fact in ("0.8531", "0.9286", "-0.6000 over 3 queries", "agreement of the rankings over 4 queries"):
        assert fact in page.text
    assert "candidate: no ranking for 1 query (gloves): failed shards: 1 of 5" in page.text
    assert "so few queries changed" in page.text


def test_a_change_that_is_told_from_chance_is_bold():
    found = comparison(row(adjusted=0.01))
    assert "| **+0.0750** |" in render(comparison_report(measures=found))
    assert "| **+0.0750** |" not in render(comparison_report())


def test_rankings_stand_beside_each_other():
    page = Page(render(comparison_report(queries=comparison_report().queries[:1])))
    assert page.row("2")[1:] == [
        "sku-2 Red socks",
        "1",
        "left",
        "down 1",
        r"sku-4 Red [bold]paint[/bold] \x1b[31mtin",
        "0",
    ]
    assert page.row("3")[1:] == ["sku-17 Red running shoes", "3", "", "entered", "文書-22 走るための赤い靴", "unjudged"]
    assert page.row("7")[1:] == ["sku-3", "-1", "left", "", "", ""]


def test_as_many_queries_as_asked_for_those_that_are_blamed_first():
    text = render(comparison_report(), most=1)
    assert "query <code>boots</code> winter boots" in text
    assert "query <code>red" not in text
    assert "2 more queries moved;" in text
    assert "concerns <code>drop every" in text


@pytest.mark.parametrize("odd", [*ODD, HOSTILE])
def test_texts_of_others_stay_texts(odd):
    text = render(hostile_report(odd))
    text.encode("utf-8")
    page = Page(text)
    assert set(page.elements) <= OURS
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert {len(row) for row in page.rows} == {5, 7, 9}
    # GitHub links no names in a block of code, which the difference of the requests is.
    outside = Page(re.sub("```diff.*?```", "", text, flags=re.DOTALL))
    assert not any("@someone" in piece or "#12" in piece for piece in outside.pieces)


def test_what_is_too_large_is_left_out_and_counted():
    report = large_report(200)
    whole, cut = render(report, most=100), render(report, most=100, limit=20_000)
    assert len(cut.encode()) <= 20_000 < len(whole.encode())
    assert "more would be shown" not in whole
    shown = cut.count("<details>")
    assert 0 < shown < 100
    assert f"Omitted because of the size limit: {100 - shown} queries." in cut


def test_thousands_of_queries_show_the_first_few():
    text = render(large_report(5_000))
    assert text.count("<details>") == MOST
    assert f"{5_000 - MOST:,} more queries moved" in text


def test_very_many_notes_are_counted():
    notes = tuple(f"note {number}" for number in range(NOTES_SHOWN + 2))
    side = replace(comparison_report().candidate, unanswered={})
    report = comparison_report(notes=notes, candidate=side, only_reference=(), only_candidate=())
    assert "and 2 more notes" in render(report)


def test_long_rankings_are_cut_and_counted():
    documents = tuple(MovedDocument(f"d{rank}", rank, rank % 30 + 1) for rank in range(1, 31))
    text = render(unjudged_report(queries=(QueryComparison("long", "", (), {}, documents, moved=30, rbo=0.5),)))
    assert "and 20 ranks more" in text
    assert "d12<" not in text


@pytest.mark.parametrize(
    "changes",
    [
        {"queries": (), "measures": None, "agreement": None, "verdicts": ()},
        {"queries": (unchanged(),), "measures": None},
        {"queries": (boots(),)},
    ],
)
def test_a_report_of_little_is_told_too(changes):
    page = Page(render(comparison_report(**changes)))
    assert page.elements[0] == "h2"
    assert set(page.elements) <= OURS
