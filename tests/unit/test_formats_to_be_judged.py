"""Judgment files as graders fill them in: rows without a grade, cells that a spreadsheet changes, YAML."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.refusals import refuse_judgments
from harness.errors import FormatError
from harness.files.judgments import find_judgment_lines, find_query_line, read_judgments
from harness.files.runs import read_run
from harness.files.tables import mark_as_text, remove_mark


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_file(name, content):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        return path.relative_to(tmp_path)

    return write_file


UNGRADED = {
    "j.csv": "query,document,grade,title\nq,a,1,\nq,b,,Boots\n",
    "j.jsonl": (
        '{"query": "q", "document": "a", "grade": 1}\n\n'
        '{"query": "q", "document": "b", "grade": null, "title": "Boots"}\n'
    ),
    "j.yaml": "q:\n  a: 1\n  b:  # Boots\n",
    "tilde.yml": "q:\n  a: 1\n  b: ~\n",
}


@pytest.mark.parametrize("name", UNGRADED)
def test_a_document_without_a_grade_is_refused_in_its_line(write, name):
    said = refuse_judgments(write(name, UNGRADED[name]))
    assert said.startswith(f"{name}:3:{3 if 'y' in name[-4:-1] else 1}: document 'b' has no grade yet for query 'q'; ")
    assert "ungraded: ignore" in said


@pytest.mark.parametrize("name", UNGRADED)
def test_it_is_given_back_where_that_is_asked_for(write, name):
    left = []
    assert read_judgments(write(name, UNGRADED[name]), ungraded=left) == {"q": {"a": 1.0}}
    assert [(record.query, record.document, record.line) for record in left] == [("q", "b", 3)]


def test_a_parquet_table_may_lack_grades_too(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "j.parquet"
    parquet.write_table(arrow.table({"query": ["q", "q"], "document": ["a", "b"], "grade": [1, None]}), path)
    assert "document 'b' has no grade yet" in refuse_judgments(path)


def test_the_line_of_a_judgment_is_not_that_of_a_row_without_a_grade(write):
    path = write("j.csv", "query,document,grade\nq,a,\nq,a,2\n")
    assert find_judgment_lines(path, {("q", "a")}) == {("q", "a"): 3}


# ------------------------------------------------------------------------------------------------ YAML

YAML = """\
# graded by Kim
red shoes:
  # rank 1: Runners
  sku-17: 3
  "007": good
  no: -1.5
boots:
none:
'quoted "id"':
  ? "long"
  : 2
"""


def test_yaml_maps_query_to_document_to_grade(write):
    judged = read_judgments(write("j.yaml", YAML), grade_names={"good": 2})
    assert judged == {"red shoes": {"sku-17": 3.0, "007": 2.0, "no": -1.5}, 'quoted "id"': {"long": 2.0}}


@pytest.mark.parametrize("text", ["", "# nothing judged\n", "{}\n", "---\n"])
def test_yaml_that_holds_nothing_judges_nothing(write, text):
    assert read_judgments(write("j.yaml", text)) == {}


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("- q\n", "1:1", "found a list; expected query ids"),
        ("q:\n  - a\n", "2:3", "found a list"),
        ("q:\n  a: [1]\n", "2:6", "found a list"),
        ("q:\n  a: {b: 1}\n", "2:6", "found a mapping"),
        ("q: 3\n", "1:4", "found '3'"),
        ("q: &x\n  a: 1\nr: *x\n", "3:4", "found an alias"),
        ("q:\n  a: !!int 3\n", "2:6", "found a YAML tag"),
        ("q:\n  a: 1\n---\nr:\n", "3:1", "found a second document"),
        ("q:\n  a: 1\n b: 2\n", "3:2", "this is not YAML"),
        ("q:\n  a: god\n", "2:3", "found 'god' as the grade of document 'a' for query 'q'"),
        ("q:\n  a: .inf\n", "2:3", "found '.inf'"),
        ("q:\n  a: ''\n", "2:3", "no grade yet"),
        ("q:\n  a: 1\n  a: 2\n", "3:3", "document 'a' is judged twice for query 'q', first in line 2"),
        ("q:\n  a: 1\nq:\n  a: 1\n", "4:3", "document 'a' is judged twice for query 'q', first in line 2"),
        ("q:\n  '': 1\n", "2:1", "the document is empty"),
    ],
)
def test_yaml_of_another_shape_is_refused_in_its_place(write, text, place, said):
    told = refuse_judgments(write("j.yaml", text))
    assert told.startswith(f"j.yaml:{place}: ")
    assert said in told


def test_ten_thousand_brackets_are_no_danger(write):
    assert "found a list" in refuse_judgments(write("j.yaml", "q: " + "[" * 30_000))


def test_the_places_of_yaml_are_found(write):
    path = write("j.yaml", YAML)
    assert find_judgment_lines(path, {("red shoes", "007")}) == {("red shoes", "007"): 5}
    assert find_query_line(path, 'quoted "id"') == 10


def test_a_run_is_not_read_from_yaml(write):
    with pytest.raises(FormatError, match="a run cannot be YAML"):
        read_run(write("r.yaml", "q:\n  a: 1\n"))


# ------------------------------------------------------------------------------------------------ spreadsheets


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-x",
        "@a",
        "\t=1",
        "007",
        "1e5",
        "3-4",
        "12:30",
        "1234567890123456",
        "1.10",
        "MAR1",
        "sept2",
        "Jan 5",
        "5 Jan",
        "1-Mar-24",
        "3 october",
        "TRUE",
        "false",
        "(5)",
        "$5",
        "5%",
        "5 €",
        ".5",
        " 7",
        "5 pm",
    ],
)
def test_what_a_spreadsheet_changes_is_marked_as_text(text):
    assert mark_as_text(text) == f"'{text}"
    assert remove_mark(text) == remove_mark(f"'{text}") == text


SIGNS = "=+-@＝＋－＠﹢﹣﹦﹫"


@pytest.mark.parametrize("sign", SIGNS)
def test_a_formula_is_marked_behind_blanks_and_behind_a_separator(sign):
    for blanks in ("", " ", "\u00a0\u3000", "\ufeff", "\u200b"):
        formula = f"{blanks}{sign}cmd|'/c calc'!A1"
        assert mark_as_text(formula) == f"'{formula}"
        assert mark_as_text(f"a;{formula}") == f"a;'{formula}"
        assert mark_as_text(f";'{formula}") == f";''{formula}"
        for text in (formula, f"a;{formula}", f";'{formula}", f"{formula};{formula}"):
            assert remove_mark(mark_as_text(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "sku-17",
        "42",
        "0",
        "'t hart",
        "'s",
        "red shoes",
        "",
        "ünï",
        "a=b",
        "123456789012345",
        "mar",
        "marble-5",
        "e5",
        "truest",
        "50 shades",
        "a%",
    ],
)
def test_what_it_leaves_alone_is_written_as_it_is(text):
    assert mark_as_text(text) == remove_mark(text) == text


IDS = (
    st.text(f";\t' a{SIGNS}", min_size=1)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), min_size=1)
    | st.from_regex(r"\A'{0,3}[=+\-@0-9.eE]{1,4}\Z")
)


@given(IDS)
@example(";\t=")
@example(";\t;=")
@example("a\t\t'=")
def test_every_id_comes_back_from_a_cell(identifier):
    written = io.StringIO()
    csv.writer(written).writerow([mark_as_text(identifier)])
    [[cell]] = csv.reader(io.StringIO(written.getvalue()), strict=True)
    assert remove_mark(cell) == identifier


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("begin", ["", "\ufeff", "\n"])
def test_the_header_tells_what_parts_the_columns(write, separator, end, begin):
    rows = [["grade", '"query"', "document", "title"], ["1", "q", '"a;b,c"', '"two\nlines"'], ["", "q", "d", "x"]]
    path = write("j.csv", begin + "".join(separator.join(row) + end for row in rows))
    ungraded = []
    assert read_judgments(path, ungraded=ungraded) == {"q": {"a;b,c": 1.0}}
    blank = begin == "\n"
    assert [(record.document, record.line) for record in ungraded] == [("d", 4 + blank)]
    assert find_query_line(path, "q") == 2 + blank


def test_a_wrong_line_between_semicolons_is_shown_as_it_stands(write):
    refused = refuse_judgments(write("j.csv", "query;document;grade\nq;a;1;x\n"))
    assert refused.startswith("j.csv:2:1: found 4 columns, expected 3 as in the header\n    2 | q;a;1;x\n")


def test_a_decimal_comma_is_refused_with_the_number_that_was_meant(write):
    path = write("j.csv", "query;document;grade\nq;a;0,5\nq;b;1,000,5\n")
    first, second = (line for line in refuse_judgments(path).splitlines() if line.startswith("j.csv"))
    assert first.endswith(
        "found '0,5' as the grade of document 'a' for query 'q', expected a number; did you mean 0.5?"
    )
    assert second.endswith("expected a number")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_in_utf_16_is_told_once(tmp_path, encoding):
    path = tmp_path / "j.csv"
    path.write_bytes("\ufeffquery,document,grade\nq,a,1\nq,b,1\n".encode(encoding))
    assert refuse_judgments(path, name="j.csv") == (
        "j.csv: the file is in UTF-16; expected UTF-8, which spreadsheets call CSV UTF-8"
    )


def test_a_judgment_file_is_read_with_the_marks_and_without_them(write):
    marked = write("marked.csv", "query,document,grade\n'=q,'007,1\n'=q,''-x,2\n")
    plain = write("plain.csv", "query,document,grade\n=q,007,1\n=q,''-x,2\n")
    assert read_judgments(marked) == read_judgments(plain) == {"=q": {"007": 1.0, "'-x": 2.0}}
