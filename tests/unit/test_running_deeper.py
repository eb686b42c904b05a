"""Documents that have several hits: each counts at its best one, and runs ask for more hits until there are enough."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.commands import run_to_report
from builders.suites import make_suite
from harness.cli import main
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking
from harness.model.run import Response as AnyResponse
from harness.model.suite import Query, Target
from harness.run.plan import plan_searches
from harness.run.streams import NeededHits
from harness.search.protocol import ResponseStream, StreamedResponse

SUITE = """\
suite: manuals
target: {ids: unique}
request:
  http:
    path: /search
    params: {q: "{{text}}"}
    hits: $.hits
    ids: $.doc
    scores: $.score
    total: $.total
    SIZE
depth: 4
measures: ["R@4"]
thresholds: ["mean R@4 >= 1"]
queries:
  - {id: valve, text: valve, judgments: {a: 1, b: 1, c: 1, d: 1}}
"""


class Chunks:
    """A service with chunks, each of a document, best first."""

    def __init__(self, documents: str) -> None:
        self.hits = [{"doc": document, "score": 100.0 - place} for place, document in enumerate(documents)]
        self.asked: list[int] = []
        self.reverses = False

    def respond(self, request: Request) -> Response:
        if "q" not in request.args:
            return Response(status=404)
        size = int(request.args.get("rows", 4))
        self.asked.append(size)
        hits = self.hits[:size]
        if self.reverses and size > 5:
            hits = hits[::-1]
        answer: dict[str, Any] = {"hits": hits, "total": len(self.hits)}
        return Response(json.dumps(answer), content_type="application/json")


@pytest.fixture
def make_service(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    toml = f'[clusters.default]\nurl = "{httpserver.url_for("/")}"\nservice = "http"\n'
    Path("relevance.toml").write_text(toml, encoding="utf-8")

    def make(documents: str, size: str = "size: rows") -> Chunks:
        Path("shop.relevance.yaml").write_text(SUITE.replace("SIZE", size), encoding="utf-8")
        service = Chunks(documents)
        httpserver.expect_request("/search").respond_with_handler(service.respond)
        return service

    return make


def list_notes(suite: dict[str, Any]) -> list[str]:
    return [note for note in suite["notes"] if "different documents" in note or "count once" in note]


def read_ranking(suite: dict[str, Any]) -> list[str]:
    return [document["id"] for document in suite["queries"][0]["ranking"]]


def test_more_hits_are_asked_for_until_there_are_enough_documents(make_service) -> None:
    service = make_service("aaabbbbbbbbcd" + "a" * 200)
    status, suite = run_to_report("--no-checks")
    assert (status, read_ranking(suite)) == (0, ["a", "b", "c", "d"])
    assert service.asked == [5, 100]
    assert list_notes(suite) == [
        "hits of one document count once, at the best: for 1 query (valve) up to 100 hits were asked for, "
        "to find 4 documents"
    ]


def test_the_search_goes_no_deeper_than_a_thousand_hits(make_service) -> None:
    service = make_service("ab" + "a" * 2000 + "cd")
    status, suite = run_to_report("--no-checks")
    assert (status, read_ranking(suite)) == (1, ["a", "b"])
    # The last one looks for the missing documents.
    assert service.asked == [5, 100, 1000, 1000]
    assert list_notes(suite)[1] == "1 query (valve) with fewer than 4 different documents among the hits"


def test_nothing_more_is_asked_for_where_the_service_has_no_more(make_service) -> None:
    service = make_service("aab")
    status, suite = run_to_report("--no-checks")
    # The second one looks for the missing documents.
    assert (status, service.asked) == (1, [5, 1000])
    assert list_notes(suite) == [
        "1 query (valve) with fewer than 4 different documents among the hits",
    ]
    assert "documents returned twice are counted once: valve" in suite["notes"]


def test_nothing_more_is_asked_for_where_there_are_enough(make_service) -> None:
    service = make_service("abcda" + "a" * 50)
    assert run_to_report("--no-checks")[0] == 0
    assert service.asked == [5]


def test_hits_of_another_order_are_not_taken(make_service) -> None:
    """An engine may rank otherwise with another size."""
    service = make_service("aaab" + "c" * 30 + "d")
    service.reverses = True
    status, suite = run_to_report("--no-checks")
    assert (status, read_ranking(suite)) == (1, ["a", "b", "c"])


def test_a_request_without_a_size_is_sent_once_and_that_is_told(make_service) -> None:
    service = make_service("aaabbbbbbbbcd", size="took: $.took")
    Path("shop.relevance.yaml").write_text(SUITE.replace("    SIZE\n", ""), encoding="utf-8")
    suite = run_to_report("--no-checks")[1]
    assert len(service.asked) == 1
    assert list_notes(suite)[0] == "1 query (valve) with fewer than 4 different documents among the hits"


def test_validate_names_collapse_for_an_engine(tmp_path: Path, capsys) -> None:
    body = '{query: {match: {body: "{{text}}"}}}'
    text = f"suite: s\ntarget: {{index: i, id_field: doc, ids: unique}}\nrequest: {body}\n"
    text += "queries: [{id: q, text: q, judgments: {a: 1}}]\n"
    path = tmp_path / "s.relevance.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["validate", str(path)]) == 0
    assert "`collapse: {field: doc}` in the request lets the engine do so" in capsys.readouterr().out
    path.write_text(text.replace("request: {", "request: {collapse: {field: doc}, "), encoding="utf-8")
    assert main(["validate", str(path)]) == 0
    assert "`collapse:" not in capsys.readouterr().out


class Source:
    """Gives the responses in their order; None is none."""

    def __init__(self, *responses: AnyResponse | None) -> None:
        self.responses = list(responses)

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        for place, request in enumerate(requests):
            response = self.responses.pop(0)
            if response is not None:
                yield StreamedResponse(place, request, response)


SHORT = Ranking((Hit("a", score=3.0), Hit("b", score=2.0)), total=50, duplicates=("a", "a", "b"))
BUSY = Failure(FailureKind.ERROR, "busy", 503)
TOO_LARGE = Failure(FailureKind.ERROR, "rows is too large", 500)


@pytest.mark.parametrize(
    ("deeper", "budget", "kind"),
    [
        ([BUSY], None, FailureKind.ERROR),
        ([Failure(FailureKind.TIMEOUT, "slow")], None, FailureKind.TIMEOUT),
        ([None], None, FailureKind.NOT_RUN),
        ([], 0.0, FailureKind.NOT_RUN),
        ([TOO_LARGE, TOO_LARGE], None, None),
    ],
)
def test_without_the_further_hits_there_is_no_ranking(
    deeper: list[AnyResponse | None], budget: float | None, kind: FailureKind | None
) -> None:
    """A size that the server does not take leaves the first hits; what may be answered later is an error."""
    suite = make_suite(Query("q", "valve", judgments={"a": 1}), depth=4, target=Target(index="i", unique_ids=True))
    plan = plan_searches(suite)
    [streamed] = NeededHits(Source(SHORT, *deeper), plan).stream(plan.requests, budget=budget)
    found = streamed.response.kind if isinstance(streamed.response, Failure) else None
    assert found is kind
