"""A request as a command line for a POSIX shell."""

from __future__ import annotations

import json
import re
import shlex

from harness.model import Json, Route, SentRequest
from harness.report.sentences import printable

__all__ = ["curl_line"]

_NEEDS_ESCAPE = re.compile(r'["\\`$!]')


def curl_line(sent: SentRequest) -> str:
    """
    The curl command that sends *sent*; the shell fills the variables in.

    >>> print(curl_line(SentRequest("GET", "http://shop/find?q=a b", {"x-key": "${KEY}"}, variables=("KEY",))))
    curl -X GET -H "x-key: $KEY" 'http://shop/find?q=a b'
    """
    words = ["curl", "-X", sent.method]
    if sent.login:
        words += ["-u", _word(sent.login, sent.variables)]
    for name, value in sent.headers.items():
        words += ["-H", _header(name, value, sent)]
    route = sent.route or Route()
    options = {
        "--cacert": sent.ca_certs,
        "--cert": route.client_cert,
        "--key": route.client_key,
        "--pass": route.client_key_password,
        "--proxy": route.proxy,
        "--proxy-user": route.proxy_login,
    }
    for option, value in options.items():
        words += [option, _word(value, sent.variables)] if value else []
    if not route.verify_certs:
        words.append("--insecure")
    words.append(_word(sent.url, sent.variables))
    if sent.body is not None:
        words += ["--data-raw", _word(_body(sent.body), sent.variables)]
    return " ".join(words)


def _body(body: Json) -> str:
    """*body* as JSON, with escapes for characters that a terminal does not print as they are."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return text if printable(text) == text else json.dumps(body, separators=(",", ":")).replace("\x7f", "\\u007f")


def _header(name: str, value: str, sent: SentRequest) -> str:
    encoded = [one for one in sent.encoded if value.endswith("${" + one + "}")]
    if name.lower() == "authorization" and encoded:
        scheme = value.partition(" ")[0]
        return f'''"{name}: {scheme} $(printf %s "${encoded[0]}" | base64 | tr -d '\\n')"'''
    return _word(f"{name}: {value}", sent.variables)


def _word(text: str, variables: tuple[str, ...]) -> str:
    """*text* as one word: in double quotes if it has variables and nothing to be escaped, else in single quotes."""
    if not variables:
        return shlex.quote(text)
    reference = re.compile(rf"\$\{{({'|'.join(map(re.escape, variables))})\}}")
    literals = reference.split(text)
    if len(literals) == 1:
        return shlex.quote(text)
    if not any(map(_NEEDS_ESCAPE.search, literals[::2])):
        return '"' + re.sub(r"\$\{(\w+)\}(?!\w)", r"$\1", text) + '"'
    names = [f'"${name}"' for name in literals[1::2]]
    quoted = [shlex.quote(one) if one else "" for one in literals[::2]]
    return "".join(part for pair in zip(quoted, [*names, ""], strict=True) for part in pair)
