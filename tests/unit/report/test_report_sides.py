"""Several sides in one report: what is said of them, and that nothing of an index breaks a form."""

import unicodedata
from dataclasses import replace

import pytest

from builders.comparisons import NDCG, ODD, comparison, comparison_report, hostile_report, row
from harness.extensions.compare.sides_document import build_sides_document, make_strips
from harness.model.comparison import QueryComparison, SidesReport
from harness.report.html.sides import choose_change_shade
from harness.report.json import dumps_sides, loads_sides
from harness.report.markdown.sides import render as render_markdown
from harness.report.outputs import render_sides
from harness.report.terminal import render_plain
from harness.report.terminal.sides import print_sides_report


def sides_of(*comparisons) -> SidesReport:
    first = comparisons[0]
    return SidesReport(first.timing, first.harness, first.suite, comparisons, max(c.exit_status for c in comparisons))


def side(name, **changes):
    report = comparison_report(**changes)
    return replace(report, candidate=replace(report.candidate, name=name))


def query(name, before, after):
    return QueryComparison(name, f"text of {name}", scores={NDCG: (before, after)})


def test_a_strip_has_every_side_and_the_greatest_change_of_any_is_first():
    report = sides_of(
        side("b", queries=(query("q", 0.5, 0.6), query("r", 0.5, 0.5), query("s", None, 0.5))),
        side("c", queries=(query("q", 0.5, 0.5 + 1e-12), query("r", 0.5, 0.1))),
    )
    strips = make_strips(report, NDCG)
    assert [strip.id for strip in strips] == ["r", "q", "s"]
    assert [(strip.reference, strip.scores) for strip in strips] == [
        (0.5, (0.5, 0.1)),
        (0.5, (0.6, 0.5 + 1e-12)),
        (None, (0.5, None)),
    ]
    assert [strip.changes for strip in strips] == [(0.0, -0.4), (pytest.approx(0.1), 0.0), (None, None)]
    table = build_sides_document(report, most=1).strips
    assert [row[0][0].text for row in table.rows] == ["r"]
    assert table.remarks == ("1 more query changed; `relevance compare --output html=FILE` shows them",)


def test_a_mean_of_the_reference_over_other_queries_is_told():
    measures = comparison(row(reference=0.553)), comparison(row(reference=0.61, queries=3))
    report = sides_of(side("b", measures=measures[0]), side("c", measures=measures[1]))
    notes = [span.text for span in build_sides_document(report, most=5).measure_notes.lines]
    told = [note for note in notes if "over the queries of c the mean of" in note]
    assert len(told) == 1
    assert told[0].startswith(f"{NDCG} of c: ")
    assert told[0].endswith(" is 0.6100")


def test_each_limit_is_told_once_with_all_that_it_concerns():
    few = comparison(row(least_p=0.25), row("P@5", least_p=0.001, wins=5, losses=3))
    notes = build_sides_document(sides_of(side("b", measures=few), side("c", measures=few)), most=5).measure_notes
    texts = [span.text for span in notes.lines]
    assert f"so few queries differ that the test cannot detect a difference: {NDCG} of b, {NDCG} of c" in texts
    assert texts[1].endswith("no confidence interval: P@5 of b, P@5 of c")


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_stay_on_their_lines(text):
    report = sides_of(replace(hostile_report(text), request_diff=None), side(text, request_diff=None))
    printed = render_plain(print_sides_report(report, most=9))
    for line in [*printed.splitlines(), *render_markdown(report).splitlines()]:
        assert not [character for character in line if unicodedata.category(character) in ("Cc", "Cf", "Cs")]
    assert "[bold]" in printed or text != "[bold]b[/bold]"


def test_json_is_read_back():
    report = sides_of(side("b"), side("c"))
    assert loads_sides(dumps_sides(report)) == report


def test_a_report_too_large_for_markdown_keeps_its_first_lines():
    report = sides_of(side("b"), side("c"))
    text = render_markdown(report, limit=1500)
    assert len(text.encode()) <= 1500
    assert "Omitted because of the size limit" in text


def test_a_kind_without_a_form_is_not_written_as_another():
    with pytest.raises(ValueError, match="'csv'"):
        render_sides(sides_of(side("b"), side("c")), "csv")


def test_the_deepest_shade_is_the_greatest_change_and_none_is_no_shade():
    assert [choose_change_shade(change, 0.4) for change in (0.4, 0.2, 0.001, -0.4, 0.0, None)] == [
        "rise-4", "rise-2", "rise-1", "fall-4", "", "",
    ]  # fmt: skip
