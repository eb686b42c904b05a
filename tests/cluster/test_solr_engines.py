"""A real Solr, by the preset and by paths of a suite: what it answers is what the harness ranks, scores and decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from builders.solr import CATALOGUE, CORE, LOCK, ask
from harness.embedded.lock import dump_lock, parse_lock
from harness.model.run import Failure, FailureKind, Ranking, Response, Status, Verdict
from harness.options import RunOptions
from harness.run import FinishedSuite, Runner

CONFIGURATION = """\
[clusters.solr]
url = "{url}/solr"
service = "solr"

[clusters.plain]
url = "{url}/solr"
service = "http"
requests = ["POST /*/select"]
"""
FIELDS = "title^3 brand^2 category colour tags description"
RETURNED = "id,score,title,brand,price,popularity"
TIES = "score desc,popularity desc,id asc"
OF_HITS = {
    "titles": "$.title",
    "sort": ["$.score", "$.popularity", "$.id"],
    "fields": {"brand": "$.brand", "price": "$.price"},
}
PATHS = {
    "hits": "$.response.docs",
    "ids": "$.id",
    "scores": "$.score",
    "total": "$.response.numFound",
    "total_exact": "$.response.numFoundExact",
    "took": "$.responseHeader.QTime",
    "partial": "$.responseHeader.partialResults",
    "partial_optional": True,
    "error": "$.error.msg",
}
GET = {
    "path": f"/{CORE}/select",
    "params": {
        "q": "{{text}}",
        "defType": "edismax",
        "qf": FIELDS,
        "fl": RETURNED,
        "rows": "{{depth}}",
        "sort": TIES,
    },
}
POST = {
    "method": "POST",
    "path": f"/{CORE}/select",
    "json": {
        "query": {"edismax": {"query": "{{text}}", "qf": FIELDS}},
        "fields": RETURNED.split(","),
        "limit": "{{depth}}",
        "sort": TIES,
    },
}


@pytest.fixture
def run(tmp_path, solr_url, monkeypatch):
    """
    Runs a suite of a request and keys of a suite, with a query `tents` unless they name others.

    The cluster `plain` is the same Solr as an HTTP service of which nothing is known.
    """
    monkeypatch.chdir(tmp_path)
    Path("relevance.toml").write_text(CONFIGURATION.format(url=solr_url), encoding="utf-8")

    def run_suite(http: dict[str, Any], cluster: str = "solr", **keys: Any) -> FinishedSuite:
        paths = PATHS if cluster == "plain" else {}
        suite = {"suite": "shop", "target": {"cluster": cluster}, "request": {"http": {**paths, **OF_HITS, **http}}}
        suite |= {"queries": [{"id": "tents", "text": "light tent"}], "expect": ["hits >= 1"], **keys}
        Path("shop.relevance.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
        with Runner({}) as runner:
            [finished] = runner.run([Path("shop.relevance.yaml")], RunOptions())
        return finished

    return run_suite


def add_params(http: dict[str, Any], **params: Any) -> dict[str, Any]:
    return {**http, "params": {**http["params"], **params}}


def get_response(finished: FinishedSuite, query: str = "tents") -> Response:
    return finished.run.responses[query]


def get_ranking(finished: FinishedSuite, query: str = "tents") -> Ranking:
    response = get_response(finished, query)
    assert isinstance(response, Ranking), response
    return response


def find_verdict(finished: FinishedSuite, threshold: str) -> Verdict:
    return next(verdict for verdict in finished.report.verdicts if verdict.threshold == threshold)


def test_the_lock_of_solr_is_what_the_script_writes():
    text = LOCK.read_text(encoding="utf-8")
    assert dump_lock(parse_lock(text, name=LOCK.name)) == text


def test_solr_has_the_catalogue(solr_url):
    answer = ask(solr_url, q="*:*", rows=0)
    assert answer["response"]["numFound"] == len(CATALOGUE.read_text(encoding="utf-8").splitlines())


def test_a_core_of_a_test_has_its_documents_only(solr_url, solr_core):
    core = solr_core([{"id": "a", "title": "red shoes"}])
    answer = ask(solr_url, core, q="title:shoe", fl="id")
    assert answer["response"]["docs"] == [{"id": "a"}]
    assert ask(solr_url, solr_core(), q="*:*")["response"]["numFound"] == 0


@pytest.mark.parametrize("cluster", ["solr", "plain"])
@pytest.mark.parametrize("http", [GET, POST], ids=["GET", "POST"])
def test_a_ranking_is_that_of_solr(run, solr_url, http, cluster):
    queries = [{"id": f"q{number}", "text": text} for number, text in enumerate(("light tent", "red running shoes"))]
    # Values are kept of the fields that an expectation reads.
    finished = run(http, cluster, queries=queries, expect=["every hit in top 10 has price >= 0"])
    for query in queries:
        parameters = add_params(GET, q=query["text"], rows=10)["params"]
        expected = ask(solr_url, **parameters)["response"]
        ranking = get_ranking(finished, query["id"])
        assert [(hit.id, hit.score) for hit in ranking.hits] == [(hit["id"], hit["score"]) for hit in expected["docs"]]
        assert [hit.title for hit in ranking.hits] == [hit["title"] for hit in expected["docs"]]
        assert [hit.values["price"] for hit in ranking.hits] == [(hit["price"],) for hit in expected["docs"]]
        assert ranking.total == expected["numFound"] > len(ranking.hits)
        assert not ranking.total_is_lower_bound
        assert ranking.took is not None


def test_hits_of_equal_score_are_ordered_by_what_solr_sorts_by(run):
    queries = [{"id": "shoes", "text": "shoes", "judgments": {"sku-1001": 1}}]
    by_score = {**add_params(GET, qf="category"), "sort": "$.score"}
    by_all = add_params(GET, qf="category")
    keys = {"queries": queries, "expect": [], "thresholds": ["mean nDCG@10 >= 0"], "measures": ["nDCG@10"]}
    assert any("make the service break ties" in note for note in run(by_score, **keys).report.notes)
    finished = run(by_all, **keys)
    assert not any("ties" in note for note in finished.report.notes)
    assert len({hit.score for hit in get_ranking(finished, "shoes").hits}) == 1


def test_results_of_a_part_of_the_shards_are_an_error_and_not_hits(run, solr_url):
    shards = f"{solr_url.removeprefix('http://')}/solr/{CORE},127.0.0.1:1/solr/gone"
    http = add_params(GET, shards=shards, **{"shards.tolerant": "true"})
    response = get_response(run(http, "plain"))
    assert isinstance(response, Failure)
    assert response.kind is FailureKind.PARTIAL


def test_a_search_that_ran_out_of_time_is_an_error_and_not_zero_hits(run):
    query = {"id": "tents", "text": "light tent", "expect": ["hits = 0", "sku-2011 not in top 3"]}
    finished = run(add_params(GET, timeAllowed=0), queries=[query], expect=[])
    response = get_response(finished)
    assert isinstance(response, Failure)
    assert response.kind is FailureKind.PARTIAL
    assert {verdict.status for verdict in finished.report.verdicts} == {Status.ERROR}


def test_a_total_that_solr_stopped_counting_is_a_lower_bound(run):
    http = add_params(GET, qf="description", q="the {{text}}", minExactCount=1)
    finished = run(http, expect=["hits >= 5", "hits <= 300"])
    ranking = get_ranking(finished)
    assert ranking.total_is_lower_bound
    assert find_verdict(finished, "hits >= 5").status is Status.PASSED
    assert find_verdict(finished, "hits <= 300").status is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    "http",
    [
        {**GET, "params": {**GET["params"], "fq": "colours:red"}},
        {**POST, "json": {**POST["json"], "filter": "colours:red"}},
    ],
    ids=["GET", "POST"],
)
def test_an_error_is_told_in_the_words_of_solr(run, http):
    finished = run(http)
    response = get_response(finished)
    assert isinstance(response, Failure)
    assert (response.kind, response.status) == (FailureKind.ERROR, 400)
    assert response.reason == "undefined field colours"
    assert {verdict.status for verdict in finished.report.verdicts} == {Status.ERROR}


def test_no_hits_are_no_hits(run):
    finished = run(GET, queries=[{"id": "tents", "text": "zzz"}], expect=["hits = 0"])
    assert get_ranking(finished).hits == ()
    assert find_verdict(finished, "hits = 0").status is Status.PASSED


def leave_size_to_preset(http: dict[str, Any]) -> dict[str, Any]:
    """*http* without its number of hits."""
    if "json" in http:
        return {**http, "json": {key: value for key, value in http["json"].items() if key != "limit"}}
    return {**http, "params": {key: value for key, value in http["params"].items() if key != "rows"}}


def select(core: str) -> dict[str, Any]:
    """A request to *core* that leaves the number of hits to the preset, as it does the look-up of documents."""
    return {**leave_size_to_preset(GET), "path": f"/{core}/select"}


def test_judged_documents_that_are_not_there_are_named(run):
    judgments = {"sku-2011": 3, "sku-9998": 2, "sku-9999": 0}
    finished = run(select(CORE), queries=[{"id": "tents", "text": "light tent", "judgments": judgments}])
    assert finished.report.checks is not None
    assert finished.report.checks.relevant == 2
    assert list(finished.report.checks.absent) == ["sku-9998"]


def test_not_in_top_is_an_error_where_the_document_is_not_there(run, solr_core):
    query = {"id": "tents", "text": "light tent", "expect": ["sku-2011 not in top 3"]}
    cores = [solr_core(), solr_core([{"id": "sku-1", "title": "light tent", "popularity": 1}])]
    for core in cores:
        [verdict] = run(select(core), queries=[query], expect=[]).report.verdicts
        assert verdict.status is Status.ERROR
        assert "sku-2011 is not visible" in verdict.reason


@pytest.mark.parametrize("http", [GET, POST], ids=["GET", "POST"])
def test_a_missing_document_has_its_title_and_its_rank_below_the_last_hit(run, solr_url, http):
    parameters = {**GET["params"], "q": "light tent", "rows": 60}
    hits = ask(solr_url, **parameters)["response"]["docs"]
    query = {"id": "tents", "text": "light tent", "expect": [f"{hits[40]['id']} in top 3"]}
    finished = run(leave_size_to_preset(http), queries=[query])
    [missing] = finished.report.queries[0].missing
    assert (missing.id, missing.rank, missing.title) == (hits[40]["id"], 41, hits[40]["title"])


def test_ids_of_any_kind_are_found(run, solr_core):
    ids = ["a b", 'a"b', "a'b", "a\\b", "ä", "100%", "a+b", "*", "a&b", "{!x}", "AND", "a;b", "a|b", "-1", "$q"]
    core = solr_core([{"id": name, "title": "tent", "popularity": 1} for name in [*ids, "a,b"]])
    judgments = dict.fromkeys([*ids, "nowhere", "a,b"], 1)
    finished = run(select(core), queries=[{"id": "tents", "text": "tent", "judgments": judgments}])
    assert finished.report.checks is not None
    assert list(finished.report.checks.absent) == ["nowhere"], "what the separator splits is not known"
