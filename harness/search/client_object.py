"""
The connection through a client object that the user made: `elasticsearch.Elasticsearch`, `opensearchpy.OpenSearch`, or
anything with `msearch(body=…)`.

The client handles its login, certificates, nodes and retries.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol
from urllib.parse import unquote

from harness.errors import HarnessError, UsageError
from harness.model.run import Engine
from harness.search.connection import (
    LARGEST_ANSWER,
    PLAIN_JSON,
    Answer,
    NoAnswerInTime,
    choose_error,
    explain_unreachable,
    run_within,
)

UNKNOWN_ENGINE = Engine("unknown")
"""That of a client object that cannot be asked, if the target does not state it."""


def adapt_client(client: Any) -> ClientConnection:
    """
    A connection through *client*.

    Raises:
        UsageError: It is an asynchronous client, or has nothing to search with.
    """
    if _is_instance(client, "elasticsearch", "Elasticsearch"):
        return ClientConnection(_ElasticsearchSender(client))
    if _is_instance(client, "opensearchpy", "OpenSearch"):
        return ClientConnection(_OpenSearchSender(client))
    search = getattr(client, "msearch", None)
    if not callable(search):
        raise UsageError(f"a client of type {type(client).__name__} has no `msearch` to search with")
    if inspect.iscoroutinefunction(search):
        raise UsageError(f"a client of type {type(client).__name__} is asynchronous; use the synchronous client")
    return ClientConnection(_MsearchSender(client))


def is_thread_safe(client: Any) -> bool:
    """Whether *client* may be used from several threads: the clients of the engines say so."""
    return _is_instance(client, "elasticsearch", "Elasticsearch") or _is_instance(client, "opensearchpy", "OpenSearch")


def knows_engine(client: Any) -> bool:
    """Whether *client* can be asked for its engine: the clients of the engines can, others if they have `info()`."""
    return is_thread_safe(client) or callable(getattr(client, "info", None))


def _is_instance(client: Any, module: str, name: str) -> bool:
    """Whether *client* is of that class. The module is not imported: it already is if there is such a client."""
    known = getattr(sys.modules.get(module), name, None)
    return known is not None and isinstance(client, known)


class Sender(Protocol):
    """Sends requests by a client, and returns what the client returns, as JSON values."""

    def send(self, method: str, path: str, body: bytes | None, mime: str, timeout: float | None) -> Any:
        """Send one request; raises whatever the client raises."""
        ...


def _make_content_type(body: bytes | None, mime: str) -> dict[str, str]:
    return {} if body is None else {"content-type": mime}


class _ElasticsearchSender:
    """Sends by `elasticsearch.Elasticsearch`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, method: str, path: str, body: bytes | None, mime: str, timeout: float | None) -> Any:
        headers = {"accept": PLAIN_JSON, **_make_content_type(body, mime)}
        client = self._client
        if timeout is not None:
            client = client.options(request_timeout=timeout)
        return client.perform_request(method, path, headers=headers, body=body)


class _OpenSearchSender:
    """Sends by `opensearchpy.OpenSearch`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, method: str, path: str, body: bytes | None, mime: str, timeout: float | None) -> Any:
        text = None if body is None else body.decode()
        headers = _make_content_type(body, mime)
        return self._client.transport.perform_request(method, path, body=text, timeout=timeout, headers=headers)


class _NotImplementedThere(Exception):
    """What an object that only searches cannot do; it counts as an answer of this status."""

    status_code = 501


class _MsearchSender:
    """Sends by any other object: it searches by `msearch(body=…)`, and may have `info()`, the answer to `GET /`."""

    calls: ClassVar[Mapping[str, str]] = {
        "/": "info",
        "/_msearch": "msearch",
        "/_msearch/template": "msearch_template",
    }

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, method: str, path: str, body: bytes | None, mime: str, timeout: float | None) -> Any:  # noqa: ARG002
        type_name = type(self._client).__name__
        index, endpoint = _split_index(path.partition("?")[0])
        name = self.calls.get(endpoint)
        if name is None:
            raise _NotImplementedThere(f"a client of type {type_name} cannot send {method} {path}")
        call = getattr(self._client, name, None)
        if not callable(call):
            raise UsageError(f"a client of type {type_name} has no `{name}`")
        if body is None:
            return call()
        lines = [json.loads(line) for line in body.splitlines()]
        if index:
            # The object need not take an index beside the body.
            lines[::2] = [{"index": index, **header} for header in lines[::2]]
        return call(body=lines)


def _split_index(path: str) -> tuple[str, str]:
    """
    The index that a *path* begins with, empty if it names none, and the rest.

    >>> _split_index("/shop%20a,books/_msearch"), _split_index("/_msearch/template")
    (('shop a,books', '/_msearch'), ('', '/_msearch/template'))
    """
    index, separator, name = path.partition("/_msearch")
    return unquote(index[1:]), f"{separator}{name}" if separator else path


class ClientConnection:
    """A `Connection` through the user's client, with one node and no known secret."""

    nodes = 1
    has_login = True
    """As far as is known: the login is the client's own."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def perform(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        mime: str = PLAIN_JSON,
        timeout: float | None = None,
        most_bytes: int = LARGEST_ANSWER,  # noqa: ARG002 - the client has read the answer already
    ) -> Answer:
        """See `Connection.perform`."""
        try:
            content = run_within(timeout, lambda: self._sender.send(method, path, body, mime, timeout))
            # An answer of elasticsearch has a status; other clients raise errors for all but 200.
            status = getattr(getattr(content, "meta", None), "status", 200)
            if not isinstance(status, int):
                status = 200
            return Answer(status, _encode(getattr(content, "body", content)))
        except (HarnessError, KeyboardInterrupt):
            raise
        except TimeoutError as error:
            raise NoAnswerInTime(f"the given client had no answer within {timeout:g} s") from error
        except BaseException as error:
            # What a client raises is its own affair, `pytest.skip` and `sys.exit` too.
            return _read_raised_answer(error)

    def mask(self, text: str) -> str:
        """The client does not reveal its login."""
        return text

    def close(self) -> None:
        """Do nothing: the user closes the client."""


def _read_raised_answer(error: BaseException) -> Answer:
    """
    The answer that the client raised instead of returning it.

    Raises:
        NoAnswerInTime: There was none in time.
        ConnectionClosed: The connection ended before it.
        NameUnresolved: The host name cannot be resolved now.
        EngineUnreachable: There was none at all.
    """
    # elasticsearch has the status in `meta` and the answer in `body`, opensearchpy in `status_code` and `info`.
    meta = getattr(error, "meta", None)
    status = getattr(meta, "status", None) or getattr(error, "status_code", None)
    if isinstance(status, int):
        content = getattr(error, "body", None) or getattr(error, "info", None) or {"error": str(error)}
        headers = dict(getattr(meta, "headers", None) or {})
        return Answer(status, _encode(content), {name.lower(): value for name, value in headers.items()})
    if "Timeout" in type(error).__name__:
        raise NoAnswerInTime("the given client had no answer in time") from error
    reason = f"the given client failed ({type(error).__name__}): {explain_unreachable(error)}"
    raise choose_error(error)(reason) from error


def _encode(content: Any) -> bytes:
    """*content* as JSON, so that it is read like any other answer; the client's own types become their values."""
    if isinstance(content, str):
        return content.encode()
    return json.dumps(content, default=_convert_value).encode()


def _convert_value(value: Any) -> Any:
    return value.body if hasattr(value, "body") else str(value)
