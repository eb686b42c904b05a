"""Why a server cannot be reached, and what to do about it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.client import IncompleteRead

__all__ = ["REFUSED", "was_closed", "why_unreachable"]


REFUSED = "the connection is refused; is it running?"
CLOSED = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, IncompleteRead)
UNTRUSTED = "its certificate is not trusted: give its CA file as `ca_certs`, or its SHA-256 as `fingerprint`"


def why_unreachable(error: BaseException) -> str:
    """
    What is behind *error*, as a client library raised it, in a sentence with its remedy.

    The libraries wrap the system's errors in their own and give no code for what went wrong in TLS, so the chain
    of causes and its texts are what there is to read.
    """
    chain = list(_chain(error))
    text = " ".join(str(link) for link in chain)
    if any(isinstance(link, socket.gaierror) for link in chain) or "NameResolution" in _types(chain):
        return "its host name is not known; is it spelt right, and is this machine on the right network?"
    tls = _tls(text)
    if tls:
        return tls
    if any(isinstance(link, ConnectionRefusedError) for link in chain):
        return REFUSED
    if any(isinstance(link, ConnectionResetError) for link in chain) or "Remote end closed" in text:
        return "it closed the connection without an answer; a server with TLS does so to a URL that does not begin with https://"
    if any(isinstance(link, IncompleteRead) for link in chain):
        return "it closed the connection in the middle of its answer"
    return f"the connection failed: {str(error.__cause__ or error)[:300]}"


def was_closed(error: BaseException) -> bool:
    """Whether behind *error* is a server that took the connection and then closed it, as one does that goes down."""
    return any(isinstance(link, CLOSED) for link in _chain(error))


def _tls(text: str) -> str | None:
    lowered = text.lower()
    if "fingerprints did not match" in lowered:
        return "its certificate has another SHA-256 than `fingerprint` says; has it been renewed?"
    if "hostname mismatch" in lowered or "doesn't match" in lowered or "ip address mismatch" in lowered:
        return "its certificate is for another host name than the URL's"
    if "certificate has expired" in lowered:
        return "its certificate has expired"
    if "certificate verify failed" in lowered:
        return UNTRUSTED
    if "wrong version number" in lowered or "record layer failure" in lowered or "http_request" in lowered:
        return "it does not speak TLS there; does its URL begin with http:// instead of https://?"
    return f"TLS failed: {text[:300]}" if "ssl" in lowered and "error" in lowered else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """*error*, what it was raised from, and what the libraries carry as `reason` or as their arguments."""
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        carried = [link.__cause__, link.__context__, getattr(link, "reason", None), *link.args]
        waiting.extend(one for one in carried if isinstance(one, BaseException))


def _types(chain: list[BaseException]) -> str:
    return " ".join(type(link).__name__ for link in chain)
