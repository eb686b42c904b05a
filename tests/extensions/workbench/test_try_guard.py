"""What a text may ask for: the suite's own target, its own variables, and hits alone."""

import json

import pytest

from extensions.workbench.builders.tried_shop import REQUEST, SUITE, begin, open_actions, send, write_suite
from harness.errors import UsageError
from harness.extensions.workbench.guard import Guard
from harness.files.opening import YamlSource
from harness.local_server import RefusedAction
from harness.suites.given_body import make_body_node
from harness.suites.yaml import Problems

OWN = "only the suite's own requests may"
ALONE = "found 'wrapper', expected a search alone"

SIZED = """\
suite: shop
target: {index: products}
measures: [nDCG@5]
depth: 5
grades: {bad: 0, fair: 1, good: 2}
tune: {parameters: {n: {from: 1, to: 5, today: 5}}}
request:
  size: "{{param:n}}"
  query: {multi_match: {query: "{{text}}", fields: [title^3, brand]}}
queries:
"""


def put(clause):
    return REQUEST + clause


def refuse(actions, text):
    """What the page is told of a text that is refused."""
    with pytest.raises(RefusedAction) as refused:
        begin(actions, text)
    return refused.value.answer


@pytest.mark.parametrize(
    ("clause", "key"),
    [
        ("terms: {brand: {index: others, id: 1, path: brands}}", "index"),
        ("more_like_this: {like: [{_index: others, _id: 1}]}", "_index"),
        ("geo_shape: {place: {indexed_shape: {index: others, id: 1}}}", "indexed_shape"),
        ("percolate: {field: query, index: others, id: 1}", "index"),
        ("lookup: {target_index: others}", "target_index"),
    ],
)
def test_another_index_is_refused(actions, engine, clause, key):
    answer = refuse(actions, put(f"post_filter: {{{clause}}}"))
    assert answer["error"] == f"found {key!r}, which names another index: {OWN}"
    assert answer["line"] == 7
    assert sum(engine.asked.values()) == 12


@pytest.mark.parametrize(
    ("clause", "sentence"),
    [
        ("pit: {id: abc}", "found 'pit', expected a search alone: a point in time is one of another search"),
        ("scroll: 1m", "found 'scroll', expected a search alone: a scroll is kept open on the engine"),
        ("profile: true", "found 'profile', expected a search alone: a profile takes the engine many times as long"),
        ("post_filter: {wrapper: {query: e30=}}", f"{ALONE}: a query in Base64 may name another index"),
        ("size: 6", "found 6 hits, expected at most 5, the depth of the suite"),
        ("min_score: '${RELEVANCE_X}'", "found the variable RELEVANCE_X, expected no variable, as the suite has none"),
    ],
)
def test_what_is_refused_has_its_line(actions, engine, clause, sentence):
    answer = refuse(actions, put(clause))
    assert (answer["error"], answer["line"]) == (sentence, 7)
    assert sum(engine.asked.values()) == 12


@pytest.mark.parametrize("size", [6, 1e6])
def test_a_parameter_is_no_greater_size(engine, tmp_path, size):
    with open_actions(write_suite(tmp_path, SIZED), engine.url) as actions:
        text = actions.show_session("", {})["text"].replace("^3", "^6")
        with pytest.raises(UsageError, match="hits, expected at most 5, the depth of the suite"):
            begin(actions, text, values={"param:n": size})
        assert {body["size"] for body in engine.bodies} == {5}


def test_the_value_of_a_variable_is_no_size(engine, tmp_path):
    suite = SUITE.replace("fields: [title^3, brand]", 'fields: [title^3, "${RELEVANCE_FIELD}"]')
    with open_actions(write_suite(tmp_path, suite), engine.url, environ={"RELEVANCE_FIELD": "47114711"}) as actions:
        assert refuse(actions, put("size: ${RELEVANCE_FIELD}"))["error"].startswith("found ${RELEVANCE_FIELD} hits")


def test_a_parameter_that_is_none_is_refused(actions):
    with pytest.raises(UsageError, match="the suite has no parameter 'x'"):
        begin(actions, REQUEST, values={"param:x": 4})


@pytest.mark.parametrize("template", ["source: '{\"size\": {{n}}}'", "id: other"])
def test_another_template_is_refused(actions, engine, template):
    answer = refuse(actions, f"template:\n  {template}\n  params: {{text: '{{{{text}}}}', n: 9}}\n")
    key = template.partition(":")[0]
    assert answer["error"] == f"{key!r} of 'template' is not that of the suite: change its params"
    assert sum(engine.asked.values()) == 12


@pytest.mark.parametrize(
    "key",
    [
        "url_params: {routing: x}",
        "index: others",
        "target: {cluster: http://evil.example}",
        "routing: x",
        "file: x.json",
    ],
)
def test_a_text_says_not_where_it_is_sent(actions, engine, key):
    body = "".join(f"  {line}\n" for line in REQUEST.splitlines())
    with pytest.raises(RefusedAction) as refused:
        begin(actions, f"{key}\nbody:\n{body}")
    assert "is not that of the suite's request" in refused.value.answer["error"]
    assert sum(engine.asked.values()) == 12


def test_a_look_up_of_the_suite_itself_is_allowed(engine, tmp_path):
    look_up = "post_filter: {terms: {brand: {index: others, id: 1, path: brands}}}"
    suite = SUITE.replace("        tie_breaker: 0.2\n", f"        tie_breaker: 0.2\n    {look_up}\n")
    with open_actions(write_suite(tmp_path, suite), engine.url) as actions:
        send(actions, put(look_up).replace("^3", "^6"))
        assert engine.bodies[-1]["post_filter"]["terms"]["brand"]["index"] == "others"
        with pytest.raises(RefusedAction):
            begin(actions, put(look_up.replace("others", "secrets")))


@pytest.mark.parametrize(
    "clause",
    [
        "aggs: {brands: {terms: {field: brand}}}",
        "aggregations: {brands: {terms: {field: brand}}}",
        "highlight: {fields: {title: {}}}",
        "script_fields: {x: {script: '1'}}",
        "suggest: {text: x}",
        "explain: true",
    ],
)
def test_what_does_not_rank_is_not_sent(actions, engine, clause):
    send(actions, put(clause).replace("^3", "^6"))
    assert clause.partition(":")[0] not in engine.bodies[-1]
    assert engine.bodies[-1]["query"]["multi_match"]["fields"] == ["title^6", "brand"]


def test_a_value_of_the_environment_is_never_shown(engine, tmp_path):
    suite = SUITE.replace("fields: [title^3, brand]", 'fields: [title^3, "${RELEVANCE_FIELD}"]')
    environ = {"RELEVANCE_FIELD": "hidden-field-4711"}
    path = write_suite(tmp_path, suite)
    with open_actions(path, engine.url, environ=environ) as actions:
        session = actions.show_session("", {})
        assert "${RELEVANCE_FIELD}" in session["text"]
        reason = "no field hidden-field-4711"
        engine.answers["q0 good"] = {"status": 400, "error": {"type": "unknown", "reason": reason}}
        rows, last = send(actions, session["text"].replace("^3", "^6"))
        assert "hidden-field-4711" in json.dumps(engine.bodies)
        assert rows["q0"]["error"] == "engine error (400): unknown: no field ${RELEVANCE_FIELD}"
        answers = [session, rows, last, actions.show_try("", {"number": "1"})]
        answers += [actions.show_query("", {"id": "q0", "try": "1"}), actions.show_query("", {"id": "q0"})]
        answers.append(actions.write("", {"try": 1, "how": "request", "name": "better"}))
    for answer in answers:
        assert "hidden-field-4711" not in json.dumps(answer)
    assert "hidden-field-4711" not in path.with_name(".shop.tries.jsonl").read_text()


@pytest.mark.parametrize(
    "sent",
    [
        {"text": None},
        {"text": ["x"]},
        {"values": [1]},
        {"first": 5},
        {"values": {"/query/multi_match/tie_breaker": 10**400}},
        {"values": {"/query/multi_match/tie_breaker": "1"}},
        {"values": {"/query/multi_match/tie_breaker": True}},
    ],
)
def test_what_is_no_text_or_number_is_refused(actions, sent):
    with pytest.raises(UsageError, match="expected"):
        begin(actions, **{"text": REQUEST, **sent})


@pytest.mark.parametrize("values", [{}, {"/query/multi_match/tie_breaker": 0.5}])
@pytest.mark.parametrize("end", ["x: " + "[" * 10_000, "x: [", "x: &a [*a]"])
def test_what_is_no_yaml_is_a_sentence(actions, end, values):
    with pytest.raises(RefusedAction) as refused:
        begin(actions, REQUEST + end, values=values)
    assert refused.value.status == 422


def test_a_dial_that_is_no_finite_number_is_refused(actions):
    for number in (float("nan"), float("inf")):
        with pytest.raises((RefusedAction, UsageError)):
            begin(actions, REQUEST, values={"/query/multi_match/tie_breaker": number})


ESQL = "FROM products METADATA _id, _score | WHERE MATCH(title, ?text) | SORT _score DESC | LIMIT 5"


@pytest.mark.parametrize(
    "text",
    [
        ESQL.replace("products", "others"),
        ESQL.replace("products", "products, others"),
        ESQL.replace("| SORT", "| LOOKUP JOIN others ON brand | SORT"),
        ESQL.replace("| SORT", "| ENRICH others | SORT"),
    ],
)
def test_es_ql_reads_what_that_of_the_suite_reads(text):
    problems = Problems(YamlSource("text", ""))
    own, other = (make_body_node({"esql": written}) for written in (ESQL, text))
    Guard(own, (own,), 5).check(other, problems)
    assert [problem.message for problem in problems.found] == [
        "this ES|QL does not read what that of the suite reads behind FROM, JOIN and ENRICH: only the suite's own "
        "requests may name an index"
    ]


def test_es_ql_may_search_otherwise():
    problems = Problems(YamlSource("text", ""))
    own, other = (make_body_node({"esql": text}) for text in (ESQL, ESQL.replace("title", "brand")))
    Guard(own, (own,), 5).check(other, problems)
    assert problems.found == []
