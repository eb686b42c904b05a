"""
Cranfield on every engine at hand: the same scores from each, by command and by pytest, and those of `_rank_eval`.

The engines are OpenSearch, the embedded node in its older version, and the Elasticsearch servers that the environment
names; see conftest.py.
"""

import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
import requests

from harness.cli import main
from harness.model.report import QueryReport, SuiteReport
from harness.report.json import loads_report

pytestmark = [pytest.mark.cranfield, pytest.mark.embedded]

ROOT = Path(__file__).parents[2]
MEASURE = "nDCG@10"
QUERIES = 225
EXACT = 1e-9


@dataclass(frozen=True)
class Server:
    """An engine that answers; *name* is for messages."""

    name: str
    url: str
    has_rank_eval: bool = False


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, cwd=ROOT)


def make_suite(collection: Path, folder: Path, profile: str) -> Path:
    made = run("scripts/make-cranfield", collection, folder, "--profile", profile, "--depth", "11")
    assert made.returncode == 0, made.stderr
    return Path(made.stdout.strip())


def report_of(suite: Path, server: Server) -> SuiteReport:
    """What `relevance run --json` says on *server*."""
    with redirect_stdout(StringIO()) as printed:
        status = main(["run", str(suite), "--url", server.url, "--allow-write", "--json"])
    assert status == 0, printed.getvalue()[-2000:]
    [report] = loads_report(printed.getvalue()).suites
    assert len(report.queries) == QUERIES
    return report


def values(report: SuiteReport) -> dict[str, float]:
    scores = {query.id: query.scores[MEASURE] for query in report.queries}
    assert None not in scores.values()
    return scores


def is_untied(query: QueryReport) -> bool:
    """Whether no two of the first eleven hits have the same score, so that the first ten have one order only."""
    scores = [document.score for document in query.ranking[:11]]
    return len(set(scores)) == len(scores)


@pytest.fixture(scope="module")
def suite(cranfield, tmp_path_factory) -> Path:
    return make_suite(cranfield, tmp_path_factory.mktemp("cranfield"), "standard")


@pytest.fixture(scope="module")
def servers(suite, opensearch_url, request) -> list[Server]:
    """All engines, running; where the environment names an OpenSearch, it is the only one."""
    urls = [url.strip() for url in os.environ.get("RELEVANCE_TEST_ELASTICSEARCH", "").split(",") if url.strip()]
    opensearch = [Server("opensearch", opensearch_url, True)]
    if "RELEVANCE_TEST_OPENSEARCH" not in os.environ:
        opensearch.append(Server("opensearch 2.19", request.getfixturevalue("older_node").url, True))
    return opensearch + [Server(url, url) for url in urls]


@pytest.fixture(scope="module")
def reports(suite, servers) -> dict[str, SuiteReport]:
    return {server.name: report_of(suite, server) for server in servers}


def test_every_engine_scores_untied_queries_alike(reports):
    """By pairs with the first engine; ties are judged on both sides, as each engine has its own scores."""
    (_, first), *others = reports.items()
    assert others
    expected = values(first)
    for name, report in others:
        found = values(report)
        untied = [a.id for a, b in zip(first.queries, report.queries, strict=True) if is_untied(a) and is_untied(b)]
        assert len(untied) > QUERIES / 3, name
        assert {query: found[query] for query in untied} == pytest.approx(
            {query: expected[query] for query in untied}, abs=EXACT
        ), name


def test_elasticsearch_is_among_the_engines(servers, elasticsearch_urls):
    assert {server.url for server in servers} >= set(elasticsearch_urls)


@pytest.mark.one_engine
def test_pytest_scores_as_the_command_does(suite, servers, reports, pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for number, server in enumerate(servers):
        file = pytester.path / f"{number}.json"
        options = ["--relevance-url", server.url, "--relevance-allow-write", "--relevance-report", file]
        done = pytester.runpytest(
            "-p", "relevance", "-p", "no:cacheprovider", "--rootdir", suite.parent, "-c", os.devnull, suite, *options
        )
        done.assert_outcomes(passed=2)
        [report] = loads_report(file.read_text(encoding="utf-8")).suites
        assert values(report) == values(reports[server.name]), server.name


def rank_eval(suite: Path, server: Server, index: str) -> dict[str, float]:
    """Each query's normalised DCG at 10 as the engine itself computes it, from the collection's own files."""
    judged: dict[str, list[dict[str, object]]] = {}
    for line in (suite.parent / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        judged.setdefault(query, []).append({"_index": index, "_id": document, "rating": int(grade)})
    rows = (suite.parent / "queries.tsv").read_text(encoding="utf-8").splitlines()
    questions = dict(row.split("\t") for row in rows)
    body = {
        "requests": [
            {
                "id": name,
                "request": {"query": {"multi_match": {"query": text, "fields": ["title^2", "text"]}}},
                "ratings": judged[name],
            }
            for name, text in questions.items()
        ],
        "metric": {"dcg": {"k": 10, "normalize": True}},
    }
    answer = requests.post(
        f"{server.url}/{index}/_rank_eval",
        data=json.dumps(body),
        timeout=120,
        headers={"Content-Type": "application/json"},
    ).json()
    assert answer["failures"] == {}
    return {name: details["metric_score"] for name, details in answer["details"].items()}


@pytest.mark.one_engine
def test_the_rank_eval_profile_gives_the_numbers_of_rank_eval(cranfield, servers, tmp_path):
    suite = make_suite(cranfield, tmp_path, "rank_eval")
    nodes = [server for server in servers if server.has_rank_eval]
    assert len(nodes) == 2
    for server in nodes:
        report = report_of(suite, server)
        assert values(report) == pytest.approx(rank_eval(suite, server, report.index), abs=EXACT), server.name
