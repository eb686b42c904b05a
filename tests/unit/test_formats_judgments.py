"""Judgment files of every form, packed or not, and each line that is wrong in one."""

import pytest

pytest.importorskip("pyarrow")

import gzip
import random
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path

import pyarrow as arrow
import zstandard
from pyarrow import parquet

from builders.refusals import refuse_judgments
from harness.errors import FormatError
from harness.files.judgments import find_judgment_lines, find_query_line, read_judgments
from harness.files.opening import FileFormat, detect_format

EXPECTED = {"q1": {"d1": 3.0, "d2": 0.0}, "q2": {"d1": -1.0, "ünï": 1.5}}
TREC = "q1 0 d1 3\nq2 0 d1 -1\nq1 0 d2 0\nq2 0 ünï 1.5\n"
CSV = 'query,document,grade,rater\nq1,d1,3,kim\nq2,d1,-1,\nq1,d2,0,"a, b"\nq2,ünï,1.5,\n'
JSON_LINES = """\
{"query": "q1", "document": "d1", "grade": 3}
{"grade": "-1", "document": "d1", "query": "q2", "rater": "kim"}

{"query": "q1", "document": "d2", "grade": 0}
{"query": "q2", "document": "ünï", "grade": 1.5}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_file(name, content):
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return Path(name)

    return write_file


@pytest.mark.parametrize(
    ("name", "content"), [("j.qrels", TREC), ("j.txt", TREC), ("j", TREC), ("j.csv", CSV), ("j.jsonl", JSON_LINES)]
)
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_every_form_gives_the_same_judgments(write, name, content, packing):
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[packing]
    assert read_judgments(write(name + packing, pack(content.encode()))) == EXPECTED


def test_several_frames_of_zstandard_are_all_read(write):
    frames = [zstandard.compress("".join(f"q{n} 0 d{m} 1\n" for m in range(50_000)).encode()) for n in range(3)]
    judgments = read_judgments(write("j.qrels.zst", b"".join(frames)))
    assert [len(judged) for judged in judgments.values()] == [50_000] * 3


def test_parquet_gives_the_same_judgments(write):
    import pyarrow
    import pyarrow.parquet

    rows = [(query, document, grade) for query, judged in EXPECTED.items() for document, grade in judged.items()]
    columns = dict(zip(("query", "document", "grade"), zip(*rows, strict=True), strict=True))
    pyarrow.parquet.write_table(pyarrow.table({"rater": ["kim"] * len(rows), **columns}), "j.parquet")
    assert read_judgments(Path("j.parquet")) == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        "q1\t0\td1\t3\nq1\t0\td2\t0\n",
        "q1 0 d1 3\r\nq1 0 d2 0\r\n",
        "  q1   0 \t d1  3  \n\n   \nq1 0 d2 0",
        "\ufeffq1 0 d1 3\nq1 Q0 d2 0.0\n",
        "q1 0 d1 3e0\nq1 0 d2 -0\n",
    ],
)
def test_blanks_tabs_and_blank_lines_between_are_the_same_to_trec(write, text):
    assert read_judgments(write("j.qrels", text)) == {"q1": {"d1": 3.0, "d2": 0.0}}


@pytest.mark.parametrize(
    "text",
    [
        "# by two assessors\n" + TREC,
        "q1 0 d1 3\n# not a judgment\nq2 0 d1 -1\nq1 0 d2 0\nq2 0 ünï 1.5\n#end",
        "#\nq1\t0\td1\t3\n#q9 0 d9 1\nq2  0 d1 -1\n\nq1 0 d2 0\nq2 0 ünï 1.5",
    ],
)
def test_a_line_that_begins_with_a_number_sign_is_a_comment_to_trec(write, text):
    assert read_judgments(write("j.qrels", text)) == EXPECTED


def test_a_wrong_line_is_told_behind_comments(write):
    assert refuse_judgments(write("j.qrels", "# one\n# two\nq1 0 d1\n")).startswith("j.qrels:3:1: found 3 columns")


def test_only_ascii_blanks_part_the_columns_of_trec(write):
    assert read_judgments(write("j.qrels", "q\u00a01 0 d\u2003x 1\n")) == {"q\u00a01": {"d\u2003x": 1.0}}


def test_more_lines_than_a_block_holds_are_all_read(write):
    text = "".join(f"q{n // 100} 0 d{n} {n % 4}\n" for n in range(200_000))
    judgments = read_judgments(write("j.qrels", text))
    assert len(judgments) == 2000
    assert all(len(judged) == 100 for judged in judgments.values())
    assert judgments["q1999"]["d199999"] == 3.0


def test_names_of_grades_are_read_where_they_are_given(write):
    path = write("j.csv", "query,document,grade\nq,a,good\nq,b,2\n")
    assert read_judgments(path, grade_names={"good": 1.5}) == {"q": {"a": 1.5, "b": 2.0}}


WRONG = {
    "too few columns": (
        "j.qrels",
        "q1 0 d1 3\nq1 0 d2\n",
        "j.qrels:2:1: found 3 columns, expected 4: query, iteration, document, grade\n    2 | q1 0 d2\n      | ^",
    ),
    "too few in one line and too many in another": (
        "j.qrels",
        "q1 0 d1\nq1 0 d2 1 x\n",
        "j.qrels:1:1: found 3 columns, expected 4: query, iteration, document, grade\n    1 | q1 0 d1\n      | ^\n"
        "j.qrels:2:1: found 5 columns, expected 4: query, iteration, document, grade\n    2 | q1 0 d2 1 x\n      | ^",
    ),
    "no number": (
        "j.qrels",
        "q1 0 d1 good\n",
        "j.qrels:1:1: found 'good' as the grade of document 'd1' for query 'q1', expected a number\n"
        "    1 | q1 0 d1 good\n      | ^",
    ),
    "number of Python's own": (
        "j.qrels",
        "q1 0 d1 1_0\n",
        "j.qrels:1:1: found '1_0' as the grade of document 'd1' for query 'q1', expected a number\n"
        "    1 | q1 0 d1 1_0\n      | ^",
    ),
    "digits of another script": (
        "j.qrels",
        "q1 0 d1 ３\n",
        "j.qrels:1:1: found '３' as the grade of document 'd1' for query 'q1', expected a number\n"
        "    1 | q1 0 d1 ３\n      | ^",
    ),
    "NaN": (
        "j.qrels",
        "q1 0 d1 1\nq1 0 d2 NaN\n",
        "j.qrels:2:1: the grade of document 'd2' for query 'q1' is nan, expected a finite number\n"
        "    2 | q1 0 d2 NaN\n      | ^",
    ),
    "infinity": (
        "j.jsonl",
        '{"query": "q", "document": "d", "grade": Infinity}\n',
        "j.jsonl:1:42: this is not JSON: Infinity is not a number that JSON has\n"
        '    1 | {"query": "q", "document": "d", "grade": Infinity}\n'
        "      |                                          ^",
    ),
    "document judged twice": (
        "j.qrels",
        "q1 0 d1 1\n\nq2 0 d1 1\nq1 0 d1 1\n",
        "j.qrels:4:1: document 'd1' is judged twice for query 'q1', first in line 1\n    4 | q1 0 d1 1\n      | ^",
    ),
    "document judged twice in CSV": (
        "j.csv",
        "query,document,grade\nq,d,1\nq,d,2\n",
        "j.csv:3:1: document 'd' is judged twice for query 'q', first in line 2\n    3 | q,d,2\n      | ^",
    ),
    "not UTF-8": (
        "j.qrels",
        b"q1 0 d1 1\nq1 0 \xff 1\n",
        "j.qrels:2:6: byte 0xff is not UTF-8; expected a file in UTF-8\n    2 | q1 0 \ufffd 1\n      |      ^",
    ),
    "NUL byte": (
        "j.qrels",
        b"q1 0 d1 1\nq1 0 d\0 1\n",
        "j.qrels:2:7: found a NUL byte; which a text file must not contain\n    2 | q1 0 d  1\n      |       ^",
    ),
    "no header": (
        "j.csv",
        "q1,d1,3\n",
        "j.csv:1:1: the header lacks query, document, grade; expected the columns query, document, grade\n"
        "    1 | q1,d1,3\n      | ^",
    ),
    "column named twice": (
        "j.csv",
        "query,document,grade,grade\n",
        "j.csv:1:1: the header names grade twice\n    1 | query,document,grade,grade\n      | ^",
    ),
    "row of another length": (
        "j.csv",
        "query,document,grade\nq,d\n",
        "j.csv:2:1: found 2 columns, expected 3 as in the header\n    2 | q,d\n      | ^",
    ),
    "empty id": (
        "j.csv",
        "query,document,grade\nq,,1\n",
        "j.csv:2:1: the document is empty; expected an id\n    2 | q,,1\n      | ^",
    ),
    "no JSON": (
        "j.jsonl",
        '{"query": "q"\n',
        'j.jsonl:1:14: this is not JSON: Expecting \',\' delimiter\n    1 | {"query": "q"\n      |              ^',
    ),
    "no object": (
        "j.jsonl",
        "[1]\n",
        "j.jsonl:1:1: found no object; expected an object with query, document, grade\n    1 | [1]\n      | ^",
    ),
    "key twice": (
        "j.jsonl",
        '{"query": "q", "document": "d", "grade": 1, "grade": 0}\n',
        "j.jsonl:1:45: the object has the key 'grade' twice\n"
        '    1 | {"query": "q", "document": "d", "grade": 1, "grade": 0}\n'
        "      |                                             ^",
    ),
    "missing key": (
        "j.jsonl",
        '{"query": "q", "doc": "d", "grade": 1}\n',
        "j.jsonl:1:1: the object lacks document; expected an object with query, document, grade\n"
        '    1 | {"query": "q", "doc": "d", "grade": 1}\n      | ^',
    ),
    "id that is no text": (
        "j.jsonl",
        '{"query": true, "document": "d", "grade": 1}\n',
        "j.jsonl:1:1: found true as query, expected a string or a whole number\n"
        '    1 | {"query": true, "document": "d", "grade": 1}\n      | ^',
    ),
    "grade that is no number": (
        "j.jsonl",
        '{"query": "q", "document": "d", "grade": true}\n',
        "j.jsonl:1:1: found true as grade, expected a number\n"
        '    1 | {"query": "q", "document": "d", "grade": true}\n      | ^',
    ),
}


@pytest.mark.parametrize(("name", "content", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_line_is_told(write, name, content, message):
    assert refuse_judgments(write(name, content)) == message


def test_a_quote_that_is_not_closed_is_told(write):
    path = write("j.csv", 'query,document,grade\nq,"d,1\n')
    assert "j.csv:2:1: a quote in this row is not closed" in refuse_judgments(path)


def test_all_wrong_lines_are_told_up_to_a_number(write):
    refused = refuse_judgments(write("j.qrels", "q 0 d x\n" * 30))
    assert refused.startswith("j.qrels: 10 more problems are not shown\n")
    assert refused.count("found 'x'") == 20


def test_the_line_of_a_yaml_file_is_the_one_that_yaml_counts(write):
    refused = refuse_judgments(write("j.yaml", 'q1:\n  d1: "a\u2028  b"\n'))
    assert refused.startswith("j.yaml:2:3: found 'a")
    refused = refuse_judgments(write("j.yaml", "# a\u2028# b\nq1:\n  d1: x\n"))
    assert refused.endswith("    4 |   d1: x\n      |   ^")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "a: {"])
def test_a_nesting_bomb_is_refused(write, opening):
    """By its first levels, or by the limit of PyYAML 6.0.4, which reads ahead."""
    refused = refuse_judgments(write("j.yaml", opening * 30_000))
    assert "expected query ids with document ids and grades below them" in refused
    assert len(refused) < 600


def test_a_file_that_is_not_there_or_damaged_is_told(write):
    assert refuse_judgments(Path("none.qrels")) == "none.qrels: there is no such file"
    assert refuse_judgments(write("j.qrels.gz", b"no gzip")).startswith(
        "j.qrels.gz: the file cannot be read: Not a gzipped file"
    )
    whole = gzip.compress(TREC.encode() * 1000)
    half = write("k.qrels.gz", whole[: len(whole) // 2])
    assert refuse_judgments(half).startswith("k.qrels.gz: the file cannot be read: ")
    assert refuse_judgments(write("j.qrels.zst", b"no zstandard")).startswith("j.qrels.zst: the file cannot be read: ")
    whole = zstandard.compress(TREC.encode() * 1000)
    refused = refuse_judgments(write("k.qrels.zst", whole[: len(whole) // 2]))
    assert refused == "k.qrels.zst: the file cannot be read: the file ends inside a zstd frame"
    assert refuse_judgments(write("j.parquet", b"no parquet")).startswith("j.parquet: this is not a Parquet file: ")


@pytest.mark.parametrize("content", [None, b"no gzip"], ids=["missing", "damaged"])
def test_a_problem_of_the_whole_file_has_no_place(write, content):
    path = Path("j.qrels.gz")
    if content is not None:
        write(path.name, content)
    with pytest.raises(FormatError) as caught:
        read_judgments(path)
    [problem] = caught.value.problems
    assert (problem.path, problem.line, problem.column) == (path.name, 0, 0)


@pytest.mark.parametrize("column", ["query", "document", "grade"])
@pytest.mark.parametrize("kind", ["binary", "string"])
def test_text_in_parquet_that_is_not_utf8_is_told(write, column, kind):
    import pyarrow
    import pyarrow.parquet

    bad = pyarrow.Array.from_buffers(
        getattr(pyarrow, kind)(), 1, [None, pyarrow.py_buffer(b"\0\0\0\0\1\0\0\0"), pyarrow.py_buffer(b"\xff")]
    )
    pyarrow.parquet.write_table(
        pyarrow.table({"query": ["q"], "document": ["a"], "grade": [1.0], column: bad}), "j.parquet"
    )
    told = refuse_judgments(Path("j.parquet"))
    assert "not UTF-8" in told or "found b'\\xff' as grade" in told


def test_a_parquet_table_without_the_columns_is_told(write):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"query": ["q"], "doc": ["d"]}), "j.parquet")
    assert refuse_judgments(Path("j.parquet")) == (
        "j.parquet: the table lacks document, grade; expected the columns query, document, grade"
    )
    pyarrow.parquet.write_table(pyarrow.table({"query": ["q"], "document": [None], "grade": [1]}), "k.parquet")
    assert refuse_judgments(Path("k.parquet")) == (
        "k.parquet:1:1: a value is null; expected a query, a document and a number"
    )


FLOATS = "has floating-point numbers; write it as integers or strings"

# Columns are made in the test: the first that is made imports pandas, which each process that collects would pay for.


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (lambda: arrow.array([1.0]), FLOATS),
        (lambda: arrow.array([1.0], arrow.float32()).dictionary_encode(), FLOATS),
        (lambda: arrow.array([True]), "has values of the type bool; expected strings or whole numbers"),
        (
            lambda: arrow.array([date(2026, 1, 2)]),
            "has values of the type date32[day]; expected strings or whole numbers",
        ),
        (
            lambda: arrow.array([Decimal(1)]),
            "has values of the type decimal128(1, 0); expected strings or whole numbers",
        ),
    ],
)
@pytest.mark.parametrize("name", ["query", "document"])
def test_what_is_no_id_in_parquet_is_told_with_its_column(write, name, ids, problem):
    parquet.write_table(arrow.table({"query": ["q"], "document": ["a"], "grade": [1], name: ids()}), "j.parquet")
    assert refuse_judgments(Path("j.parquet")) == f"j.parquet: the column '{name}' {problem}"


def test_a_column_of_lists_in_parquet_is_no_column_of_ids(write):
    parquet.write_table(arrow.table({"query": ["q"], "document": [["a"]], "grade": [1]}), "j.parquet")
    assert "the column 'document' has values of the type list<" in refuse_judgments(Path("j.parquet"))


@pytest.mark.parametrize(
    "ids",
    [
        lambda: arrow.array([7], arrow.uint8()),
        lambda: arrow.array(["7"], arrow.large_string()),
        lambda: arrow.array([b"7"], arrow.binary(1)),
        lambda: arrow.array(["7"]).dictionary_encode(),
    ],
)
def test_texts_and_whole_numbers_in_parquet_are_ids(write, ids):
    parquet.write_table(arrow.table({"query": ids(), "document": ids(), "grade": [Decimal("1.5")]}), "j.parquet")
    assert read_judgments(Path("j.parquet")) == {"7": {"7": 1.5}}


def test_a_column_that_is_twice_in_parquet_is_told(write):
    parquet.write_table(arrow.table([["p"], ["q"], ["a"], [1]], ["query", "query", "document", "grade"]), "j.parquet")
    assert refuse_judgments(Path("j.parquet")) == "j.parquet: the table names query twice"


def test_the_place_of_a_judgment_can_be_looked_up(write):
    path = write("j.qrels", TREC)
    assert find_judgment_lines(path, {("q1", "d2"), ("q2", "d1"), ("q9", "d1")}) == {("q1", "d2"): 3, ("q2", "d1"): 2}
    assert (find_query_line(path, "q2"), find_query_line(path, "q9")) == (2, 0)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.csv", FileFormat.CSV),
        ("a.CSV.gz", FileFormat.CSV),
        ("a.ndjson", FileFormat.JSON_LINES),
        ("a.parquet", FileFormat.PARQUET),
        ("a.b.qrels.zst", FileFormat.TREC),
        ("qrels", FileFormat.TREC),
    ],
)
def test_the_suffix_tells_the_form(name, form):
    assert detect_format(Path(name)) is form


LINES = b"\n" * 2 * 2**20


@pytest.mark.parametrize(
    ("name", "pack", "content", "message"),
    [
        ("lines.qrels.gz", gzip.compress, LINES, "unpacks to more than 1 MB, 200 times its size"),
        ("lines.csv.zst", zstandard.compress, LINES, "unpacks to more than 1 MB, 200 times its size"),
        (
            "line.qrels.gz",
            partial(gzip.compress, compresslevel=1),
            random.Random(7).randbytes(2**16).hex().encode() * 9,
            "a line of it has more than 1 MB",
        ),
    ],
)
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch, name, pack, content, message):
    monkeypatch.setattr("harness.files.opening.MOST_UNPACKED", 2**20)
    monkeypatch.setattr("harness.files.opening._LONGEST_LINE", 2**20)
    (tmp_path / name).write_bytes(pack(content))
    with pytest.raises(FormatError, match=message):
        read_judgments(tmp_path / name)


def test_a_large_file_that_is_packed_well_is_read(tmp_path):
    """Ids that count up are a twentieth when they are packed."""
    lines = b"".join(b"query 0 document-%07d 1\n" % number for number in range(800_000))
    assert len(lines) > 16 * 2**20
    (tmp_path / "large.qrels.gz").write_bytes(gzip.compress(lines, 5))
    assert len(read_judgments(tmp_path / "large.qrels.gz")["query"]) == 800_000


def test_a_table_of_a_few_bytes_and_millions_of_rows_is_refused(tmp_path):
    same = arrow.array(["a"] * 3_000_000).dictionary_encode()
    table = arrow.table({"query": same, "document": same, "grade": same})
    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(FormatError, match=r"3,000,000 rows in a file of .* bytes, so most of them are the same"):
        read_judgments(tmp_path / "rows.parquet")
