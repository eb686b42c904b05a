"""Suites read for a look at their judgments, each with its place."""

from functools import partial

import pytest

from builders.judged import write_judged
from harness.errors import SuiteError
from harness.extensions.judging.pools_and_lint import read_judged
from harness.suites import load_suite


@pytest.fixture
def write(working_folder):
    return partial(write_judged, working_folder)


def judged(path):
    read, _ = read_judged(path, None)
    return read


def places(read):
    return [(one.query, one.document, one.grade, str(one.mark)) for one in read.judged]


def told(read):
    return [str(finding) for finding in read.unreadable]


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
