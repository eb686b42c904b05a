"""ES|QL in a suite: values go beside the text, and what is no ranking is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders.refusals import list_problems
from harness.model.suite import Suite
from harness.suites import load_suite
from harness.suites.parameters import fill_parameters
from harness.suites.requests import build_requests, move_to_index

GOOD = (
    "FROM products METADATA _id, _score | WHERE MATCH(title, ?text) AND brand == ?brand | SORT _score DESC | LIMIT 10"
)
SUITE = """\
suite: shop
TARGET
request: REQUEST
measures: ["nDCG@5"]
queries:
  - {id: shoes, text: 'a "quoted" | ?brand', params: {brand: acme}, judgments: {sku-1: 1}}
"""
ONE_TEXT = "{esql: 'TEXT'}"
TARGET = "target: {index: products}"


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Suite]:
    monkeypatch.chdir(tmp_path)

    def load_request(
        text: str, form: str = ONE_TEXT, target: str = TARGET, environ: dict[str, str] | None = None, **replaced: str
    ) -> Suite:
        written = SUITE.replace("TARGET", target).replace("REQUEST", form.replace("TEXT", text))
        for name, value in replaced.items():
            written = written.replace(name, value)
        Path("shop.relevance.yaml").write_text(written, encoding="utf-8")
        return load_suite(Path("shop.relevance.yaml"), environ or {})

    return load_request


def build(suite: Suite) -> Any:
    [request] = build_requests(suite, None)
    return request


def test_values_of_the_query_are_parameters_and_the_text_stays_as_it_is(load: Callable[..., Suite]) -> None:
    request = build(load(GOOD))

    assert request.body == {
        "esql": GOOD,
        "params": {"text": 'a "quoted" | ?brand', "brand": "acme"},
        "size": 10,
    }
    assert request.index == "products"


@pytest.mark.parametrize(
    "value",
    ['x" OR true', "x | LIMIT 1", "?brand", "{{text}}", "`", "/* ", "// ", "a\\nb", '"""', "\\u2028", "${HOME}"],
)
def test_no_value_changes_the_text(load: Callable[..., Suite], value: str) -> None:
    body = build(load(GOOD, **{"{brand: acme}": f"{{brand: {quote(value)}}}"})).body

    assert body["esql"] == GOOD
    assert body["params"]["brand"] == value.replace("\\n", "\n").replace("\\u2028", "\u2028").replace(
        "${HOME}", "${HOME}"
    )


def quote(value: str) -> str:
    """*value* in double quotes of YAML; a backslash begins an escape of it."""
    return '"' + value.replace('"', '\\"').replace("${", "$${") + '"'


def test_a_parameter_in_a_string_or_a_comment_is_none(load: Callable[..., Suite]) -> None:
    text = GOOD.replace("| SORT", '| WHERE note != "is ?brand? // | LIMIT 3" /* ?b | LIMIT 4 /* */ ?c */ | SORT')
    body = build(load(text)).body

    assert list(body["params"]) == ["text", "brand"]
    assert body["size"] == 10


def test_the_limit_may_be_the_depth_of_the_suite(load: Callable[..., Suite]) -> None:
    body = build(load(GOOD.replace("LIMIT 10", "LIMIT ?depth"), measures="depth: 25\nmeasures")).body

    assert body["params"]["depth"] == 25
    assert body["size"] == 25


def test_params_beside_the_text_may_be_values_and_placeholders(load: Callable[..., Suite]) -> None:
    text = GOOD.replace("?text", '?words, {"boost": ?boost}')
    body = build(load(text, "{esql: 'TEXT', params: {words: '{{text}}', boost: 2.5}}")).body

    assert body["params"] == {"words": 'a "quoted" | ?brand', "boost": 2.5, "brand": "acme"}


def test_a_param_beside_the_text_may_be_tuned(load: Callable[..., Suite]) -> None:
    text = GOOD.replace("?text", '?text, {"boost": ?boost}')
    form = "{esql: 'TEXT', params: {boost: '{{param:boost}}'}}"
    suite = load(text, form, measures="tune: {parameters: {boost: {from: 1, to: 5, today: 2}}}\nmeasures")

    assert build(suite).body["params"]["boost"] == 2
    assert build(fill_parameters(suite, {"boost": 3.5})).body["params"]["boost"] == 3.5


def test_the_index_is_that_of_from_or_the_one_that_is_chosen(load: Callable[..., Suite]) -> None:
    suite = load(GOOD.replace("products", "shop-a, shop-b"), target="target: {cluster: default}")

    assert build(suite).index == "shop-a,shop-b"
    moved = build(move_to_index(suite, "next,<logs-{now/d}>"))
    assert moved.index == "next,<logs-{now/d}>"
    assert moved.body["esql"].startswith('FROM next, "<logs-{now/d}>" METADATA _id, _score | WHERE')


def test_a_fixture_takes_the_place_of_what_from_names(load: Callable[..., Suite]) -> None:
    Path("products.jsonl").write_text('{"id": "sku-1", "title": "tent"}\n', encoding="utf-8")
    suite = load(GOOD, target="fixture: {documents: products.jsonl}")

    assert suite.requests["request"].index is None


def test_it_may_be_in_a_file(load: Callable[..., Suite]) -> None:
    Path("search.yaml").write_text(f"esql: >-\n  {GOOD}\n", encoding="utf-8")

    assert build(load("", "{file: search.yaml}")).body["esql"] == GOOD


def test_a_variable_may_name_the_index(load: Callable[..., Suite]) -> None:
    text = GOOD.replace("products", "${RELEVANCE_INDEX}")

    assert build(load(text, environ={"RELEVANCE_INDEX": "shop"})).body["esql"] == GOOD.replace("products", "shop")


def test_nothing_is_refused_while_a_variable_has_no_value(load: Callable[..., Suite]) -> None:
    load(GOOD.replace("products", "${RELEVANCE_INDEX}"), environ={"RELEVANCE_INDEX": "shop"}, target="target: {}")

    assert load_suite(Path("shop.relevance.yaml"), None).requests["request"].index == "${RELEVANCE_INDEX}"


HERE = "▲"
"""Stands before the place of a problem; the text begins behind a quote in column 17."""

REFUSED = {
    "{{text}}": (
        GOOD.replace("?text", "▲{{text}}"),
        "found {{text}} in ES|QL, expected the parameter ?text: a value never becomes a part of the text",
    ),
    "a parameter to tune": (
        GOOD.replace("?text", '?text, {"boost": ▲{{param:b}} }'),
        "found {{param:b}} in ES|QL, expected the parameter ?b, and beside the text params: "
        '{b: "{{param:b}}"}: a value never becomes a part of the text',
    ),
    "a name in quotes": (
        GOOD.replace("?text", '▲"?text"'),
        'found "?text", which is a text for what it says; expected ?text, not in quotes',
    ),
    "no order": (
        GOOD.replace(" | SORT _score DESC", "") + "▲",
        "ES|QL without SORT has no order; expected SORT, such as SORT _score DESC, and LIMIT",
    ),
    "no limit": (
        GOOD.replace(" | LIMIT 10", "▲"),
        "ES|QL without LIMIT behind its last SORT has as many rows as the server wants; expected LIMIT",
    ),
    "a limit of each brand": (
        GOOD.replace("LIMIT 10", "▲LIMIT 10 BY brand"),
        "expected LIMIT with a whole number of at least 1, or with a parameter such as ?depth",
    ),
    "a limit before": (
        GOOD.replace("| SORT", "| ▲LIMIT 100 | SORT"),
        "found LIMIT before SORT, which takes any rows; expected it behind SORT",
    ),
    "less than the depth": (
        GOOD.replace("LIMIT 10", "LIMIT ▲3"),
        "the request 'request' has LIMIT 3, but 'nDCG@5' needs 5 hits",
    ),
    "a lower limit before the last": (
        GOOD.replace("LIMIT 10", "▲LIMIT 3 | LIMIT 10"),
        "found LIMIT 3 before LIMIT 10, which it leaves fewer rows; expected one LIMIT",
    ),
    "no ids": (
        "▲" + GOOD.replace("METADATA _id, _score", "METADATA _score"),
        "the ES|QL has no METADATA _id: expected FROM products METADATA _id, _score, or 'id_field' in the target",
    ),
    "ids that are not kept": (
        f"{GOOD} | ▲KEEP title, brand",
        "after this KEEP no column _id is left, which holds the ids of documents; expected it to stay",
    ),
    "ids that are dropped": (
        f"{GOOD} | ▲DROP _id",
        "after this DROP no column _id is left, which holds the ids of documents; expected it to stay",
    ),
    "no scores": (
        GOOD.replace("_id, _score |", "_id |").replace("SORT", "▲SORT"),
        "found SORT by _score, expected METADATA _id, _score behind FROM",
    ),
    "another order": (
        f"{GOOD} | ▲MV_EXPAND brand",
        "found MV_EXPAND behind the last SORT, after which rows may have another order; expected SORT behind it",
    ),
    "an unknown name": (
        GOOD.replace("?text", "▲?txt"),
        "unknown placeholder ?txt, expected ?text, ?depth, ?brand, or the name of a param of the queries; "
        "did you mean 'text'?",
    ),
    "a number": (GOOD.replace("?text", "▲?1"), "found '?1', expected a parameter with a name, such as ?text"),
    "nothing": (GOOD.replace("?text", "▲?"), "found '?', expected a parameter with a name, such as ?text"),
    "an open string": (GOOD.replace("?text", '▲"tent'), 'in ES|QL: the text after " is not closed in its line'),
    "an open comment": (GOOD.replace("| SORT", "▲/* | SORT"), "in ES|QL: the comment /* is not closed"),
    "an open bracket": (GOOD.replace("(title, ?text)", "▲(title, ?text"), "in ES|QL: the bracket ( is not closed"),
    "another command": ("▲ROW a = ?text", "in ES|QL: expected FROM and the name of an index as the first command"),
    "no command": (GOOD.replace("| SORT", "| ▲| SORT"), "in ES|QL: expected a command before this place"),
    "a subquery": ("FROM ▲(FROM a) | LIMIT 10", "in ES|QL: found a subquery in FROM, expected the names of indexes"),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_ranking_is_a_problem_at_its_place(load: Callable[..., Suite], text: str, problem: str) -> None:
    column = 17 if text.startswith(HERE) else 18 + text.index(HERE)

    assert list_problems(load, text.replace(HERE, "")) == [f"3:{column} {problem}"]


@pytest.mark.parametrize(
    "more", ["KEEP _id, title", "KEEP title, *", "KEEP `_id`", "DROP title", "KEEP sku | RENAME sku AS _id"]
)
def test_ids_that_stay_are_no_problem(load: Callable[..., Suite], more: str) -> None:
    assert load(f"{GOOD} | {more}").requests


def test_a_problem_in_a_block_is_at_its_line(load: Callable[..., Suite]) -> None:
    text = "\n    ".join(part for part in GOOD.replace("?text", "{{text}}").replace(" | ", "\n| ").split("\n"))

    assert list_problems(load, text, "\n  esql: |\n    TEXT") == [
        "6:26 found {{text}} in ES|QL, expected the parameter ?text: a value never becomes a part of the text"
    ]


BESIDE = {
    "{esql: 'TEXT', size: 10}": "3:133 found 'size' beside 'esql'; ES|QL may have only params beside it",
    "{esql: 'TEXT', params: {boots: 1}}": "3:142 found the param 'boots', and the text has no ?boots",
    "{esql: [1]}": '3:17 found a list, expected a text such as "FROM products METADATA _id, _score | WHERE '
    'MATCH(title, ?text) | …"',
    "{routing: north, body: {esql: 'TEXT'}}": "3:10 'routing' and 'url_params' are parameters of _search, and ES|QL "
    "has none of them; remove them",
    "{index: other, body: {esql: 'TEXT'}}": "3:18 found the index 'other', and FROM products in the ES|QL; expected "
    "the same, or none here",
    "{target: {index: other}, body: {esql: 'TEXT'}}": "3:27 found the index 'other', and FROM products in the ES|QL; "
    "expected the same, or none here",
}


@pytest.mark.parametrize(("form", "problem"), BESIDE.items())
def test_what_stands_beside_it_is_checked(load: Callable[..., Suite], form: str, problem: str) -> None:
    assert problem in list_problems(load, GOOD, form)


TARGETS = {
    "target: {index: products, engine: opensearch 2.19}": "2:1 the request 'request' is ES|QL, and the engine "
    "opensearch 2.19: OpenSearch has no ES|QL: it is a language of Elasticsearch alone",
    "target: {service: typesense}": "2:19 found 'typesense', which has no ES|QL: it is a language of Elasticsearch "
    "alone",
    "target: {index: products, point_in_time: true}": "3:10 'point_in_time' in the target: the request 'request' is "
    "ES|QL, which searches none; remove it",
}


@pytest.mark.parametrize(("target", "problem"), TARGETS.items())
def test_a_target_without_it_is_refused(load: Callable[..., Suite], target: str, problem: str) -> None:
    assert problem in list_problems(load, GOOD, target=target)


def test_an_id_field_takes_the_place_of_the_metadata(load: Callable[..., Suite]) -> None:
    text = GOOD.replace("_id, _score", "_score")

    assert build(load(text, target="target: {index: products, id_field: sku}")).id_field == "sku"


def test_a_limit_that_a_query_makes_too_small_is_refused(load: Callable[..., Suite]) -> None:
    suite = load(GOOD.replace("LIMIT 10", "LIMIT ?n"), **{"brand: acme": "brand: acme, n: 3"})

    assert (
        "the LIMIT becomes 3, but the suite needs 10 hits: write LIMIT ?depth, or set 'depth'"
        in (list_problems(build, suite)[0])
    )


def test_a_mapping_as_a_value_is_refused(load: Callable[..., Suite]) -> None:
    suite = load(GOOD, **{"brand: acme": "brand: {identifier: secret}"})

    assert (
        "?brand is a mapping, expected a text, a number, true, false or a list of these"
        in (list_problems(build, suite)[0])
    )


def test_a_pointer_of_tune_must_not_lead_to_the_text(load: Callable[..., Suite]) -> None:
    tune = "tune: {parameters: {all: {choices: [a, b], pointer: /esql}}}\nmeasures"

    assert list_problems(load, GOOD, measures=tune) == [
        "4:44 found '/esql', which is the text of ES|QL; expected a param beside it, such as "
        'params: {boost: "{{param:boost}}"}, and ?boost in the text'
    ]
