"""
A page of this machine's own: a small server that gives out its files, and does what the page asks for.

Whoever asks for an action sends a secret token as a header, which a page of another origin cannot. The token is in the
fragment of a link, which browsers send to nobody and servers log nowhere; the page and its files hold no secret. The
``Host`` has to be one of the server's own, against DNS rebinding, and so have ``Origin`` and ``Sec-Fetch-Site`` where a
browser sends them.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.errors import HarnessError, missing_package
from harness.local_server.access import Access
from harness.local_server.addresses import Address
from harness.local_server.slow_requests import LOOKED_AFTER, limit_requests

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from waitress.server import BaseWSGIServer
    from werkzeug import Request

__all__ = ["Action", "Asset", "LocalServer", "RefusedAction", "Site", "require_installed"]

TOKEN_HEADER = "X-Relevance-Token"
THREADS = 16
"""Requests that are answered at the same time: most of them wait, for a disk or an engine."""
_MOST_CONNECTIONS = 500
"""A browser holds six of them open. With more users than there are places, the last ones would wait."""
LONGEST_IDLE = 30
"""Seconds after which a connection is closed on which nothing is asked; pages ask every two seconds."""
LONGEST_FLUSH = 2.0
"""Seconds that closing waits for the last answers to be sent."""

Asset: TypeAlias = tuple[str, str, str]
"""A file that anybody may have: its media type, the package that it is in, and its name there."""

Route: TypeAlias = tuple[str, str]
"""A method and a path."""

Action: TypeAlias = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""What a page asks for: takes the user and what the page sent, and returns the answer as JSON values."""

SHARED_ASSETS: Mapping[str, Asset] = {
    "/report.css": ("text/css", "harness.report.html", "templates/report.css"),
    "/controls.css": ("text/css", "harness.local_server.page", "controls.css"),
    "/server.js": ("text/javascript", "harness.local_server.page", "server.js"),
    "/elements.js": ("text/javascript", "harness.local_server.page", "elements.js"),
    "/grades.js": ("text/javascript", "harness.local_server.page", "grades.js"),
}
"""What each page may load. The colors and the type are those of the reports."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; {images}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy: pictures come from the hosts of the site, all else from the server itself."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def require_installed(what_needs: str) -> None:
    """
    Check that a page can be served, before any search is sent for it.

    Args:
        what_needs: The beginning of the sentence of the error, such as "the judging page needs".

    Raises:
        UsageError: A package is not installed.
    """
    try:
        import werkzeug  # noqa: F401
    except ImportError:
        raise missing_package(what_needs, "werkzeug", "judge") from None
    try:
        import waitress  # noqa: F401
    except ImportError:
        raise missing_package(what_needs, "waitress", "judge") from None


class RefusedAction(Exception):
    """An action did nothing; the page gets the *status* and the *answer*, JSON values with a sentence as `error`."""

    def __init__(self, status: int, answer: dict[str, Any]) -> None:
        super().__init__(answer["error"])
        self.status = status
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Site:
    """What a server gives out, and does."""

    assets: Mapping[str, Asset]
    """By path; the page itself is at ``/``."""
    actions: Mapping[Route, Action]
    most_bytes: int
    """Of a request."""
    image_hosts: tuple[str, ...] = ()
    """Where pictures may come from, beside the server itself."""
    not_kept: str = "this could not be kept"
    """The beginning of the sentence on a file that could not be written."""


@dataclass(slots=True)
class LocalServer:
    """Serves the *site* until it is closed, to whoever has a token that *access* knows."""

    site: Site
    access: Access
    address: Address = field(default_factory=Address)
    finished: threading.Event = field(default_factory=threading.Event)
    """Set after the answer to an action that called `finish`."""
    _is_over: bool = False
    _http: BaseWSGIServer | None = None
    _thread: threading.Thread | None = None
    _channels: dict[int, Any] = field(default_factory=dict)
    """The connections of *_http*, and what it listens on."""

    def start(self) -> None:
        """
        Start to answer requests.

        Raises:
            UsageError: The address cannot be used.
        """
        from waitress.server import create_server

        # It warns where requests wait for a thread, which is no matter for who reads the terminal.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        listening, self.address = self.address.listen()
        self._http = create_server(
            self,
            map=self._channels,
            sockets=[listening],
            threads=THREADS,
            connection_limit=_MOST_CONNECTIONS,
            channel_timeout=LONGEST_IDLE,
            cleanup_interval=LOOKED_AFTER,
            # The other way to wait for connections takes no more than 1,024 files of a process.
            asyncore_use_poll=True,
            ident=None,
            max_request_body_size=self.site.most_bytes,
            clear_untrusted_proxy_headers=True,
        )
        limit_requests(self._http)
        self._thread = threading.Thread(target=self._http.run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Set `finished` after the answer that is being made: the process may end then, as the page knows it."""
        self._is_over = True

    def close(self) -> None:
        """Stop answering, after the last answers were sent."""
        if self._http is None or self._thread is None:
            return
        deadline = time.monotonic() + LONGEST_FLUSH
        while time.monotonic() < deadline:
            channels = list(self._channels.values())
            if not any(getattr(channel, "total_outbufs_len", 0) for channel in channels):
                break
            time.sleep(0.01)
        self._http.task_dispatcher.shutdown(timeout=LONGEST_FLUSH)
        # In the thread that reads from the connections, which ends when there is none. An answer that was sent just now
        # may wake it first: then it has closed what would wake it.
        with suppress(OSError):
            self._http.trigger.pull_trigger(self._close_channels)
        self._thread.join(LONGEST_FLUSH)

    def _close_channels(self) -> None:
        """Close the connections, and what they come from."""
        for channel in list(self._channels.values()):
            channel.close()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, as a WSGI application."""
        from werkzeug import Request, Response
        from werkzeug.exceptions import HTTPException

        request = Request(environ)
        request.max_content_length = self.site.most_bytes
        try:
            status, kind, content = self._answer(request)
        except HTTPException as error:
            status, kind, content = error.code or 400, "text/plain", f"{error.name}\n"
        images = " ".join(("img-src data:", *self.site.image_hosts))
        headers = {**HEADERS, "Content-Security-Policy": POLICY.format(images=images)}
        response = Response(content, status=status, content_type=f"{kind}; charset=utf-8", headers=headers)
        if self._is_over:
            response.call_on_close(self.finished.set)
        return response(environ, start_response)

    def _answer(self, request: Request) -> tuple[int, str, str]:
        """Status, media type and content."""
        if self._is_from_elsewhere(request):
            return 403, "text/plain", "the request comes from another page, or is for another host\n"
        if request.method == "GET" and request.path in self.site.assets:
            kind, package, name = self.site.assets[request.path]
            return 200, kind, (resources.files(package) / name).read_text(encoding="utf-8")
        user = self.access.find_user(request.headers.get(TOKEN_HEADER, ""))
        if user is None:
            return 403, "text/plain", "the link is not complete, or does not hold any more; ask for a new one\n"
        action = self.site.actions.get((request.method, request.path))
        if action is None:
            return 404, "text/plain", "there is no such page\n"
        try:
            sent = _read_body(request) if request.method == "POST" else dict(request.args)
        except RefusedAction as error:
            return error.status, "application/json", json.dumps(error.answer)
        status, answer = self._act(action, user, sent)
        return status, "application/json", json.dumps(answer)

    def _is_from_elsewhere(self, request: Request) -> bool:
        """Whether the request is for another host, or comes from another page than this server's."""
        if request.headers.get("Host") not in self.address.hosts:
            return True
        origin = request.headers.get("Origin")
        if origin is not None and origin not in self.address.origins:
            return True
        # A link may be opened from anywhere, such as a terminal or a mail; all else is the page's own.
        is_opened = request.method == "GET" and request.path == "/"
        return request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none") and not is_opened

    def _act(self, action: Action, user: str, sent: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the answer for the *user* whose page asks for *action*, and has *sent* what goes with it."""
        try:
            return 200, action(user, sent)
        except RefusedAction as error:
            return error.status, error.answer
        except HarnessError as error:
            return 422, {"error": str(error)}
        except OSError as error:
            return 500, {"error": f"{self.site.not_kept}: {error.strerror or error}"}


def _read_body(request: Request) -> dict[str, Any]:
    """
    The object that the page sent, empty where it sent nothing.

    Raises:
        BadRequest: It is no object.
        RefusedAction: It has half a character, as an escape in JSON may be; it can be written nowhere.
    """
    from werkzeug.exceptions import BadRequest

    if not request.get_data():
        return {}
    try:
        body = request.get_json(silent=True)
        json.dumps(body, ensure_ascii=False).encode()
    except RecursionError:
        raise BadRequest from None
    except UnicodeEncodeError:
        raise RefusedAction(400, {"error": "found half a character, expected whole ones"}) from None
    if not isinstance(body, dict):
        raise BadRequest
    return body
