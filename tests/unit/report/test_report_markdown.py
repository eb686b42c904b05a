"""A report as a job summary: what stands in it, in which order, and what is left out where there is too much."""

import pytest

pytest.importorskip("cmarkgfm")

from dataclasses import replace

from builders.markdown import Page
from builders.reports import report_of
from harness.model.report import BaselineSummary, MeasureSummary, QueryReport, RankedDocument, Report, TagSummary
from harness.model.run import Status
from harness.model.scores import Outcome
from harness.model.suite import Waiver
from harness.report.markdown import THRESHOLDS_SHOWN, render, render_refusal
from harness.report.markdown.escape import LARGEST_SUMMARY, NOTES_SHOWN


def verdict_cells(page: Page) -> list[str]:
    start = next(place for place, row in enumerate(page.rows) if row[0] == "verdict") + 1
    return [row[1] for row in page.rows[start:] if len(row) == 5]


def only(report: Report, *statuses: Status, exit_status: int = 0) -> Report:
    suite = report.suites[0]
    verdicts = tuple(
        replace(suite.verdicts[0], id=f"v{place}", threshold=f"threshold {place}", status=status)
        for place, status in enumerate(statuses)
    )
    return replace(report, suites=(replace(suite, verdicts=verdicts),), exit_status=exit_status)


def test_the_verdict_is_in_the_first_line(report):
    assert render(report).splitlines()[0] == "## ❌ 2 thresholds of 5 did not hold"
    assert render(only(report, Status.PASSED)).splitlines()[0] == "## ✅ 1 threshold, all hold"
    assert render(only(report)).splitlines()[0] == "## ⚠️ No threshold was decided"
    assert render(only(report, Status.PASSED, exit_status=3)).splitlines()[0] == "## ❌ 1 query had no answer"


def test_thresholds_that_do_not_hold_come_first(report):
    statuses = [
        Status.PASSED,
        Status.SKIPPED,
        Status.XFAILED,
        Status.XPASSED,
        Status.WARNED,
        Status.FAILED,
        Status.ERROR,
    ]
    page = Page(render(only(report, *statuses, exit_status=3)))
    assert verdict_cells(page) == [f"threshold {place}" for place in (6, 5, 4, 3, 2, 0, 1)]


def test_a_threshold_is_told_with_figures_reason_and_line(report):
    row = Page(render(report)).row("FAILED")
    assert row[1:4] == ["mean nDCG@10 >= 0.80", "0.4707", "0.8"]
    reason = "The mean over 3 queries is too low.; 3 queries counted, 1 left out"
    assert row[4] == f"{reason} suites/products.relevance.yaml:14:5"


def test_a_waiver_that_the_reason_does_not_tell_is_told(report):
    suite = report.suites[0]
    waived = replace(suite.verdicts[1], waiver=Waiver("waits for synonyms"))
    page = Page(render(report_of(replace(suite, verdicts=(waived,)))))
    assert "waived: waits for synonyms" in page.row("ERROR")[4]


def test_passed_thresholds_of_single_queries_are_counted(report):
    text = Page(render(report)).text
    assert "1 threshold of single queries passed" in text
    assert "hits >= 1" not in text


def test_means_are_told_with_their_gain(report):
    page = Page(render(report))
    assert page.row("nDCG@10") == ["nDCG@10", "0.4707", "0.4121", "0.0000", "1.0000", "3", "1", "exponential"]
    assert page.row("P@5")[-1] == "linear"


def test_the_figures_of_tags_are_told(suite):
    def means(first: float, second: float | None) -> tuple[MeasureSummary, ...]:
        return (
            MeasureSummary("nDCG@10", "", first, first, first, first, 1, 0),
            MeasureSummary("P@5", "", second, second, second, second, 0, 1),
        )

    tags = (TagSummary("he|ad", 1, 0.25, means(0.4, 0.2), ("p5",)), TagSummary(None, 3, 0.75, means(0.5, None)))
    page = Page(render(report_of(replace(suite, tags=tags))))
    assert page.row("mean by tag") == ["mean by tag", "queries", "nDCG@10", "P@5", "thresholds"]
    assert page.row("he|ad") == ["he|ad", "1", "0.4000", "0.2000", "1 passed"]
    assert page.row("no tag") == ["no tag", "3", "0.5000 of 1", "–", ""]


def test_the_baseline_is_named(suite):
    compared = replace(suite, baseline=BaselineSummary("2026-11-20"))
    assert "compared with the baseline of 2026-11-20" in Page(render(report_of(compared))).text
    assert "held against" not in render(report_of(suite))


def test_the_worst_queries_are_folded_with_their_rankings(report):
    text = render(report)
    folded = text.split("<details>")[1:]
    assert ["q2" in folded[0], "red-shoes" in folded[1], len(folded)] == [True, True, 2]
    page = Page(text)
    assert page.row("1") == ["1", "sku-4", "0", "0", "12.25", "", "Red [bold]paint[/bold] \\x1b[31mtin"]
    assert page.row("2")[2:6] == ["unjudged", "–", "11", "tied"]
    assert page.row("sku-77") == ["sku-77", "3", "at rank 37"]
    assert "concerns mean nDCG@10 >= 0.80" in page.text
    assert "script" not in page.elements


def test_outcomes_and_notes_are_told(report):
    text = Page(render(report)).text
    assert "1 query with outcome zero hits: no hits (q2)" in text
    assert "1 query with outcome error: failed shards: 1 of 5 (q3)" in text
    assert "The mapping may not be read." in text


def test_long_lists_are_cut_and_counted(report):
    many = only(report, *[Status.FAILED] * (THRESHOLDS_SHOWN + 5), exit_status=1)
    suite = replace(many.suites[0], notes=tuple(f"note {place}." for place in range(NOTES_SHOWN + 5)))
    page = Page(render(replace(many, suites=(suite,))))
    assert len(verdict_cells(page)) == THRESHOLDS_SHOWN
    assert "and 5 more thresholds" in page.text
    notes = [piece for piece in page.pieces if piece.startswith("note ")]
    assert len(notes) == NOTES_SHOWN - 2, "two lines are on outcomes"
    assert "and 7 more notes" in page.text


def large(suite, name: str, status: Status):
    """A suite whose queries have titles that fill a summary."""
    document = RankedDocument(1, "d" * 400, 0, 0.0, 1.0, "t" * 400)
    queries = tuple(
        QueryReport(f"q{place}", "&" * 900, Outcome.SCORED, ranking=(document,) * 10) for place in range(10)
    )
    verdict = replace(suite.verdicts[0], status=status, blamed=tuple(query.id for query in queries))
    verdicts = tuple(replace(verdict, id=query.id, blamed=(query.id,)) for query in queries)
    return replace(suite, name=name, queries=queries, verdicts=verdicts, notes=())


def test_it_never_is_larger_than_github_takes_and_says_what_it_leaves_out(suite):
    suites = [large(suite, f"suite-{place}", Status.FAILED) for place in range(60)]
    text = render(report_of(*suites, exit_status=1))
    size = len(text.encode())
    assert LARGEST_SUMMARY * 0.98 < size <= LARGEST_SUMMARY
    assert all(f"### suite-{place}\n" in text for place in range(60)), "what holds and what does not comes first"
    last = text.strip().splitlines()[-1]
    shown = text.count("<details>")
    assert last == f"Omitted because of the size limit: {600 - shown} queries. See the HTML or JSON report."
    Page(text)


def test_where_there_is_room_for_little_suites_that_hold_go_first(suite):
    suites = [large(suite, "calm", Status.PASSED), large(suite, "bad", Status.FAILED)]
    whole = len(render(report_of(*suites, exit_status=1)).encode())
    sizes = range(1000, whole, 1300)
    texts = [render(report_of(*suites, exit_status=1), limit=limit) for limit in sizes]
    assert all(len(text.encode()) <= limit for text, limit in zip(texts, sizes, strict=True))
    kept = [["### calm" in text, "### bad" in text] for text in texts]
    assert kept[0] == [False, False]
    assert [False, True] in kept
    assert kept[-1] == [True, True]
    assert [True, False] not in kept
    assert "Omitted because of the size limit: 2 suites and 10 queries." in texts[0]


@pytest.mark.parametrize("name", ["a|b", "a`b", "<b>", "@somebody", "#123", "a\nb"])
def test_names_of_others_are_text_wherever_they_stand(report, name):
    suite = report.suites[0]
    query = replace(suite.queries[0], id=name, text=name, ranking=(RankedDocument(1, name, title=name),), missing=())
    verdict = replace(suite.verdicts[0], threshold=name, reason=name, blamed=(name,))
    hostile = replace(suite, name=name, request=name, index=name, queries=(query,), verdicts=(verdict,), notes=(name,))
    page = Page(render(report_of(hostile)))
    shown = name.replace("\n", "\\n")
    assert page.row("FAILED")[1] == shown
    assert page.row("1")[1::4] == [shown, shown]
    assert not {"b", "a", "br"} & set(page.elements)


def test_a_refusal_stands_as_it_would_on_a_terminal():
    text = "shop.relevance.yaml:3:1: found '|', expected <b>\n    3 | ```\n      | ^\n@somebody"
    page = Page(render_refusal(text))
    assert page.text == f"❌ Nothing was decided\n{text}\n\n"
    assert page.elements == ["h2", "pre", "code"]
