"""A real Solr that is asked for documents by their ids, and for more hits than a suite needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.model.report import Absence
from harness.model.request import AddressOrigin, Cluster
from harness.model.run import Ranking, Status
from harness.options import RunOptions
from harness.run import FinishedSuite, Runner
from harness.search.dialects import find_dialect, open_search
from harness.suites import load_suite
from harness.suites.requests import build_requests

pytestmark = pytest.mark.usefixtures("working_folder")

PATHS = {
    "hits": "$.response.docs",
    "ids": "$.id",
    "scores": "$.score",
    "titles": "$.title",
    "total": "$.response.numFound",
}
AWKWARD = [
    "a,b", "a", "b", 'a"b', "a'b", "a\\b", "a\\,b", " a", "a ", "a b", "${q}", "${", "{!lucene}a", "}", "a)", "(a",
    "*:*", "a*", "a/b?c=d&e#f", "%2C", "ü", "日本", "a\tb", "+a -b", "AND", "a:b", "[a TO b]", "{{ids}}",
]  # fmt: skip


def look_up(url: str, core: str, ids: list[str]) -> list[str]:
    """The documents of *ids* that the core has, by the request of the preset."""
    Path("shop.relevance.yaml").write_text(
        "suite: shop\ntarget: {service: solr}\n"
        f'request: {{http: {{path: /{core}/select, params: {{q: "{{{{text}}}}"}}}}}}\n'
        "queries: [{id: tents, text: tent, judgments: {a: 1}}]\n",
        encoding="utf-8",
    )
    [search_request] = build_requests(load_suite(Path("shop.relevance.yaml"), {}), None)
    cluster = Cluster("solr", f"{url}/solr", service="solr", origin=AddressOrigin.CONFIGURATION)
    with open_search(cluster, {}) as search:
        [response] = search.search([find_dialect("solr").request_documents(search_request, ids)])
    assert isinstance(response, Ranking), response
    return [hit.id for hit in response.hits]


def test_ids_are_looked_up_as_they_are(solr_url, solr_core):
    core = solr_core([{"id": id} for id in AWKWARD])

    assert look_up(solr_url, core, AWKWARD) == AWKWARD
    for id in AWKWARD:
        assert look_up(solr_url, core, [id]) == [id]


def test_no_other_document_is_taken_for_one_that_is_not_there(solr_url, solr_core):
    core = solr_core([{"id": id} for id in AWKWARD[1::2]])

    assert look_up(solr_url, core, AWKWARD) == AWKWARD[1::2]


def test_thousands_of_ids_take_several_requests(solr_url, solr_core):
    ids = [f"document-with-a-rather-long-name-{number}" for number in range(2000)]
    core = solr_core([{"id": id} for id in ids[::2]])

    assert look_up(solr_url, core, ids) == ids[::2]


@pytest.fixture
def run(solr_url):
    """Runs a suite on a core, with further keys of `http` and of the suite."""
    toml = f'[clusters.solr]\nurl = "{solr_url}/solr"\nservice = "solr"\n'
    Path("relevance.toml").write_text(toml, encoding="utf-8")

    def run_suite(core: str, http: dict[str, Any], **keys: Any) -> FinishedSuite:
        params = {"q": "{{text}}", "defType": "edismax", "qf": "title", "fl": "id,score,title"}
        request = {"path": f"/{core}/select", "params": params, "titles": "$.title", **http}
        suite = {"suite": "shop", "target": {"cluster": "solr"}, "request": {"http": request}, **keys}
        Path("shop.relevance.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
        with Runner({}) as runner:
            [finished] = runner.run([Path("shop.relevance.yaml")], RunOptions())
        return finished

    return run_suite


def test_not_in_top_is_an_error_on_an_empty_core(run, solr_core):
    query = {"id": "tents", "text": "tent", "expect": ["t9 not in top 3"]}
    core = solr_core()

    without_look_ups = {"target": {"cluster": "solr", "service": "http"}}
    [verdict] = run(core, PATHS, queries=[query], **without_look_ups).report.verdicts
    assert verdict.status is Status.PASSED
    [verdict] = run(core, {}, queries=[query]).report.verdicts
    assert verdict.status is Status.ERROR
    assert verdict.reason == "cannot be decided: t9 is not visible through the target"


def test_missing_documents_are_ranked_deeper_or_explained(run, solr_core):
    tents = [{"id": f"t{number:02}", "title": "tent " + "light " * number} for number in range(40)]
    core = solr_core([*tents, {"id": "boots", "title": "Boots of leather"}])
    query = {"id": "tents", "text": "tent", "judgments": {"t00": 2, "t25": 1, "boots": 1, "gone": 1, "T00": 1}}
    keys = {"measures": ["nDCG@10"], "thresholds": ["mean nDCG@10 >= 1"], "queries": [query]}

    finished = run(core, {}, **keys)

    missing = {document.id: document for document in finished.report.queries[0].missing}
    assert (missing["t25"].rank, missing["t25"].title) == (26, tents[25]["title"])
    assert (missing["boots"].absence, missing["boots"].title) == (Absence.NO_MATCH, "Boots of leather")
    assert missing["gone"].absence is Absence.NOT_VISIBLE
    assert (missing["T00"].absence, missing["T00"].similar) == (Absence.NOT_VISIBLE, "t00")


def test_a_document_below_the_deepest_search_matches_or_does_not(run, solr_core):
    tents = [{"id": f"t{number:04}", "title": "tent"} for number in range(1100)]
    core = solr_core([*tents, {"id": "late", "title": "tent " + "light " * 20}, {"id": "boots", "title": "Boots"}])
    query = {"id": "tents", "text": "tent", "judgments": {"t0000": 2, "late": 1, "boots": 1}}
    keys = {"measures": ["nDCG@10"], "thresholds": ["mean nDCG@10 >= 1"], "queries": [query]}

    finished = run(core, {}, **keys)

    missing = {document.id: document.absence for document in finished.report.queries[0].missing}
    assert missing == {"late": Absence.BELOW, "boots": Absence.NO_MATCH}


def test_ties_at_the_last_hit_are_looked_up(run, solr_core):
    core = solr_core([{"id": f"t{number:02}", "title": "tent"} for number in range(40)])
    query = {"id": "tents", "text": "tent", "judgments": {"t00": 2}}
    keys = {"measures": ["nDCG@10"], "thresholds": ["drop nDCG@10 <= 0.1"], "baseline": "optional", "queries": [query]}

    finished = run(core, {}, **keys)

    ranking = finished.run.responses["tents"]
    assert isinstance(ranking, Ranking)
    assert len(ranking.hits) == 10
    assert len(ranking.tail) == 30
    assert ranking.closed
