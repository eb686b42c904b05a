"""
What a suite may send to an HTTP service: the border between a suite, which a stranger may have written, and a login.

Three things hold for every request. It goes below the URL of the service, however its path is written. Its method is
the one that it has: no header and no parameter replaces it. And its length and its host are what the harness sends.

GET requests are sent everywhere. Any other method may change data, and so may a GET request with a body, or for a name
that begins with `_`, as the interfaces of engines do: see `Permissions`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, unquote_to_bytes

from harness.config.addresses import list_plain_names, normalize_name, split_path
from harness.errors import Option, Sentence
from harness.model.request import AddressOrigin, Cluster
from harness.model.suite import HttpRequest
from harness.search.presets import PRESETS, Preset, find_offset_problem, find_preset_problem
from harness.search.solr_requests import find_solr_command

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""The name of a header (RFC 9110, 5.6.2)."""

CONNECTION_HEADERS = frozenset(
    {
        "connection",
        "contentlength",
        "expect",
        "http2settings",
        "keepalive",
        "proxyauthorization",
        "proxyconnection",
        "te",
        "trailer",
        "transferencoding",
        "upgrade",
    }
)
"""Headers that say where a request ends and what becomes of its connection: letters and digits only."""

METHOD_PARAMETERS = frozenset(
    {
        "httpmethod",
        "httpmethodoverride",
        "methodoverride",
        "overridemethod",
        "xhttpmethod",
        "xhttpmethodoverride",
        "xmethodoverride",
    }
)
"""Parameters in place of the method on servers that support them: letters and digits only."""

LAST_OF_HEADERS = 0xFF
"""The last character that a header can hold: those of Latin-1 are sent."""

_FORMS = ("form-urlencoded", "form-data")
"""Types of bodies whose parameters a server reads out of any JSON text."""


def find_problem(http: HttpRequest) -> str:
    """Why no service may be sent *http*, as a sentence; empty if one may."""
    problem = find_path_problem(http.path)
    if problem:
        return problem
    for name, value in http.headers.items():
        problem = find_header_problem(name, value)
        if problem:
            return problem
    names = list(http.params)
    if isinstance(http.json, Mapping):
        names += http.json
    for name in names:
        problem = find_parameter_problem(name)
        if problem:
            return problem
    return ""


def find_header_problem(name: str, value: str = "") -> str:
    """Why a suite must not have the header *name* with this *value*, as a sentence; empty if it may."""
    if not _TOKEN.fullmatch(name):
        return f"found {name!r}, expected the name of a header, such as X-Locale"
    # Servers read X_Http as X-Http.
    words = re.findall(r"[a-z0-9]+", name.lower())
    letters = "".join(words)
    if letters in CONNECTION_HEADERS:
        return f"the header {name} belongs to the connection; expected no such header in a suite"
    if "method" in letters or "override" in letters:
        return f"the header {name} may replace the method; expected `method`"
    if letters == "forwarded" or "host" in words or ("forwarded" in words and "server" in words):
        return f"the header {name} may choose another host; expected `host` of the cluster in relevance.toml"
    moves = {"original", "rewrite", "forwarded"}.intersection(words)
    if moves and {"url", "uri", "path", "prefix"}.intersection(words):
        return f"the header {name} may replace the path; expected `path`"
    if letters == "contenttype" and any(form in value.lower() for form in _FORMS):
        return f"the header {name} says that the body is a form; expected a type of JSON, as the body is sent as JSON"
    if any(ord(character) > LAST_OF_HEADERS for character in value):
        return f"the header {name} has a character that headers cannot hold; send its value in `params` or `json`"
    return ""


def find_parameter_problem(name: str) -> str:
    """Why a request must not have the parameter *name*, as a sentence; empty if it may."""
    plain = normalize_name(name)
    key = plain.partition("[")[0]  # PHP reads `a[]` as the list `a`
    is_marked = re.fullmatch(r"[^a-z0-9]+method[^a-z0-9]*", key)
    if is_marked or re.sub(r"[^a-z0-9]", "", key) in METHOD_PARAMETERS:
        return f"the parameter {name} may replace the method; expected `method`"
    return ""


def find_path_problem(path: str) -> str:
    """Why *path* may leave the URL of its service, as a sentence without the path; empty if it does not."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]{2}", path):
        return "the path is a URL of its own; expected a path below the URL of the service"
    if "#" in path:
        return "the path has a #, and what follows it is not sent; expected %23"
    plain, _, query = path.partition("?")
    try:
        unquote_to_bytes(plain).decode()
    except UnicodeDecodeError:
        return "the path is not UTF-8"
    for segment in split_path(plain):
        if any(ord(character) < 32 or ord(character) == 127 for character in segment):
            return "the path has a control character, which servers may leave out"
        # Servers cut off what follows a semicolon, and spaces at the end.
        if segment.partition(";")[0].strip() in (".", ".."):
            return "the path may leave the URL of the service; expected no segment . or .. in it, encoded or not"
    for parameter in re.split("[&;]", query):
        problem = find_parameter_problem(parameter.partition("=")[0])
        if problem:
            return problem
    return ""


def explain_write(http: HttpRequest, preset: Preset | None = None) -> str:
    """
    Why *http*, for a service of *preset*, may change data; empty if it only reads.

    A path with a name that begins with `_` is one of an engine's own interfaces, such as `_delete_by_query`.
    """
    if http.method != "GET":
        return f"the method {http.method} may change data"
    if http.json is not None:
        return "a GET request with a body may change data"
    for name in list_plain_names(http.path):
        if name.startswith("_"):
            return f"the path has {name}, which an engine may take for more than a search"
    command = find_solr_command(http)
    if command:
        return f"{command}, by which Solr takes commands in GET requests"
    if preset is not None and preset.gets_may_write and not is_listed(http, preset.requests):
        return f"a GET request to {preset.title} may change data unless it is a search"
    return ""


def is_listed(http: HttpRequest, patterns: Sequence[str]) -> bool:
    """
    Whether one of *patterns* is the method and the path of *http*; `*` stands for a name, or a part of one.

    >>> search = HttpRequest("POST", "/indexes/shop/search", "$.ids")
    >>> is_listed(search, ["POST /indexes/*/search"]), is_listed(search, ["POST /*/search", "PUT /indexes/*/search"])
    (True, False)
    """
    # One server takes `a%2Fb` as two names and another as one, so both have to find what is listed.
    readings = split_path(http.path), _split_written_path(http.path)
    for pattern in patterns:
        method, _, path = pattern.partition(" ")
        listed = split_path(path)
        if http.method == method and all(_do_names_fit(names, listed) for names in readings):
            return True
    return False


def _split_written_path(path: str) -> Sequence[str]:
    """The names in *path*, as the strictest server reads them: split as it is written, then decoded once."""
    written = path.partition("?")[0].split("/")
    return [unquote(name) for name in written if name]


def _do_names_fit(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return len(names) == len(patterns) and all(map(_does_name_fit, names, patterns))


def _does_name_fit(name: str, pattern: str) -> bool:
    # A server may cut the name, or the path, at one of these.
    any_name = "[^;?#%]+"
    return re.fullmatch(any_name.join(map(re.escape, pattern.split("*"))), name) is not None


@dataclass(frozen=True, slots=True)
class Permissions:
    """What *cluster*, a service, may be sent that may change data."""

    cluster: Cluster
    allows_writes: bool = False
    """Whether the person who runs the harness said so on the command line."""

    def find_problem(self, http: HttpRequest) -> str:
        """Why no service like this one may be sent *http*, as a sentence; empty if one may."""
        preset = PRESETS.get(self.cluster.service)
        problem = find_problem(http)
        if not problem and preset is not None:
            problem = find_preset_problem(preset, http)
        # A hook may have changed what the suite fills in.
        return problem or find_offset_problem(http)

    def find_refusal(self, http: HttpRequest, *, may_be_engine: bool) -> Sentence | None:
        """
        Why *http* must not be sent, as a sentence; None if it may.

        Args:
            http: Filled.
            may_be_engine: Whether nothing has answered yet that is not an engine. If so, only requests that read, and
                those that the trusted configuration lists, are sent.
        """
        preset = PRESETS.get(self.cluster.service)
        reason = explain_write(http, preset)
        is_trusted = self.cluster.origin is AddressOrigin.CONFIGURATION
        is_search = preset is not None and is_listed(http, preset.requests)
        if not reason or (is_trusted and (is_search or is_listed(http, self.cluster.requests))):
            return None
        is_plain_get = http.method == "GET" and http.json is None
        is_get_for_reading = is_plain_get and (preset is None or not preset.gets_may_write)
        is_allowed = self.allows_writes or (is_trusted and is_get_for_reading)
        if is_allowed and not may_be_engine:
            return None
        listed = f"{http.method} /{'/'.join(split_path(http.path))}"
        line = f"`requests = [{json.dumps(listed, ensure_ascii=False)}]`"
        if is_trusted:
            remedy = f"add {line} to [clusters.{self.cluster.name}] ({self.cluster.mark})"
        else:
            remedy = f'define the service in relevance.toml (url and service = "{self.cluster.service}")'
            if not is_search:
                remedy += f" with {line}"
        not_sent = f"{http.method} {http.path} was not sent: {reason}"
        if is_allowed:
            return (f"{not_sent}, and `GET /` had no answer that shows that this is not an engine; {remedy}",)
        return (f"{not_sent}; {remedy}, or give ", Option("allow-write"))
