"""The responses of a search, as they arrive."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from harness.model import Response, SearchRequest


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    """A request, its *place* among those that were sent together, and its response."""

    place: int
    request: SearchRequest
    response: Response
    resent: str = ""
    """Why the request was sent again, such as "status 429" or "connection closed"; empty if it was sent once."""


ResponseStream: TypeAlias = Generator[StreamedResponse, None, None]
"""The responses to requests, in the order in which they arrive; closing it stops sending."""


def in_order(stream: Iterable[StreamedResponse]) -> list[Response]:
    """The responses of *stream* in the order of their requests."""
    responses = {streamed.place: streamed.response for streamed in stream}
    return [responses[place] for place in sorted(responses)]
