"""The door to an application's own search API."""

from __future__ import annotations

import pytest

pytest.importorskip("trustme")

import hashlib
import json
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import trustme
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.engine import Fault, ScriptedEngine
from builders.ports import closed_port
from harness.errors import EngineUnreachable, LoginRefused, SearchError, UsageError
from harness.metrics.run_scores import failure_text
from harness.model.request import AddressOrigin, Cluster, SearchRequest
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking
from harness.model.run import Response as SearchResponse
from harness.model.suite import HttpRequest, Mark
from harness.search.dialects import open_search
from harness.search.http_service import HttpSearch, WebConnection
from harness.search.login import Login
from harness.search.server_health import MOST_REFUSALS, Clock, Retries
from harness.search.service_requests import Permissions

SEARCH = HttpRequest("GET", "/search", ids="$.ids")
DEFINED = AddressOrigin.CONFIGURATION
"""The place of a service that relevance.toml defines."""


def service(server: HTTPServer | str, **more: Any) -> Cluster:
    url = server if isinstance(server, str) else server.url_for("/api")
    return Cluster("shop", url=url, service="http", **{"timeout": 5.0, **more})


def searches(server: HTTPServer) -> list[Request]:
    """What was sent to the service, without the requests that find out whether it is an engine."""
    return [request for request, _ in server.log if request.path not in ("/", "/api/")]


def ask(
    server: HTTPServer | str, *requests: HttpRequest, environ: dict[str, str] | None = None, **more: Any
) -> list[SearchResponse]:
    with open_search(service(server, **more), environ or {}) as search:
        return search.search([SearchRequest(str(n), None, None, http) for n, http in enumerate(requests)])


def failure(response: SearchResponse) -> Failure:
    assert isinstance(response, Failure), response
    return response


def test_a_get_with_parameters(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/search", method="GET").respond_with_json({"ids": ["a"]})
    http = HttpRequest(
        "GET", "search", "$.ids", params={"q": "größe & more", "page": 1, "fuzzy": True, "tag": ["a", "b"]}
    )

    assert ask(httpserver, http) == [Ranking((Hit("a"),), exact_scores=True)]
    [request] = searches(httpserver)
    sent = request.args.to_dict(flat=False)
    assert sent == {"q": ["größe & more"], "page": ["1"], "fuzzy": ["true"], "tag": ["a", "b"]}


def test_a_post_with_json_and_headers(httpserver: HTTPServer) -> None:
    body = {"query": "shoes", "filters": {"in_stock": True}}
    httpserver.expect_request(
        "/api/search", method="POST", json=body, headers={"X-Locale": "de", "Authorization": "Bearer t-1"}
    ).respond_with_json({"ids": ["a", 2]})
    http = HttpRequest("POST", "/search", "$.ids", json=body, headers={"X-Locale": "de"})

    found = ask(
        httpserver,
        http,
        environ={"TOKEN": "Bearer t-1"},
        headers_env={"Authorization": "TOKEN"},
        origin=DEFINED,
        requests=("POST /search",),
    )

    assert found == [Ranking((Hit("a"), Hit("2")), exact_scores=True)]


@pytest.mark.parametrize("name", ["X-Tenant", "x-tenant", "X-TENANT"])
def test_a_suite_cannot_replace_a_header_of_the_login(httpserver: HTTPServer, name: str) -> None:
    httpserver.expect_request("/api/search").respond_with_json({"ids": ["a"]})
    http = HttpRequest("GET", "/search", "$.ids", headers={name: "other", "X-Locale": "de"})

    ask(httpserver, http, environ={"TENANT": "shop"}, headers_env={"X-Tenant": "TENANT"}, origin=DEFINED)

    [request] = searches(httpserver)
    assert request.headers.getlist("X-Tenant") == ["shop"]
    assert request.headers["X-Locale"] == "de"


def test_the_engine_is_http_and_nobody_is_asked(httpserver: HTTPServer) -> None:
    with open_search(service(httpserver), {}) as search:
        assert search.engine == Engine("http")
    assert httpserver.log == []


def test_many_at_once_keep_their_order_and_are_counted(httpserver: HTTPServer) -> None:
    def echo(request: Request) -> Response:
        return Response(json.dumps({"ids": [request.args["q"]]}), content_type="application/json")

    httpserver.expect_request("/api/search").respond_with_handler(echo)
    requests = [SearchRequest(str(n), None, None, HttpRequest("GET", "search", "$.ids", {"q": n})) for n in range(40)]

    with open_search(service(httpserver), {}) as search:
        responses = search.search(requests)
        streamed = list(search.stream(requests))

    assert [response.hits[0].id for response in responses if isinstance(response, Ranking)] == [
        str(n) for n in range(40)
    ]
    assert len(streamed) == 40
    assert {one.position: one.response for one in streamed} == dict(enumerate(responses))


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Response("oops", 500), FailureKind.ERROR, "oops"),
        (Response("no", 404), FailureKind.ERROR, "no"),
        (Response("slow", 504), FailureKind.TIMEOUT, "slow"),
        (Response("<html>", 200), FailureKind.MALFORMED, "not JSON"),
        (Response("", 200), FailureKind.MALFORMED, "empty"),
        (Response('{"id": []}', 200), FailureKind.MALFORMED, r"`\$.ids`"),
        (Response("", 302, {"location": "/login"}), FailureKind.MALFORMED, "the server redirects to /login; no redire"),
        (Response("", 302), FailureKind.MALFORMED, "did not return a complete answer"),
    ],
)
def test_what_is_no_answer(httpserver: HTTPServer, answer: Response, kind: FailureKind, words: str) -> None:
    httpserver.expect_request("/api/search").respond_with_response(answer)

    found = failure(ask(httpserver, SEARCH)[0])

    assert found.kind is kind
    assert words.replace("\\", "") in found.reason
    assert failure_text(found).count(str(answer.status_code)) == 1  # the status is told once
    assert found.status == answer.status_code


def test_a_request_for_an_engine_fails_alone(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/search").respond_with_json({"ids": []})

    with open_search(service(httpserver), {}) as search:
        engine, http = search.search([SearchRequest("a", "products", {}), SearchRequest("b", None, None, SEARCH)])

    assert "engine" in failure(engine).reason
    assert http == Ranking(exact_scores=True)


def test_a_path_that_is_none_is_refused_before_anything_is_sent(httpserver: HTTPServer) -> None:
    with pytest.raises(UsageError, match="JSONPath"):
        ask(httpserver, HttpRequest("GET", "/search", ids="results"))
    assert httpserver.log == []


def test_blanks_around_a_header_are_no_part_of_it(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/search").respond_with_json({"ids": ["a"]})
    http = HttpRequest("GET", "/search", "$.ids", headers={"X-Query": " größe "})

    ask(httpserver, http, environ={"TENANT": " shop"}, headers_env={"X-Tenant": "TENANT"}, origin=DEFINED)
    [request] = searches(httpserver)
    assert request.headers["X-Query"] == "größe"
    assert request.headers["X-Tenant"] == "shop"


def test_what_cannot_be_sent_is_refused(httpserver: HTTPServer) -> None:
    with pytest.raises(UsageError, match="cannot be sent"):
        ask(httpserver, HttpRequest("GET", "/search", "$.ids", headers={"X": "a\nb"}))


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        ({"error": {"msg": "undefined field nam", "code": 400}}, 400, "undefined field nam"),
        ({"error": {"msg": "undefined field nam"}}, 200, "undefined field nam"),
        ({"error": "away"}, 500, "away"),
        ({"message": "away"}, 500, '{ "message": "away" }'),
        ([[[]]], 500, "[ [ [] ] ]"),
    ],
)
def test_the_reason_of_an_error_is_where_the_request_says(
    httpserver: HTTPServer, answer: Any, status: int, reason: str
) -> None:
    httpserver.expect_request("/api/search").respond_with_json(answer, status=status)
    request = replace(SEARCH, error="$.error.msg")

    assert ask(httpserver, request) == [Failure(FailureKind.ERROR, reason, status)]


def test_partial_results_are_a_failure_with_their_status(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/search").respond_with_json({"ids": [], "partial": True})

    found = failure(*ask(httpserver, replace(SEARCH, partial="$.partial")))
    assert (found.kind, found.status) == (FailureKind.PARTIAL, 200)
    assert found.reason == "the service searched only a part of the documents (`$.partial`: true)"


@pytest.mark.parametrize("status", [401, 403])
def test_a_login_that_everything_refuses_is_an_error_that_hides_it(httpserver: HTTPServer, status: int) -> None:
    httpserver.expect_request("/api/search").respond_with_data("bad token hunter2-secret", status=status)

    with pytest.raises(LoginRefused) as caught:
        ask(httpserver, SEARCH, SEARCH, environ={"TOKEN": "hunter2-secret"}, headers_env={"X-Token": "TOKEN"})
    assert "hunter2-secret" not in str(caught.value)
    assert "${TOKEN}" in str(caught.value)


def test_nothing_listens() -> None:
    with closed_port() as port, pytest.raises(EngineUnreachable, match="refused"):
        ask(f"http://127.0.0.1:{port}", SEARCH, SEARCH)


def test_an_answer_that_does_not_come_is_a_timeout() -> None:
    held = threading.Event()

    def hold(request: Request) -> Response:
        held.wait(5)
        return Response("{}")

    with HTTPServer(port=0, threaded=True) as server:
        server.expect_request("/api/slow").respond_with_handler(hold)
        server.expect_request("/api/search").respond_with_json({"ids": []})
        slow, quick = ask(server, HttpRequest("GET", "slow", "$.ids"), SEARCH, timeout=0.5)
        held.set()

    assert failure(slow).kind is FailureKind.TIMEOUT
    assert quick == Ranking(exact_scores=True)


@pytest.mark.parametrize(
    ("login", "environ"),
    [
        ({"bearer_token_env": "TOKEN"}, {"TOKEN": "a-long-t0ken-of-the-login"}),
        ({"headers_env": {"Authorization": "TOKEN"}}, {"TOKEN": "Bearer a-long-t0ken-of-the-login"}),
        ({"api_key_env": "TOKEN"}, {"TOKEN": "shop:a-key"}),
        ({"username_env": "NAME", "password_env": "TOKEN"}, {"NAME": "shop", "TOKEN": "shop"}),
    ],
)
@pytest.mark.parametrize("write", ["{}", "shop-{}", "{}/1"])
def test_an_id_with_a_login_is_no_id(
    httpserver: HTTPServer, login: dict[str, Any], environ: dict[str, str], write: str
) -> None:
    """Ids are shown as they are; one with a short word of the login is one."""

    def respond(request: Request) -> Response:
        sent = request.headers["Authorization"].rpartition(" ")[2]
        ids = ["shop-1", write.format(sent)] if "echo" in request.args else ["shop-1"]
        return Response(json.dumps({"ids": ids}), content_type="application/json")

    httpserver.expect_request("/api/search").respond_with_handler(respond)
    cluster = Cluster("test", url=httpserver.url_for("/api"), service="http", **login)
    found = [
        SearchRequest("shoes", None, None, HttpRequest("GET", "/search", "$.ids", params))
        for params in ({}, {"echo": 1})
    ]
    with open_search(cluster, environ) as search:
        sound, refused = search.search(found)
    assert sound == Ranking((Hit("shop-1"),), exact_scores=True)
    assert isinstance(refused, Failure)
    shown = write.format("${TOKEN}")
    assert refused.kind is FailureKind.MALFORMED
    assert "`$.ids` finds an id that has a secret of the login: " in refused.reason
    assert shown.removeprefix("shop-") in refused.reason


def test_a_cookie_that_the_service_sets_is_not_sent_back(httpserver: HTTPServer) -> None:
    """Each request is answered as the first: no arm of a test of variants sticks, nor does a session."""
    httpserver.expect_request("/api/search").respond_with_json({"ids": []}, headers={"Set-Cookie": "arm=b; Path=/"})
    for environ, headers_env in (({}, {}), ({"COOKIE": "sid=own"}, {"Cookie": "COOKIE"})):
        cluster = Cluster("test", url=httpserver.url_for("/api"), service="http", headers_env=headers_env)
        httpserver.clear_log()
        with open_search(cluster, environ) as search:
            for _ in range(3):
                search.search([SearchRequest("shoes", None, None, HttpRequest("GET", "/search", "$.ids"))])
        assert [request.headers.get("Cookie") for request in searches(httpserver)] == [environ.get("COOKIE")] * 3


def test_later_searches_take_the_connections_of_earlier_ones() -> None:
    ports: set[int] = set()

    class KeepAlive(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            ports.add(self.client_address[1])
            self.send_response(200)
            self.send_header("Content-Length", "11")
            self.end_headers()
            self.wfile.write(b'{"ids": []}')

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), KeepAlive) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with open_search(service(f"http://127.0.0.1:{server.server_port}", concurrency=1), {}) as search:
            for _ in range(3):
                [ranking] = search.search([SearchRequest("q", None, None, SEARCH)])
                assert isinstance(ranking, Ranking)
                assert ranking.to_last_byte is not None
                assert 0 <= ranking.to_last_byte < 5000
        server.shutdown()
    assert len(ports) == 1


class TestRetrying:
    @staticmethod
    def search(server: HTTPServer, slept: list[float], **more: Any) -> HttpSearch:
        clock = Clock(sleep=slept.append, chance=lambda: 0.0)
        cluster = service(server)
        retries = Retries(clock=clock, **more)
        return HttpSearch(WebConnection(cluster, Login()), Permissions(cluster), retries=retries)

    @staticmethod
    def busy_for(times: int, headers: dict[str, str]) -> Callable[[Request], Response]:
        left = iter(range(times))

        def handle(request: Request) -> Response:
            busy = next(left, None) is not None
            return Response("busy", 503, headers) if busy else Response('{"ids": ["a"]}')

        return handle

    @pytest.mark.parametrize(("status", "most"), [(500, MOST_REFUSALS + 4), (503, 17 * 4)])
    def test_a_service_that_always_fails_is_given_up(self, status: int, most: int) -> None:
        with ScriptedEngine() as server:
            server.headers = {}
            server.faults += [Fault("/", 404, times=1), Fault("/search", status, times=9999)]
            slept = [0.0]
            clock = Clock(now=lambda: sum(slept), sleep=slept.append, chance=lambda: 0.5)
            cluster = Cluster("test", url=server.url, service="http")
            retries = Retries(clock=clock)
            with HttpSearch(WebConnection(cluster, Login()), Permissions(cluster), retries=retries) as search:
                responses = search.search(
                    [SearchRequest(str(n), None, None, HttpRequest("GET", "/search", "$.ids")) for n in range(1000)]
                )
            sent = [path for _, path in server.sent if path == "/search"]

        assert {response.status for response in responses if isinstance(response, Failure)} == {status}
        assert len(responses) == 1000
        assert len(sent) <= most

    def test_what_a_service_was_sent_again_is_reported(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/api/search").respond_with_handler(self.busy_for(1, {}))
        with self.search(httpserver, []) as search:
            [streamed] = search.stream([SearchRequest("a", None, None, SEARCH)])

        assert streamed.resent == "status 503"

    def test_a_busy_service_is_asked_again_when_it_says(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/api/search").respond_with_handler(self.busy_for(2, {"Retry-After": "3"}))
        slept: list[float] = []

        with self.search(httpserver, slept) as search:
            [response] = search.search([SearchRequest("a", None, None, SEARCH)])

        assert response == Ranking((Hit("a"),), exact_scores=True)
        assert slept == pytest.approx([3.0, 3.0], abs=0.1)

    def test_in_the_end_it_fails_and_says_how_often(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/api/search").respond_with_handler(self.busy_for(10**9, {}))

        with self.search(httpserver, [], patience=0.1) as search:
            [response] = search.search([SearchRequest("a", None, None, SEARCH)])

        assert failure(response).status == 503
        assert f"given up after {len(searches(httpserver))} attempts" in failure(response).reason

    def test_what_timed_out_is_sent_once_more(self, httpserver: HTTPServer) -> None:
        late = iter([True])

        def handle(_: Request) -> Response:
            if next(late, False):
                time.sleep(0.4)
            return Response('{"ids": ["a"]}')

        httpserver.expect_request("/api/search").respond_with_handler(handle)
        with open_search(service(httpserver, timeout=0.3), {}) as search:
            [streamed] = search.stream([SearchRequest("a", None, None, SEARCH)])

        assert streamed.response == Ranking((Hit("a"),), exact_scores=True)
        assert streamed.resent == "timeout"

    def test_without_time_nothing_is_sent(self, httpserver: HTTPServer) -> None:
        with self.search(httpserver, []) as search:
            [response] = search.search([SearchRequest("a", None, None, SEARCH)], budget=0)

        assert failure(response).kind is FailureKind.NOT_RUN
        assert httpserver.log == []


def test_a_login_from_netrc_does_not_take_the_place_of_the_configured_one(
    httpserver: HTTPServer, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine localhost login other password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    httpserver.expect_request("/api/search").respond_with_json({"ids": []})

    ask(httpserver, SEARCH, environ={"T": "Bearer t"}, headers_env={"Authorization": "T"})

    assert httpserver.log[0][0].headers["Authorization"] == "Bearer t"


def test_a_certificate_by_ca_by_fingerprint_and_by_neither(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other = trustme.CA()
    other.cert_pem.write_to_path(str(tmp_path / "other.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "other.pem"))
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    certificate = authority.issue_cert("localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    der = ssl.PEM_cert_to_DER_cert(certificate.cert_chain_pems[0].bytes().decode())
    with HTTPServer(host="localhost", port=0, ssl_context=context) as server:
        server.expect_request("/api/search").respond_with_json({"ids": []})

        assert ask(server, SEARCH, ca_certs=str(tmp_path / "ca.pem")) == [Ranking(exact_scores=True)]
        assert ask(server, SEARCH, fingerprint=hashlib.sha256(der).hexdigest()) == [Ranking(exact_scores=True)]
        with pytest.raises(EngineUnreachable, match="differs from `fingerprint`"):
            ask(server, SEARCH, fingerprint="ab" * 32)
        with pytest.raises(EngineUnreachable, match="not trusted"):
            ask(server, SEARCH)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="username_env"):
        open_search(service("http://me:secret@localhost"), {})


def test_a_client_object_is_none_of_a_service(httpserver: HTTPServer) -> None:
    with pytest.raises(UsageError, match="HTTP service"):
        open_search(service(httpserver), {}, client=object())


def test_closing_the_stream_leaves_what_has_not_begun() -> None:
    requests = [SearchRequest(str(n), None, None, SEARCH) for n in range(200)]
    with HTTPServer() as server:  # its own, as what has begun may reach it when this test is over
        server.expect_request("/api/search").respond_with_json({"ids": []})
        with open_search(service(server), {}) as search:
            stream = search.stream(requests)
            next(stream)
            stream.close()

        assert len(server.log) < 200


WRITES = [
    (HttpRequest("POST", "/search", "$.ids"), "the method POST may change data"),
    (HttpRequest("PUT", "/search", "$.ids"), "the method PUT may change data"),
    (HttpRequest("GET", "/victim/_delete_by_query", "$.ids"), "the path has _delete_by_query"),
    (HttpRequest("GET", "victim/%5Fclose?x=1", "$.ids"), "the path has _close"),
    (HttpRequest("GET", "victim/%255f%2564elete_by_query", "$.ids"), "the path has _delete_by_query"),
    (HttpRequest("GET", "victim%5c_close", "$.ids"), "the path has _close"),
]


@pytest.mark.parametrize(("http", "reason"), WRITES)
def test_what_may_change_data_is_not_sent_to_a_url(httpserver: HTTPServer, http: HttpRequest, reason: str) -> None:
    with pytest.raises(SearchError) as caught:
        ask(httpserver, *(replace(one, params={"from": reason}) for one in (SEARCH, http)))

    assert reason in str(caught.value)
    assert "relevance.toml" in str(caught.value)
    assert "allow_write" in str(caught.value)
    assert not [request for request, _ in httpserver.log if "from" in request.args]


@pytest.mark.parametrize("http", [http for http, _ in WRITES])
def test_nor_to_a_service_of_relevance_toml_that_does_not_list_it(httpserver: HTTPServer, http: HttpRequest) -> None:
    httpserver.expect_request(re.compile("/api/victim.*")).respond_with_json({"ids": []})
    cluster = {"origin": DEFINED, "requests": ("POST /other", "PUT /search/*"), "mark": Mark("relevance.toml", 3, 1)}

    if http.method == "GET":
        assert ask(httpserver, http, **cluster) == [Ranking(exact_scores=True)], "it only reads"
        return
    with pytest.raises(SearchError) as caught:
        ask(httpserver, http, **cluster)
    line = f'add `requests = ["{http.method} /search"]` to [clusters.shop] (relevance.toml:3:1)'
    assert str(caught.value).endswith(f"{line}, or give allow_write")
    assert httpserver.log == []


CONSENTS: Mapping[str, Mapping[str, Any]] = {
    "listed": {"origin": DEFINED, "requests": ("GET /x", "POST /search")},
    "listed by a pattern": {"origin": DEFINED, "requests": ("POST /se*",)},
    "allow_write": {},
}


@pytest.mark.parametrize("consent", CONSENTS)
def test_it_is_sent_where_somebody_vouches_for_the_request(httpserver: HTTPServer, consent: str) -> None:
    httpserver.expect_request("/api/search").respond_with_json({"ids": ["a"]})
    http = HttpRequest("POST", "/search", "$.ids", json={"q": "shoes"})
    cluster = service(httpserver, **CONSENTS[consent])

    with open_search(cluster, {}, allow_write=consent == "allow_write") as search:
        assert search.search([SearchRequest("a", None, None, http)]) == [Ranking((Hit("a"),), exact_scores=True)]


@pytest.mark.parametrize("origin", [AddressOrigin.SUITE, AddressOrigin.COMMAND_LINE])
def test_only_the_trusted_file_lists_requests(httpserver: HTTPServer, origin: AddressOrigin) -> None:
    with pytest.raises(SearchError, match="may change data"):
        ask(httpserver, HttpRequest("POST", "/search", "$.ids"), origin=origin, requests=("POST /search",))


ROOTS = {
    "elasticsearch": Response(
        json.dumps({"version": {"number": "9.4.3", "build_flavor": "default"}, "tagline": "You Know, for Search"})
    ),
    "opensearch": Response(json.dumps({"version": {"distribution": "opensearch", "number": "3.5.0"}})),
    "a login is missing": Response(
        json.dumps({"error": {"root_cause": [], "type": "security_exception"}, "status": 401}), 401
    ),
    "opensearch's login": Response("Unauthorized", 401, {"WWW-Authenticate": 'Basic realm="OpenSearch Security"'}),
    "the header of the product": Response("", 503, {"X-Elastic-Product": "Elasticsearch"}),
}


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("path", ["/", "/api/"])
def test_an_engine_is_no_service(httpserver: HTTPServer, root: str, path: str) -> None:
    httpserver.expect_request(path).respond_with_response(ROOTS[root])

    http = HttpRequest("POST", "/victim/_delete_by_query", "$.ids")
    cluster = service(httpserver, origin=DEFINED, requests=("POST /victim/_delete_by_query",))

    with (
        open_search(cluster, {}, allow_write=True) as search,
        pytest.raises(SearchError, match=r"/ is Elasticsearch or OpenSearch, and `http` requests are for services"),
    ):
        search.search([SearchRequest("a", None, None, http)])
    assert searches(httpserver) == []


def test_an_engine_below_a_gateway_is_no_service(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/es/").respond_with_response(ROOTS["opensearch"])
    httpserver.expect_request("/es/victim/").respond_with_json({"victim": {"aliases": {}, "mappings": {}}})

    with pytest.raises(SearchError, match="/es/ is Elasticsearch or OpenSearch"):
        ask(httpserver.url_for("/es/victim"), SEARCH)


def answer_late(seconds: float, answer: Response) -> Callable[[Request], Response]:
    def handle(_: Request) -> Response:
        time.sleep(seconds)
        return answer

    return handle


class TestWhenNothingSaysThatItIsNoEngine:
    """Whatever is allowed, only what reads and what is listed is sent."""

    ANSWERS: ClassVar[Mapping[str, Callable[[Request], Response]]] = {
        "late": answer_late(1.0, Response("{}")),
        "busy": lambda _: Response("", 429),
        "away": lambda _: Response("<html>", 502),
    }

    @pytest.fixture(params=ANSWERS)
    def url(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        monkeypatch.setattr("harness.search.http_service._SECONDS_TO_IDENTIFY", 0.3)
        with HTTPServer(port=0, threaded=True) as server:
            server.expect_request("/").respond_with_handler(self.ANSWERS[request.param])
            server.expect_request(re.compile("/.+")).respond_with_json({"ids": ["a"]})
            yield server.url_for("")
            assert not [request.path for request, _ in server.log if "/_" in request.path]

    @staticmethod
    def ask(url: str, http: HttpRequest, **more: Any) -> list[SearchResponse]:
        with open_search(service(url, **more), {}, allow_write=True) as search:
            return search.search([SearchRequest("a", None, None, http)])

    @pytest.mark.parametrize("origin", AddressOrigin)
    @pytest.mark.parametrize(
        "http",
        [HttpRequest("POST", "/victim/_delete_by_query", "$.ids"), HttpRequest("GET", "/victim/_refresh", "$.ids")],
    )
    def test_nothing_else_is_sent(self, url: str, origin: AddressOrigin, http: HttpRequest) -> None:
        with pytest.raises(SearchError) as caught:
            self.ask(url, http, origin=origin)
        assert "and `GET /` had no answer that shows that this is not an engine" in str(caught.value)
        assert f'requests = ["{http.method} {http.path}"]' in str(caught.value)

    def test_a_get_is_sent(self, url: str) -> None:
        assert self.ask(url, SEARCH) == [Ranking((Hit("a"),), exact_scores=True)]

    def test_a_listed_request_is_sent(self, url: str) -> None:
        http = HttpRequest("POST", "/indexes/shop/search", "$.ids")
        assert self.ask(url, http, origin=DEFINED, requests=("POST /indexes/*/search",)) == [
            Ranking((Hit("a"),), exact_scores=True)
        ]


def test_a_short_time_out_does_not_cut_the_look_whether_an_engine_answers() -> None:
    with HTTPServer(port=0, threaded=True) as server:
        server.expect_request("/").respond_with_handler(answer_late(0.3, ROOTS["elasticsearch"]))
        cluster = service(server.url_for(""), timeout=0.02)
        with (
            open_search(cluster, {}, allow_write=True) as search,
            pytest.raises(SearchError, match="is Elasticsearch or OpenSearch"),
        ):
            search.search([SearchRequest("a", None, None, HttpRequest("POST", "/victim/_delete_by_query", "$.ids"))])


def test_what_no_suite_may_have_is_not_sent_for_a_hook_either(httpserver: HTTPServer) -> None:
    http = HttpRequest("GET", "/search", "$.ids", headers={"X-HTTP-Method-Override": "DELETE"})

    with (
        open_search(service(httpserver, origin=DEFINED), {}, allow_write=True) as search,
        pytest.raises(SearchError, match="the header X-HTTP-Method-Override may replace the method"),
    ):
        search.search([SearchRequest("a", None, None, http)])
    assert httpserver.log == []


def test_the_host_of_the_trusted_file_is_sent(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/search").respond_with_json({"ids": []})

    ask(httpserver, SEARCH, host="shop.example")

    assert {request.headers["Host"] for request, _ in httpserver.log} == {"shop.example"}


@pytest.mark.parametrize("content", ["", "[]", '{"version": "7"}', '{"version": {"number": "7"}}', '{"error": "no"}'])
def test_another_root_is_no_engine_s_and_is_asked_for_once(httpserver: HTTPServer, content: str) -> None:
    httpserver.expect_request("/").respond_with_data(content)
    httpserver.expect_request("/api/search").respond_with_json({"ids": ["a"]})

    with open_search(service(httpserver), {}) as search:
        for _ in range(2):
            assert search.search([SearchRequest("a", None, None, SEARCH)]) == [Ranking((Hit("a"),), exact_scores=True)]
    assert [request.path for request, _ in httpserver.log] == ["/api/", "/", "/api/search", "/api/search"]
