import re
from dataclasses import replace

import pytest

from builders.html import Page
from builders.reports import HOSTILE, numbered_query, report_of
from harness.model.report import MissingDocument, QueryReport, RankedDocument, TagSummary
from harness.model.run import Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Waiver
from harness.model.timing import ReportTiming
from harness.report.html.charts import choose_shade
from harness.report.html.run import Limits, render


def test_the_page_is_well_formed_and_says_what_matters(report):
    text = Page(render(report)).text
    assert "2 thresholds of 5 did not hold" in text
    for fact in ("opensearch 3.8.0", "standard", "exponential", "current, 10 hits requested", "2 more not selected"):
        assert fact in text
    assert "The mapping may not be read." in text
    assert "1 failed, 1 error, 1 expected failure" in text
    assert "line 14" in text
    assert "Waived: waits for synonyms" in text


def test_a_waiver_that_the_reason_tells_is_not_told_again(report, suite):
    told = replace(suite.verdicts[3], reason="sku-77 is at rank 37; expected to fail: waits for synonyms")
    text = Page(render(replace(report, suites=(replace(suite, verdicts=(told,)),)))).text
    row = text.split("Why")[1].split("Measures")[0]
    assert row.count("waits for synonyms") == 1
    assert "Waived" not in row


@pytest.fixture
def unexpected(report, suite):
    reason = "2 documents match; passed, though expected to fail: waits for synonyms; remove the xfail"
    verdict = Verdict("q", "hits >= 1", Status.XPASSED, reason, 2, 1, query="q4", waiver=Waiver("waits for synonyms"))
    held = Verdict("p5", "median P@5 >= 0.1", Status.PASSED, "It holds.", 0.2, 0.1, "P@5", counted=3)
    answered = tuple(query for query in suite.queries if not query.outcome.is_unanswered)
    return replace(report, suites=(replace(suite, verdicts=(held, verdict), queries=answered),), exit_status=0)


def test_an_unexpected_pass_holds_and_is_told_once(unexpected):
    page = Page(render(unexpected))
    assert "2 thresholds, all hold" in page.text
    assert "did not hold" not in page.text
    assert page.text.split("Why")[1].split("Measures")[0].count("waits for synonyms") == 1
    assert (
        page.text.split("Rankings")[0].count("unexpected pass") == 3
    )  # the count above, the one of the suite, its row
    heading = page.text.split("products")[1][:40]
    assert "passed" in heading


def test_expected_failures_are_told_in_the_heading(report, suite):
    kept = tuple(verdict for verdict in suite.verdicts if verdict.status in (Status.PASSED, Status.XFAILED))
    text = Page(render(replace(report, suites=(replace(suite, verdicts=kept),), exit_status=0))).text
    assert "3 thresholds, all hold but 1 expected failure" in text


def test_a_total_that_is_a_lower_bound_is_told_as_one(report, suite):
    query = replace(suite.queries[0], total=2, total_is_lower_bound=True)
    text = Page(render(replace(report, suites=(replace(suite, queries=(query,)),)))).text
    assert "· at least 2 matching ·" in text
    assert "0.4000 at least 2 5" in text


def test_the_remarks_of_the_terminal_are_on_the_page_too(report):
    text = Page(render(report)).text.split("Notes")[1].split("Queries")[0]
    assert "1 query with outcome zero hits: no hits (q2)" in text
    assert "1 query with outcome error: failed shards: 1 of 5 (q3)" in text


@pytest.fixture
def by_tag(report, suite):
    """The suite with figures of its tags; `q2` has none."""
    summary = suite.summaries[0]
    tags = (
        TagSummary("tail", 1, 0.75, (replace(summary, mean=0.3125, counted=1),), ("every",)),
        TagSummary("<head>", 2, 0.25, (replace(summary, mean=0.625, counted=1, weighted=True),)),
        TagSummary(None, 1, 0.1, (replace(summary, mean=None, counted=0),)),
    )
    queries = (replace(suite.queries[0], tags=("<head>",), weight=3.0), *suite.queries[1:])
    return replace(report, suites=(replace(suite, tags=tags, queries=queries),))


def test_each_tag_has_its_figures_and_a_link_to_its_queries(by_tag):
    html = render(by_tag)
    text = Page(html).text.split("Tags", 1)[1].split("Find")[0]
    assert "The mean (weighted) of the queries with each tag." in text
    assert "tail 1 75.0% 0.3125 1 error" in text
    assert "<head> 2 25.0% 0.6250 of 1" in text
    assert "no tag 1 10.0% –" in text
    links = re.findall(r'data-filters="(.*?)" data-tag="(.*?)"', html)
    assert links == [("s1-table", ""), ("s1-table", "1"), ("s1-table", "0"), ("s1-table", "none")]
    assert '<option value="0">&lt;head&gt;</option><option value="1">tail</option>' in html


def test_what_queries_weigh_is_shown_where_it_is_not_the_same_for_all(report, by_tag):
    assert ">Weight</th>" in render(by_tag)
    assert '<td class="number" data-v="3.0">3</td>' in render(by_tag)
    assert ">Weight</th>" not in render(report)
    assert "weighted" not in Page(render(report)).text


def test_without_tags_there_is_no_table_of_them(report, suite):
    plain = replace(suite, queries=tuple(replace(query, tags=()) for query in suite.queries))
    assert "<h3>Tags</h3>" not in render(replace(report, suites=(plain,)))


def test_a_latency_has_its_unit(report, suite):
    verdict = Verdict("p95", "p95 latency <= 20 ms", Status.FAILED, "it is slow", 34.0, 20.0, unit="ms")
    text = Page(render(replace(report, suites=(replace(suite, verdicts=(verdict,)),)))).text
    assert "34 ms 20 ms it is slow" in text


def test_a_missing_document_shows_its_title(report, suite):
    titled = MissingDocument("sku-77", 3, 37, 1000, title="Flame runner")
    query = replace(suite.queries[0], missing=(titled,))
    text = Page(render(replace(report, suites=(replace(suite, queries=(query,)),)))).text
    assert "sku-77 Flame runner , grade 3: at rank 37" in text


def test_the_label_of_a_histogram_is_above_its_mean_line_and_its_bars(report):
    page = Page(render(report))
    label = next(a for a in page.all("text", **{"class": "most"}))
    lines = page.all("line", **{"class": "mean"})
    bars = page.all("rect", **{"class": "bar"})
    assert lines
    assert bars
    assert float(label["y"]) < min(float(line["y1"]) for line in lines)
    assert float(label["y"]) < min(float(bar["y"]) for bar in bars)


def test_a_ranking_stands_beside_its_ideal(report):
    page = Page(render(report))
    text = page.text
    assert "unjudged" in text
    assert "sku-77 , grade 3: at rank 37" in text
    assert "sku-78 , grade 2: not in the first 1,000" in text
    assert "文書-17 走るための赤い靴" not in text
    assert len(page.all("tr", **{"class": "tied"})) == 2
    assert len(page.all("span", **{"class": "absent"})) == 1  # sku-77 is in the ideal and not in the ranking
    assert len(page.all("span", **{"class": "grade unjudged"})) == 1


def test_passed_thresholds_of_single_queries_are_folded_away(report):
    summaries = re.findall(r'<details class="held"><summary>(.*?)</summary>', render(report))
    assert summaries == ["3 other thresholds", "1 threshold of single queries that passed"]


def test_texts_from_outside_never_become_markup(report):
    suite = report.suites[0]
    query = replace(
        suite.queries[0],
        id=HOSTILE,
        text=HOSTILE,
        reason=HOSTILE,
        tags=(HOSTILE,),
        scores={HOSTILE: 0.5},
        ranking=tuple(replace(document, id=HOSTILE, title=HOSTILE) for document in suite.queries[0].ranking),
        ideal=tuple(replace(document, id=HOSTILE, title=HOSTILE) for document in suite.queries[0].ideal),
        missing=(MissingDocument(HOSTILE, 3, title=HOSTILE),),
        duplicates=(HOSTILE,),
    )
    verdict = replace(
        suite.verdicts[0],
        id=HOSTILE,
        threshold=HOSTILE,
        reason=HOSTILE,
        measure=HOSTILE,
        tag=HOSTILE,
        query=HOSTILE,
        blamed=(HOSTILE, "unknown" + HOSTILE),
        mark=replace(suite.verdicts[0].mark, path=HOSTILE),
        waiver=replace(suite.verdicts[3].waiver, reason=HOSTILE),
    )
    bad = replace(
        suite,
        name=HOSTILE,
        path="p" + HOSTILE,
        request=HOSTILE,
        cluster=HOSTILE,
        index=HOSTILE,
        engine=replace(suite.engine, kind=HOSTILE, version=HOSTILE),
        gain=HOSTILE,
        notes=(HOSTILE,),
        summaries=(replace(suite.summaries[0], measure=HOSTILE, gain=HOSTILE),),
        verdicts=(verdict,),
        queries=(query,),
    )
    text = render(replace(report, timing=ReportTiming(HOSTILE), harness=HOSTILE, suites=(bad, bad)))
    page = Page(text)
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert page.all("img") == []
    assert all(not name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert HOSTILE in "".join(page.texts)


def test_without_javascript_everything_is_there_to_be_opened(report):
    page = Page(render(report))
    rankings = [details for details in page.all("details") if "class" not in details]
    assert len(rankings) == len(report.suites[0].queries)
    assert all("hidden" in form for form in page.all("form"))


def test_the_worst_queries_come_first(report):
    rows = [row["data-outcome"] for row in Page(render(report)).all("tr") if "data-outcome" in row]
    assert rows == ["error", "zero hits", "scored", "scored"]


def large(suite, queries):
    ranking = tuple(
        RankedDocument(n, f"document-{n}", 1, 1.0, 2.0, "A title of usual length for a product") for n in range(1, 11)
    )
    scores = {"nDCG@10": 0.5, "P@5": 0.5}
    many = tuple(
        QueryReport(
            f"query-{n:05}", f"the text of query {n}", Outcome.SCORED, "", (), scores, ranking, ranking, total=9
        )
        for n in range(queries)
    )
    verdicts = tuple(
        Verdict(f"v{n}", "hits >= 1", Status.PASSED, "9 documents match", 9, 1, query=query.id)
        for n, query in enumerate(many)
    )
    return replace(suite, queries=many, verdicts=(suite.verdicts[0], *verdicts))


def test_many_queries_make_a_page_that_still_opens(report, suite):
    text = render(replace(report, suites=(large(suite, 700),)))
    page = Page(text)
    assert sum("data-outcome" in row for row in page.all("tr")) == 700
    assert len([details for details in page.all("details") if "class" not in details]) == Limits().details
    assert len(text) < 5_000_000
    assert "This page omits the rankings of 200 queries with better scores than those shown" in page.text
    assert "This page omits 201 thresholds that held" in page.text


def test_rows_after_the_first_stand_in_a_template(report, suite):
    [before, after] = render(replace(report, suites=(large(suite, 7),)), limits=Limits(first_rows=4)).split("<template")
    assert (before.count("<tr data-outcome"), after.count("<tr data-outcome")) == (4, 3)
    assert "only the first 4 of\n7 queries" in before
    assert "<template" not in render(replace(report, suites=(large(suite, 7),)), limits=Limits(first_rows=7))


def test_the_failed_threshold_is_listed_however_many_hold(report, suite):
    many = large(suite, 40)
    late = replace(many, verdicts=(*many.verdicts[1:], many.verdicts[0]))
    text = Page(render(replace(report, suites=(late,)), limits=Limits(thresholds=5))).text
    assert "mean nDCG@10 >= 0.80" in text


def test_thresholds_that_did_not_hold_and_are_left_out_are_told_apart(report, suite):
    failed = tuple(replace(suite.verdicts[0], id=f"f{n}") for n in range(7))
    many = replace(suite, verdicts=(*failed, suite.verdicts[2]))
    text = Page(render(replace(report, suites=(many,)), limits=Limits(thresholds=5))).text
    assert "omits 2 thresholds that did not hold" in text
    assert "omits 1 threshold that held" in text


def test_a_strict_unexpected_pass_that_is_left_out_is_not_told_as_a_threshold_that_did_not_hold(report, suite):
    """The page counted it among those that did not hold, though its value holds."""
    unexpected = replace(suite.verdicts[0], status=Status.FAILED, waiver=Waiver("known"))
    assert unexpected.is_unexpected_pass
    many = replace(suite, verdicts=tuple(replace(unexpected, id=f"f{n}") for n in range(7)))
    text = Page(render(replace(report, suites=(many,)), limits=Limits(thresholds=5))).text
    assert "omits 2 thresholds that passed though expected to fail" in text
    assert "did not hold" not in text[text.index("omits 2 thresholds") :].split(".", 1)[0]


def test_what_is_cut_from_a_query_is_counted(report, suite):
    query = replace(
        suite.queries[0],
        ranking=tuple(RankedDocument(n, f"d{n}") for n in range(1, 31)),
        missing=tuple(MissingDocument(f"m{n}", 1) for n in range(25)),
    )
    text = Page(render(replace(report, suites=(replace(suite, queries=(query,)),)))).text
    assert "and 10 hits more" in text
    assert "and 5 more" in text


@pytest.mark.parametrize(
    ("statuses", "unanswered", "chip"),
    [
        ((Status.PASSED,), False, "passed"),
        ((Status.PASSED,), True, "error"),
        ((Status.FAILED, Status.INCONCLUSIVE), False, "inconclusive"),
        ((Status.FAILED, Status.PASSED), True, "error"),
        ((), True, "error"),
        ((), False, "not decided"),
        ((Status.NOT_DECIDED,), False, "not decided"),
    ],
)
def test_the_status_of_a_suite_is_that_of_the_exit_status(report, suite, statuses, unanswered, chip):
    """A suite whose queries had no answer was `passed` in the page, where no threshold is about them."""
    outcome = Outcome.ERROR if unanswered else Outcome.SCORED
    verdicts = tuple(replace(suite.verdicts[0], status=status) for status in statuses)
    one = replace(suite, verdicts=verdicts, queries=(QueryReport("shoes", "shoes", outcome, "no answer"),))
    found = re.search(r'<h2 id="[^"]*-name">.*<span class="chip [^"]*">([^<]*)</span>', render(report_of(one)))
    assert found is not None
    assert found[1] == chip


def test_of_many_suites_those_that_fail_come_first_and_an_unanswered_query_is_a_reason(report, suite):
    held = replace(suite.verdicts[0], status=Status.PASSED)
    answered = replace(suite.queries[0], outcome=Outcome.SCORED)
    calm = replace(suite, verdicts=(held,), queries=(answered,))
    verdicts = {"warns": Status.WARNED, "fails": Status.FAILED}
    suites = [replace(calm, name=name, verdicts=(replace(held, status=verdicts[name]),)) for name in verdicts]
    unanswered = replace(calm, name="silent", queries=(QueryReport("q", "q", Outcome.ERROR, "no answer"),))
    page = render(replace(report, suites=(calm, *suites, unanswered)))

    rows = page.split('id="first-suites"')[1].split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]
    assert [re.search(r"<a [^>]*>([^<]*)</a>", row)[1] for row in rows] == ["fails", "silent", "warns"]
    assert "1 query without an answer" in rows[1]
    assert "first-suites" not in render(replace(report, suites=(calm, calm)))


def test_a_report_without_queries_or_thresholds_is_a_page(report, suite):
    empty = replace(suite, queries=(), verdicts=(), summaries=())
    text = Page(render(replace(report, suites=(empty,), exit_status=1))).text
    assert "No threshold was decided" in text
    assert Page(render(replace(report, suites=()))).text


@pytest.mark.parametrize(
    ("gain", "shade"),
    [
        (None, "unjudged"),
        (-1, "gain-negative"),
        (0, "gain-0"),
        (1, "gain-1"),
        (3, "gain-2"),
        (5, "gain-3"),
        (7, "gain-4"),
    ],
)
def test_the_shade_tells_the_gain(gain, shade):
    assert choose_shade(RankedDocument(1, "a", None if gain is None else 1, gain), 7.0) == shade


def test_numbers_that_are_not_finite_do_not_break_the_page(report, suite):
    odd = replace(suite.queries[0], scores={"nDCG@10": float("inf"), "P@5": float("nan")})
    summary = replace(suite.summaries[0], mean=float("inf"), greatest=float("inf"))
    text = Page(render(replace(report, suites=(replace(suite, queries=(odd,), summaries=(summary,)),)))).text
    assert "inf" in text


def test_addresses_of_queries_are_of_the_suite_and_the_query_and_of_nothing_else_in_the_report(suite):
    cells = [suite, replace(suite, name="a b/c", path="other.yaml"), replace(suite, path="third.yaml")]
    page = Page(render(report_of(*cells)))
    ids = [details["id"] for details in page.all("details") if "/" in details.get("id", "")]
    assert "products/red-shoes" in ids
    assert "a%20b%2Fc/red-shoes" in ids
    assert "products~2/red-shoes" in ids, "another suite of the same name"
    assert ids[: len(ids) // 3] == [
        details["id"] for details in Page(render(report_of(suite))).all("details") if "/" in details.get("id", "")
    ]


def test_cells_of_a_suite_are_told_apart_by_what_tells_them_apart(suite):
    cells = [replace(suite, request=request, index=index) for request in "ab" for index in ("i", "j:1")]
    ids = {details.get("id") for details in Page(render(report_of(*cells))).all("details")}
    assert {"products:a:i/red-shoes", "products:a:j%3A1/red-shoes", "products:b:i/red-shoes"} <= ids
    requests = [replace(suite, request=request) for request in "ab"]
    assert 'id="products:b/red-shoes"' in render(report_of(*requests))


def test_a_strip_has_a_cell_for_each_rank(report):
    [strip, *_] = [span for span in Page(render(report)).all("span", **{"class": "strip"}) if "unjudged" in str(span)]
    assert strip["aria-label"] == "grades by rank: 0, unjudged, 3, 1, 6 ranks without a hit"


@pytest.mark.parametrize(("scores", "steps"), [((0.0, 0.5, 1.0), [0, 2, 4]), ((0.0, 3.0, 7.0), [])])
def test_only_scores_from_0_to_1_have_colours(report, suite, scores, steps):
    queries = [replace(suite.queries[3], id=str(score), scores={"nDCG@10": score}) for score in scores]
    one = replace(suite, queries=tuple(queries), summaries=suite.summaries[:1], verdicts=())
    assert re.findall(r'class="number score-(\d)"', render(replace(report, suites=(one,)))) == list(map(str, steps))


def test_a_page_of_many_queries_is_hardly_larger_than_its_rows(report, suite):
    many = [numbered_query(number, number / 3000) for number in range(3000)]
    few, all_of_them = (
        len(render(replace(report, suites=(replace(suite, queries=tuple(part), verdicts=()),)), limits=SMALL))
        for part in (many[:200], many)
    )
    assert all_of_them < few * 1.05
    wider = replace(SMALL, rows=400)
    row = (len(render(replace(report, suites=(replace(suite, queries=tuple(many)),)), limits=wider)) - few) / 200
    assert row < 1000, "bytes"


SMALL = Limits(rows=200, details=5)
