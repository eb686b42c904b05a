"""A request as a command line of curl, for a POSIX shell."""

from __future__ import annotations

import json
import re
import shlex

from harness.model.request import Route, SentRequest
from harness.model.suite import Json
from harness.report.safe_text import printable

LARGEST_ARGUMENT = 100_000
"""Bytes of a body on a command line: Linux refuses arguments of 128 KiB and more."""

_NEEDS_ESCAPE = re.compile(r'["\\`$!]')

_SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_GLOBBED = frozenset("[]{}")
"""Characters of a URL from which curl makes several requests."""


def format_curl(sent: SentRequest) -> str:
    """
    The curl command that sends *sent*; the shell fills the variables in, but for those of parts that are verbatim.

    >>> print(format_curl(SentRequest("GET", "http://shop/find?q=a b", {"x-key": "${KEY}"}, variables=("KEY",))))
    curl -X GET -H "x-key: $KEY" 'http://shop/find?q=a b'
    """
    arguments = ["curl", "-X", shlex.quote(sent.method)]
    if set(sent.url) & _GLOBBED:
        arguments.append("--globoff")
    if sent.login:
        arguments += ["-u", _quote(sent.login, sent.variables)]
    for header, value in sent.headers.items():
        arguments += ["-H", _quote_header(header, value, sent)]
    route = sent.route or Route()
    options = {
        "--cacert": sent.ca_certs,
        "--cert": route.client_cert,
        "--key": route.client_key,
        "--pass": route.client_key_password,
        "--proxy": route.proxy,
        "--proxy-user": route.proxy_login,
    }
    for option, option_value in options.items():
        if option_value:
            arguments += [option, _quote(option_value, sent.variables)]
    if not route.verify_certs:
        arguments.append("--insecure")
    arguments.append(_quote(sent.url, _list_filled("url", sent)))
    if sent.body is None:
        return " ".join(arguments)
    body, filled = _dump_body(sent.body), _list_filled("body", sent)
    if len(body.encode(errors="surrogatepass")) > LARGEST_ARGUMENT:
        return " ".join([*arguments, "--data-binary", "@-", _write_here_document(body, filled)])
    return " ".join([*arguments, "--data-raw", _quote(body, filled)])


def _write_here_document(line: str, variables: tuple[str, ...]) -> str:
    """*line* as the input of a command, from the lines below it; the shell fills the variables in."""
    parts = _split_at_variables(line, variables)
    if len(parts) == 1:
        return f"<<'JSON'\n{line}\nJSON"
    first_text, *others = [re.sub(r"([\\$`])", r"\\\1", text) for text in parts[::2]]
    document = first_text
    # The names of variables stand between the texts.
    for variable, text in zip(parts[1::2], others, strict=True):
        document += f"${{{variable}}}{text}"
    return f"<<JSON\n{document}\nJSON"


def _split_at_variables(text: str, variables: tuple[str, ...]) -> list[str]:
    """The text between variables, and the names of these, by turns."""
    # Any other name is text: a shell would run what stands in its braces.
    names = [name for name in variables if _SHELL_NAME.fullmatch(name)]
    if not names:
        return [text]
    return re.split(rf"\$\{{({'|'.join(names)})\}}", text)


def _list_filled(part: str, sent: SentRequest) -> tuple[str, ...]:
    """The variables that the shell fills in a *part* of *sent*."""
    if part in sent.verbatim:
        return ()
    return sent.variables


def _dump_body(body: Json) -> str:
    """*body* as JSON, with escapes for characters that a terminal does not print as they are."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    if printable(text) == text:
        return text
    # JSON leaves the delete character as it is, also where it escapes all others beyond ASCII.
    return json.dumps(body, separators=(",", ":")).replace("\x7f", "\\u007f")


def _quote_header(header: str, value: str, sent: SentRequest) -> str:
    """*header* with its *value* as one word of a shell, which fills variables in."""
    if header in sent.verbatim:
        return shlex.quote(f"{header}: {value}")
    for variable in sent.encoded:
        reference = "${" + variable + "}"
        # The variable has a login, which is sent in base64: the shell encodes it. All else is quoted, as a suite may
        # have written it.
        if header.lower() == "authorization" and value.endswith(reference) and _SHELL_NAME.fullmatch(variable):
            beginning = _quote(f"{header}: {value.removesuffix(reference)}", sent.variables)
            return beginning + f'''"$(printf %s "${variable}" | base64 | tr -d '\\n')"'''
    return _quote(f"{header}: {value}", sent.variables)


def _quote(text: str, variables: tuple[str, ...]) -> str:
    """*text* as one word: in double quotes if it has variables and nothing to be escaped, else in single quotes."""
    parts = _split_at_variables(text, variables)
    literals, names = parts[::2], parts[1::2]
    if not names:
        return shlex.quote(text)
    if not any(map(_NEEDS_ESCAPE.search, literals)):
        # A name that a word follows needs its braces.
        return '"' + re.sub(r"\$\{(\w+)\}(?!\w)", r"$\1", text) + '"'
    # An empty text would become a pair of quotes.
    quoted_texts = [shlex.quote(literal) if literal else "" for literal in literals]
    word = quoted_texts[0]
    for variable, quoted_text in zip(names, quoted_texts[1:], strict=True):
        word += f'"${variable}"{quoted_text}'
    return word
