"""A suite from its file to its verdicts on real engines."""

import json

import pytest

from harness.api import Relevance
from harness.model.report import Absence, MissingDocument
from harness.model.run import Status
from harness.model.scores import Outcome
from harness.options import RunOptions
from harness.run import run_suites

DOCUMENTS = {f"shoe-{number:02}": {"title": " ".join(["shoe"] * number), "rank": number} for number in range(1, 31)}
BY_RANK = 'query: {match: {title: "{{text}}"}}\n  sort: [{rank: asc}]'
NO_SUCH_FIELD = 'query: {match: {title: {query: "{{text}}", operator: nonsense}}}'


@pytest.fixture
def write(tmp_path):
    def write(index, *, name="shoes", request=BY_RANK, extra=""):
        path = tmp_path / f"{name}.relevance.yaml"
        path.write_text(
            f"""\
suite: {name}
target: {{index: "{index}"}}
request:
  {request}
measures: ["nDCG@5", "RR@5", "Judged@5"]
thresholds: ["mean nDCG@5 >= 0.9", "p95 latency <= 60000 ms"]
queries:
  - id: shoe
    text: shoe
    judgments: {{shoe-01: 3, shoe-02: 1, shoe-20: 2, shoe-99: 1}}
    expect: ["shoe-01 in top 1", "shoe-02 before shoe-20", "shoe-20 not in top 5", "hits = 30"]
  - {{id: nothing, text: sandals, judgments: {{shoe-01: 1}}, expect: ["hits = 0"]}}
{extra}""",
            encoding="utf-8",
        )
        return path

    return write


def run(path, url, **options):
    report = run_suites([path], RunOptions(url=url, **options), environ={})
    return report, report.suites[0]


ROUTED = """\
suite: routed
target: {{index: "{index}"}}
requests:
  routed: {{routing: "{{{{shard}}}}", body: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}}}
  by-itself:
    routing: "{{{{shard}}}}"
    url_params: {{batched_reduce_size: 5, search_type: dfs_query_then_fetch}}
    body: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
  everywhere: {{url_params: {{preference: _local}}, body: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}}}
  unknown: {{url_params: {{nonsense: 1}}, body: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}}}
measures: ["R@10"]
queries:
  - {{id: one, text: shoe, params: {{shard: "{one}"}}, judgments: {{{one}: 1}}}}
  - {{id: two, text: shoe, params: {{shard: "{two}"}}, judgments: {{{two}: 1}}}}
"""


def test_routing_and_parameters_of_the_url_change_what_is_found(engine_url, index, call, tmp_path):
    name = index({}, settings={"number_of_shards": 5})
    for number in range(10):
        call("PUT", f"/{name}/_doc/r{number}?routing=r{number}&refresh=true", {"title": "shoe"})
    shards = {
        f"r{number}": call("GET", f"/{name}/_search_shards?routing=r{number}")["shards"][0][0]["shard"]
        for number in range(10)
    }
    two = next(key for key, shard in shards.items() if shard != shards["r0"])
    path = tmp_path / "routed.relevance.yaml"
    path.write_text(ROUTED.format(index=name, one="r0", two=two), encoding="utf-8")
    with Relevance(options=RunOptions(url=engine_url)) as relevance:
        for request in ("routed", "by-itself"):
            one, other = relevance.run(path, request=request).queries
            assert {hit.id for hit in one.ranking} == {key for key, shard in shards.items() if shard == shards["r0"]}
            assert {hit.id for hit in other.ranking} == {key for key, shard in shards.items() if shard == shards[two]}
        assert all(len(query.ranking) == 10 for query in relevance.run(path, request="everywhere").queries)
        refused = relevance.run(path, request="unknown").queries[0]
        assert refused.outcome is Outcome.ERROR
        assert "nonsense" in refused.reason


def test_a_suite_runs_end_to_end(engine_url, index, write):
    report, suite = run(write(index(DOCUMENTS)), engine_url)
    shoe, nothing = suite.queries
    ideal = 7 + 3 / 1.584962500721156 + 1 / 2 + 1 / 2.321928094887362
    assert shoe.scores["nDCG@5"] == pytest.approx((7 + 1 / 1.584962500721156) / ideal)
    assert (shoe.outcome, shoe.total, shoe.scores["Judged@5"]) == (Outcome.SCORED, 30, 0.4)
    assert [document.id for document in shoe.ranking][:3] == ["shoe-01", "shoe-02", "shoe-03"]
    assert shoe.timing.took is not None
    assert (nothing.outcome, nothing.scores["nDCG@5"], nothing.total) == (Outcome.ZERO_HITS, 0.0, 0)
    statuses = {verdict.id: verdict.status for verdict in suite.verdicts}
    assert statuses.pop("mean-nDCG-5-ge-0.9") is Status.FAILED
    assert set(statuses.values()) == {Status.PASSED}
    assert len(statuses) == 6
    assert report.exit_status == 1


def test_a_missing_document_is_found_where_it_ranks(engine_url, index, write):
    made = index(DOCUMENTS)
    _, suite = run(write(made), engine_url)
    assert suite.queries[0].missing == (
        MissingDocument("shoe-20", 2, rank=20, searched=1000),
        MissingDocument("shoe-99", 1, rank=None, searched=1000, absence=Absence.NOT_VISIBLE, target=made),
    )


@pytest.mark.parametrize("fault", ["unknown index", "malformed query"])
def test_what_the_engine_refuses_is_an_error_of_every_query_and_not_a_low_score(engine_url, index, write, fault):
    if fault == "unknown index":
        path = write("relevance-test-nowhere")
    else:
        path = write(index(DOCUMENTS), request=NO_SUCH_FIELD)
    report, suite = run(path, engine_url)
    assert [query.outcome for query in suite.queries] == [Outcome.ERROR, Outcome.ERROR]
    assert all(query.reason.startswith("engine error") for query in suite.queries)
    assert {verdict.status for verdict in suite.verdicts} == {Status.ERROR}
    assert report.exit_status == 3


def test_a_fixture_is_built_only_where_writing_is_allowed(engine_url, write, tmp_path, search):
    lines = [json.dumps({"id": name, **document}) for name, document in DOCUMENTS.items()]
    (tmp_path / "shoes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    extra = "fixture: {documents: shoes.jsonl, mappings: {properties: {title: {type: text}, rank: {type: integer}}}}\n"
    path = write("unused", name="pipelinetest", extra=extra)
    path.write_text(path.read_text(encoding="utf-8").replace(", shoe-99: 1", ""), encoding="utf-8")  # in no document
    refused, suite = run(path, engine_url)
    assert refused.exit_status == 3
    assert "allow" in suite.queries[0].reason
    try:
        report, suite = run(path, engine_url, allow_write=True)
        assert suite.index.startswith("pipelinetest-")
        assert (suite.queries[0].outcome, suite.queries[0].total) == (Outcome.SCORED, 30)
        assert report.exit_status == 1
        reused, again = run(path, engine_url)
        assert (again.index, reused.exit_status) == (suite.index, 1)
    finally:
        search.connection.perform("DELETE", f"/{suite.index}")


def test_the_python_api_asks_for_measures_of_its_own(engine_url, index, write):
    path = write(index(DOCUMENTS))
    with Relevance(path.parent, environ={}) as relevance:
        ran = relevance.run(path.name, url=engine_url)
        assert ran.mean("RR@5") == 0.5
        assert ran.score("shoe", "P(rel=3)@5") == pytest.approx(0.2)
        again = relevance.run(path.name, url=engine_url, tags=())
        assert again.scores("nDCG@5") == ran.scores("nDCG@5")
        with pytest.raises(AssertionError, match="mean nDCG@5"):
            ran.assert_thresholds()


@pytest.mark.cluster
def test_a_client_of_the_user_s_own_needs_no_cluster_and_stays_open(elasticsearch_urls, tmp_path):
    from elasticsearch import Elasticsearch

    path = tmp_path / "own.relevance.yaml"
    path.write_text(
        """\
suite: own
target: {index: relevance-test-own}
request: {query: {match: {title: "{{text}}"}}}
measures: ["P@1"]
thresholds: ["mean P@1 = 1"]
queries: [{id: shoe, text: shoe, judgments: {a: 1}}]
""",
        encoding="utf-8",
    )
    with Elasticsearch(elasticsearch_urls[0]) as client, Relevance(tmp_path, environ={}) as relevance:
        client.index(index="relevance-test-own", id="a", document={"title": "shoe"}, refresh=True)
        try:
            run = relevance.run("own.relevance.yaml", client=client)
        finally:
            client.indices.delete(index="relevance-test-own")
        run.assert_thresholds()
        assert run.report.cluster == "client"
        relevance.close()
        assert client.ping()
