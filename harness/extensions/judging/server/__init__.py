"""
The server of the judging page, for one judge on this machine or for several.

Whoever asks for what is judged, or grades, sends a secret token as a header, which a page of another origin cannot. The
token is in the fragment of a judge's link, which browsers send to nobody and servers log nowhere; the page and its
files hold no secret. The ``Host`` has to be one of the server's own, against DNS rebinding, and so have ``Origin`` and
``Sec-Fetch-Site`` where a browser sends them.
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
from typing import TYPE_CHECKING, Any, Protocol

from harness.errors import HarnessError, missing_package
from harness.extensions.judging.server.access import Access
from harness.extensions.judging.server.actions import ACTIONS, describe_grade
from harness.extensions.judging.server.addresses import Address
from harness.extensions.judging.server.slow_requests import LOOKED_AFTER, limit_requests
from harness.extensions.judging.server.views import ServedJudge, ServedJudges
from harness.extensions.judging.session import RefusedGrade
from harness.extensions.judging.writing import FilesChanged
from harness.words import count

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment
    from waitress.server import BaseWSGIServer
    from werkzeug import Request

__all__ = ["JudgingServer", "require_installed"]

_TOKEN = "X-Judging-Token"
_MOST_BYTES = 64 * 1024
"""Bytes of a request, which holds one grade."""
THREADS = 16
"""Requests that are answered at the same time: a grade waits for the disk, not for the processor."""
_MOST_CONNECTIONS = 500
"""A browser holds six of them open. With more judges than there are places, the last ones would wait."""
LONGEST_IDLE = 30
"""Seconds after which a connection is closed on which nothing is asked; pages ask every two seconds."""
LONGEST_FLUSH = 2.0
"""Seconds that closing waits for the last answers to be sent."""

FINISH = ("POST", "/finish")
CHANGES = ("GET", "/changes")

SCRIPTS = (
    "judge.js",
    "adjudicate.js",
    "document.js",
    "elements.js",
    "find.js",
    "lists.js",
    "server.js",
    "states.js",
    "team.js",
)
"""The first one loads the others."""

ASSETS = {
    "/": ("text/html", ("harness.extensions.judging.page", "judge.html")),
    "/judge.css": ("text/css", ("harness.extensions.judging.page", "judge.css")),
    **{f"/{name}": ("text/javascript", ("harness.extensions.judging.page", name)) for name in SCRIPTS},
    "/report.css": ("text/css", ("harness.report.html", "templates/report.css")),
}
"""The colors and the type are those of the reports."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; {images}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy: pictures come from the hosts that the suite names, all else from the server itself."""

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def require_installed() -> None:
    """
    Check that the page can be served, before any search is sent for it.

    Raises:
        UsageError: A package is not installed.
    """
    try:
        import werkzeug  # noqa: F401
    except ImportError:
        raise missing_package("the judging page needs", "werkzeug", "judge") from None
    try:
        import waitress  # noqa: F401
    except ImportError:
        raise missing_package("the judging page needs", "waitress", "judge") from None


class GradeWriter(Protocol):
    """Where grades are written."""

    def write(self) -> list[str]:
        """Write the grades to their files; returns sentences on that."""

    def reread(self) -> None:
        """Accept files that changed meanwhile, as they are now."""


@dataclass(slots=True)
class JudgingServer:
    """
    Serves *judges* until it is closed, each to whoever has the token that *access* knows.

    A judge who finishes is done. If *ends* is set, the grades are written then, *finished* is set, and nothing more is
    kept; else only the judge who settles writes grades, and judging goes on.
    """

    judges: ServedJudges
    access: Access
    target: GradeWriter
    address: Address = field(default_factory=Address)
    ends: bool = False
    tell: Callable[[str], object] = str
    """Receives sentences on judges who are done, for the terminal; does nothing with them by default."""
    finished: threading.Event = field(default_factory=threading.Event)
    said: list[str] = field(default_factory=list)
    """The last sentences on the grades that were written."""
    _over: bool = False
    _write_lock: threading.Lock = field(default_factory=threading.Lock)
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
            max_request_body_size=_MOST_BYTES,
            clear_untrusted_proxy_headers=True,
        )
        limit_requests(self._http)
        self._thread = threading.Thread(target=self._http.run, daemon=True)
        self._thread.start()

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
        request.max_content_length = _MOST_BYTES
        try:
            status, kind, content = self._answer(request)
        except HTTPException as error:
            status, kind, content = error.code or 400, "text/plain", f"{error.name}\n"
        view = next(iter(self.judges.by_name.values())).view
        images = " ".join(("img-src data:", *view.task.suite.display.image_hosts))
        headers = {**HEADERS, "Content-Security-Policy": POLICY.format(images=images)}
        response = Response(content, status=status, content_type=f"{kind}; charset=utf-8", headers=headers)
        # The process may end once the judge has finished, but not before the page knows it.
        if self._over:
            response.call_on_close(self.finished.set)
        return response(environ, start_response)

    def _answer(self, request: Request) -> tuple[int, str, str]:
        """Status, media type and content."""
        if self._is_from_elsewhere(request):
            return 403, "text/plain", "the request comes from another page, or is for another host\n"
        if request.method == "GET" and request.path in ASSETS:
            kind, (package, name) = ASSETS[request.path]
            return 200, kind, (resources.files(package) / name).read_text(encoding="utf-8")
        judge = self.access.find_judge(request.headers.get(_TOKEN, ""))
        # A link may have been granted by an earlier command, which served other judges.
        if judge is None or judge not in self.judges.by_name:
            return 403, "text/plain", "the link is not complete, or does not hold any more; ask for a new one\n"
        route = (request.method, request.path)
        if route not in ACTIONS and route not in (FINISH, CHANGES):
            return 404, "text/plain", "there is no such page\n"
        sent = _read_body(request) if request.method == "POST" else dict(request.args)
        status, answer = self._act(judge, route, sent)
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

    def _act(self, name: str, route: tuple[str, str], sent: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """
        The status and the answer, as JSON values, to the judge *name*, whose page asks for *route*, a method and a
        path, and has *sent* what goes with it.
        """
        try:
            if route == FINISH:
                return 200, self._finish(name, sent)
            if route == CHANGES:
                return 200, self._show_changes(name, sent)
            return 200, self._act_on_view(name, route, sent)
        except FilesChanged as error:
            return 409, {"error": str(error), "changed": True}
        except RefusedGrade as error:
            scale = [choice.grade for choice in self.judges.by_name[name].view.task.choices]
            return 400, {"error": str(error), "scale": scale}
        except HarnessError as error:
            return 422, {"error": str(error)}
        except OSError as error:
            return 500, {"error": f"the grade could not be kept: {error.strerror or error}"}

    def _act_on_view(self, name: str, route: tuple[str, str], sent: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one of `ACTIONS`; a change of a grade reaches other pages of the judge."""
        opens_page = route == ("GET", "/session")
        if opens_page and name == self.judges.settler:
            self.judges.refresh_settler()
        # Before anything is read: what changes meanwhile is sent once more.
        since = self.judges.since
        with self.judges.work_as(name) as judge:
            answer = ACTIONS[route](judge.view, sent)
            if opens_page:
                answer |= {
                    "since": since,
                    "finish": self._choose_finish(name),
                    "progress": self.judges.build_progress(),
                }
            elif {"query", "document"} <= answer.keys():
                self.judges.add_change(name, (answer["query"], answer["document"]))
        return answer

    def _choose_finish(self, name: str) -> str:
        """What finishing does: it writes the grades and ends the command, writes the grades, or says no more."""
        if self.ends:
            return "end"
        if name == self.judges.settler:
            return "write"
        return "done"

    def _show_changes(self, name: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """What other pages of the judge, or other judges, changed since a page looked last."""
        if name == self.judges.settler:
            self.judges.refresh_settler()
        since = self.judges.since
        pairs = self.judges.list_changes(name, str(sent.get("since", "")))
        answer: dict[str, Any] = {"since": since, "reload": pairs is None, "progress": self.judges.build_progress()}
        with self.judges.work_as(name) as judge:
            answer["changes"] = [describe_grade(judge.view, pair) for pair in pairs or ()]
        return answer

    def _finish(self, name: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Let the judge *name* be done, and write the grades where `_choose_finish` says so."""
        written: list[str] = []
        if self._choose_finish(name) != "done":
            # One after the other: each compares the files with what it read before.
            with self._write_lock:
                if sent.get("reread") is True:
                    self.target.reread()
                written = self.said = self.target.write()
            self._over = self.ends
        with self.judges.work_as(name) as judge:
            judge.mark_changed(is_done=True)
        if not self.ends:
            self._report_done(judge, written)
        return {
            "said": written or ["Thank you. The grades are kept, and will be written to the suite by who asked you."]
        }

    def _report_done(self, judge: ServedJudge, written: list[str]) -> None:
        """Print on the terminal that *judge* is done, and the sentences on what was *written*."""
        progress = judge.build_progress()
        documents = count(progress["documents"], "document")
        self.tell(f"{progress['judge']} is done: graded {progress['graded']:,} of {documents}")
        for sentence in written:
            self.tell(sentence)
        if all(other.is_done for other in self.judges.by_name.values()):
            self.tell("all judges are done; Ctrl-C ends the command")


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
