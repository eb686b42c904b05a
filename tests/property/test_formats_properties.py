"""TREC files are read in bulk, or line by line where a byte order mark stands before them; both read the same."""

from codecs import BOM_UTF8
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.files.judgments import read_judgments
from harness.files.runs import read_run

WORDS = st.sampled_from(
    ["q1", "q2", "d1", "d2", "ü", "0", "1", "-2", "1.5", "nan", "inf", "1_0", "x", "\u00a0", "\x1f"]
)
BLANKS = st.sampled_from([" ", "  ", "\t", " \t", "\r", "\v", "\f"])
LINES = st.builds(
    lambda words, blank, end: blank.join(words) + end,
    st.lists(WORDS, max_size=7),
    BLANKS,
    st.sampled_from(["\n", "\r\n", "\r\r\n", "\r", " \n", ""]),
)
FOUR = st.builds(
    lambda query, document, grade: f"{query} 0 {document} {grade}\n",
    st.sampled_from(["q1", "q2", "q3"]),
    st.integers(0, 30),
    st.integers(-1, 3),
)
SIX = st.builds(
    lambda query, document, score: f"{query} Q0 {document} 1 {score} t\n",
    st.sampled_from(["q1", "q2", "q3"]),
    st.integers(0, 30),
    st.floats(),
)


def outcome(read, path):
    """What was read, or None where the file was refused."""
    try:
        return read(path)
    except FormatError:
        return None


def read_both_ways(read, name, content):
    """What *read* gives of *content* in a file of that name: in bulk, and line by line."""
    assume(not content.startswith(BOM_UTF8))
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        in_bulk = outcome(read, path)
        path.write_bytes(BOM_UTF8 + content)
        return in_bulk, outcome(read, path)


@settings(deadline=None)
@given(st.lists(FOUR | LINES, max_size=12).map("".join) | st.lists(FOUR, max_size=30).map("".join) | st.text())
def test_both_readers_of_qrels_agree(text):
    in_bulk, by_line = read_both_ways(read_judgments, "any.qrels", text.encode("utf-8", "surrogatepass"))
    assert in_bulk == by_line


@settings(deadline=None)
@given(st.lists(SIX | LINES, max_size=12).map("".join) | st.lists(SIX, max_size=30).map("".join))
def test_both_readers_of_runs_agree(text):
    in_bulk, by_line = read_both_ways(read_run, "any.run", text.encode())
    assert in_bulk == by_line


@settings(deadline=None)
@given(st.binary(max_size=100), st.sampled_from(["qrels", "csv", "jsonl", "parquet", "qrels.gz", "qrels.zst"]))
def test_any_bytes_are_judgments_or_a_format_error(content, suffix):
    pytest.importorskip("pyarrow")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"any.{suffix}"
        path.write_bytes(content)
        outcome(read_judgments, path)
        outcome(read_run, path)
