"""Which addresses suites, relevance.toml and the command line may name, and that the checked one is connected to."""

from __future__ import annotations

import pytest

pytest.importorskip("trustme")

import json
import socket
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import trustme
from pytest_httpserver import HTTPServer

from builders.proxy import Proxy
from harness.errors import EngineUnreachable, EntryPoint, UsageError
from harness.model.request import AddressOrigin, Cluster, SearchRequest
from harness.model.run import Ranking
from harness.model.suite import HttpRequest
from harness.search.addresses import AddressRefused, refuse_address
from harness.search.dialects import open_search

SUITE, TRUSTED, GIVEN = AddressOrigin.SUITE, AddressOrigin.CONFIGURATION, AddressOrigin.COMMAND_LINE
SEARCH = HttpRequest("GET", "/search", "$.ids")
ROOT = {"version": {"number": "9.4.3", "build_flavor": "default"}, "tagline": "You Know, for Search"}

METADATA = [
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[fe80::a9fe:a9fe%25eth0]",
    "metadata.google.internal",
    "METADATA.Google.Internal.",
    "metadata",
    # spellings of IPv4
    "2852039166",
    "0xA9FEA9FE",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "169.254.169.254.",
    "%31%36%39.254.169.254",
    "1684301000",
    # IPv4 within IPv6
    "[::ffff:169.254.169.254]",
    "[0:0:0:0:0:FFFF:A9FE:A9FE]",
    "[::169.254.169.254]",
    "[::ffff:0:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::6464:64c8]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:a9fe:a9fe::1]",
    "[2001:db8::200:5efe:169.254.169.254]",
]
LINK_LOCAL = [
    "169.254.1.2",
    "0xa9fe0102",
    "[fe80::1]",
    "[FE80::1%25eth0]",
    "[::ffff:169.254.1.2]",
    "[2002:a9fe:0102::]",
]
ORDINARY = [
    "localhost",
    "127.0.0.1",
    "[::1]",
    "10.0.0.7",
    "shop.example",
    "[2001:db8::1]",
    "metadata.shop.example",
    "3",
]


def cluster(url: str, origin: AddressOrigin, **more: Any) -> Cluster:
    return Cluster("shop", url=url, origin=origin, **{"timeout": 2.0, **more})


def open_and_ask(target: Cluster, environ: dict[str, str] | None = None) -> None:
    with open_search(target, environ or {}) as search:
        if target.service == "http":
            [response] = search.search([SearchRequest("a", None, None, SEARCH)])
            assert isinstance(response, Ranking)


class Resolver:
    """Names that have the addresses that a test gives them, one list after the other; *asked* has each look-up."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.names: dict[str, list[Sequence[str]]] = {}
        self.asked: list[str] = []
        self._original = original

    def __call__(self, host: str, port: int, *others: Any, **more: Any) -> Any:
        if host not in self.names:
            return self._original(host, port, *others, **more)
        self.asked.append(host)
        answers = self.names[host]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [found for address in addresses for found in self._original(address, port, *others, **more)]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    found = Resolver(socket.getaddrinfo)
    monkeypatch.setattr(socket, "getaddrinfo", found)
    return found


@pytest.fixture(params=["engine", "http"])
def service(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(httpserver: HTTPServer, service: str) -> HTTPServer:
    if service == "engine":
        httpserver.expect_request("/").respond_with_json(ROOT)
    httpserver.expect_request("/search").respond_with_json({"ids": []})
    return httpserver


class TestNamedAddresses:
    @pytest.mark.parametrize("host", METADATA)
    def test_nobody_may_name_the_metadata_service_of_a_cloud(self, host: str) -> None:
        for origin in AddressOrigin:
            with pytest.raises(UsageError, match=r"was not connected to: .* is .*a cloud's metadata service"):
                refuse_address(f"http://{host}:8080/latest", origin)

    @pytest.mark.parametrize("host", LINK_LOCAL)
    def test_link_local_addresses_are_for_the_trusted_file_and_the_command_line(self, host: str) -> None:
        for origin in (TRUSTED, GIVEN):
            refuse_address(f"https://{host}", origin)
        with pytest.raises(UsageError, match="is link-local, which a suite's own address must not be") as caught:
            refuse_address(f"https://{host}", SUITE)
        assert caught.value.text(EntryPoint.COMMAND).endswith("define it in relevance.toml, or give --url")

    @pytest.mark.parametrize("origin", AddressOrigin)
    @pytest.mark.parametrize("host", ORDINARY)
    def test_other_addresses_are_for_all(self, host: str, origin: AddressOrigin) -> None:
        refuse_address(f"http://{host}:9200/", origin)

    @pytest.mark.parametrize("host", ["169.254.169.254", "2852039166", "metadata.google.internal"])
    @pytest.mark.parametrize("is_proxied", [False, True])
    def test_both_connections_refuse_them_with_and_without_a_proxy(
        self, host: str, service: str, *, is_proxied: bool
    ) -> None:
        with Proxy() as proxy:
            environ = {"HTTP_PROXY": proxy.url} if is_proxied else {}
            with pytest.raises(UsageError, match="metadata service"):
                open_and_ask(cluster(f"http://{host}/", TRUSTED, service=service), environ)
            assert proxy.asked == []

    def test_every_node_is_checked(self) -> None:
        with pytest.raises(UsageError, match="metadata service"):
            open_search(cluster("http://127.0.0.1:9", TRUSTED, nodes=("http://169.254.169.254",)), {})


class TestResolvedAddresses:
    @pytest.mark.parametrize(
        ("addresses", "words"),
        [
            (["169.254.169.254"], "its address 169.254.169.254 is the address of a cloud's metadata service"),
            (["127.0.0.1", "100.100.100.200"], "its address 100.100.100.200 is"),
            (["fd00:ec2::254"], "its address fd00:ec2::254 is"),
            (["::ffff:169.254.169.254"], "its address ::ffff:a9fe:a9fe is"),
            (["169.254.1.2"], "its address 169.254.1.2 is link-local"),
            (["127.0.0.1", "fe80::1"], "its address fe80::1 is link-local"),
        ],
    )
    def test_a_name_with_such_an_address_is_refused(
        self, addresses: list[str], words: str, server: HTTPServer, service: str, resolver: Resolver
    ) -> None:
        resolver.names["shop.test"] = [addresses]

        with pytest.raises(AddressRefused, match=words):
            open_and_ask(cluster(f"http://shop.test:{server.port}", SUITE, service=service))
        assert server.log == []

    @pytest.mark.parametrize("origin", [TRUSTED, GIVEN])
    def test_a_trusted_name_may_be_link_local(
        self, origin: AddressOrigin, service: str, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        resolver.names["host.containers.internal"] = [["169.254.1.2"]]
        tried = []

        def refuse(_: socket.socket, place: tuple[str, int]) -> None:
            tried.append(place)
            raise ConnectionRefusedError

        monkeypatch.setattr(socket.socket, "connect", refuse)
        with pytest.raises(EngineUnreachable, match="connection refused"):
            open_and_ask(cluster("http://host.containers.internal:9", origin, service=service))
        assert set(tried) == {("169.254.1.2", 9)}

    @pytest.mark.parametrize("origin", [TRUSTED, GIVEN])
    def test_and_not_a_metadata_service(self, origin: AddressOrigin, service: str, resolver: Resolver) -> None:
        resolver.names["shop.test"] = [["169.254.169.254"]]

        with pytest.raises(AddressRefused, match="metadata service"):
            open_and_ask(cluster("http://shop.test", origin, service=service))

    def test_the_name_of_a_suite_is_looked_up_once(self, server: HTTPServer, service: str, resolver: Resolver) -> None:
        """Else its name server could send what follows to another server than the one that was found to answer."""
        resolver.names["shop.test"] = [["127.0.0.1"], ["127.0.0.9"]]

        with open_search(cluster(f"http://shop.test:{server.port}", SUITE, service=service), {}) as search:
            for _ in range(3):
                if service == "http":
                    assert search.search([SearchRequest(str(n), None, None, SEARCH) for n in range(5)])
                search.index_facts("shop")
        assert len(server.log) > 3, "each with a connection of its own"
        assert {request.host for request, _ in server.log} == {f"shop.test:{server.port}"}
        assert resolver.asked == ["shop.test"]

    @pytest.mark.parametrize("origin", [TRUSTED, GIVEN])
    def test_another_name_is_looked_up_and_checked_for_each_connection(
        self, origin: AddressOrigin, httpserver: HTTPServer, resolver: Resolver
    ) -> None:
        resolver.names["shop.test"] = [["127.0.0.1"], ["169.254.169.254"]]

        with (
            open_search(cluster(f"http://shop.test:{httpserver.port}", origin, service="http"), {}) as search,
            pytest.raises(AddressRefused, match="metadata service"),
        ):
            search.search([SearchRequest("a", None, None, SEARCH)])
        assert resolver.asked == ["shop.test"] * 2

    def test_the_next_of_its_addresses_is_tried(self, server: HTTPServer, service: str, resolver: Resolver) -> None:
        resolver.names["shop.test"] = [["127.0.0.2", "127.0.0.1"]]

        open_and_ask(cluster(f"http://shop.test:{server.port}", SUITE, service=service))
        assert server.log

    def test_an_unknown_name_is_told_as_one(self, service: str) -> None:
        with pytest.raises(EngineUnreachable, match=r"unknown host name|host name cannot be resolved now"):
            open_and_ask(cluster("http://shop.invalid", SUITE, service=service))


class TestTls:
    """The certificate is that of the name, though the connection is opened to an address."""

    @pytest.fixture
    def authority(self, tmp_path: Path) -> trustme.CA:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        return authority

    def ask(self, authority: trustme.CA, certified: str, service: str, ca_certs: Path) -> list[str | None]:
        """Ask https://shop.test, whose certificate is for *certified*; the names that the handshakes asked for."""
        names: list[str | None] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = lambda _, name, __: names.append(name)
        authority.issue_cert(certified).configure_cert(context)
        with HTTPServer(host="localhost", port=0, ssl_context=context) as server:
            if service == "engine":
                server.expect_request("/").respond_with_data(json.dumps(ROOT))
            server.expect_request("/search").respond_with_json({"ids": []})
            url = f"https://shop.test:{server.port}"
            open_and_ask(cluster(url, SUITE, service=service, ca_certs=str(ca_certs)))
        return names

    def test_of_the_name(self, authority: trustme.CA, service: str, tmp_path: Path, resolver: Resolver) -> None:
        resolver.names["shop.test"] = [["127.0.0.1"]]

        names = self.ask(authority, "shop.test", service, tmp_path / "ca.pem")
        assert set(names) == {"shop.test"}

    def test_of_another_name(self, authority: trustme.CA, service: str, tmp_path: Path, resolver: Resolver) -> None:
        resolver.names["shop.test"] = [["127.0.0.1"]]

        with pytest.raises(EngineUnreachable, match="does not match the host name"):
            self.ask(authority, "other.test", service, tmp_path / "ca.pem")
