"""A suite that is sent to an engine and to a service: each request has its own target in every command and report."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.engine import ROOT, ScriptedEngine
from builders.extension_cases import needs_extension
from builders.golden import page_lines
from harness.cli import main
from harness.options import RunOptions
from harness.run import Matrix
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {cluster: engine, index: products}
display: {title: title}
requests:
  engine: {query: {match: {title: "{{text}}"}}}
  app:
    target: {cluster: app}
    http: {path: /find, params: {q: "{{text}}"}, ids: "$[*].id", fields: {title: "$[*].title"}}
measures: ["nDCG@10", "P@1"]
thresholds: ["mean P@1 >= 0.5"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, b: 1}}
  - {id: boots, text: rubber boots, judgments: {d: 3}}
"""
FOUND = {"red shoes": ["b", "a", "new"], "rubber boots": ["d"]}
ENDS = (("json", "json"), ("html", "html"), ("markdown", "md"))
SERVICE_KEY = "s3rvice-key"
ENGINE_KEY = "3ngine-key"


class Service:
    """What the service finds, and what it was asked."""

    def __init__(self) -> None:
        self.found = FOUND
        self.broken: set[str] = set()
        self.title = "Title of {}"
        self.asked: list[str] = []
        self.before_answer: Callable[[], None] = lambda: None

    def answer(self, request: Request) -> Response:
        text = request.args["q"]
        self.asked.append(text)
        self.before_answer()
        if text in self.broken:
            return Response("broken", status=400)
        hits = [{"id": document, "title": self.title.format(document)} for document in self.found[text]]
        return Response(json.dumps(hits), content_type="application/json")


@pytest.fixture
def service(httpserver: HTTPServer) -> Service:
    stand_in = Service()
    httpserver.expect_request("/find").respond_with_handler(stand_in.answer)
    return stand_in


@pytest.fixture
def folder(
    tmp_path: Path, engine: ScriptedEngine, service: Service, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("SERVICE_KEY", SERVICE_KEY)
    monkeypatch.setenv("ENGINE_KEY", ENGINE_KEY)
    write_config(tmp_path, engine.url, httpserver.url_for("").rstrip("/"))
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    return tmp_path


def write_config(folder: Path, engine_url: str, service_url: str) -> None:
    (folder / "relevance.toml").write_text(f"""\
[clusters.engine]
url = "{engine_url}"
api_key_env = "ENGINE_KEY"
[clusters.app]
url = "{service_url}"
service = "http"
headers_env = {{ X-Key = "SERVICE_KEY" }}
""")


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Gives the exit status of a command, and what it printed."""

    def call(*words: str) -> tuple[int, str]:
        status = main([*words])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return call


def read_suites(folder: Path, file: str = "r.json") -> list[dict[str, Any]]:
    suites: list[dict[str, Any]] = json.loads((folder / file).read_text())["suites"]
    return suites


def rank(suite: dict[str, Any]) -> dict[str, list[str]]:
    return {query["id"]: [hit["id"] for hit in query["ranking"]] for query in suite["queries"]}


def test_each_request_is_sent_to_its_target_and_each_report_names_it(run, folder, engine, httpserver):
    kinds = ["json", "html", "markdown", "junit", "csv"]
    outputs = [word for kind in kinds for word in ("--output", f"{kind}=r.{kind}")]
    status, printed = run("run", "shop.relevance.yaml", "--all-requests", "-q", *outputs)
    assert status == 0, printed
    of_engine, of_app = read_suites(folder)
    service_url = httpserver.url_for("").rstrip("/")
    clusters = (f"engine ({engine.url})", f"app ({service_url})")
    assert (of_engine["cluster"], of_app["cluster"]) == clusters
    assert (of_engine["index"], of_app["index"]) == ("products", None)
    assert rank(of_app) == {"shoes": ["b", "a", "new"], "boots": ["d"]}
    assert rank(of_engine) == {"shoes": ["a", "b", "c"], "boots": ["e", "d"]}
    assert [verdict["status"] for suite in (of_engine, of_app) for verdict in suite["verdicts"]] == ["passed"] * 2
    for kind in ("html", "markdown", "junit", "csv"):
        text = (folder / f"r.{kind}").read_text().replace("<span>:</span>", ":")
        assert all(url in text for url in (engine.url, service_url)), kind


def test_a_run_of_one_request_connects_to_its_cluster_only(run, engine, service):
    assert run("run", "shop.relevance.yaml", "-q")[0] == 0
    assert service.asked == []
    engine.sent.clear()
    assert run("run", "shop.relevance.yaml", "--request", "app", "-q")[0] == 0
    assert engine.sent == []


@needs_extension("compare")
def test_compare_names_both_clusters_in_one_table(run, folder, engine, httpserver):
    outputs = [word for kind, suffix in ENDS for word in ("--output", f"{kind}=c.{suffix}")]
    status, printed = run("compare", "request:engine", "request:app", "--suite", "shop.relevance.yaml", *outputs)
    assert status == 0, printed
    service_url = httpserver.url_for("").rstrip("/")
    assert f"request:engine: elasticsearch 9.4.3 at engine ({engine.url}), index products" in printed
    assert f"request:app: http at app ({service_url})" in printed
    document = json.loads((folder / "c.json").read_text())
    sides = (document["reference"], document["candidate"])
    assert [side["cluster"] for side in sides] == [f"engine ({engine.url})", f"app ({service_url})"]
    page = page_lines((folder / "c.html").read_text())
    markdown = (folder / "c.md").read_text().replace("<span>:</span>", ":")
    for url in (engine.url, service_url):
        assert f"({url})" in page, page[:1500]
        assert f"({url})" in markdown
    [shoes] = [query for query in document["queries"] if query["id"] == "shoes"]
    assert (shoes["entered"], shoes["left"]) == (1, 1)


@needs_extension("compare")
def test_several_sides_may_be_on_several_clusters(run, folder):
    status, printed = run("compare", "--suite", "shop.relevance.yaml", "--all-requests")
    assert status == 0, printed
    assert "at engine (" in printed
    assert "at app (" in printed


@needs_extension("compare")
@pytest.mark.parametrize("down", ["engine", "app"])
def test_where_one_cluster_is_down_the_thresholds_of_the_other_are_decided(run, folder, engine, httpserver, down):
    urls = {"engine": engine.url, "app": httpserver.url_for("").rstrip("/"), down: "http://127.0.0.1:9"}
    write_config(folder, urls["engine"], urls["app"])
    status, _ = run("run", "shop.relevance.yaml", "--all-requests", "-q", "--output", "json=r.json")
    assert status == 3
    verdicts = {suite["request"]: suite["verdicts"][0]["status"] for suite in read_suites(folder)}
    up = "app" if down == "engine" else "engine"
    assert verdicts == {up: "passed", down: "error"}
    assert run("compare", "request:engine", "request:app", "--suite", "shop.relevance.yaml")[0] == 3


def test_a_mistake_in_the_cluster_of_one_request_is_found_before_anything_is_sent(run, folder, engine):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace("cluster: app", "cluster: apps"))
    status, printed = run("run", "shop.relevance.yaml", "--all-requests", "-q")
    assert status == 2
    assert "the cluster 'apps' is not defined" in printed
    assert "did you mean 'app'?" in printed
    assert not any("_msearch" in path for _, path in engine.sent)
    assert run("run", "shop.relevance.yaml", "-q")[0] == 0


@needs_extension("compare")
def test_the_logins_of_both_clusters_are_masked_wherever_one_is_returned(run, folder, engine, service):
    service.title = f"Made with {ENGINE_KEY} and {SERVICE_KEY}, {{}}"
    engine.answers["red shoes"] = {
        "error": {"type": "x", "reason": f"said {SERVICE_KEY} and {ENGINE_KEY}"}, "status": 400
    }  # fmt: skip
    outputs = [word for kind in ("json", "html", "markdown", "junit") for word in ("--output", f"{kind}=r.{kind}")]
    status, printed = run("run", "shop.relevance.yaml", "--all-requests", "--journal", "r.journal", *outputs)
    assert status == 3
    texts = [printed] + [path.read_text() for path in folder.iterdir() if path.name.startswith("r.")]
    outputs = [word for kind in ("json", "html", "markdown") for word in ("--output", f"{kind}=c.{kind}")]
    texts.append(run("compare", "request:engine", "request:app", "--suite", "shop.relevance.yaml", *outputs)[1])
    texts += [path.read_text() for path in folder.iterdir() if path.name.startswith("c.")]
    assert len(texts) >= 9
    # The journal keeps the values of fields as they are, since expectations compare them.
    for text in [re.sub('"values": {[^}]*}', "", text) for text in texts]:
        assert ENGINE_KEY not in text, text[max(0, text.find(ENGINE_KEY) - 400) :][:900]
        assert SERVICE_KEY not in text, text[max(0, text.find(SERVICE_KEY) - 400) :][:900]
    assert "${ENGINE_KEY}" in (folder / "r.json").read_text()


# What takes the place of clusters.


def test_a_url_takes_the_place_of_the_suites_cluster_where_several_are_searched(run, folder, httpserver):
    with ScriptedEngine() as other:
        other.rankings = {"red shoes": ["b"], "rubber boots": ["d"]}
        status, printed = run(
            "run", "shop.relevance.yaml", "--all-requests", "--url", other.url, "--output", "json=r.json"
        )
    assert status == 0
    of_engine, of_app = read_suites(folder)
    assert (of_engine["cluster"], rank(of_engine)["shoes"]) == (other.url, ["b"])
    assert of_app["cluster"].startswith("app (")
    assert of_app["notes"][0] == (
        "the request 'app' was sent to its own cluster, app: the server that was named takes the place of the suite's"
    )
    assert not any("its own cluster" in note for note in of_engine["notes"])
    assert f"relevance show shop.relevance.yaml boots --request app --url {other.url}" not in printed


def test_a_url_takes_the_place_of_the_cluster_of_the_only_request_that_is_sent(run, folder, service):
    with HTTPServer() as other:
        other.expect_request("/find").respond_with_json([{"id": "d", "title": "D"}])
        url = other.url_for("").rstrip("/")
        status, _ = run("run", "shop.relevance.yaml", "--request", "app", "--url", url, "--output", "json=r.json")
    assert status == 0
    [of_app] = read_suites(folder)
    assert (of_app["cluster"], service.asked) == (url, [])


@needs_extension("compare")
def test_sides_of_requests_keep_their_clusters_and_other_sides_name_theirs(run, folder, engine):
    with ScriptedEngine() as other:
        words = ["--suite", "shop.relevance.yaml", "--output", "json=c.json"]
        assert run("compare", "request:engine", "request:app", *words, "--url", other.url)[0] == 0
        document = json.loads((folder / "c.json").read_text())
        assert document["reference"]["cluster"] == other.url
        assert document["candidate"]["cluster"].startswith("app (")
        with HTTPServer() as another:
            another.expect_request("/find").respond_with_json([{"id": "d", "title": "D"}])
            url = another.url_for("").rstrip("/")
            assert run("compare", "cluster:app", f"cluster:{url}", "--request", "app", *words)[0] == 0
        document = json.loads((folder / "c.json").read_text())
        assert document["reference"]["cluster"].startswith("app (")
        assert document["candidate"]["cluster"] == url


# Journals.


def test_a_run_that_was_ended_goes_on_with_each_request_on_its_own_target(run, folder, engine, service):
    service.broken = {"rubber boots"}
    words = ["run", "shop.relevance.yaml", "--all-requests", "-q", "--output", "json=r.json"]
    assert run(*words)[0] == 3
    service.broken = set()
    asked_before, service.asked = service.asked, []
    engine.asked.clear()
    status, printed = run(*words, "--resume")
    assert status == 0, printed
    assert set(asked_before) == {"red shoes", "rubber boots"}
    assert (service.asked, engine.asked.total()) == (["rubber boots"], 0)
    assert [rank(suite)["boots"] for suite in read_suites(folder)] == [["e", "d"], ["d"]]


def test_a_run_that_is_killed_on_the_second_target_keeps_what_the_first_answered(run, folder, engine, service):
    words = ["run", "shop.relevance.yaml", "--all-requests", "-q", "--output", "json=r.json"]
    process = subprocess.Popen([sys.executable, "-m", "harness", *words], stderr=subprocess.DEVNULL)
    service.before_answer = process.kill
    assert process.wait() == -signal.SIGKILL
    assert not (folder / "r.json").exists()
    service.before_answer = lambda: None
    service.asked.clear()
    engine.asked.clear()
    status, printed = run(*words, "--resume")
    assert status == 0, printed
    # A request of the killed process may be answered late.
    assert (set(service.asked), engine.asked.total()) == ({"red shoes", "rubber boots"}, 0)
    assert [rank(suite)["boots"] for suite in read_suites(folder)] == [["e", "d"], ["d"]]


def test_a_run_goes_on_only_where_the_target_of_the_request_is_the_same(run, folder, engine, service, httpserver):
    service.broken = {"rubber boots"}
    words = ["run", "shop.relevance.yaml", "--all-requests", "-q", "--output", "json=r.json"]
    assert run(*words)[0] == 3
    service.broken, service.asked = set(), []
    engine.asked.clear()
    url = httpserver.url_for("").rstrip("/").replace("localhost", "127.0.0.1")
    assert "127.0.0.1" in url
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace("target: {cluster: app}", f'target: {{cluster: "{url}"}}'))
    status, printed = run(*words, "--resume")
    assert status == 0, printed
    assert sorted(service.asked) == ["red shoes", "rubber boots"]
    assert engine.asked.total() == 0


@needs_extension("distributed")
def test_the_parts_of_a_run_on_several_clusters_are_merged(run, folder):
    with ScriptedEngine() as other:
        other.rankings = {"red shoes": ["b", "a"], "rubber boots": ["d"]}
        words = ["run", "shop.relevance.yaml", "--all-requests", "-q", "--url", other.url]
        assert run(*words, "--output", "json=whole.json")[0] == 0
        for part in (1, 2):
            run(*words, "--shard", f"{part}/2", "--journal", f"{part}.journal")
        status, printed = run("merge", "1.journal", "2.journal", "-q", "--output", "json=merged.json")
        assert status == 0, printed
    whole, merged = read_suites(folder, "whole.json"), read_suites(folder, "merged.json")
    assert [rank(suite) for suite in merged] == [rank(suite) for suite in whole]
    assert [suite["cluster"] for suite in merged] == [suite["cluster"] for suite in whole]
    assert [suite["notes"][0] for suite in merged][1].startswith("the request 'app' was sent to its own cluster")


# Other commands.


def test_validate_names_the_clusters_of_requests(run):
    status, printed = run("validate", "shop.relevance.yaml")
    assert (status, "  clusters: engine (engine), app (app)" in printed) == (0, True)


@needs_extension("compare")
def test_a_plan_reads_the_differences_of_two_servers(run):
    status, printed = run("plan", "shop.relevance.yaml", "request:engine", "request:app", "--effect", "0.1")
    assert "request:app against request:engine" in printed
    assert status in (0, 1), printed


def test_a_client_object_is_not_used_for_a_request_that_keeps_its_cluster(folder):
    client = object()
    options = Matrix(all_requests=True).list_cells(
        load_suite(folder / "shop.relevance.yaml", {}), RunOptions(client=client)
    )
    assert [cell.client for cell in options] == [client, None]


@needs_extension("judging")
def test_a_pool_has_the_documents_of_both_with_titles_from_whichever_knows_them(run, folder, engine):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE)
    status, printed = run(
        "judgments", "pool", "shop.relevance.yaml", "--all-requests", "-q", "--output", "csv=pool.csv"
    )
    assert status == 0, printed
    pooled = {
        (row["query"], row["document"]): row for row in csv.DictReader((folder / "pool.csv").read_text().splitlines())
    }
    assert set(pooled) == {("shoes", "c"), ("shoes", "new"), ("boots", "e")}
    assert pooled["shoes", "new"]["title"] == "Title of new"


def test_one_query_is_shown_as_its_request_asks_it(run):
    status, printed = run("show", "shop.relevance.yaml", "shoes", "--request", "app")
    assert status == 0
    assert "http at app (" in printed
    assert "Title of new" in printed
    status, printed = run("show", "shop.relevance.yaml", "shoes")
    assert (status, "at engine (" in printed) == (0, True)
    status, printed = run("show", "shop.relevance.yaml", "shoes", "--request", "app", "--explain", "a")
    assert (status, "an HTTP service does not explain scores" in printed) == (2, True)


@needs_extension("migrate")
def test_verify_asks_the_engine_and_refuses_the_service(run):
    status, printed = run("verify", "shop.relevance.yaml", "--all-requests", "-q")
    assert (status, "the suite asks an HTTP service, which has no _rank_eval" in printed) == (2, True)


def test_an_index_is_chosen_for_the_requests_to_an_engine(run, engine):
    engine.on_index["copy", "red shoes"] = ["a"]
    assert run("run", "shop.relevance.yaml", "--index", "copy", "-q")[0] in (0, 1)
    status, printed = run("run", "shop.relevance.yaml", "--all-requests", "--index", "copy", "-q")
    assert status == 2
    assert "the request 'app' is for an HTTP service, which has no index to choose" in printed


def test_each_request_has_its_own_entry_in_the_baseline(run, folder):
    assert run("baseline", "save", "shop.relevance.yaml", "--all-requests")[0] == 0
    kept = json.loads((folder / "shop.baseline.json").read_text())["requests"]
    assert list(kept) == ["app", "engine"]
    assert (kept["app"]["engine"], kept["engine"]["engine"]) == ("http", "elasticsearch 9.4.3")
    (folder / "shop.relevance.yaml").write_text(SUITE.replace('["mean P@1 >= 0.5"]', '["drop nDCG@10 <= 0"]'))
    assert run("run", "shop.relevance.yaml", "--all-requests", "-q")[0] == 0


@needs_extension("judging")
def test_lint_looks_documents_up_where_that_is_possible(run):
    status, printed = run("judgments", "lint", "shop.relevance.yaml")
    assert status in (0, 1), printed
    assert "cannot be looked up by id in an HTTP service" not in printed


def test_a_url_in_place_of_the_cluster_keeps_the_engine_that_the_suite_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(
        "suite: shop\n"
        "target: {cluster: shop, index: products, engine: opensearch 2.17.1}\n"
        'request: {query: {match: {title: "{{text}}"}}}\n'
        "queries: [{id: shoes, text: red shoes, judgments: {a: 3}}]\n"
    )
    with ScriptedEngine() as engine:
        engine.headers = {}
        engine.root = {"name": "gateway"}
        assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--output", "json=report.json"]) == 0
        report = json.loads(Path("report.json").read_text())
        assert report["suites"][0]["engine"] == {"kind": "opensearch", "version": "2.17.1", "stated": True}

        engine.root = ROOT
        assert main(["run", "shop.relevance.yaml", "--url", engine.url]) == 0
    assert "elasticsearch 9.4.3" in capsys.readouterr().out


@pytest.mark.parametrize("ids", ["", ", ids: unique"])
def test_a_document_that_a_service_returns_twice_counts_once_where_the_suite_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    httpserver: HTTPServer,
    capsys: pytest.CaptureFixture[str],
    ids: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    httpserver.expect_request("/find").respond_with_json([{"id": "a"}, {"id": "a"}, {"id": "c"}])
    url = httpserver.url_for("").rstrip("/")
    Path("shop.relevance.yaml").write_text(
        "suite: shop\n"
        f'target: {{cluster: "{url}"{ids}}}\n'
        'request: {http: {path: /find, params: {q: "{{text}}"}, ids: "$[*].id"}}\n'
        "thresholds: ['every RR@3 >= 0.5']\n"
        "queries: [{id: boots, text: rubber boots, judgments: {c: 3}}]\n"
    )
    status = main(["run", "shop.relevance.yaml", "--json"])
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    if ids:
        assert status == 0
        assert [hit["id"] for hit in suite["queries"][0]["ranking"]] == ["a", "c"]
        assert "documents returned twice are counted once: boots" in suite["notes"]
    else:
        assert status == 3
        assert '"a" is at rank 1 and at rank 2' in suite["queries"][0]["reason"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('params: {q: "{{text}}", skip: "4"}, first_page: {skip: 0}', ":3:77: a ranking begins at its first hit"),
        ('params: {q: "{{text}}", from: Berlin}, first_page: {from: 0}', ""),
        ('params: {q: "{{text}}", page: 1}, first_page: {page: [1]}', ":3:93: expected the value of 'page'"),
    ],
)
def test_a_suite_says_which_parameter_of_a_service_skips_hits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], written: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(
        'suite: shop\ntarget: {cluster: "http://127.0.0.1:9"}\n'
        f'request: {{http: {{path: /find, ids: "$[*].id", {written}}}}}\n'
        "queries: [{id: boots, text: rubber boots, judgments: {c: 3}}]\n"
    )
    assert main(["validate", "shop.relevance.yaml"]) == (2 if said else 0)
    assert said in capsys.readouterr().err


def test_a_value_of_a_query_that_skips_hits_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(
        'suite: shop\ntarget: {cluster: "http://127.0.0.1:9"}\n'
        'request: {http: {path: "/find/{{text}}", params: {p: "{{p}}"}, first_page: {p: 1}, ids: "$[*].id"}}\n'
        "queries: [{id: boots, text: rubber boots, params: {p: 3}, judgments: {c: 3}}]\n"
    )
    assert main(["run", "shop.relevance.yaml"]) == 2
    assert "cannot be filled for query 'boots': a ranking begins at its first hit" in capsys.readouterr().err
