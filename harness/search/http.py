"""
An application's own search API: requests from several threads, and hits from its answers by JSONPath (RFC 9535).

A path that matches nothing because it is misspelt must not look like an answer without hits: where a list of items
is expected, there has to be one, and each item has to have its id.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import requests
from jsonpath import CompoundJSONPath, JSONPath, JSONPathError
from jsonpath import compile as compile_path
from jsonpath.segments import JSONPathRecursiveDescentSegment
from requests.adapters import HTTPAdapter

from harness.errors import EngineUnreachable, Option, SearchError, UsageError
from harness.model import (
    Cluster,
    Engine,
    Failure,
    FailureKind,
    Hit,
    HttpRequest,
    IndexFacts,
    IndexState,
    Json,
    Mark,
    Ranking,
    Response,
    SearchRequest,
)
from harness.search.answers import BUSY, WHOLE, Reply, failure_of, json_of
from harness.search.connection import (
    Answer,
    ConnectionClosed,
    Login,
    NoAnswerInTime,
    ca_file_of,
    checked_url,
    fingerprint_of,
    was_closed,
    why_unreachable,
    within,
)
from harness.search.engine import NOTHING_KNOWN, is_engine
from harness.search.hits import MalformedAnswer, is_text, kind_of, printable, read_score, read_total, shown, unique_hits
from harness.search.retries import Retries, retry_after
from harness.search.session import ConnectedSearch, ServerHealth

NOT_SENDABLE = (
    requests.exceptions.InvalidHeader,
    requests.exceptions.InvalidJSONError,
    requests.exceptions.InvalidURL,
)


class WebConnection:
    """Sends requests from several threads. It follows no redirects, because they would receive the login too."""

    def __init__(self, cluster: Cluster, login: Login) -> None:
        """
        Raises:
            UsageError: The URL, the CA file or the fingerprint is not one.
        """
        try:
            self._url = checked_url(cluster.url or "").rstrip("/")
            self._fingerprint = fingerprint_of(cluster, self._url)
            ca_certs = ca_file_of(cluster, self._url)
        except ValueError as error:
            raise UsageError(f'cluster "{cluster.name}" has an invalid connection: {error}') from error
        # given with each request, because a variable such as REQUESTS_CA_BUNDLE overrides a session's
        self._trusted: bool | str = not self._fingerprint and (ca_certs or True)
        self.mask = login.masker()
        self._headers = dict(login.headers)
        self._sessions: list[requests.Session] = []
        self._own = threading.local()

    def perform(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        json: Any,
        timeout: float,
    ) -> Answer:
        """
        Send one request and wait for its answer.

        Raises:
            NoAnswerInTime: The whole answer was not there within *timeout*.
            ConnectionClosed: The connection ended before the answer did.
            EngineUnreachable: No connection, an unknown host or a TLS failure.
            UsageError: The request cannot be sent.
        """
        return self._send(method, joined(self._url, path), params, headers, json, timeout)

    def engine_there(self, timeout: float) -> str | None:
        """The URL at which an engine answers, which is this one or the root of its host; None if none is known to."""
        parts = urlsplit(self._url)
        for url in dict.fromkeys((f"{self._url}/", f"{parts.scheme}://{parts.netloc}/")):
            with suppress(EngineUnreachable, UsageError):
                if is_engine(self._send("GET", url, {}, {}, None, timeout)):
                    return url
        return None

    def _send(
        self, method: str, url: str, params: Mapping[str, Any], headers: Mapping[str, str], json: Any, timeout: float
    ) -> Answer:
        session = self._session()
        try:
            response = within(
                timeout,
                lambda: session.request(
                    method,
                    url,
                    params=_plain_params(params),
                    headers={**self._headers, **headers},
                    json=json,
                    timeout=timeout,
                    verify=self._trusted,
                    allow_redirects=False,
                ),
            )
        except (requests.Timeout, TimeoutError) as error:
            self._own.session = None  # it may be in use still
            raise NoAnswerInTime(f"no answer from {self._url} within {timeout:g} s") from error
        except NOT_SENDABLE as error:
            raise UsageError(self.mask(f"the request to {self._url} cannot be sent: {error}")) from error
        except requests.RequestException as error:
            kind = ConnectionClosed if was_closed(error) else EngineUnreachable
            raise kind(self.mask(f"cannot reach {self._url}: {why_unreachable(error)}")) from error
        return Answer(response.status_code, response.content, {k.lower(): v for k, v in response.headers.items()})

    def _session(self) -> requests.Session:
        """The session of the calling thread, because sessions of requests are not documented as thread-safe."""
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = requests.Session()
            session.auth = _no_other_login
            if self._fingerprint:
                session.mount("https://", _PinnedAdapter(self._fingerprint))
            self._own.session = session
            self._sessions.append(session)
        return session

    def close(self) -> None:
        """Close the sessions of all threads."""
        for session in self._sessions:
            session.close()


class _PinnedAdapter(HTTPAdapter):
    """Trusts only the certificate with the given SHA-256, whoever signed it."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options, assert_fingerprint=self._fingerprint)


def _no_other_login(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Without this, a login in ~/.netrc would override that of the cluster."""
    return request


def joined(url: str, path: str) -> str:
    """*path* below the *url* of a service."""
    return f"{url.rstrip('/')}/{path.lstrip('/')}"


def sent_url(url: str, http: HttpRequest) -> str:
    """The URL of *http*, with its parameters, at the service at *url*."""
    prepared = requests.Request(http.method, joined(url, http.path), params=_plain_params(http.params)).prepare()
    return prepared.url or ""


def _plain_params(params: Mapping[str, Json]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: Any) -> Any:
    """A parameter as a service expects it: true instead of Python's True."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_plain(one) for one in value] if isinstance(value, list) else value


Place: TypeAlias = tuple[int, ...]
"""The list indexes in the path of a value, which an item's id, score and title have in common."""


def read_service_answer(content: Json, http: HttpRequest) -> Ranking:
    """
    The ranking in *content*, found by the paths of *http*.

    Raises:
        MalformedAnswer: A path finds nothing, or a value of the wrong type.
        UsageError: A path is not a JSONPath.
    """
    if not isinstance(content, (Mapping, list)):
        raise MalformedAnswer(f"the answer should be an object or a list, found {kind_of(content)}")
    ids = _find(content, http.ids)
    scores = _column(content, http.scores, ids)
    titles = _column(content, http.titles, ids)
    hits = [
        Hit(_id(value, http.ids), read_score(scores.get(place), f"`{http.scores}`"), _title(titles.get(place)))
        for place, value in ids.items()
    ]
    unique, duplicates = unique_hits(hits)
    total, doubt = _total(content, http.total, len(hits))
    return Ranking(unique, total=total, duplicates=duplicates, total_doubt=doubt)


@lru_cache(maxsize=64)
def compiled(text: str) -> JSONPath:
    """
    The compiled path *text*.

    Raises:
        UsageError: It is not a path, or more than one.
    """
    path = _compile(text)
    if isinstance(path, str):
        raise UsageError(f'"{text}" is not a JSONPath: {path}')
    return path


def path_problem(text: str) -> str | None:
    """Why *text* is not a JSONPath; None if it is."""
    path = _compile(text)
    return path if isinstance(path, str) else None


def _compile(text: str) -> JSONPath | str:
    """The path, or a sentence about the error."""
    if not text.startswith("$"):
        return "it should begin with $"
    try:
        path = compile_path(text, strict=True)
    except JSONPathError as error:
        return _wrong_at(text, error)
    except (ValueError, OverflowError):  # the library reads numbers as Python does
        return "it has a number that is no index and no value of JSON"
    except RecursionError:
        return "the nesting is too deep"
    return "it is more than one path" if isinstance(path, CompoundJSONPath) else path


def _wrong_at(text: str, error: JSONPathError) -> str:
    """The library's message with its place, unless it contains names of the library's tokens."""
    token = getattr(error, "token", None)
    index = getattr(token, "index", -1)
    found = f"found {text[index:]!r} at character {index + 1}" if 0 <= index < len(text) else "found the end"
    said = str(error.args[0]) if error.args else ""
    in_its_own_words = not said or "TOKEN" in said or said.startswith("unexpected token")
    return f"{found}, which is invalid there" if in_its_own_words else f"{found}: {said}"


def _find(content: Json, text: str) -> dict[Place, Json]:
    """The values at the path, by the place of their item: the elements of a list, or the matches."""
    path = compiled(text)
    if path.singular_query():
        return {(place,): value for place, value in enumerate(_only_list(content, path, text))}
    items = _items(content, path, text)
    found = list(path.finditer(content))
    if len(found) != len(items):
        raise MalformedAnswer(f"`{text}` finds {len(found)} values in {len(items)} items")
    return _placed([(match.parts, match.obj) for match in found])


def _placed(found: Sequence[tuple[Sequence[str | int], Json]]) -> dict[Place, Json]:
    places = [tuple(part for part in parts if isinstance(part, int)) for parts, _ in found]
    if len(set(places)) < len(places):  # members of an object have an order only
        places = [(place,) for place in range(len(found))]
    return {place: value for place, (_, value) in zip(places, found, strict=True)}


def _only_list(content: Json, path: JSONPath, text: str) -> list[Json]:
    found = path.findall(content)
    if len(found) != 1 or not isinstance(found[0], list):
        what = kind_of(found[0]) if found else "nothing"
        raise MalformedAnswer(f"`{text}` should find a list, found {what}{_members(content)}")
    return found[0]


def _items(content: Json, path: JSONPath, text: str) -> list[Any]:
    """The matches of the path's last wildcard, such as `[*]`; each wildcard must have a container to match in."""
    choices = [number for number, segment in enumerate(path.segments) if not _is_single(path, segment)]
    found: list[Any] = [content]
    for choice in choices:
        container = _cut(path, choice)
        held = container.findall(content)
        wrong = [one for one in held if not isinstance(one, (list, Mapping)) or one == {}]
        if found and (wrong or not held):
            what = "nothing" if not held else "an empty object" if wrong[0] == {} else kind_of(wrong[0])
            raise MalformedAnswer(f"`{text}` should find items at `{container}`, found {what}{_members(content)}")
        found = _cut(path, choice + 1).findall(content)
    if not found and any(isinstance(path.segments[choice], JSONPathRecursiveDescentSegment) for choice in choices):
        raise MalformedAnswer(
            f"`{text}` finds nothing, and `..` cannot distinguish an empty list from a missing one: name the list"
        )
    return found


def _cut(path: JSONPath, length: int) -> JSONPath:
    return JSONPath(env=path.env, segments=path.segments[:length])


def _is_single(path: JSONPath, segment: Any) -> bool:
    return JSONPath(env=path.env, segments=(segment,)).singular_query()


def _members(content: Json) -> str:
    if not isinstance(content, Mapping):
        return f"; the answer is {kind_of(content)}"
    return f"; the answer has {', '.join(f'`{name}`' for name in list(content)[:12]) or 'no members'}"


def _column(content: Json, text: str | None, ids: Mapping[Place, Json]) -> Mapping[Place, Json]:
    """Scores or titles; an item may lack one, but each must belong to an item."""
    if text is None:
        return {}
    path = compiled(text)
    if path.singular_query():
        column: Mapping[Place, Json] = {(place,): one for place, one in enumerate(_only_list(content, path, text))}
    else:
        column = _placed([(match.parts, match.obj) for match in path.finditer(content)])
    if not column.keys() <= ids.keys():
        raise MalformedAnswer(f"`{text}` finds {len(column)} values that do not all belong to the {len(ids)} ids")
    return column


def _id(value: Json, text: str) -> str:
    if is_text(value) or type(value) is int:
        return str(value)
    raise MalformedAnswer(f"`{text}` should find ids, which are texts or whole numbers; found {shown(value)}")


def _title(value: Json) -> str | None:
    return None if value is None else printable(str(value))


def _total(content: Json, text: str | None, returned: int) -> tuple[int | None, str]:
    """The number of matching documents, or why it is unknown."""
    if text is None:
        return None, ""
    found = compiled(text).findall(content)
    if len(found) != 1:
        return None, f"`{text}` finds {len(found)} values"
    return read_total(found[0], f"`{text}`", returned)


AT_ONCE = 4
"""Concurrent requests, few enough not to overload a service in production."""

NO_REQUEST = Failure(FailureKind.ERROR, "the request is for an engine, and its cluster is an HTTP service")

SECONDS_TO_IDENTIFY = 5.0
"""How long the root of a service is waited for, to see that it is no engine."""

METHOD_HEADERS = frozenset({"x-http-method", "x-http-method-override", "x-method-override"})
"""Headers that replace the method on servers that heed them."""


def why_it_may_write(http: HttpRequest) -> str:
    """
    Why *http* may change data; empty if it only reads.

    A path with a name that begins with `_` is one of an engine's own interfaces, such as `_delete_by_query`.
    """
    if http.method != "GET":
        return f"the method {http.method} may change data"
    header = next((name for name in http.headers if name.lower() in METHOD_HEADERS), None)
    if header is not None:
        return f"the header {header} may change data"
    names = unquote(http.path.partition("?")[0]).split("/")
    found = next((name for name in names if name.startswith("_")), None)
    return "" if found is None else f"the path has {found}, which an engine may take for more than a search"


def open_service(cluster: Cluster, login: Login, *, allow_write: bool = False) -> HttpSearch:
    """
    A search of the service at the URL of *cluster*; nothing is sent yet.

    Args:
        cluster: Where the service is. One that harness.toml defines may be sent any request.
        login: For it.
        allow_write: Whether any other may be, too.

    Raises:
        UsageError: The URL, the CA file or the fingerprint is not one.
    """
    trusted = allow_write or cluster.mark != Mark()
    return HttpSearch(WebConnection(cluster, login), Engine("http"), timeout=cluster.timeout, reads_only=not trusted)


class HttpSearch(ConnectedSearch[WebConnection]):
    """Sends each request by itself, a few at once, and reads hits from the answers by JSONPath."""

    def __init__(
        self,
        connection: WebConnection,
        engine: Engine,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        reads_only: bool = False,
    ) -> None:
        """
        Args:
            connection: To the service.
            engine: What it is called.
            timeout: Seconds for one request.
            retries: The limits of retries.
            reads_only: Whether requests that may change data are refused.
        """
        super().__init__(connection, engine, timeout=timeout, retries=retries)
        self._reads_only = reads_only
        self._is_identified = False

    def search(
        self,
        requests: Sequence[SearchRequest],
        *,
        on_done: Callable[[int], None] | None = None,
        budget: float | None = None,
    ) -> list[Response]:
        """
        See `Search.search`.

        Raises:
            UsageError: A path of a request is no JSONPath.
            SearchError: The server is an engine, or a request may change data and nobody allowed that.
        """
        for path in {path for one in requests if one.http for path in _paths(one.http)}:
            compiled(path)
        self._check_reads([one.http for one in requests if one.http], math.inf if budget is None else budget)
        health = self._health(budget)
        responses = self._send_all(health, requests, on_done)
        self._raise_if_nobody_answers(health)
        self._raise_if_refused(responses, "the service", {})
        return [self._masked(response) for response in responses]

    def _check_reads(self, requests: Iterable[HttpRequest], budget: float) -> None:
        """Refuse a request that could change data without consent, and an engine in place of a service."""
        for request in requests if self._reads_only else ():
            if reason := why_it_may_write(request):
                raise SearchError(
                    f"{request.method} {request.path} was not sent: {reason}; define the service in harness.toml "
                    '(url and service = "http"), or give ',
                    Option("allow-write"),
                )
        if not self._is_identified and budget > 0:
            engine = self.connection.engine_there(min(self.timeout, budget, SECONDS_TO_IDENTIFY))
            if engine is not None:
                raise SearchError(
                    f"{engine} is Elasticsearch or OpenSearch, and `http` requests are for services: "
                    "use `index` and `body` instead"
                )
            self._is_identified = True

    def _send_all(
        self, health: ServerHealth, requests: Sequence[SearchRequest], on_done: Callable[[int], None] | None
    ) -> list[Response]:
        """Send from a few threads; an interrupt cancels the rest and waits for nothing."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="relevance-search")
        try:
            futures: list[Future[Response]] = [pool.submit(self._send, health, request.http) for request in requests]
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                if on_done is not None:
                    on_done(len(done))
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _send(self, health: ServerHealth, http: HttpRequest | None) -> Response:
        """
        The response to *http*, retried while the service is busy and there is time.

        One search may make the service close its connection, so the service is given up only if it never answered.
        """
        if http is None:
            return NO_REQUEST
        started, attempt = health.now(), 1
        reply = self._send_once(health, http)
        while reply.again and health.wait(attempt, started=started, server_pause=reply.after or 0.0):
            attempt += 1
            reply = self._send_once(health, http)
        response = reply.noted(attempt)
        if reply.again and isinstance(response, Failure) and not health.answered:
            health.given_up = response
        return response

    def _send_once(self, health: ServerHealth, http: HttpRequest) -> Reply:
        seconds = health.seconds()
        if isinstance(seconds, Failure):
            return Reply(seconds)
        try:
            answer = self.connection.perform(
                http.method, http.path, params=http.params, headers=http.headers, json=http.json, timeout=seconds
            )
        except NoAnswerInTime as error:
            no_time = health.seconds()
            return Reply(no_time if isinstance(no_time, Failure) else health.silent(error))
        except EngineUnreachable as error:
            return Reply(health.lost(error), again=True)
        health.heard()
        return _read(answer, http)

    def index_facts(self, index: str | None) -> IndexFacts:  # noqa: ARG002
        """See `Search.index_facts`: nothing is known of the index of a service."""
        return NOTHING_KNOWN

    def field_types(self, index: str, names: Sequence[str]) -> Mapping[str, frozenset[str]]:  # noqa: ARG002
        """See `Search.field_types`: a service has no index."""
        raise SearchError("an HTTP service does not say which fields there are")

    def index_state(self, index: str | None) -> IndexState:  # noqa: ARG002
        """See `Search.index_state`: nothing is known of the index of a service."""
        return IndexState()


def _paths(http: HttpRequest) -> list[str]:
    return [path for path in (http.ids, http.scores, http.titles, http.total) if path is not None]


def _read(answer: Answer, http: HttpRequest) -> Reply:
    if answer.status not in WHOLE:
        return Reply(failure_of(answer), answer.status in BUSY, retry_after(answer.headers))
    content = json_of(answer)
    if isinstance(content, Failure):
        return Reply(content)
    try:
        return Reply(read_service_answer(content, http))
    except MalformedAnswer as error:
        return Reply(Failure(FailureKind.MALFORMED, str(error), answer.status))
