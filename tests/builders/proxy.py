"""A proxy for HTTP and, with CONNECT, for HTTPS; it notes what was asked of it."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Proxy:
    """With *login*, the value of a header, it refuses what comes without it. *asked* has method, target and login."""

    def __init__(self, login: str | None = None) -> None:
        self.login = login
        self.asked: list[tuple[str, str, str | None]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Forwards one connection's requests."""

    proxy: Proxy

    def do_GET(self) -> None:
        if self._is_let_in():
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
            kept = {k: v for k, v in self.headers.items() if k.lower() in ("authorization", "content-type")}
            request = urllib.request.Request(self.path, body, kept, method=self.command)
            try:
                with OPENER.open(request) as answer:
                    self._answer(answer.status, answer.read())
            except urllib.error.HTTPError as error:
                with error:
                    self._answer(error.code, error.read())

    def do_CONNECT(self) -> None:
        if not self._is_let_in():
            return
        host, _, port = self.path.partition(":")
        with socket.create_connection((host, int(port))) as server, contextlib.suppress(OSError):
            self._answer(200, b"")
            self._carry(server)

    def _carry(self, server: socket.socket) -> None:
        sockets = [self.connection, server]
        while True:
            for one in select.select(sockets, [], [], 5.0)[0]:
                content = one.recv(65536)
                if not content:
                    return
                sockets[one is self.connection].sendall(content)

    def _is_let_in(self) -> bool:
        login = self.headers.get("Proxy-Authorization")
        self.proxy.asked.append((self.command, self.path, login))
        if self.proxy.login in (None, login):
            return True
        self._answer(407, b"who are you?")
        return False

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if self.command != "CONNECT" or status != 200:
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.do_GET()
