"""A server of a language model that answers as it is told: the scripted stand-in for OpenAI's API."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Reply:
    """
    What one call gets. *content* is the text of the answer, *body* the whole answer in place of one with that text.

    *status* None closes the connection. With *cut* the answer ends after so many bytes, with *pause* it comes in pieces
    so many seconds apart.
    """

    content: str | None = '{"reason": "on the subject", "grade": 1}'
    finish: str | None = "stop"
    refusal: str | None = None
    status: int | None = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    pause: float = 0.0
    usage: Mapping[str, int] | None = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10})
    model: str = "scripted-2026"


def refuse(status: int, message: str = "come back later", code: str | None = None, **headers: str) -> Reply:
    """An answer with an error *status*; *headers* have _ for -."""
    error = {"message": message, "type": "error", "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=json.dumps({"error": error}).encode(), headers=named)


def grade(number: object, reason: str = "because") -> Reply:
    return Reply(json.dumps({"reason": reason, "grade": number}))


class ScriptedModel:
    """
    *replies* are given first, one a call, then what *answer* makes of the document's text. *calls* are the bodies that
    were sent, *headers* those of the requests.
    """

    def __init__(self, *replies: Reply, answer: Callable[[str], Reply] = lambda document: Reply()) -> None:
        self.replies = list(replies)
        self.answer = answer
        self.calls: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.under_way = 0
        self.most_under_way = 0
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def take_reply(self, body: bytes) -> Reply:
        call = json.loads(body)
        with self.lock:
            self.calls.append(call)
            if self.replies:
                return self.replies.pop(0)
        return self.answer(find_document(call))

    @property
    def documents(self) -> list[str]:
        """What was shown of the document in each call."""
        return [find_document(call) for call in self.calls]


def build_body(reply: Reply) -> dict[str, Any]:
    """The answer of a chat with the text of *reply*."""
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    answer: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model,
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    }
    if reply.usage is not None:
        answer["usage"] = dict(reply.usage)
    return answer


def find_document(call: Mapping[str, Any]) -> str:
    found = re.search(r"BEGIN DOCUMENT (\w+)\n(.*?)\nEND DOCUMENT \1", call["messages"][-1]["content"], re.DOTALL)
    return found[2] if found else ""


def _make_handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            model.paths.append(self.path)
            with model.lock:
                model.under_way += 1
                model.most_under_way = max(model.most_under_way, model.under_way)
            try:
                self._give(model.take_reply(body))
            finally:
                with model.lock:
                    model.under_way -= 1

        def _give(self, reply: Reply) -> None:
            if reply.status is None:
                self.close_connection = True
                return
            content = reply.body
            if content is None:
                content = json.dumps(build_body(reply)).encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.cut is not None:
                self.close_connection = True
            with contextlib.suppress(ConnectionError):  # whoever asked may have given up
                step = 20 if reply.pause else len(content) or 1
                sent = content if reply.cut is None else content[: reply.cut]
                for begin in range(0, len(sent), step):
                    model.closing.wait(reply.pause)
                    self.wfile.write(sent[begin : begin + step])
                    self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    return Handler
