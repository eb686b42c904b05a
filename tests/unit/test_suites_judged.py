"""What the loader makes of files of judgments: texts in place of ids, rows without a grade."""

from functools import partial

import pytest

from builders.extension_cases import needs_extension
from builders.judged import write_judged
from harness.errors import SuiteError
from harness.suites import load_suite


@pytest.fixture
def write(working_folder):
    return partial(write_judged, working_folder)


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


@needs_extension("migrate")
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
