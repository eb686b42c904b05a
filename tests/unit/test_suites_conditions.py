"""Thresholds whose variables are not set yet, and measures that no suite can have."""

import pytest

from harness.errors import SuiteError
from harness.gate.conditions import explain_not_estimable
from harness.gate.grammar import parse_threshold
from harness.model.suite import UnresolvedCondition
from harness.suites import load_suite

SUITE = """\
suite: s
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["R@10"]
thresholds: ["mean R@10 >= 0", "%s"]
queries:
  - {id: a, text: x, tags: [head, "long tail"], judgments: {d1: 1}}
"""


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("mean R@10 >= ${RELEVANCE_LEAST:-0.9} for head", "head"),
        ("mean R@10 >= ${RELEVANCE_LEAST} for head", "head"),
        ("${RELEVANCE_SHARE}% R@10 >= 0.5 for long tail", "long tail"),
        ("mean R@10 >= ${RELEVANCE_LEAST}", None),
        ("worse R@10 by ${RELEVANCE_LEAST} <= ${RELEVANCE_MANY} queries for head", "head"),
        ("drop R@10 <= ${RELEVANCE_LEAST} since 5 runs for head", "head"),
        ("drop R@10 <= 0.1 since ${RELEVANCE_RUNS} runs for long tail", "long tail"),
        ("kappa gpt >= ${RELEVANCE_LEAST} over 50 documents for head", "head"),
    ],
)
def test_the_tag_of_a_threshold_is_known_before_its_variables_are(tmp_path, text, tag):
    path = tmp_path / "s.relevance.yaml"
    path.write_text(SUITE % text)
    threshold = load_suite(path, None).thresholds[1]
    assert isinstance(threshold.condition, UnresolvedCondition)
    assert threshold.tag == tag


@pytest.mark.parametrize("text", ["drop R@10 <= 0.1 since 5 runs for head", "drop R@10 <= 0.1 since 1 run for head"])
def test_the_tag_behind_a_number_of_runs_is_that_of_the_threshold(tmp_path, text):
    path = tmp_path / "s.relevance.yaml"
    path.write_text(SUITE % text)
    assert load_suite(path, {}).thresholds[1].tag == "head"


def test_a_drop_since_runs_is_not_estimated():
    condition, _ = parse_threshold("drop R@10 <= 0.1 since 5 runs", of_query=False)
    assert (
        explain_not_estimable(condition) == "a drop since several runs cannot be estimated, only one since the baseline"
    )


@pytest.mark.parametrize(
    "least", ["${RELEVANCE_LEAST}", "${RELEVANCE_LEAST:-0.9 for head}", "${RELEVANCE_LEAST:-0.9} for long tail"]
)
def test_a_value_that_brings_a_tag_is_refused_as_pytest_selects_items_before_it_has_values(tmp_path, least):
    path = tmp_path / "s.relevance.yaml"
    path.write_text(SUITE % f"mean R@10 >= {least}")
    value = "0.9 for head"
    with pytest.raises(SuiteError, match="5:32: the value of a variable has 'for head"):
        load_suite(path, {"RELEVANCE_LEAST": value})


def test_an_expectation_has_no_tag(tmp_path):
    path = tmp_path / "s.relevance.yaml"
    expected = """expect: ['"model 3 for ${RELEVANCE_WHOM}" in top 3']"""
    path.write_text((SUITE % "mean R@10 >= 0").replace("judgments: {d1: 1}", f"judgments: {{d1: 1}}, {expected}"))
    [query] = load_suite(path, {"RELEVANCE_WHOM": "kids"}).queries
    assert "'model 3 for kids'" in repr(query.thresholds[0].condition)


@pytest.mark.parametrize("tag", ["${RELEVANCE_TAG}", "${RELEVANCE_TAG:-head}", "he${RELEVANCE_TAG}"])
@pytest.mark.parametrize("environ", [None, {"RELEVANCE_TAG": "head"}])
def test_a_tag_from_a_variable_is_refused_as_tags_select_the_queries(tmp_path, tag, environ):
    path = tmp_path / "s.relevance.yaml"
    path.write_text(SUITE % f"mean R@10 >= 0.5 for {tag}")
    with pytest.raises(SuiteError, match="5:32: found a variable in the tag, expected a tag as queries"):
        load_suite(path, environ)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (SUITE.replace('["R@10"]', '["alpha_nDCG@10"]') % "mean R@10 >= 0", "4:1"),
        (SUITE % "mean ERR_IA@10 >= 0.1", "5:32"),
    ],
)
def test_measures_of_novelty_are_refused_where_no_query_has_quotes(tmp_path, text, place):
    path = tmp_path / "s.relevance.yaml"
    path.write_text(text)
    with pytest.raises(SuiteError, match=f":{place}: .*@10 needs 'quotes', and no query that it scores has any"):
        load_suite(path, None)
