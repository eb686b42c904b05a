"""A server with files and batches that does as it is told: the scripted stand-in for those of OpenAI's API."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from extensions.judging.builders.llm_server import Reply, build_body, find_document, grade

Lines = list[str]


class ScriptedBatches:
    """
    *answer* makes the answer to each question of a batch from the document's text.

    *faults* are statuses by call, such as "POST /batches", one each time; 0 closes the connection, and a status below 0
    is sent when the call was carried out. *spoil* makes what is answered of the lines of an output file, and *ending*
    is the status in which a batch ends, after it was asked for *polls* times.
    """

    def __init__(self, answer: Callable[[str], Reply] = lambda document: grade(1)) -> None:
        self.answer = answer
        self.faults: dict[str, list[int]] = {}
        self.spoil: Callable[[Lines], Lines] = lambda lines: lines
        self.error_lines: Lines = []
        self.ending = "completed"
        self.problems: list[str] = []
        self.polls = 0
        self.keeps_metadata = True
        self.calls: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The lines of all batches that were created: what is paid for."""
        return [json.loads(line) for batch in self.batches.values() for line in self._read_lines(batch)]

    @property
    def documents(self) -> list[str]:
        return sorted(find_document(question["body"]) for question in self.questions)

    def _read_lines(self, batch: dict[str, Any]) -> Lines:
        return batch["lines"]

    def take_call(self, method: str, path: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        route = urlsplit(path)
        name = re.sub(r"/(file|batch)-\d+", "/ID", route.path.removeprefix("/v1"))
        with self.lock:
            self.calls.append(f"{method} {name}")
            faults = self.faults.get(f"{method} {name}", [])
            fault = faults.pop(0) if faults else 200
            if fault < 0 or fault == 200:
                status, content = self._carry_out(f"{method} {name}", route, body, content_type)
            if fault != 200:
                error = {"error": {"message": "as scripted", "code": None}}
                return abs(fault) % 1000, json.dumps(error).encode()
            return status, content if isinstance(content, bytes) else json.dumps(content).encode()

    def _carry_out(self, call: str, route: Any, body: bytes, content_type: str) -> tuple[int, Any]:
        found = re.search(r"/((?:file|batch)-\d+)", route.path)
        name = found[1] if found else ""
        match call:
            case "POST /files":
                return 200, self._add_file(*_read_form(body, content_type))
            case "GET /files":
                return 200, self._list([self._show_file(file) for file in self.files], route.query)
            case "DELETE /files/ID" if name in self.files:
                del self.files[name]
                return 200, {"id": name, "object": "file", "deleted": True}
            case "GET /files/ID/content" if name in self.files:
                return 200, self.files[name][1]
            case "POST /batches":
                return self._create(json.loads(body))
            case "GET /batches":
                return 200, self._list([self._show_batch(batch) for batch in self.batches.values()], route.query)
            case "GET /batches/ID" if name in self.batches:
                self._go_on(self.batches[name])
                return 200, self._show_batch(self.batches[name])
        return 404, {"error": {"message": f"there is no {call}", "code": None}}

    def _add_file(self, name: str, content: bytes) -> dict[str, Any]:
        file = f"file-{len(self.files) + len(self.calls)}"
        self.files[file] = (name, content)
        return self._show_file(file)

    def _show_file(self, file: str) -> dict[str, Any]:
        return {"id": file, "object": "file", "filename": self.files[file][0], "created_at": int(time.time())}

    def _create(self, sent: dict[str, Any]) -> tuple[int, Any]:
        if sent["input_file_id"] not in self.files:
            return 400, {"error": {"message": "no such file", "code": None}}
        lines = self.files[sent["input_file_id"]][1].decode().splitlines()
        batch = {
            "id": f"batch-{len(self.batches) + 1}", "object": "batch", "status": "validating", "polls": self.polls,
            "lines": lines, "created_at": int(time.time()), **sent,
        }  # fmt: skip
        self.batches[batch["id"]] = batch
        return 200, self._show_batch(batch)

    def _show_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        hidden = {"lines", "polls"} if self.keeps_metadata else {"lines", "polls", "metadata"}
        return {key: value for key, value in batch.items() if key not in hidden}

    def _list(self, entries: list[dict[str, Any]], query: str) -> dict[str, Any]:
        """A page of at most two *entries*, the newest first."""
        entries = entries[::-1]
        after = parse_qs(query).get("after")
        if after:
            [place] = [number for number, entry in enumerate(entries) if entry["id"] == after[0]]
            entries = entries[place + 1 :]
        return {"object": "list", "data": entries[:2], "has_more": len(entries) > 2}

    def _go_on(self, batch: dict[str, Any]) -> None:
        total = len(batch["lines"])
        batch["polls"] -= 1
        if batch["polls"] >= 0:
            batch |= {"status": "in_progress", "request_counts": {"total": total, "completed": total // 2, "failed": 0}}
        elif batch["status"] != self.ending:
            batch["status"] = self.ending
            if self.problems:
                batch["errors"] = {"data": [{"code": "x", "message": problem} for problem in self.problems]}
            lines = self.spoil([self._answer(json.loads(line)) for line in batch["lines"]])
            if lines:
                batch["output_file_id"] = self._add_file("output", "\n".join(lines).encode())["id"]
            if self.error_lines:
                batch["error_file_id"] = self._add_file("errors", "\n".join(self.error_lines).encode())["id"]

    def _answer(self, question: dict[str, Any]) -> str:
        reply = self.answer(find_document(question["body"]))
        body = build_body(reply) if reply.body is None else json.loads(reply.body)
        response = {"status_code": reply.status, "request_id": "r", "body": body}
        return json.dumps({"id": "x", "custom_id": question["custom_id"], "response": response, "error": None})


def _read_form(body: bytes, content_type: str) -> tuple[str, bytes]:
    """The name and the content of the file in a form."""
    form = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    for part in form.get_payload():
        if part.get_filename():
            return part.get_filename(), part.get_payload(decode=True)
    raise AssertionError("the form has no file")


def _make_handler(server: ScriptedBatches) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, content = server.take_call(self.command, self.path, body, self.headers.get("Content-Type") or "")
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    return Handler
