"""Suites over HTTP from the file to the report: what a service says beside its hits decides thresholds."""

from __future__ import annotations

import pytest

pytest.importorskip("pytest_httpserver")

import base64
import json
from pathlib import Path
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.cli import main

SUITE = """\
suite: shop
request:
  http:
    path: /search
    params: {q: "{{text}}"}
    hits: $.hits
    ids: $.id
    scores: $.score
    sort: [$.score, $.rank]
    total: $.total.value
    total_exact: $.total.exact
    partial: $.partial
measures: [nDCG@3]
thresholds: [THRESHOLD]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, b: 1}}
"""


class Shop:
    """A service, the suite for it, and the report of a run."""

    def __init__(self, server: HTTPServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        toml = f'[clusters.default]\nurl = "{server.url_for("/")}"\nservice = "http"\n'
        (folder / "relevance.toml").write_text(toml, encoding="utf-8")

    def answer(self, hits: list[dict[str, Any]], **beside: Any) -> None:
        self._server.clear()
        self._server.expect_request("/search").respond_with_json({"hits": hits, "partial": False, **beside})

    def run(self, threshold: str, *, extra: str = "") -> tuple[int, dict[str, Any]]:
        """The exit status, and the report of the suite; *extra* is a further key of its request."""
        text = SUITE.replace("THRESHOLD", json.dumps(threshold)).replace("    hits:", f"{extra}    hits:")
        (self._folder / "shop.relevance.yaml").write_text(text, encoding="utf-8")
        status = main(["run", "shop.relevance.yaml", "-q", "--output", "json=report.json", "--output", "html=r.html"])
        [suite] = json.loads((self._folder / "report.json").read_text(encoding="utf-8"))["suites"]
        return status, suite


@pytest.fixture
def shop(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.chdir(tmp_path)
    return Shop(httpserver, tmp_path)


A, B = {"id": "a", "score": 2.0, "rank": 1}, {"id": "b", "score": 2.0, "rank": 2}
EXACT = {"value": 2, "exact": True}
LEAST = {"value": 2, "exact": False}


def test_partial_results_are_an_error_and_no_score(shop: Shop) -> None:
    shop.answer([], partial={"shard2": "timed out"}, total={"value": 0, "exact": True})

    status, suite = shop.run("mean nDCG@3 >= 0")
    [query] = suite["queries"]
    assert (status, query["outcome"], query["scores"]) == (3, "error", {"nDCG@3": None})
    assert query["failure"]["kind"] == "partial results"
    assert "only a part of the documents (`$.partial`: timed out)" in query["reason"]


@pytest.mark.parametrize(
    ("total", "threshold", "status"),
    [(EXACT, "hits <= 2", "passed"), (LEAST, "hits <= 2", "inconclusive"), (LEAST, "hits >= 2", "passed")],
)
def test_a_lower_bound_decides_what_it_can(shop: Shop, total: dict[str, Any], threshold: str, status: str) -> None:
    shop.answer([A, B], total=total)

    text = SUITE.replace("THRESHOLD", "mean nDCG@3 >= 0").replace("judgments:", f'expect: ["{threshold}"], judgments:')
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    main(["run", "shop.relevance.yaml", "-q", "--output", "json=report.json"])
    [suite] = json.loads(Path("report.json").read_text(encoding="utf-8"))["suites"]
    [found] = [verdict for verdict in suite["verdicts"] if verdict["threshold"] == threshold]
    assert found["status"] == status
    if status == "inconclusive":
        remedy = "the service counted at least 2 hits, required <= 2; make it count all"
        assert found["reason"] == f"cannot be decided: {remedy}"


def test_hits_of_equal_score_do_not_tie_where_the_order_says_more(shop: Shop) -> None:
    shop.answer([A, B], total=EXACT)
    shop.run("mean nDCG@3 >= 0.9")
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    shop.answer([B, A], total=EXACT)

    status, suite = shop.run("drop nDCG@3 <= 0.01")
    assert (status, suite["verdicts"][0]["status"]) == (1, "failed")
    shop.answer([A, {**B, "rank": 1}], total=EXACT)
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0
    shop.answer([{**B, "rank": 1}, A], total=EXACT)
    assert shop.run("drop nDCG@3 <= 0.01")[0] == 0


def test_latency_is_by_the_time_of_the_service_where_there_is_a_path(shop: Shop) -> None:
    shop.answer([A, B], total=EXACT, ms=7)

    status, suite = shop.run("max latency <= 6 ms", extra="    took: $.ms\n")
    [verdict] = suite["verdicts"]
    assert (status, verdict["timing"]["observed"]) == (1, 7.0)
    assert verdict["timing"]["reason"].startswith("max latency is 7 ms, required <= 6 ms")
    assert suite["notes"] == ["latency is the service's own time, at `$.ms` of each answer"]
    assert ">Took, ms<" in Path("r.html").read_text(encoding="utf-8")


def test_latency_is_to_the_last_byte_where_there_is_none(shop: Shop) -> None:
    shop.answer([A, B], total=EXACT, ms=7)

    status, suite = shop.run("max latency <= 5000 ms")
    [verdict], [query] = suite["verdicts"], suite["queries"]
    assert status == 0
    assert verdict["timing"]["observed"] == query["timing"]["to_last_byte"] > 0
    assert "took" not in query["timing"] or query["timing"]["took"] is None
    assert verdict["timing"]["reason"].startswith("max latency to the last byte is ")
    assert suite["notes"] == [
        "latency is the time to the last byte of each answer, with up to 4 requests at the same time, as the request "
        "has no path `took`"
    ]
    assert "To last byte, ms" in Path("r.html").read_text(encoding="utf-8")


def test_latency_of_one_request_after_the_other_names_no_others_at_the_same_time(shop: Shop) -> None:
    shop.answer([A, B], total=EXACT, ms=7)
    with Path("relevance.toml").open("a", encoding="utf-8") as file:
        file.write("concurrency = 1\n")

    _, suite = shop.run("max latency <= 5000 ms")
    note = "latency is the time to the last byte of each answer, as the request has no path `took`"
    assert suite["notes"] == [note]


@pytest.mark.parametrize(
    ("keys", "scheme", "masked"),
    [
        ('username_env = "SHOP_USER"\npassword_env = "SHOP_PASSWORD"\n', "Basic", "${SHOP_PASSWORD}"),
        ('api_key_env = "SHOP_KEY"\n', "ApiKey", "${SHOP_KEY}"),
    ],
)
def test_a_login_that_a_service_repeats_as_it_was_sent_is_masked_in_all_that_is_written(
    shop: Shop, httpserver: HTTPServer, capsys: pytest.CaptureFixture[str], keys: str, scheme: str, masked: str
) -> None:
    def respond(request: Request) -> Response:
        shown = request.headers["Authorization"]
        hit = {"id": "a", "score": 2.0, "rank": 1, "title": f"sent by {shown}"}
        return Response(json.dumps({"hits": [hit], "partial": False, "total": EXACT}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(respond)
    with Path("relevance.toml").open("a", encoding="utf-8") as file:
        file.write(keys)
    environ = {"SHOP_USER": "kim", "SHOP_PASSWORD": "s3cret-word", "SHOP_KEY": "an-id:a-k3y"}
    text = SUITE.replace("THRESHOLD", "mean nDCG@3 >= 0").replace("    hits:", "    titles: $.title\n    hits:")
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
        outputs = ["--output", "json=r.json", "--output", "html=r.html", "--journal", "r.journal"]
        assert main(["run", "shop.relevance.yaml", *outputs]) == 0
        assert main(["show", "shop.relevance.yaml", "shoes"]) == 0
    printed = capsys.readouterr().out
    assert f"sent by {scheme} {masked}" in " ".join(printed.split())
    login = environ["SHOP_KEY"] if scheme == "ApiKey" else "kim:s3cret-word"
    encoded = base64.b64encode(login.encode()).decode().rstrip("=")
    written = [path.read_text(encoding="utf-8") for path in Path().iterdir() if path.is_file()]
    assert len(written) >= 5
    assert not [text for text in (printed, *written) if encoded in text]


@pytest.mark.parametrize("is_compared", [False, True])
def test_a_value_of_a_field_is_kept_as_it_is_only_where_an_expectation_compares_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, is_compared: bool
) -> None:
    """The journal of a run, with a secret in one field, and in others that only the look-up by ids returns."""
    monkeypatch.setenv("RELEVANCE_TOKEN", "t0ken-value")
    shop.answer(
        [{**A, "echo": "t0ken-value", "brand": "acme", "more": "t0ken-value", "color": "red"}],
        total={**EXACT, "value": 1},
    )
    keys = '    headers: {X-Token: "${RELEVANCE_TOKEN}"}\n    fields: {echo: $.echo, brand: $.brand}\n    size: rows\n'
    keys += '    documents: {params: {id: "{{ids}}"}, fields: {more: $.more, color: $.color}}\n'
    field = "echo" if is_compared else "brand"
    text = SUITE.replace("THRESHOLD", "mean nDCG@3 >= 0").replace("    hits:", f"{keys}    hits:")
    expectations = f'["{field} = x in top 1", "color = x in top 1"]'
    text = text.replace("judgments: {a: 3, b: 1}", f"judgments: {{a: 3}}, expect: {expectations}")
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    main(["run", "shop.relevance.yaml", "--journal", "r.journal"])
    journal = Path("r.journal").read_text(encoding="utf-8")
    values = '{"color": ["red"], "echo": ["t0ken-value"]}' if is_compared else '{"color": ["red"], "brand": ["acme"]}'
    assert '"echo": "${RELEVANCE_TOKEN}"' in journal
    assert f'"values": {values}' in journal
    assert ("t0ken-value" in journal) is is_compared
    assert '"more": [' not in journal
