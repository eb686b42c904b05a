"""The server of the judging page, for one judge on this machine or for several: what each page can ask for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from harness.extensions.judging.server.actions import ACTIONS, describe_grade
from harness.extensions.judging.server.views import ServedJudge, ServedJudges
from harness.extensions.judging.session import RefusedGrade
from harness.extensions.judging.writing import FilesChanged
from harness.local_server import SHARED_ASSETS, Action, Asset, LocalServer, RefusedAction, Route, Site
from harness.local_server.access import Access
from harness.local_server.addresses import Address
from harness.words import count

__all__ = ["JudgingServer"]

_MOST_BYTES = 64 * 1024
"""Bytes of a request, which holds one grade."""

SCRIPTS = ("judge.js", "adjudicate.js", "document.js", "find.js", "lists.js", "quotes.js", "states.js", "team.js")
"""The first one loads the others."""

ASSETS: Mapping[str, Asset] = {
    "/": ("text/html", "harness.extensions.judging.page", "judge.html"),
    "/judge.css": ("text/css", "harness.extensions.judging.page", "judge.css"),
    **{f"/{name}": ("text/javascript", "harness.extensions.judging.page", name) for name in SCRIPTS},
    **SHARED_ASSETS,
}


class GradeWriter(Protocol):
    """Where grades are written."""

    def write(self) -> list[str]:
        """Write the grades to their files; returns sentences on that."""

    def reread(self) -> None:
        """Accept files that changed meanwhile, as they are now."""


@dataclass(slots=True)
class JudgingServer:
    """
    Serves *judges*, each to whoever has the token that *access* knows.

    A judge who finishes is done. If *ends* is set, the grades are written then, the *local* server is finished, and
    nothing more is kept; else only the judge who settles writes grades, and judging goes on.
    """

    judges: ServedJudges
    access: Access
    target: GradeWriter
    address: Address = field(default_factory=Address)
    """Where it is asked to listen; `local.address` is where it does."""
    ends: bool = False
    tell: Callable[[str], object] = str
    """Receives sentences on judges who are done, for the terminal; does nothing with them by default."""
    said: list[str] = field(default_factory=list)
    """The last sentences on the grades that were written."""
    local: LocalServer = field(init=False)
    _write_lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        view = next(iter(self.judges.by_name.values())).view
        actions: dict[Route, Action] = {route: partial(self._act_on_view, route) for route in ACTIONS}
        actions[("POST", "/finish")] = self._finish
        actions[("GET", "/changes")] = self._show_changes
        hosts = tuple(view.task.suite.display.image_hosts)
        site = Site(ASSETS, actions, _MOST_BYTES, hosts, not_kept="the grade could not be kept")
        self.local = LocalServer(site, self, self.address)

    def find_user(self, token: str) -> str | None:
        """The judge whose token it is, if this server serves that judge."""
        judge = self.access.find_user(token)
        # A link may have been granted by an earlier command, which served other judges.
        return judge if judge in self.judges.by_name else None

    def _act_on_view(self, route: Route, name: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one of `ACTIONS`; a change of a grade reaches other pages of the judge."""
        opens_page = route == ("GET", "/session")
        if opens_page and name == self.judges.settler:
            self.judges.refresh_settler()
        # Before anything is read: what changes meanwhile is sent once more.
        since = self.judges.since
        with self.judges.work_as(name) as judge:
            try:
                answer = ACTIONS[route](judge.view, sent)
            except RefusedGrade as error:
                scale = [choice.grade for choice in judge.view.task.choices]
                raise RefusedAction(400, {"error": str(error), "scale": scale}) from None
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
                try:
                    written = self.said = self.target.write()
                except FilesChanged as error:
                    raise RefusedAction(409, {"error": str(error), "changed": True}) from None
            if self.ends:
                self.local.finish()
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
