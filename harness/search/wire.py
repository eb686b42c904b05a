"""Bytes out, a status and bytes back; and the body of an `_msearch`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Thread
from types import TracebackType
from typing import Protocol, Self, TypeVar

from harness.errors import EngineUnreachable
from harness.model import Failure, FailureKind, Json, SearchRequest

__all__ = [
    "NDJSON",
    "PLAIN_JSON",
    "PREFERENCE",
    "Answer",
    "Closing",
    "Connection",
    "ConnectionClosed",
    "Entry",
    "NoAnswerInTime",
    "body_of",
    "entry_of",
    "path_of",
    "within",
]


# What lies between the search door and a server: bytes out, a status and bytes back.


T = TypeVar("T")

PLAIN_JSON = "application/json"
NDJSON = "application/x-ndjson"


class NoAnswerInTime(EngineUnreachable):
    """The connection stands, the answer did not come in time; a smaller request may still be answered."""


class ConnectionClosed(EngineUnreachable):
    """Somebody was there and went away without an answer, or with a part of one; the next request may be answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of any status; the names of *headers* are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Connection(Protocol):
    """Sends one request at a time. It never retries, and takes no status for an error."""

    @property
    def nodes(self) -> int:
        """How many servers there are to ask in turn before nobody can be reached."""
        ...

    def perform(
        self, method: str, path: str, *, body: bytes | None = None, mime: str = PLAIN_JSON, timeout: float | None = None
    ) -> Answer:
        """
        Send a request and wait for its answer.

        Args:
            method: GET, POST, PUT, DELETE or HEAD.
            path: From the slash on, encoded, with its parameters.
            body: As it goes out.
            mime: What *body* is.
            timeout: Seconds; the cluster's own where None.

        Raises:
            NoAnswerInTime: The whole answer was not there within *timeout*.
            ConnectionClosed: The connection ended before the answer did.
            EngineUnreachable: No connection, an unknown host or a TLS failure.
        """
        ...

    def is_alive(self, timeout: float) -> bool:
        """Whether the server answers anything at all."""
        ...

    def mask(self, text: str) -> str:
        """*text* with each secret of this connection replaced by the name of its variable."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """
    What *call* gives, or raises, if it does so in time.

    The timeouts of HTTP libraries are for one read of a socket: a server that sends a byte now and then is never late.
    So the call is made in a thread of its own, which is left to itself where it takes longer.

    Args:
        seconds: How long to wait; as long as it takes where None.
        call: Made once, with the caller's context variables.

    Raises:
        TimeoutError: It took longer.
    """
    if seconds is None:
        return call()
    outcome: Future[T] = Future()
    context = copy_context()

    def work() -> None:
        try:
            outcome.set_result(context.run(call))
        except BaseException as error:  # it is the caller's, whatever it is
            outcome.set_exception(error)

    Thread(target=work, name="relevance-request", daemon=True).start()
    return outcome.result(seconds)


# The body of an `_msearch`: for each request a line that says where, and a line that says what.
#
# The application's own body goes out as it stands. Only what of a document comes back is said where the body does not
# say it, since it weighs and ranks nothing.


PREFERENCE = "relevance-harness"
"""One name for all runs keeps them on one copy of each shard, and with it their statistics and their order of ties."""

COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)

STOPS_EARLY = "terminate_after"
"""The key by which a body says that so many documents of a shard are enough."""

CONTENT_KEYS = frozenset({"_source", "stored_fields"})
"""The keys by which a body says itself what of a document comes back."""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    Two lines of a body, ready to be sent, and what its answer needs to be read.

    *unique_ids* says that an `_id` names one document in all indexes, *may_stop_early* that the engine was or may have
    been told to look at a part of the documents only.
    """

    place: int
    lines: bytes
    is_template: bool = False
    title_field: str | None = None
    snippet: str | None = None
    unique_ids: bool = False
    may_stop_early: bool = False


def entry_of(place: int, request: SearchRequest) -> Entry | Failure:
    """
    *request*, which stands at *place*, as lines; a Failure where it cannot be one of an `_msearch`.

    A body with the one key `template` is a search template: ``{template: {id: products, params: {q: "{{text}}"}}}``.
    """
    body = request.body
    if not isinstance(body, Mapping):
        return Failure(FailureKind.ERROR, "the body of a search request should be an object")
    try:
        return _template_entry(place, request, body) if "template" in body else _body_entry(place, request, body)
    except (TypeError, ValueError) as error:
        return Failure(FailureKind.ERROR, f"the body of the request cannot be written as JSON: {error}")


def _body_entry(place: int, request: SearchRequest, body: Mapping[str, Json]) -> Entry:
    read = [field for field in (request.title_field, request.snippet) if field]
    content: dict[str, Json] = {} if CONTENT_KEYS & body.keys() else {"_source": read or False}
    lines = _lines(_header(request, pinned="pit" in body), {**body, **content})
    return Entry(
        place,
        lines,
        title_field=request.title_field,
        snippet=request.snippet,
        unique_ids=request.unique_ids,
        may_stop_early=_has_key(body, STOPS_EARLY),
    )


def _template_entry(place: int, request: SearchRequest, body: Mapping[str, Json]) -> Entry | Failure:
    template = body["template"]
    others = sorted(body.keys() - {"template", "size"})
    if others or not isinstance(template, Mapping):
        found = f"`{others[0]}` beside it" if others else "no object"
        return Failure(
            FailureKind.ERROR, f"`template` should be an object with `id` or `source` and `params`, found {found}"
        )
    params = template.get("params", {})
    if not isinstance(params, Mapping):
        return Failure(FailureKind.ERROR, "`template.params` should be an object")
    size = {"size": body["size"]} if "size" in body else {}
    filled = {**template, "params": {**size, **params}}
    return Entry(
        place,
        _lines(_header(request, pinned=False), filled),
        is_template=True,
        title_field=request.title_field,
        unique_ids=request.unique_ids,
        may_stop_early=_template_may_stop_early(template),
    )


def _template_may_stop_early(template: Mapping[str, Json]) -> bool:
    """What a template says that the engine keeps is not known here, and a source that is a text is not read."""
    source = template.get("source")
    return "id" in template or (isinstance(source, str) and STOPS_EARLY in source) or _has_key(template, STOPS_EARLY)


def _has_key(body: Json, key: str) -> bool:
    """Whether *key* is one of *body*, however deep."""
    if isinstance(body, Mapping):
        return key in body or any(_has_key(value, key) for value in body.values())
    return isinstance(body, (list, tuple)) and any(_has_key(value, key) for value in body)


def _header(request: SearchRequest, *, pinned: bool) -> dict[str, Json]:
    """Where to search; a point in time is *pinned* to its index and its shard copies, and bears neither to be named."""
    header: dict[str, Json] = {"allow_partial_search_results": False}
    if pinned:
        return header
    if request.index:
        header["index"] = request.index
    return {**header, "preference": PREFERENCE}


def _lines(header: Json, body: Json) -> bytes:
    return b"%b\n%b\n" % (_dump(header), _dump(body))


def _dump(value: Json) -> bytes:
    return COMPACT.encode(value).encode()


def body_of(entries: Iterable[Entry]) -> bytes:
    """The body of one `_msearch`."""
    return b"".join(entry.lines for entry in entries)


def path_of(entries: Sequence[Entry]) -> str:
    """
    The path of the `_msearch` that asks *entries*, which are all templates or none.

    It has no `filter_path`: OpenSearch leaves out empty lists under one, and with them the answer that nothing matches.
    """
    return "/_msearch/template" if entries[0].is_template else "/_msearch"


# What is opened for a while and closed at the end of a `with` block.


class Closing(ABC):
    """A context manager that is its own value, and closes itself whether or not its block ends with an error."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; a second call does nothing more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
