"""Files give the same scores as columns and as dicts, and are refused in the same words."""

import pytest

pytest.importorskip("numpy")

import math
import struct
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.files.judgments import read_judgments
from harness.files.runs import FileOptions, evaluate_files, read_measures, read_run
from harness.files.trec import Irregular, read_blocks
from harness.metrics.bulk import CannotReadInBulk, read_rankings
from harness.metrics.bulk import read_judgments as read_in_bulk
from harness.metrics.bulk.texts import texts_of
from harness.metrics.bulk.trec import floats_of
from harness.model.suite import Profile

QUERIES = ["q1", "q2", "q3", "long-query-" * 3, "ü"]
DOCUMENTS = ["d1", "d2", "d10", "D", "a#b", "doc-of-more-than-eight-bytes", "doc-of-more-than-eight-bytez", "ü", "日本"]
GRADES = ["0", "1", "2", "3", "-1", "0.5", "10", "1e0", "300"]
SCORES = [
    "1", "1.0", "2", "-0", "0", "0.0", "inf", "-Infinity", "1e400", "16777217", "16777216", "0.1", "1e-320", ".5", "5.",
    "+3", "0.10000000000000001", "12.345678901234567", "123456789.5",
]  # fmt: skip
WRONG = ["nan", "0x10", "1_0", "x", "--1", "-", ".", "1.2.3", "١"]
BLANKS = [" ", "\t", "  ", " \t"]
ENDS = ["\n", "\r\n", " \n", "\n\n", "\n# told to people\n", "\n \n"]
MEASURES = read_measures(["nDCG@5", "AP", "RR(rel=2)", "P@3", "Judged@3", "NumRel", "Bpref", "AP(judged_only=true)"])


def grouped_lines(columns_of_value, values, right=False):
    """Lines of TREC's columns with any blanks, *right* and grouped by query, or mostly so."""
    line = st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(values))
    group = st.tuples(st.sampled_from(QUERIES), st.lists(line, max_size=8, unique_by=lambda pair: pair[0]))
    groups = st.lists(group, max_size=4, unique_by=lambda pair: pair[0])
    if not right:
        groups |= st.lists(group, max_size=4)

    @st.composite
    def text(draw):
        blank, end = draw(st.sampled_from(BLANKS)), draw(st.sampled_from(ENDS))
        lines = [
            blank.join(columns_of_value(query, document, value))
            for query, members in draw(groups)
            for document, value in members
        ]
        return draw(st.sampled_from(["", "\n", " ", "#"])) + end.join(lines) + draw(st.sampled_from(["", "\n"]))

    return text()


QRELS = grouped_lines(lambda query, document, grade: (query, "0", document, grade), GRADES)


def columns_of_run(query, document, score):
    return query, "Q0", document, "1", score, "tag"


RUNS = grouped_lines(columns_of_run, SCORES, right=True)
MAYBE_WRONG = grouped_lines(columns_of_run, SCORES) | grouped_lines(columns_of_run, SCORES + WRONG)


@pytest.fixture(autouse=True)
def _columns_however_small(monkeypatch):
    monkeypatch.setattr("harness.files.runs.LARGE", 0)


def outcome(call):
    """What a call gave, or the text of its refusal."""
    try:
        return call()
    except HarnessError as error:
        return str(error)


def both_ways(qrels, run, options, block):
    """What is said of two files, read as columns and as dicts."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        paths = Path(folder) / "any.qrels", Path(folder) / "any.run"
        for path, text in zip(paths, (qrels, run), strict=True):
            path.write_bytes(text.encode())
        patch.setattr("harness.files.runs._BLOCK", block)
        in_columns = outcome(lambda: evaluate_files(*paths, options))
        patch.setattr("harness.files.runs.LARGE", math.inf)
        return in_columns, outcome(lambda: evaluate_files(*paths, options))


def assert_same(in_columns, as_dicts):
    if isinstance(as_dicts, str):
        assert in_columns == as_dicts
        return
    assert (in_columns.missing, in_columns.unjudged) == (as_dicts.missing, as_dicts.unjudged)
    assert (in_columns.summed, in_columns.profile) == (as_dicts.summed, as_dicts.profile)
    for measure, scores in as_dicts.scores.items():
        assert list(in_columns.scores[measure]) == list(scores)
        assert in_columns.scores[measure] == {
            query: None if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)
            for query, value in scores.items()
        }, measure


@settings(max_examples=120, deadline=None)
@given(
    qrels=QRELS,
    run=RUNS | MAYBE_WRONG,
    profile=st.sampled_from(Profile),
    complete=st.booleans(),
    block=st.sampled_from([1, 7, 40, 200, 1 << 19]),
)
def test_files_score_the_same_as_columns_and_as_dicts(qrels, run, profile, complete, block):
    assert_same(*both_ways(qrels, run, FileOptions(MEASURES, profile, complete=complete), block))


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=120), st.binary(max_size=120))
def test_files_of_any_bytes_are_refused_in_the_same_words(qrels, run):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        paths = Path(folder) / "any.qrels", Path(folder) / "any.run"
        paths[0].write_bytes(b"q1 0 d1 1\n" + qrels)
        paths[1].write_bytes(b"q1 Q0 d1 1 1 t\n" + run)
        in_columns = outcome(lambda: evaluate_files(*paths, FileOptions(MEASURES)))
        patch.setattr("harness.files.runs.LARGE", math.inf)
        assert_same(in_columns, outcome(lambda: evaluate_files(*paths, FileOptions(MEASURES))))


@settings(max_examples=80, deadline=None)
@given(text=QRELS, block=st.sampled_from([1, 7, 40, 1 << 19]))
def test_columns_hold_the_judgments_of_the_file(text, block):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.qrels"
        path.write_bytes(text.encode())
        try:
            columns = read_in_bulk(read_blocks(path, "any", block))
        except (Irregular, CannotReadInBulk):
            return
        names, ids = list(columns.queries), columns.documents.ids
        found = {name: {} for name in names}
        for row, number in enumerate(columns.documents.query.tolist()):
            found[names[number]][ids[row].decode()] = float(columns.grades[row])
        assert found == read_judgments(path)


@settings(max_examples=80, deadline=None)
@given(text=RUNS, block=st.sampled_from([1, 7, 40, 1 << 19]))
def test_columns_hold_the_run_of_the_file(text, block):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.run"
        path.write_bytes(text.encode())
        try:
            parts = list(read_rankings(read_blocks(path, "any", block)))
        except (Irregular, CannotReadInBulk):
            return
        found = {}
        for part in parts:
            ids = iter([part.documents[row].decode() for row in range(len(part.documents))])
            scores = iter(part.scores.tolist())
            for query, size in zip(part.queries, part.sizes.tolist(), strict=True):
                found[query] = [(next(ids), next(scores)) for _ in range(size)]
        stored = read_run(path).items()
        assert found == {query: list(zip(one.documents, one.scores, strict=True)) for query, one in stored}


DECIMALS = st.from_regex(r"[+-]?([0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})(e[+-]?[0-9]{1,3})?", fullmatch=True)
PLAIN = st.from_regex(r"-?[0-9]{0,9}\.?[0-9]{0,17}", fullmatch=True).filter(lambda text: any(map(str.isdigit, text)))


@settings(max_examples=200, deadline=None)
@given(st.lists(DECIMALS | PLAIN | st.floats(allow_nan=False).map(repr), min_size=1))
@example(["9007199254740993", "9007199254740992.5", "0.9007199254740993", "-0", "-0.0", "00000000.00000000"])
def test_numbers_are_bit_by_bit_those_of_python(numbers):
    floats = floats_of(texts_of([numbers], len(numbers)))
    assert [struct.pack("<d", value) for value in floats] == [struct.pack("<d", float(text)) for text in numbers]


@settings(max_examples=150, deadline=None)
@given(st.text("0123456789.-+eEx_ naif:/", min_size=1, max_size=18).filter(lambda text: not text.isspace()))
def test_what_python_does_not_read_is_no_number(text):
    text = text.strip() or "."
    expected = outcome_of_float(text)
    try:
        found = floats_of(texts_of([[text]], 1)).tolist()
    except ValueError:
        found = None
    assert found == expected


def outcome_of_float(text):
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) or "_" in text else [value]


def test_a_batch_of_no_text_has_no_numbers():
    assert floats_of(texts_of([], 0)).dtype == np.float64
