"""Comparisons as JSON, there and back."""

import pytest

pytest.importorskip("jsonschema")

import json as stdlib_json
import math
from dataclasses import replace

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.reports import products, report_of
from builders.schemas import make_validator
from extensions.compare.builders.comparisons import (
    ODD,
    comparison_report,
    hostile_report,
    large_report,
    red_shoes,
    unjudged_report,
)
from harness.errors import FormatError
from harness.extensions.compare.model import ComparisonReport, QueryComparison, Side
from harness.extensions.compare.outputs import comparison_schema, dumps_comparison, loads_comparison
from harness.model.comparison import Agreement, Comparison, MeasureComparison, MovedDocument
from harness.model.run import Verdict
from harness.report import json

numbers = st.floats(allow_nan=False)  # NaN equals nothing, itself included: it has a test of its own
st.register_type_strategy(float, numbers)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
moves = st.lists(st.tuples(texts, numbers, numbers), max_size=2).map(tuple)
rows = st.builds(MeasureComparison, measure=texts, moved=moves)
comparisons = st.builds(
    Comparison,
    measures=st.lists(rows, max_size=2).map(tuple),
    left_out=st.dictionaries(texts, st.integers(0, 9), max_size=2),
)
sides = st.builds(Side, name=texts, unanswered=st.dictionaries(texts, texts, max_size=2))
scores = st.dictionaries(texts, st.tuples(st.none() | numbers, st.none() | numbers), max_size=2)
queries = st.builds(
    QueryComparison,
    id=texts,
    scores=scores,
    documents=st.lists(st.builds(MovedDocument, id=texts), max_size=3).map(tuple),
)
reports = st.builds(
    ComparisonReport,
    suite=texts,
    reference=sides,
    candidate=sides,
    measures=st.none() | comparisons,
    agreement=st.none() | st.builds(Agreement),
    queries=st.lists(queries, max_size=2).map(tuple),
    verdicts=st.lists(st.builds(Verdict, id=texts), max_size=1).map(tuple),
    schema=st.just(1),
)


@settings(deadline=None)
@given(reports)
def test_what_is_written_reads_back_the_same(report):
    assert loads_comparison(dumps_comparison(report)) == report


@pytest.mark.parametrize(
    "report", [comparison_report(), unjudged_report(), unjudged_report(agreement=None), large_report(200)]
)
def test_whole_reports_read_back_the_same_and_keep_to_their_schema(report):
    assert loads_comparison(dumps_comparison(report)) == report
    make_validator(comparison_schema).validate(stdlib_json.loads(dumps_comparison(report)))


def test_the_schema_is_one_and_names_what_it_is_of():
    assert make_validator(comparison_schema).schema["title"] == "relevance-harness comparison"
    assert make_validator(json.report_schema).schema["title"] == "relevance-harness report"


def test_the_schema_refuses_another_version():
    raw = stdlib_json.loads(dumps_comparison(comparison_report())) | {"schema": 2}
    with pytest.raises(jsonschema.ValidationError):
        make_validator(comparison_schema).validate(raw)


@pytest.mark.parametrize("odd", [odd for odd in ODD if odd != "\ud800"])
def test_odd_texts_survive(odd):
    report = hostile_report(odd)
    assert loads_comparison(dumps_comparison(report)) == report


def test_numbers_that_json_lacks_survive():
    query = replace(red_shoes(), scores={"nDCG@10": (math.inf, -math.inf), "P@5": (math.nan, None)})
    text = dumps_comparison(comparison_report(queries=(query,)))
    make_validator(comparison_schema).validate(stdlib_json.loads(text))
    [read] = loads_comparison(text).queries
    assert read.scores["nDCG@10"] == (math.inf, -math.inf)
    assert math.isnan(read.scores["P@5"][0])


def test_a_report_of_a_run_is_no_comparison_and_the_other_way_round():
    with pytest.raises(FormatError, match=r"r\.json:1:1: not a comparison: .*reference: Field required"):
        loads_comparison(json.dumps_report(report_of(products())), path="r.json")
    with pytest.raises(FormatError, match=r"report:1:1: not a report: .*suites: Field required"):
        json.loads_report(dumps_comparison(comparison_report()))


def test_a_comparison_of_another_version_is_refused():
    raw = stdlib_json.loads(dumps_comparison(comparison_report())) | {"schema": 7}
    with pytest.raises(
        FormatError, match="schema version 7, expected 1: this version of the harness cannot read this comparison"
    ):
        loads_comparison(stdlib_json.dumps(raw))
