"""Suites read for a look at their judgments, and what the loader makes of rows without a grade."""

import pytest

from harness.errors import SuiteError
from harness.extensions.judging.pools_and_lint import read_judged
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {{index: products}}
grades: {{good: 2, bad: 0}}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
measures: ["nDCG@5"{measures}]
{more}
judgments: {judgments}
queries:
  - {{id: q, text: one, judgments: {{a: good, b: {b}}}}}
  - {{id: r, text: two}}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_suite(judgments="[]", more="", measures="", b="bad", **files):
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_text(content)
        path = tmp_path / "s.relevance.yaml"
        path.write_text(SUITE.format(judgments=judgments, more=more, measures=measures, b=b))
        return path.relative_to(tmp_path)

    return write_suite


def judged(path):
    read, _ = read_judged(path, None)
    return read


def places(read):
    return [(one.query, one.document, one.grade, str(one.mark)) for one in read.judged]


def told(read):
    return [str(finding) for finding in read.unreadable]


# ------------------------------------------------------------------------------------------------ the loader


@pytest.mark.parametrize(
    "files",
    [
        {"j_csv": "query,document,grade\nq,c,2\nTwo,d,2\none,e,1\n"},
        {"j_jsonl": '{"query": "Two", "document": "d", "grade": 2}\n{"query": "one", "document": "d", "grade": 2}'},
        {"j_yaml": "Two: {d: good}\none: {e: good}\n"},
        {"j_qrels": "Two 0 d 2\none 0 e 2\n"},
    ],
    ids=["csv", "jsonl", "yaml", "trec"],
)
def test_the_text_of_a_query_where_its_id_belongs_is_told_as_such(write, files):
    [name] = files
    with pytest.raises(SuiteError) as refused:
        load_suite(write(name.replace("_", "."), **files), None)
    [problem] = refused.value.problems
    assert problem.message == (
        "'Two' is the text of the query 'r', 'one' is the text of the query 'q'; "
        "expected the ids of queries in their place"
    )


def test_queries_that_are_no_text_of_the_suite_are_told_beside_those_that_are(write):
    with pytest.raises(SuiteError) as refused:
        load_suite(write("j.csv", j_csv="query,document,grade\nthree,c,2\ntwo,d,2\n"), None)
    assert [problem.message.partition(";")[0] for problem in refused.value.problems] == [
        "the suite has no query 'three'",
        "'two' is the text of the query 'r'",
    ]


@pytest.mark.parametrize(("first", "is_refused"), [("q", False), ("three", False), ("one", True)])
def test_a_file_for_other_queries_too_is_refused_only_if_all_that_it_has_of_the_suite_are_texts(
    write, first, is_refused
):
    lines = f"query,document,grade\n{first},c,2\n" + ("two,d,2\n" if first == "q" else "four,d,2\n")
    path = write("{files: [j.csv], other_queries: ignore}", j_csv=lines)
    if is_refused:
        with pytest.raises(SuiteError, match=r"'one' is the text of the query 'q'"):
            load_suite(path, None)
    else:
        load_suite(path, None)


@pytest.mark.parametrize("header", ["query,docid,rating", "query;doc_id;rating", "Query Text,Doc ID,Rating"])
def test_a_header_of_quepid_names_its_import(write, header):
    with pytest.raises(SuiteError, match="; `relevance import quepid` writes a suite from ratings of Quepid\n"):
        load_suite(write("j.csv", j_csv=f"{header}\n"), None)


def test_a_header_without_columns_of_quepid_does_not(write):
    with pytest.raises(SuiteError) as refused:
        load_suite(write("j.csv", j_csv="query,document,score\n"), None)
    assert "quepid" not in str(refused.value)


def test_rows_without_a_grade_are_left_out_and_counted_where_the_suite_says_so(write):
    files = {"j_csv": "query,document,grade\nq,c,\nq,d,2\nr,e,\nz,f,\n", "k_yaml": "r:\n  g: good\n  h:\n"}
    path = write("{files: [j.csv, k.yaml], ungraded: ignore}", **files)
    suite = load_suite(path, None)
    assert [dict(query.judgments) for query in suite.queries] == [{"a": 2, "b": 0, "d": 2}, {"g": 2}]
    assert suite.ungraded == 3  # those of this suite's queries


def test_they_are_refused_where_it_does_not(write):
    path = write("[j.csv, k.yaml]", j_csv="query,document,grade\nq,c,\n", k_yaml="r:\n  g: good\n  h:\n")
    with pytest.raises(SuiteError) as caught:
        load_suite(path, None)
    found = [(problem.path, problem.line, problem.column) for problem in caught.value.problems]
    assert found == [("j.csv", 2, 1), ("k.yaml", 3, 3)]
    assert all("has no grade yet" in problem.message for problem in caught.value.problems)


@pytest.mark.parametrize("written", ["later", "[ignore]"])
def test_there_are_two_things_to_do_with_them(write, written):
    path = write(f"{{files: j.csv, ungraded: {written}}}", j_csv="query,document,grade\n")
    with pytest.raises(SuiteError, match="expected refuse or ignore"):
        load_suite(path, None)


def test_a_document_of_yaml_that_was_judged_before_is_refused_with_both_places(write):
    with pytest.raises(SuiteError) as caught:
        load_suite(write("[k.yaml]", k_yaml="q:\n  a: good\n"), None)
    assert "document 'a' is judged twice for query 'q', first at s.relevance.yaml:9:36" in str(caught.value)
    assert str(caught.value).startswith("k.yaml:2:")


# ------------------------------------------------------------------------------------------------ for lint


def test_every_judgment_is_there_with_its_place_twice_where_it_stands_twice(write):
    read = judged(
        write(
            "[j.csv, k.yaml, l.qrels]",
            j_csv="query,document,grade\nq,a,2\nq,a,1\nz,c,1\n",
            k_yaml="r:\n  d: good\n  e:\n",
            l_qrels="q 0 a 2\n",
        )
    )
    assert places(read) == [
        ("q", "a", 2.0, "s.relevance.yaml:9:36"),
        ("q", "b", 0.0, "s.relevance.yaml:9:45"),
        ("q", "a", 2.0, "j.csv:2:1"),
        ("q", "a", 1.0, "j.csv:3:1"),
        ("z", "c", 1.0, "j.csv:4:1"),
        ("r", "d", 2.0, "k.yaml:2:3"),
        ("r", "e", None, "k.yaml:3:3"),
        ("q", "a", 2.0, "l.qrels:1:1"),
    ]
    assert told(read) == []
    assert (read.strict, read.skip_ungraded) == (True, False)


def test_what_the_suite_says_of_its_files_is_known(write):
    read = judged(write("{files: [j.csv], other_queries: ignore, ungraded: ignore}", j_csv="query,document,grade\n"))
    assert (read.strict, read.skip_ungraded) == (False, True)


def test_all_lines_that_are_no_judgments_are_told_however_many(write):
    lines = "".join(f"q,d{n},what\n" for n in range(60))
    read = judged(write("[j.csv]", j_csv=f"query,document,grade\n{lines}"))
    assert len(told(read)) == 60
    assert told(read)[59].startswith("j.csv:61:1: found 'what' as the grade of document 'd59' for query 'q'")


def test_a_file_that_cannot_be_read_to_its_end_is_told(write, tmp_path):
    path = write("[j.csv.gz]")
    (tmp_path / "j.csv.gz").write_bytes(b"no gzip")
    assert any(line.startswith("j.csv.gz: the file cannot be read") for line in told(judged(path)))


def test_a_grade_of_the_suite_that_is_none_is_told(write):
    [line] = told(judged(write(b="god")))
    assert line.startswith("s.relevance.yaml:9:48: found 'god' as a grade")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measures": ', "ERR(max=1)@5"'}, "ERR(max=1)@5 cannot score query 'q'"),
        ({"more": "gain: {good: 1}"}, "the gain map has no gain for grade 0"),
    ],
)
def test_what_judgments_mean_for_a_measure_or_the_gain_is_told(write, options, said):
    [line] = told(judged(write(**options)))
    assert said in line


def test_documents_that_the_fixture_lacks_are_left_to_the_check_of_documents(write):
    path = write(more="fixture: {documents: d.jsonl}", d_jsonl='{"id": "a"}\n')
    read, brought = read_judged(path, None)
    assert brought.ids == {"a"}
    assert told(read) == []
    with pytest.raises(SuiteError, match=r"the document 'b' is not in d\.jsonl"):
        load_suite(path, None)


def test_more_missing_documents_than_the_loader_tells_are_no_error_of_the_suite(write):
    rows = "".join(f"q,x{n},1\n" for n in range(30))
    path = write(
        "[j.csv]", "fixture: {documents: d.jsonl}", d_jsonl='{"id": "a"}\n', j_csv=f"query,document,grade\n{rows}"
    )
    assert told(judged(path)) == []


def test_anything_else_that_is_wrong_is_the_suite_s(write):
    with pytest.raises(SuiteError, match="did you mean 'measures'"):
        read_judged(write(more="measurs: [P@5]"), None)
    with pytest.raises(SuiteError, match="does not exist"):
        read_judged(write("[none.csv]"), None)
