from dataclasses import replace

import pytest

from harness.model import (
    Engine,
    MeasureSummary,
    MissingDocument,
    Outcome,
    Profile,
    QueryReport,
    RankedDocument,
    Report,
    Status,
    SuiteReport,
    Verdict,
)
from harness.report.html import render
from harness.report.page import Limits

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def query(number, score, tags=(), text=None):
    ranking = tuple(RankedDocument(rank, f"d{rank}", rank % 3, float(rank % 3), 1.0, HOSTILE) for rank in range(1, 5))
    missing = (MissingDocument("m1", 2, 14, 100),)
    return QueryReport(
        f"q{number}",
        text or f"text {number}",
        Outcome.SCORED,
        "",
        tags,
        {"nDCG@10": score},
        ranking,
        ranking,
        missing,
        number,
    )


@pytest.fixture
def report():
    queries = (
        query(1, 0.9),
        query(2, 0.1, ("head",)),
        query(3, 0.5, ("head", "wide tag"), HOSTILE),
        replace(query(4, None), outcome=Outcome.ERROR, reason="timeout", scores={"nDCG@10": None}),
        query(10, 0.7),
    )
    verdict = Verdict("v", "mean nDCG@10 >= 0.8", Status.FAILED, "too low", 0.5, 0.8, "nDCG@10", blamed=("q2",))
    summary = MeasureSummary("nDCG@10", "exponential", 0.55, 0.6, 0.1, 0.9, 4, 1)
    engine = Engine("opensearch", "3.8.0")
    suite = SuiteReport(
        "products",
        "p.yaml",
        "request",
        "default",
        "i",
        engine,
        Profile.STANDARD,
        "exponential",
        10,
        (summary,),
        (verdict,),
        queries,
    )
    return Report("2026-11-21T06:00:00Z", "0.1.0", (suite,), 1)


@pytest.fixture
def show(browser, tmp_path):
    """Opens a report; the test fails if the page complains or asks for anything but itself."""
    contexts, complaints = [], []

    def open_page(report, fragment="", **options):
        file = tmp_path / "report.html"
        file.write_text(render(report, limits=options.pop("limits", None)), encoding="utf-8")
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if request.url != file.as_uri() else None,
        )
        page.goto(file.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def shown(page):
    return [row.inner_text() for row in page.locator("table.queries > tbody > tr:visible > th").all()]


def test_nothing_from_an_index_runs(show, report):
    page = show(report, "#s1q3")
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


def test_filters_narrow_the_table_and_count(show, report):
    page = show(report)
    page.get_by_label("Tag").select_option(label="head")
    assert shown(page) == ["q2", "q3"]
    assert page.locator("output").inner_text() == "2 of 5 shown"
    page.get_by_label("Find").fill("TEXT 2")
    assert shown(page) == ["q2"]
    page.get_by_label("Find").fill("")
    page.get_by_label("Tag").select_option("")
    page.get_by_label("Outcome").select_option("error")
    assert shown(page) == ["q4"]
    page.get_by_label("Outcome").select_option("")
    page.get_by_label("only those").check()
    assert shown(page) == ["q2"]


def test_a_query_opens_and_closes_in_place_by_mouse_and_keyboard(show, report):
    page = show(report)
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
    page.get_by_role("button", name="q10").click()
    page.get_by_label("only those").check()
    assert page.locator("tr.open").is_hidden()
    page.get_by_label("only those").uncheck()
    page.locator("table.queries > thead").get_by_role("button", name="Judged").click()
    assert len(shown(page)) == 5
    page.get_by_role("button", name="q10").click()
    assert page.locator("tr.open .detail").is_visible()


def test_a_threshold_leads_to_its_queries_even_when_they_are_filtered_out(show, report):
    page = show(report)
    page.get_by_label("Outcome").select_option("error")
    page.locator("table.thresholds").get_by_role("link", name="q2").click()
    assert page.locator("tr.open .detail").is_visible()
    assert "q2" in shown(page)


def test_many_measures_scroll_and_a_ranking_stays_in_view(show, report):
    names = [f"nDCG(gain=linear)@{cutoff}" for cutoff in range(1, 21)]
    suite = report.suites[0]
    summaries = tuple(replace(suite.summaries[0], measure=name) for name in names)
    queries = tuple(replace(one, scores=dict.fromkeys(names, 0.5)) for one in suite.queries)
    page = show(replace(report, suites=(replace(suite, summaries=summaries, queries=queries),)), "#s1q2")
    width = page.evaluate("document.documentElement.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator("tr.open .detail").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("cutoffs", [(5,), range(1, 21)])
def test_no_heading_of_the_table_reaches_into_the_next(show, report, cutoffs):
    names = [f"nDCG(gain=linear)@{cutoff}" for cutoff in cutoffs]
    suite = report.suites[0]
    summaries = tuple(replace(suite.summaries[0], measure=name) for name in names)
    queries = tuple(replace(one, scores=dict.fromkeys(names, 0.5)) for one in suite.queries)
    page = show(replace(report, suites=(replace(suite, summaries=summaries, queries=queries),)))
    headings = page.locator("table.queries > thead th")
    assert headings.count() == 7 + len(names)
    for heading in headings.all():
        text, cell = heading.locator("button").bounding_box(), heading.bounding_box()
        assert text["x"] >= cell["x"]
        assert text["x"] + text["width"] <= cell["x"] + cell["width"]


@pytest.mark.parametrize("measures", [["nDCG@10"], ["nDCG@10", "P(rel=2)@5", "RR@10", "R(rel=2)@10", "Judged@10"]])
def test_a_short_heading_stays_on_its_line(show, report, measures):
    suite = report.suites[0]
    summaries = tuple(replace(suite.summaries[0], measure=name) for name in measures)
    queries = tuple(replace(one, scores=dict.fromkeys(measures, 0.5)) for one in suite.queries)
    page = show(replace(report, suites=(replace(suite, summaries=summaries, queries=queries),)))
    buttons = page.locator("table.queries > thead th button").all()
    assert len(buttons) == 7 + len(measures)
    assert max(button.bounding_box()["height"] for button in buttons) < 30


NARROW = {"viewport": {"width": 400, "height": 900}}


def test_a_narrow_window_needs_no_scrolling_sideways_but_in_the_table_of_queries(show, report):
    page = show(replace(report, suites=report.suites * 2), "#s1q2", **NARROW)
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
    summary = page.locator(".rankings summary").first
    summary.click()
    assert page.locator("details[open] .detail").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast_enough(show, report, scheme):
    page = show(report, "#s1q2", color_scheme=scheme)
    ratios = page.evaluate(CONTRASTS)
    assert ratios
    assert min(ratio for ratio, _ in ratios) >= 4.5, sorted(ratios)[:3]


def test_thousands_of_queries_sort_and_filter(show, report):
    many = tuple(query(number, (number * 7 % 1000) / 1000) for number in range(5_000))
    page = show(replace(report, suites=(replace(report.suites[0], queries=many),)), limits=Limits(details=50))
    page.locator("table.queries > thead").get_by_role("button", name="Matching").click()
    page.get_by_label("Find").fill("q499")
    assert len(shown(page)) == 11


CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map((v) => linear(v / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.tagName === "SCRIPT") continue;
    if (element.namespaceURI.includes("svg")) continue;
    const [a, b] = [luminance(rgba(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([ratio, element.className + " " + element.textContent.slice(0, 30)]);
  }
  return found;
}"""
