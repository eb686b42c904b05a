"""An application's own search API: requests from several threads, and what these may not do."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import disable_warnings
from urllib3.exceptions import InsecureRequestWarning

from harness.errors import EngineUnreachable, SearchError, UsageError
from harness.model import (
    Cluster,
    Engine,
    Failure,
    FailureKind,
    HttpRequest,
    Json,
    Response,
    SearchRequest,
)
from harness.search.addresses import AddressBook, refuse_address
from harness.search.answers import BUSY, WHOLE, Reply, failure_of, json_of, retry_after
from harness.search.connected import ConnectedSearch
from harness.search.connection import (
    CHUNK,
    Answer,
    AnswerTooLarge,
    ConnectionClosed,
    NoAnswerInTime,
    raise_if_proxy_refuses,
    read_in_time,
    was_closed,
    why_unreachable,
    within,
)
from harness.search.engine import is_engine
from harness.search.hits import MalformedAnswer
from harness.search.jsonpaths import compiled, read_service_answer
from harness.search.login import Login, checked_url, tls_options
from harness.search.server_health import INTERRUPTED, Retries, ServerHealth
from harness.search.service_requests import Permissions, find_problem

NOT_SENDABLE = (
    requests.exceptions.InvalidHeader,
    requests.exceptions.InvalidJSONError,
    requests.exceptions.InvalidURL,
)


@dataclass(frozen=True, slots=True)
class Root:
    """What answers at the URL of a service and in the folders above it."""

    is_known: bool
    """Whether all of them answered, or one of them as an engine."""
    engine_url: str = ""
    """Where an engine answered; empty if none did."""


def _roots_of(url: str) -> list[str]:
    """
    The URL of a service and of each folder above it, the deepest first.

    >>> _roots_of("https://shop.example/api/v1")
    ['https://shop.example/api/v1/', 'https://shop.example/api/', 'https://shop.example/']
    """
    parts = urlsplit(url)
    host = f"{parts.scheme}://{parts.netloc}"
    path = parts.path.rstrip("/")
    roots = []
    while path:
        roots.append(f"{host}{path}/")
        path = path.rpartition("/")[0]
    return [*roots, f"{host}/"]


class WebConnection:
    """Sends requests from several threads. It follows no redirects, because they would receive the login too."""

    def __init__(self, cluster: Cluster, login: Login) -> None:
        """
        Raises:
            UsageError: The URL, the CA file or the fingerprint is not one.
        """
        try:
            self._url = checked_url(cluster.url or "").rstrip("/")
            self._tls = tls_options(cluster, login, self._url)
            self._proxy = login.proxy_for(self._url)
        except ValueError as error:
            raise UsageError(f'cluster "{cluster.name}" has an invalid connection: {error}') from error
        refuse_address(self._url, cluster.origin)
        self._addresses = AddressBook(cluster.origin)
        self._trusted: bool | str = self._tls.get("ca_certs", not self._tls)
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

    def ask_roots(self, timeout: float) -> Root:
        """
        Ask the URL of the service, and each folder above it, whether an engine answers, for *timeout* seconds in all.

        A server that is busy or away may be an engine, as may one whose answer is not complete.
        """
        end = time.monotonic() + timeout
        is_known = True
        for url in _roots_of(self._url):
            seconds = end - time.monotonic()
            if seconds <= 0:
                return Root(is_known=False)
            try:
                answer = self._send("GET", url, {}, {}, None, seconds)
            except (EngineUnreachable, AnswerTooLarge, UsageError):
                is_known = False
                continue
            if is_engine(answer):
                return Root(is_known=True, engine_url=url)
            is_known = is_known and answer.status not in BUSY
        return Root(is_known)

    def _send(
        self, method: str, url: str, params: Mapping[str, Any], headers: Mapping[str, str], json: Any, timeout: float
    ) -> Answer:
        session, end = self._session(), time.monotonic() + timeout
        if self._tls and not self._trusted and "assert_fingerprint" not in self._tls:
            disable_warnings(InsecureRequestWarning)  # a remark of the report says it

        def send() -> Answer:
            with session.request(
                method,
                url,
                params=_plain_params(params),
                headers=self._add_own_headers(headers),
                json=json,
                timeout=timeout,
                verify=self._trusted,
                allow_redirects=False,
                stream=True,
            ) as response:
                content = read_in_time(response.iter_content(CHUNK), end)
                return Answer(response.status_code, content, {k.lower(): v for k, v in response.headers.items()})

        try:
            answer = within(timeout, send)
        except (requests.Timeout, TimeoutError) as error:
            self._own.session = None  # it may be in use still
            raise NoAnswerInTime(f"no answer from {self._url} within {timeout:g} s") from error
        except NOT_SENDABLE as error:
            raise UsageError(self.mask(f"the request to {self._url} cannot be sent: {error}")) from error
        except requests.RequestException as error:
            kind = ConnectionClosed if was_closed(error) else EngineUnreachable
            raise kind(self.mask(f"cannot reach {self._url}: {why_unreachable(error)}")) from error
        raise_if_proxy_refuses(answer)
        return answer

    def _add_own_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """*headers* of a request with those of the login, which a suite cannot replace: they say who asks."""
        own_names = {name.lower() for name in self._headers}
        return {**{name: value for name, value in headers.items() if name.lower() not in own_names}, **self._headers}

    def _session(self) -> requests.Session:
        """The session of the calling thread, because sessions of requests are not documented as thread-safe."""
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = requests.Session()
            session.trust_env = False  # neither ~/.netrc nor REQUESTS_CA_BUNDLE; proxies are those of the login
            session.proxies = {urlsplit(self._url).scheme: self._proxy.url} if self._proxy else {}
            headers = self._proxy.headers if self._proxy else {}
            session.mount(f"{urlsplit(self._url).scheme}://", _Adapter(self._tls, headers, self._addresses))
            self._own.session = session
            self._sessions.append(session)
        return session

    def close(self) -> None:
        """Close the sessions of all threads."""
        for session in self._sessions:
            session.close()


class _Adapter(HTTPAdapter):
    """Opens connections with options of urllib3's pools: to *addresses*, or through a proxy with a login's headers."""

    def __init__(self, tls: dict[str, Any], proxy_headers: dict[str, str], addresses: AddressBook) -> None:
        self._tls = tls
        self._proxy_headers = proxy_headers
        self._addresses = addresses
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        options |= self._tls
        super().init_poolmanager(*args, **options)
        manager = self.poolmanager
        pools = manager.pool_classes_by_scheme
        manager.pool_classes_by_scheme = {scheme: self._addresses.check_pool(pool) for scheme, pool in pools.items()}

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        options |= self._tls
        return super().proxy_manager_for(proxy, **options)

    def proxy_headers(self, proxy: str) -> dict[str, str]:  # noqa: ARG002
        return self._proxy_headers


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


NO_REQUEST = Failure(FailureKind.ERROR, "the request is for an engine, and its cluster is an HTTP service")

SECONDS_TO_IDENTIFY = 5.0
"""How long to wait for the roots of a service together, to see that none is an engine."""


def open_service(cluster: Cluster, login: Login, *, allow_write: bool = False) -> HttpSearch:
    """
    A search of the service at the URL of *cluster*; nothing is sent yet.

    Args:
        cluster: Where the service is.
        login: For it.
        allow_write: Whether it may be sent requests that may change data, once it is known to be no engine.

    Raises:
        UsageError: The URL, the CA file or the fingerprint is not one, or the URL may not be connected to.
    """
    return HttpSearch(WebConnection(cluster, login), Permissions(cluster, allow_write))


class HttpSearch(ConnectedSearch[WebConnection]):
    """Sends each request by itself, a few at once, and reads hits from the answers by JSONPath."""

    service = "http"
    who = "the service"

    def __init__(self, connection: WebConnection, permissions: Permissions, *, retries: Retries | None = None) -> None:
        """
        Args:
            connection: To the service.
            permissions: What it may be sent, with its cluster.
            retries: The limits of retries.
        """
        super().__init__(connection, Engine("http"), timeout=permissions.cluster.timeout, retries=retries)
        self._permissions = permissions
        self._concurrency = permissions.cluster.concurrency
        self._root: Root | None = None
        """What answered at the roots of the service; None if they were not asked yet."""

    def _check(self, requests: Sequence[SearchRequest], *, budget: float | None) -> None:
        """
        Refuse a request that may not be sent, and an engine in place of a service.

        Raises:
            UsageError: A path of a request is no JSONPath.
            SearchError: The server is an engine, or a request is one that no suite may have, or may change data without
                permission.
        """
        sent = [request.http for request in requests if request.http]
        for path in {path for http in sent for path in _paths(http)}:
            compiled(path)
        for http in sent:
            if problem := find_problem(http):
                raise SearchError(f"{http.method} {http.path} was not sent: {problem}")
        self._refuse_writes(sent, may_be_engine=False)
        seconds = SECONDS_TO_IDENTIFY if budget is None else min(budget, SECONDS_TO_IDENTIFY)
        if seconds <= 0:
            return  # nothing will be sent
        if self._root is None:
            self._root = self.connection.ask_roots(seconds)
        if self._root.engine_url:
            raise SearchError(
                f"{self._root.engine_url} is Elasticsearch or OpenSearch, and `http` requests are for services: "
                "use `index` and `body` instead"
            )
        self._refuse_writes(sent, may_be_engine=not self._root.is_known)

    def _refuse_writes(self, sent: Sequence[HttpRequest], *, may_be_engine: bool) -> None:
        for http in sent:
            if refusal := self._permissions.find_refusal(http, may_be_engine=may_be_engine):
                raise SearchError(*refusal)

    def _send_all(
        self, requests: Sequence[SearchRequest], health: ServerHealth
    ) -> Generator[tuple[int, Response], None, None]:
        """Send from a few threads; an interrupt cancels the rest and waits for nothing."""
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="relevance-search")
        try:
            places = {}
            for place, request in enumerate(requests):
                places[pool.submit(self._send, health, place, request.http)] = place
            for future in as_completed(places):
                yield places[future], future.result()
        except BaseException:
            health.given_up = INTERRUPTED
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _send(self, health: ServerHealth, place: int, http: HttpRequest | None) -> Response:
        """
        The response to *http*, the request at *place*, retried while the service is busy and there is time.

        One search may make the service close its connection, so each is given up by itself while others are answered.
        """
        if http is None:
            return NO_REQUEST
        attempt = 0
        while True:
            attempt += 1
            health.wait_until(0.0)
            seen = health.outages
            reply = self._send_once(health, http)
            if not reply.again or not isinstance(reply.response, Failure):
                return reply.response
            health.unserved(reply.response, seen=seen, server_pause=reply.after)
            if health.given_up is not None or health.retry_at(attempt, reply.after) is None:
                return health.given_up or reply.noted(attempt)
            health.resent[place] = reply.cause

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
            if isinstance(no_time, Failure):
                return Reply(no_time)
            failure = Failure(FailureKind.TIMEOUT, str(error))
            health.record_timeout(failure)
            return Reply(failure)
        except AnswerTooLarge as error:
            return Reply(Failure(FailureKind.MALFORMED, str(error)))
        except EngineUnreachable as error:
            return Reply(health.record_loss(error), again=True)
        health.record_answer()
        if answer.status in WHOLE:
            health.record_results()
        elif answer.status >= 400 and answer.status not in BUSY:
            health.refuses(failure_of(answer))
        return _read(answer, http)


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
