"""Opening a door to a server that is really there, or really not: pytest-httpserver stands for the engine."""

from __future__ import annotations

import pytest

pytest.importorskip("trustme")

import base64
import hashlib
import json
import re
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import trustme
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.engine import Fault, ScriptedEngine, item_of
from builders.ports import closed_port
from harness.errors import EngineUnreachable, LoginRefused, SearchError, UsageError
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Engine, Failure, FailureKind, Ranking
from harness.search.dialects import open_search
from harness.search.lookup import LookUp, look_up_documents
from harness.search.transport import list_urls

ELASTICSEARCH = {
    "version": {"number": "9.4.3", "build_flavor": "default"},
    "tagline": "You Know, for Search",
}
OPENSEARCH = {
    "version": {"distribution": "opensearch", "number": "3.8.0"},
    "tagline": "The OpenSearch Project: https://opensearch.org/",
}
FOUND = item_of([("a", 1.0)])


def cluster(server: HTTPServer | str, **more: Any) -> Cluster:
    url = server if isinstance(server, str) else server.url_for("")
    return Cluster("test", url=url, **{"timeout": 5.0, **more})


@pytest.mark.parametrize(
    "fault",
    [Fault(path="/", headers={"Retry-After": "4"}), Fault(path="/", status=200, body=None, pause=0.05)],
    ids=["busy", "trickles"],
)
def test_the_budget_limits_the_time_in_which_a_server_says_what_it_is(fault: Fault) -> None:
    with ScriptedEngine() as engine:
        engine.faults = [fault]
        with pytest.raises(SearchError, match=r"status 503|within"):
            open_search(cluster(engine.url, timeout=30.0), {}, budget=1.0)
        assert engine.sent == [("GET", "/")]


class TestIdentity:
    @pytest.mark.parametrize(
        ("says", "engine"),
        [
            (ELASTICSEARCH, Engine("elasticsearch", "9.4.3")),
            (OPENSEARCH, Engine("opensearch", "3.8.0")),
            ({"version": {"number": "8.11.0", "build_flavor": "serverless"}}, Engine("elasticsearch", "serverless")),
            (
                {
                    "version": {"number": "7.10.2", "build_type": "tar", "minimum_wire_compatibility_version": "6.8.0"},
                    "tagline": "The OpenSearch Project: https://opensearch.org/",
                },
                Engine("opensearch", "in compatibility mode"),
            ),
            (
                {"version": {"number": "7.10.2", "build_flavor": "oss"}, "tagline": "You Know, for Search"},
                Engine("elasticsearch", "7.10.2"),
            ),
        ],
    )
    def test_is_what_the_server_says(self, httpserver: HTTPServer, says: Any, engine: Engine) -> None:
        httpserver.expect_request("/").respond_with_json(says)

        with open_search(cluster(httpserver), {}) as search:
            assert search.engine == engine

    @pytest.mark.parametrize(
        ("stated", "engine"),
        [
            ("elasticsearch 9.4.3", Engine("elasticsearch", "9.4.3", stated=True)),
            ("opensearch  2.19", Engine("opensearch", "2.19", stated=True)),
            ("opensearch", Engine("opensearch", "", stated=True)),
        ],
    )
    def test_a_stated_engine_is_not_asked(self, httpserver: HTTPServer, stated: str, engine: Engine) -> None:
        with open_search(cluster(httpserver), {}, engine=stated) as search:
            assert search.engine == engine
        assert httpserver.log == []

    def test_the_target_wins_over_the_cluster(self, httpserver: HTTPServer) -> None:
        with open_search(cluster(httpserver, engine="elasticsearch 8.1"), {}, engine="opensearch 2.19") as search:
            assert search.engine.kind == "opensearch"

    def test_an_unknown_engine_names_the_nearest(self, httpserver: HTTPServer) -> None:
        with pytest.raises(UsageError, match="did you mean 'elasticsearch'"):
            open_search(cluster(httpserver), {}, engine="elasticserach 9")

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ("<html>Welcome</html>", 200),
            ("{}", 200),
            ("[1]", 200),
            ('{"version": "1.0"}', 200),
            ('{"version": {"number": "4.0"}}', 200),
            ('{"version": {"number": ["9.4.3"], "build_flavor": "default"}}', 200),
            ("not found", 404),
            ("sorry", 500),
        ],
    )
    def test_another_server_is_an_error_that_says_how_to_state_it(
        self, httpserver: HTTPServer, body: str, status: int
    ) -> None:
        httpserver.expect_request("/").respond_with_data(body, status=status)

        with pytest.raises(SearchError, match=r'engine: "elasticsearch 9\.4\.3"'):
            open_search(cluster(httpserver), {})

    def test_401_speaks_of_the_login(self, httpserver: HTTPServer) -> None:
        error = {"type": "security_exception", "reason": "unable to authenticate user [elastic]"}
        httpserver.expect_request("/").respond_with_json({"error": error, "status": 401}, status=401)

        with pytest.raises(LoginRefused, match="unable to authenticate"):
            open_search(cluster(httpserver), {})

    def test_403_says_that_the_engine_can_be_stated(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/").respond_with_json({"error": "forbidden"}, status=403)

        with pytest.raises(LoginRefused, match="state the engine in the target"):
            open_search(cluster(httpserver), {})


class TestLogin:
    def opened(self, server: HTTPServer, environ: dict[str, str], **more: Any) -> Request:
        server.expect_request("/").respond_with_json(ELASTICSEARCH)
        open_search(cluster(server, **more), environ).close()
        return server.log[0][0]

    def test_an_api_key_as_the_engine_encodes_it(self, httpserver: HTTPServer) -> None:
        request = self.opened(httpserver, {"KEY": "aWQ6a2V5"}, api_key_env="KEY")

        assert request.headers["Authorization"] == "ApiKey aWQ6a2V5"

    def test_an_api_key_as_id_and_key(self, httpserver: HTTPServer) -> None:
        request = self.opened(httpserver, {"KEY": "id:key"}, api_key_env="KEY")

        assert request.headers["Authorization"] == f"ApiKey {base64.b64encode(b'id:key').decode()}"

    def test_a_user_and_a_password_of_any_characters(self, httpserver: HTTPServer) -> None:
        request = self.opened(httpserver, {"U": "zoë", "P": "p:ä ß"}, username_env="U", password_env="P")

        kind, token = request.headers["Authorization"].split()
        assert (kind, base64.b64decode(token).decode()) == ("Basic", "zoë:p:ä ß")

    def test_headers_from_the_environment(self, httpserver: HTTPServer) -> None:
        request = self.opened(httpserver, {"T": "tenant-7"}, headers_env={"X-Tenant": "T"})

        assert request.headers["X-Tenant"] == "tenant-7"
        assert "Authorization" not in request.headers

    def test_plain_json_is_all_that_is_asked_for(self, httpserver: HTTPServer) -> None:
        request = self.opened(httpserver, {})

        assert request.headers["Accept"] == "application/json"

    def test_all_unset_variables_are_named(self, httpserver: HTTPServer) -> None:
        unset = cluster(httpserver, username_env="ES_USER", password_env="ES_PASSWORD", headers_env={"X": "TOKEN"})

        with pytest.raises(UsageError, match="ES_PASSWORD, ES_USER, which are not set"):
            open_search(unset, {"TOKEN": "x"})

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"username_env": "U"}, "both `username_env` and `password_env`"),
            (
                {"username_env": "U", "password_env": "P", "api_key_env": "K"},
                "more than one login: api_key_env and username_env",
            ),
        ],
    )
    def test_half_a_login_and_two_logins_are_refused(
        self, httpserver: HTTPServer, more: dict[str, str], words: str
    ) -> None:
        with pytest.raises(UsageError, match=words):
            open_search(cluster(httpserver, **more), {"U": "u", "P": "p", "K": "k"})

    def test_a_server_that_echoes_the_login_does_not_show_it(self, httpserver: HTTPServer) -> None:
        def echo(request: Request) -> Response:
            password = base64.b64decode(request.headers["Authorization"].split()[1]).decode()
            return Response(f"{password} {request.headers['Authorization']}", status=401)

        httpserver.expect_request("/").respond_with_handler(echo)
        secret = cluster(httpserver, username_env="U", password_env="P")

        with pytest.raises(LoginRefused) as caught:
            open_search(secret, {"U": "elastic", "P": "hunter2-secret"})
        assert "hunter2-secret" not in str(caught.value)
        assert base64.b64encode(b"elastic:hunter2-secret").decode() not in str(caught.value)
        assert "${P}" in str(caught.value)

    def test_a_login_is_not_in_the_text_of_anything(self) -> None:
        from harness.search.login import read_login

        login = read_login(Cluster("c", username_env="U", password_env="P"), {"U": "u", "P": "hunter2"})

        assert "hunter2" not in repr(login)
        assert base64.b64encode(b"u:hunter2").decode() not in repr(login)


class TestAddress:
    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"url": "http://elastic:changeme@127.0.0.1:9200"}, "username_env"),
            ({"url": "127.0.0.1:9200"}, "URL"),
            ({"url": "ftp://127.0.0.1"}, "expected http:// or https://"),
            ({"url": "http://"}, "expected a URL"),
            ({}, "neither a `url` nor a `cloud_id`"),
            ({"cloud_id": "production"}, "cloud_id"),
            ({"cloud_id": "production:!!"}, "cloud_id"),
            ({"cloud_id": "a:" + base64.b64encode(b"host.example").decode()}, "copy it from the deployment's page"),
            ({"cloud_id": "a:" + base64.b64encode(b"host.example$").decode()}, "copy it from the deployment's page"),
            ({"cloud_id": "a:" + base64.b64encode(b"host/x?$abc$").decode()}, "`cloud_id` is invalid"),
            ({"cloud_id": "a:" + base64.b64encode(b"host.example$abc:99999").decode()}, "`cloud_id` is invalid"),
            ({"url": "https://h", "fingerprint": "ab:cd"}, "64 hexadecimal"),
            ({"url": "https://h", "ca_certs": "/nowhere/ca.pem"}, "does not exist"),
            ({"url": "http://h", "fingerprint": "ab" * 32}, "https://"),
            ({"url": "http://h", "ca_certs": "ca.pem"}, "https://"),
        ],
    )
    def test_what_is_no_address_is_refused_before_anything_is_sent(self, more: dict[str, Any], words: str) -> None:
        with pytest.raises(UsageError, match=words) as caught:
            open_search(Cluster("production", **more), {})
        assert '"production"' in str(caught.value)
        assert "changeme" not in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "parts", "url"),
        [
            ("shop", b"cloud.example$abc$def", "https://abc.cloud.example:443"),
            ("shop", b"cloud.example:9243$abc$def", "https://abc.cloud.example:9243"),
            ("shop", b"cloud.example$abc:9244$def:9245", "https://abc.cloud.example:9244"),
            ("shop", b"cloud.example:9243$abc:9244", "https://abc.cloud.example:9244"),
            ("shop:eu:1", b"cloud.example$abc$", "https://abc.cloud.example:443"),
        ],
    )
    def test_a_cloud_id_may_have_ports_and_colons(self, name: str, parts: bytes, url: str) -> None:
        assert list_urls(Cluster("c", cloud_id=f"{name}:{base64.b64encode(parts).decode()}")) == [url]

    def test_a_cloud_id_leads_to_its_host(self) -> None:
        from harness.search.login import Login
        from harness.search.transport import connect

        place = base64.b64encode(b"127.0.0.1.example.invalid:1$deployment$kibana").decode()
        connection = connect(Cluster("c", cloud_id=f"name:{place}"), Login())

        with pytest.raises(EngineUnreachable, match=r"https://deployment\.127\.0\.0\.1\.example\.invalid:1"):
            connection.perform("GET", "/", timeout=5)

    def test_a_path_before_the_engine_is_kept(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/search/es/").respond_with_json(OPENSEARCH)
        httpserver.expect_request("/search/es/products/_msearch").respond_with_json({"responses": [FOUND]})

        with open_search(cluster(httpserver.url_for("/search/es")), {}) as search:
            [response] = search.search([SearchRequest("q", "products", {})])

        assert isinstance(response, Ranking)


class TestUnreachable:
    def test_nothing_listens(self) -> None:
        with (
            closed_port() as port,
            pytest.raises(EngineUnreachable, match=r"connection refused.*`relevance engine up` starts"),
        ):
            open_search(cluster(f"http://127.0.0.1:{port}"), {})

    def test_no_such_host(self) -> None:
        with pytest.raises(EngineUnreachable, match=r"unknown host name|host name cannot be resolved now"):
            open_search(cluster("http://no-such-host.invalid:9200"), {})

    def test_no_answer_in_time(self) -> None:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            with pytest.raises(EngineUnreachable, match=r"within 0.2 s"):
                open_search(cluster(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2), {})

    def test_no_tls_there(self, httpserver: HTTPServer) -> None:
        with pytest.raises(EngineUnreachable, match="does not use TLS"):
            open_search(cluster(httpserver.url_for("").replace("http://", "https://")), {})

    def test_another_node_of_the_list_answers(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/").respond_with_json(OPENSEARCH)

        with (
            closed_port() as port,
            open_search(cluster(f"http://127.0.0.1:{port}", nodes=(httpserver.url_for(""),)), {}) as search,
        ):
            assert search.engine.kind == "opensearch"

    def test_no_node_of_the_list_answers_and_all_are_named(self) -> None:
        with closed_port() as one, closed_port() as other:
            first, second = (f"http://127.0.0.1:{port}" for port in (one, other))
            with pytest.raises(EngineUnreachable) as caught:
                open_search(cluster(first, nodes=(second,)), {})
        assert first in str(caught.value)
        assert second in str(caught.value)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def certificate(authority: trustme.CA) -> trustme.LeafCert:
    return authority.issue_cert("localhost")


@pytest.fixture(scope="module")
def secure(certificate: trustme.LeafCert) -> Iterator[HTTPServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    with HTTPServer(host="localhost", port=0, ssl_context=context) as server:
        server.expect_request("/").respond_with_json(OPENSEARCH)
        yield server


def fingerprint(certificate: trustme.LeafCert) -> str:
    der = ssl.PEM_cert_to_DER_cert(certificate.cert_chain_pems[0].bytes().decode())
    return hashlib.sha256(der).hexdigest()


class TestTls:
    def test_a_ca_file(self, secure: HTTPServer, authority: trustme.CA, tmp_path: Path) -> None:
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))

        with open_search(cluster(secure, ca_certs=str(tmp_path / "ca.pem")), {}) as search:
            assert search.engine.kind == "opensearch"

    def test_an_untrusted_certificate_has_its_remedy(self, secure: HTTPServer) -> None:
        with pytest.raises(EngineUnreachable, match=r"`ca_certs`.*`fingerprint`"):
            open_search(cluster(secure), {})

    def test_the_wrong_ca(self, secure: HTTPServer, tmp_path: Path) -> None:
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))

        with pytest.raises(EngineUnreachable, match="not trusted"):
            open_search(cluster(secure, ca_certs=str(tmp_path / "other.pem")), {})

    def test_another_host_name(self, secure: HTTPServer, authority: trustme.CA, tmp_path: Path) -> None:
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        url = secure.url_for("").replace("localhost", "127.0.0.1")

        with pytest.raises(EngineUnreachable, match="does not match the host name"):
            open_search(cluster(url, ca_certs=str(tmp_path / "ca.pem")), {})

    @pytest.mark.parametrize("separator", ["", ":"])
    def test_a_fingerprint_with_colons_or_without(
        self, secure: HTTPServer, certificate: trustme.LeafCert, separator: str
    ) -> None:
        digits = fingerprint(certificate).upper()
        pinned = separator.join(digits[place : place + 2] for place in range(0, 64, 2))

        with open_search(cluster(secure, fingerprint=pinned), {}) as search:
            assert search.engine.kind == "opensearch"

    def test_another_fingerprint(self, secure: HTTPServer) -> None:
        with pytest.raises(EngineUnreachable, match="differs from `fingerprint`"):
            open_search(cluster(secure, fingerprint="ab" * 32), {})

    def test_an_http_url_to_a_tls_server(self, secure: HTTPServer) -> None:
        with pytest.raises(EngineUnreachable, match="https://"):
            open_search(cluster(secure.url_for("").replace("https://", "http://")), {})


def test_a_search_travels_there_and_back(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_json(ELASTICSEARCH)

    def search_all(request: Request) -> Response:
        assert request.headers["Content-Type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in request.data.splitlines()]
        items = [FOUND if body["size"] == 1 else {"status": 404, "error": "no such index"} for body in lines[1::2]]
        return Response(json.dumps({"responses": items}), content_type="application/vnd.elasticsearch+json")

    httpserver.expect_request("/products/_msearch", method="POST").respond_with_handler(search_all)

    with open_search(cluster(httpserver), {}) as search:
        first, second = search.search([SearchRequest(str(n), "products", {"size": n}) for n in (1, 2)])

    assert isinstance(first, Ranking)
    assert isinstance(second, Failure)


def test_a_login_for_one_path_is_enough_for_searches_and_look_ups(httpserver: HTTPServer) -> None:
    def search_all(request: Request) -> Response:
        headers = [json.loads(line) for line in request.data.splitlines()[::2]]
        if any("index" in header for header in headers):
            # As with `rest.action.multi.allow_explicit_index: false`.
            return Response('{"error": "explicit index in multi search is not allowed"}', status=400)
        return Response(json.dumps({"responses": [FOUND for _ in headers]}), content_type="application/json")

    httpserver.expect_request("/products/_msearch", method="POST").respond_with_handler(search_all)
    httpserver.expect_request(re.compile(".*")).respond_with_data("not for this login", status=403)
    requests = [SearchRequest(str(number), "products", {"size": number}) for number in (1, 2)]

    with open_search(cluster(httpserver), {}, engine="opensearch 2.19") as search:
        responses = search.search(requests)
        [known] = look_up_documents(search, [LookUp(requests[0], ["a", "b"])])

    assert all(isinstance(response, Ranking) for response in responses)
    assert known.found == {"a"}


@pytest.mark.parametrize("mime", ["application/json", "text/html", "application/xml", "application/octet-stream"])
def test_an_answer_of_any_type_keeps_its_status(httpserver: HTTPServer, mime: str) -> None:
    httpserver.expect_request("/products/_msearch").respond_with_data("<no/>", status=400, content_type=mime)

    with open_search(cluster(httpserver), {}, engine="opensearch 3.8") as search:
        [response] = search.search([SearchRequest("q", "products", {})])

    assert isinstance(response, Failure)
    assert response.status == 400
    assert "<no/>" in response.reason


def test_opening_imports_the_client_library_only_when_it_is_used() -> None:
    import subprocess

    heavy = ("elastic", "requests", "jsonpath")
    code = f"import sys, harness.search.testing; print([m for m in sys.modules if m.startswith({heavy})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


class TestSilence:
    """A server that takes requests and answers some of them only."""

    def test_a_server_that_answers_nothing_is_given_up_after_one_look(self) -> None:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with (
                open_search(cluster(url, timeout=0.2), {}, engine="opensearch 3.8") as search,
                pytest.raises(EngineUnreachable, match=r"within 0\.2 s"),
            ):
                search.search([SearchRequest(str(n), "products", {}) for n in range(600)])

    def test_a_search_that_hangs_times_out_alone(self) -> None:
        held = threading.Event()

        def hang_at_4(request: Request) -> Response:
            bodies = [json.loads(line) for line in request.data.splitlines()][1::2]
            if any(body["size"] == 4 for body in bodies):
                held.wait(5)
            return Response(json.dumps({"responses": [FOUND] * len(bodies)}), content_type="application/json")

        with HTTPServer(port=0, threaded=True) as server:
            server.expect_request("/").respond_with_json(OPENSEARCH)
            server.expect_request("/products/_msearch").respond_with_handler(hang_at_4)
            with open_search(cluster(server, timeout=0.5), {}) as search:
                responses = search.search([SearchRequest(str(n), "products", {"size": n + 1}) for n in range(6)])
            held.set()

        assert [isinstance(response, Ranking) for response in responses] == [True, True, True, False, True, True]
        slow = responses[3]
        assert isinstance(slow, Failure)
        assert slow.kind is FailureKind.TIMEOUT
