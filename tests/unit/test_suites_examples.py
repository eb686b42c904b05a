"""The example suites load, their data belong together, and what makes them makes them again."""

import base64
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.model.suite import Profile, Suite
from harness.suites import load_suite
from harness.suites.discovery import find_suites

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "suites"
PRODUCTS = SUITES / "products.relevance.yaml"
FAILING = SUITES / "failing" / "products.failing.yaml"
TRAFFIC = SUITES / "traffic.relevance.yaml"
HYBRID = SUITES / "hybrid.relevance.yaml"
EXAMPLES = [HYBRID, PRODUCTS, SUITES / "lessons.relevance.yaml", TRAFFIC, FAILING]


def run_script(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "scripts" / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})


def document_ids(suite: Suite) -> list[str]:
    path = Path(suite.path).parent / suite.fixture.documents
    return [json.loads(line)[suite.fixture.id_field] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("environ", [None, {}], ids=["collected", "run"])
def test_every_example_loads(path, environ):
    suite = load_suite(path, environ)
    assert suite.queries
    assert suite.thresholds


def test_the_folder_holds_the_examples_that_pass_and_not_the_one_that_fails():
    assert find_suites([SUITES]).suites == (HYBRID, SUITES / "lessons.relevance.yaml", PRODUCTS, TRAFFIC)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_judged_documents_are_documents_of_the_fixture(path):
    suite = load_suite(path, None)
    ids = document_ids(suite)
    assert len(set(ids)) == len(ids)
    strangers = {document for query in suite.queries for document in query.judgments} - set(ids)
    assert not strangers


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_query_has_a_document_of_positive_grade(path):
    without = [query.id for query in load_suite(path, None).queries if not any(g > 0 for g in query.judgments.values())]
    assert without == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_documents_named_in_expectations_are_judged(path):
    """An expectation about a document that nobody judged would be an opinion without a ground."""
    for query in load_suite(path, None).queries:
        for threshold in query.thresholds:
            named = {getattr(threshold.condition, name, None) for name in ("document", "other")} - {None}
            assert named <= set(query.judgments), threshold.text


def test_the_product_suite_is_of_the_size_and_kinds_that_it_claims():
    suite = load_suite(PRODUCTS, None)
    assert len(document_ids(suite)) == 321
    assert Counter(query.tags for query in suite.queries) == {
        ("head",): 15,
        ("vocabulary",): 9,
        ("tail",): 13,
        ("navigational",): 6,
        ("partial",): 2,
    }
    assert {grade for query in suite.queries for grade in query.judgments.values()} == {0, 1, 2, 3}
    assert list(suite.requests) == ["current", "candidate"]
    assert sum(len(query.judgments) for query in suite.queries) > 900


def test_the_weights_of_the_traffic_suite_are_those_that_it_reckons_with():
    assert [query.weight for query in load_suite(TRAFFIC, None).queries] == [900, 60, 36, 4]
    assert {query.weight for path in EXAMPLES if path != TRAFFIC for query in load_suite(path, None).queries} == {1.0}


def test_the_catalogue_is_what_its_models_say():
    checked = run_script("make-catalogue", "--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_hybrid_suite_has_the_products_and_queries_of_the_shop_with_their_vectors():
    products = [json.loads(line) for line in (SUITES / "products" / "documents.jsonl").read_text("utf-8").splitlines()]
    documents = [json.loads(line) for line in (SUITES / "hybrid" / "documents.jsonl").read_text("utf-8").splitlines()]
    assert {len(base64.b64decode(document.pop("vector"))) for document in documents} == {384}
    assert documents == products, "the catalogue has changed: run scripts/make-vectors"
    queries = {query.id: query for query in load_suite(PRODUCTS, None).queries if "partial" not in query.tags}
    hybrid = {query.id: query for query in load_suite(HYBRID, None).queries}
    assert [(q.id, q.text, q.tags) for q in hybrid.values()] == [(q.id, q.text, q.tags) for q in queries.values()]
    assert {len(query.params["near"]) for query in hybrid.values()} == {384}
    for name, query in queries.items():
        assert query.judgments.items() <= hybrid[name].judgments.items()


# ------------------------------------------------------------------------------------------------ Cranfield


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "collection"
    folder.mkdir()
    documents = [
        {"id": "1", "title": "wings", "author": "a", "bibliography": "b", "text": "on wings"},
        {"id": "2", "title": "", "author": "", "bibliography": "", "text": ""},
    ]
    (folder / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    rows = [("1", "what of wings ."), ("2", 'the "slip" flow: {{text}} #2, yes')]
    (folder / "queries.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in rows))
    (folder / "qrels.txt").write_text("1 0 1 4\n1 0 2 0\n2 0 2 1\n")
    return folder


def test_a_generated_collection_is_a_suite(collection, tmp_path):
    made = run_script("make-cranfield", collection, tmp_path / "made", "--profile", "rank_eval", "--depth", "20")
    assert made.returncode == 0, made.stderr
    suite = load_suite(Path(made.stdout.strip()), {})
    assert [(query.id, query.text) for query in suite.queries] == [
        ("1", "what of wings ."),
        ("2", 'the "slip" flow: {{text}} #2, yes'),
    ]
    assert suite.queries[0].judgments == {"1": 4, "2": 0}
    assert (suite.profile, suite.depth) == (Profile.RANK_EVAL, 20)
    assert document_ids(suite) == ["1", "2"]


def test_an_unknown_profile_is_the_loaders_to_refuse(collection, tmp_path):
    made = run_script("make-cranfield", collection, tmp_path / "made", "--profile", "rank_evil")
    assert made.returncode == 0, made.stderr
    with pytest.raises(SuiteError, match="rank_eval"):
        load_suite(Path(made.stdout.strip()), {})


def test_a_folder_without_a_collection_is_refused(tmp_path):
    made = run_script("make-cranfield", tmp_path, tmp_path / "made")
    assert made.returncode == 2
    assert "documents.jsonl, queries.tsv, qrels.txt" in made.stderr
    assert not (tmp_path / "made").exists()
