"""
AWS Signature Version 4 as a server checks it, and the scripted engine behind such a check.

Written from "AWS Signature Version 4 for API requests" in the AWS Identity and Access Management User Guide, apart from
the example that signs.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

from builders.engine import ScriptedEngine

__all__ = ["check", "signing_server"]

SKEW = timedelta(minutes=5)
_HEADER = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<scope>[^,]+), SignedHeaders=(?P<names>[^,]+), "
    r"Signature=(?P<signature>[0-9a-f]{64})"
)


def check(
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Mapping[str, str],
    scope: str,
    now: datetime,
) -> str:
    """
    Why a request is refused; empty where its signature is right.

    Args:
        method: As sent, like *body*.
        target: The path and the parameters, as they stand in the request line.
        headers: By their names in lower case.
        body: The bytes.
        secrets: Secret access keys by their ids.
        scope: Region and service, as ``us-east-1/es``.
        now: The server's clock.
    """
    given = _HEADER.fullmatch(headers.get("authorization", ""))
    if given is None:
        return "no signature"
    time = headers.get("x-amz-date", "")
    if not re.fullmatch(r"\d{8}T\d{6}Z", time) or abs(datetime.strptime(time, "%Y%m%dT%H%M%S%z") - now) > SKEW:
        return "expired"
    if given["scope"] != f"{time[:8]}/{scope}/aws4_request" or given["key"] not in secrets:
        return "another scope or key"
    names = given["names"].split(";")
    if names != sorted(names) or not {"host", "x-amz-date"} <= set(names) or not set(names) <= set(headers):
        return "headers are not signed"
    if headers.get("x-amz-content-sha256", hashlib.sha256(body).hexdigest()) != hashlib.sha256(body).hexdigest():
        return "another body"
    path, _, query = target.partition("?")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    canonical = "\n".join(
        [
            method,
            quote(path, safe="/-_.~"),
            "&".join(sorted(f"{_encoded(name)}={_encoded(value)}" for name, _, value in pairs)),
            "".join(f"{name}:{re.sub(' +', ' ', headers[name].strip())}\n" for name in names),
            given["names"],
            hashlib.sha256(body).hexdigest(),
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = b"AWS4" + secrets[given["key"]].encode()
    for part in given["scope"].split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = f"AWS4-HMAC-SHA256\n{time}\n{given['scope']}\n{digest}"
    expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return "" if hmac.compare_digest(expected, given["signature"]) else "the signature does not match"


def _encoded(text: str) -> str:
    return quote(unquote(text), safe="-_.~")


@contextmanager
def signing_server(engine: ScriptedEngine, secrets: Mapping[str, str], scope: str) -> Iterator[tuple[str, list[str]]]:
    """The URL of a server that answers as *engine* does to signed requests alone, and why it refused others."""
    refused: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # see builders.engine

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            why = check(self.command, self.path, headers, body, secrets=secrets, scope=scope, now=datetime.now(UTC))
            if why:
                refused.append(why)
            status, content = (403, {"message": why}) if why else engine.reply(self.command, self.path, body)
            answer = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", refused
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
