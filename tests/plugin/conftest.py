"""
A server that speaks as much of an engine's HTTP as a run needs, and a small suite that runs on it.

It answers with the rankings it was given, so a test knows every score, and it counts what it was asked, so a test knows
how often a suite ran, in whichever process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

collect_ignore = ["examples"]  # run by tests, in folders of their own

# pytester forgets the modules that an inner run was the first to import, and some cannot be loaded twice.
for _name in (
    "harness.api",
    "harness.api.comparing",
    "harness.comparing.preparing",
    "harness.comparison.scores",
    "harness.report.terminal.comparison",
    "harness.report.html",
    "harness.report.json",
    "harness.report.terminal.report",
    "harness.running.searching",
    "harness.search.fixtures",
    "harness.search.opening",
    "harness.suites.loading",
    "harness.suites.requests",
    "scipy.optimize",
    "scipy.stats",
):
    importlib.import_module(_name)

ROOT = {"version": {"number": "9.4.3", "build_flavor": "default"}, "tagline": "You Know, for Search"}


class EngineServer:
    """
    *rankings* maps a query's text to its documents, best first, *on_index* an index and a text to others; *broken* maps
    a text to the status of an error, *answers* to an answer as it is.
    """

    def __init__(self) -> None:
        self.rankings: dict[str, Sequence[str]] = {"red shoes": ["a", "b", "c"], "rubber boots": ["e", "d"]}
        self.on_index: dict[tuple[str, str], Sequence[str]] = {}
        self.broken: dict[str, int] = {}
        self.answers: dict[str, object] = {}
        self.score: float | None = None
        """That of every hit, so that all tie; None gives each rank one of its own."""
        self.before_search: Callable[[], None] = lambda: None
        self.asked: Counter[str] = Counter()
        """How often each text was searched for, deeper searches for missing documents apart."""
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def search_all(self, lines: Sequence[bytes]) -> dict[str, object]:
        self.before_search()
        searches = zip(map(json.loads, lines[::2]), map(json.loads, lines[1::2]), strict=True)
        return {"took": 1, "responses": [self._search(body, head.get("index")) for head, body in searches]}

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _search(self, body: dict[str, object], index: str) -> object:
        text = body["query"]["match"]["title"]  # type: ignore[index]
        size = body.get("size", 10)
        if size == 10:
            with self._lock:
                self.asked[text] += 1
        if text in self.answers:
            return self.answers[text]
        if text in self.broken:
            status = self.broken[text]
            return {"status": status, "error": {"type": "parsing_exception", "reason": "no such thing"}}
        found = self.on_index.get((index, text)) or self.rankings[text]
        hits = [
            {"_index": "i", "_id": name, "_score": 9.0 - rank if self.score is None else self.score}
            for rank, name in enumerate(found[:size])
        ]
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        total = {"value": len(found), "relation": "eq"}
        return {"took": 1, "timed_out": False, "_shards": shards, "status": 200, "hits": {"total": total, "hits": hits}}


def _handler(engine: EngineServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(b"")

        def do_GET(self) -> None:
            self._answer(json.dumps(ROOT).encode())

        def do_POST(self) -> None:
            lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
            self._answer(json.dumps(engine.search_all(lines)).encode())

        def _answer(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # whoever asked may have been killed
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def engine() -> Iterator[EngineServer]:
    server = EngineServer()
    yield server
    server.close()


SUITE = """\
suite: shop
target: {{index: products}}
request:
  query: {{match: {{title: "{{{{text}}}}"}}}}
measures: ["nDCG@10"]
{more}
queries:
  - id: shoes
    text: red shoes
    tags: [head]
    judgments: {{a: 3, b: 1}}
    {shoes}
  - id: boots
    text: rubber boots
    tags: [tail]
    judgments: {{d: 3}}
    {boots}
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Callable[..., Path]:
    """
    Writes a suite of two queries: nDCG@10 of `shoes` is 1, of `boots` 1 / log2(3) = 0.6309, and their mean 0.8155.

    *more* are lines of the suite, *shoes* and *boots* a line of those queries.
    """

    def write(more: str = "", *, shoes: str = "", boots: str = "", name: str = "shop.relevance.yaml") -> Path:
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SUITE.format(more=more, shoes=shoes, boots=boots), encoding="utf-8")
        return path

    return write


@pytest.fixture
def run(
    pytester: pytest.Pytester, engine: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Runs pytest on the engine's server, warnings as errors, with no plugin but ours and those that are named."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def with_options(*options: str) -> pytest.RunResult:
        return pytester.runpytest("-p", "relevance", "--relevance-url", engine.url, "-W", "error", *options)

    return with_options


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of the outer run and the width of its terminal are no part of a test."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
