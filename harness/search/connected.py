"""What the search doors have in common: a connection, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from harness.closing import Closing
from harness.errors import EngineUnreachable, LoginRefused
from harness.model import Engine, Ranking, Response
from harness.search.answers import refusal_of_all
from harness.search.course import ServerHealth
from harness.search.reasons import printable
from harness.search.retries import Retries

__all__ = ["ConnectedSearch"]


class MaskingConnection(Protocol):
    """A connection, as far as a door has to know it."""

    def mask(self, text: str, /) -> str:
        """*text* with each secret replaced by the name of its variable."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


HeldT = TypeVar("HeldT", bound=MaskingConnection)


class ConnectedSearch(Closing, Generic[HeldT]):
    """A search door over a connection, which it closes; what it says of failures is masked."""

    def __init__(
        self, connection: HeldT, engine: Engine, *, timeout: float = 30.0, retries: Retries | None = None
    ) -> None:
        """
        Args:
            connection: To what answers.
            engine: What that is.
            timeout: Seconds that one request may take.
            retries: How patient to be where it is busy.
        """
        self.connection = connection
        self.engine = engine
        self.timeout = timeout
        self.retries = retries or Retries()

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()

    def _course(self, budget: float | None) -> ServerHealth:
        return ServerHealth(self.retries, timeout=self.timeout, budget=budget)

    def _raise_if_nobody_answers(self, course: ServerHealth) -> None:
        if course.given_up and not course.answered:
            raise EngineUnreachable(self.connection.mask(course.given_up.reason))

    def _raise_if_refused(self, responses: Sequence[Response], what: str, remedies: Mapping[int, str]) -> None:
        """*what* refuses the login in all *responses*; *remedies* by status follow the reason that it gives."""
        refusal = refusal_of_all(responses)
        if refusal is None:
            return
        remedy = remedies.get(refusal.status or 0)
        said = f"{what} refuses the login (status {refusal.status}: {refusal.reason})"
        raise LoginRefused(self.connection.mask(f"{said}: {remedy}" if remedy else said))

    def _masked(self, response: Response) -> Response:
        if isinstance(response, Ranking):
            return response
        return replace(response, reason=printable(self.connection.mask(response.reason)))
