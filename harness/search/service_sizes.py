"""
The number of hits that a request to an HTTP service asks for: where it stands, what it is, and another in its place.

A suite says under `size` where that is: the name of a parameter of the URL, or a JSON pointer into the body.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from harness.model.suite import HttpRequest, Json
from harness.search.pointers import add_value, find_value

LONGEST_NUMBER = 9
"""Digits of a number of hits that is read from a text."""


def is_pointer(size: str) -> bool:
    """Whether *size* is a place in the body; else it is the name of a parameter."""
    return size.startswith("/")


def find_size_problem(http: HttpRequest) -> str:
    """Why the number of hits cannot stand where *http* says, as a sentence; empty if it can."""
    if http.size is None:
        return ""
    if not is_pointer(http.size):
        written = parse_qsl(urlsplit(http.path).query, keep_blank_values=True)
        if any(name == http.size for name, _ in written):
            return f"the path has the parameter {http.size!r}, which the harness has to replace; write it under params"
        return ""
    if http.method == "GET" and http.json is None:
        return f"{http.size!r} is a place in the body, and a GET request without `json` has none; expected a parameter"
    try:
        add_value(http.json, http.size, 1)
    except LookupError as error:
        return f"{http.size!r} is no place in the body: {error}"
    return ""


def has_own_size(http: HttpRequest) -> bool:
    """Whether the suite has written a number of hits, or a placeholder for one, where *http* says that it stands."""
    return _find_size(http) is not None


def read_size(http: HttpRequest) -> int | None:
    """
    How many hits *http* asks for; None where it does not say.

    >>> read_size(HttpRequest("GET", "/search", "$.ids", {"q": "tent", "rows": "20"}, size="rows"))
    20
    """
    size = _find_size(http)
    if isinstance(size, str) and size.isascii() and size.isdigit() and len(size) <= LONGEST_NUMBER:
        return int(size)
    return size if isinstance(size, int) and not isinstance(size, bool) else None


def write_size(http: HttpRequest, size: int) -> HttpRequest:
    """
    *http* for *size* hits; unchanged where it does not say where that number stands.

    >>> write_size(HttpRequest("POST", "/search", "$.ids", json={"q": "tent"}, size="/page/limit"), 20).json
    {'q': 'tent', 'page': {'limit': 20}}
    """
    if http.size is None:
        return http
    if is_pointer(http.size):
        return replace(http, json=add_value(http.json, http.size, size))
    return replace(http, params={**http.params, http.size: size})


def _find_size(http: HttpRequest) -> Json:
    if http.size is None:
        return None
    if not is_pointer(http.size):
        return http.params.get(http.size)
    try:
        return find_value(http.json, http.size)
    except LookupError:
        return None
