import pytest

pytest.importorskip("jsonschema")

import json as stdlib_json
import math
from dataclasses import replace

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.schemas import make_validator
from harness.errors import FormatError
from harness.model.report import QueryReport, RankedDocument, Report, SuiteReport
from harness.model.run import Verdict
from harness.report import json

numbers = st.floats(allow_nan=False)  # NaN equals nothing, itself included: it has a test of its own
texts = st.text(max_size=8)
st.register_type_strategy(float, numbers)
documents = st.builds(RankedDocument, id=texts, grade=st.none() | numbers, score=st.none() | numbers)
queries = st.builds(
    QueryReport,
    id=texts,
    scores=st.dictionaries(texts, st.none() | numbers, max_size=3),
    ranking=st.lists(documents, max_size=3).map(tuple),
    ideal=st.just(()),
)
suites = st.builds(
    SuiteReport,
    verdicts=st.lists(st.builds(Verdict, id=texts, timing=st.none()), max_size=2).map(tuple),
    queries=st.lists(queries, max_size=3).map(tuple),
)


@settings(max_examples=25)
@given(st.builds(Report, suites=st.lists(suites, max_size=2).map(tuple), schema=st.just(1)))
def test_what_is_written_reads_back_the_same(report):
    assert json.loads_report(json.dumps_report(report)) == report


def test_the_written_report_keeps_to_its_schema(report):
    make_validator(json.report_schema).validate(stdlib_json.loads(json.dumps_report(report)))


def test_the_schema_refuses_another_version(report):
    raw = stdlib_json.loads(json.dumps_report(report)) | {"schema": 2}
    with pytest.raises(jsonschema.ValidationError):
        make_validator(json.report_schema).validate(raw)


def test_the_commands_to_go_on_with_are_lists_of_words_each_once(report):
    [suite] = report.suites
    failed = replace(suite.verdicts[0], blamed=("red shoes",))
    suite = replace(suite, path="a b.yaml", searched={"url": "http://shop"}, verdicts=(failed, failed))
    text = json.dumps_report(replace(report, suites=(suite,)))
    [written] = stdlib_json.loads(text)["suites"]
    assert written["next"] == [["relevance", "show", "a b.yaml", "red shoes", "--url", "http://shop"]]
    assert json.loads_report(text).suites == (suite,)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_numbers_that_json_lacks_survive(report, value):
    query = replace(report.suites[0].queries[0], scores={"nDCG@10": value})
    odd = replace(report, suites=(replace(report.suites[0], queries=(query,)),))
    text = json.dumps_report(odd)
    stdlib_json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    make_validator(json.report_schema).validate(stdlib_json.loads(text))
    read = json.loads_report(text).suites[0].queries[0].scores["nDCG@10"]
    assert read == value or (math.isnan(read) and math.isnan(value))


def test_text_is_ascii_two_blanks_a_level_and_nothing_is_lost(report):
    odd = replace(report, harness='é\u2028😀 "quoted" \\ \x7f\x01')
    text = json.dumps_report(odd)
    assert text.isascii()
    without_queries = replace(odd, suites=tuple(replace(one, queries=()) for one in odd.suites))
    rest = json.dumps_report(without_queries)
    assert rest == stdlib_json.dumps(stdlib_json.loads(rest), indent=2) + "\n"
    assert json.loads_report(text) == odd


def test_a_query_stands_on_a_line_of_its_own_and_no_part_has_more_than_one(report):
    [suite] = report.suites
    hostile = replace(suite.queries[0], text='\n      "queries": []')
    several = replace(report, suites=(suite, replace(suite, queries=()), replace(suite, queries=(hostile,) * 3)))
    parts = list(json.dump_report_parts(several))
    lines = [line for line in "".join(parts).splitlines() if line.startswith('        {"id":')]
    assert len(lines) == len(suite.queries) + 3
    assert all(part.count('        {"id":') <= 1 for part in parts)
    assert json.loads_report("".join(parts)) == several


def test_half_a_surrogate_pair_becomes_a_replacement_character(report):
    odd = replace(report, harness="a\ud800b")
    text = json.dumps_report(odd)
    text.encode("utf-8")
    assert json.loads_report(text).harness == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "r.json:1:2: this is not JSON"),
        ("[]", "found no schema version, expected 1"),
        ('{"schema": 2}', "found schema version 2, expected 1"),
        ('{"schema": true}', "found schema version True"),
        ('{"schema": "1"}', "found schema version '1'"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "a number has too many digits"),
    ],
)
def test_a_file_that_is_not_a_report_is_refused(text, sentence):
    with pytest.raises(FormatError) as caught:
        json.loads_report(text, path="r.json")
    assert sentence in str(caught.value)


def test_all_wrong_fields_are_named_with_their_place(report):
    raw = stdlib_json.loads(json.dumps_report(report))
    raw["suites"][0]["verdicts"][1]["status"] = "fine"
    del raw["suites"][0]["queries"][2]["id"]
    with pytest.raises(FormatError) as caught:
        json.loads_report(stdlib_json.dumps(raw))
    assert "suites.0.verdicts.1.status" in str(caught.value)
    assert "suites.0.queries.2.id" in str(caught.value)
