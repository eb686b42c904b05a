"""Logins, certificates of the client, and proxies, each as a server sees them."""

from __future__ import annotations

import pytest

pytest.importorskip("trustme")

import base64
import json
import re
import socket
import socketserver
import ssl
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import requests
import trustme
from cryptography.hazmat.primitives import serialization
from pytest_httpserver import HTTPServer
from urllib3.exceptions import ProxyError
from werkzeug import Request, Response

from builders.engine import ROOT, ScriptedEngine
from builders.ports import closed_port
from builders.proxy import Proxy
from harness.errors import EngineUnreachable, LoginRefused, SearchError, UsageError
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Engine, Hit, Ranking
from harness.model.suite import HttpRequest
from harness.run.notes import describe_connection
from harness.search.connection import explain_unreachable
from harness.search.dialects import open_search
from harness.search.login import Login, list_login_remarks, make_tls_options, read_login
from harness.search.login import Proxy as ProxyAddress

SHOES = SearchRequest("shoes", "products", {"query": {"match": {"title": "red shoes"}}})
SERVICE = SearchRequest("shoes", None, None, HttpRequest("GET", "/search", "$.ids", {"q": "red shoes"}))
PASSWORD = "p:ä ß@/"
KEY_PASSWORD = "of-the-key"


def basic(login: str) -> str:
    return f"Basic {base64.b64encode(login.encode()).decode()}"


@pytest.fixture
def engine(engine: ScriptedEngine) -> ScriptedEngine:
    engine.headers = {}
    engine.gets["/search?q=red+shoes"] = {"ids": ["a"]}
    return engine


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy() as server:
        yield server


def found(cluster: Cluster, environ: dict[str, str], engine: ScriptedEngine | None = None) -> list[str]:
    if engine is not None and cluster.service == "http":
        engine.root = {}
    with open_search(cluster, environ) as search:
        [response] = search.search([SERVICE if cluster.service == "http" else SHOES])
    assert isinstance(response, Ranking), response
    return [hit.id for hit in response.hits]


# Bearer tokens, and keys that may not ask what the server is.


@pytest.mark.parametrize("service", ["engine", "http"])
def test_a_bearer_token(httpserver: HTTPServer, service: str) -> None:
    httpserver.expect_request("/").respond_with_handler(identity)
    httpserver.expect_request("/search").respond_with_json({"ids": []})
    cluster = Cluster("test", url=httpserver.url_for("/").rstrip("/"), service=service, bearer_token_env="TOKEN")

    with open_search(cluster, {"TOKEN": "t0ken-secret"}) as search:
        if service == "http":
            search.search([SERVICE])
    assert httpserver.log[-1][0].headers["Authorization"] == "Bearer t0ken-secret"


@pytest.mark.parametrize("service", ["engine", "http"])
@pytest.mark.parametrize("value", ["Bearer s3cr3t-key", "sid=s3cr3t-key; theme=x", "an-id:s3cr3t-key"])
def test_a_server_that_repeats_a_part_of_a_login_is_masked(httpserver: HTTPServer, service: str, value: str) -> None:
    echo = {"error": {"type": "x", "reason": "invalid token: s3cr3t-key"}, "status": 400, "ids": 5}
    httpserver.expect_request("/").respond_with_handler(identity)
    httpserver.expect_request(re.compile("/.+")).respond_with_json(echo, status=400)
    url = httpserver.url_for("/").rstrip("/")
    cluster = Cluster("test", url=url, service=service, headers_env={"Authorization": "SHOP"})

    with open_search(cluster, {"SHOP": value}) as search:
        [response] = search.search([SERVICE if service == "http" else SHOES])
    assert "s3cr3t" not in str(response)
    assert "invalid token: ${SHOP}" in str(response)


ELASTICSEARCH_REFUSES = {
    "error": {
        "root_cause": [],
        "type": "security_exception",
        "reason": "action [cluster:monitor/main] is unauthorized for API key id [x] of user [elastic]",
    },
    "status": 403,
}
OPENSEARCH_REFUSES = {
    "error": {
        "root_cause": [],
        "type": "security_exception",
        "reason": "no permissions for [cluster:monitor/main] and User [name=reader, backend_roles=[]]",
    },
    "status": 403,
}


@pytest.mark.parametrize(
    ("refusal", "headers", "kind"),
    [
        (ELASTICSEARCH_REFUSES, {}, "elasticsearch"),
        ({"error": "no"}, {"X-Elastic-Product": "Elasticsearch"}, "elasticsearch"),
        (OPENSEARCH_REFUSES, {}, "opensearch"),
    ],
)
def test_a_login_that_may_only_search_goes_on_and_says_what_is_unknown(
    httpserver: HTTPServer, refusal: Any, headers: dict[str, str], kind: str
) -> None:
    httpserver.expect_request("/").respond_with_json(refusal, status=403, headers=headers)
    cluster = Cluster("test", url=httpserver.url_for(""))

    with open_search(cluster, {}) as search:
        assert search.engine == Engine(kind)
        notes = list(describe_connection(cluster, search.engine))
    assert notes == [f"the version of {kind} is unknown, because the login may not use `GET /`"]


@pytest.mark.parametrize(
    ("answer", "status", "expected"),
    [
        (ELASTICSEARCH_REFUSES, 403, "opensearch 2.17"),
        ({"error": "forbidden"}, 403, "opensearch 2.17"),
        ({"error": {"type": "security_exception", "reason": "no user"}, "status": 401}, 401, "opensearch 2.17"),
        ({"status": "ok"}, 200, "opensearch 2.17"),
        ({}, 404, "opensearch 2.17"),
        (ROOT, 200, "elasticsearch 9.4.3"),
    ],
)
def test_what_is_assumed_of_a_server_counts_where_it_does_not_say_its_version(
    httpserver: HTTPServer, answer: Any, status: int, expected: str
) -> None:
    httpserver.expect_request("/").respond_with_json(answer, status=status)

    with open_search(Cluster("test", url=httpserver.url_for("")), {}, assumed_engine="opensearch 2.17") as search:
        assert str(search.engine) == expected
        assert search.engine.stated is (expected == "opensearch 2.17")


def test_what_a_cluster_says_of_its_engine_comes_before_what_is_assumed(httpserver: HTTPServer) -> None:
    cluster = Cluster("test", url=httpserver.url_for(""), engine="elasticsearch 8.15")

    with open_search(cluster, {}, assumed_engine="opensearch 2.17") as search:
        assert str(search.engine) == "elasticsearch 8.15"
    assert not httpserver.log


def test_an_engine_without_a_version_that_is_stated_is_no_remark() -> None:
    assert not list(describe_connection(None, Engine("opensearch", "", stated=True)))
    assert not list(describe_connection(None, Engine("not asked")))


# What others could read.


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"url": "http://search.example:9200", "api_key_env": "K"}, "without encryption to http://search.example:9200"),
        ({"url": "http://10.0.0.7", "headers_env": {"X-Token": "T"}}, "without encryption to http://10.0.0.7"),
        (
            {"url": "https://h", "nodes": ("http://other",), "bearer_token_env": "T"},
            "without encryption to http://other",
        ),
        ({"url": "https://h", "verify_certs": False}, "certificate is not verified (`verify_certs = false`)"),
        ({"cloud_id": "a:b", "verify_certs": False}, "certificate is not verified"),
        (
            {
                "url": "https://h",
                "proxy": "http://proxy:3128",
                "proxy_username_env": "U",
                "proxy_password_env": "P",
            },
            "the login of the proxy is sent without encryption to http://proxy:3128",
        ),
        ({"url": "http://127.0.0.1:9200", "api_key_env": "K"}, None),
        ({"url": "http://localhost:9200", "api_key_env": "K"}, None),
        ({"url": "http://[::1]:9200", "api_key_env": "K"}, None),
        ({"url": "http://search.example:9200"}, None),
        ({"url": "https://h", "api_key_env": "K"}, None),
        ({"url": "http://h", "verify_certs": False}, None),
    ],
)
def test_what_is_not_safe_is_a_remark(more: dict[str, Any], words: str | None) -> None:
    remarks = list_login_remarks(Cluster("test", **more))

    assert [words in remark for remark in remarks if words] == ([True] if words else [])
    assert bool(remarks) is bool(words)


# The client's certificate.


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[trustme.CA, str]:
    made = trustme.CA()
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    made.cert_pem.write_to_path(str(path))
    return made, str(path)


def identity(request: Request) -> Response:
    """An engine for those who ask as of an engine, and a service for others."""
    return Response(json.dumps(ROOT if request.headers["Accept"] == "application/json" else {}))


@pytest.fixture(scope="module")
def mutual(authority: tuple[trustme.CA, str]) -> Iterator[HTTPServer]:
    """A server that wants a certificate of its clients."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority[0].issue_cert("localhost").configure_cert(context)
    authority[0].configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    with HTTPServer(host="localhost", port=0, ssl_context=context) as server:
        server.expect_request("/").respond_with_handler(identity)
        server.expect_request("/search").respond_with_json({"ids": ["a"]})
        yield server


@pytest.fixture
def files(authority: tuple[trustme.CA, str], tmp_path: Path) -> dict[str, str]:
    """Certificate and key in files of their own, in one, and the key encrypted."""
    made = authority[0].issue_cert("client")
    key, chain = made.private_key_pem.bytes(), made.cert_chain_pems[0].bytes()
    loaded = serialization.load_pem_private_key(key, None)
    locked = loaded.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(KEY_PASSWORD.encode()),
    )
    other = authority[0].issue_cert("other").private_key_pem.bytes()
    contents = {"cert": chain, "key": key, "both": key + chain, "locked": locked, "other": other, "none": b"x"}
    for name, content in contents.items():
        (tmp_path / f"{name}.pem").write_bytes(content)
    return {name: str(tmp_path / f"{name}.pem") for name in contents}


def with_certificate(server: HTTPServer, ca: str, files: dict[str, str], **more: str) -> Cluster:
    named = {key: files.get(value, value) for key, value in more.items()}
    return Cluster("test", url=server.url_for("").rstrip("/"), ca_certs=ca, timeout=5.0, **named)  # type: ignore[arg-type]


@pytest.mark.parametrize("service", ["engine", "http"])
@pytest.mark.parametrize(
    "more",
    [
        {"client_cert": "cert", "client_key": "key"},
        {"client_cert": "both"},
        {"client_cert": "cert", "client_key": "locked", "client_key_password_env": "PW"},
    ],
    ids=["two files", "one file", "an encrypted key"],
)
def test_a_certificate_of_the_client(
    mutual: HTTPServer, authority: tuple[trustme.CA, str], files: dict[str, str], more: dict[str, str], service: str
) -> None:
    cluster = with_certificate(mutual, authority[1], files, service=service, **more)

    with open_search(cluster, {"PW": KEY_PASSWORD}) as search:
        if service == "http":
            assert search.search([SERVICE]) == [Ranking((Hit("a"),), exact_scores=True)]
        else:
            assert search.engine == Engine("elasticsearch", "9.4.3")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"client_cert": "cert", "client_key": "locked"}, "`client_key_password_env`"),
        (
            {"client_cert": "cert", "client_key": "locked", "client_key_password_env": "WRONG"},
            "is WRONG the password of its key",
        ),
        ({"client_cert": "cert", "client_key": "other"}, "`client_key` is not the key of `client_cert`"),
        ({"client_cert": "none", "client_key": "key"}, "both files should be PEM"),
        ({"client_cert": "cert", "client_key": "nowhere"}, "`client_key` does not exist"),
    ],
)
def test_a_certificate_that_cannot_be_used_is_refused_before_anything_is_sent(
    mutual: HTTPServer, authority: tuple[trustme.CA, str], files: dict[str, str], more: dict[str, str], words: str
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        open_search(with_certificate(mutual, authority[1], files, **more), {"WRONG": "other-secret"})
    assert "other-secret" not in str(caught.value)


def test_a_server_that_wants_a_certificate_says_so(mutual: HTTPServer, authority: tuple[trustme.CA, str]) -> None:
    with pytest.raises(EngineUnreachable, match="`client_cert`"):
        open_search(with_certificate(mutual, authority[1], {}), {})


@pytest.mark.parametrize("service", ["engine", "http"])
@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_says_where_no_login_was_sent(httpserver: HTTPServer, service: str, status: int) -> None:
    httpserver.expect_request(re.compile(".*")).respond_with_data("not for everybody", status=status)
    url = httpserver.url_for("")
    request = SERVICE if service == "http" else SearchRequest("shoes", "products", {})

    def search_with(cluster: Cluster, stated: str | None) -> str:
        with (
            pytest.raises(LoginRefused) as caught,
            open_search(cluster, {"TOKEN": "abcdef"}, engine=stated) as search,
        ):
            search.search([request])
        return str(caught.value)

    for stated in ("opensearch 2.19", None) if service == "engine" else (None,):
        without = search_with(Cluster("test", url=url, service=service), stated)
        with_one = search_with(Cluster("test", url=url, service=service, headers_env={"X-Token": "TOKEN"}), stated)

        assert f"status {status}" in without
        assert "no login was sent, as the cluster has none" in without
        assert "refuses the login" not in without
        assert "refuses the login" in with_one
        assert "no login was sent" not in with_one


@pytest.mark.parametrize("url", ["https://localhost:9", "HTTPS://localhost:9", "Https://localhost:9"])
def test_https_is_tls_in_any_case(files: dict[str, str], url: str) -> None:
    cluster = Cluster("test", url=url, client_cert=files["both"])

    assert make_tls_options(cluster, Login(), url)["cert_file"] == files["both"]
    assert list_login_remarks(cluster) == []


def test_the_url_without_tls_is_named(files: dict[str, str]) -> None:
    nodes = ("https://localhost:9", "http://localhost:10")
    with pytest.raises(UsageError, match="begins with https://, found http://localhost:10"):
        open_search(Cluster("test", url=nodes[0], nodes=nodes[1:], client_cert=files["both"]), {})


def test_a_certificate_of_the_client_needs_tls(files: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="client certificate needs a URL that begins with https://"):
        open_search(Cluster("test", url="http://localhost:9", client_cert=files["both"]), {})


@pytest.mark.parametrize("service", ["engine", "http"])
def test_a_certificate_that_is_not_verified_is_not_warned_of_by_a_library(
    authority: tuple[trustme.CA, str], service: str
) -> None:
    """A warning of urllib3 would be an error in a session of pytest that turns warnings into errors."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority[0].issue_cert("another.example").configure_cert(context)
    with HTTPServer(host="localhost", port=0, ssl_context=context) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        server.expect_request("/").respond_with_json(ROOT if service == "engine" else {})
        server.expect_request("/search").respond_with_json({"ids": ["a"]})
        cluster = Cluster("test", url=server.url_for("").rstrip("/"), service=service, verify_certs=False)
        with open_search(cluster, {}) as search:
            if service == "http":
                assert search.search([SERVICE]) == [Ranking((Hit("a"),), exact_scores=True)]


# Proxies.


@pytest.mark.parametrize("service", ["engine", "http"])
def test_a_proxy_with_a_login(engine: ScriptedEngine, service: str) -> None:
    with Proxy(login=basic(f"kim:{PASSWORD}")) as proxy:
        cluster = Cluster(
            "test",
            url=engine.url,
            service=service,
            proxy=proxy.url,
            proxy_username_env="PU",
            proxy_password_env="PP",
        )
        assert found(cluster, {"PU": "kim", "PP": PASSWORD}, engine)[0] == "a"
        assert {login for _, _, login in proxy.asked} == {basic(f"kim:{PASSWORD}")}
        assert all(target.startswith(engine.url) for _, target, _ in proxy.asked)


@pytest.mark.parametrize("service", ["engine", "http"])
def test_a_server_with_tls_behind_a_proxy(
    mutual: HTTPServer, authority: tuple[trustme.CA, str], files: dict[str, str], proxy: Proxy, service: str
) -> None:
    cluster = with_certificate(mutual, authority[1], files, client_cert="both", service=service, proxy=proxy.url)

    with open_search(cluster, {}) as search:
        if service == "http":
            assert search.search([SERVICE]) == [Ranking((Hit("a"),), exact_scores=True)]
    assert {(method, target) for method, target, _ in proxy.asked} == {("CONNECT", f"localhost:{mutual.port}")}


@pytest.mark.parametrize("service", ["engine", "http"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_the_login_says_so(scheme: str, service: str) -> None:
    with Proxy(login="nobody's") as proxy:
        cluster = Cluster(
            "test",
            url=f"{scheme}://search.example:9200",
            service=service,
            proxy=proxy.url,
            proxy_username_env="PU",
            proxy_password_env="PP",
        )
        with pytest.raises(SearchError, match=r"the proxy refuses the login \(407\)") as caught:
            found(cluster, {"PU": "kim", "PP": "hunter2-secret"})
    assert "hunter2" not in str(caught.value)


def test_a_proxy_that_is_away_does_not_refuse_the_login_whatever_its_port() -> None:
    away = ProxyError("Unable to connect to proxy", OSError("HTTPConnection(host='127.0.0.1', port=40711): refused"))
    assert explain_unreachable(away).startswith("its proxy does not answer")


def test_a_proxy_that_is_away_is_not_told_as_the_engine() -> None:
    with closed_port() as port, pytest.raises(EngineUnreachable, match="its proxy does not answer; see `proxy`"):
        open_search(Cluster("test", url="https://search.example", proxy=f"http://127.0.0.1:{port}"), {})


@pytest.mark.parametrize("service", ["engine", "http"])
def test_no_proxy_of_the_environment_is_used_for_this_machine(engine: ScriptedEngine, service: str) -> None:
    cluster = Cluster("test", url=engine.url, service=service)

    with closed_port() as port:
        assert found(cluster, {"HTTP_PROXY": f"http://127.0.0.1:{port}"}, engine)[0] == "a"


def test_the_password_of_a_proxy_in_the_environment_is_masked() -> None:
    with Proxy(login="nobody's") as proxy, pytest.raises(LoginRefused) as caught:
        open_search(
            Cluster("test", url="http://search.example"), {"HTTP_PROXY": f"http://kim:hunter2-secret@{proxy.address}"}
        )
    assert "hunter2" not in str(caught.value)
    assert proxy.asked == [("GET", "http://search.example:80/", basic("kim:hunter2-secret"))]


VIA = ProxyAddress("http://proxy:3128")


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://h", {}, None),
        ("https://h", {"HTTPS_PROXY": "http://proxy:3128"}, VIA),
        ("https://h", {"https_proxy": "proxy:3128"}, VIA),
        ("https://h", {"HTTP_PROXY": "http://proxy:3128"}, None),
        ("https://h", {"ALL_PROXY": "http://proxy:3128"}, VIA),
        ("https://h", {"https_proxy": "http://proxy:3128", "HTTPS_PROXY": "http://other"}, VIA),
        ("http://h", {"HTTP_PROXY": "http://proxy:3128"}, VIA),
        ("http://h", {"HTTP_PROXY": "http://proxy:3128", "REQUEST_METHOD": "GET"}, None),
        ("https://h", {"HTTPS_PROXY": "http://k%40:p%3A@proxy:3128"}, ProxyAddress("http://proxy:3128", "k@", "p:")),
        ("https://127.0.0.1:9200", {"HTTPS_PROXY": "http://proxy:3128"}, None),
        ("https://[::1]:9200", {"HTTPS_PROXY": "http://proxy:3128"}, None),
        ("https://localhost", {"HTTPS_PROXY": "http://proxy:3128"}, None),
    ],
)
def test_the_proxy_of_the_environment(url: str, environ: dict[str, str], proxy: ProxyAddress | None) -> None:
    assert Login(environment=environ).find_proxy(url) == proxy


@pytest.mark.parametrize(
    ("listed", "left_out"),
    [
        ("search.example", True),
        ("example", True),
        (".example", True),
        ("*.example", True),
        ("*", True),
        ("a, SEARCH.example b", True),
        ("search.example:9200", True),
        ("search.example:9201", False),
        ("arch.example", False),
        ("", False),
    ],
)
def test_what_no_proxy_lists_is_asked_directly(listed: str, left_out: bool) -> None:
    login = Login(environment={"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": listed})

    assert (login.find_proxy("https://search.example:9200") is None) is left_out


@pytest.mark.parametrize(
    ("listed", "left_out"), [("10.0.0.0/8", True), ("10.1.2.3", True), ("192.168.0.0/16", False), ("fe80::/10", False)]
)
def test_networks_in_no_proxy(listed: str, left_out: bool) -> None:
    login = Login(environment={"HTTPS_PROXY": "http://proxy:3128", "no_proxy": listed})

    assert (login.find_proxy("https://10.1.2.3:9200") is None) is left_out


@pytest.mark.parametrize("value", ["socks5://proxy:1080", "http://", "http://[", "http://kim:s3cret@", "http://proxy:"])
def test_a_variable_that_is_no_proxy_is_told_without_its_value(value: str) -> None:
    with pytest.raises(UsageError, match="HTTPS_PROXY in the environment should be a proxy's URL") as caught:
        open_search(Cluster("test", url="https://h"), {"HTTPS_PROXY": value})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("environ", [{"HTTPS_PROXY": "http://other"}, {}])
def test_the_proxy_of_relevance_toml_wins_over_the_environment(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Login(proxy=VIA, environment=environ).find_proxy("https://h") == VIA


def test_every_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(
        "test",
        url="https://h",
        bearer_token_env="TOKEN",
        client_cert="x",
        client_key_password_env="PW",
        proxy="http://proxy",
        proxy_username_env="PU",
        proxy_password_env="PP",
    )
    with pytest.raises(UsageError, match="PP, PU, PW, TOKEN, which are not set"):
        open_search(cluster, {})


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("s3cret-value\n", "ends with a line break: remove it"),
        ("s3cret\tvalue", "has a line break or another control character: remove it"),
        ("s3cret-値", "has a character that headers cannot hold: remove it"),
        (" \n", "which is not set"),
    ],
)
@pytest.mark.parametrize("key", ["api_key_env", "bearer_token_env", "headers_env"])
def test_a_value_that_no_header_can_hold_is_told_without_it(key: str, value: str, problem: str) -> None:
    named: Any = {"X-Token": "TOKEN"} if key == "headers_env" else "TOKEN"
    with pytest.raises(UsageError) as caught:
        open_search(Cluster("test", url="https://h", **{key: named}), {"TOKEN": value})
    assert str(caught.value).startswith('cluster "test" takes its login from TOKEN, wh')
    assert str(caught.value).endswith(problem)
    assert "s3cret" not in str(caught.value)


def test_a_password_may_hold_any_letter_and_no_line_break() -> None:
    cluster = Cluster("test", url="https://h", username_env="NAME", password_env="PW")
    assert read_login(cluster, {"NAME": "é", "PW": "値 7"}).headers
    with pytest.raises(UsageError, match="from PW, whose value ends with a line break"):
        read_login(cluster, {"NAME": "n", "PW": "pw\n"})


def test_a_key_that_is_encoded_may_hold_any_letter_of_utf_8() -> None:
    cluster = Cluster("test", url="https://h", api_key_env="KEY")
    assert read_login(cluster, {"KEY": "id:値"}).headers
    with pytest.raises(UsageError, match="from KEY, whose value has a character that UTF-8 cannot hold"):
        read_login(cluster, {"KEY": "id:\udc80"})


# What closes the connection, and hosts that are none.


@pytest.mark.parametrize("service", ["engine", "http"])
@pytest.mark.parametrize(("scheme", "has_tls_hint"), [("http", True), ("https", False), ("HTTPS", False)])
def test_only_a_url_without_tls_is_told_that_it_may_need_it(service: str, scheme: str, has_tls_hint: bool) -> None:
    reset = requests.ConnectionError(ConnectionResetError(104, "Connection reset by peer"))
    reason = explain_unreachable(reset, url=f"{scheme}://shop.example:8443")
    assert ("must begin with https://" in reason) is has_tls_hint

    with resetting_port() as port:
        cluster = Cluster("test", url=f"{scheme}://127.0.0.1:{port}", service=service)
        with pytest.raises(EngineUnreachable) as caught:
            found(cluster, {})
    assert ("must begin with https://" in str(caught.value)) is has_tls_hint


@contextmanager
def resetting_port() -> Iterator[int]:
    """A server that resets each connection as soon as something was sent."""

    class Resetting(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1)
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Resetting) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("host", ["ⓐ.example", "shop..example", f"{'x' * 64}.example", "*.example"])
def test_a_host_that_is_no_name_is_a_server_that_is_not_reached(host: str) -> None:
    service = Cluster("test", url=f"http://{host}/api", service="http")
    with pytest.raises(EngineUnreachable, match="is not the name of a server"):
        found(service, {})


@pytest.mark.parametrize("host", ["ⓐ.example", "shop..example", f"{'x' * 64}.example"])
def test_nor_is_one_of_an_engine(host: str) -> None:
    with pytest.raises(EngineUnreachable, match="is not the name of a server"):
        open_search(Cluster("test", url=f"http://{host}"), {})
