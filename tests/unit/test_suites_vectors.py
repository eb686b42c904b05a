"""Vectors of a suite's queries from files: joined to the queries by id, checked when the suite is loaded."""

import pytest

pytest.importorskip("numpy")

import gzip
import json

import numpy as np

from builders.executions import run_suite
from harness.errors import SuiteError
from harness.masking import Masker
from harness.model.report import Report
from harness.model.timing import ReportTiming
from harness.options import RunOptions
from harness.report.html.run import render
from harness.report.json import dumps_report
from harness.search.testing import FakeSearch
from harness.store.what_changed import select_request_values
from harness.suites import load_suite
from harness.suites.requests import build_requests

SUITE = """\
suite: near
target: {index: products}
vectors: {near: VECTORS}
request: {knn: {field: place, query_vector: "{{near}}", k: 3}}
queries:
  - {id: tents, text: tent, judgments: {sku-2: 1}}
  - {id: "7", text: rope, judgments: {sku-3: 1}}
"""
LINES = '{"id": "tents", "vector": [0.5, 1], "model": "m"}\n\n{"id": 7, "vector": [-1e-3, 2]}\n'
NEAR = {"tents": [0.5, 1], "7": [-0.001, 2]}


@pytest.fixture
def write(tmp_path):
    def write(vectors="near.jsonl", text=SUITE, **files):
        for name, content in files.items():
            path = tmp_path / name.replace("_", ".")
            if isinstance(content, np.ndarray):
                np.save(path, content)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path = tmp_path / "near.relevance.yaml"
        path.write_text(text.replace("VECTORS", vectors), encoding="utf-8")
        return path

    return write


def sent(path, environ=None):
    return {one.query: one.body["knn"]["query_vector"] for one in build_requests(load_suite(path, environ or {}), None)}


def problems(path):
    with pytest.raises(SuiteError) as caught:
        load_suite(path, {})
    return [
        (one.path.rpartition("/")[2], one.line, one.message.replace(f"{path.parent}/", ""))
        for one in caught.value.problems
    ]


def test_vectors_of_json_lines_are_filled_by_the_id_of_the_query(write):
    assert sent(write(near_jsonl=LINES)) == NEAR


def test_a_packed_file_is_read_too(write):
    assert sent(write("near.jsonl.gz", near_jsonl_gz=gzip.compress(LINES.encode()))) == NEAR


def test_rows_of_an_array_are_those_of_the_queries_in_their_order(write):
    assert sent(write("near.npy", near_npy=np.array([[0.5, 1], [-0.001, 2]]))) == NEAR


@pytest.mark.parametrize("kind", ["f2", ">f4", "f8", "i1"])
def test_rows_of_an_array_are_found_by_a_file_of_ids(write, kind):
    rows = np.array([[2, 2], [1, 0], [0, 1]], dtype=kind)
    found = sent(write("{file: near.npy, ids: near.ids}", near_npy=rows, near_ids="7\r\nother\ntents\n\n"))
    assert found == {"tents": [0, 1], "7": [2, 2]}
    assert json.dumps(found["7"]) == ("[2, 2]" if kind == "i1" else "[2.0, 2.0]")


def test_a_vector_stands_beside_the_params_of_a_query_and_two_vectors_beside_each_other(write):
    text = SUITE.replace("{near: VECTORS}", "{near: near.jsonl, far: near.npy}").replace(
        "k: 3}", 'k: "{{k}}"}, query: {knn: {field: far, query_vector: "{{far}}"}}'
    )
    text = text.replace("tent,", "tent, params: {k: 3},").replace("rope,", 'rope, params: {k: "${RELEVANCE_K}"},')
    suite = load_suite(write(text=text, near_jsonl=LINES, near_npy=np.eye(2)), {"RELEVANCE_K": "secret-number"})
    assert suite.queries[0].params == {"k": 3, "near": [0.5, 1], "far": [1.0, 0.0]}
    assert suite.queries[1].params == {"k": "secret-number", "near": [-0.001, 2], "far": [0.0, 1.0]}
    assert suite.queries[1].masked["params"] == {"k": "${RELEVANCE_K}", "near": [-0.001, 2], "far": [0.0, 1.0]}


def test_a_file_whose_name_is_not_known_yet_is_not_missed(write):
    path = write('"vectors/${RELEVANCE_MODEL}.jsonl"')
    assert load_suite(path, None).queries[0].params == {"near": []}


WRONG_LINES = {
    '{"id": "tents", "vector": [1, NaN]}': "this is not JSON: NaN is not a number that JSON has",
    '{"id": "tents", "vector": [1, 1e999]}': "found Infinity as number 2 of the vector of query 'tents', "
    "expected a finite number",
    '{"id": "tents", "vector": [true, 1]}': "found true as number 1 of the vector of query 'tents', "
    "expected a finite number",
    '{"id": "tents", "vector": ["1", 1]}': "found \"1\" as number 1 of the vector of query 'tents', "
    "expected a finite number",
    '{"id": "tents", "vector": []}': "the vector of query 'tents' is empty; expected numbers",
    '{"id": "tents", "vector": 3}': "found 3 as vector, expected a list of numbers",
    '{"id": "tents"}': "the object lacks vector; expected an object with id and vector",
    '{"id": null, "vector": [1]}': "found null as id, expected a string or a whole number",
    "[1, 2]": "found no object; expected an object with id and vector",
    "{": "this is not JSON: Expecting property name enclosed in double quotes",
    '{"id": "tents", "vector": [1, 1], "vector": [1, 2]}': "the object has the key 'vector' twice",
    '{"id": "7", "vector": [1, 2]}': "found a second vector of query '7', expected one; the first is in line 1",
    '{"id": "tents", "vector": [1, 2, 3]}': "the vector of query 'tents' has 3 numbers, expected 2 as in line 1",
}


@pytest.mark.parametrize("line", WRONG_LINES)
def test_a_wrong_line_is_named_with_what_was_found_and_expected(write, line):
    assert problems(write(near_jsonl=f'{{"id": 7, "vector": [1, 2]}}\n{line}\n')) == [
        ("near.jsonl", 2, WRONG_LINES[line])
    ]


WRONG_ARRAYS = {
    "row of NaN": (np.array([[1, 2], [1, np.nan]]), "row 2: found NaN as number 2 of the vector of query '7', "
                   "expected a finite number"),
    "too few rows": (np.eye(1), "found 1 row, expected 2, one for each query of the suite, in its order; name the ids "
                     "of the rows with `ids`"),
    "one dimension": (np.array([1.0, 2.0]), "found an array of float64 (2), expected numbers with a row for "
                      "each query"),
    "texts": (np.array([["a", "b"]]), "found an array of <U1 (1x2), expected numbers with a row for each query"),
    "truth values": (np.eye(2) > 0, "found an array of bool (2x2), expected numbers with a row for each query"),
    "rows of nothing": (np.zeros((2, 1))[:, :0], "row 1: the vector of query 'tents' is empty; expected numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_ARRAYS)
def test_a_wrong_array_is_named_with_its_row(write, name):
    array, sentence = WRONG_ARRAYS[name]
    found = problems(write("near.npy", near_npy=array))
    assert found[0] == ("near.npy", 0, sentence)


def test_what_is_no_array_is_said_not_to_be_one(write, tmp_path):
    unclosed = b"\x93NUMPY\x01\x00\x0c\x00{'descr': ('<\n"
    for content in (b"", b"\x93NUMPY\x01", b"[1, 2]", unclosed, np.array([{}], dtype=object)):
        if isinstance(content, bytes):
            path = write("near.npy", near_npy=content)
        else:
            path = write("near.npy")
            np.save(tmp_path / "near.npy", content, allow_pickle=True)
        [(file, line, sentence)] = problems(path)
        assert (file, line) == ("near.npy", 0)
        assert sentence.startswith("this is not an array of numbers in NumPy's format .npy: ")


def test_queries_without_a_vector_are_named(write):
    [problem] = problems(write(near_jsonl='{"id": "7", "vector": [1]}\n{"id": "boots", "vector": [1]}\n'))
    sentence = "found vectors of 1 of the suite's 2 queries, expected one of each; there is none of tents"
    assert problem == ("near.jsonl", 0, sentence)


def test_ids_that_do_not_fit_the_rows_are_named(write):
    named = "{file: near.npy, ids: near.ids}"
    [few] = problems(write(named, near_npy=np.eye(2), near_ids="7\n"))
    [blank] = problems(write(named, near_npy=np.eye(2), near_ids="7\n\ntents\n"))
    [twice] = problems(write(named, near_npy=np.eye(2), near_ids="7\n7\n"))
    [beside_lines] = problems(write("{file: near.jsonl, ids: near.ids}", near_jsonl=LINES))
    assert few == ("near.npy", 0, "found 2 rows, expected 1, one for each id of near.ids")
    assert blank == ("near.ids", 2, "found a blank line, expected an id")
    assert twice[2] == "row 2: found a second vector of query '7', expected one; the first is in row 1"
    assert beside_lines == ("near.relevance.yaml", 3, "only a .npy file has rows without ids; remove `ids`")


@pytest.mark.parametrize(
    ("vectors", "sentence"),
    [
        ("near.jsonl, text: near.jsonl", "found 'text', expected the name of a placeholder other than text and depth"),
        ("near.jsonl, a b: near.jsonl", "found 'a b', expected the name of a placeholder other than text and depth"),
        ("near.csv", "expected a file of vectors with the suffix .jsonl, .ndjson or .npy"),
        ("../near.jsonl", "is outside of the suite's root"),
        ("missing.npy", "does not exist"),
        ("near.jsonl, far: near.jsonl", "has a param 'far', which no request uses"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_file_of_vectors_is_refused(write, vectors, sentence):
    assert any(sentence in found for _, _, found in problems(write(vectors, near_jsonl=LINES, near_csv="")))


def test_a_query_that_has_such_a_param_is_refused(write):
    [problem] = problems(write(text=SUITE.replace("tent,", "tent, params: {near: [1, 2]},"), near_jsonl=LINES))
    assert problem[1:] == (6, "query 'tents' has a param 'near', which `vectors` has too")


def test_a_changed_vector_is_another_question_and_baselines_do_not_hold_it(write):
    long = [0.1] * 384
    suites = [load_suite(write("near.npy", near_npy=np.array([long, [*long[1:], last]])), {}) for last in (0.1, 0.2)]
    used = select_request_values(suites[0], "request")
    assert used.fingerprint(suites[0].queries[1]) != used.fingerprint(suites[1].queries[1])
    params = used.make_question(suites[0].queries[1], Masker({})).params
    assert params["near"].startswith("384 numbers: 0.1, 0.1, 0.1, … (fingerprint ")


def test_reports_show_a_long_vector_by_its_size_and_first_numbers(write):
    suite = load_suite(write("near.npy", near_npy=np.full((2, 384), 0.12345678)), {})
    found = run_suite(suite, FakeSearch({"tents": ["sku-2"], "7": ["sku-1"]}), RunOptions(locate=False))
    [first, _] = found.queries
    assert first.sent.body["knn"]["query_vector"].startswith("384 numbers: 0.12345678, 0.12345678, 0.12345678, … (")
    report = Report(ReportTiming("2026-11-22"), harness="0.1.0", suites=(found,), exit_status=0)
    assert dumps_report(report).count("0.12345678") == render(report).count("0.12345678") == 6


FUSED = """\
  rrf:
    retriever:
      rrf:
        retrievers:
          - {standard: {query: {match: {title: "{{text}}"}}}}
          - {knn: {field: place, query_vector: "{{near}}", k: 3, num_candidates: 9}}
  hybrid:
    url_params: {search_pipeline: normalize}
    body: {query: {hybrid: {queries: [{match: {title: "{{text}}"}}, {knn: {place: {vector: "{{near}}", k: 3}}}]}}}
"""
SHOWN = "2 numbers (fingerprint 79eefa853821e579)"
SENT = {
    "rrf": ("/products/_search?allow_partial_search_results=false&preference=relevance-harness", {
        "size": 10,
        "retriever": {"rrf": {"retrievers": [
            {"standard": {"query": {"match": {"title": "tent"}}}},
            {"knn": {"field": "place", "query_vector": SHOWN, "k": 3, "num_candidates": 9}},
        ]}},
        "_source": False,
    }),
    "hybrid": ("/products/_search?allow_partial_search_results=false&preference=relevance-harness"
               "&search_pipeline=normalize", {
        "size": 10,
        "query": {"hybrid": {"queries": [
            {"match": {"title": "tent"}}, {"knn": {"place": {"vector": SHOWN, "k": 3}}},
        ]}},
        "_source": False,
    }),
}  # fmt: skip


@pytest.mark.parametrize("request_name", SENT)
def test_a_fused_search_is_sent_as_it_is_written_for_just_the_hits_that_are_needed(write, request_name):
    """Retrievers and pipelines fuse as many hits as are asked for, so that one more would change the ranking."""
    request, rest = SUITE[SUITE.index("request:") :].split("\n", 1)
    path = write(text=SUITE.replace(f"{request}\n{rest}", f"requests:\n{FUSED}{rest}"), near_jsonl=LINES)
    found = run_suite(
        load_suite(path, {}), FakeSearch({"tents": ["sku-2"], "7": []}), RunOptions(locate=False, request=request_name)
    )
    assert (found.queries[0].sent.url, found.queries[0].sent.body) == SENT[request_name]
