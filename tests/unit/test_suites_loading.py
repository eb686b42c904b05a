"""What a suite file becomes: every key of it, its variables, its files, and what is left to defaults."""

import gzip
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml

from builders.refusals import list_problems
from harness.config import Configs
from harness.errors import SuiteError, UsageError
from harness.metrics import parse_measure
from harness.model.suite import (
    Before,
    Display,
    Gain,
    GainKind,
    HitCount,
    HttpRequest,
    InTop,
    Mark,
    Operator,
    Profile,
    StatisticKind,
    Target,
    UnresolvedCondition,
    Waiver,
)
from harness.suites import load_suite, load_suites
from harness.suites import yaml as composing

SMALL = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
queries:
  - {id: shoes, text: red shoes, judgments: {sku-1: 1}}
"""

FULL = """\
suite: products
target: {cluster: staging, index: products-*, engine: opensearch 2.19, ids: unique}
grades: {perfect: 3, good: 2, bad: 0}
gain: {perfect: 7, good: 3, 0: -1, 1.5: 2}
profile: rank_eval
requests:
  current:
    query: {match: {title: {query: "{{text}}", boost: 1e1}}}
  candidate: {index: products-next, body: {query: {term: {brand: "{{brand}}"}}, size: 30}}
measures: ["nDCG@10", P(rel=2)@5]
thresholds:
  - mean nDCG@10 >= 0.8 for head
  - threshold: "every P@20 >= 0.2"
    xfail: {reason: waits for synonyms, until: 2027-01-31}
    skip: {reason: too slow}
    markers: [slow]
    severity: warn
queries:
  - id: 007
    text: red running shoes
    params: {brand: 12}
    tags: [head, 2024]
    judgments: {1.10: perfect, sku-4: 1.5, 2027-01-01: bad}
    thresholds: ["nDCG@10 >= 0.9"]
    expect: ["1.10 in top 3", "sku-4 before sku-9", {expect: "hits >= 1", markers: [slow]}]
    xfail: {reason: waits}
    skip: {reason: broken}
    markers: [nightly]
undefined: skip
display: {title: title}
fixture:
  documents: documents.jsonl
  mappings: {properties: {title: {type: text}}}
  settings: {number_of_shards: 1}
  id: sku
markers: [relevance_suite]
"""

DOCUMENTS = '{"sku": "1.10"}\n{"sku": "sku-4"}\n{"sku": "sku-9"}\n{"sku": "2027-01-01"}\n'


@pytest.fixture
def write(tmp_path):
    def write_files(text, **files):
        for name, content in files.items():
            target = tmp_path / name.replace("__", "/").replace("_", ".")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")
        path = tmp_path / "shop.relevance.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_files


def test_every_key_of_a_suite_is_read(write):
    path = write(FULL, documents_jsonl=DOCUMENTS)
    suite = load_suite(path, {})
    assert suite.name == "products"
    assert suite.path == str(path)
    assert suite.target == Target("staging", "products-*", "opensearch 2.19", Mark(str(path), 2, 1), unique_ids=True)
    assert suite.grades == {"perfect": 3.0, "good": 2.0, "bad": 0.0}
    assert suite.gain == Gain(GainKind.MAP, ((0.0, -1.0), (1.5, 2.0), (2.0, 3.0), (3.0, 7.0)))
    assert suite.profile is Profile.RANK_EVAL
    assert suite.measures == (parse_measure("nDCG@10"), parse_measure("P(rel=2)@5"))
    assert suite.skip_undefined
    assert suite.display == Display(title="title")
    assert suite.markers == ("relevance_suite",)
    assert suite.depth == 30
    assert suite.fixture is not None
    assert suite.fixture.id_field == "sku"
    assert suite.fixture.documents == "documents.jsonl"
    assert suite.fixture.mappings == {"properties": {"title": {"type": "text"}}}
    assert suite.fixture.settings == {"number_of_shards": 1}


def test_requests_are_read_in_their_order(write):
    suite = load_suite(write(FULL, documents_jsonl=DOCUMENTS), {})
    assert list(suite.requests) == ["current", "candidate"]
    assert suite.requests["current"].body == {"query": {"match": {"title": {"query": "{{text}}", "boost": 10.0}}}}
    assert suite.requests["current"].index is None
    assert suite.requests["candidate"].index == "products-next"
    assert suite.requests["candidate"].body == {"query": {"term": {"brand": "{{brand}}"}}, "size": 30}


def test_thresholds_are_read_with_what_pytest_is_to_do(write):
    head, every = load_suite(write(FULL, documents_jsonl=DOCUMENTS), {}).thresholds
    assert (head.text, head.tag, head.mark.line, head.mark.column) == ("mean nDCG@10 >= 0.8 for head", "head", 12, 5)
    assert head.condition.statistic is StatisticKind.MEAN
    assert every.condition.statistic is StatisticKind.EVERY
    assert every.xfail == Waiver("waits for synonyms", date(2027, 1, 31))
    assert every.skip == Waiver("too slow")
    assert every.markers == ("slow",)
    assert (head.warns, every.warns) == (False, True)


def test_thresholds_on_a_baseline_are_read_and_say_how_deep_to_look(write):
    text = """\
suite: shop
target: {index: products}
baseline: optional
request: {query: {match: {title: "{{text}}"}}}
thresholds:
  - drop nDCG@12 <= 2%
  - worse RR@14 by 0.1 <= 3 queries
  - drop P@16 is not significant at 5%
queries:
  - {id: shoes, text: red shoes, judgments: {a: 1}, thresholds: [drop RR <= 50%]}
"""
    suite = load_suite(write(text), {})
    assert suite.baseline_optional
    assert [threshold.condition.measure.text for threshold in suite.thresholds] == ["nDCG@12", "RR@14", "P@16"]
    assert suite.queries[0].thresholds[0].condition.allowed == 0.5
    assert suite.depth == 16
    assert not load_suite(write(text.replace("optional", "required")), {}).baseline_optional


def test_a_query_is_read_with_its_ids_as_written(write):
    (query,) = load_suite(write(FULL, documents_jsonl=DOCUMENTS), {}).queries
    assert (query.id, query.text, query.params, query.tags) == (
        "007",
        "red running shoes",
        {"brand": 12},
        ("head", "2024"),
    )
    assert query.judgments == {"1.10": 3.0, "sku-4": 1.5, "2027-01-01": 0.0}
    assert [threshold.condition for threshold in query.thresholds[1:]] == [
        InTop("1.10", 3),
        Before("sku-4", "sku-9"),
        HitCount(Operator.AT_LEAST, 1),
    ]
    assert query.thresholds[0].condition.statistic is StatisticKind.QUERY
    assert query.thresholds[3].markers == ("slow",)
    assert (query.xfail, query.skip, query.markers) == (Waiver("waits"), Waiver("broken"), ("nightly",))
    assert query.mark.line == 19


def test_what_is_left_out_has_a_default(write):
    suite = load_suite(write(SMALL), {})
    assert suite.target.cluster == "default"
    assert list(suite.requests) == ["request"]
    assert suite.measures == (parse_measure("nDCG@10"),)
    assert (suite.depth, suite.gain, suite.profile) == (10, Gain(), Profile.STANDARD)
    assert not suite.skip_undefined
    assert suite.display == Display()
    assert suite.fixture is None


@pytest.mark.parametrize(
    ("thresholds", "measures"),
    [
        (["mean P@5 >= 0.1 for head", "drop RR <= 0.1 for head"], ["P@5", "RR"]),
        (["mean P@5 >= 0.1", "mean RR >= 0.1 for head"], []),
        (["mean RBO >= 0.9", "mean RR >= 0.1 for head"], ["RR"]),
        (["mean RBO >= 0.9"], ["nDCG@10"]),
    ],
    ids=["of tags alone", "of all queries too", "beside agreement", "of agreement alone"],
)
def test_where_no_threshold_on_all_queries_names_a_measure_those_of_tags_do(write, thresholds, measures):
    text = SMALL.replace("text: red shoes,", "text: red shoes, tags: [head],") + f"thresholds: {thresholds}\n"
    assert [measure.text for measure in load_suite(write(text), {}).measures] == measures


def test_where_no_threshold_of_the_suite_names_a_measure_those_of_queries_do(write):
    text = SMALL.replace("text: red shoes,", 'text: red shoes, thresholds: ["RR >= 0.5", "P@5 >= 0.1"],')
    assert [measure.text for measure in load_suite(write(text), {}).measures] == ["RR", "P@5"]


def test_a_profile_brings_its_own_gain_where_the_suite_names_none(write):
    assert load_suite(write(SMALL + "profile: trec\n"), {}).gain == Gain(GainKind.LINEAR)
    assert load_suite(write(SMALL + "profile: trec\ngain: exponential\n"), {}).gain == Gain(GainKind.EXPONENTIAL)


def test_what_a_measure_can_reach_is_a_matter_of_the_profile(write):
    """RRE gives an ERR of 1 to a query without hits."""
    own = SMALL.replace("{sku-1: 1}}", '{sku-1: 1}, thresholds: ["ERR@10 >= 0.99"]}')
    text = own + 'thresholds: ["mean ERR@10 >= 0.99"]\n'
    assert len(load_suite(write(text + "profile: rre\n"), {}).thresholds) == 1
    with pytest.raises(SuiteError, match=r"0\.99 is out of range: ERR@10 is 0 to"):
        load_suite(write(text), {})


@pytest.mark.parametrize("tree", ["no", "on", "012", "12:30", "2027-01-01", "yes", "1_000", "0b1"])
def test_a_scalar_that_only_yaml_1_1_gives_a_type_is_text_in_a_request(write, tree):
    suite = load_suite(write(SMALL.replace('"{{text}}"', f'{tree}, brand: "{{{{text}}}}"')), {})
    assert suite.requests["request"].body == {"query": {"match": {"title": tree, "brand": "{{text}}"}}}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e3", 1000.0),
        ("0x1F", 31),
        ("0o17", 15),
        ("true", True),
        ("~", None),
        ("null", None),
        ("-1.5", -1.5),
        ("'1'", "1"),
    ],
)
def test_a_scalar_has_the_type_of_yaml_1_2_in_a_request(write, written, value):
    suite = load_suite(write(SMALL.replace('"{{text}}"', f'{written}, brand: "{{{{text}}}}"')), {})
    found = suite.requests["request"].body["query"]["match"]["title"]
    assert (found, type(found)) == (value, type(value))


def test_aliases_of_values_are_put_in(write):
    text = SMALL.replace("suite: shop", "suite: &name shop") + "display: {title: *name}\n"
    assert load_suite(write(text), {}).display.title == "shop"


def test_an_http_request_is_read(write):
    http = """{http: {path: "/find/{{text}}", params: {n: "{{depth}}"}, headers: {X-Shop: "1"},
      ids: "$.hits[*].id", scores: "$.hits[*].score", titles: "$.hits[*].title", total: $.total,
      ids_optional: true, fields: {price: "$.hits[*].price"}}}"""
    suite = load_suite(
        write(SMALL.replace('{query: {match: {title: "{{text}}"}}}', http).replace("index: products", "")), {}
    )
    assert suite.requests["request"].http == HttpRequest(
        "GET",
        "/find/{{text}}",
        "$.hits[*].id",
        params={"n": "{{depth}}"},
        headers={"X-Shop": "1"},
        scores="$.hits[*].score",
        titles="$.hits[*].title",
        total="$.total",
        ids_optional=True,
        fields={"price": "$.hits[*].price"},
    )


def test_paths_in_each_hit_and_of_what_is_beside_the_hits_are_read(write):
    http = """{http: {path: "/find/{{text}}", hits: "$.docs[*]", ids: $.id, sort: [$.score, $.id], total: $.n,
      total_exact: $.exact, took: $.ms, partial: $.partial, error: $.error.msg}}"""
    text = SMALL.replace('{query: {match: {title: "{{text}}"}}}', http)
    request = HttpRequest(
        "GET",
        "/find/{{text}}",
        "$.id",
        hits="$.docs[*]",
        sort=("$.score", "$.id"),
        total="$.n",
        total_exact="$.exact",
        took="$.ms",
        partial="$.partial",
        error="$.error.msg",
    )
    assert load_suite(write(text), {}).requests["request"].http == request
    single = load_suite(write(text.replace("[$.score, $.id]", "$.score")), {}).requests["request"].http
    assert single == replace(request, sort=("$.score",))


@pytest.mark.parametrize(
    ("hits", "path", "in_hit"),
    [
        ("$.docs[*]", "$.docs[*].sku", "$.sku"),
        ("$.docs[*]", "$.docs.sku", "$.sku"),
        ("$.docs", "$.docs[*]['sku']", "$['sku']"),
        ("$", "$[*].sku", "$.sku"),
        ("$[*]", "$[*].sku", "$.sku"),
    ],
)
@pytest.mark.parametrize("key", ["ids", "scores", "titles", "sort", "fields"])
def test_a_path_in_the_answer_in_place_of_one_in_a_hit_is_refused(write, key, hits, path, in_hit):
    written = f'fields: {{price: "{path}"}}' if key == "fields" else f'{key}: "{path}"'
    ids = "" if key == "ids" else ", ids: $.sku"
    request = f'{{http: {{path: "/find/{{{{text}}}}", hits: "{hits}"{ids}, {written}}}}}'
    with pytest.raises(SuiteError) as caught:
        load_suite(write(SMALL.replace('{query: {match: {title: "{{text}}"}}}', request)), {})
    [problem] = caught.value.problems
    assert problem.line == 3
    assert problem.message == (
        f"found {path!r}, expected a path in a hit such as {in_hit!r}: with `hits`, `$` is the hit"
    )


@pytest.mark.parametrize(("hits", "path"), [("$.docs[*]", "$.docs_id"), ("$.docs", "$.id"), ("$", "$.id"), ("$", "$")])
def test_a_path_that_begins_in_a_hit_is_none_in_the_answer(write, hits, path):
    request = f'{{http: {{path: "/find/{{{{text}}}}", hits: "{hits}", ids: "{path}"}}}}'
    assert load_suite(write(SMALL.replace('{query: {match: {title: "{{text}}"}}}', request)), {})


def test_a_suite_whose_requests_go_over_http_is_for_such_a_service(write):
    http = '{http: {path: "/find/{{text}}", ids: $.ids}}'
    assert load_suite(write(SMALL.replace('{query: {match: {title: "{{text}}"}}}', http)), {}).target.service == "http"
    assert load_suite(write(SMALL), {}).target.service == "engine"


def test_a_json_path_that_is_none_is_refused(write):
    request = '{http: {path: /find, ids: "$..[", params: {q: "{{text}}"}}}'
    with pytest.raises(SuiteError, match=r"3:36: found '\$\.\.\[', expected a JSONPath such as \$\.hits\[\*\]\.id"):
        load_suite(write(SMALL.replace('{query: {match: {title: "{{text}}"}}}', request)), {})


# ------------------------------------------------------------------------------------------------ variables


VARIABLES = """\
suite: shop
target: {index: "${RELEVANCE_INDEX:-products}", cluster: "${RELEVANCE_CLUSTER}"}
request:
  size: ${RELEVANCE_SIZE:-20}
  query: {match: {title: {query: "{{text}}", boost: "${RELEVANCE_BOOST:-2}"}}}
  note: costs $$5 and $1, ${RELEVANCE_NOTE:-}
measures: ["nDCG@10"]
thresholds: ["mean nDCG@10 >= ${RELEVANCE_FLOOR}", "every nDCG@10 >= ${RELEVANCE_LEAST:-0.1}"]
queries:
  - {id: shoes, text: red shoes, judgments: {sku-1: "${RELEVANCE_GRADE:-1}"}}
"""


def test_variables_are_put_in_when_a_suite_runs(write):
    environ = {
        "RELEVANCE_CLUSTER": "staging-eu",
        "RELEVANCE_FLOOR": "0.75",
        "RELEVANCE_SIZE": "15",
        "RELEVANCE_NOTE": "see: {a: b}",
    }
    suite = load_suite(write(VARIABLES), environ)
    assert (suite.target.cluster, suite.target.index) == ("staging-eu", "products")
    body = suite.requests["request"].body
    assert body["size"] == 15
    assert body["note"] == "costs $5 and $1, see: {a: b}"
    assert body["query"]["match"]["title"]["boost"] == "2"
    assert suite.queries[0].judgments == {"sku-1": 1.0}
    assert [threshold.condition.required for threshold in suite.thresholds] == [0.75, 0.1]


def test_a_threshold_keeps_its_text_as_written(write):
    environ = {"RELEVANCE_CLUSTER": "staging-eu", "RELEVANCE_FLOOR": "0.75"}
    assert load_suite(write(VARIABLES), environ).thresholds[0].text == "mean nDCG@10 >= ${RELEVANCE_FLOOR}"


def test_variables_wait_while_a_suite_is_checked(write):
    suite = load_suite(write(VARIABLES), None)
    assert suite.target.cluster == "${RELEVANCE_CLUSTER}"
    assert suite.target.index == "products"
    assert suite.thresholds[0].condition == UnresolvedCondition(("RELEVANCE_FLOOR",))
    assert suite.thresholds[1].condition == UnresolvedCondition(("RELEVANCE_LEAST",))
    assert suite.variables == {}


def test_a_default_is_checked_before_a_suite_runs(write):
    with pytest.raises(SuiteError, match="9 is out of range"):
        load_suite(write(VARIABLES.replace(":-0.1", ":-9")), None)


def test_only_what_came_from_the_environment_and_may_be_secret_is_kept_for_masking(write):
    environ = {
        "RELEVANCE_CLUSTER": "staging-eu",
        "RELEVANCE_FLOOR": "0.75",
        "RELEVANCE_NOTE": "s3cret",
        "OTHER": "unused",
    }
    assert load_suite(write(VARIABLES), environ).variables == {
        "RELEVANCE_CLUSTER": "staging-eu",
        "RELEVANCE_NOTE": "s3cret",
    }


READING = """\
suite: shop
target: {{index: products, cluster: "{cluster}"}}
request: {{query: {{match: {{title: "{{{{text}}}} ${{{name}}}"}}}}}}
queries:
  - {{id: shoes, text: red shoes, judgments: {{a: 1}}}}
"""
URL = "http://example.org"
TRUSTED = """\
variables = [{listed}]
[clusters.staging]
url = "http://staging"
headers_env = {{X-Shop = "RELEVANCE_LOGIN"}}
[clusters.other]
url = "http://other"
api_key_env = "SHOP_LOGIN"
"""


@pytest.mark.parametrize(
    ("name", "cluster", "listed", "refused"),
    [
        ("RELEVANCE_NOTE", URL, "", ""),
        ("RELEVANCE_NOTE", "http://${RELEVANCE_CLUSTER}/", "", ""),
        ("RELEVANCE_NOTE", "${RELEVANCE_URL}", "", ""),
        ("SHOP_NOTE", URL, '"SHOP_*"', ""),
        ("SHOP_NOTE", "staging", '"OTHER", "SHOP_NOTE"', ""),
        ("SHOP_NOTE", "staging", "", "3:44: the suite may not read the variable SHOP_NOTE: name it RELEVANCE_…, or "),
        ("SHOP_NOTE", URL, '"OTHER"', '/relevance.toml: variables = ["OTHER", "SHOP_NOTE"]'),
        ("SHOP_NOTE:-none", "staging", "", "3:44: the suite may not read the variable SHOP_NOTE"),
        ("NOT_SET", "staging", "", "3:44: the suite may not read the variable NOT_SET"),
        ("SHOP_TOKEN", "staging", '"SHOP_TOKEN"', ""),
        ("SHOP_TOKEN", "staging", '"*"', "3:44: the suite may not read the variable SHOP_TOKEN"),
        ("SHOP_TOKEN", URL, '"SHOP_TOKEN"', "3:44: SHOP_TOKEN is named like a login, and the suite sends it"),
        ("RELEVANCE_TOKEN", "staging", "", ""),
        ("RELEVANCE_TOKEN", "http://staging", "", ""),
        ("RELEVANCE_TOKEN", "${RELEVANCE_URL}", "", "3:44: RELEVANCE_TOKEN is named like a login"),
        (
            "RELEVANCE_LOGIN",
            "staging",
            "",
            "the variable RELEVANCE_LOGIN: it holds a login",
        ),
        ("SHOP_LOGIN", "staging", '"SHOP_LOGIN", "*"', "it holds a login of the cluster 'other' in "),
        ("shop_login", "staging", '"shop_login"', "it holds a login of the cluster 'other' in "),
        ("RELEVANCE_CONFIG", "staging", '"RELEVANCE_CONFIG"', "it names the configuration of the harness"),
    ],
)
@pytest.mark.parametrize("runs", [True, False], ids=["run", "validate"])
def test_a_suite_reads_the_variables_that_it_may(write, monkeypatch, tmp_path, runs, name, cluster, listed, refused):
    monkeypatch.chdir(tmp_path)
    path = write(READING.format(cluster=cluster, name=name), relevance_toml=TRUSTED.format(listed=listed))
    environ = {
        "RELEVANCE_URL": URL,
        "RELEVANCE_CLUSTER": "staging",
        **dict.fromkeys(["RELEVANCE_NOTE", "SHOP_NOTE"], "a note"),
        **dict.fromkeys(["SHOP_TOKEN", "RELEVANCE_TOKEN", "SHOP_LOGIN", "shop_login", "RELEVANCE_LOGIN"], "s3cret"),
    }
    if "${" in cluster and not runs:
        refused = ""  # the address is known when the suite runs
    if not refused:
        assert load_suite(path, environ if runs else None).name
        return
    with pytest.raises(SuiteError) as caught:
        load_suite(path, environ if runs else None)
    assert refused in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_the_value_of_a_variable_that_a_suite_may_not_read_is_in_no_message(write):
    path = write(SMALL.replace("red shoes", '"${PIN}"').replace("measures:", 'depth: "${PIN}"\nmeasures:'))
    with pytest.raises(SuiteError) as caught:
        load_suite(path, {"PIN": "4711"})
    assert "4711" not in str(caught.value)


def test_a_variable_is_listed_by_the_person_who_runs_the_harness(write):
    path = write(SMALL.replace("red shoes", '"${SHOP_NOTE}"'))
    suite = load_suite(path, {"SHOP_NOTE": "blue"}, configs=Configs(variables=["SHOP_NOTE"]))
    assert suite.queries[0].text == "blue"
    with pytest.raises(UsageError, match="variables: found 'SHOP NOTE', expected the name of an environment variable"):
        Configs(variables=["SHOP NOTE"])


@pytest.mark.parametrize("value", ["0.8", "10", "-0.25", "1000000", ".5", "true", "en", "red", "deu"])
def test_a_variable_that_is_a_number_or_a_short_word_leaves_reports_readable(write, value):
    assert (
        load_suite(write(SMALL.replace("red shoes", '"${RELEVANCE_TEXT}"')), {"RELEVANCE_TEXT": value}).variables == {}
    )


@pytest.mark.parametrize("value", ["12345678", "1234-567", "abcd", "0.12345678"])
def test_any_other_variable_may_be_a_secret(write, value):
    assert load_suite(
        write(SMALL.replace("red shoes", '"${RELEVANCE_TEXT}"')), {"RELEVANCE_TEXT": value}
    ).variables == {"RELEVANCE_TEXT": value}


def test_an_empty_variable_gives_way_to_a_default(write):
    environ = {"RELEVANCE_CLUSTER": "staging-eu", "RELEVANCE_FLOOR": "0.5", "RELEVANCE_INDEX": ""}
    assert load_suite(write(VARIABLES), environ).target.index == "products"


def test_a_value_never_becomes_structure(write):
    text = SMALL.replace("red shoes", '"${RELEVANCE_TEXT}"')
    for value in ("a: b", "[1, 2]", "{{other}}", "'", "\n- x", "${RELEVANCE_TEXT}", "$$", "*x", "!!str x", "${"):
        assert load_suite(write(text), {"RELEVANCE_TEXT": value}).queries[0].text == value


# ------------------------------------------------------------------------------------------------ files


def test_judgments_come_from_all_kinds_of_files_and_join_those_of_the_suite(write, tmp_path):
    text = SMALL + "grades: {good: 2}\njudgments: [j/a.qrels, j/b.csv, j/c.jsonl, d.qrels.gz]\n"
    path = write(
        text,
        j__a_qrels="shoes 0 a 1\n",
        j__b_csv="query,document,grade,rater\nshoes,b,good,kim\n",
        j__c_jsonl='{"query": "shoes", "document": 17, "grade": 0.5}\n',
    )
    (tmp_path / "d.qrels.gz").write_bytes(gzip.compress(b"shoes 0 d -1\n"))
    judgments = load_suite(path, {}).queries[0].judgments
    assert judgments == {"sku-1": 1.0, "a": 1.0, "b": 2.0, "17": 0.5, "d": -1.0}


def test_judgments_for_other_queries_are_left_out_where_the_suite_says_so(write):
    text = SMALL + "judgments: {files: a.qrels, other_queries: ignore}\n"
    suite = load_suite(write(text, a_qrels="shoes 0 a 1\nhats 0 b 1\n"), {})
    assert suite.queries[0].judgments == {"sku-1": 1.0, "a": 1.0}


def test_judgments_of_a_query_that_could_not_be_read_are_no_problem_beside_it(write):
    text = SMALL + "  - {id: hats, text: [hats]}\njudgments: a.qrels\n"
    path = write(text, a_qrels="shoes 0 a 1\nhats 0 b 1\n")
    assert list_problems(load_suite, path, {}) == ["6:22 found a list, expected text"]


QUERY_FILES = {
    "tsv": '1\tred shoes\n\n2\thats, "big" {{ones}} for $5\n',
    "csv": 'id,text,tags,params.brand\n1,red shoes,head; tail,acme\n2,"hats, ""big"" {{ones}} for $5",,acme\n',
    "jsonl": '{"id": 1, "text": "red shoes", "tags": ["head", "tail"], "params": {"brand": ["acme"]}}\n'
    '{"id": "2", "text": "hats, \\"big\\" {{ones}} for $5", "params": {"brand": []}}\n',
}


@pytest.mark.parametrize("suffix", QUERY_FILES)
def test_queries_come_from_a_file(write, suffix):
    text = SMALL[: SMALL.index("queries:")] + f"queries: q.{suffix}\njudgments: a.qrels\n"
    if suffix != "tsv":
        text = text.replace('"{{text}}"', '["{{text}}", "{{brand}}"]')
    path = write(text, **{f"q_{suffix}": QUERY_FILES[suffix]}, a_qrels="1 0 a 1\n2 0 b 1\n")
    first, second = load_suite(path, {}).queries
    assert (first.id, first.text, second.id, second.text) == ("1", "red shoes", "2", 'hats, "big" {{ones}} for $5')
    assert (first.judgments, second.judgments) == ({"a": 1.0}, {"b": 1.0})
    assert first.mark.path == str(path.parent / f"q.{suffix}")
    if suffix != "tsv":
        assert first.tags == ("head", "tail")
        assert first.params["brand"] in ("acme", ["acme"])


RICH_FILES = {
    "csv": "id;text;tags;thresholds;expect;markers;xfail;xfail.until;skip\n"
    '1;red shoes;head;RR >= 0.5;"a in top 3; hits >= 1";nightly;waits;2027-01-31;\n2;hats;;;;;;;broken\n',
    "jsonl": '{"id": 1, "text": "red shoes", "tags": ["head"], "thresholds": [{"threshold": "RR >= 0.5"}], "expect": '
    '["a in top 3", "hits >= 1"], "markers": ["nightly"], "xfail": {"reason": "waits", "until": "2027-01-31"}, '
    '"judgments": {"a": 1}}\n{"id": "2", "text": "hats", "skip": {"reason": "broken"}}\n',
}


@pytest.mark.parametrize("suffix", RICH_FILES)
def test_queries_in_a_file_have_all_that_those_in_a_suite_have(write, suffix):
    judgments = "judgments: a.qrels\n" if suffix == "csv" else ""
    text = SMALL[: SMALL.index("queries:")] + f"queries: q.{suffix}\n{judgments}"
    first, second = load_suite(write(text, **{f"q_{suffix}": RICH_FILES[suffix]}, a_qrels="1 0 a 1\n"), {}).queries
    assert [threshold.text for threshold in first.thresholds] == ["RR >= 0.5", "a in top 3", "hits >= 1"]
    assert (first.tags, first.markers, first.judgments) == (("head",), ("nightly",), {"a": 1.0})
    assert (first.xfail, second.skip) == (Waiver("waits", date(2027, 1, 31)), Waiver("broken"))
    mark = first.thresholds[0].mark
    assert (Path(mark.path).name, mark.line) == (f"q.{suffix}", 1 if suffix == "jsonl" else 2)


BESIDE = """
queries:
  file: q.csv
  inline:
    - {id: 1, tags: [tail, new], judgments: {b: 2}, expect: ["a in top 3"], xfail: {reason: waits}, params: {c: y}}
    - {id: 3, text: scarves, judgments: {c: 1}}
judgments: a.qrels
"""


def with_file(text):
    return SMALL[: SMALL.index("queries:")].replace('"{{text}}"', '["{{text}}", "{{b}}", "{{c}}"]') + text


def test_a_suite_adds_queries_to_those_of_a_file_and_to_what_the_file_says_of_one(write):
    text = with_file(BESIDE.replace("text: scarves", "text: scarves, params: {b: x, c: x}"))
    content = "id,text,tags,thresholds,params.b,params.c\n1,red shoes,head;tail,RR >= 0.5,x,\n2,hats,,,x,x\n"
    first, second, third = load_suite(write(text, q_csv=content, a_qrels="1 0 a 1\n2 0 d 1\n"), {}).queries
    assert (first.id, first.text, first.tags) == ("1", "red shoes", ("head", "tail", "new"))
    assert (first.judgments, first.params) == ({"a": 1.0, "b": 2.0}, {"b": "x", "c": "y"})
    assert [threshold.text for threshold in first.thresholds] == ["RR >= 0.5", "a in top 3"]
    assert first.xfail == Waiver("waits")
    assert (second.text, third.text, third.judgments) == ("hats", "scarves", {"c": 1.0})


@pytest.mark.parametrize(
    ("inline", "message"),
    [
        ("{id: 1, text: blue shoes}", "query '1' has another text at {folder}/q.jsonl:1:1"),
        ("{id: 1, weight: 3}", "query '1' has another weight at {folder}/q.jsonl:1:1"),
        ("{id: 1, params: {b: z}}", "query '1' has another value of the param 'b' at {folder}/q.jsonl:1:1"),
        ("{id: 1, skip: {reason: other}}", "query '1' has another skip at {folder}/q.jsonl:1:1"),
        ("{id: 1, judgments: {a: 2}}", "document 'a' is judged twice for query '1', first at {folder}/q.jsonl:1:1"),
    ],
)
def test_a_suite_that_contradicts_its_file_of_queries_is_refused(write, inline, message):
    content = (
        '{"id": 1, "text": "red shoes", "weight": 2, "params": {"b": "x", "c": "x"}, "skip": {"reason": "broken"}, '
        '"judgments": {"a": 1}}\n'
    )
    path = write(with_file(f"queries: {{file: q.jsonl, inline: [{inline}]}}\n"), q_jsonl=content)
    with pytest.raises(SuiteError) as caught:
        load_suite(path, {})
    assert message.format(folder=path.parent) in str(caught.value)
    assert f"{path}:4:" in str(caught.value) or "shop.relevance.yaml:4:" in str(caught.value)


def test_the_same_said_twice_is_no_contradiction(write):
    content = '{"id": 1, "text": "red shoes", "weight": 2, "params": {"b": "x", "c": "x"}, "judgments": {"a": 1}}\n'
    inline = "{id: 1, text: red shoes, weight: 2, params: {b: x}, judgments: {a: 1}}"
    path = write(with_file(f"queries: {{file: q.jsonl, inline: [{inline}]}}\n"), q_jsonl=content)
    [query] = load_suite(path, {}).queries
    assert (query.text, query.weight, query.judgments) == ("red shoes", 2.0, {"a": 1.0})


@pytest.mark.parametrize(
    "content",
    ["sep=;\nid;text;tags\n1;red, shoes\n", "\n;;\nid;text;tags\n1;red, shoes;;\n", 'id\ttext\r\n1\t"red, shoes"\r\n'],
)
def test_a_file_of_queries_may_be_written_as_spreadsheets_write_it(write, content):
    path = write(
        SMALL[: SMALL.index("queries:")] + "queries: q.csv\njudgments: a.qrels\n", q_csv=content, a_qrels="1 0 a 1\n"
    )
    assert [(query.id, query.text) for query in load_suite(path, {}).queries] == [("1", "red, shoes")]


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        ("tsv", "1 red shoes\n", "q.tsv:1:1: found 1 column separated by tabs, expected 2: id, text"),
        ("tsv", "1\ta\n1\tb\n", "q.tsv:2:1: the query id '1' is used twice, first at q.tsv:1:1"),
        ("tsv", "1\t \n", "q.tsv:1:1: text: found blank text, expected a text"),
        ("tsv", "id\ttext\n1\ta\n", "q.tsv:1:1: found a header, which a .tsv does not have; remove the line, or name"),
        ("tsv", "Query_ID\tquery\n1\ta\n", "q.tsv:1:1: found a header, which a .tsv does not have; remove the line"),
        ("tsv", "\n", "q.tsv: the file has no queries"),
        ("csv", "id,name\n1,a\n", "q.csv:1:1: the header lacks text; expected the columns id, text"),
        (
            "csv",
            "id,text,tag\n1,a,b\n",
            "unknown column 'tag', expected id, text, need, nothing, weight, same_as, tags, thresholds, expect, "
            "variants, markers, xfail, xfail.until, skip, skip.until or params.NAME; did you mean 'tags'?",
        ),
        ("csv", "id,text\n1,a,b\n", "q.csv:2:1: found 3 columns, expected 2 as in the header"),
        ("csv", 'id,text\n1,"a\n', "q.csv:2:1: a quote in this row is not closed before the end of the file; expected"),
        ("jsonl", "{\n", "q.jsonl:1:2: this is not JSON: Expecting property name enclosed in double quotes"),
        (
            "jsonl",
            '{"id": 1, "text": "a", "params": {"b": 1, "b": 2}}\n',
            "q.jsonl:1:43: the object has the key 'b' twice",
        ),
        ("jsonl", "[1]\n", "q.jsonl:1:1: found no object; expected an object with id and text"),
        ("jsonl", '{"id": [1], "text": "a"}\n', "q.jsonl:1:1: id: found a list, expected"),
        ("jsonl", '{"text": "a"}\n', "q.jsonl:1:1: the key 'id' is missing"),
        ("jsonl", '{"id": 1}\n', "q.jsonl:1:1: query '1' has no text, but the request uses {{text}}"),
        (
            "jsonl",
            '{"id": 1, "text": "a", "tag": []}\n',
            "unknown key 'tag', expected id, text, need, nothing, params, tags,",
        ),
        ("jsonl", '{"id": 1, "text": "a", "tags": "b"}\n', "q.jsonl:1:1: tags: found 'b', expected a list"),
        (
            "jsonl",
            '{"id": 1, "text": "a", "thresholds": ["mean RR > 0"]}\n',
            "q.jsonl:1:1: found 'mean', but",
        ),
        ("csv", "id,text,expect\n1,a,b in top\n", "q.csv:2:1: found the end, expected a rank such as 10"),
        ("csv", "id,text,xfail.until\n1,a,2027-01-31\n", "q.csv:2:1: the key 'reason' is missing"),
        ("csv", "id,text,skip,skip.until\n1,a,broken,soon\n", "q.csv:2:1: skip: found 'soon', expected a date"),
        ("txt", "1\ta\n", "q.txt: expected a query file with the suffix .tsv, .csv or .jsonl"),
    ],
)
def test_a_wrong_file_of_queries_is_told(write, monkeypatch, tmp_path, suffix, content, message):
    monkeypatch.chdir(tmp_path)
    write(SMALL[: SMALL.index("queries:")] + f"queries: q.{suffix}\n", **{f"q_{suffix}": content})
    with pytest.raises(SuiteError) as caught:
        load_suite(Path("shop.relevance.yaml"), {})
    assert message in str(caught.value)


def test_a_file_of_something_else_is_one_problem(write):
    path = write(SMALL[: SMALL.index("queries:")] + "queries: q.csv\n", q_csv="query,docid,rating\ntent,p1,3\n")
    with pytest.raises(SuiteError) as caught:
        load_suite(path, {})
    messages = [problem.message for problem in caught.value.problems if problem.path.endswith("q.csv")]
    assert messages == ["the header lacks id, text; expected the columns id, text"]


def test_the_root_is_the_folder_of_relevance_toml_where_there_is_one(write, tmp_path):
    (tmp_path / "relevance.toml").write_text("")
    path = write(SMALL, a_qrels="shoes 0 a 1\n")
    inner = tmp_path / "deep" / path.name
    inner.parent.mkdir()
    inner.write_text(SMALL + "judgments: ../a.qrels\n")
    assert load_suite(inner, {}).queries[0].judgments == {"sku-1": 1.0, "a": 1.0}
    (inner.parent / "relevance.toml").write_text("")
    with pytest.raises(SuiteError, match="outside of the suite's root"):
        load_suite(inner, {})


# ------------------------------------------------------------------------------------------------ depth and judgments


@pytest.mark.parametrize(
    ("addition", "depth"),
    [
        ("", 10),
        ('measures: ["P@5"]\n', 10),
        ('measures: ["P@25"]\n', 25),
        ('thresholds: ["mean P@15 >= 0.1"]\n', 15),
        ("depth: 100\n", 100),
    ],
)
def test_the_depth_reaches_the_deepest_cutoff(write, addition, depth):
    assert load_suite(write(SMALL + addition), {}).depth == depth


def test_the_depth_reaches_what_a_query_expects(write):
    text = SMALL.replace("text: red shoes,", 'text: red shoes, expect: ["sku-1 in top 40"], thresholds: ["P@30 >= 0"],')
    assert load_suite(write(text), {}).depth == 40


def test_a_suite_that_only_expects_documents_needs_no_judgments(write):
    text = SMALL.replace("judgments: {sku-1: 1}", 'expect: ["sku-1 in top 3", "hits >= 1"]')
    suite = load_suite(write(text), {})
    assert suite.measures == ()
    assert suite.queries[0].judgments == {}


def test_grades_may_be_fractional_and_negative(write):
    suite = load_suite(write(SMALL.replace("sku-1: 1", "sku-1: 1.5, sku-2: -1, sku-3: +2")), {})
    assert suite.queries[0].judgments == {"sku-1": 1.5, "sku-2": -1.0, "sku-3": 2.0}


def test_a_query_needs_no_text_where_the_request_asks_for_none(write):
    text = SMALL.replace("{{text}}", "{{category}}").replace("text: red shoes", "params: {category: shoes}")
    assert load_suite(write(text), {}).queries[0].text == ""


# ------------------------------------------------------------------------------------------------ folders and parsers


def test_a_path_given_twice_is_loaded_once(write):
    path = write(SMALL)
    assert len(load_suites([path, path], {})) == 1


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_both_parsers_of_yaml_give_the_same_suite(write, monkeypatch, loader):
    path = write(FULL, documents_jsonl=DOCUMENTS)
    expected = load_suite(path, {})
    monkeypatch.setattr(composing, "choose_yaml_loader", lambda _: loader)
    assert load_suite(path, {}) == expected


def test_a_character_in_two_halves_as_json_writes_it_is_one(tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SMALL.replace("text: red shoes", r'text: "\ud83d\ude00 red \"shoes\""'))
    [query] = load_suite(path, {}).queries
    assert (query.text, query.judgments) == ('\U0001f600 red "shoes"', {"sku-1": 1.0})
