"""Logins, TLS certificates and proxies of the connection to a server."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from harness.config import find_url_problem, uses_tls
from harness.errors import UsageError
from harness.masking import (
    Masker,
    encode_api_key,
    encode_login,
    find_encoded_logins,
    find_login_parts,
    find_login_secrets,
)
from harness.model.request import Cluster


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy at *url*, which holds no login."""

    url: str
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The login as the header of requests to the proxy."""
        if not self.username:
            return {}
        return {"proxy-authorization": f"Basic {encode_login(self.username, self.password)}"}


LONG_SECRET = 16
"""Characters of a secret that is no word, nor a part of an id."""


@dataclass(frozen=True, slots=True)
class Login:
    """
    Headers for each request, and the client's certificate.

    *secrets* are the values to mask, by the name of their variable, and *encoded* has the names by what headers have.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    encoded: Mapping[str, str] = field(default_factory=dict, repr=False)
    key_password: str | None = field(default=None, repr=False)
    """Of the client's private key."""
    proxy: Proxy | None = None
    """That of relevance.toml."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names the proxies where relevance.toml has none."""
    is_sent: bool = False
    """Whether requests have a login, a header from a variable, or a client certificate."""

    def make_masker(self) -> Callable[[str], str]:
        """A function that replaces each secret in a text by the name of its variable."""
        return Masker({}, self.secrets, self.encoded).mask

    def list_long_secrets(self) -> list[str]:
        """The secrets that no id has by chance: as headers have them, and those of `LONG_SECRET` characters or more."""
        secrets = [text.rstrip("=") for text in self.encoded if len(text) >= LONG_SECRET // 2]
        for value in self.secrets.values():
            secrets += [text for text in (value, *find_login_parts(value)) if len(text) >= LONG_SECRET]
        return secrets

    def find_proxy(self, url: str) -> Proxy | None:
        """
        The proxy for *url*: that of relevance.toml, else that of `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`.

        Those of the environment are not used for this machine, and not for what `NO_PROXY` lists.

        Raises:
            ValueError: The variable holds no URL of a proxy.
        """
        if self.proxy is not None:
            return self.proxy
        parts = urlsplit(url)
        host = parts.hostname or ""
        _, excluded = self._find_variable("no_proxy")
        if is_this_machine(host) or _is_excluded(host, parts.port, excluded):
            return None
        for variable in (f"{parts.scheme}_proxy", "all_proxy"):
            name, text = self._find_variable(variable)
            if text:
                return _parse_proxy(name, text)
        return None

    def _find_variable(self, name: str) -> tuple[str, str]:
        """The variable *name* in lower case, as curl prefers it, or in upper case; and its text, empty if not set."""
        if name in self.environment:
            return name, self.environment[name]
        upper = name.upper()
        # A web server sets HTTP_PROXY for a CGI program from a header of whoever asks.
        if upper == "HTTP_PROXY" and "REQUEST_METHOD" in self.environment:
            return upper, ""
        return upper, self.environment.get(upper, "")


def is_this_machine(host: str) -> bool:
    """Whether *host* is the loopback address, or its name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_excluded(host: str, port: int | None, listed: str) -> bool:
    """Whether `NO_PROXY` lists *host*: by its name, its domain, its address, a network, or `*`."""
    for entry in re.split(r"[\s,]+", listed.strip().lower()):
        name, entry_port = entry, ""
        if re.fullmatch(r"[^:]+:\d+", entry):  # an IPv6 address has colons too
            name, _, entry_port = entry.rpartition(":")
        if not name or (entry_port and entry_port != str(port)):
            continue
        domain = name.removeprefix("*").lstrip(".")
        if name == "*" or host == domain or host.endswith(f".{domain}") or _is_in_network(host, name):
            return True
    return False


def _is_in_network(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network.strip("[]"), strict=False)
    except ValueError:
        return False


def _parse_proxy(name: str, text: str) -> Proxy:
    """The proxy that the variable *name* holds; the text may have a login and lack its scheme."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        is_proxy = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_proxy = is_proxy and not parts.netloc.endswith(":")
    except ValueError:
        is_proxy = False
    if not is_proxy:
        raise ValueError(f"{name} in the environment should be a proxy's URL such as http://proxy.example:3128")
    host = parts.netloc.rpartition("@")[2]
    return Proxy(f"{parts.scheme}://{host}", unquote(parts.username or ""), unquote(parts.password or ""))


def read_login(cluster: Cluster, environ: Mapping[str, str]) -> Login:
    """
    The login of *cluster* as *environ* holds it.

    An API key is given as the engine encoded it, or as `id:key`.

    Raises:
        UsageError: Variables are not set (the message lists all of them), hold what no header can, or there are two
            logins.
    """
    _check_one_login(cluster)
    variables = sorted(set(cluster.variables))
    unset = [name for name in variables if not environ.get(name, "").strip()]
    if unset:
        verb = "is" if len(unset) == 1 else "are"
        raise UsageError(f'cluster "{cluster.name}" takes its login from {", ".join(unset)}, which {verb} not set')
    in_headers = {cluster.api_key_env, cluster.bearer_token_env, *cluster.headers_env.values()}
    for name in variables:
        is_encoded = name == cluster.api_key_env and ":" in environ[name]
        problem = _find_value_problem(environ[name], is_header=name in in_headers and not is_encoded)
        if problem:
            raise UsageError(f'cluster "{cluster.name}" takes its login from {name}, whose value {problem}')
    headers = {"host": cluster.host} if cluster.host else {}
    headers |= {header.lower(): environ[name] for header, name in cluster.headers_env.items()}
    return Login(
        headers | _make_authorization(cluster, environ),
        find_login_secrets(cluster, environ),
        find_encoded_logins(cluster, environ),
        key_password=environ.get(cluster.client_key_password_env or ""),
        proxy=_read_proxy(cluster, environ),
        environment=environ,
        is_sent=bool(cluster.logins or cluster.headers_env or cluster.client_cert),
    )


def _find_value_problem(value: str, *, is_header: bool) -> str:
    """What is wrong with the *value* of a login, without it; empty if nothing is."""
    if value.endswith(("\n", "\r")):
        return "ends with a line break: remove it"
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        return "has a line break or another control character: remove it"
    try:
        value.encode("latin-1" if is_header else "utf-8")
    except UnicodeEncodeError:
        return f"has a character that {'headers' if is_header else 'UTF-8'} cannot hold: remove it"
    return ""


def _read_proxy(cluster: Cluster, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy of relevance.toml, if there is one."""
    if cluster.proxy is None:
        return None
    username = environ.get(cluster.proxy_username_env or "", "")
    password = environ.get(cluster.proxy_password_env or "", "")
    return Proxy(cluster.proxy, username, password)


def _make_authorization(cluster: Cluster, environ: Mapping[str, str]) -> dict[str, str]:
    """The header of the login, if there is one."""
    if cluster.api_key_env:
        return {"authorization": f"ApiKey {encode_api_key(environ[cluster.api_key_env])}"}
    if cluster.bearer_token_env:
        return {"authorization": f"Bearer {environ[cluster.bearer_token_env]}"}
    if cluster.username_env and cluster.password_env:
        token = encode_login(environ[cluster.username_env], environ[cluster.password_env])
        return {"authorization": f"Basic {token}"}
    return {}


def list_login_headers(cluster: Cluster) -> frozenset[str]:
    """The names of the headers that `read_login` makes for *cluster*, in lower case."""
    names = {header.lower() for header in cluster.headers_env}
    if cluster.host:
        names.add("host")
    if cluster.logins:
        names.add("authorization")
    return frozenset(names)


def leave_out_headers(headers: Mapping[str, str], login_headers: Collection[str]) -> dict[str, str]:
    """
    *headers* of a suite without those in *login_headers*, names in lower case.

    A suite cannot replace the headers of the login: they say who asks.
    """
    return {name: value for name, value in headers.items() if name.lower() not in login_headers}


def _check_one_login(cluster: Cluster) -> None:
    """Raise UsageError where *cluster* has half a login, or several."""
    if bool(cluster.username_env) != bool(cluster.password_env):
        raise UsageError(f'cluster "{cluster.name}" needs both `username_env` and `password_env`, or neither')
    if len(cluster.logins) > 1:
        raise UsageError(
            f'cluster "{cluster.name}" has more than one login: {" and ".join(cluster.logins)}; use one of them'
        )


def check_url(url: str) -> str:
    """
    *url*, if it is one and holds no login.

    Raises:
        ValueError: It is not; the message gives the remedy, and does not show a login.
    """
    sentence = find_url_problem(url)
    if sentence:
        raise ValueError(sentence)
    return url


def make_tls_options(cluster: Cluster, login: Login, url: str) -> dict[str, Any]:
    """
    The options of a urllib3 pool to verify the certificate of the server at *url*, and to send the client's.

    Raises:
        ValueError: A file is not there or cannot be used, the fingerprint is no SHA-256, or there is no TLS.
    """
    fingerprint, ca_certs = read_fingerprint(cluster, url), read_ca_file(cluster, url)
    if not uses_tls(url):
        return {}
    certificate = _read_certificate(cluster, login)
    if fingerprint:
        # The fingerprint of a certificate says all: who signed it, and for which host, does not count.
        return {"cert_reqs": "CERT_NONE", "assert_hostname": False, "assert_fingerprint": fingerprint, **certificate}
    if not cluster.verify_certs:
        return {"cert_reqs": "CERT_NONE", "assert_hostname": False, **certificate}
    if not ca_certs:
        import certifi

        ca_certs = certifi.where()
    return {"cert_reqs": "CERT_REQUIRED", "ca_certs": ca_certs, **certificate}


def _read_certificate(cluster: Cluster, login: Login) -> dict[str, str]:
    """The options for the client's certificate and its key, which may be in one file; none if there is none."""
    if not cluster.client_cert:
        return {}
    key = cluster.client_key or cluster.client_cert
    for name, path in (("client_cert", cluster.client_cert), ("client_key", key)):
        if not Path(path).is_file():
            raise ValueError(f'the file "{path}" of its `{name}` does not exist')
    try:
        # Without a password the library would ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(
            cluster.client_cert, key, password=lambda: login.key_password or ""
        )
    except (OSError, ValueError) as error:
        raise ValueError(f"its client certificate cannot be used: {_explain_unusable(error, cluster)}") from None
    options = {"cert_file": cluster.client_cert, "key_file": key}
    if login.key_password:
        options["key_password"] = login.key_password
    return options


def _explain_unusable(error: Exception, cluster: Cluster) -> str:
    """Why *error* was raised for the client's certificate, with a remedy."""
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        return "`client_key` is not the key of `client_cert`"
    if cluster.client_key_password_env:
        return f"is {cluster.client_key_password_env} the password of its key, and are both files PEM?"
    return "both files should be PEM; if the key is encrypted, name its password's variable: `client_key_password_env`"


def read_fingerprint(cluster: Cluster, url: str) -> str | None:
    """
    The SHA-256 of the server's certificate as 64 hexadecimal digits, None where the cluster has none.

    Raises:
        ValueError: It is no SHA-256, or there is no TLS.
    """
    _check_tls(cluster, url)
    if not cluster.fingerprint:
        return None
    digits = cluster.fingerprint.replace(":", "").strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", digits):
        raise ValueError("its `fingerprint` should be a SHA-256: 64 hexadecimal digits, with or without colons")
    return digits


def read_ca_file(cluster: Cluster, url: str) -> str | None:
    """
    The path of the CA file, None where the cluster has none.

    Raises:
        ValueError: The file is not there, or there is no TLS.
    """
    _check_tls(cluster, url)
    if cluster.ca_certs and not Path(cluster.ca_certs).is_file():
        raise ValueError(f'its CA file "{cluster.ca_certs}" does not exist')
    return cluster.ca_certs


def _check_tls(cluster: Cluster, url: str) -> None:
    """Raise ValueError where what *cluster* says of certificates would not be used."""
    if uses_tls(url):
        return
    if cluster.fingerprint or cluster.ca_certs:
        raise ValueError(f"a CA file or a fingerprint needs a URL that begins with https://, found {url}")
    if cluster.client_cert:
        raise ValueError(f"a client certificate needs a URL that begins with https://, found {url}")


def list_login_remarks(cluster: Cluster) -> list[str]:
    """What others on the way to the server could read or change, and what allows that."""
    urls = [url for url in (cluster.url, *cluster.nodes) if url]
    is_secure = cluster.cloud_id is not None or any(map(uses_tls, urls))
    remarks = []
    if is_secure and not cluster.verify_certs and not cluster.fingerprint:
        remarks.append(
            "the server's certificate is not verified (`verify_certs = false`): whoever is between can read the login "
            "and change the answers; name its CA file as `ca_certs`, or its SHA-256 as `fingerprint`"
        )
    unencrypted = [url for url in urls if not uses_tls(url)]
    exposed = [url for url in unencrypted if not is_this_machine(urlsplit(url).hostname or "")]
    if exposed and (cluster.logins or cluster.headers_env):
        remarks.append(f"the login is sent without encryption to {exposed[0]}; use https://")
    if cluster.proxy_username_env and not uses_tls(cluster.proxy or ""):
        remarks.append(f"the login of the proxy is sent without encryption to {cluster.proxy}")
    return remarks
