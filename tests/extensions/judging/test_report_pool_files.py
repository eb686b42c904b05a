"""A pool as files: once graded they are judgment files, and every id is what it was."""

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError, UsageError
from harness.extensions.judging.document import build_pool_document
from harness.extensions.judging.model import Coverage, Pool, PooledDocument, QueryCoverage
from harness.extensions.judging.pool_files import POOL_WRITERS, format_pool_csv, format_pool_yaml
from harness.extensions.judging.sentences import describe_unanswered
from harness.files.judgments import read_judgments
from harness.model.judging import UnjudgedBounds
from harness.report.terminal import print_document, render_plain

SHOES = PooledDocument("shoes", "red shoes", "sku-1", {"current": 2, "candidate": 1}, "Runner", "Light, for\tlong runs")


def pool_of(*documents, labels=("current", "candidate"), **fields):
    coverage = tuple(Coverage(label, 10, len(documents), 1, 0.5, 0.25, 0.5, 0.75) for label in labels)
    return Pool("shop", "shop.relevance.yaml", 10, "nDCG@10", documents, coverage, fields.pop("queries", ()), **fields)


def rows(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_a_row_holds_what_a_grader_needs():
    [row] = rows(format_pool_csv(pool_of(SHOES)))
    assert row == {
        "query": "shoes",
        "document": "sku-1",
        "grade": "",
        "text": "red shoes",
        "title": "Runner",
        "snippet": "Light, for\\tlong runs",
        "rank current": "2",
        "rank candidate": "1",
    }


def test_a_need_stands_behind_the_text_on_one_line():
    document = replace(SHOES, need="Shoes for women,\nto buy now.")
    [row] = rows(format_pool_csv(pool_of(document)))
    assert list(row)[3:5] == ["text", "need"]
    assert row["need"] == "Shoes for women, to buy now."
    assert format_pool_yaml(pool_of(document)).splitlines()[2:4] == [
        "# red shoes",
        "# need: Shoes for women, to buy now.",
    ]


def test_fields_have_a_column_each_and_are_cut(tmp_path):
    first = replace(SHOES, snippet=None, texts={"price": "-29.5", "grade": "A"})
    second = replace(SHOES, document="sku-2", texts={"price": "12", "text": "word " * 100})
    pool = pool_of(first, second)
    written, other = rows(format_pool_csv(pool))
    assert [written[name] for name in ("field price", "field grade", "field text")] == ["'-29.5", "A", ""]
    assert (other["field price"], len(other["field text"])) == ("12", 200)
    assert "  # price: -29.5" in format_pool_yaml(pool).splitlines()
    path = tmp_path / "graded.csv"
    path.write_text(format_pool_csv(pool_of(first)).replace("sku-1,,", "sku-1,2,"))
    assert read_judgments(path) == {"shoes": {"sku-1": 2.0}}


def test_one_request_has_one_rank():
    [row] = rows(format_pool_csv(pool_of(PooledDocument("q", "q", "a", {"current": 3}), labels=["current"])))
    assert (row["rank"], row["title"], row["snippet"]) == ("3", "", "")


def test_a_pool_of_nothing_has_only_a_head():
    assert format_pool_csv(pool_of()) == "query,document,grade,text,title,snippet,rank current,rank candidate\n"
    assert format_pool_yaml(pool_of()) == ("# shop: unjudged documents of the top 10; write a grade after each colon\n")


def test_yaml_shows_the_document_above_its_id():
    assert format_pool_yaml(pool_of(SHOES)).splitlines()[1:] == [
        "",
        "# red shoes",
        '"shoes":',
        "  # current 2, candidate 1 | Runner",
        "  # Light, for\\tlong runs",
        '  "sku-1":',
    ]


@pytest.mark.parametrize("begin", "=+-@\t\r")
def test_no_cell_is_a_formula(begin):
    words = f"{begin}cmd|' /c calc'!A1"
    ids = words.replace("\r", "")
    [row] = rows(format_pool_csv(pool_of(PooledDocument(ids, words, ids, {"current": 1}, words, words))))
    assert all(cell[0] not in "=+-@\t\r" for cell in row.values() if cell)


def test_ascii_has_no_byte_order_mark_and_anything_else_has_one():
    assert format_pool_csv(pool_of(SHOES)).isascii()
    assert format_pool_csv(pool_of(PooledDocument("q", "q", "ünï", {"current": 1}))).startswith("\ufeffquery,")


@pytest.mark.parametrize("document", ["a\rb", "a\0b", "a\ud800"])
def test_an_id_that_csv_does_not_give_back_is_refused(document):
    with pytest.raises(UsageError, match="cannot be written to a CSV file; use yaml=FILE"):
        format_pool_csv(pool_of(PooledDocument("q", "q", document, {"current": 1})))


def graded(kind, text, document):
    """What a grader makes of the file: every grade is 2."""
    if kind == "csv":
        table = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
        out = io.StringIO()
        csv.writer(out).writerows([table[0], *([*row[:2], "2", *row[3:]] for row in table[1:])])
        return out.getvalue()
    head, colon, _ = text.rpartition(":")
    return f"{head}{colon} 2\n"


IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1).filter(str.strip)
LONG = st.integers(1000, 3000).map(lambda length: "x" * length)


@pytest.mark.parametrize("kind", POOL_WRITERS)
@given(IDS, IDS | LONG, st.text(), st.text())
def test_a_graded_file_gives_the_ids_back(tmp_path_factory, kind, query, document, title, snippet):
    if kind == "csv" and "\n\n" in f"\n{query}\n{document}\n":
        return  # blank lines are for people; no id of an engine holds one
    text = POOL_WRITERS[kind](pool_of(PooledDocument(query, title, document, {"current": 1}, title, snippet)))
    path = tmp_path_factory.mktemp("graded") / f"j.{kind}"
    path.write_text(graded(kind, text, document), encoding="utf-8", newline="")
    assert read_judgments(path) == {query: {document: 2.0}}


@pytest.mark.parametrize("kind", POOL_WRITERS)
def test_a_file_that_was_not_graded_is_refused_with_its_line(tmp_path, kind):
    path = tmp_path / f"j.{kind}"
    path.write_text(POOL_WRITERS[kind](pool_of(SHOES)), encoding="utf-8")
    line = {"csv": 2, "yaml": 7}[kind]
    with pytest.raises(FormatError, match=rf"j\.{kind}:{line}:\d: document 'sku-1' has no grade yet for query 'shoes'"):
        read_judgments(path)


# ------------------------------------------------------------------------------------------------ the terminal


def lines(pool):
    return render_plain(print_document(build_pool_document([pool]))).splitlines()


def test_the_terminal_says_how_much_is_unjudged_and_where_judging_tells_most():
    queries = (QueryCoverage("shoes", "current", 3, UnjudgedBounds(0.5, 0.25, 0.5, 0.75)),)
    shown = lines(pool_of(SHOES, queries=queries, notes=["no snippets\x1b"]))
    assert shown[0] == "shop  1 document to judge in 1 query, of the top 10"
    assert shown[1].split() == [
        "request",
        "Judged@10",
        "unjudged",
        "hits",
        "mean",
        "nDCG@10",
        "if",
        "worst",
        "if",
        "best",
    ]
    assert shown[2].split() == ["current", "0.5000", "1", "of", "10", "0.5000", "0.2500", "0.7500"]
    assert shown[5].split() == ["judge", "first", "request", "unjudged", "nDCG@10", "if", "worst", "if", "best"]
    assert shown[6].split() == ["shoes", "current", "3", "0.5000", "0.2500", "0.7500"]
    assert shown[8] == "  no snippets\\x1b"


def test_nothing_unjudged_is_said():
    assert lines(pool_of(labels=["current"]))[0] == "shop  no hit of the top 10 is unjudged"


REFUSED = "engine error (400): no [query] registered for [mtach]"


@pytest.mark.parametrize(
    ("unanswered", "expected"),
    [
        ({("q1", "current"): "timeout: slow"}, ["query q1 has no answer for current: timeout: slow"]),
        (
            {(f"q{n}", run): REFUSED for n in range(12) for run in ("current", "candidate")},
            [f"12 queries ({', '.join(f'q{n}' for n in range(10))} and 2 more) have no answer: {REFUSED}"],
        ),
        (
            {("q1", "current"): REFUSED, ("q2", "current"): "timeout: slow", ("q3", "current"): REFUSED},
            [
                f"2 queries (q1, q3) have no answer for current: {REFUSED}",
                "query q2 has no answer for current: timeout: slow",
            ],
        ),
        (
            {("q1", "current"): REFUSED, ("q1", "candidate"): "timeout: slow"},
            [f"query q1 has no answer for current: {REFUSED}", "query q1 has no answer for candidate: timeout: slow"],
        ),
    ],
    ids=["one", "the same for all", "two reasons", "two reasons of a query"],
)
def test_each_reason_for_no_answer_is_printed_once_with_its_queries(unanswered, expected):
    assert list(describe_unanswered(pool_of(unanswered=unanswered))) == expected
    printed = " ".join(" ".join(lines(pool_of(unanswered=unanswered))).split())
    assert printed.endswith(" ".join(expected))


def test_many_reasons_for_no_answer_are_counted():
    unanswered = {(f"q{n}", "current"): f"timeout: {n} ms" for n in range(13)}
    shown = list(describe_unanswered(pool_of(labels=["current"], unanswered=unanswered)))
    assert shown[0] == "query q0 has no answer: timeout: 0 ms"
    assert shown[10:] == ["3 more queries without an answer, for 3 other reasons"]


def test_many_queries_are_counted():
    bounds = UnjudgedBounds(0.5, 0.25, 0.5, 0.75)
    queries = tuple(QueryCoverage(f"q{n}", "current", 1, bounds) for n in range(13))
    assert lines(pool_of(SHOES, labels=["current"], queries=queries))[-1] == "  and 3 rankings more"
