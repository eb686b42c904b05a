"""A suite on an engine and a service: pytest sends each request to its target, and decides as `relevance run` does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from builders.engine import ScriptedEngine
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
requests:
  engine: {query: {match: {title: "{{text}}"}}}
  app: {target: {cluster: app}, http: {path: /find, params: {q: "{{text}}"}, ids: "$[*].id"}}
thresholds: ["mean P@1 >= 0.75", {threshold: "mean P@3 >= 0.4", requests: [app]}]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, b: 1}, expect: ["a before b"]}
  - {id: boots, text: rubber boots, judgments: {d: 3}}
"""
BOTH = ("--relevance-request", "engine", "--relevance-request", "app")


@pytest.fixture
def service(httpserver: HTTPServer) -> HTTPServer:
    found = {"red shoes": ["b", "a"], "rubber boots": ["d"]}
    for text, documents in found.items():
        hits = [{"id": document} for document in documents]
        httpserver.expect_request("/find", query_string={"q": text}).respond_with_json(hits)
    return httpserver


@pytest.fixture
def folder(pytester: pytest.Pytester, service: HTTPServer) -> Path:
    url = service.url_for("").rstrip("/")
    (pytester.path / "relevance.toml").write_text(f'[clusters.app]\nurl = "{url}"\nservice = "http"\n')
    (pytester.path / "shop.relevance.yaml").write_text(SUITE)
    return pytester.path


def read_decisions(report: Path) -> dict[str, Any]:
    suites = json.loads(report.read_text())["suites"]
    decisions = {}
    for suite in suites:
        statuses = {verdict["id"]: verdict["status"] for verdict in suite["verdicts"]}
        decisions[suite["request"]] = (suite["cluster"], suite["notes"], statuses)
    return decisions


def test_pytest_decides_as_the_command_does(run: Any, folder: Path, engine: ScriptedEngine) -> None:
    run(*BOTH, "--relevance-report", "pytest.json").assert_outcomes(passed=3, failed=2)
    words = ["run", "shop.relevance.yaml", "--request", "engine", "--request", "app"]
    assert main([*words, "-q", "--url", engine.url, "--output", "json=command.json"]) == 1
    decisions = read_decisions(folder / "pytest.json")
    assert decisions == read_decisions(folder / "command.json")
    assert decisions["engine"][0] == engine.url
    cluster, notes, statuses = decisions["app"]
    assert cluster.startswith("app (")
    assert "the request 'app' was sent to its own cluster, app" in notes[0]
    assert sorted(statuses.values()) == ["failed", "passed", "passed"]


def test_where_the_service_is_down_the_items_of_the_engine_are_decided(run: Any, folder: Path) -> None:
    (folder / "relevance.toml").write_text('[clusters.app]\nurl = "http://127.0.0.1:9"\nservice = "http"\n')
    run(*BOTH).assert_outcomes(passed=1, failed=1, errors=3)


def test_the_only_request_of_a_session_is_sent_to_the_server_that_it_names(
    pytester: pytest.Pytester, folder: Path, service: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    url = service.url_for("").rstrip("/").replace("localhost", "127.0.0.1")
    words = ("--relevance-request", "app", "--relevance-url", url, "--relevance-report", "r.json")
    pytester.runpytest("-p", "relevance", *words).assert_outcomes(passed=2, failed=1)
    assert read_decisions(folder / "r.json")["app"][0] == url


def test_a_test_runs_and_compares_requests_on_their_own_targets(
    pytester: pytest.Pytester, folder: Path, run: Any
) -> None:
    pytester.makepyfile(
        """
        def test_both(relevance):
            suite = "shop.relevance.yaml"
            assert relevance.run(suite, request="app", url=None).report.cluster.startswith("app (")
            runs = relevance.compare("request:engine", "request:app", suite=suite)
            assert runs.report.reference.cluster.startswith("http://127.0.0.1:")
            assert runs.report.candidate.cluster.startswith("app (")
        """
    )
    run("-k", "test_both").assert_outcomes(passed=1)
