"""Several sides in one report: what is said of them, and that nothing of an index breaks a form."""

import unicodedata
from dataclasses import replace

import pytest

from extensions.compare.builders.comparisons import (
    NDCG,
    ODD,
    comparison,
    comparison_report,
    hostile_report,
    row,
    sides_report,
)
from harness.extensions.compare.document import build_comparison_table, build_measure_notes, build_strips, make_strips
from harness.extensions.compare.model import QueryComparison
from harness.extensions.compare.outputs import dumps_comparison, loads_comparison, render
from harness.extensions.compare.page import choose_change_shade
from harness.extensions.compare.printers import print_comparison_report, render_markdown
from harness.report.terminal import render_plain


def side(name, **changes):
    report = comparison_report(**changes)
    return replace(report, candidate=replace(report.candidate, name=name))


def query(name, before, after):
    return QueryComparison(name, f"text of {name}", scores={NDCG: (before, after)})


def test_a_strip_has_every_side_and_each_in_turn_gives_its_greatest_change():
    report = sides_report(
        side("b", queries=(query("q", 0.5, 0.6), query("r", 0.5, 0.5), query("s", None, 0.5))),
        side("c", queries=(query("q", 0.5, 0.5 + 1e-12), query("r", 0.5, 0.1))),
    )
    strips = make_strips(report, NDCG)
    assert [strip.id for strip in strips] == ["q", "r", "s"]
    assert [(strip.reference, strip.scores) for strip in strips] == [
        (0.5, (0.6, 0.5 + 1e-12)),
        (0.5, (0.5, 0.1)),
        (None, (0.5, None)),
    ]
    assert [strip.changes for strip in strips] == [(pytest.approx(0.1), 0.0), (0.0, -0.4), (None, None)]
    table = build_strips(report, most=1)
    assert [row[0][0].text for row in table.rows] == ["q"]
    assert table.remarks == ("1 more query changed; `relevance compare --output html=FILE` shows them",)


def test_each_side_has_the_mean_of_the_reference_over_its_queries():
    measures = comparison(row(reference=0.553)), comparison(row(reference=0.61, queries=3))
    report = sides_report(side("b", measures=measures[0]), side("c", measures=measures[1]))
    rows = build_comparison_table(report).rows
    assert [[cell[0].text for cell in row[:3]] for row in rows] == [[NDCG, "b", "0.5530"], [NDCG, "c", "0.6100"]]


def test_each_limit_is_told_once_with_all_that_it_concerns():
    few = comparison(row(least_p=0.25), row("P@5", least_p=0.001, wins=5, losses=3))
    notes = build_measure_notes(sides_report(side("b", measures=few), side("c", measures=few)))
    texts = [span.text for span in notes.lines]
    assert texts[0].startswith(f"{NDCG} of b, {NDCG} of c: so few queries changed that p")
    assert texts[2].startswith("P@5 of b, P@5 of c: fewer than 20 queries changed")


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_stay_on_their_lines(text):
    report = sides_report(replace(hostile_report(text), request_diff=None), side(text, request_diff=None))
    printed = render_plain(print_comparison_report(report, most=9))
    for line in [*printed.splitlines(), *render_markdown(report).splitlines()]:
        assert not [character for character in line if unicodedata.category(character) in ("Cc", "Cf", "Cs")]
    assert "[bold]" in printed or text != "[bold]b[/bold]"


def test_json_is_read_back():
    report = sides_report(side("b"), side("c"))
    assert loads_comparison(dumps_comparison(report)) == report


def test_a_report_too_large_for_markdown_keeps_its_first_lines():
    report = sides_report(side("b"), side("c"))
    text = render_markdown(report, limit=1500)
    assert len(text.encode()) <= 1500
    assert "Omitted because of the size limit" in text


def test_a_kind_without_a_form_is_not_written_as_another():
    with pytest.raises(ValueError, match="'csv'"):
        render(sides_report(side("b"), side("c")), "csv")


def test_the_deepest_shade_is_the_greatest_change_and_none_is_no_shade():
    assert [choose_change_shade(change, 0.4) for change in (0.4, 0.2, 0.001, -0.4, 0.0, None)] == [
        "rise-4", "rise-2", "rise-1", "fall-4", "", "",
    ]  # fmt: skip
