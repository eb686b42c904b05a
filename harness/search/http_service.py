"""An application's own search API: requests from several threads, and what these may not do."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from http.cookiejar import DefaultCookiePolicy
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import disable_warnings
from urllib3.exceptions import HTTPError, InsecureRequestWarning

from harness.errors import EngineUnreachable, SearchError, UsageError
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Response
from harness.model.suite import DocumentsRequest, HttpRequest, Json
from harness.search.addresses import AddressBook, refuse_address
from harness.search.answers import (
    BUSY,
    COMPLETE,
    LARGEST_BATCH_ANSWER,
    RetriableResponse,
    read_failure,
    read_json,
    read_retry_after,
)
from harness.search.batches import LARGE_ANSWER
from harness.search.connected import ConnectedSearch
from harness.search.connection import (
    CHUNK,
    Answer,
    AnswerTooLarge,
    NoAnswerInTime,
    choose_error,
    explain_unreachable,
    raise_if_proxy_refuses,
    read_in_time,
    run_within,
)
from harness.search.engine import is_engine
from harness.search.hits import MalformedAnswer
from harness.search.jsonpaths import compile_path
from harness.search.login import Login, check_url, leave_out_headers, make_tls_options
from harness.search.pace import Pace
from harness.search.sending import TIMEOUT
from harness.search.server_health import INTERRUPTED, Retries, RunEnded, ServerHealth
from harness.search.service_answers import read_error, read_service_answer
from harness.search.service_documents import fill_documents_request, split_ids
from harness.search.service_requests import Permissions
from harness.words import count

NOT_SENDABLE = (requests.exceptions.InvalidHeader, requests.exceptions.InvalidJSONError)


GET = HttpRequest("GET", "", "")
"""A request without anything, which asks what answers."""


@dataclass(frozen=True, slots=True)
class Root:
    """What answers at the URL of a service and in the folders above it."""

    is_known: bool
    """Whether all of them answered, or one of them as an engine."""
    engine_url: str = ""
    """Where an engine answered; empty if none did."""


def _list_roots(url: str) -> list[str]:
    """
    The URL of a service and of each folder above it, the deepest first.

    >>> _list_roots("https://shop.example/api/v1")
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
    """
    Sends requests from several threads. It keeps no cookies, and follows no redirects, because they would receive the
    login too.
    """

    def __init__(self, cluster: Cluster, login: Login) -> None:
        """
        Raises:
            UsageError: The URL, the CA file or the fingerprint is not one.
        """
        try:
            self._url = check_url(cluster.url or "").rstrip("/")
            self._tls = make_tls_options(cluster, login, self._url)
            self._proxy = login.find_proxy(self._url)
        except ValueError as error:
            raise UsageError(f'cluster "{cluster.name}" has an invalid connection: {error}') from error
        refuse_address(self._url, cluster.origin)
        self._addresses = AddressBook(cluster.origin)
        self._trusted: bool | str = self._tls.get("ca_certs", not self._tls)
        self.mask = login.make_masker()
        self.has_login = login.is_sent
        self._long_secrets = login.list_long_secrets()
        self._headers = dict(login.headers)
        self._has_answered = False
        self._sessions: list[requests.Session] = []
        self._idle_sessions: deque[requests.Session] = deque()
        """Each is used by one thread at a time, because sessions of requests are not documented as thread-safe."""

    def perform(self, http: HttpRequest, timeout: float) -> Answer:
        """
        Send *http* and wait for its answer.

        Raises:
            NoAnswerInTime: The whole answer was not there within *timeout*.
            ConnectionClosed: The connection ended before the answer did.
            NameUnresolved: The host name cannot be resolved now.
            EngineUnreachable: No connection, an unknown host or a TLS failure.
            UsageError: The request cannot be sent.
        """
        return self._send(http, join_url(self._url, http.path), timeout)

    def has_secret(self, text: str) -> bool:
        """Whether *text* has a secret of the login that it cannot have by chance."""
        return any(secret in text for secret in self._long_secrets)

    def ask_roots(self, timeout: float) -> Root:
        """
        Ask the URL of the service, and each folder above it, whether an engine answers, for *timeout* seconds in all.

        A server that is busy or away may be an engine, as may one whose answer is not complete.
        """
        end = time.monotonic() + timeout
        is_known = True
        for url in _list_roots(self._url):
            seconds = end - time.monotonic()
            if seconds <= 0:
                return Root(is_known=False)
            try:
                answer = self._send(GET, url, seconds)
            except (EngineUnreachable, AnswerTooLarge, UsageError):
                is_known = False
                continue
            if is_engine(answer):
                return Root(is_known=True, engine_url=url)
            is_known = is_known and answer.status not in BUSY
        return Root(is_known)

    def _send(self, http: HttpRequest, url: str, timeout: float) -> Answer:
        """Send *http* to *url*; raises as `perform`."""
        session = self._take_session()
        if self._tls and not self._trusted and "assert_fingerprint" not in self._tls:
            disable_warnings(InsecureRequestWarning)  # a remark of the report says it
        try:
            answer = run_within(timeout, lambda: self._send_in(session, http, url, timeout))
        except (requests.Timeout, TimeoutError) as error:
            # The session is never idle again: the thread that was given up may still use it.
            raise NoAnswerInTime(f"no answer from {self._url} within {timeout:g} s") from error
        except NOT_SENDABLE as error:
            self._idle_sessions.append(session)
            raise UsageError(self.mask(f"the request to {self._url} cannot be sent: {error}")) from error
        except (requests.RequestException, HTTPError) as error:
            # Errors of the look-up of a name are urllib3's own.
            self._idle_sessions.append(session)
            reason = explain_unreachable(error, url=self._url, answered=self._has_answered)
            reason = f"cannot reach {self._url}: {reason}"
            raise choose_error(error)(self.mask(reason)) from error
        self._idle_sessions.append(session)
        raise_if_proxy_refuses(answer)
        self._has_answered = True
        return answer

    def _send_in(self, session: requests.Session, http: HttpRequest, url: str, timeout: float) -> Answer:
        """Send *http* to *url* in *session*; raises the errors of requests."""
        start = time.monotonic()
        headers = leave_out_headers(http.headers, self._headers) | self._headers
        with session.request(
            http.method,
            url,
            params=_write_params(http.params),
            # Blanks around a value are no part of it, and the library refuses those before it.
            headers={name: value.strip(" ") for name, value in headers.items()},
            json=http.json,
            timeout=timeout,
            verify=self._trusted,
            allow_redirects=False,
            stream=True,
        ) as response:
            content = read_in_time(response.iter_content(CHUNK), start + timeout, LARGEST_BATCH_ANSWER)
            milliseconds = round((time.monotonic() - start) * 1000, 1)
            headers_of_answer = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status_code, content, headers_of_answer, milliseconds)

    def _take_session(self) -> requests.Session:
        """An idle session, whose connection may still be open, or a new one."""
        try:
            return self._idle_sessions.pop()
        except IndexError:
            pass
        session = requests.Session()
        # Neither ~/.netrc nor REQUESTS_CA_BUNDLE: proxies, too, are those of the login.
        session.trust_env = False
        # A cookie of one answer would change the next: an arm of an A/B test would stick, and a repeat would differ.
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        scheme = urlsplit(self._url).scheme
        proxy_headers: dict[str, str] = {}
        if self._proxy is not None:
            session.proxies = {scheme: self._proxy.url}
            proxy_headers = self._proxy.headers
        session.mount(f"{scheme}://", _Adapter(self._tls, proxy_headers, self._addresses))
        self._sessions.append(session)
        return session

    def close(self) -> None:
        """Close all sessions."""
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


def join_url(url: str, path: str) -> str:
    """*path* below the *url* of a service."""
    return f"{url.rstrip('/')}/{path.lstrip('/')}"


def make_sent_url(url: str, http: HttpRequest) -> str:
    """The URL of *http*, with its parameters, at the service at *url*."""
    prepared = requests.Request(http.method, join_url(url, http.path), params=_write_params(http.params)).prepare()
    return prepared.url or ""


def _write_params(params: Mapping[str, Json]) -> dict[str, Any]:
    return {name: _write_value(value) for name, value in params.items()}


def _write_value(value: Any) -> Any:
    """A parameter as a service expects it: true instead of Python's True."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return [_write_value(item) for item in value]
    return value


_NO_REQUEST = Failure(FailureKind.ERROR, "the request is for an engine, and its cluster is an HTTP service")

_SECONDS_TO_IDENTIFY = 5.0
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
    retries = Retries(pace=None if cluster.rate is None else Pace(cluster.rate))
    return HttpSearch(WebConnection(cluster, login), Permissions(cluster, allow_write), retries=retries)


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
        super().__init__(
            connection, Engine(permissions.cluster.service), timeout=permissions.cluster.timeout, retries=retries
        )
        self._permissions = permissions
        self._concurrency = permissions.cluster.concurrency
        self._root: Root | None = None
        """What answered at the roots of the service; None if they were not asked yet."""
        self._one_large_answer = threading.Lock()

    def _check(self, requests: Sequence[SearchRequest], *, budget: float | None) -> None:
        """
        Refuse a request that may not be sent, and an engine in place of a service.

        Raises:
            UsageError: A path of a request is no JSONPath.
            SearchError: The server is an engine, or a request is one that no suite may have, or may change data without
                permission.
        """
        http_requests: list[HttpRequest] = []
        for request in requests:
            http_requests += _list_http_requests(request)
        for http in http_requests:
            for path in http.response_paths:
                compile_path(path)
        for http in http_requests:
            problem = self._permissions.find_problem(http)
            if problem:
                raise SearchError(f"{http.method} {http.path} was not sent: {problem}")
        self._refuse_writes(http_requests, may_be_engine=False)
        seconds = _SECONDS_TO_IDENTIFY
        if budget is not None:
            seconds = min(budget, _SECONDS_TO_IDENTIFY)
        if seconds <= 0:
            return  # nothing will be sent
        if self._root is None:
            self._root = self.connection.ask_roots(seconds)
        if self._root.engine_url:
            raise SearchError(
                f"{self._root.engine_url} is Elasticsearch or OpenSearch, and `http` requests are for services: "
                "use `index` and `body` instead"
            )
        self._refuse_writes(http_requests, may_be_engine=not self._root.is_known)

    def _refuse_writes(self, http_requests: Sequence[HttpRequest], *, may_be_engine: bool) -> None:
        """Raise SearchError for the first request that may change data without permission."""
        for http in http_requests:
            refusal = self._permissions.find_refusal(http, may_be_engine=may_be_engine)
            if refusal is not None:
                raise SearchError(*refusal)

    def _send_all(
        self, requests: Sequence[SearchRequest], health: ServerHealth
    ) -> Generator[tuple[int, Response], None, None]:
        """Send from a few threads; an interrupt cancels the rest and waits for nothing."""
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="relevance-search")
        try:
            positions: dict[Future[Response], int] = {}
            parts: dict[int, list[Future[Response]]] = {}
            for position, request in enumerate(requests):
                parts[position] = self._submit(pool, health, position, request)
                positions |= dict.fromkeys(parts[position], position)
            unanswered = Counter(positions.values())
            ended: Future[Response] = Future()
            health.call_at_end(lambda: ended.set_exception(RunEnded()))
            # `ended` is no answer to wait for: none is left after as many futures as there are requests.
            for future in islice(as_completed([*positions, ended]), len(positions)):
                if future is ended:
                    future.result()
                position = positions[future]
                unanswered[position] -= 1
                if not unanswered[position]:
                    responses = [part.result() for part in parts[position]]
                    yield position, _join_parts(responses, requests[position].document_ids)
        except BaseException:
            health.given_up = INTERRUPTED
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _submit(
        self, pool: ThreadPoolExecutor, health: ServerHealth, position: int, request: SearchRequest
    ) -> list[Future[Response]]:
        """Give *request* to threads of *pool*, in several parts if it looks up many documents."""
        documents = None if request.http is None else request.http.documents
        if not request.document_ids or documents is None:
            return [pool.submit(self._send, health, position, request.http)]
        parts = split_ids(documents, request.document_ids)
        return [pool.submit(self._look_up, health, position, documents, ids) for ids in parts]

    def _send(self, health: ServerHealth, position: int, http: HttpRequest | None) -> Response:
        """
        The response to *http*, the request at *position*, retried while the service is busy and there is time.

        One search may make the service close its connection, so each is given up by itself while others are answered.
        """
        if http is None:
            return _NO_REQUEST
        attempt = 1
        while True:
            health.wait_until(0.0)
            health.wait_for_turn(1)
            outages = health.outages
            if health.given_up is not None and position not in health.resent:
                return health.explain_unsent() or health.given_up
            result = self._send_once(health, http)
            if not isinstance(result.response, Failure):
                return result.response
            if result.response.kind is FailureKind.TIMEOUT and position not in health.resent and not health.given_up:
                # It may have met a node that was stopped.
                health.resent[position] = TIMEOUT
                continue
            if not result.may_retry:
                return result.response
            health.record_outage(result.response, seen=outages, server_pause=result.server_pause)
            if health.given_up is not None:
                return health.given_up
            if health.find_retry_time(attempt, result.server_pause) is None:
                return result.with_attempts(attempt)
            health.resent[position] = result.cause
            if outages == 0:
                # What is sent to see whether an outage is over costs no attempt: the patience of the health limits it.
                attempt += 1

    def _look_up(
        self, health: ServerHealth, position: int, documents: DocumentsRequest, ids: Sequence[str]
    ) -> Response:
        """
        The documents of *ids* that the service has, or a failure where it does not say which.

        A service may return a part of what it is asked for, whatever its total says. So those that an answer lacks are
        asked for again, and are missing only where an answer has none of them.
        """
        hits: dict[str, Hit] = {}
        remaining = list(ids)
        while remaining:
            http = fill_documents_request(documents, remaining)
            problem = self._permissions.find_problem(http)
            if problem:
                # `_check` has seen the request for all of these ids, and not the one for the rest of them.
                return Failure(FailureKind.ERROR, f"{http.method} {http.path} was not sent: {problem}")
            response = self._send(health, position, http)
            if isinstance(response, Failure):
                return response
            wanted = set(remaining)
            found = {hit.id: hit for hit in response.hits if hit.id in wanted}
            if not found:
                if response.hits:
                    return _refuse_other_documents(response, remaining)
                break
            hits |= found
            remaining = [document for document in remaining if document not in found]
        return Ranking(tuple(hits.values()), total=len(hits), exact_scores=True)

    def _send_once(self, health: ServerHealth, http: HttpRequest) -> RetriableResponse:
        """Send *http* if there is time, and record what that says about the service."""
        seconds = health.seconds()
        if isinstance(seconds, Failure):
            return RetriableResponse(seconds)
        try:
            answer = self.connection.perform(http, seconds)
        except NoAnswerInTime as error:
            no_time = health.seconds()
            if isinstance(no_time, Failure):
                return RetriableResponse(no_time)
            failure = Failure(FailureKind.TIMEOUT, str(error))
            health.record_timeout(failure)
            return RetriableResponse(failure)
        except AnswerTooLarge as error:
            failure = Failure(FailureKind.MALFORMED, str(error))
            health.record_answer()
            health.record_refusal(failure)
            return RetriableResponse(failure)
        except EngineUnreachable as error:
            return RetriableResponse(health.record_loss(error), may_retry=True)
        health.record_answer()
        if answer.status in COMPLETE:
            health.record_results()
        elif answer.status >= 400 and answer.status not in BUSY:
            health.record_refusal(read_failure(answer))
        if len(answer.body) < LARGE_ANSWER:
            return self._refuse_secret_ids(_read_answer(answer, http), http)
        # Values take many times the memory of their text: those of large answers are not read side by side.
        with self._one_large_answer:
            return self._refuse_secret_ids(_read_answer(answer, http), http)

    def _refuse_secret_ids(self, result: RetriableResponse, http: HttpRequest) -> RetriableResponse:
        """*result*, or a failure if it has a secret of the login in an id: these are shown and stored as they are."""
        if not isinstance(result.response, Ranking):
            return result
        for hit in result.response.hits:
            if self.connection.has_secret(hit.id):
                reason = f"`{http.ids}` finds an id that has a secret of the login: {hit.id!r}; correct the path"
                return RetriableResponse(Failure(FailureKind.MALFORMED, self.connection.mask(reason)))
        return result


def _list_http_requests(request: SearchRequest) -> list[HttpRequest]:
    """What is sent for *request*: one request, or several for the documents that it looks up."""
    if request.http is None:
        return []
    documents = request.http.documents
    if not request.document_ids or documents is None:
        return [request.http]
    return [fill_documents_request(documents, ids) for ids in split_ids(documents, request.document_ids)]


def _join_parts(parts: Sequence[Response], ids: Sequence[str]) -> Response:
    """The response to a search, which has one part; or to a look-up of *ids*, a failure if one of its *parts* is."""
    if not ids:
        return parts[0]
    hits: dict[str, Hit] = {}
    for part in parts:
        if isinstance(part, Failure):
            return part
        hits |= {hit.id: hit for hit in part.hits}
    found = tuple(hits[document] for document in dict.fromkeys(ids) if document in hits)
    return Ranking(found, total=len(found), exact_scores=True)


def _refuse_other_documents(response: Ranking, ids: Sequence[str]) -> Failure:
    """The failure of a look-up of *ids* whose *response* has other documents only: it does not select by id."""
    asked = f"{ids[0]!r}" if len(ids) == 1 else f"{ids[0]!r} and {count(len(ids) - 1, 'other')}"
    reason = (
        f"the request by ids returned {response.hits[0].id!r}, which was not asked for, and not {asked}; "
        "correct `documents` of the request"
    )
    return Failure(FailureKind.MALFORMED, reason)


def _read_answer(answer: Answer, http: HttpRequest) -> RetriableResponse:
    """The response in *answer*, whose hits are where *http* says."""
    if answer.status not in COMPLETE:
        failure = _read_service_failure(answer, http)
        return RetriableResponse(failure, answer.status in BUSY, read_retry_after(answer.headers))
    content = read_json(answer)
    if isinstance(content, Failure):
        return RetriableResponse(content)
    try:
        response = read_service_answer(content, http)
    except MalformedAnswer as error:
        response = Failure(FailureKind.MALFORMED, str(error))
    if isinstance(response, Failure):
        return RetriableResponse(replace(response, status=answer.status))
    return RetriableResponse(replace(response, to_last_byte=answer.milliseconds))


def _read_service_failure(answer: Answer, http: HttpRequest) -> Failure:
    """The failure of *answer*, whose status is no success, with the reason at the `error` path of *http*, if any."""
    failure = read_failure(answer)
    if http.error is None or answer.status < 400:
        return failure
    content = read_json(answer)
    if isinstance(content, Failure):
        return failure
    try:
        reason = read_error(content, http)
    except MalformedAnswer:
        return failure
    return replace(failure, reason=reason) if reason else failure
