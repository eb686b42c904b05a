"""What whoever searches holds: requests in, one response for each out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self

from harness.model import Engine, IndexFacts, Response, SearchRequest

__all__ = ["Search"]


class Search(Protocol):
    """What answers search requests; a context manager that closes its connections."""

    engine: Engine
    """What answers, as it said itself or as the suite states it."""

    def search(
        self,
        requests: Sequence[SearchRequest],
        *,
        on_done: Callable[[int], None] | None = None,
        budget: float | None = None,
    ) -> list[Response]:
        """
        Send *requests* and wait for all answers.

        Args:
            requests: One for each query.
            on_done: Called with the number of requests that are newly done, from the calling thread.
            budget: Seconds after which nothing more is sent; what had no answer by then did not run.

        Returns:
            A response for each request, in the order of *requests*.

        Raises:
            LoginRefused: The engine refused the login for every request.
            EngineUnreachable: No request got through.
        """
        ...

    def index_facts(self, index: str | None) -> IndexFacts:
        """What *index* is; what the login may not read, or an HTTP service does not tell, is named as missing."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
