"""The fields that a suite displays beside the titles of documents, with the words of the query in them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from builders.html import Page
from harness.model.report import DocumentTexts, FieldText, QueryReport, Report, SuiteReport
from harness.model.run import Engine, Highlight, Hit, Ranking, Run
from harness.model.suite import Display, Query, RequestTemplate, Suite, Target
from harness.report.html.run import render
from harness.report.json import dumps_report, loads_report
from harness.report.markdown import render as render_markdown
from harness.report.run_document import build_query_section
from harness.report.terminal import print_query
from harness.report.terminal.run import format_query
from harness.run.report import SHOWN_LENGTH, DecidedRun, assemble

TEXTS = DocumentTexts(
    (FieldText("price", "12.50"), FieldText("text", "<b>red</b> \x1b[31m " + "shoes " * 30, ((3, 6),))), ((4, 11),)
)


@pytest.fixture
def described(red_shoes: QueryReport) -> QueryReport:
    """Its third document has texts, and the title Red running shoes."""
    first, second, third, *others = red_shoes.ranking
    return replace(red_shoes, ranking=(first, second, replace(third, texts=TEXTS), *others))


@pytest.fixture
def report_with_fields(report: Report, suite: SuiteReport, described: QueryReport) -> Report:
    queries = tuple(described if query.id == described.id else query for query in suite.queries)
    return replace(report, suites=(replace(suite, queries=queries),))


def test_a_terminal_has_them_in_one_column_and_each_is_cut(described: QueryReport) -> None:
    text = format_query(described)
    [line] = [line for line in text.splitlines() if "12.50" in line]
    assert "Red running shoes" in line
    assert "price 12.50 · text <b>red</b> \\x1b[31m" in " ".join(text.split())
    assert "\x1b" not in text
    assert "fields" not in format_query(replace(described, ranking=described.ranking[:2]))


def test_words_of_the_query_are_bold_on_a_terminal(described: QueryReport) -> None:
    console = Console(width=200, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(*print_query(build_query_section(described)))
    text = capture.get()
    assert "\x1b[1mrunning\x1b[0m" in text
    assert "\x1b[1mred\x1b[0m" in text


def test_a_title_of_several_parts_is_cut_as_a_whole(described: QueryReport) -> None:
    marked = DocumentTexts((), ((0, 30), (40, 60)))
    document = replace(described.ranking[2], title="t" * 100, texts=marked)
    text = format_query(replace(described, ranking=(document,), missing=()))
    assert "t" * 47 + "…" in text
    assert "t" * 48 not in text


def test_a_page_has_each_below_the_title_with_the_words_marked(report_with_fields: Report) -> None:
    html = render(report_with_fields)
    assert "Red <mark>running</mark> shoes" in html
    assert "&lt;b&gt;<mark>red</mark>&lt;/b&gt;" in html
    assert "price 12.50" in Page(html).text


def test_missing_documents_have_them_too(report_with_fields: Report) -> None:
    [suite] = report_with_fields.suites
    queries = []
    for query in suite.queries:
        missing = tuple(replace(document, title="Red running shoes", texts=TEXTS) for document in query.missing)
        queries.append(replace(query, missing=missing, ranking=()))
    report = replace(report_with_fields, suites=(replace(suite, queries=tuple(queries)),))
    text = " ".join(format_query(queries[0]).split())
    assert "at rank 37 Red running shoes price 12.50 · text" in text
    html = render(report)
    assert "Red <mark>running</mark> shoes" in html
    assert "price 12.50" in Page(html).text


def test_markdown_and_json_have_them(report_with_fields: Report) -> None:
    assert "price 12" in render_markdown(report_with_fields).replace("\\", "")
    assert loads_report(dumps_report(report_with_fields)) == report_with_fields


def describe(hit: Hit, title: str | None = "Red  shoes") -> DocumentTexts | None:
    template = RequestTemplate("request", {"query": {}})
    display = Display(title="name", fields=("price", "text", "absent"))
    query = Query("q", "red")
    suite = Suite("shop", "s.yaml", Target(index="i"), {"request": template}, (), (query,), display=display)
    run = Run({"q": Ranking((Hit("a", 1.0, title), Hit("b")))}, Engine("opensearch"), index="i")
    report = assemble(DecidedRun(suite, run, [], [], described={"q": {"a": hit}}), "default")
    first, second = report.queries[0].ranking
    assert second.texts is None
    return first.texts


def test_a_report_has_the_fields_of_the_suite_in_its_order_shortened() -> None:
    long = "red " * 100
    highlight = Highlight(long, ((0, 3), (300, 303)))
    hit = Hit("a", texts={"text": long, "price": "5", "image": "http://x"}, highlights={"text": highlight})
    texts = describe(hit)
    assert texts is not None
    assert [(field.field, field.spans) for field in texts.fields] == [("price", ()), ("text", ((0, 3),))]
    assert len(texts.fields[1].text) == SHOWN_LENGTH


@pytest.mark.parametrize(("shown", "spans"), [("Red shoes", ((0, 3),)), ("Another", ()), (None, ())])
def test_words_are_marked_in_a_title_only_if_it_is_the_one_that_was_searched(
    shown: str | None, spans: tuple[tuple[int, int], ...]
) -> None:
    texts = describe(Hit("a", highlights={"name": Highlight("Red shoes", ((0, 3),))}), shown)
    assert texts is not None
    assert texts.title_spans == spans
