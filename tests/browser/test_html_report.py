import json
from dataclasses import replace

import pytest

from builders.cells import cell
from builders.pages import (
    NO_CONTRAST,
    contrasts,
    find_cut_texts,
    find_faint_texts,
    find_high_cells,
    find_violations,
    find_violations_in_each_scheme,
    find_wide_boxes,
    shown,
    unfold,
)
from builders.reports import HOSTILE, measured, numbered_query, products, products_verdicts, report_of
from harness.model.comparison import MovedDocument
from harness.model.kept import TextDiff
from harness.model.report import (
    BaselineSummary,
    DocumentTexts,
    FieldText,
    MeanChange,
    MissingDocument,
    QueryBaseline,
    RankedDocument,
    TagSummary,
)
from harness.model.request import SentRequest
from harness.model.scores import Outcome
from harness.report.html.run import Limits, render


@pytest.fixture
def report():
    queries = (
        numbered_query(1, 0.9),
        numbered_query(2, 0.1, ("head",)),
        numbered_query(3, 0.5, ("head", "wide tag"), HOSTILE),
        replace(numbered_query(4, None), outcome=Outcome.ERROR, reason="timeout"),
        numbered_query(10, 0.7),
    )
    verdict = replace(products_verdicts()[0], blamed=("q2",))
    suite = products()
    return report_of(replace(suite, summaries=suite.summaries[:1], verdicts=(verdict,), queries=queries), exit_status=1)


@pytest.fixture
def show(open_html):
    return lambda report, fragment="", limits=None, **options: open_html(
        render(report, limits=limits), fragment, **options
    )


def test_nothing_from_an_index_runs(show, report):
    page = show(report, "#products/q3")
    assert page.title().startswith("1 threshold of 1")
    assert page.locator("img").count() == 0


def test_the_worst_come_first_and_a_heading_sorts(show, report):
    page = show(report)
    assert shown(page) == ["q2", "q4", "q3", "q10", "q1"]
    heading = page.locator("table.queries > thead th", has_text="nDCG@10")
    heading.get_by_role("button").click()
    assert shown(page) == ["q2", "q3", "q10", "q1", "q4"]
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").click()
    assert shown(page) == ["q1", "q10", "q3", "q2", "q4"]  # what has no score stays at the end


def test_numbers_sort_as_numbers(show, report):
    page = show(report)
    page.locator("table.queries > thead").get_by_role("button", name="Matching").click()
    assert shown(page) == ["q1", "q2", "q3", "q4", "q10"]


def test_a_tag_s_link_shows_its_queries(show, report):
    [suite] = report.suites
    figures = tuple(replace(summary, counted=2) for summary in suite.summaries)
    tags = (
        TagSummary("head", 2, 0.4, figures),
        TagSummary("wide tag", 1, 0.2, figures),
        TagSummary(None, 3, 0.6, figures),
    )
    page = show(replace(report, suites=(replace(suite, tags=tags),)))
    page.get_by_role("heading", name="Tags").click()
    page.get_by_label("Find").fill("q1")
    assert shown(page) == ["q10", "q1"]
    page.get_by_role("table", name="Means of each tag").get_by_role("link", name="head").click()
    assert shown(page) == ["q2", "q3"]
    assert page.get_by_label("Find").input_value() == ""
    page.get_by_role("table", name="Means of each tag").get_by_role("link", name="no tag").click()
    assert shown(page) == ["q4", "q10", "q1"]
    assert page.get_by_role("combobox", name="Tag").input_value() == "none"
    page.get_by_role("table", name="Means of each tag").get_by_role("link", name="all").click()
    assert len(shown(page)) == 5


def test_filters_narrow_the_table_and_count(show, report):
    page = show(report)
    page.get_by_role("combobox", name="Tag").select_option(label="head")
    assert shown(page) == ["q2", "q3"]
    assert page.locator("output").inner_text() == "2 of 5 shown"
    page.get_by_label("Find").fill("TEXT 2")
    assert shown(page) == ["q2"]
    page.get_by_label("Find").fill("")
    page.get_by_role("combobox", name="Tag").select_option("")
    page.get_by_label("Outcome").select_option("error")
    assert shown(page) == ["q4"]
    page.get_by_label("Outcome").select_option("")
    page.get_by_label("only those").check()
    assert shown(page) == ["q2"]


def test_a_query_opens_and_closes_in_place_by_mouse_and_keyboard(show, report):
    page = show(report)
    page.get_by_role("button", name="q2").click()  # it is open as the worst
    link = page.get_by_role("button", name="q10")
    link.click()
    assert link.get_attribute("aria-expanded") == "true"
    detail = page.locator("tr.open .detail")
    assert detail.is_visible()
    assert "m1, grade 2: at rank 14" in detail.inner_text()
    link.focus()
    page.keyboard.press("Space")
    assert page.locator("tr.open").count() == 0
    page.keyboard.press("Enter")
    assert page.locator("tr.open .detail").is_visible()


def test_an_open_query_keeps_out_of_sorting_and_filtering(show, report):
    page = show(report)
    page.get_by_role("button", name="q2").click()
    page.get_by_role("button", name="q10").click()
    page.get_by_label("only those").check()
    assert page.locator("tr.open").is_hidden()
    page.get_by_label("only those").uncheck()
    page.locator("table.queries > thead").get_by_role("button", name="Judgments").click()
    assert len(shown(page)) == 5
    page.get_by_role("button", name="q10").click()
    assert page.locator("tr.open .detail").is_visible()


def test_a_threshold_leads_to_its_queries_even_when_they_are_filtered_out(show, report):
    page = show(report)
    page.get_by_label("Outcome").select_option("error")
    page.locator("table.thresholds").get_by_role("link", name="q2").click()
    page.locator("tr.open .detail").wait_for()  # the page hears of its new address after the click
    assert "q2" in shown(page)


@pytest.mark.parametrize("measures", [1, 2, 3, 4])
def test_few_measures_stay_on_their_card(show, report, measures):
    names = ["nDCG@10", "P(rel=2)@5", "Judged@10", "R(rel=2)@10"][:measures]
    page = show(measured(report, names), "#products/q2")
    for width in (1000, 1150, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        box = page.locator("tr.open .detail").bounding_box()
        assert box["x"] + box["width"] <= width


def test_many_measures_scroll_and_a_ranking_stays_in_view(show, report):
    names = [f"nDCG(gain=linear)@{cutoff}" for cutoff in range(1, 21)]
    page = show(measured(report, names), "#products/q2")
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator("tr.open .detail").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("cutoffs", [(5,), range(1, 21)])
def test_no_heading_of_the_table_reaches_into_the_next(show, report, cutoffs):
    names = [f"nDCG(gain=linear)@{cutoff}" for cutoff in cutoffs]
    page = show(measured(report, names))
    headings = page.locator("table.queries > thead th[data-sort]")
    assert headings.count() == 7 + len(names)
    for heading in headings.all():
        text, cell = heading.locator("button").bounding_box(), heading.bounding_box()
        assert text["x"] >= cell["x"]
        assert text["x"] + text["width"] <= cell["x"] + cell["width"]


@pytest.mark.parametrize(
    ("measures", "lines"),
    [(["nDCG@10"], 1), (["nDCG@10", "P(rel=2)@5", "RR@10", "R(rel=2)@10", "Judged@10"], 2)],
)
def test_a_short_heading_stays_on_its_line_and_breaks_before_a_cutoff_among_many(show, report, measures, lines):
    page = show(measured(report, measures))
    buttons = page.locator("table.queries > thead th button").all()
    assert len(buttons) == 7 + len(measures)
    assert max(button.bounding_box()["height"] for button in buttons) < lines * 24


NARROW = {"viewport": {"width": 400, "height": 900}}


USUAL = ["nDCG@10", "P(rel=2)@5", "RR@10", "R(rel=2)@10", "Judged@10"]
LONG = "a rather long name " * 20
LINES = {1200: 14, 400: 20}
"""The lines of the highest cell, by the width of the window."""


def long_report(name):
    """Two requests, with *name* as the name of what has one, and long reasons."""
    tags = (f"{name} tag", "head")
    queries = tuple(replace(numbered_query(n, 0.5, tags, name), id=f"{name} {n}") for n in range(10))
    blamed = tuple(query.id for query in queries)
    verdicts = [
        replace(verdict, id=f"v{n}", reason=f"{verdict.reason} {name * 5}", blamed=blamed, query=name if n else None)
        for n, verdict in enumerate(products_verdicts())
    ]
    suite = replace(products(), queries=queries, verdicts=tuple(verdicts), notes=(name,))
    [suite] = measured(report_of(suite), USUAL).suites
    figures = suite.summaries
    suite = replace(suite, tags=tuple(TagSummary(tag, 10, 0.5, figures) for tag in tags))
    return report_of(suite, replace(suite, request=name), replace(suite, name=name, index=name), exit_status=1)


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("name", ["shoes", LONG, "x" * 400], ids=["short", "words", "no blank"])
def test_usual_measures_fit_and_no_cell_is_high_however_long_names_are(show, name, width):
    page = show(long_report(name), viewport={"width": width, "height": 900})
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert find_wide_boxes(page) == []
    assert find_high_cells(page, LINES[width]) == []
    assert find_cut_texts(page) == []


def test_a_narrow_window_shows_a_query_as_a_card_with_buttons_to_sort_by(show, report):
    page = show(measured(report, USUAL), **NARROW)
    labels = page.locator("table.queries > tbody > tr:not(.open) >> nth=0").locator("td[data-label]")
    assert [cell.get_attribute("data-label") for cell in labels.all()][1:] == [
        *("Tags", *USUAL, "Matching", "Judgments", "Took, ms"),
    ]
    page.locator("table.queries > thead").get_by_role("button", name="Matching").click()
    assert shown(page) == ["q1", "q2", "q3", "q4", "q10"]
    page.get_by_label("Find").fill("q1")
    assert shown(page) == ["q1", "q10"]
    page.set_viewport_size({"width": 1000, "height": 900})
    assert page.locator("table.queries > thead th").first.evaluate("th => getComputedStyle(th).display") == "table-cell"


def test_a_window_that_is_made_narrow_names_the_figures_too(show, report):
    page = show(report, viewport={"width": 1200, "height": 900})
    assert page.locator("table.queries td[data-label]").count() == 0
    page.set_viewport_size({"width": 400, "height": 900})
    page.locator("table.queries td[data-label='nDCG@10']").first.wait_for()


def test_a_long_reason_is_folded_and_opens(show, report):
    [suite] = report.suites
    verdict = replace(suite.verdicts[0], reason="word " * 300 + "the end")
    page = show(replace(report, suites=(replace(suite, verdicts=(verdict,)),)))
    why = page.locator("table.thresholds .why")
    assert "the end" not in why.inner_text()
    why.locator("summary").click()
    assert "the end" in why.inner_text()


def test_a_narrow_window_needs_no_scrolling_sideways_at_all(show, report):
    page = show(replace(report, suites=report.suites * 2), "#products/q2", **NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    for place in ("tr.open .detail", "tr.open .beside > div:first-child", "table.thresholds .why"):
        box = page.locator(place).first.bounding_box()
        assert box["x"] >= 0, place
        assert box["x"] + box["width"] <= 400, place


def test_a_narrow_window_names_what_was_observed_and_what_is_required(show, report):
    page = show(report, **NARROW)
    labels = "getComputedStyle(document.querySelectorAll('table.thresholds td.number')[{}], '::before').content"
    assert [page.evaluate(labels.format(number)) for number in (0, 1)] == ['"observed "', '"required "']


def test_without_javascript_rankings_open_by_themselves(show, report):
    page = show(report, java_script_enabled=False)
    assert page.locator("form").is_hidden()
    assert page.locator("details[open] > .detail").count() == 1
    page.locator(".rankings > details:not([open]) > summary").first.click()
    assert [detail.is_visible() for detail in page.locator("details[open] > .detail").all()] == [True, True]


def test_every_text_has_contrast_enough(show, report):
    page = show(report, "#products/q2")
    unfold(page)
    assert find_faint_texts(page) == []


CELLS = [("current", (0.5, 0.7)), ("candidate", (0.9, 0.7)), ("trial", (0.1, 0.2)), ("half", (None, 0.9))]


def test_cells_are_reached_from_their_table_which_has_contrast_enough(show):
    cells = [cell(request=request, scores=scores) for request, scores in CELLS]
    page = show(report_of(*cells, exit_status=0))
    table = page.locator("div[aria-label=Suites]")
    assert table.locator("tbody tr").all_inner_texts()[1].split()[2:5] == ["candidate", "0.8000*", "+0.2000"]
    table.get_by_role("link", name="shop, request candidate").click()
    assert page.url.endswith("#shop:candidate/")
    heading = page.locator("[id='shop:candidate/']").get_by_role("heading", level=2)
    assert heading.inner_text().startswith("shop, request candidate")
    assert find_faint_texts(page) == []


def test_a_table_of_many_measures_scrolls_by_itself(show):
    measures = tuple(f"nDCG(gain=linear)@{cutoff}" for cutoff in range(1, 12))
    report = report_of(cell(measures=measures), cell(request="candidate", measures=measures), exit_status=0)
    for width in (400, 1280):
        page = show(report, viewport={"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        scrolls = page.locator("div[aria-label=Suites]").evaluate("box => box.scrollWidth > box.clientWidth")
        assert scrolls == (width > 900), "a narrow window has the figures of a suite below each other"


def test_thousands_of_queries_sort_and_filter(show, report):
    many = tuple(numbered_query(number, (number * 7 % 1000) / 1000) for number in range(2_000))
    page = show(replace(report, suites=(replace(report.suites[0], queries=many),)), limits=Limits(details=50))
    page.locator("table.queries > thead").get_by_role("button", name="Matching").click()
    page.get_by_label("Find").fill("q199")
    assert len(shown(page)) == 11


@pytest.fixture
def show_many(show, report):
    """A page of 700 queries, the last of them hostile, of which the table has 50 at first; 10 have rankings."""
    queries = [numbered_query(number, number / 1000) for number in range(699)]
    queries.append(numbered_query(699, 0.9, ("head",), HOSTILE))
    many = replace(report.suites[0], queries=tuple(queries))
    limits = Limits(first_rows=50, details=10)
    return lambda fragment="", **options: show(replace(report, suites=(many,)), fragment, limits, **options)


def count_rows(page):
    return page.locator("table.queries > tbody > tr:not(.open)").count()


def show_more(page):
    return page.get_by_role("button", name="Show more")


def test_more_queries_are_listed_when_scrolled_to(show_many):
    page = show_many()
    assert count_rows(page) == 50
    for listed in (250, 450, 650):
        assert show_more(page).inner_text() == f"Show more: {listed - 200} of 700 queries are listed"
        show_more(page).scroll_into_view_if_needed()
        page.locator(f"table.queries > tbody > tr:not(.open) >> nth={listed - 1}").wait_for()
        assert count_rows(page) == listed
    show_more(page).press("Enter")
    assert count_rows(page) == 700
    assert show_more(page).is_hidden()
    assert page.locator("img").count() == 0


def test_queries_that_are_not_listed_yet_are_found_and_sorted(show_many):
    page = show_many()
    page.get_by_label("Find").fill("q699")
    assert shown(page) == ["q699"]
    assert show_more(page).is_hidden()
    page.get_by_label("Find").fill("q2")
    assert page.locator("output").inner_text() == "111 of 700 shown"
    page.get_by_label("Find").fill("")
    assert (count_rows(page), show_more(page).is_visible()) == (200, True)
    heading = page.locator("table.queries > thead").get_by_role("button", name="nDCG@10")
    heading.click()
    heading.click()
    assert shown(page)[:2] == ["q699", "q698"]


def test_an_address_leads_to_a_query_that_is_not_listed_yet(show_many):
    page = show_many("#products/q400")
    row = page.locator("[id='products/q400']")
    box = row.bounding_box()
    assert 0 <= box["y"] <= page.viewport_size["height"] - box["height"]
    page.get_by_label("Find").fill("q699")
    page.evaluate("location.hash = '#products/q500'")
    page.locator("[id='products/q500']").wait_for()


def test_a_ranking_stays_open_below_its_query(show_many):
    page = show_many("#products/q3")
    page.get_by_label("Find").fill("q699")
    assert page.locator("tr.open").count() == 0
    page.get_by_label("Find").fill("q3")
    assert page.locator("tr:has([data-opens='products/q3']) + tr.open .detail").is_visible()


def test_all_queries_are_printed(show_many):
    page = show_many()
    page.get_by_label("Find").fill("q3")
    assert page.pdf().startswith(b"%PDF")
    assert count_rows(page) == 111
    page = show_many()
    page.pdf()
    assert count_rows(page) == 700


def test_the_button_for_more_queries_can_be_read(show_many):
    page = show_many(**NARROW)
    assert find_faint_texts(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_without_javascript_the_table_says_where_the_other_queries_are(show_many):
    page = show_many(java_script_enabled=False)
    assert count_rows(page) == 50
    sentence = "this table has only the first 50 of 700 queries; the JSON report contains the others"
    assert page.get_by_text(sentence).is_visible()
    assert show_more(page).count() == 0


def beside_a_baseline(report):
    """*report* with a baseline: one document of q2 moved and one left, and the request changed."""
    [suite] = report.suites
    moved = (MovedDocument("d1", 2, 1, 1.0, 1.0), MovedDocument("gone", 1, None, 3.0, 7.0, HOSTILE))
    sent = SentRequest("POST", "/products/_search", body={"query": {"match": {"title": "</pre>" + HOSTILE}}})
    queries = [
        replace(query, baseline=QueryBaseline({"nDCG@10": 0.5}, moved, 10), sent=sent)
        if query.id == "q2"
        else replace(query, ranking=(replace(query.ranking[0], grade=None, gain=None), *query.ranking[1:]))
        for query in suite.queries
    ]
    diff = TextDiff("request", ("@@ -1 +1 @@", "-  title", "+  </pre>" + HOSTILE), 3)
    summary = replace(suite.summaries[0], change=MeanChange(0.6, 0.5, -0.1, 4))
    compared = replace(
        suite,
        queries=tuple(queries),
        summaries=(summary,),
        baseline=BaselineSummary("2026-11-20", (), 1, (diff,)),
        hits=20,
        judged_hits=9,
    )
    return replace(report, suites=(compared,))


def in_view(page, name):
    """Whether the row of the query can be seen without scrolling."""
    return page.get_by_role("button", name=name, exact=True).evaluate(
        "e => { const box = e.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; }"
    )


def opened(page):
    return [detail.inner_text().splitlines()[0].split()[-1] for detail in page.locator("tr.open .detail h4").all()]


def test_the_worst_query_of_a_failed_threshold_is_open_and_none_where_all_hold(show, report):
    page = show(report)
    assert opened(page) == ["q2"]
    assert "#" not in page.url
    [suite] = report.suites
    held = replace(report, suites=(replace(suite, verdicts=products_verdicts()[2:3]),), exit_status=0)
    assert opened(show(held)) == []


def test_a_query_s_address_is_set_by_clicking_and_leads_to_it_in_a_later_report(show, report):
    page = show(report)
    page.get_by_role("button", name="q10").click()
    assert page.url.endswith("#products/q10")
    [suite] = report.suites
    later = replace(suite, queries=(numbered_query(99, 0.0), *suite.queries[::-1]))
    page = show(replace(report, suites=(replace(suite, name="another"), later)), "#products/q10")
    assert opened(page) == ["q10"]
    assert in_view(page.locator("[id='products/']"), "q10")
    page.get_by_role("button", name="q10").and_(page.locator("[data-opens='products/q10']")).click()
    assert "#" not in page.url


def test_an_address_of_one_request_leads_to_the_first_of_several_and_back(show, report):
    [suite] = report.suites
    several = replace(report, suites=(suite, replace(suite, request="candidate")))
    page = show(several, "#products/q3")
    assert page.locator("tr.open").count() == 1
    assert page.locator("[aria-expanded=true]").get_attribute("data-opens") == "products:current/q3"
    page.evaluate("location.hash = '#products:candidate/q1'")
    page.locator("[data-opens='products:candidate/q1'][aria-expanded=true]").wait_for()
    assert page.locator("[aria-expanded=true]").count() == 2
    page = show(report, "#products:gone/q1")
    assert opened(page) == ["q1"]


@pytest.mark.parametrize("name", ["red shoes/größe", "100%", "<b>&'\"#?", "文書", "a:b"])
def test_any_id_has_an_address(show, report, name):
    [suite] = report.suites
    queries = (replace(suite.queries[0], id=name), *suite.queries[1:])
    report = replace(report, suites=(replace(suite, queries=queries),))
    page = show(report)
    page.locator("table.queries > tbody > tr > th a").filter(has_text=name).click()
    fragment = page.url[page.url.index("#") :]
    page = show(report, fragment)
    assert page.locator("tr.open .detail h4 .id").inner_text() == name
    assert page.locator("tr.open").count() == 1


def test_an_address_that_is_none_does_no_harm(show, report):
    for fragment in ("#%", "#%E0%A4%A", "#nothing/here", "#" + HOSTILE):
        assert opened(show(report, fragment)) == []


def test_a_strip_tells_grades_apart_without_colour(show, report):
    page = show(beside_a_baseline(report))
    strip = page.get_by_role("img", name="grades by rank: unjudged, 2, 0, 1, 6 ranks without a hit").first
    assert strip.locator("i").all_inner_texts() == ["?", "2", "0", "1", *[""] * 6]
    assert strip.locator("i").first.evaluate("e => getComputedStyle(e).borderTopStyle") == "dashed"


def test_a_report_beside_a_baseline_has_contrast_enough(show, report):
    page = show(beside_a_baseline(report), "#products/q2")
    unfold(page)
    page.locator(".diff summary").click()
    page.locator("tr.open .sent summary").click()
    assert len(contrasts(page)) > 60
    assert find_faint_texts(page) == []


def test_the_difference_to_the_baseline_stands_in_the_page(show, report):
    page = show(beside_a_baseline(report), "#products/q2")
    unfold(page)
    assert "-0.1000 over 4 vs baseline" in page.locator(".card p.mean").inner_text()
    detail = page.locator("tr.open .detail")
    assert "nDCG@10 0.1000 -0.4000" in detail.inner_text()
    assert detail.locator("td.was").all_inner_texts() == ["2", "", "", ""]
    assert "grade 3: was at rank 1" in detail.inner_text()
    page.locator(".diff summary").click()
    assert page.locator(".diff ins").inner_text() == "+  </pre>" + HOSTILE
    assert "and 3 more lines" in page.locator(".diff pre").inner_text()
    assert page.title().startswith("1 threshold of 1")


def test_the_request_is_shown_as_sent_and_copied(show, report):
    page = show(beside_a_baseline(report), "#products/q2", permissions=["clipboard-read", "clipboard-write"])
    page.locator("tr.open .sent summary").click()
    text = page.locator("tr.open .sent pre").inner_text().strip()
    path, body = text.split("\n", 1)
    assert path == "POST /products/_search"
    assert json.loads(body) == {"query": {"match": {"title": "</pre>" + HOSTILE}}}
    page.locator("tr.open .sent .copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_the_link_to_a_query_is_copied_and_opens_it_in_another_window(show, report, open_html):
    page = show(report, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="q10").click()
    page.locator("tr.open:has([href='#products/q10']) .to-query .copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith("#products/q10")
    for width in (400, 1280):
        other = show(report, link[link.index("#") :], viewport={"width": width, "height": 900})
        assert opened(other) == ["q10"]
        assert in_view(other, "q10")


def test_a_link_opens_the_part_that_its_query_stands_in(show, report):
    page = show(report)
    page.get_by_role("heading", name="Queries").click()
    assert shown(page) == []
    page.locator(".first-queries").get_by_role("link", name="q2").click()
    page.locator("tr.open .detail").wait_for()
    assert in_view(page, "q2")


@pytest.fixture
def broken(report):
    """40 queries, of which the last are the worst; seven thresholds fail, and others hold."""
    [suite] = report.suites
    queries = tuple(numbered_query(number, 1 - number / 40, ("head",)) for number in range(1, 41))
    worst = tuple(query.id for query in reversed(queries))[:10]
    failed, passed = products_verdicts()[0], products_verdicts()[2]
    verdicts = [replace(failed, id=f"f{n}", reason=f"reason {n} of the failure", blamed=worst) for n in range(7)]
    verdicts += [replace(passed, id=f"p{n}") for n in range(5)]
    return replace(report, suites=(replace(suite, queries=queries, verdicts=tuple(verdicts)),))


@pytest.mark.parametrize("width", [400, 1400])
def test_the_first_screen_says_what_broke_and_why_and_the_rest_opens(show, broken, width):
    page = show(broken, viewport={"width": width, "height": 900})
    top = page.locator(".first-queries")
    assert top.get_by_role("link").all_inner_texts() == ["q40", "q39", "q38"]
    assert is_on_first_screen(top.get_by_role("link").last)
    reasons = page.locator("table.thresholds >> nth=0").locator(".why")
    assert [text.splitlines()[0] for text in reasons.all_inner_texts()] == [
        f"reason {n} of the failure" for n in range(5)
    ]
    assert is_on_first_screen(reasons.nth(2))
    folded = ["2 more thresholds to look at", "5 other thresholds"]
    assert page.locator(".held > summary").all_inner_texts() == folded
    assert page.locator(".part[open] > summary h3").all_inner_texts() == ["Thresholds", "Queries"]
    assert page.get_by_text("reason 6 of the failure").is_hidden()
    page.get_by_text("2 more thresholds to look at").click()
    assert page.get_by_text("reason 6 of the failure").is_visible()


@pytest.mark.parametrize("width", [400, 1400])
def test_the_first_screen_of_many_suites_says_what_broke_and_why(show, broken, width):
    [failed] = broken.suites
    failed = replace(failed, queries=failed.queries[-2:])
    held = replace(failed, verdicts=products_verdicts()[2:3])
    suites = [replace(held, name=f"s{n}", path=f"s{n}.relevance.yaml") for n in range(12)]
    for place in (3, 8):
        suites[place] = replace(suites[place], verdicts=failed.verdicts)
    page = show(replace(broken, suites=tuple(suites)), viewport={"width": width, "height": 900})

    rows = page.locator("#first-suites table >> nth=0").locator("tbody tr")
    assert rows.get_by_role("link").all_inner_texts() == ["s3", "s8"]
    assert rows.locator("td:last-child").all_inner_texts() == ["reason 0 of the failure"] * 2
    assert is_on_first_screen(rows.last)
    assert page.get_by_role("link", name="s11").is_hidden()
    assert find_violations(page) == []
    assert find_wide_boxes(page) == []
    page.get_by_role("heading", name="All suites").click()
    assert page.get_by_role("link", name="s11").is_visible()
    rows.get_by_role("link", name="s8").click()
    assert is_on_first_screen(page.locator("[id='s8/'] h2"))


def is_on_first_screen(locator):
    box = locator.bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= locator.page.viewport_size["height"]


def test_axe_finds_nothing_whether_parts_are_folded_or_open(show, broken):
    page = show(broken, viewport={"width": 1400, "height": 900})
    assert find_violations_in_each_scheme(page) == []
    unfold(page)
    assert find_violations_in_each_scheme(page) == []
    page = show(broken, **NARROW)
    assert find_violations(page, **NO_CONTRAST) == []
    unfold(page)
    assert find_violations(page, **NO_CONTRAST) == []
    assert find_faint_texts(page) == []


def test_other_browsers_have_an_accessible_report_that_filters_and_opens(other_browser, report, tmp_path):
    other_browser.open_html(render(measured(report, USUAL)), tmp_path)
    other_browser.check_page()
    other_browser.click(".first-queries [href='#products/q2']")
    other_browser.wait_for_text("tr.open .detail", "")
    assert find_wide_boxes(other_browser) == [], "an open query is as wide as its table, beside its scrollbar"
    other_browser.click("input[type=search]")
    other_browser.press("q", "1")
    other_browser.wait_for_text("output", "2 of 5 shown")
    assert other_browser.evaluate("() => complaints") == []


def test_a_narrow_window_lists_few_queries_until_more_are_wanted(show, broken):
    page = show(broken, **NARROW)
    assert len(shown(page)) == 5
    assert page.locator("tr.open").count() == 0
    show_more(page).click()
    assert len(shown(page)) == 40


def test_where_all_thresholds_hold_no_part_is_folded(show, report):
    [suite] = report.suites
    held = replace(suite, verdicts=products_verdicts()[2:3])
    page = show(replace(report, suites=(held,), exit_status=0))
    assert page.locator(".part:not([open])").count() == 0
    assert page.locator(".first-queries").count() == 0


def test_what_matters_is_printed_open_and_without_controls(show, broken):
    page = show(broken)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.get_by_text("reason 6 of the failure").is_visible()
    assert page.get_by_role("heading", name="Measures").is_visible()
    assert page.locator(".card").first.is_visible()
    assert opened(page) == ["q40", "q39", "q38"]
    assert page.locator("tr.open .detail table").first.is_visible()
    assert len(shown(page)) == 40
    assert page.locator(":is(.filters, .copy, .more, .to-query):visible").count() == 0
    assert page.locator("table.queries td[data-label='nDCG@10']").count() == 40
    page.set_viewport_size({"width": 718, "height": 1000})  # a sheet of A4
    assert page.get_by_role("button", name="Matching").is_hidden()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert opened(page) == ["q40"]
    assert page.get_by_text("reason 6 of the failure").is_hidden()


def test_without_javascript_what_is_folded_is_printed_too(show, broken):
    page = show(broken, java_script_enabled=False)
    page.emulate_media(media="print")
    height = page.get_by_text("reason 6 of the failure").bounding_box()["height"]
    assert height > 0


def test_few_judged_hits_are_a_warning_and_many_are_a_remark(show, report):
    page = show(beside_a_baseline(report))
    assert "only 9 of 20 hits are judged (45.0%)" in page.locator(".warning").inner_text()
    [suite] = report.suites
    page = show(replace(report, suites=(replace(suite, hits=20, judged_hits=10),)))
    assert page.locator(".warning").count() == 0
    unfold(page)
    assert "10 of 20 hits are judged (50.0%)" in page.locator(".notes").inner_text()


def test_judgments_of_a_query_and_judged_hits_have_their_own_headings(show, report):
    page = show(measured(report, ["nDCG@10", "Judged@10"]))
    headings = page.locator("table.queries > thead th").all_inner_texts()
    assert headings.count("Judgments") == headings.count("Judged@10") == 1
    assert "Judged" not in headings


@pytest.mark.parametrize("width", [1400, 1000])
def test_every_table_that_is_too_wide_scrolls_in_its_card(show, report, width):
    measures = [f"nDCG(gain=linear)@{cutoff}" for cutoff in range(1, 13)]
    wide = measured(beside_a_baseline(report), measures)
    page = show(replace(wide, suites=wide.suites * 2), viewport={"width": width, "height": 900})
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    boxes = page.locator(".scroll").evaluate_all(
        "boxes => boxes.map(b => [b.scrollWidth > b.clientWidth, b.offsetHeight])"
    )
    assert [height <= 900 for overflows, height in boxes if overflows], "a scrollbar below is out of view"
    assert all(height <= 900 for overflows, height in boxes if overflows)
    bars = page.locator(".scroll").evaluate_all("b => b.map(b => getComputedStyle(b, '::-webkit-scrollbar').height)")
    assert set(bars) == {"10px"}, "systems hide scrollbars that have no style"


@pytest.mark.parametrize("width", [1200, 400])
def test_displayed_fields_stand_below_their_document_readable_in_any_width(show, report, width):
    words = "w" * 200
    texts = DocumentTexts((FieldText("summary", f"red {words}", ((0, 3),)), FieldText(HOSTILE, HOSTILE)), ((0, 3),))
    query = report.suites[0].queries[1]
    document = RankedDocument(1, "sku-1", 1, 1.0, 2.0, "Red tent", texts=texts)
    missing = MissingDocument("sku-2", 1, title="Red tent", texts=texts)
    query = replace(query, ranking=(document,), missing=(missing,))
    page = show(
        report_of(replace(report.suites[0], queries=(query,)), exit_status=1),
        f"#products/{query.id}",
        viewport={"width": width, "height": 900},
    )
    assert page.locator(".field mark:visible").all_text_contents() == ["red", "red"]
    assert page.locator(".title mark:visible").all_text_contents() == ["Red", "Red"]
    assert find_faint_texts(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
