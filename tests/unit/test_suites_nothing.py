"""Queries with `nothing: true`: how they are read, and what contradicts them, with its place."""

import pytest

from builders.refusals import list_problems
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {{index: products}}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
{more}
queries:
{queries}
"""
SHOES = "{id: shoes, text: shoes, judgments: {a: 3}}"
NOTHING = "{id: xq, text: xq 1, nothing: true, need: never sold}"


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load_queries(*queries, more="", environ=()):
        if not queries[0].startswith("{"):
            lines = f"  file: {queries[0]}"
        else:
            lines = "\n".join(f"  - {query}" for query in queries)
        path = tmp_path / "s.relevance.yaml"
        path.write_text(SUITE.format(more=more, queries=lines), encoding="utf-8")
        return load_suite(path.relative_to(tmp_path), dict(environ))

    return load_queries


def find_nothing(suite):
    return {query.id: query.nothing for query in suite.queries}


def test_it_is_read_and_false_unless_it_is_said(load):
    suite = load(SHOES, NOTHING, "{id: b, text: b, nothing: false, judgments: {a: 1}}", more="measures: [nDCG@10]")
    assert find_nothing(suite) == {"shoes": False, "xq": True, "b": False}
    assert suite.queries[1].need == "never sold"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.csv", "id,text,nothing\nxq,xq 1,true\ntax,tax,TRUE\nshoes,shoes,\nboots,boots,false\n"),
        (
            "q.jsonl",
            '{"id": "xq", "text": "xq 1", "nothing": true}\n{"id": "tax", "text": "tax", "nothing": true}\n'
            '{"id": "shoes", "text": "shoes"}\n{"id": "boots", "text": "boots", "nothing": false}\n',
        ),
    ],
)
def test_a_file_of_queries_has_it_too(load, tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    suite = load(name, more="thresholds: [false hits <= 5%]")
    assert find_nothing(suite) == {"xq": True, "tax": True, "shoes": False, "boots": False}


def test_a_file_and_the_suite_must_say_the_same(load, tmp_path):
    (tmp_path / "q.csv").write_text("id,text,nothing\nxq,xq 1,true\ntax,tax,\nb,b,true\n", encoding="utf-8")
    lines = "q.csv\n  inline:\n    - {{id: {}}}"
    more = "thresholds: [false hits <= 5%]"
    suite = load(lines.format("tax, nothing: true"), more=more)
    assert find_nothing(suite) == {"xq": True, "tax": True, "b": True}
    assert find_nothing(load(lines.format("xq, nothing: true"), more=more))["xq"]
    [message] = list_problems(load, lines.format("xq, nothing: false"), more=more)
    assert message == "8:12 query 'xq' has another nothing at q.csv:2:1"


@pytest.mark.parametrize(
    "more",
    ["", "thresholds: [false hits <= 0%]", "measures: [nDCG@10]\nthresholds: [false hits <= 0%]"],
)
def test_a_suite_of_them_alone_needs_no_judgments(load, more):
    suite = load(NOTHING, "{id: tax, text: tax, nothing: true, judgments: {a: 0}}", more=more)
    assert all(query.nothing for query in suite.queries)
    if "measures" not in more:
        assert suite.measures == ()


def test_the_other_queries_need_judgments_as_before(load):
    message = list_problems(load, "{id: a, text: a}", NOTHING, more="measures: [nDCG@10]")[0]
    assert "the suite has no judgments" in message


def test_a_variant_is_made_by_no_rule_of_the_suite(load):
    suite = load(SHOES, NOTHING, more="variants: {case: true}")
    assert [len(query.variants) for query in suite.queries] == [1, 0]


PLACE = "7:"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("nothing: true, judgments: {b: 0, a: 2}", "57 grade 2 makes document 'a' a right result for 'xq', which"),
        ("nothing: true, thresholds: [nDCG@10 >= 0.9]", "52 no result is right for 'xq', so that it has no scores"),
        ("nothing: true, thresholds: [RBO >= 0.9]", "52 no result is right for 'xq', so that it has no scores"),
        ("nothing: true, expect: [a in top 3]", "48 no result is right for 'xq', and this expects one; remove either"),
        ("nothing: true, expect: [a before b]", "48 no result is right for 'xq', and this expects one; remove either"),
        ("nothing: true, expect: [hits >= 1]", "48 no result is right for 'xq', and this expects one; remove either"),
        ("nothing: true, expect: [brand = x in top 3]", "48 no result is right for 'xq', and this expects one"),
        ("nothing: true, expect: [every hit in top 3 has brand = x]", "48 no result is right for 'xq', and this"),
        ("nothing: true, variants: [xqs]", "10 no result is right for 'xq', so that it has no variants; make each a"),
        ("nothing: true, same_as: shoes", "48 no result is right for 'xq', so that it has no variants; make each a"),
        ("nothing: yes", "33 found 'yes', expected true or false"),
        (
            'nothing: "${RELEVANCE_SOLD}"',
            "33 found '${RELEVANCE_SOLD}', expected true or false, without variables: it selects tests",
        ),
    ],
)
def test_what_contradicts_it_is_a_problem(load, query, problem):
    [message] = list_problems(load, SHOES, f"{{id: xq, text: xq, {query}}}", environ={"RELEVANCE_SOLD": "true"}.items())
    assert message.startswith(f"{PLACE}{problem}")


@pytest.mark.parametrize(
    "query",
    [
        "expect: [hits = 0]",
        "expect: [hits < 1, a not in top 3, no hit in top 3 has brand = x, distinct brand <= 2 in top 3]",
        "thresholds: [p95 latency <= 200 ms]",
        "variants: []",
        "judgments: {a: 0, b: -1}",
        "xfail: {reason: known}",
        "weight: 3",
    ],
)
def test_what_does_not_contradict_it_is_none(load, query):
    shoes = SHOES.replace("shoes,", "shoes, weight: 1,", 1) if "weight" in query else SHOES
    assert find_nothing(load(shoes, f"{{id: xq, text: xq, nothing: true, {query}}}")) == {"shoes": False, "xq": True}


def test_a_judgment_in_a_file_has_its_place_there(load, tmp_path):
    (tmp_path / "j.qrels").write_text("shoes 0 a 3\nxq 0 b 0\nxq 0 c 1\n", encoding="utf-8")
    [message] = list_problems(load, "{id: shoes, text: shoes}", NOTHING, more="judgments: j.qrels")
    assert message.startswith("3:1 grade 1 makes document 'c' a right result for 'xq'")


def test_the_gain_says_which_grade_is_right(load):
    query = "{id: xq, text: xq, nothing: true, judgments: {a: 1}}"
    assert find_nothing(load(SHOES, query, more="gain: {0: 0, 1: 0, 3: 5}")) == {"shoes": False, "xq": True}


@pytest.mark.parametrize(
    ("thresholds", "problem"),
    [
        ("false hits <= 5% for head", "no query with the tag 'head' has 'nothing: true', which this threshold counts"),
        ("mean nDCG@10 >= 0.5 for far", "each query with the tag 'far' has 'nothing: true', so that this threshold"),
        ("p95 latency <= 9 ms", ""),
        ("false hits <= 5% for far", ""),
    ],
)
def test_a_threshold_that_counts_no_query_is_a_problem(load, thresholds, problem):
    queries = (
        "{id: shoes, text: shoes, tags: [head], judgments: {a: 3}}",
        "{id: xq, text: xq, tags: [far], nothing: true}",
    )
    if not problem:
        assert load(*queries, more=f"thresholds: [{thresholds}]")
        return
    [message] = list_problems(load, *queries, more=f"thresholds: [{thresholds}]")
    assert message.startswith(f"4:14 {problem}")


def test_a_threshold_without_such_a_query_is_a_problem(load):
    [message] = list_problems(load, SHOES, more="thresholds: [false hits <= 5%]")
    assert message.startswith("4:14 no query has 'nothing: true', which this threshold counts")
