"""
The addresses that may be connected to: the border between what a suite names and the network of whoever runs it.

A suite may come from a stranger, whose server is run by the machine of somebody else. So its own address is never
link-local, where machines offer services to themselves, and nobody's is the metadata service of a cloud, which gives
the keys of the machine to whoever asks.

All addresses of a name are checked, and the connection is opened to one of these, so that a name server cannot give
another address in between. Behind a proxy, which resolves names itself, only the name is checked.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TypeAlias
from urllib.parse import unquote

from urllib3 import HTTPConnectionPool
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, LocationParseError, NameResolutionError, NewConnectionError
from urllib3.util import parse_url
from urllib3.util.connection import allowed_gai_family, create_connection

from harness.errors import Option, SearchError, Sentence, UsageError
from harness.model.request import AddressOrigin, Cluster

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA_ADDRESSES = frozenset(
    map(
        ipaddress.ip_address,
        (
            "169.254.169.254",  # most clouds
            "169.254.170.2",  # tasks of Amazon ECS
            "169.254.170.23",  # pods of Amazon EKS
            "169.254.0.23",  # Tencent
            "169.254.42.42",  # Scaleway
            "100.100.100.200",  # Alibaba
            "168.63.129.16",  # Azure
            "192.0.0.192",  # Oracle Cloud Classic
            "fd00:ec2::254",  # Amazon EC2
            "fd00:ec2::23",  # pods of Amazon EKS
            "fd20:ce::254",  # Google
            "fd00:42::42",  # Scaleway
            "fd00:c1::a9fe:a9fe",  # Oracle
            "fe80::a9fe:a9fe",  # OpenStack
        ),
    )
)
"""Where clouds give the login of a machine to the programs on it."""

METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.tencentyun.com",
    }
)
"""Names of the same, which a proxy would resolve."""

NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
"""Networks whose addresses are translated to the IPv4 address in their last 32 bits (RFC 6052 and 8215)."""

_COMPATIBLE = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("::ffff:0:0:0/96"))
"""Older networks with an IPv4 address in the last 32 bits (RFC 4291 and 2765)."""

ISATAP = frozenset({0x00005EFE, 0x02005EFE})
"""What stands before the IPv4 address in the last 64 bits of an address of ISATAP (RFC 5214)."""


class AddressRefused(SearchError):
    """The name of a server has an address that may not be connected to."""


def refuse_cluster(cluster: Cluster, *, only_listed: bool) -> None:
    """
    Refuse *cluster* for an address that it names.

    Args:
        cluster: As resolved.
        only_listed: Whether suites may name no address that the person who runs the harness has not named.

    Raises:
        UsageError: It has such an address.
    """
    if only_listed and cluster.origin is AddressOrigin.SUITE:
        raise UsageError(
            f"{cluster.url} is an address of the suite's own, and only listed addresses are allowed; define it under "
            "[clusters.NAME] in relevance.toml, or give ",
            Option("url"),
        )
    for url in filter(None, (cluster.url, *cluster.nodes)):
        refuse_address(url, cluster.origin)


def refuse_address(url: str, origin: AddressOrigin) -> None:
    """
    Refuse *url*, which *origin* wrote, if its host is the name or the address of what may not be connected to.

    Raises:
        UsageError: It is.
    """
    host = _read_host(url)
    if host in METADATA_NAMES:
        raise UsageError(f"{url} was not connected to: {host} is a cloud's metadata service")
    address = read_address(host)
    problem = None if address is None else _find_problem(address, origin)
    if problem:
        raise UsageError(f"{url} was not connected to: {address} ", *problem)


def _read_host(url: str) -> str:
    """The host of *url* in lower case, as the libraries read it that connect to it; empty where it has none."""
    try:
        # urllib3 decodes it from 2.8 on only.
        host = unquote(parse_url(url).host or "")
    except LocationParseError:
        return ""
    # Resolvers read wide digits and dots as these, and a name with a last dot as the name.
    return unicodedata.normalize("NFKC", host).strip("[]").rstrip(".").lower()


def read_address(host: str) -> Address | None:
    """
    The address that *host* is, in any spelling that resolvers read as one; None for a name.

    >>> [str(read_address(host)) for host in ("169.254.169.254", "2852039166", "0xa9.0376.43518", "fe80::1%eth0")]
    ['169.254.169.254', '169.254.169.254', '169.254.169.254', 'fe80::1']
    >>> read_address("shop.example")
    """
    plain = host.partition("%")[0]
    try:
        return ipaddress.ip_address(plain)
    except ValueError:
        pass
    if not re.fullmatch(r"[0-9a-fx.]+", plain):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(plain))
    except OSError:
        return None


def _find_problem(address: Address, origin: AddressOrigin) -> Sentence | None:
    """Why *address* may not be connected to where *origin* wrote it, as the end of a sentence; None if it may."""
    for form in _list_forms(address):
        if form in METADATA_ADDRESSES:
            return ("is the address of a cloud's metadata service",)
        if form.is_link_local and origin is AddressOrigin.SUITE:
            remedy = "is link-local, which a suite's own address must not be; define it in relevance.toml, or give "
            return (remedy, Option("url"))
    return None


def _list_forms(address: Address) -> Iterator[Address]:
    """*address*, and the IPv4 addresses that are within an IPv6 address because packets to it reach them."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    is_isatap = (int(address) >> 32) & 0xFFFFFFFF in ISATAP
    if is_isatap or any(address in network for network in (*NAT64, *_COMPATIBLE)):
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


class AddressBook:
    """
    The addresses of names that *origin* wrote, which are checked when they are looked up.

    The names of a suite are looked up once: its name server could otherwise give another address to the requests that
    follow those which found out what answers there.
    """

    def __init__(self, origin: AddressOrigin) -> None:
        self._origin = origin
        self._kept: dict[tuple[str, int], Sequence[str]] = {}
        self._lock = Lock()

    def check_pool(self, pool: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
        """
        A class as *pool* whose connections are opened only to addresses of this book.

        TLS verifies the certificate of the name as before.
        """

        def open_checked(connection: HTTPConnection) -> socket.socket:
            # `host` lacks the last dot, which keeps resolvers from adding a domain.
            host = connection._dns_host
            return _open_socket(connection, self._resolve(host, connection))

        # urllib3 has no public way to choose the address of a name: it calls `_new_conn` for each new connection, and
        # `_dns_host` is the name that it would resolve. Nothing else of this package uses its private names.
        connection = type("CheckedConnection", (pool.ConnectionCls,), {"_new_conn": open_checked})
        return type("CheckedPool", (pool,), {"ConnectionCls": connection})

    def _resolve(self, host: str, connection: HTTPConnection) -> Sequence[str]:
        """
        The addresses of *host*, the name that *connection* goes to.

        Raises:
            AddressRefused: One of them may not be connected to.
            NameResolutionError, LocationParseError: There are none.
        """
        if self._origin is not AddressOrigin.SUITE:
            return self._look_up(host, connection)
        key = connection.host, connection.port
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._look_up(host, connection)
            return self._kept[key]

    def _look_up(self, host: str, connection: HTTPConnection) -> Sequence[str]:
        try:
            found = socket.getaddrinfo(host.strip("[]"), connection.port, allowed_gai_family(), socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except UnicodeError as error:
            raise LocationParseError(f"{host!r}, label empty or too long") from error
        places = [str(place[0]) for *_, place in found]
        for place in places:
            address = read_address(place)
            problem = None if address is None else _find_problem(address, self._origin)
            if problem:
                raise AddressRefused(f"{host} was not connected to: its address {address} ", *problem)
        return places


def _open_socket(connection: HTTPConnection, places: Sequence[str]) -> socket.socket:
    """A socket that is connected to the first of *places*, addresses, that answers; raises the errors of urllib3."""
    failure: OSError = OSError("the name has no address")
    for place in places:
        try:
            return create_connection((place, connection.port), connection.timeout, None, connection.socket_options)
        except OSError as error:
            failure = error
    if isinstance(failure, TimeoutError):
        raise ConnectTimeoutError(connection, f"no connection within {connection.timeout} s") from failure
    raise NewConnectionError(connection, f"no connection: {failure}") from failure
