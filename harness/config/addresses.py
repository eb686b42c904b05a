"""Servers as suites, relevance.toml and options name them: kinds, URLs, stated engines; and names of variables."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import unquote, unquote_plus, urlsplit

from harness.words import did_you_mean

SERVICES = ["engine", "http", "solr", "typesense", "weaviate"]
"""The kinds of server, of which `harness.search.dialects` has the dialects. All but the first are asked over HTTP."""

_NO_LOGIN = (
    "a URL must not contain a login; name its environment variables under [clusters.NAME] in relevance.toml: "
    "username_env and password_env, or api_key_env"
)
_CLOUD_PARTS = re.compile(
    r"(?P<host>[^\s:$]+)(?::(?P<port>[0-9]{1,5}))?\$(?P<engine>[^\s:$]+)(?::(?P<engine_port>[0-9]{1,5}))?(?:\$.*)?"
)
"""Matches what a cloud id encodes."""
_ENGINE = re.compile(r"(\S+?)(?:\s+(\d+(?:\.\d+)*|serverless))?")
_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}(?:/\S*)?")
VARIABLE_PATTERN = re.compile(r"[A-Za-z0-9_*]+")
"""Matches the name of an environment variable, or a pattern with ``*``."""

ENGINES = ("elasticsearch", "opensearch")


def lacks_scheme(text: str) -> bool:
    """Whether *text* is a host with a port, as in a URL without its scheme."""
    return _HOST_AND_PORT.fullmatch(text) is not None


def find_url_problem(url: str) -> str | None:
    """Why *url* is not the URL of a server; the sentence never holds a login."""
    if lacks_scheme(url):
        return f"found {url!r}, expected a URL with http:// or https://, such as http://{url}"
    try:
        parts = urlsplit(url)
        is_port_wrong = parts.port == 0 or parts.netloc.endswith(":")
    except ValueError:
        return "this is not a URL; expected one such as http://localhost:9200"
    if "@" in (parts.netloc or url):
        return _NO_LOGIN
    if parts.scheme not in ("http", "https"):
        return f"found a URL that begins with {parts.scheme or url[:20]!r}, expected http:// or https://"
    if not parts.hostname or is_port_wrong or re.search(r"\s", url):
        return f"found {url!r}, expected a URL such as http://localhost:9200"
    if parts.query or parts.fragment:
        return "the URL of a server must not have ? or #; expected one such as http://localhost:9200"
    return None


def uses_tls(url: str) -> bool:
    """
    Whether *url* is one with https, in any case.

    >>> uses_tls("HTTPS://search.example"), uses_tls("http://https.example")
    (True, False)
    """
    return urlsplit(url).scheme == "https"


def decode_cloud_id(cloud_id: str) -> str:
    """
    The URL of the engine that *cloud_id* names.

    It is a name, which may have colons, and the encoded host, engine and dashboards of a deployment, each of which may
    have a port. That of the engine goes before that of the host.

    Raises:
        ValueError: It is invalid.

    >>> decode_cloud_id("shop:eu:" + base64.b64encode(b"cloud.example:9243$abc:9244$def").decode())
    'https://abc.cloud.example:9244'
    """
    name, _, encoded = cloud_id.rpartition(":")
    try:
        parts = _CLOUD_PARTS.fullmatch(base64.b64decode(encoded).decode("ascii"))
    except ValueError:
        parts = None
    if not name or parts is None:
        raise ValueError("its `cloud_id` is invalid; copy it from the deployment's page with the name and the colon")
    port = parts["engine_port"] or parts["port"] or "443"
    url = f"https://{parts['engine']}.{parts['host']}:{port}"
    sentence = find_url_problem(url)
    if sentence:
        raise ValueError(f"its `cloud_id` is invalid: {sentence}")
    return url


def find_engine_problem(text: str) -> str | None:
    """Why *text* does not name an engine and its version."""
    match = _ENGINE.fullmatch(text.strip())
    if match and match[1] in ENGINES:
        return None
    guess = did_you_mean(match[1], ENGINES) if match else ""
    return (
        f"found {text!r}, expected an engine and its version such as 'elasticsearch 9.4.3' or 'opensearch 2.19'{guess}"
    )


_ROUNDING = re.compile("/[yMwdhHms](?=[-+{}])")
"""What rounds a date in the name of an index, as in `<logs-{now/d}>` and `<logs-{now/M-1M{yyyy.MM}}>`."""


def find_index_problem(text: str) -> str | None:
    """
    What is expected in place of *text*, if it does not name an index, or several with a comma between.

    >>> texts = ("shop,books-*", "_all", "<logs-{now/d}>", "<a-{now/M-1M{yyyy.MM}}>")
    >>> [find_index_problem(text) is None for text in texts]
    [True, True, True, True]
    >>> [find_index_problem(text) is None for text in (",", "..", "_scripts", "shop/_doc")]
    [False, False, False, False]
    """
    names = [decode_all(name).strip() for name in text.split(",")]
    if not all(names):
        return "expected the name of an index before and after each comma, as an empty one may stand for all indexes"
    # such a name is a part of a path, which would lead to something else than a search
    if any(name.startswith("_") and name != "_all" and ":" not in name for name in names):
        return "expected the name of an index, which does not begin with _"
    for name in names:
        if {".", ".."}.intersection(split_path(name)):
            return "expected the name of an index, not . or .. in a path"
    # a gateway before an engine may decode a slash: POST /shop/_doc/_search would write the document `_search`
    plain = [unicodedata.normalize("NFKC", _ROUNDING.sub("", name)) for name in names]
    if any("/" in name or "\\" in name for name in plain):
        return "expected the name of an index, which has no / but in a date such as <logs-{now/d}>"
    return None


def split_path(path: str) -> Sequence[str]:
    """
    The names in *path*, as the most lenient server reads them: decoded until nothing is encoded, without empty ones.

    >>> split_path("/indexes//shop%252Fbooks/..%5csearch?q=1")
    ['indexes', 'shop', 'books', '..', 'search']
    """
    decoded = unicodedata.normalize("NFKC", decode_all(re.split("[?#]", path)[0]))
    return [name for name in re.split(r"[/\\]", decoded) if name]


def decode_all(text: str) -> str:
    """*text* decoded until nothing in it is encoded."""
    decoded = unquote(text)
    while decoded != text:
        text, decoded = decoded, unquote(decoded)
    return text


_BLANKS_AT_ENDS = re.compile(r"[\s\x00-\x20]+\Z|\A[\s\x00-\x20]+")
"""What servers cut off: Java's `trim` takes control characters too."""


def normalize_name(name: str) -> str:
    """
    The *name* of a parameter, as the most lenient server reads it, so that a rule sees one spelling of it.

    >>> normalize_name(" a%63tion"), normalize_name("STRE%2541M.body+"), normalize_name("\uff53hards%01")
    ('action', 'stream.body', 'shards')
    """
    plain, before = unquote_plus(name), ""
    while plain != before:
        before, plain = plain, _BLANKS_AT_ENDS.sub("", unicodedata.normalize("NFKC", decode_all(plain)))
    return plain.lower()


def list_plain_names(path: str) -> Sequence[str]:
    """
    The names in *path* as `normalize_name` has them, without what follows a semicolon.

    >>> list_plain_names("/solr/%41dmin;x=1/cores%3By?action=UNLOAD")
    ['solr', 'admin', 'cores']
    """
    names = [normalize_name(name.partition(";")[0]) for name in split_path(path)]
    return [name for name in names if name]
