"""One value a query and document, whatever the value is."""

import pytest

from harness.errors import FormatError
from harness.files.opening import RUNS
from harness.files.records import find_first_lines, read_pairs
from harness.files.tables import read_number


def number(record, findings):
    value = read_number(record.value)
    if value is None:
        findings.add(record.line, f"found {record.value!r}")
    return value


@pytest.fixture
def write(tmp_path):
    def run(*rows):
        path = tmp_path / "run.csv"
        path.write_text("\n".join(("query,document,score", *rows)) + "\n")
        return path

    return run


def test_values_stand_in_the_order_of_the_file(write):
    found = read_pairs(write("b,x,1", "a,y,2", "b,w,3"), RUNS, "run.csv", number, twice="comes twice")
    assert list(found.items()) == [("b", {"x": 1.0, "w": 3.0}), ("a", {"y": 2.0})]


def test_all_that_is_wrong_is_told_and_each_repeated_document_with_its_first_line(write):
    path = write("a,x,1", "a,x,2", "a,,3", "b,x,high", "a,y,4", "a,x,5")
    with pytest.raises(FormatError) as error:
        read_pairs(path, RUNS, "run.csv", number, twice="comes twice")
    told = [(problem.line, problem.message) for problem in error.value.problems]
    assert sorted(told) == [
        (3, "document 'x' comes twice for query 'a', first in line 2"),
        (4, "the document is empty; expected an id"),
        (5, "found 'high'"),
        (7, "document 'x' comes twice for query 'a', first in line 2"),
    ]


def test_a_value_that_is_left_out_is_no_problem_and_no_first_line(write):
    path = write("a,x,", "a,x,1", "a,y,2")
    found = read_pairs(path, RUNS, "run.csv", lambda record, _: read_number(record.value), twice="comes twice")
    assert found == {"a": {"x": 1.0, "y": 2.0}}
    assert find_first_lines(path, RUNS, {("a", "x"), ("a", "z")}, name="run.csv") == {("a", "x"): 3}
