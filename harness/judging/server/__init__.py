"""
The server of the judging page, for one judge on this machine.

It answers only the page itself. A token, new with each start, is part of the page's address, and the page sends it as a
header, which a page of another origin cannot. The ``Host`` has to be the server's own, against DNS rebinding, and so
have ``Origin`` and ``Sec-Fetch-Site`` where a browser sends them.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, UsageError, missing_package
from harness.judging.server.actions import ACTIONS
from harness.judging.session import JudgeView, RefusedGrade
from harness.judging.writing import FilesChanged

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from werkzeug import Request
    from werkzeug.serving import BaseWSGIServer

__all__ = ["JudgingServer", "require_installed"]

HOST = "127.0.0.1"
TOKEN = "X-Judging-Token"
MOST_BYTES = 64 * 1024
"""Bytes of a request, which holds one grade."""

FINISH = ("POST", "/finish")

SCRIPTS = (
    "judge.js",
    "adjudicate.js",
    "document.js",
    "elements.js",
    "lists.js",
    "server.js",
    "states.js",
    "team.js",
)
"""The first one loads the others."""

ASSETS = {
    "/judge.css": ("text/css", ("harness.judging.page", "judge.css")),
    **{f"/{name}": ("text/javascript", ("harness.judging.page", name)) for name in SCRIPTS},
    "/report.css": ("text/css", ("harness.report.html", "templates/report.css")),
}
"""The colors and the type are those of the reports."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def require_installed() -> None:
    """
    Check that the page can be served, before any search is sent for it.

    Raises:
        UsageError: The package werkzeug is not installed.
    """
    try:
        import werkzeug  # noqa: F401
    except ImportError:
        raise missing_package("the judging page needs", "werkzeug", "judge") from None


@dataclass(slots=True)
class JudgingServer:
    """
    Serves *view* until it is closed; *write* writes the grades to their files and returns sentences on that.

    *finished* is set when the judge has finished. With *port* 0 the system chooses the port.
    """

    view: JudgeView
    write: Callable[[], list[str]]
    reread: Callable[[], None]
    """Accepts files that changed meanwhile, as they are now."""
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    finished: threading.Event = field(default_factory=threading.Event)
    said: list[str] = field(default_factory=list)
    """The last sentences of *write*."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _http: BaseWSGIServer | None = None
    _over: bool = False

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def start(self) -> None:
        """
        Start to answer requests.

        Raises:
            UsageError: The port is taken.
        """
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            """Logs no requests, whose addresses hold the token."""

            def log(self, type: str, message: str, *args: Any) -> None:
                """Nothing."""

        try:
            server = socket.create_server((HOST, self.port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"port {self.port} cannot be used: {reason}; choose another --port") from None
        # werkzeug exits the process where it cannot bind a port, so it gets a socket that is bound already.
        with server:
            self.port = server.getsockname()[1]
            self._http = make_server(HOST, 0, self, threaded=True, request_handler=Quiet, fd=server.fileno())
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, as a WSGI application."""
        from werkzeug import Request, Response
        from werkzeug.exceptions import HTTPException

        request = Request(environ)
        request.max_content_length = MOST_BYTES
        try:
            status, kind, content = self._answer(request)
        except HTTPException as error:
            status, kind, content = error.code or 400, "text/plain", f"{error.name}\n"
        response = Response(content, status=status, content_type=f"{kind}; charset=utf-8", headers=HEADERS)
        # The process may end once the judge has finished, but not before the page knows it.
        if self._over:
            response.call_on_close(self.finished.set)
        return response(environ, start_response)

    def _answer(self, request: Request) -> tuple[int, str, str]:
        """Status, media type and content."""
        refusal = self._explain_refusal(request)
        if refusal:
            return 403, "text/plain", f"{refusal}\n"
        if request.method == "GET" and request.path in ASSETS:
            kind, (package, name) = ASSETS[request.path]
            return 200, kind, (resources.files(package) / name).read_text(encoding="utf-8")
        if request.method == "GET" and request.path == "/":
            return (
                200,
                "text/html",
                (resources.files("harness.judging.page") / "judge.html").read_text(encoding="utf-8"),
            )
        place = (request.method, request.path)
        if place not in ACTIONS and place != FINISH:
            return 404, "text/plain", "there is no such page\n"
        # Read before the lock is taken: a body may never arrive.
        given = _read_body(request)
        with self._lock:
            status, answer = self._act(place, given)
        return status, "application/json", json.dumps(answer)

    def _explain_refusal(self, request: Request) -> str:
        """Why the request is not from the page; empty if it is."""
        hosts = (f"{HOST}:{self.port}", f"localhost:{self.port}")
        if request.headers.get("Host") not in hosts:
            return "the host is not this page's"
        origins = [f"http://{host}" for host in hosts]
        if request.headers.get("Origin", origins[0]) not in origins:
            return "the request comes from another page"
        # The address of the page may be opened from anywhere, such as a terminal or a mail; all else is the page's own.
        opens = request.method == "GET" and request.path == "/"
        if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none") and not opens:
            return "the request comes from another page"
        token = request.args.get("token", "") if opens else request.headers.get(TOKEN, "")
        if request.path not in ASSETS and not hmac.compare_digest(token.encode(), self.token.encode()):
            return "the token is missing or wrong; open the address that the command printed"
        return ""

    def _act(self, place: tuple[str, str], given: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        try:
            if place == FINISH:
                return 200, self._finish(given)
            return 200, ACTIONS[place](self.view, given)
        except FilesChanged as error:
            return 409, {"error": str(error), "changed": True}
        except RefusedGrade as error:
            scale = [choice.grade for choice in self.view.task.choices]
            return 400, {"error": str(error), "scale": scale}
        except HarnessError as error:
            return 422, {"error": str(error)}
        except OSError as error:
            return 500, {"error": f"the grade could not be kept: {error.strerror or error}"}

    def _finish(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if given.get("reread") is True:
            self.reread()
        self.said = self.write()
        self._over = True
        return {"said": self.said}


def _read_body(request: Request) -> dict[str, Any]:
    """The object that the page sent, empty where it sent nothing; raises BadRequest for anything else."""
    from werkzeug.exceptions import BadRequest

    if not request.get_data():
        return {}
    try:
        body = request.get_json(silent=True)
    except RecursionError:
        raise BadRequest from None
    if not isinstance(body, dict):
        raise BadRequest
    return body
