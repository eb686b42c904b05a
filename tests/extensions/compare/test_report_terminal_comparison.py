"""A comparison on a terminal and in a log."""

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from builders.odd_texts import commands
from extensions.compare.builders.comparisons import (
    ODD,
    boots,
    comparison,
    comparison_report,
    hostile_report,
    large_report,
    red_shoes,
    row,
    unchanged,
    unjudged_report,
)
from harness.extensions.compare.model import QueryComparison
from harness.extensions.compare.printers import print_comparison_report
from harness.model.comparison import MovedDocument
from harness.report.run_sentences import RANKS_SHOWN
from harness.report.terminal import render_plain


def text_of(report, width=120, **options):
    return render_plain(print_comparison_report(report, **options), width)


def line_of(text, *words):
    [line] = [line for line in text.splitlines() if all(word in line.split() for word in words)]
    return line.split()


def test_both_sides_are_named_with_what_they_came_from():
    text = text_of(comparison_report())
    assert text.startswith("products  candidate against baseline\n")
    assert "reference  baseline: baseline of 2026-11-01, opensearch 3.7.0, index products, request current" in text
    assert "candidate  candidate: request, opensearch 3.8.0, index products, request candidate" in text
    assert "gain       exponential, profile standard" in text
    assert "depth      10 ranks" in text


def test_each_measure_has_its_difference_interval_and_p():
    text = text_of(comparison_report())
    assert line_of(text, "nDCG@10", "1/2/1") == [
        *("nDCG@10", "0.5530", "0.6280", "+0.0750", "-0.1000", "to", "+0.2500", "0.3750", "0.7500", "1/2/1", "4")
    ]
    assert line_of(text, "P@5", "0/4/0")[3] == "0.0000"


def test_agreement_is_told_without_judgments():
    text = text_of(unjudged_report())
    assert "agreement of the rankings over 4 queries and 10 ranks, without judgments" in text
    assert line_of(text, "candidate", "0.8531")[-3:] == ["2", "of", "4"]
    assert "measure" not in text
    assert "exponential" not in text


def test_thresholds_are_listed_and_those_that_do_not_hold_explained():
    text = text_of(comparison_report())
    assert line_of(text, "passed", "RBO")[-1] == "0.8531"
    assert "FAILED  drop every nDCG@10 <= 0.1  suites/products.relevance.yaml:14:5" in text
    assert "  boots fell by 0.2, at most 0.1 is allowed" in text
    assert "and 1 threshold of single queries passed" in text


def test_two_rankings_stand_beside_each_other_with_what_changed():
    text = text_of(comparison_report()).split("query red-shoes  red running shoes")[1].split("\nquery ")[0]
    rows = {line.split()[0]: line.split() for line in text.splitlines()[2:] if line.strip()}
    assert rows["1"][1] == "sku-4"
    assert rows["1"][-7:] == ["up", "2", "sku-17", "Red", "running", "shoes", "3"]
    assert rows["2"] == ["2", "sku-2", "Red", "socks", "1", "left", "down", "1", "sku-4", *rows["2"][9:]]
    assert rows["3"][-4:] == ["entered", "文書-22", "走るための赤い靴", "unjudged"]
    assert rows["4"] == ["4", "sku-8", "1", "tied", "sku-9", "unjudged"]
    assert rows["6"] == ["6", "sku-6", "2", "sku-6", "2"]
    assert rows["7"] == ["7", "sku-3", "-1", "left"]


def test_a_narrow_terminal_has_a_line_a_document():
    text = text_of(comparison_report(), width=60)
    query = text.split("query red-shoes")[1]
    query = query.split("\nquery ")[0]
    assert line_of(query, "sku-17") == ["3", "1", "up", "2", "sku-17", "Red", "running", "shoes", "3"]
    assert line_of(query, "sku-2") == ["2", "–", "left", "sku-2", "Red", "socks", "1"]
    assert line_of(query, "文書-22")[:3] == ["–", "3", "entered"]
    assert "    interval       -0.1000 to +0.2500\n" in text


@pytest.mark.parametrize("width", [30, 40, 60, 79, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_cut(width):
    text = text_of(comparison_report(), width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert "-0.1000 to +0.2500" in " ".join(text.split())
    assert "…" not in text.split("agreement")[0]


def test_a_query_that_a_threshold_blames_comes_first_and_says_so():
    text = text_of(comparison_report())
    assert text.index("query boots") < text.index("query red-shoes")
    assert "concerns drop every nDCG@10 <= 0.1" in text.split("query boots")[1].split("query red-shoes")[0]


def test_as_many_queries_are_shown_as_asked_for():
    report = comparison_report()
    assert "query ties" in text_of(report)
    short = text_of(report, most=1)
    assert "query red-shoes" not in short
    assert "2 more queries moved; `relevance compare --output html=FILE` shows them." in short
    assert "query hat" not in text_of(report, most=99)


def test_quiet_leaves_what_does_not_hold_and_the_last_line():
    first, last = text_of(comparison_report(), width=300, quiet=True).splitlines()
    assert first == "products: FAILED drop every nDCG@10 <= 0.1: boots fell by 0.2, at most 0.1 is allowed"
    assert last.startswith("5 queries: ")


def test_queries_without_an_answer_and_notes_are_told():
    text = text_of(comparison_report())
    assert "candidate: no ranking for 1 query (gloves): failed shards: 1 of 5" in text
    assert "only in baseline: 1 query (socks)" in text
    assert "the judgments changed since the baseline: 2 queries" in text


def test_long_rankings_are_cut_and_counted():
    documents = tuple(MovedDocument(f"d{rank}", rank, rank % 30 + 1) for rank in range(1, 31))
    query = QueryComparison("long", "", (), {}, documents, moved=30, rbo=0.5)
    for width in (60, 120):
        text = text_of(unjudged_report(queries=(query,)), width=width)
        assert "and 20 ranks more" in text
        assert f"d{RANKS_SHOWN + 2} " not in text


def test_a_side_without_hits_still_shows_the_other():
    entered = (MovedDocument("d1", None, 1, 3, 7.0),)
    left = (MovedDocument("d2", 1, None),)
    queries = (
        QueryComparison("now", "", (), {}, entered, entered=1, rbo=0.0),
        QueryComparison("gone", "", (), {}, left, left=1, rbo=0.0),
    )
    text = text_of(unjudged_report(queries=queries))
    assert line_of(text, "d1") == ["1", "entered", "d1", "3"]
    assert line_of(text, "d2") == ["1", "d2", "unjudged", "left"]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("width", [40, 120])
def test_odd_texts_are_shown_and_not_obeyed(odd, width):
    for quiet in (False, True):
        text = text_of(hostile_report(odd), width=width, quiet=quiet)
        assert commands(text) == set()
        assert "\u202e" not in text
        assert max(map(cell_len, text.splitlines())) <= width


def test_an_id_is_never_cut():
    identity = "x" * 90
    query = replace(red_shoes(), documents=(MovedDocument(identity, 2, 1), MovedDocument("a", 1, 2)))
    for width in (60, 100):
        text = text_of(unjudged_report(queries=(query,)), width=width)
        assert text.split("query red-shoes")[1].count("x") == 90 * (2 if width == 100 else 1)


def test_colours_are_the_console_s_to_print():
    stream = io.StringIO()
    console = Console(file=stream, color_system="standard", force_terminal=True, width=120)
    found = comparison(row(adjusted=0.01, p_value=0.005))
    for renderable in print_comparison_report(comparison_report(measures=found)):
        console.print(renderable)
    assert "\x1b[1;32m+0.0750" in stream.getvalue()
    assert "\x1b[31mtin" not in stream.getvalue()


@pytest.mark.parametrize(
    "report",
    [
        comparison_report(queries=(), measures=None, agreement=None, verdicts=()),
        comparison_report(queries=(unchanged(),)),
        unjudged_report(queries=(boots(),)),
    ],
)
def test_a_report_of_little_is_told_too(report):
    assert text_of(report).splitlines()[-1].startswith(("0 queries", "1 query"))


def test_thousands_of_queries_show_the_first_few():
    text = text_of(large_report(5_000))
    assert "4,995 more queries moved" in text
    assert text.count("\nquery ") == 5
