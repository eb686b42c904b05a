"""A run that another thread can end, and whose responses it receives as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event, get_ident
from typing import TYPE_CHECKING

from harness.model.request import SearchRequest
from harness.model.run import Response
from harness.search.protocol import ResponseStream, Search
from harness.search.server_health import RunEnded

if TYPE_CHECKING:
    from harness.run.streams import ResponseSource

__all__ = ["FollowedRun", "FollowedSearch", "RunEnded"]


@dataclass(slots=True)
class FollowedRun:
    """
    A run of one cell that is given to `Runner.answer`: *receive* is called with each query and its response as it
    arrives, in the thread that runs, and `end` ends the run from any thread.

    What was not sent by then is not sent, and the call raises `RunEnded`. Connections stay open for the next run.
    """

    receive: Callable[[str, Response], object]
    _ended: Event = field(default_factory=Event)
    _search: Search | None = None
    _thread: int = 0
    """The thread that runs."""

    def end(self) -> None:
        """End the run, also before it begins; nothing happens after it."""
        self._ended.set()
        if self._search is not None:
            self._search.end_streams(self._thread)

    def begin(self, search: Search) -> None:
        """
        Say that the run sends to *search*.

        Raises:
            RunEnded: `end` was called.
        """
        self._search, self._thread = search, get_ident()
        self.check()

    def check(self) -> None:
        """Raise RunEnded where `end` was called."""
        if self._ended.is_set():
            raise RunEnded

    def finish(self) -> None:
        """Say that the run is over, so that `end` ends none that follows it."""
        self._search = None


@dataclass(frozen=True, slots=True)
class FollowedSearch:
    """Hands the response of each query to the run that is followed, and ends where that does."""

    inner: ResponseSource
    run: FollowedRun

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """See `Search.stream`."""
        self.run.check()
        with closing(self.inner.stream(requests, budget=budget)) as stream:
            for streamed in stream:
                self.run.check()
                if streamed.request.built_for is not None:
                    self.run.receive(streamed.request.query, streamed.response)
                yield streamed
