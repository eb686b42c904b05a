"""How two requests are taken apart into differences, each of which can be switched."""

import contextlib
import itertools
import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.extensions.compare.why.differences import LISTS, split_requests

ROOT = Path(__file__).parents[3]
MATCH = {"match": {"title": "{{text}}"}}
BRAND = {"match": {"brand": {"query": "{{text}}", "boost": 2}}}
POPULAR = {"field_value_factor": {"field": "popularity"}}


def fields(*names, **more):
    return {"query": {"multi_match": {"query": "{{text}}", "fields": list(names), **more}}}


def split(old, new, part="body"):
    return split_requests({part: old}, {part: new})


def tell(splitting, *, each=False):
    """Each difference: how often, its kind, its pointer, and what was and is there."""
    told = []
    for difference in splitting.list_differences(each=each):
        change = difference.changes[0]
        told.append((len(difference.changes), str(change.kind), change.pointer, change.before, change.after))
    return told


def build_arms(splitting, part="body"):
    """The old request with each difference alone."""
    return [splitting.build([difference])[part] for difference in splitting.list_differences()]


EXAMPLES = {
    "a value": (
        {"query": {"match": {"title": {"query": "{{text}}", "operator": "or"}}}},
        {"query": {"match": {"title": {"query": "{{text}}", "operator": "and"}}}},
        [(1, "replaced", "/query/match/title/operator", "or", "and")],
    ),
    "a key": ({"query": MATCH}, {"query": MATCH, "min_score": 1}, [(1, "added", "/min_score", None, 1)]),
    "true and 1": ({"lenient": True}, {"lenient": 1}, [(1, "replaced", "/lenient", True, 1)]),
    "a short form": (
        {"query": MATCH},
        {"query": {"match": {"title": {"query": "{{text}}", "boost": 2}}}},
        [(1, "added", "/query/match/title/boost", None, 2)],
    ),
    "another clause": (
        {"query": MATCH},
        {"query": {"match_all": {}}},
        [(1, "replaced", "/query", MATCH, {"match_all": {}})],
    ),
    "a function_score": (
        {"query": MATCH},
        {"query": {"function_score": {"query": MATCH, **POPULAR}}},
        [(1, "wrapped", "/query", None, {"function_score": POPULAR})],
    ),
    "functions": (
        {"query": MATCH},
        {"query": {"function_score": {"query": MATCH, "functions": [POPULAR, {"weight": 2}], "boost_mode": "sum"}}},
        [
            (1, "added", "/query/function_score/functions/0", None, POPULAR),
            (1, "added", "/query/function_score/functions/1", None, {"weight": 2}),
        ],
    ),
    "a function_score less": (
        {"query": {"function_score": {"query": MATCH, **POPULAR}}},
        {"query": MATCH},
        [(1, "unwrapped", "/query", {"function_score": POPULAR}, None)],
    ),
    "a bool": (
        {"query": MATCH},
        {"query": {"bool": {"must": MATCH, "should": [BRAND], "filter": {"term": {"sold": True}}}}},
        [
            (1, "added", "/query/bool/should/0", None, BRAND),
            (1, "added", "/query/bool/filter", None, {"term": {"sold": True}}),
        ],
    ),
    "a bool around nothing else": (
        {"query": MATCH},
        {"query": {"bool": {"must": [MATCH]}}},
        [(1, "wrapped", "/query", None, {"bool": {}})],
    ),
    "a dis_max": (
        {"query": MATCH},
        {"query": {"dis_max": {"queries": [MATCH, BRAND], "tie_breaker": 0.3}}},
        [(1, "added", "/query/dis_max/queries/1", None, BRAND)],
    ),
    "two frames": (
        {"query": MATCH},
        {"query": {"script_score": {"query": {"constant_score": {"filter": MATCH}}, "script": {"source": "1"}}}},
        [
            (1, "wrapped", "/query/script_score/query", None, {"constant_score": {}}),
            (1, "wrapped", "/query", None, {"script_score": {"script": {"source": "1"}}}),
        ],
    ),
    "nested": (
        {"query": MATCH},
        {"query": {"nested": {"path": "parts", "query": MATCH}}},
        [(1, "wrapped", "/query", None, {"nested": {"path": "parts"}})],
    ),
    "a retriever": (
        {"query": MATCH},
        {"retriever": {"rrf": {"retrievers": [{"standard": {"query": MATCH}}, {"knn": {"field": "vector"}}]}}},
        [(1, "added", "/retriever/rrf/retrievers/1", None, {"knn": {"field": "vector"}})],
    ),
    "one and a list of one": (
        {"query": {"bool": {"must": MATCH}}},
        {"query": {"bool": {"must": [MATCH]}}},
        [],
    ),
    "clauses by kind and field": (
        {"query": {"bool": {"should": [MATCH, BRAND]}}},
        {"query": {"bool": {"should": [{"match": {"colour": "{{text}}"}}, {"match": {"title": "red"}}]}}},
        [
            (1, "added", "/query/bool/should/0", None, {"match": {"colour": "{{text}}"}}),
            (1, "replaced", "/query/bool/should/1/match/title", "{{text}}", "red"),
            (1, "removed", "/query/bool/should/1", BRAND, None),
        ],
    ),
    "a clause in a list that is wrapped": (
        {"query": {"bool": {"must": [MATCH, BRAND]}}},
        {"query": {"bool": {"must": [{"constant_score": {"filter": MATCH}}, BRAND]}}},
        [(1, "wrapped", "/query/bool/must/0", None, {"constant_score": {}})],
    ),
    "renamed and reweighted": (
        fields("title^3", "brand"),
        fields("title.synonyms^5", "brand"),
        [
            (1, "renamed", "/query/multi_match/fields/0", "title", "title.synonyms"),
            (1, "reweighted", "/query/multi_match/fields/0", "title.synonyms^3", "title.synonyms^5"),
        ],
    ),
    "fields added and removed": (
        fields("title^3", "brand^2"),
        fields("title^3", "tags"),
        [
            (1, "removed", "/query/multi_match/fields/1", "brand^2", None),
            (1, "added", "/query/multi_match/fields/1", None, "tags"),
        ],
    ),
    "the order of fields": (fields("title", "brand"), fields("brand", "title"), []),
    "one replacement at siblings": (
        fields("title^3", "tags", "brand"),
        fields("title.synonyms^3", "tags.synonyms", "brand"),
        [(2, "renamed", "/query/multi_match/fields/0", "title", "title.synonyms")],
    ),
    "one value at siblings": (
        {"query": {"dis_max": {"queries": [{"term": {"a": {"value": 1, "boost": 1}}}] * 2}}},
        {"query": {"dis_max": {"queries": [{"term": {"a": {"value": 1, "boost": 3}}}] * 2}}},
        [(2, "replaced", "/query/dis_max/queries/0/term/a/boost", 1, 3)],
    ),
    "the order of sort": (
        {"sort": ["_score", {"price": "asc"}]},
        {"sort": [{"price": "asc"}, "_score"]},
        [(1, "replaced", "/sort", ["_score", {"price": "asc"}], [{"price": "asc"}, "_score"])],
    ),
    "a key of sort": (
        {"sort": ["_score"]},
        {"sort": ["_score", {"price": "asc"}]},
        [(1, "added", "/sort/1", None, {"price": "asc"})],
    ),
    "a rescore": (
        {"query": MATCH},
        {"query": MATCH, "rescore": {"query": {"rescore_query": BRAND}}},
        [(1, "added", "/rescore", None, {"query": {"rescore_query": BRAND}})],
    ),
    "the order of rescores": (
        {"rescore": [{"window_size": 5}, {"query": {}}]},
        {"rescore": [{"query": {}}, {"window_size": 5}]},
        [(1, "replaced", "/rescore", [{"window_size": 5}, {"query": {}}], [{"query": {}}, {"window_size": 5}])],
    ),
    "a script": (
        {"query": {"script_score": {"query": MATCH, "script": {"source": "1", "params": {"a": 1}}}}},
        {"query": {"script_score": {"query": MATCH, "script": {"source": "2", "params": {"a": 2}}}}},
        [
            (
                *(1, "replaced", "/query/script_score/script"),
                {"source": "1", "params": {"a": 1}},
                {"source": "2", "params": {"a": 2}},
            )
        ],
    ),
    "a vector": (
        {"knn": {"query_vector": [1, 2], "k": 5}},
        {"knn": {"query_vector": [1, 3], "k": 5}},
        [(1, "replaced", "/knn/query_vector", [1, 2], [1, 3])],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_rule_has_an_example(name):
    old, new, expected = EXAMPLES[name]
    assert tell(split(old, new)) == expected


PARAMS = {
    "qf": (
        {"qf": "title^3 name", "defType": "edismax"},
        {"qf": "title^5 name.exact text", "defType": "edismax"},
        [
            (1, "reweighted", "/params/qf/0", "title^3", "title^5"),
            (1, "renamed", "/params/qf/1", "name", "name.exact"),
            (1, "added", "/params/qf/2", None, "text"),
        ],
        [
            {"qf": "title^5 name", "defType": "edismax"},
            {"qf": "title^3 name.exact", "defType": "edismax"},
            {"qf": "title^3 name text", "defType": "edismax"},
        ],
    ),
    "forms of fields": (
        {"qf": "title^3 brand_id tags_shop"},
        {"qf": "title_shop^3 brand_name tags"},
        [
            (1, "renamed", "/params/qf/0", "title", "title_shop"),
            (1, "removed", "/params/qf/1", "brand_id", None),
            (1, "added", "/params/qf/1", None, "brand_name"),
            (1, "renamed", "/params/qf/2", "tags_shop", "tags"),
        ],
        [
            {"qf": "title_shop^3 brand_id tags_shop"},
            {"qf": "title^3 tags_shop"},
            {"qf": "title^3 brand_id brand_name tags_shop"},
            {"qf": "title^3 brand_id tags"},
        ],
    ),
    "bf": (
        {"bf": "log(sum(views, 1))^2"},
        {"bf": "log(sum(views, 1))^3 recip(age,1,1,1)"},
        [
            (1, "reweighted", "/params/bf/0", "log(sum(views, 1))^2", "log(sum(views, 1))^3"),
            (1, "added", "/params/bf/1", None, "recip(age,1,1,1)"),
        ],
        [{"bf": "log(sum(views, 1))^3"}, {"bf": "log(sum(views, 1))^2 recip(age,1,1,1)"}],
    ),
    "query_by": (
        {"query_by": "title,tags", "query_by_weights": "3,1"},
        {"query_by": "title,brand,tags", "query_by_weights": "5,2,1"},
        [
            (1, "reweighted", "/params/query_by/0", "title^3", "title^5"),
            (1, "added", "/params/query_by/1", None, "brand^2"),
        ],
        [
            {"query_by": "title,tags", "query_by_weights": "5,1"},
            {"query_by": "title,brand,tags", "query_by_weights": "3,2,1"},
        ],
    ),
}


@pytest.mark.parametrize("name", PARAMS)
def test_fields_in_one_text(name):
    old, new, expected, arms = PARAMS[name]
    splitting = split(old, new, "params")
    assert tell(splitting) == expected
    assert build_arms(splitting, "params") == arms


ANALYSIS = {"analysis": {"filter": {"words": {"type": "synonym", "synonyms": ["a => b", "c, d"]}}}}
FIXTURE = {"settings": ANALYSIS, "mappings": {"properties": {"title": {"type": "text"}}}, "documents": "a.jsonl"}


def test_a_fixture_is_taken_apart():
    """Each line of synonyms, filter, setting and field; the order of filters counts."""
    stems = {"words": {"type": "synonym", "synonyms": ["c, d", "e"]}, "stem": {"type": "stemmer"}}
    analyzer = {"shop": {"filter": ["words", "stem"]}}
    new = {
        "settings": {"analysis": {"filter": stems, "analyzer": analyzer}},
        "mappings": {"properties": {"title": {"type": "text", "analyzer": "shop"}}},
        "documents": "b.jsonl",
    }
    splitting = split(FIXTURE, new, "fixture")
    filters = "/fixture/settings/analysis/filter"
    assert tell(splitting) == [
        (1, "removed", f"{filters}/words/synonyms/0", "a => b", None),
        (1, "added", f"{filters}/words/synonyms/1", None, "e"),
        (1, "added", f"{filters}/stem", None, {"type": "stemmer"}),
        (1, "added", "/fixture/settings/analysis/analyzer", None, analyzer),
        (1, "added", "/fixture/mappings/properties/title/analyzer", None, "shop"),
        (1, "replaced", "/fixture/documents", "a.jsonl", "b.jsonl"),
    ]
    assert splitting.build([]) == {"fixture": FIXTURE}
    assert splitting.build(splitting.list_differences()) == {"fixture": new}
    reordered = split({"analyzer": analyzer}, {"analyzer": {"shop": {"filter": ["stem", "words"]}}}, "fixture")
    assert [told[1:3] for told in tell(reordered)] == [("replaced", "/fixture/analyzer/shop/filter")]


def test_siblings_are_taken_apart():
    splitting = split(fields("title", "tags"), fields("title.synonyms", "tags.synonyms"))
    assert [told[4] for told in tell(splitting, each=True)] == ["title.synonyms", "tags.synonyms"]


def test_frame_is_there_with_its_clauses():
    """A bool is there as long as anything in it is, and not longer."""
    splitting = split({"query": MATCH}, {"query": {"bool": {"must": [MATCH], "should": [BRAND], "filter": [POPULAR]}}})
    assert build_arms(splitting) == [
        {"query": {"bool": {"must": [MATCH], "should": [BRAND]}}},
        {"query": {"bool": {"must": [MATCH], "filter": [POPULAR]}}},
    ]


def test_what_is_in_a_frame_is_compared():
    new = {"query": {"function_score": {"query": {"match": {"title": "tent"}}, **POPULAR}}}
    splitting = split({"query": MATCH}, new)
    assert build_arms(splitting) == [
        {"query": {"match": {"title": "tent"}}},
        {"query": {"function_score": {"query": MATCH, **POPULAR}}},
    ]


# Requests of any form.

names = st.sampled_from(["title", "brand", "tags", "title.synonyms", "brand.exact"])
weighted = st.builds(lambda name, weight: f"{name}{weight}", names, st.sampled_from(["", "^2", "^3", "^0.5"]))
field_lists = st.lists(weighted, min_size=1, max_size=4, unique_by=lambda text: text.split("^")[0])
leaves = st.one_of(
    st.builds(lambda texts: {"multi_match": {"query": "{{text}}", "fields": texts}}, field_lists),
    st.builds(lambda name, boost: {"match": {name: {"query": "{{text}}", "boost": boost}}}, names, st.integers(1, 3)),
    st.builds(lambda name: {"exists": {"field": name}}, names),
)


def wrap(clauses):
    listed = st.lists(clauses, min_size=1, max_size=3)
    return st.one_of(
        st.fixed_dictionaries({}, optional=dict.fromkeys(("must", "should", "filter", "must_not"), listed)).map(
            lambda content: {"bool": content}
        ),
        listed.map(lambda queries: {"dis_max": {"queries": queries}}),
        clauses.map(lambda query: {"function_score": {"query": query, **POPULAR}}),
        st.builds(lambda query, by: {"function_score": {"query": query, "functions": by}}, clauses, listed),
        clauses.map(lambda query: {"constant_score": {"filter": query}}),
        clauses.map(lambda query: {"nested": {"path": "parts", "query": query}}),
    )


clauses = st.recursive(leaves, wrap, max_leaves=6)
sorts = st.lists(st.sampled_from(["_score", "price", "rating"]), unique=True, max_size=3)
bodies = st.fixed_dictionaries({"query": clauses}, optional={"sort": sorts, "min_score": st.integers(0, 2)})


def settle(value, key=""):
    """*value* as JSON, without what changes no ranking: the order of fields and clauses, short forms."""
    if key in LISTS and not isinstance(value, list):
        value = [value]
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("query", value.get("value")), str):
        return next(iter(value.values()))
    if isinstance(value, dict):
        return {name: settle(member, name) for name, member in value.items()}
    if isinstance(value, list):
        items = [settle(item) for item in value]
        ordered = key not in ("fields", "must", "should", "filter", "must_not", "functions")
        return items if ordered else sorted(items, key=json.dumps)
    return value


def normalize(request):
    return json.dumps(settle(request), sort_keys=True)


@settings(max_examples=60)
@given(bodies, bodies)
def test_ends_are_the_requests(old, new):
    splitting = split(old, new)
    assert normalize(splitting.build([])) == normalize({"body": old})
    assert normalize(splitting.build(splitting.list_differences())) == normalize({"body": new})


@settings(max_examples=60)
@given(bodies, bodies, st.randoms())
def test_any_switches_give_a_request(old, new, random):
    splitting = split(old, new)
    differences = splitting.list_differences()
    chosen = [difference for difference in differences if random.random() < 0.5]
    assert json.loads(json.dumps(splitting.build(chosen)))["body"].keys() <= old.keys() | new.keys()


@settings(max_examples=60)
@given(bodies)
def test_a_request_does_not_differ_from_itself(body):
    assert split(body, body).changes == ()


# The requests of the documentation.


def find_bodies(value):
    """All bodies with a query, or requests of a service, in *value*."""
    if isinstance(value, dict):
        if "query" in value or "retriever" in value or "knn" in value:
            yield value
        for member in value.values():
            yield from find_bodies(member)
    elif isinstance(value, list):
        for item in value:
            yield from find_bodies(item)


def read_documented():
    """The bodies of the YAML and JSON of the pages, and of the suites beside them."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "suites").glob("*.yaml"))]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        texts += re.findall(r"^```(?:yaml|json)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    bodies = []
    for text in texts:
        with contextlib.suppress(yaml.YAMLError):
            bodies += find_bodies(yaml.safe_load(text))
    return list({json.dumps(body, sort_keys=True, default=str): body for body in bodies}.values())


def test_ends_of_documented_requests():
    """Whichever of them becomes which other, both ends are rebuilt, and so is each single difference."""
    bodies = read_documented()
    assert len(bodies) > 30
    for old, new in itertools.permutations(bodies, 2):
        splitting = split(old, new)
        differences = splitting.list_differences()
        takes_retriever = ("retriever" in old) != ("retriever" in new)
        if not takes_retriever:
            assert normalize(splitting.build([])) == normalize({"body": old})
            assert normalize(splitting.build(differences)) == normalize({"body": new})
