"""Grades written back: what a file holds afterwards, and that nothing else of it changed."""

import difflib
import gzip
import json
import os

import pytest

from harness.errors import UsageError
from harness.extensions.judging.writing import FilesChanged, GradedFiles, format_grades_csv, format_grades_json_lines
from harness.files.folders import Folder

HEAD = """\
# What the shop's search has to find.
suite: "shop"          # its name
target: {index: products}
request: {query: {match: {title: "{{text}}"}}, sort: [_score, {popularity: desc}]}
measures: ["nDCG@3"]
"""


@pytest.fixture
def write(tmp_path):
    """Writes a suite with these queries and files, grades it, and gives the added lines, or what else changed."""

    def write_grades(queries, grades, *, given=(), files=None, head="", name="shop.relevance.yaml"):
        path = tmp_path / name
        path.write_bytes((HEAD + head + queries).encode())
        contents = {tmp_path / file: content for file, content in (files or {}).items()}
        for file, content in contents.items():
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        graded = {
            ("q", document) if isinstance(document, str) else document: float(g) for document, g in grades.items()
        }
        before = {file: file.read_bytes().decode(errors="replace") for file in (path, *contents)}
        written = GradedFiles.read(path).write(graded, dict(given))
        after = {file: file.read_bytes().decode(errors="replace") for file in (path, *contents)}
        diff = []
        for file, text in before.items():
            lines = difflib.ndiff(text.split("\n"), after[file].split("\n"))
            diff += [line for line in lines if line[0] in "+-"]
        return written, diff

    return write_grades


@pytest.mark.parametrize(
    ("queries", "diff"),
    [
        ("queries:\n  - {id: q, text: shoes, judgments: {a: 1}}   # few\n",
         ["-   - {id: q, text: shoes, judgments: {a: 1}}   # few",
          "+   - {id: q, text: shoes, judgments: {a: 1, b: 2, c-1: 0}}   # few"]),
        ("queries:\n  - id: q\n    judgments:\n      a: 1   # fits\n      # and no more\n    text: shoes\n",
         ["+       b: 2", "+       c-1: 0"]),
        ("queries:\n- id: q\n  judgments:\n      'a': 1\n  text: shoes", ["+       'b': 2", "+       'c-1': 0"]),
        ("queries:\n  - id: q\n    text: shoes\n    tags: [x]   # one\n\n  - {id: p, text: boots}\n",
         ["+     judgments:", "+       b: 2", "+       c-1: 0"]),
        ("queries:\n  - id: q\n    text: shoes\n    tags:\n      - x\n",
         ["+     judgments:", "+       b: 2", "+       c-1: 0"]),
        ("queries:\n  - {id: q, text: shoes}\n",
         ["-   - {id: q, text: shoes}", "+   - {id: q, text: shoes, judgments: {b: 2, c-1: 0}}"]),
        ("queries:\n  - id: q\n    text: shoes\n  - {id: p, text: boots, judgments: {x: 1}}\n",
         ["+     judgments: {b: 2, c-1: 0}"]),
        ("queries:\n  - {id: q, text: shoes, judgments: {}}\n",
         ["-   - {id: q, text: shoes, judgments: {}}", "+   - {id: q, text: shoes, judgments: {b: 2, c-1: 0}}"]),
        ("queries:\n  - id: q\n    text: shoes\n    judgments: {\n      a: 1,  # one\n      d: 3   # two\n    }\n",
         ["-       d: 3   # two", "+       d: 3,   # two", "+       b: 2,", "+       c-1: 0"]),
        ("queries:\n  - id: q\n    text: shoes\n    judgments: {\n      a: 1,  # one\n    }\n",
         ["+       b: 2,", "+       c-1: 0,"]),
        ("queries:\r\n  - id: q\r\n    text: größe 靴\r\n    judgments:\r\n      a: 1\r\n",
         ["+       b: 2\r", "+       c-1: 0\r"]),
    ],
)  # fmt: skip
def test_only_the_new_judgments_change_the_suite(write, queries, diff):
    written, found = write(queries, {"b": 2, "c-1": 0})
    assert (written.added, written.changed, dict(written.kept)) == (2, 0, {})
    assert [line for line in found if not line.startswith("?")] == diff


@pytest.mark.parametrize(
    ("document", "sibling", "written"),
    [
        ("007", "a", '"007": 2'),
        ("007", "42", "007: 2"),
        ("no", "a", '"no": 2'),
        ("a b: #1", "a", '"a b: #1": 2'),
        ("it's", "'a'", "'it''s': 2"),
        ("true", "a", '"true": 2'),
        ("ä\u2028", "a", '"ä\\U00002028": 2'),
        ("http://x/y?z=1", "a", '"http://x/y?z=1": 2'),
        ("sku-17", '"a"', '"sku-17": 2'),
    ],
)
def test_a_document_s_id_is_quoted_as_its_siblings_are_and_where_it_has_to_be(write, document, sibling, written):
    _, found = write(f"queries:\n  - id: q\n    text: x\n    judgments:\n      {sibling}: 1\n", {document: 2})
    assert found == [f"+       {written}"]


@pytest.mark.parametrize(
    ("judgments", "written"),
    [("{a: good}", "{a: good, b: bad}"), ("{a: 2}", "{a: 2, b: 0}"), ("{}", "{b: bad}")],
)
def test_grades_have_their_names_where_the_others_do(write, judgments, written):
    queries = f"queries:\n  - {{id: q, text: x, judgments: {judgments}}}\n"
    _, found = write(queries, {"b": 0}, head="grades: {good: 2, bad: 0}\n")
    assert f"+   - {{id: q, text: x, judgments: {written}}}" in found


QUERIES = "queries:\n  - {id: q, text: shoes}\n  - {id: p, text: boots}\n"


@pytest.mark.parametrize(
    ("name", "content", "diff"),
    [
        ("j.csv", "sep=;\nquery;document;grade\nq;a;1\n", ["+ q;b;2", "+ q;c-1;0"]),
        ("j.qrels", "q 0 a 1\np 0 z 1\n", ["+ q 0 b 2", "+ q 0 c-1 0"]),
        ("j.qrels", "# of p\np\t0\tz\t1", ["+ q\t0\tb\t2", "+ q\t0\tc-1\t0", "+ "]),
        ("j.csv", "query,document,grade\nq,a,1\n", ["+ q,b,2", "+ q,c-1,0"]),
        ("j.csv", 'query;note;document;grade\r\n"q";"two\r\nlines";b;\r\n',
         ['- lines";b;\r', '+ lines";b;2\r', "+ q;;c-1;0\r"]),
        ("j.csv", "query,document,grade,title\nq,b,,Blue\nq,'007,\"\",x\nq,c-1,,\n",
         ["- q,b,,Blue", "+ q,b,2,Blue", "- q,c-1,,", "+ q,c-1,0,"]),
        ("j.jsonl", '{"query":"q",  "document":"b", "grade":null, "by":1}\n'
         '{"query": "q", "document": "c-1", "grade": null}',
         ['- {"query":"q",  "document":"b", "grade":null, "by":1}',
          '+ {"query":"q",  "document":"b", "grade":2, "by":1}',
          '- {"query": "q", "document": "c-1", "grade": null}', '+ {"query": "q", "document": "c-1", "grade": 0}']),
        ("j.jsonl", '{"query": "p", "document": "z", "grade": 1}\n',
         ['+ {"query": "q", "document": "b", "grade": 2}', '+ {"query": "q", "document": "c-1", "grade": 0}']),
        ("j.yaml", "# pooled\nq:\n  # rank 1\n  \"b\":\n  \"c-1\":   # what?\n",
         ['-   "b":', '+   "b": 2', '-   "c-1":   # what?', '+   "c-1": 0   # what?']),
        ("j.yaml", "p:\n  z: 1\n", ["+ q:", "+   b: 2", "+   c-1: 0"]),
        ("j.yaml", "# nothing yet\n", ["+ q:", "+   b: 2", "+   c-1: 0"]),
        ("j.yaml", "q:   # later\np:\n", ["- q:   # later", "+ q: {b: 2, c-1: 0}   # later"]),
        ("j.yaml", "q: {a: 1}\n", ["- q: {a: 1}", "+ q: {a: 1, b: 2, c-1: 0}"]),
    ],
)  # fmt: skip
def test_only_the_new_judgments_change_the_judgment_file(write, name, content, diff):
    head = f"judgments: {{files: {name}, ungraded: ignore}}\n"
    written, found = write(QUERIES, {"b": 2, "c-1": 0}, files={name: content}, head=head)
    assert [path.name for path in written.files] == [name]
    assert [line for line in found if not line.startswith("?")] == diff


def test_a_judgment_goes_to_the_file_that_judges_its_query(write, tmp_path):
    queries = "queries:\n  - {id: q, text: x}\n  - {id: p, text: y, judgments: {z: 1}}\n  - {id: r, text: v}\n"
    files = {"one.qrels": "q 0 a 1\n", "two.qrels": ""}
    write(
        queries, {("q", "b"): 1, ("p", "b"): 2, ("r", "b"): 3}, files=files, head="judgments: [one.qrels, two.qrels]\n"
    )
    assert (tmp_path / "one.qrels").read_text() == "q 0 a 1\nq 0 b 1\n"
    assert (tmp_path / "two.qrels").read_text() == "r 0 b 3\n"
    assert "judgments: {z: 1, b: 2}" in (tmp_path / "shop.relevance.yaml").read_text()


def test_a_grade_that_judges_gave_before_is_changed_and_one_of_somebody_else_stays(write):
    queries = "queries:\n  - {id: q, text: x, judgments: {a: 1, b: 1, c: 2}}\n"
    grades = {"a": 3, "b": 3, "c": 2}
    written, found = write(queries, grades, given={("q", "a"): frozenset({1.0, 3.0}), ("q", "b"): frozenset({3.0})})
    assert (written.added, written.changed, dict(written.kept)) == (0, 1, {("q", "b"): 1})
    assert "+   - {id: q, text: x, judgments: {a: 3, b: 1, c: 2}}" in found


FLOWS = [
    ("{\n      d: 1,\n      e: 1\n    }", "{\n      d: 1,\n      e: 1,\n      b: 2,\n      c-1: 0\n    }"),
    ("{d: 1,\n     e: 1}", "{d: 1,\n     e: 1, b: 2, c-1: 0}"),
    ("{d: 1, # one\n     e: 1 }", "{d: 1, # one\n     e: 1, b: 2, c-1: 0 }"),
    ("{\n      d: 1\n      , e: 1 }", "{\n      d: 1\n      , e: 1, b: 2, c-1: 0 }"),
    ("{\n      d: 1, e: 1 # , }\n    }", "{\n      d: 1, e: 1, # , }\n      b: 2,\n      c-1: 0\n    }"),
    ("{\n      d: 1,\n      e: 1 # one\n      , # two\n    }",
     "{\n      d: 1,\n      e: 1 # one\n      , # two\n      b: 2,\n      c-1: 0,\n    }"),
    ("{\n      d: 1,\n      e: 1\n      , }", "{\n      d: 1,\n      e: 1, b: 2, c-1: 0\n      , }"),
    ("{ d: 1, e: 1 # one\n    }", "{ d: 1, e: 1, b: 2, c-1: 0 # one\n    }"),
    ("{ # none\n    }", "{b: 2, c-1: 0 # none\n    }"),
]  # fmt: skip


@pytest.mark.parametrize(("flow", "written"), FLOWS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_flow_mapping_of_any_layout_is_written(write, tmp_path, flow, written, end):
    queries = "queries:\n  - id: q\n    text: x\n    judgments: FLOW\n    tags: [t]\n"
    write(queries.replace("FLOW", flow).replace("\n", end), {"b": 2, "c-1": 0})
    after = (tmp_path / "shop.relevance.yaml").read_bytes().decode()
    assert after == HEAD + queries.replace("FLOW", written).replace("\n", end)


def test_a_query_in_flow_of_several_lines_is_written(write, tmp_path):
    write("queries:\n  - {\n      id: q,\n      text: x # one\n    }\n", {"b": 2})
    after = (tmp_path / "shop.relevance.yaml").read_text()
    assert after.endswith("      text: x, # one\n      judgments: {b: 2}\n    }\n")


def test_an_edit_that_is_no_yaml_is_refused(write, tmp_path):
    head = "grades: {good: 1}\n"
    queries = """\
queries:
  - id: p
    text: y
    judgments:
      a: &good "good"
  - {id: q, text: x, judgments: {z: *good}}
"""
    with pytest.raises(UsageError, match=r"cannot be put into this file without changing more; .*--output"):
        write(queries, {"b": 1}, head=head)
    assert (tmp_path / "shop.relevance.yaml").read_text() == HEAD + head + queries


def test_where_nothing_is_new_nothing_is_written(write, tmp_path):
    written, found = write("queries:\n  - {id: q, text: x, judgments: {a: 1}}\n", {"a": 1})
    assert (written.files, found) == ((), [])


@pytest.mark.parametrize(
    ("queries", "files", "head", "said"),
    [
        ("queries:\n  - {id: p, text: y, judgments: &all {a: 1}}\n  - {id: q, text: x, judgments: *all}\n", {}, "",
         "without changing more"),
        ("queries: all.tsv\n", {"all.tsv": "q\tshoes\n"}, "", "query 'q' is in a query file; name a file"),
        (QUERIES, {"j.csv.gz": b""}, "judgments: j.csv.gz\n", "to a file of this kind"),
        ("queries: all.jsonl\n", {"all.jsonl": '{"id": "q", "text": "x", "judgments": {"a": 1}}\n'}, "",
         "all.jsonl: grades cannot be put into a query file"),
    ],
)  # fmt: skip
def test_what_has_no_place_is_refused_and_nothing_is_written(write, tmp_path, queries, files, head, said):

    files = {name: content or gzip.compress(b"query,document,grade\np,a,1\n") for name, content in files.items()}
    with pytest.raises(UsageError, match=f"{said}.*with --output"):
        write(queries, {"b": 1}, files=files, head=head)
    assert (tmp_path / "shop.relevance.yaml").read_text() == HEAD + head + queries


def test_an_id_with_a_blank_has_no_place_in_a_trec_file(write):
    with pytest.raises(UsageError, match="cannot hold the ids of document 'b c' of query 'q'"):
        write(QUERIES, {"b c": 1}, files={"j.qrels": "q 0 a 1\n"}, head="judgments: j.qrels\n")


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(HEAD + QUERIES)
    files = GradedFiles.read(path)
    path.write_text(HEAD + QUERIES + "# more\n")
    with pytest.raises(FilesChanged, match="was changed since judging began; nothing was written"):
        files.write({("q", "b"): 1.0}, {})
    assert path.read_text() == HEAD + QUERIES + "# more\n"
    GradedFiles.read(path).write({("q", "b"): 1.0}, {})
    assert path.read_text().endswith("judgments: {b: 1}}\n  - {id: p, text: boots}\n# more\n")


@pytest.mark.parametrize(("late", "said"), [("one.qrels", "nothing"), ("two.qrels", "only .*one.qrels")])
def test_a_file_that_changes_while_it_is_written_is_left_alone(tmp_path, monkeypatch, late, said):
    """The other process writes when the new content is complete, beside the file that it will replace."""
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(HEAD + "judgments: [one.qrels, two.qrels]\n" + QUERIES)
    (tmp_path / "one.qrels").write_text("q 0 a 1\n")
    (tmp_path / "two.qrels").write_text("p 0 z 1\n")
    change_rights = Folder.change_rights

    def change(folder, file, name, rights):
        change_rights(folder, file, name, rights)
        if late in name:
            (tmp_path / late).write_text("r 0 x 3\n")

    files = GradedFiles.read(path)
    monkeypatch.setattr(Folder, "change_rights", change)
    with pytest.raises(FilesChanged, match=f"{late} was changed since judging began; {said} was written"):
        files.write({("q", "b"): 1.0, ("p", "b"): 1.0}, {})
    assert (tmp_path / late).read_text() == "r 0 x 3\n"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["one.qrels", "shop.relevance.yaml", "two.qrels"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.yaml").write_text(HEAD + QUERIES)
    path = tmp_path / "shop.relevance.yaml"
    path.symlink_to("real.yaml")
    GradedFiles.read(path).write({("q", "b"): 1.0}, {})
    assert path.is_symlink()
    assert "judgments: {b: 1}" in (tmp_path / "real.yaml").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(HEAD + QUERIES)
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="the grades could not be written: Permission denied"):
        GradedFiles.read(path).write({("q", "b"): 1.0}, {})


def test_grades_in_a_file_of_their_own_are_a_judgment_file():
    grades = {("q", "007"): 2.0, ("q", "靴"): 0.5}
    assert format_grades_csv(grades) == "\ufeffquery,document,grade\nq,'007,2\nq,靴,0.5\n"
    assert [json.loads(line) for line in format_grades_json_lines(grades).splitlines()] == [
        {"query": "q", "document": "007", "grade": 2},
        {"query": "q", "document": "靴", "grade": 0.5},
    ]


def test_a_suite_with_a_character_in_two_halves_is_written_and_keeps_them(write):
    _, diff = write('queries:\n  - {id: q, text: "\\ud83d\\ude00", judgments: {a: 1}}\n', {"b": 2})
    assert diff == [
        '-   - {id: q, text: "\\ud83d\\ude00", judgments: {a: 1}}',
        '+   - {id: q, text: "\\ud83d\\ude00", judgments: {a: 1, b: 2}}',
    ]
