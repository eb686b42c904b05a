"""What a suite brings along is checked with it: its documents, the ids that it names, the relevance.toml above it."""

from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.suites import load_suite, load_suites
from harness.suites.fixtures import SETTINGS

SUITE = """\
suite: shop
request: {query: {match: {title: "{{text}}"}}}
fixture: {documents: products.jsonl, id: sku}
measures: ["nDCG@5"]
queries:
  - id: shoes
    text: red shoes
    judgments: {sku-17: 1, sku-9: 0}
    expect: ["sku-17 in top 3", "sku-17 before sku-9", "sku-40 not in top 3"]
"""
PRODUCTS = "".join(f'{{"sku": "sku-{number}"}}\n' for number in (17, 9, 40))
HTTP = '{http: {path: "/{{text}}", ids: $.ids}}'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "products.jsonl").write_text(PRODUCTS)
    return tmp_path


def load(folder, text, environ=None):
    path = folder / "shop.relevance.yaml"
    path.write_text(text, encoding="utf-8")
    return load_suite(path.relative_to(folder), environ)


def refusals(folder, text, environ=None):
    with pytest.raises(SuiteError) as caught:
        load(folder, text, environ)
    assert caught.value.exit_status == 2
    return [str(problem).split("\n")[0] for problem in caught.value.problems]


def test_a_suite_whose_documents_are_all_there_loads(folder):
    assert load(folder, SUITE).fixture.id_field == "sku"


@pytest.mark.parametrize(
    ("old", "new", "place", "refusal"),
    [
        ("sku-9: 0", "sku-90: 0", "8:28", "'sku-90' is not in products.jsonl; did you mean 'sku-9'?"),
        ("sku-9: 0", "SKU-9: 0", "8:28", "'SKU-9' is not in products.jsonl; did you mean 'sku-9'?"),
        ("sku-9: 0", "usk-9: 0", "8:28", "'usk-9' is not in products.jsonl; did you mean 'sku-9'?"),
        ("sku-9: 0", "shoe: 0", "8:28", "'shoe' is not in products.jsonl"),
        ("sku-17 in", "sku-71 in", "9:14", "'sku-71' is not in products.jsonl; did you mean 'sku-17'?"),
        ("before sku-9", "before sku-8", "9:33", "'sku-8' is not in products.jsonl; did you mean 'sku-9'?"),
        ("sku-40 not", "sku40 not", "9:56", "'sku40' is not in products.jsonl; did you mean 'sku-40'?"),
    ],
)
def test_a_document_that_is_not_there_is_told_with_its_place_and_the_nearest(folder, old, new, place, refusal):
    assert refusals(folder, SUITE.replace(old, new)) == [f"shop.relevance.yaml:{place}: the document {refusal}"]


def test_a_document_of_a_judgment_file_is_told_in_its_line(folder):
    (folder / "a.qrels").write_text("shoes 0 sku-40 1\nshoes 0 sku-41 1\nhats 0 sku-x 1\n")
    text = SUITE + "judgments: {files: a.qrels, other_queries: ignore}\n"
    assert refusals(folder, text) == [
        "a.qrels:2:1: the document 'sku-41' is not in products.jsonl; did you mean 'sku-40'?"
    ]


def test_the_wrong_file_of_documents_does_not_flood(folder):
    (folder / "a.qrels").write_text("".join(f"shoes 0 doc-{number} 1\n" for number in range(300)))
    text = SUITE.replace("sku-9: 0", "sku-x: 0") + "judgments: a.qrels\n"
    told = refusals(folder, text)
    assert len(told) == 21
    assert "shop.relevance.yaml: 281 more documents that are not in products.jsonl are not shown" in told


def test_documents_of_an_index_elsewhere_are_not_asked_for(folder):
    request = 'request: {index: other, body: {query: {match: {title: "{{text}}"}}}}'
    text = SUITE.replace('request: {query: {match: {title: "{{text}}"}}}', request).replace("sku-9", "sku-90")
    assert load(folder, text).queries[0].judgments["sku-90"] == 0


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        ('{"id": "a"}\n', 'products.jsonl:1:1: the document has no field "sku", which holds its id'),
        (
            '{"skuu": 1}\n',
            "products.jsonl:1:1: the document has no field \"sku\", which holds its id; did you mean 'skuu'?",
        ),
        ('{"sku": 1}\n{"sku": \n', "products.jsonl:2:9: this is not JSON: Expecting value"),
        ("\n", "products.jsonl: the file has no documents"),
    ],
)
def test_what_is_wrong_in_the_documents_is_told_without_an_engine(folder, content, refusal):
    (folder / "products.jsonl").write_text(content)
    assert refusals(folder, SUITE) == [refusal]


def test_documents_whose_place_is_not_known_yet_are_not_read(folder):
    text = SUITE.replace("products.jsonl", '"${RELEVANCE_DOCUMENTS}"').replace("sku-9", "sku-90")
    assert load(folder, text).fixture.documents == "${RELEVANCE_DOCUMENTS}"
    assert len(refusals(folder, text, {"RELEVANCE_DOCUMENTS": "products.jsonl"})) == 2


def test_a_broken_relevance_toml_is_told_once_for_all_suites_below_it(folder):
    (folder / "relevance.toml").write_text("[clusters.default]\nurll = 'http://localhost:9200'\n")
    for name in ("a", "b"):
        (folder / f"{name}.relevance.yaml").write_text(SUITE)
    with pytest.raises(SuiteError) as caught:
        load_suites([folder / "a.relevance.yaml", folder / "b.relevance.yaml"], None)
    assert [(problem.line, problem.message.split(",")[0]) for problem in caught.value.problems] == [
        (2, "unknown key 'urll'")
    ]
    assert {problem.path for problem in caught.value.problems} == {str(folder / "relevance.toml")}


# ------------------------------------------------------------------------------------------------ over HTTP


def test_a_fixture_is_refused_where_requests_go_over_http(folder):
    text = SUITE.replace('{query: {match: {title: "{{text}}"}}}', HTTP)
    assert refusals(folder, text) == [
        "shop.relevance.yaml:3:1: a fixture needs an engine, but the requests go over HTTP; remove it"
    ]


@pytest.mark.parametrize(("target", "key"), [("id_field: sku", "id_field")])
def test_what_says_how_an_engine_knows_documents_is_refused_where_requests_go_over_http(folder, target, key):
    text = SUITE.replace('{query: {match: {title: "{{text}}"}}}', HTTP)
    text = text.replace("fixture: {documents: products.jsonl, id: sku}\n", f"target: {{{target}}}\n")
    assert refusals(folder, text) == [
        f"shop.relevance.yaml:3:1: '{key}' needs an engine, but the requests go over HTTP; remove it"
    ]


def test_judgments_may_use_another_field_of_a_fixture(folder):
    """Such as that of the document which several chunks are from."""
    lines = ['{"sku": "c1", "doc": "sku-9"}', '{"sku": "c2", "doc": "sku-9"}']
    (folder / "products.jsonl").write_text("\n".join(lines), encoding="utf-8")
    text = SUITE.replace("id: sku}\n", "id: sku}\ntarget: {id_field: doc, ids: unique}\n")
    told = refusals(folder, text)
    assert not any("sku-9" in line for line in told)
    (folder / "products.jsonl").write_text("\n".join([*lines, '{"sku": "c3"}']), encoding="utf-8")
    assert refusals(folder, text)[0] == (
        "products.jsonl:3:1: the document has no text or whole number in 'doc', the `id_field` of the target"
    )


# ------------------------------------------------------------------------------------------------ how many are told


def test_a_suite_with_hundreds_of_problems_tells_the_first_and_counts_the_rest(folder):
    queries = "".join(f"  - {{id: q{number}, text: a, judgments: {{sku-9: worst}}}}\n" for number in range(300))
    with pytest.raises(SuiteError) as caught:
        load(folder, SUITE + queries)
    others, *told = caught.value.problems
    assert [problem.line for problem in told] == list(range(10, 60))
    assert str(others) == "shop.relevance.yaml: 250 more problems are not shown"
    assert sum(problem.count for problem in caught.value.problems) == 300


FOREIGN = [
    "default_pipeline: steal",
    "final_pipeline: steal",
    "index.final_pipeline: steal",
    "index: {default_pipeline: steal}",
    "{index: {final_pipeline: null}}",
    '"index": {"index.default_pipeline": steal}',
    "lifecycle: {name: drop-all}",
    "lifecycle.rollover_alias: other",
    "plugins: {index_state_management: {rollover_alias: other}}",
    "routing: {allocation: {require: {_name: node-1}}}",
    "search: {slowlog: {threshold: {query: {warn: 0ms}}}}",
    "blocks.read_only: true",
    "analysis_: {filter: 1}",
    "settings: {number_of_shards: 1}",
    "index.index.number_of_shards: 1",
]


@pytest.mark.parametrize("setting", FOREIGN)
def test_a_setting_that_does_more_than_the_search_of_this_index_is_refused_in_its_place(folder, setting):
    settings = setting if setting.startswith("{") else f"{{number_of_shards: 1, {setting}}}"
    text = SUITE.replace("id: sku}", f"id: sku, settings: {settings}}}")
    [refusal] = refusals(folder, text)
    place, _, sentence = refusal.partition(": ")
    assert place.startswith("shop.relevance.yaml:3:")
    assert sentence.startswith("found the setting '")
    assert "expected one of how the index of a fixture is analysed and searched" in sentence
    assert "docs/reference/suite-keys.md" in sentence


@pytest.mark.parametrize(
    "settings",
    [
        "{number_of_shards: 1, number_of_replicas: 0, refresh_interval: 1s}",
        "{index: {number_of_shards: 1, analysis: {analyzer: {shop: {type: custom, tokenizer: standard}}}}}",
        "{index.similarity.default.type: BM25, similarity: {mine: {type: BM25, b: 0}}}",
        "{index: {knn: true, knn.algo_param.ef_search: 100}, index.sort.field: sku, sort.order: asc}",
        "{max_result_window: 20000, mapping.total_fields.limit: 2000, search.default_pipeline: hybrid}",
    ],
)
def test_settings_that_change_the_search_of_this_index_are_accepted(folder, settings):
    assert load(folder, SUITE.replace("id: sku}", f"id: sku, settings: {settings}}}")).fixture.settings


def test_a_misspelled_setting_names_the_nearest(folder):
    text = SUITE.replace("id: sku}", "id: sku, settings: {index: {number_of_shard: 1}}}")
    [refusal] = refusals(folder, text)
    assert refusal.startswith("shop.relevance.yaml:3:")
    assert "found the setting 'index.number_of_shard'" in refusal
    assert refusal.endswith("did you mean 'number_of_shards'?")


def test_the_page_lists_the_settings():
    page = (Path(__file__).parents[2] / "docs/reference/suite-keys.md").read_text(encoding="utf-8")
    section = page.partition("## fixture\n")[2].partition("\n## ")[0]
    assert [name for name in SETTINGS if f"`{name}`" not in section] == []
