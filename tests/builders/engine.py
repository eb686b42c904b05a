"""
An engine whose answers a test writes: a server that speaks as much of an engine's HTTP as a run needs.

It answers with the rankings it was given, so a test knows every score, and counts what it was asked, so a test knows
how often a suite ran, in whichever process. What an engine would never say can be said too: an item, a whole answer, a
status, a connection that closes.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO, Self, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

__all__ = ["ROOT", "SHARDS", "Fault", "ScriptedEngine", "item_of"]

ROOT = {"version": {"number": "9.4.3", "build_flavor": "default"}, "tagline": "You Know, for Search"}
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}

Found: TypeAlias = Sequence["str | tuple[str, float | None]"]
"""Documents, best first; one without a score gets that of its rank: 9, 8, 7 …"""


@dataclass
class Fault:
    """
    What the next *times* requests to a path that begins with *path* get instead of an answer, be it that of an index.

    *status* None closes the connection. *body* is sent as it is, *headers* with it; the answer itself where there is no
    *body*. With *pause* the body comes a byte at a time, so many seconds apart.
    """

    path: str = "/_msearch"
    status: int | None = 503
    times: int = 1
    body: bytes | None = b'{"error": {"type": "unavailable", "reason": "come back later"}}'
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0


class ScriptedEngine:
    """
    *rankings* maps a query's text to its documents, best first, *on_index* an index and a text to others; *broken* maps
    a text to the status of an error, *answers* to an item of `_msearch` as it is. *change_all* is given the whole
    answer to an `_msearch` and gives what is sent. *gets* maps a path to the answer to a GET; other paths get *root*.
    *faults* come before any answer, each as often as it says. *headers* are sent with each answer.
    """

    def __init__(self) -> None:
        self.rankings: dict[str, Found] = {"red shoes": ["a", "b", "c"], "rubber boots": ["e", "d"]}
        self.on_index: dict[tuple[str, str], Found] = {}
        self.broken: dict[str, int] = {}
        self.answers: dict[str, object] = {}
        self.change_all: Callable[[dict[str, Any]], object] = lambda answer: answer
        self.gets: dict[str, object] = {}
        self.root: object = ROOT
        self.templates: dict[str, object] = {}
        """The source of each stored template."""
        self.stands_for: dict[str | None, str] = {}
        """The index that the hits of an alias are in."""
        self.unmapped: set[str] = set()
        """Fields that no index has."""
        self._held: set[str] = set()
        self.hidden: set[str] = set()
        """Documents that no look-up finds."""
        self.faults: list[Fault] = []
        self.headers: dict[str, str] = {"X-Elastic-Product": "Elasticsearch"}
        self.login: str | None = None
        """The `Authorization` without which nothing is answered."""
        self.score: float | None = None
        """That of every hit which has none of its own, so that all tie; None gives each rank another."""
        self.before_search: Callable[[], None] = lambda: None
        self.asked: Counter[str] = Counter()
        """How often each text was searched for, deeper searches for missing documents apart."""
        self.sent: list[tuple[str, str]] = []
        """The method and path of each request, in the order in which they came."""
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        """The status and the content that answer a request which meets no fault."""
        if path == "/_render/template":
            return 200, {"template_output": self.fill(json.loads(body))}
        if method == "POST":
            return 200, self.search_all(body.splitlines(), unquote(split_index(path)[0]) or None)
        if path.partition("?")[0].endswith("/_field_caps") and path not in self.gets:
            return 200, self.field_caps(path)
        return 200, self.gets.get(path, self.root)

    def field_caps(self, path: str) -> object:
        """That the index has the fields that *path* names, but the *unmapped* ones; of all it has a title."""
        [names] = parse_qs(urlsplit(path).query)["fields"]
        named = {"title"} if names == "*" else set(names.split(",")) - self.unmapped
        return {"indices": ["i"], "fields": {one: {"text": {"type": "text"}} for one in sorted(named)}}

    def search_all(self, lines: Sequence[bytes], index: str | None) -> object:
        self.before_search()
        searches = zip(map(json.loads, lines[::2]), map(json.loads, lines[1::2]), strict=True)
        return self.change_all(
            {"took": 1, "responses": [self.search(body, head.get("index", index)) for head, body in searches]}
        )

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def take_fault(self, method: str, path: str) -> Fault | None:
        """The fault that this request meets, if any; it is used up then."""
        with self._lock:
            self.sent.append((method, path))
            _, endpoint = split_index(path)
            met = next(
                (
                    fault
                    for fault in self.faults
                    if fault.times > 0 and (path.startswith(fault.path) or endpoint.startswith(fault.path))
                ),
                None,
            )
            if met is not None:
                met.times -= 1
            return met

    def search(self, body: dict[str, Any], index: str) -> object:
        """The item that answers one search of an `_msearch`, or of an `_msearch/template` with its source."""
        body = self.fill(body)
        size = body.get("size", 10)
        if "ids" in body["query"]:
            return item_of([name for name in body["query"]["ids"]["values"] if name in self.documents()], size=size)
        if "match_all" in body["query"]:
            return item_of(sorted(self.documents()), size=size)
        text = body["query"]["match"]["title"]
        wanted = filtered_ids(body)
        if size < 1000 and wanted is None:
            with self._lock:
                self.asked[text] += 1
        if text in self.answers:
            return self.answers[text]
        if text in self.broken:
            status = self.broken[text]
            return {"status": status, "error": {"type": "parsing_exception", "reason": "no such thing"}}
        found = self.on_index.get((index, text)) or self.rankings.get(text)
        if found is None:
            # An exception would close the connection, and the run would send the search again for a minute.
            return {"status": 400, "error": {"type": "no_ranking", "reason": f"no ranking of {text!r} was given"}}
        if wanted is not None:
            found = [one for one in found if (one if isinstance(one, str) else one[0]) in wanted]
        return item_of(found, size=size, score=self.score, index=self.stands_for.get(index, index) or "i")

    def fill(self, body: dict[str, Any]) -> dict[str, Any]:
        """*body*, or what it becomes if it is a search template, with its source or the id of a stored one."""
        if "id" in body:
            body = {**body, "source": self.templates[body["id"]]}
        return filled(body) if "source" in body else body

    def documents(self) -> set[str]:
        """Those of every ranking that there is or was before, without the ones that are *hidden*."""
        every = [*self.rankings.values(), *self.on_index.values()]
        self._held |= {one if isinstance(one, str) else one[0] for found in every for one in found}
        return self._held - self.hidden


def split_index(path: str) -> tuple[str, str]:
    """The index that the path of an `_msearch` names, empty for none, and the rest of the path."""
    index, separator, rest = path.partition("/_msearch")
    return (index[1:], separator + rest) if separator else ("", path)


def filled(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a search template, a map, with its texts filled in."""
    source = json.dumps(body["source"])
    for name, value in body["params"].items():
        source = source.replace("{{" + name + "}}", json.dumps(value)[1:-1] if isinstance(value, str) else str(value))
    found: dict[str, Any] = json.loads(source)
    return found


def filtered_ids(body: Mapping[str, Any]) -> list[str] | None:
    """The ids of the filter with which a run asks which documents match; None in any other search."""
    filters = body.get("post_filter", {}).get("bool", {}).get("filter", [{}])
    wanted: list[str] | None = filters[0].get("ids", {}).get("values")
    return wanted


def item_of(
    found: Found, *, size: int = 10, score: float | None = None, total: int | None = None, index: str = "i"
) -> dict[str, Any]:
    """The item of a sound `_msearch` answer that holds the first *size* of *found*, which are in *index*."""
    scored = [
        (one, 9.0 - rank if score is None else score) if isinstance(one, str) else one for rank, one in enumerate(found)
    ]
    hits = [{"_index": index, "_id": name, "_score": value} for name, value in scored[:size]]
    counted = {"value": len(scored) if total is None else total, "relation": "eq"}
    return {
        "took": 1,
        "timed_out": False,
        "_shards": dict(SHARDS),
        "status": 200,
        "hits": {"total": counted, "hits": hits},
    }


def _write(file: BinaryIO, content: bytes, pause: float, ended: threading.Event) -> None:
    step = 1 if pause else len(content) or 1
    for begin in range(0, len(content), step):
        file.write(content[begin : begin + step])
        ended.wait(pause)


def _handler(engine: ScriptedEngine) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else the body waits 40 ms for the client to acknowledge the head

        def give(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = engine.take_fault(self.command, self.path)
            if engine.login not in (None, self.headers.get("Authorization")):
                self._send(401, b'{"error": "no login"}', {})
            elif fault is None:
                self._send(*self._answer(body), {})
            elif fault.status is None:
                self.close_connection = True
            else:
                content = self._answer(body)[1] if fault.body is None else fault.body
                self._send(fault.status, content, fault.headers, pause=fault.pause)

        def _answer(self, body: bytes) -> tuple[int, bytes]:
            status, content = engine.reply(self.command, self.path, body)
            return status, b"" if self.command == "HEAD" else json.dumps(content).encode()

        def _send(self, status: int, content: bytes, headers: Mapping[str, str], *, pause: float = 0.0) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in {**engine.headers, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # whoever asked may have been killed
                _write(self.wfile, content, pause, engine.closing)

        def log_message(self, *_: object) -> None:
            pass

    for method in ("HEAD", "GET", "PUT", "POST", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.give)
    return Handler
