"""Where the judging page is served, and under which names browsers may ask for it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from harness.errors import UsageError

LOCALHOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """The *host* and *port* that the server listens on; with port 0 the system chooses one."""

    host: str = LOCALHOST
    port: int = 0
    public_url: str | None = None
    """The address under which a proxy serves the page to others, without a slash at its end."""

    def listen(self) -> tuple[socket.socket, Address]:
        """
        A socket that listens, and the address with its port.

        Raises:
            UsageError: The address cannot be used.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            listening = socket.create_server((self.host, self.port), family=family)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            if self.host == LOCALHOST:
                raise UsageError(f"port {self.port} cannot be used: {reason}; choose another --port") from None
            raise UsageError(f"{self._join_port()} cannot be used: {reason}; choose another --serve") from None
        return listening, replace(self, port=listening.getsockname()[1])

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return _is_loopback(self.host)

    @property
    def url(self) -> str:
        """The address of the page for a browser."""
        return self.public_url or f"http://{self._join_port()}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser may send as `Host`."""
        hosts = []
        if self.public_url is not None:
            hosts.append(urlsplit(self.public_url).netloc)
        if self.is_local:
            hosts += [self._join_port(), f"localhost:{self.port}"]
        return tuple(hosts)

    @property
    def origins(self) -> tuple[str, ...]:
        """What a browser may send as `Origin`."""
        origins = []
        if self.public_url is not None:
            parts = urlsplit(self.public_url)
            origins.append(f"{parts.scheme}://{parts.netloc}")
        if self.is_local:
            origins += [f"http://{self._join_port()}", f"http://localhost:{self.port}"]
        return tuple(origins)

    def build_link(self, token: str) -> str:
        """The link of the judge who has *token*."""
        return f"{self.url}/#token={token}"

    def _join_port(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str, public_url: str | None) -> Address:
    """
    The address of ``--serve`` and ``--public-url``.

    Raises:
        UsageError: One of them is wrong, or others could connect without TLS.

    >>> parse_address("127.0.0.1:8000", None)
    Address(host='127.0.0.1', port=8000, public_url=None)
    >>> parse_address("0.0.0.0:8000", "https://judging.shop.example/").url
    'https://judging.shop.example'
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535
    if not (colon and host and is_port):
        raise UsageError(f"found {text!r} for --serve, expected HOST:PORT, such as 127.0.0.1:8000")
    address = Address(host, int(port), None if public_url is None else _check_public_url(public_url))
    if not address.is_local and public_url is None:
        raise UsageError(
            f"found {text!r} for --serve, where other machines could read grades and links on their way; let a proxy "
            "with TLS pass requests on to 127.0.0.1, or give the address of that proxy with --public-url https://…"
        )
    return address


def _check_public_url(url: str) -> str:
    """*url* without a slash at its end; raises UsageError if it is none that a browser may be given."""
    expected = "expected the address of a proxy with TLS, such as https://judging.shop.example"
    try:
        parts = urlsplit(url)
        # Browsers send neither the port that is usual for the scheme nor capital letters.
        netloc = (parts.hostname or "") if parts.port in (None, 443) else f"{parts.hostname}:{parts.port}"
    except ValueError:
        raise UsageError(f"found {url!r} for --public-url, {expected}") from None
    has_extras = parts.query or parts.fragment or parts.username is not None or parts.password is not None
    if parts.scheme != "https" or not parts.hostname or has_extras:
        raise UsageError(f"found {url!r} for --public-url, {expected}")
    if ":" in parts.hostname:
        netloc = netloc.replace(parts.hostname, f"[{parts.hostname}]", 1)
    return f"https://{netloc}{parts.path.rstrip('/')}"


def _is_loopback(host: str) -> bool:
    """
    Whether only this machine can connect to *host*.

    >>> [_is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "shop.example")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
