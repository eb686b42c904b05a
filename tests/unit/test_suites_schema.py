"""The JSON Schema for editors takes what the loader takes, and refuses what it refuses in shape."""

import pytest

pytest.importorskip("jsonschema")

import re
from pathlib import Path

import jsonschema
import yaml

from harness.suites import load_suite
from harness.suites.discovery import find_suites
from harness.suites.schema_file import SchemaState, read_schema_state
from harness.suites.shape import suite_schema

SCHEMA = suite_schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
SUITES = Path(__file__).parents[2] / "suites"

SHOP = """\
suite: shop
target: {index: products, cluster: "${RELEVANCE_CLUSTER:-default}", ids: unique}
grades: {good: 2, bad: 0}
gain: {good: 1.5, 0: -1}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {index: other, body: {query: {term: {brand: "{{brand}}"}}}}
  shared: {file: search.json, gate: false}
measures: ["nDCG@10"]
thresholds:
  - {threshold: mean nDCG@10 >= 0.8, requests: [current]}
  - {threshold: "every P@5 >= 0.2", xfail: {reason: later, until: "2027-01-01"}, markers: [slow]}
queries:
  - id: 7
    text: red shoes
    tags: [head, 2024]
    params: {brand: [a, {b: 1}]}
    judgments: {sku-1: good, 12: 1.5}
    expect: ["sku-1 in top 3", {expect: "hits >= 1", skip: {reason: broken}}]
depth: ${RELEVANCE_DEPTH:-20}
judgments: {files: [a.qrels], other_queries: ignore}
fixture: {documents: d.jsonl, mappings: {}, settings: {}, id: sku}
undefined: skip
profile: trec
"""


def plain(node):
    """What an editor's YAML reader hands to the schema: mappings with text for keys."""
    if isinstance(node, dict):
        return {str(key): plain(value) for key, value in node.items()}
    return [plain(item) for item in node] if isinstance(node, list) else node


def tree_of(text):
    return plain(yaml.safe_load(text))


def test_the_schema_is_one():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", find_suites([SUITES]).suites, ids=lambda path: path.name)
def test_the_example_suites_fit_the_schema_and_load(path):
    text = path.read_text(encoding="utf-8")
    dates_as_text = yaml.load(text, Loader=DatesAsText)
    VALIDATOR.validate(plain(dates_as_text))
    assert load_suite(path, None).queries


class DatesAsText(yaml.SafeLoader):
    """YAML 1.2 has no dates, and editors' readers give text."""


DatesAsText.yaml_implicit_resolvers = {
    first: [entry for entry in resolvers if entry[0] != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def test_a_suite_with_every_key_fits_the_schema():
    VALIDATOR.validate(tree_of(SHOP))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("suite: shop\n", ""),
        ("thresholds:", "tresholds:"),
        ("index: products,", "indices: products,"),
        ("ids: unique", "ids: true"),
        ("good: 2", "good: two"),
        ("gain: {good: 1.5, 0: -1}", "gain: cubic"),
        ("requests:", "request: {query: {}}\nrequests:"),
        ('measures: ["nDCG@10"]', "measures: nDCG@10"),
        ("    text: red shoes", "    txt: red shoes"),
        ("  - id: 7", "  - ident: 7"),
        ("reason: later, ", ""),
        ('until: "2027-01-01"', "until: soon"),
        ("good, 12: 1.5", "good, 12: [1]"),
        ("${RELEVANCE_DEPTH:-20}", "0"),
        ("${RELEVANCE_DEPTH:-20}", "many"),
        ("files: [a.qrels], ", ""),
        ("other_queries: ignore", "other_queries: drop"),
        ("documents: d.jsonl, ", ""),
        ("undefined: skip", "undefined: pass"),
        ("profile: trec", "profile: trek"),
        ("profile: trec", "profile: null"),
        ("    tags: [head, 2024]", "    tags: null"),
        ("index: other, body:", "index: other, query:"),
        ("gate: false", "gate: maybe"),
        ("requests: [current]", "requests: []"),
        ("requests: [current]", "requests: current"),
        ("query: {match: {title: ", "gate: false, query: {match: {title: "),
        ("file: search.json", "file: [search.json]"),
        ("file: search.json", "file: search.json, query: {}"),
    ],
)
def test_a_suite_of_another_shape_does_not_fit(old, new):
    assert old in SHOP
    assert not VALIDATOR.is_valid(tree_of(SHOP.replace(old, new, 1)))


def test_the_schema_beside_the_example_suites_is_current():
    remedy = "run: relevance schema > suites/relevance.schema.json"
    assert read_schema_state(SUITES) is SchemaState.CURRENT, remedy


def list_descriptions(node, path):
    """Each key of the schema, and what an editor shows where the mouse is over it."""
    if isinstance(node, list):
        return [entry for item in node for entry in list_descriptions(item, path)]
    if not isinstance(node, dict):
        return []
    descriptions = []
    for key, value in node.get("properties", {}).items():
        descriptions.append((f"{path}.{key}", value.get("description", "")))
    for key, value in node.items():
        descriptions += list_descriptions(value, f"{path}.{key}")
    return descriptions


def test_every_key_is_described_by_a_sentence():
    descriptions = list_descriptions(SCHEMA, "suite")

    assert len(descriptions) > 120
    assert [key for key, text in descriptions if not re.fullmatch(r"[A-Z`].{9,}\.", text)] == []


def test_editors_name_definitions_in_words():
    titles = {definition["title"] for definition in SCHEMA["$defs"].values()}
    assert {"Target", "Query variants", "Http"} <= titles
    assert not [title for title in titles if "Shape" in title]


def test_the_schema_takes_a_request_whose_paths_a_preset_gives():
    request = 'request: {http: {path: /products/select, params: {q: "{{text}}"}, sort: [$.score, $.id]}}'
    suite = f"suite: shop\ntarget: {{service: solr}}\n{request}\nqueries: [{{id: a, text: b}}]\n"

    VALIDATOR.validate(tree_of(suite))
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(tree_of(suite.replace("solr", "sorl")))
