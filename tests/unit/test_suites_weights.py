"""What queries weigh: written at each of them or in their file, and never forgotten in silence."""

import pytest

pytest.importorskip("jsonschema")

import json
import re
from pathlib import Path

import jsonschema
import yaml

from harness.errors import SuiteError
from harness.suites import load_suite
from harness.suites.shape import suite_schema

RELEVANCE_HEAD = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
thresholds: [mean P@10 >= 0.5]
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load(text, environ=None, **files):
        for name, content in files.items():
            Path(name.replace("_", ".")).write_text(content, encoding="utf-8")
        Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
        return load_suite(Path("shop.relevance.yaml"), {} if environ is None else environ)

    return load


def listed(*weights):
    """A suite with a query for each of *weights*, as written; None leaves it out."""
    lines = ["queries:"]
    for number, weight in enumerate(weights, start=1):
        written = "" if weight is None else f"weight: {weight}, "
        lines.append(f"  - {{id: q{number}, {written}text: a, judgments: {{d: 1}}}}")
    return RELEVANCE_HEAD + "\n".join(lines) + "\n"


def weights_of(suite):
    return [query.weight for query in suite.queries]


def refusal(load, text, **files):
    with pytest.raises(SuiteError) as caught:
        load(text, **files)
    return str(caught.value)


# ------------------------------------------------------------------------------------------------ in the suite


def test_queries_weigh_what_they_say(load):
    assert weights_of(load(listed("120", "0.5", "1e3"))) == [120.0, 0.5, 1000.0]


def test_where_nobody_says_it_all_weigh_the_same(load):
    assert weights_of(load(listed(None, None))) == [1.0, 1.0]


def test_a_weight_may_come_from_the_environment(load):
    text = listed('"${RELEVANCE_HEAD}"', '"${RELEVANCE_TAIL:-3}"')
    assert weights_of(load(text, {"RELEVANCE_HEAD": "40"})) == [40.0, 3.0]
    with pytest.raises(SuiteError, match="expected a finite number above 0"):
        load(text, {"RELEVANCE_HEAD": "-40"})


def test_variables_need_not_be_set_to_check_a_suite(load):
    Path("shop.relevance.yaml").write_text(listed('"${RELEVANCE_HEAD}"', "2"), encoding="utf-8")
    assert len(load_suite(Path("shop.relevance.yaml"), None).queries) == 2


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("0", "found '0', expected a finite number above 0"),
        ("-3", "found '-3', expected a finite number above 0"),
        ("1e-400", "found '1e-400', expected a finite number above 0"),
        (".nan", "found '.nan', expected a finite number"),
        (".inf", "found '.inf', expected a finite number"),
        ("much", "found 'much', expected a number"),
        ('"12"', "found '12', expected a number; remove the quotes"),
        ("1_200", "found '1_200', expected a number"),
        ("[1]", "found a list, expected a number"),
        ("", "found nothing, expected a number"),
    ],
)
def test_what_cannot_weigh_is_refused_where_it_stands(load, written, sentence):
    message = refusal(load, listed("2", written))
    assert message.startswith(f"shop.relevance.yaml:7:22: {sentence}\n")
    assert "no weight" not in message


def test_a_forgotten_weight_is_told_and_not_taken_for_one(load):
    message = refusal(load, listed("2", None, "3", None, None, None))
    assert message.startswith(
        "shop.relevance.yaml:7:10: 4 of 6 queries have no weight: q2, q4, q5 and 1 more; "
        "expected a weight for every query, or for none\n"
    )


def test_one_forgotten_weight_is_singular(load):
    assert "1 of 2 queries has no weight: q1; expected" in refusal(load, listed(None, "3"))


def test_a_misspelled_weight_is_told_once(load):
    message = refusal(load, listed("2", "3").replace("weight: 3", "wieght: 3"))
    assert "unknown key 'wieght'" in message
    assert "no weight" not in message


def test_the_json_schema_refuses_what_the_loader_refuses():
    validator = jsonschema.Draft202012Validator(suite_schema())
    assert validator.is_valid(yaml.safe_load(listed("2", '"${RELEVANCE_W}"')))
    for written in ("0", "-1", "much", "[1]"):
        assert not validator.is_valid(yaml.safe_load(listed("2", written)))


# ------------------------------------------------------------------------------------------------ in files


QRELS = "1 0 a 1\n2 0 b 1\n"


def in_file(suffix):
    return RELEVANCE_HEAD + f"queries: q.{suffix}\njudgments: a.qrels\n"


def csv_of(*weights):
    return "id,text,weight\n" + "".join(f"{n},a,{weight}\n" for n, weight in enumerate(weights, start=1))


def jsonl_of(*weights):
    entries = [{"id": n, "text": "a", **weight} for n, weight in enumerate(weights, start=1)]
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def test_weights_come_from_a_file(load):
    assert weights_of(load(in_file("csv"), q_csv=csv_of("120", " 0.5 "), a_qrels=QRELS)) == [120.0, 0.5]
    content = jsonl_of({"weight": 120}, {"weight": 0.5})
    assert weights_of(load(in_file("jsonl"), q_jsonl=content, a_qrels=QRELS)) == [120.0, 0.5]


def test_a_file_of_queries_from_a_spreadsheet_may_have_semicolons(load):
    content = csv_of("120", "0.5").replace(",", ";")
    assert weights_of(load(in_file("csv"), q_csv=content, a_qrels=QRELS)) == [120.0, 0.5]


def test_a_column_that_is_empty_throughout_weighs_nothing_otherwise(load):
    assert weights_of(load(in_file("csv"), q_csv=csv_of("", " "), a_qrels=QRELS)) == [1.0, 1.0]


@pytest.mark.parametrize("written", ["0", "-1", "nan", "inf", "1e400", "much", "1_200", "0x10", "1,5"])
def test_a_cell_that_cannot_weigh_is_refused_in_its_line(load, written):
    cell = f'"{written}"'
    message = refusal(load, in_file("csv"), q_csv=csv_of("2", cell), a_qrels=QRELS)
    assert re.match(rf"q\.csv:3:1: weight: found '{re.escape(written)}', expected a (finite )?number", message)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("0", "'0'"),
        ("-1", "'-1'"),
        ("1e400", "'Infinity'"),
        ("true", "'true'"),
        ("[1]", "a list"),
        ('"x"', "'x'"),
    ],
)
def test_a_json_value_that_cannot_weigh_is_refused_in_its_line(load, written, shown):
    content = f'{{"id": 1, "text": "a", "weight": 2}}\n{{"id": 2, "text": "a", "weight": {written}}}\n'
    message = refusal(load, in_file("jsonl"), q_jsonl=content, a_qrels=QRELS)
    assert re.match(rf"q\.jsonl:2:1: weight: found {shown}, expected a (finite )?number", message)


def test_a_weight_that_json_does_not_have_is_refused_at_its_column(load):
    content = '{"id": 1, "text": "a", "weight": NaN}\n'
    message = refusal(load, in_file("jsonl"), q_jsonl=content, a_qrels=QRELS)
    assert message.startswith("q.jsonl:1:34: this is not JSON: NaN is not a number that JSON has")


def test_a_forgotten_weight_in_a_file_is_told(load):
    expected = "1 of 2 queries has no weight: 2; expected a weight for every query, or for none"
    assert f"q.csv:3:1: {expected}" in refusal(load, in_file("csv"), q_csv=csv_of("3", ""), a_qrels=QRELS)
    content = jsonl_of({"weight": 3}, {})
    assert f"q.jsonl:2:1: {expected}" in refusal(load, in_file("jsonl"), q_jsonl=content, a_qrels=QRELS)
