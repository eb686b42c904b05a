"""
Masks values from the environment by the name of their variable in texts, and computes fingerprints.

`harness.redaction` masks the texts of a run or a report.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

if TYPE_CHECKING:
    from harness.model.request import Cluster
    from harness.model.suite import Json


class Environment(Mapping[str, str]):
    """Variables of the environment; as a local variable in a traceback it shows none."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """*variables* are read on each look-up."""
        self._variables = variables

    def __getitem__(self, name: str) -> str:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


ELLIPSIS = "…"
"""Ends a text that was cut."""

CUT = re.compile(f"([^{ELLIPSIS}]+){ELLIPSIS}")

SHORTEST_BEGINNING = 4
"""The least number of characters of a value, at the end of a cut text, that are masked."""


class Masker:
    """
    Replaces each value by ``${NAME}``.

    Also in the forms of a value in JSON, HTML, a URL and Python's repr, in lower and upper case, with blanks collapsed,
    and cut off where a text was shortened. Of a login each secret part is replaced too: a server names the token
    without its scheme; and a login as headers have it, which is encoded. Longer values are replaced first, so that a
    value that contains another is masked as a whole. Text that is already masked is not changed.
    """

    def __init__(
        self,
        values: Mapping[str, str],
        logins: Mapping[str, str] | None = None,
        encoded: Mapping[str, str] | None = None,
    ) -> None:
        """
        Args:
            values: By the name of the variable; empty ones are ignored. One that is named like a login is one, and one
                that begins with a scheme such as Bearer.
            logins: Logins by the name of the variable, however it is named.
            encoded: The names of variables by what stands in headers in place of their logins.
        """
        logins = logins or {}
        self._names: dict[str, str] = {}
        for name, value in {**values, **logins}.items():
            for form in _iterate_forms(value):
                self._names.setdefault(form, name)
        # After all values: what is a value of its own keeps its name.
        for name, value in {**values, **logins}.items():
            if name in logins or names_login(name) or _LOGIN_SCHEME.match(value):
                for form in chain.from_iterable(map(_iterate_forms, find_login_parts(value))):
                    self._names.setdefault(form, name)
        for text, name in (encoded or {}).items():
            for form in chain.from_iterable(map(_iterate_forms, _iterate_alphabets(text))):
                self._names.setdefault(form, name)
        # Text that is already masked stays: the name of a variable may hold the value of another.
        for name in set(self._names.values()):
            self._names.setdefault("${" + name + "}", name)
        self._pattern = re.compile(_write_pattern(list(self._names))) if self._names else None

    def __bool__(self) -> bool:
        """Whether there is anything to mask."""
        return self._pattern is not None

    def mask(self, text: str) -> str:
        """
        *text* without the values.

        >>> Masker({"TOKEN": "s3cret"}).mask("Bearer s3cret")
        'Bearer ${TOKEN}'
        """
        if self._pattern is None:
            return text
        masked = self._pattern.sub(self._mask_match, text)
        return CUT.sub(self._mask_beginning, masked) if ELLIPSIS in masked else masked

    def _mask_match(self, match: re.Match[str]) -> str:
        return "${" + self._names[match.group()] + "}"

    def _mask_beginning(self, cut: re.Match[str]) -> str:
        """The end of a text that was cut, without the beginning of a value."""
        text = cut[1]
        for form, name in self._names.items():
            for length in range(min(len(form) - 1, len(text)), SHORTEST_BEGINNING - 1, -1):
                if text.endswith(form[:length]):
                    return text[:-length] + "${" + name + "}" + ELLIPSIS
        return cut[0]

    def mask_json(self, value: Json) -> Json:
        """A JSON value with every string in it masked, including keys; numbers are not changed."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(str(key)): self.mask_json(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.mask_json(item) for item in value]
        return value


def find_login_secrets(cluster: Cluster, environ: Mapping[str, str]) -> dict[str, str]:
    """
    The login secrets of *cluster* by the variables that hold them, if these are set; a user name is not a secret.

    With the passwords in the URLs of the environment's proxies. Values of fewer than `SHORTEST_SECRET` characters, such
    as the number of a tenant in a header, are left out: reports would be unreadable.
    """
    secrets = {name: password for name, (_, password) in _find_proxy_logins(environ).items()}
    secrets |= {name: environ.get(name, "") for name in cluster.secret_variables}
    return {name: value for name, value in secrets.items() if len(value) >= SHORTEST_SECRET}


def find_encoded_logins(cluster: Cluster, environ: Mapping[str, str]) -> dict[str, str]:
    """
    The names of variables by what headers have in place of the secrets of *cluster* in them: base64.

    By the text, as one password may be that of several users.
    """
    encoded = {}
    for user_variable, variable in (
        (cluster.username_env, cluster.password_env),
        (cluster.proxy_username_env, cluster.proxy_password_env),
    ):
        if user_variable and variable and environ.get(variable):
            encoded[encode_login(environ.get(user_variable, ""), environ[variable])] = variable
    key = environ.get(cluster.api_key_env or "", "")
    if cluster.api_key_env and ":" in key:
        encoded[encode_api_key(key)] = cluster.api_key_env
    for variable, (user, password) in _find_proxy_logins(environ).items():
        encoded[encode_login(user, password)] = variable
    return encoded


def encode_login(username: str, password: str) -> str:
    """
    What stands behind ``Basic`` in a header.

    >>> encode_login("kim", "s3cret")
    'a2ltOnMzY3JldA=='
    """
    return base64.b64encode(f"{username}:{password}".encode()).decode()


def encode_api_key(key: str) -> str:
    """
    What stands behind ``ApiKey`` in a header; *key* is that, or ``id:key``, of which base64 has no colon.

    >>> encode_api_key("shop:k3y-1"), encode_api_key("c2hvcDprM3ktMQ==")
    ('c2hvcDprM3ktMQ==', 'c2hvcDprM3ktMQ==')
    """
    return base64.b64encode(key.encode()).decode() if ":" in key else key


PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def _find_proxy_logins(environ: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The users and passwords in the URLs of proxies, which may lack a scheme, by the variables with the URLs."""
    logins = {}
    for name in (*PROXIES, *map(str.upper, PROXIES)):
        url = environ.get(name, "")
        address = url.partition("://")[2] or url
        login, at_sign, _ = address.rpartition("@")
        user, colon, password = login.partition(":")
        if at_sign and colon:
            logins[name] = (unquote(user), unquote(password))
    return logins


LOGIN = re.compile(
    r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|AUTH|AUTHORIZATION|CREDENTIAL|SESSION|COOKIE|SIGNATURE|JWT)S?(_|$)",
    re.IGNORECASE,
)

_NO_LOGIN = re.compile("(OLD)?PWD|XDG_SESSION_.*|DESKTOP_SESSION|GDMSESSION")
"""Variables that a shell or a desktop sets: folders, and names such as ``user``."""

FLAGS = frozenset({"true", "false", "none", "null"})

SHORTEST_SECRET = 4
"""The least number of characters of a value that is masked."""


def names_login(variable: str) -> bool:
    """
    Whether *variable* is named like one that holds a login, such as API_KEY or SESSION_TOKEN.

    A login does not change what is searched. Any other value may.
    """
    return LOGIN.search(variable) is not None


def find_login_values(environ: Mapping[str, str]) -> dict[str, str]:
    """
    The values by the names of all variables that are named like logins: what code of the user's may have read.

    >>> find_login_values({"TENANT_TOKEN": "s3cret", "USE_AUTH": "true", "PWD": "/srv/shop", "LANG": "en_US"})
    {'TENANT_TOKEN': 's3cret'}
    """
    logins = {}
    for name, value in environ.items():
        is_named_like_login = names_login(name) and not _NO_LOGIN.fullmatch(name)
        if is_named_like_login and _may_be_secret(value):
            logins[name] = value
    return logins


_SCHEME = re.compile(r"([A-Za-z][\w-]*)\s+(\S.*)", re.DOTALL)
"""The scheme of an Authorization header, and what stands behind it."""

_LOGIN_SCHEME = re.compile(r"\s*(Bearer|ApiKey)\s", re.IGNORECASE)
"""Of a value that is a login however its variable is named: no other text begins so."""

_PAIR = re.compile(r'[\w.-]+\s*=\s*(?:"([^"]*)"|([^\s;,&"]+))')
"""A name and its value, as in a cookie or behind the scheme Digest."""

_HALVES = re.compile(r"([^\s:=]+):(?!//)(\S+)")
"""``id:key``; what has a double slash is a URL."""


def find_login_parts(login: str) -> tuple[str, ...]:
    """
    The parts of *login* that are secrets by themselves: what a server repeats without the rest.

    That is what stands behind a scheme, the values of a cookie, and both halves of ``id:key``, which may be encoded in
    base64. Parts of fewer than `SHORTEST_SECRET` characters, and words such as ``true``, are left out.

    >>> find_login_parts("Bearer s3cr3t")
    ('s3cr3t',)
    >>> find_login_parts("session=8f3a1c; theme=a")
    ('8f3a1c',)
    >>> find_login_parts("ApiKey c2hvcDprM3ktMQ==")
    ('c2hvcDprM3ktMQ==', 'shop', 'k3y-1')
    """
    parts: list[str] = []
    scheme = _SCHEME.fullmatch(login.strip())
    credentials = scheme[2] if scheme else login.strip()
    if scheme:
        parts.append(credentials)
    for quoted, plain in _PAIR.findall(credentials):
        # A server reads the escapes of a cookie.
        parts += [quoted or plain, unquote(quoted or plain)]
    halves = _HALVES.fullmatch(_decode_base64(credentials) or credentials)
    if halves:
        # The name of a user is not a secret, the id of a key may be one.
        is_basic = scheme is not None and scheme[1].lower() == "basic"
        parts += [halves[2]] if is_basic else [halves[1], halves[2]]
    return tuple(part for part in dict.fromkeys(parts) if _may_be_secret(part))


_URL_SAFE = str.maketrans("-_", "+/")
"""From the base64 of URLs to that of headers."""


_OF_URLS = str.maketrans("+/", "-_")


def _iterate_alphabets(encoded: str) -> Iterator[str]:
    """*encoded*, base64 of headers, and that of URLs; with its padding and without."""
    for text in (encoded, encoded.translate(_OF_URLS)):
        yield text
        yield text.rstrip("=")


def _decode_base64(text: str) -> str | None:
    """The text that *text* encodes, with or without its padding; None if it is no base64 of a text."""
    padding = "=" * (-len(text) % 4)
    try:
        return base64.b64decode(text.translate(_URL_SAFE) + padding, validate=True).decode()
    except ValueError:
        return None


def _may_be_secret(value: str) -> bool:
    return len(value) >= SHORTEST_SECRET and value.lower() not in FLAGS


def _iterate_forms(value: str) -> Iterator[str]:
    """
    The forms of a value in output: as it is, in lower case as an analyzer makes it, in upper case as a normalizer does,
    and with blanks collapsed.
    """
    for text in dict.fromkeys((value, value.lower(), value.upper(), " ".join(value.split()))):
        if text:
            yield text
            yield from _iterate_encodings(text)


def _iterate_encodings(text: str) -> Iterator[str]:
    """*text* as it is written in JSON, in JSON within JSON, in a URL, in HTML and in Python."""
    in_json = dict.fromkeys(_iterate_json_forms(text))
    yield from in_json
    # A gateway logs the answer of the server behind it as a text of its own answer.
    for encoded in in_json:
        yield from _iterate_json_forms(encoded)
    yield repr(text)[1:-1]
    for quoted in (quote(text, safe=""), quote(text), quote_plus(text)):
        yield quoted
        # Some servers and libraries write %2f where Python writes %2F.
        yield _ESCAPE.sub(_lower, quoted)
    yield escape(text)
    yield escape(text, quote=False)


def _iterate_json_forms(text: str) -> Iterator[str]:
    """*text* as libraries write it in JSON, without the quotes around it."""
    for encoded in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield encoded
        # As PHP does.
        yield encoded.replace("/", "\\/")
        # As jinja2 writes JSON into an HTML page, and Go. Gson escapes the equals sign too, .NET writes upper case.
        yield encoded.translate(_make_escapes("&<>'", "04x"))
        yield encoded.translate(_make_escapes("&<>'=", "04x"))
        yield encoded.replace('\\"', '"').translate(_make_escapes("&<>'+`\"", "04X"))


def _make_escapes(characters: str, digits: str) -> dict[int, str]:
    """The escapes of *characters* in JSON, with *digits*, the format of their numbers."""
    return {ord(character): f"\\u{ord(character):{digits}}" for character in characters}


def _write_pattern(forms: Sequence[str]) -> str:
    """
    A regular expression that finds each of *forms*, and the longest where several begin at the same place.

    Forms with a common beginning share a branch, as there are a hundred of one login: one branch for each makes
    masking eight times as slow, and a run has millions of texts.

    >>> _write_pattern(["abc", "abd", "x", "xy"])
    '(?:ab(?:c|d)|x(?:y)?)'
    """
    groups: dict[str, list[str]] = {}
    for form in forms:
        if form:
            groups.setdefault(form[0], []).append(form)
    branches = []
    for group in groups.values():
        beginning = _find_common_beginning(group)
        ends = [form.removeprefix(beginning) for form in group]
        branches.append(re.escape(beginning) + (_write_pattern(ends) if len(ends) > 1 else ""))
    # Where a form ends here, the longer ones are tried first.
    optional = "?" if "" in forms else ""
    return f"(?:{'|'.join(branches)}){optional}"


def _find_common_beginning(texts: Sequence[str]) -> str:
    # What the first and the last in the order of the alphabet share, those between share too.
    first, last = min(texts), max(texts)
    for place, character in enumerate(first):
        if last[place] != character:
            return first[:place]
    return first


_ESCAPE = re.compile("%[0-9A-F]{2}")


def _lower(match: re.Match[str]) -> str:
    return match[0].lower()


LARGEST_KEPT = 65_536
"""Characters of canonical JSON above which only the fingerprint of a value is stored."""


def fingerprint(value: Json) -> str:
    """
    Sixteen hexadecimal digits that change when *value* does; the order of keys does not matter.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_format_canonically(value).encode("ascii")).hexdigest()[:16]


def keep_small(value: Json) -> Json:
    """*value*, to be stored with its fingerprint; None if it is larger than `LARGEST_KEPT`."""
    return value if len(_format_canonically(value)) <= LARGEST_KEPT else None


_LONGEST_LIST = 64
"""The least length of a list of numbers that counts as a vector; few vectors are shorter."""


def is_vector(value: Json) -> bool:
    """Whether *value* is a list of `_LONGEST_LIST` or more numbers."""
    return isinstance(value, list) and len(value) >= _LONGEST_LIST and set(map(type, value)) <= {int, float}


def shorten_vectors(value: Json, known: Sequence[Json] = ()) -> Json:
    """
    *value* with each vector as a text: a list of `_LONGEST_LIST` or more numbers, and any list that is in *known*.

    >>> shorten_vectors({"k": 5, "query_vector": [0.25] * 384})
    {'k': 5, 'query_vector': '384 numbers: 0.25, 0.25, 0.25, … (fingerprint 2fc556c3a7540062)'}
    """
    if isinstance(value, Mapping):
        return {key: shorten_vectors(member, known) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    if is_vector(value) or value in known:
        return shorten_vector(value)
    return [shorten_vectors(item, known) for item in value]


def shorten_vector(vector: list[float]) -> Json:
    """
    The length of *vector* and a fingerprint, with the first numbers of a long one; *vector* itself if it is empty.

    >>> shorten_vector([0.5, -1])
    '2 numbers (fingerprint b908ca8cb2cfc68c)'
    """
    try:
        digest = hashlib.sha256(struct.pack(f"<{len(vector)}d", *vector)).hexdigest()[:16]
    # A whole number may be too large for a float.
    except OverflowError:
        return vector
    if not vector:
        return vector
    first = f": {', '.join(map(str, vector[:3]))}, …" if len(vector) >= _LONGEST_LIST else ""
    return f"{len(vector)} numbers{first} (fingerprint {digest})"


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def _format_canonically(value: Json) -> str:
    return _CANONICAL.encode(value)
