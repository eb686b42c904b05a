"""CSV and JSON lines with the columns that are in use become suites; hostile cells survive the way out and back."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extensions.migrate.builders.moving import exported, judgments, moved, write_files
from harness.cli import main
from harness.suites import load_suite

pytestmark = pytest.mark.usefixtures("request_body")

REQUEST = ("--index", "shop", "--request-file", "body.json")
EXPECTED = {"red shoes": {"sku-1": 3, "sku-2": 0}, "rope": {"007": 1}}


@pytest.mark.parametrize(
    "files",
    [
        {"a.csv": "query,document,grade\nred shoes,sku-1,3\nred shoes,sku-2,0\nrope,'007,1\n"},
        {"a.csv": "Query;DocID;Rating\r\nred shoes;sku-1;3\r\nred shoes;sku-2;0\r\nrope;007;1\r\n"},
        {"a.tsv": "query\tdocument id\trelevance\nred shoes\tsku-1\t3\nred shoes\tsku-2\t0\nrope\t007\t1\n"},
        {"a.csv": "query,document,grade,text,title\nq1,sku-1,3,red shoes,T\nq1,sku-2,0,red shoes,T\nq2,007,1,rope,T\n"},
        {
            "judgments.csv": "query,document,grade\nq1,sku-1,3\nq1,sku-2,0\nq2,007,1\n",
            "queries.csv": "id,text\nq1,red shoes\nq2,rope\n",
        },
        {
            "a.jsonl": '{"query_id": "q1", "query": "red shoes", "docid": "sku-1", "relevance": 3}\n\n'
            '{"query_id": "q1", "query": "red shoes", "docid": "sku-2", "relevance": "0"}\n'
            '{"query_id": "q2", "query": "rope", "doc_id": "007", "relevance": 1}\n'
        },
        {
            "a.jsonl": '{"id": "q1", "text": "red shoes", "judgments": {"sku-1": 3, "sku-2": 0}}\n'
            '{"id": "q2", "text": "rope", "judgments": {"007": 1}}\n'
        },
    ],
)
def test_the_usual_columns_and_keys(files, capsys):
    write_files(files)
    assert judgments(moved("jsonl" if "a.jsonl" in files else "csv", list(files), *REQUEST)) == EXPECTED
    assert main(["validate", "moved.relevance.yaml"]) == 0


def test_a_column_of_counts_leads_to_what_draws_queries_with_weights(capsys):
    write_files({"searches.csv": "query,count\nrope,12\n"})
    moved("csv", ["searches.csv"], *REQUEST)
    said = capsys.readouterr().err
    assert "searches.csv:1:1: the column 'count'; `relevance queries sample searches.csv` draws queries" in said
    write_files({"b.csv": "query,document,grade,count\nrope,007,1,12\n"})
    moved("csv", ["b.csv"], *REQUEST, output="b.relevance.yaml")
    assert "b.csv:1:1: the column 'count'\n" in capsys.readouterr().err


def test_what_is_not_read_is_listed(capsys):
    write_files({"a.csv": "query,document,grade,judge\nrope,007,1,Kim\nrope,008,,Kim\n"})
    moved("csv", ["a.csv"], *REQUEST)
    said = capsys.readouterr().err
    assert "a.csv:3:1: documents without a grade; they stay unjudged" in said
    assert "a.csv:1:1: the column 'judge'" in said
    write_files({"a.jsonl": '{"query": "rope", "document": "007", "grade": 1, "judge": "Kim"}\n'})
    moved("jsonl", ["a.jsonl"], *REQUEST, output="b.relevance.yaml")
    assert "a.jsonl:1:59: 'judge'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "query,document,grade\nrope,007,x\n", "a.csv:2:1: found 'x' as grade, expected a finite number"),
        ("a.csv", "query,document,grade\nrope,007,nan\n", "a.csv:2:1: found 'nan' as grade"),
        ("a.csv", "query,document,grade\nrope,,1\n", "a.csv:2:1: the document is empty beside a grade"),
        (
            "a.csv",
            "query,document,score\nrope,007,1\n",
            "a.csv:1:1: found the columns query, document, score, expected one",
        ),
        ("a.csv", "a,b\n1,2\n", "a.csv:1:1: found the columns a, b, expected one named query"),
        ("a.csv", "id,text\nq,a\nq,b\n", "a.csv:3:1: query 'q' has the text 'b' here, and 'a' before"),
        (
            "a.csv",
            "query,document,grade,weight\nx,d,1,2\nx,e,1,3\n",
            "a.csv:3:1: query 'x' has the weight 3.0 here, and 2.0 before",
        ),
        (
            "a.csv",
            "query,document,grade,params.brand\nx,d,1,A\nx,e,1,B\n",
            "a.csv:3:1: query 'x' has the param 'brand' 'B' here, and 'A' before",
        ),
        ("a.jsonl", '{"document": "d"}\n', "a.jsonl:1:1: found an object, expected an object with query"),
        ("a.jsonl", '{"query": "x"}\n{"query": 1.5}\n', "a.jsonl:2:11: found 1.5, expected a string"),
        ("a.jsonl", '{"query": "x"}\n{"query" "x"}\n', "a.jsonl:2:10: this is not JSON"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(capsys, name, content, said):
    write_files({name: content})
    assert main(["import", "csv", name, "--output", "moved.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("damaged", "damage"),
    [
        ('="007"', "a formula around a text"),
        ("1.23457E+11", "a rounded number"),
        ("1,23457E+11", "a rounded number"),
        ("1E+20", "a rounded number"),
        ("#NAME?", "an error value"),
        ("#N/A", "an error value"),
        ("#DIV/0!", "an error value"),
        ("#WERT!", "an error value"),
        ("########", "an error value"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "quepid", "trec", "jsonl"])
def test_an_id_that_a_spreadsheet_has_changed_is_listed(capsys, kind, damaged, damage):
    if kind == "jsonl":
        write_files({"a.jsonl": {"query": "tent", "document": damaged, "grade": 1}})
    else:
        header = {"csv": "query;document;grade", "quepid": "query;docid;rating", "trec": "query;document;grade"}[kind]
        cell = '"' + damaged.replace('"', '""') + '"'
        write_files({"a.csv": f"{header}\ntent;{cell};1\n"})
    source = {"jsonl": "a.jsonl", "trec": "qrels=a.csv"}.get(kind, "a.csv")
    assert main(["import", kind, source, "--index", "shop", "--output", "moved.relevance.yaml"]) == 0
    said = capsys.readouterr().err
    assert f"an id or text that a spreadsheet has changed, {damage}; it is kept as it is here ({damaged!r})" in said


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("line", ["sep={}\r\n", '"sep={}"\n', "\ufeffSEP={}\n", "\nsep={}\n"])
def test_a_first_line_may_name_the_separator(capsys, line, separator):
    rows = ["query,document,grade", "red shoes,sku-1,3", "red shoes,sku-2,0", "rope,007,1"]
    content = line.format(separator) + "\n".join(rows).replace(",", separator)
    write_files({"a.csv": content + "\n", "b.csv": f"{content}\nrope{separator}d{separator}x\n"})
    assert judgments(moved("csv", ["a.csv"], *REQUEST)) == EXPECTED
    assert main(["import", "csv", "b.csv", "--output", "b.relevance.yaml"]) == 2
    assert f"b.csv:{6 + line.startswith(chr(10))}:1: found 'x' as grade" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["import", "csv", "a.csv", "--output", "b.relevance.yaml"],
                                   ["evaluate", "--qrels", "a.csv", "--run", "a.csv", "--measure", "RR"]])  # fmt: skip
def test_a_quote_that_is_not_closed_is_told_where_its_row_begins(capsys, words):
    write_files({"a.csv": 'query,document,grade\ntent,d,1\n"rope,d,1\naxe,d,1\npan,d,1\n'})
    assert main(words) == 2
    assert "a.csv:3:1: a quote in this row is not closed before the end of the file" in capsys.readouterr().err


def test_judgments_may_have_a_line_of_a_spreadsheet_before_the_header(capsys):
    write_files({"a.csv": "sep=;\nquery;document;grade;score\ntent;d;1;2\nrope;d;x;2\n"})
    assert main(["evaluate", "--qrels", "a.csv", "--run", "a.csv", "--measure", "RR"]) == 2
    assert "a.csv:4:1: found 'x' as the grade of document 'd' for query 'rope'" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["id", "text"])
def test_a_query_that_a_spreadsheet_has_changed_is_listed(capsys, column):
    values = {"id": "q1", "text": "tent", column: "#NAME?"}
    write_files({"q.csv": f"id,text\n{values['id']},{values['text']}\n"})
    assert main(["import", "csv", "q.csv", "--index", "shop", "--output", "moved.relevance.yaml"]) == 0
    assert "q.csv:2:1: an id or text that a spreadsheet has changed, an error value" in capsys.readouterr().err


@pytest.mark.parametrize("sound", ["#1", "1.5", "E+10", "sku-1E+1", "#tag", "=x", "1e5", "C#", "#sale!"])
def test_an_unusual_id_is_not_taken_for_a_changed_one(capsys, sound):
    write_files({"a.jsonl": {"query": "tent", "document": sound, "grade": 1}})
    moved("jsonl", ["a.jsonl"], *REQUEST)
    assert "spreadsheet" not in capsys.readouterr().err


def test_what_is_to_be_filled_in_hides_no_other_problem(capsys):
    write_files({"a.csv": f"query,document,grade\nrope,007,{2**70}\n", "b.csv": "query,document,grade\nrope,007,1\n"})
    assert main(["import", "csv", "b.csv", "--strict", "--output", "b.relevance.yaml"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["import", "csv", "a.csv", "--strict", "--output", "a.relevance.yaml"]) == 2
    assert "a.relevance.yaml:2:1: an exponential gain cannot be computed for grade" in capsys.readouterr().err


def test_a_text_that_some_queries_lack_is_a_problem(capsys):
    write_files(
        {"a.jsonl": '{"id": "q1", "text": "tent", "judgments": {"a": 1}}\n{"id": "q2", "judgments": {"a": 1}}\n'}
    )
    assert main(["import", "jsonl", "a.jsonl", *REQUEST, "--strict", "--output", "moved.relevance.yaml"]) == 2
    assert "query 'q2' has no text, but the request uses {{text}}" in capsys.readouterr().err


def test_judgments_by_text_are_of_the_query_that_has_it(capsys):
    queries = "id,text\n1,tent\n2,rope\n3,rope\n"
    write_files({"q.csv": queries, "j.csv": "query,document,grade\ntent,a,1\nrope,b,1\nrope,c,0\n"})
    suite = moved("csv", ["j.csv", "q.csv"], *REQUEST)
    assert {query.id: dict(query.judgments) for query in suite.queries} == {
        "1": {"a": 1},
        "2": {"b": 1, "c": 0},
        "3": {},
    }
    what = "which of the queries with one text is judged; the first gets the grade (2 times, first 'rope')"
    assert f"j.csv:3:1: {what}" in capsys.readouterr().err


def test_a_query_beside_an_id_and_a_text_is_listed(capsys):
    write_files({"a.jsonl": {"query_id": "1", "query": "tent", "text": "two person tent"}})
    assert [query.text for query in moved("jsonl", ["a.jsonl"], *REQUEST).queries] == ["two person tent"]
    assert "a.jsonl:1:1: 'query' beside an id and a text ('tent')" in capsys.readouterr().err


def test_many_judgments_get_files_of_their_own():
    lines = [{"query": f"q{n % 50}", "document": f"d {n}", "grade": n % 4} for n in range(2001)]
    write_files({"a.jsonl": "".join(json.dumps(line) + "\n" for line in lines)})
    suite = moved("jsonl", ["a.jsonl"], *REQUEST)
    assert sum(len(query.judgments) for query in suite.queries) == 2001
    assert sorted(path.name for path in Path().glob("moved.*")) == [
        "moved.judgments.jsonl",
        "moved.queries.jsonl",
        "moved.relevance.yaml",
    ]


def test_remarks_that_a_file_of_queries_cannot_have_are_listed(capsys):
    rows = "".join(f"q{n % 3},d{n},1\n" for n in range(2001))
    write_files({"a.csv": "query,docid,rating\n" + rows, "notes.csv": "query,notes\nq1,To climb\n"})
    moved("quepid", ["a.csv", "notes.csv"], *REQUEST)
    assert "the remarks on queries; a file of queries has no comments" in capsys.readouterr().err


HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@sum",
    "007",
    "1e5",
    "MAR1",
    "3-4",
    "true",
    "'=x",
    "a,b",
    'say "hi"',
    "a\nb",
    "ünï",
    "a;b",
    "a\u2028b",
    "a\u2029b",
    "a\x85b",
]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_hostile_cells_come_back_and_a_suite_reads_them(form, capsys):
    entries = [
        {
            "id": f"q{n}",
            "text": cell,
            "params": {"brand": cell},
            "tags": ["head"],
            "weight": n + 1,
            "judgments": {cell: 1},
        }
        for n, cell in enumerate(HOSTILE)
    ]
    write_files({"a.jsonl": "".join(json.dumps(entry) + "\n" for entry in entries)})
    write_files({"both.json": {"query": {"match": {"title": "{{text}} {{brand}}"}}}})
    request = ("--index", "shop", "--request-file", "both.json")
    first = moved("jsonl", ["a.jsonl"], *request)
    back = exported(form, output="back")
    if form == "csv":
        for path in back.iterdir():
            with path.open(newline="", encoding="utf-8-sig") as file:
                assert not [cell for row in csv.reader(file) for cell in row if cell[:1] in ("=", "+", "-", "@")]
    again = moved(form, sorted(str(path) for path in back.iterdir()), *request, output="b.relevance.yaml")
    (back / "suite.relevance.yaml").write_text(
        'suite: s\ntarget: {index: i}\nrequest: {query: {match: {t: "{{text}} {{brand}}"}}}\n'
        f"queries: moved.queries.{form}\njudgments: moved.judgments.{form}\n"
    )
    for suite in (first, again, load_suite(back / "suite.relevance.yaml", {})):
        assert [query.text for query in suite.queries] == HOSTILE
        assert [query.params["brand"] for query in suite.queries] == HOSTILE
        assert [list(query.judgments) for query in suite.queries] == [[cell] for cell in HOSTILE]
        assert [query.weight for query in suite.queries] == [n + 1 for n in range(len(HOSTILE))]


CELLS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\ufeff") | st.sampled_from("=+-@'\"\n;,"),
    min_size=1,
    max_size=8,
)


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(CELLS.filter(lambda one: one == one.strip()), st.sampled_from([0, 1, 2.5]), min_size=1, max_size=4)
)
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_any_id_of_a_document_comes_back(tmp_path_factory, form, grades):
    folder = tmp_path_factory.mktemp("trip")
    write_files({"a.jsonl": json.dumps({"id": "q", "text": "tent", "judgments": grades}) + "\n"}, folder)
    moved("jsonl", [str(folder / "a.jsonl")], *REQUEST, output=str(folder / "a.relevance.yaml"))
    back = exported(form, str(folder / "a.relevance.yaml"), str(folder / "back"))
    again = moved(form, sorted(map(str, back.iterdir())), *REQUEST, output=str(folder / "b.relevance.yaml"))
    assert judgments(again) == {"tent": grades}


@pytest.mark.parametrize("system", ["quepid", "csv"])
def test_all_lines_of_a_csv_file_that_are_wrong_are_told(tmp_path, monkeypatch, capsys, system):
    monkeypatch.chdir(tmp_path)
    lines = ["query,docid,rating", "a,d1,oops", "b,d2,2", *(f"c,d{n},bad" for n in range(25)), ""]
    (tmp_path / "many.csv").write_text("\n".join(lines))

    assert main(["import", system, "many.csv", "--output", "x.relevance.yaml"]) == 2

    said = capsys.readouterr().err
    assert "many.csv:2:1: found 'oops'" in said
    assert "many.csv:22:1: found 'bad'" in said
    assert "many.csv: 6 more problems are not shown" in said
    assert "26 problems" in said
    assert not (tmp_path / "x.relevance.yaml").exists()


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_only_line_ends_are_counted_in_a_wrong_csv_file(tmp_path, capsys, separator):
    write_files({"many.csv": f"query,docid,rating\nred{separator}shoes,a,1\nblue,b,x\n"})
    assert main(["import", "csv", "many.csv", "--output", "x.relevance.yaml"]) == 2
    said = capsys.readouterr().err
    assert "many.csv:3:1: found 'x' as rating, expected a finite number" in said
    assert "\n    3 | blue,b,x\n" in said


LOSSY = r"""suite: s
target: {index: i}
request: {query: {match: {t: "{{text}} {{brand}}"}}}
measures: [nDCG@10]
queries:
- id: q1
  text: tent
  tags: ["a;b", c, "d ", "=x"]
  params: {brand: ""}
  judgments: {" x": 1, "y\x7F": 2, "  ": 3}
- {id: " q2", text: rope, params: {brand: "=b"}, judgments: {a: 1}}
- {id: q3, text: "lamp\uFEFF", params: {brand: b}, judgments: {a: 1}}
"""


def test_what_csv_cannot_hold_is_listed_and_all_else_comes_back(capsys):
    write_files({"s.relevance.yaml": LOSSY, "both.json": {"query": {"match": {"t": "{{text}} {{brand}}"}}}})
    back = exported("csv", "s.relevance.yaml")
    said = capsys.readouterr().err
    for left in (
        "s.relevance.yaml:6:7: the tag 'a;b': CSV keeps no semicolons, control characters or blanks around a tag",
        "s.relevance.yaml:6:7: the tag 'd ': CSV keeps no semicolons, control characters or blanks around a tag",
        "s.relevance.yaml:6:7: the empty param 'brand'; CSV has no empty texts",
        "s.relevance.yaml:6:7: document 'y\\x7f' of query 'q1': CSV has no control characters",
        "s.relevance.yaml:6:7: document '  ' of query 'q1': an id must not be blank",
        "query ' q2' with its judgments: CSV keeps no control characters and no blanks around a text",
        "query 'q3' with its judgments: CSV keeps no control characters and no blanks around a text",
    ):
        assert left in said
    request = ("--index", "shop", "--request-file", "body.json")
    [query] = moved("csv", sorted(map(str, back.iterdir())), *request).queries
    assert (query.id, query.text, query.tags, dict(query.judgments)) == ("q1", "tent", ("c", "=x"), {" x": 1})


def test_a_tag_that_a_spreadsheet_would_change_comes_back():
    write_files({"s.jsonl": '{"id": "q1", "text": "tent", "tags": ["=x"], "judgments": {"a": 1}}\n'})
    moved("jsonl", ["s.jsonl"], *REQUEST)
    back = exported("csv")
    [query] = moved("csv", sorted(map(str, back.iterdir())), *REQUEST, output="b.relevance.yaml").queries
    assert query.tags == ("=x",)


def test_json_lines_hold_characters_that_a_text_file_must_not_contain(capsys):
    write_files({"s.relevance.yaml": LOSSY, "both.json": {"query": {"match": {"t": "{{text}} {{brand}}"}}}})
    back = exported("jsonl", "s.relevance.yaml")
    assert "s.relevance.yaml:6:7: document '  ' of query 'q1': an id must not be blank" in capsys.readouterr().err
    request = ("--index", "shop", "--request-file", "both.json")
    suite = moved("jsonl", sorted(map(str, back.iterdir())), *request)
    assert [query.text for query in suite.queries] == ["tent", "rope", "lamp\ufeff"]
    assert dict(suite.queries[0].judgments) == {" x": 1, "y\x7f": 2}


@pytest.mark.parametrize("name", ["product_id", "Product UID", "item_id", "SKU", "asin", "url", "gtin"])
@pytest.mark.parametrize("text", ["query", "search_term", "Keyword"])
def test_documents_of_shops_are_read_under_their_names(name, text):
    write_files({"a.csv": f"{text},{name},relevance,id\nrope,X-7,2.5,1\nrope,X-8,0,2\n"})
    assert judgments(moved("csv", ["a.csv"], *REQUEST)) == {"rope": {"X-7": 2.5, "X-8": 0}}
    line = json.dumps({text.lower(): "rope", name.lower().replace(" ", "_"): "X-7", "relevance": 2.5})
    write_files({"b.jsonl": line})
    assert judgments(moved("jsonl", ["b.jsonl"], *REQUEST, output="b.relevance.yaml")) == {"rope": {"X-7": 2.5}}


def test_a_grade_without_a_column_of_documents_names_the_columns(capsys):
    write_files({"a.csv": "query,thing,relevance\nrope,X-7,2\n"})
    assert main(["import", "csv", "a.csv", "--output", "a.relevance.yaml"]) == 2
    assert "found the columns query, thing, relevance, expected one named document or" in capsys.readouterr().err
    assert not Path("a.relevance.yaml").exists()


def test_labels_in_words_have_the_grades_that_are_given(capsys):
    write_files({"a.csv": "query_id,query,product_id,esci_label\n7,rope,X-7,Good\n7,rope,X-8,Bad\n7,rope,X-9,1.5\n"})
    words = ["import", "csv", "a.csv", "--output", "moved.relevance.yaml"]
    assert main(words) == 2
    assert "a.csv:2:1: found 'Good' as esci_label" in (said := capsys.readouterr().err)
    assert "--grades Good=NUMBER" in said
    assert main([*words, "--grades", "Good=3"]) == 2
    assert "found 'Bad' as esci_label, expected a finite number, or one of Good" in capsys.readouterr().err
    suite = moved("csv", ["a.csv"], *REQUEST, "--grades", "Good=3, Bad = -1")
    assert judgments(suite) == {"rope": {"X-7": 3, "X-8": -1, "X-9": 1.5}}
    assert suite.grades == {"Good": 3, "Bad": -1}


def test_labels_of_json_lines_have_the_grades_that_are_given(capsys):
    entries = [{"query": "rope", "sku": "X-7", "label": "Good"}, {"query": "tent", "judgments": {"X-8": "Bad"}}]
    write_files({"a.jsonl": "\n".join(map(json.dumps, entries))})
    assert main(["import", "jsonl", "a.jsonl", "--output", "a.relevance.yaml"]) == 2
    assert "--grades Good=NUMBER" in capsys.readouterr().err
    suite = moved("jsonl", ["a.jsonl"], *REQUEST, "--grades", "Good=3,Bad=0")
    assert judgments(suite) == {"rope": {"X-7": 3}, "tent": {"X-8": 0}}


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("csv", "Good", "found 'Good', expected a label and its grade"),
        ("csv", "Good=high", "found 'Good=high', expected a label"),
        ("csv", "Good=inf", "expected a label"),
        ("csv", "Good=1,Good=2", "the label 'Good' has two grades"),
    ],
)
def test_grades_of_labels_are_checked(capsys, kind, given, message):
    write_files({"a.csv": "query,sku,label\nrope,X-7,Good\n"})
    assert main(["import", kind, "a.csv", "--output", "a.relevance.yaml", "--grades", given]) == 2
    assert message in capsys.readouterr().err


def test_a_suite_without_judgments_is_said_to_have_none(capsys):
    write_files({"a.csv": "query,thing,verdict\nrope,X-7,good\n"})
    moved("csv", ["a.csv"], *REQUEST)
    assert "moved.relevance.yaml has no judgments: no grade of a document was read" in capsys.readouterr().err
