"""Where the number of hits stands in a request to a service, and JSON pointers to places in its body."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.suite import HttpRequest
from harness.search.pointers import add_value, find_value, parse_pointer, put_value
from harness.search.service_sizes import find_size_problem, has_own_size, read_size, write_size


def in_params(size: str, **params: Any) -> HttpRequest:
    return HttpRequest("GET", "/search", "$.ids", {"q": "tent", **params}, size=size)


def in_json(size: str, json: Any) -> HttpRequest:
    return HttpRequest("POST", "/search", "$.ids", json=json, size=size)


@pytest.mark.parametrize(
    ("http", "size"),
    [
        (in_params("rows", rows=20), 20),
        (in_params("rows", rows="20"), 20),
        (in_params("rows", rows="{{depth}}"), None),
        (in_params("rows", rows=True), None),
        (in_params("rows", rows="9" * 5000), None),
        (in_params("rows"), None),
        (in_json("/page/limit", {"page": {"limit": 20}}), 20),
        (in_json("/queries/0/limit", {"queries": [{"limit": 20}]}), 20),
        (in_json("/limit", {"page": {"limit": 20}}), None),
        (HttpRequest("GET", "/search", "$.ids", {"rows": 20}), None),
    ],
)
def test_the_size_of_a_request(http: HttpRequest, size: int | None) -> None:
    assert read_size(http) == size


@pytest.mark.parametrize(
    "http", [in_params("rows"), in_params("rows", rows="{{depth}}"), in_json("/page/limit", {"q": "tent"})]
)
def test_a_size_that_is_written_is_read(http: HttpRequest) -> None:
    assert read_size(write_size(http, 30)) == 30
    assert has_own_size(write_size(http, 30))


def test_nothing_is_written_without_a_place() -> None:
    http = HttpRequest("GET", "/search", "$.ids")
    assert write_size(http, 30) is http
    assert find_size_problem(http) == ""


@pytest.mark.parametrize(
    ("http", "problem"),
    [
        (in_params("rows"), ""),
        (in_json("/page/limit", {"q": "tent"}), ""),
        (HttpRequest("GET", "/search?q={{text}}&rows=5", "$.ids", size="rows"), "the path has the parameter 'rows'"),
        (in_params("/limit"), "a GET request without `json` has none"),
        (in_json("/q/limit", {"q": "tent"}), "there is no 'limit' at its place"),
        (in_json("/queries/1", {"queries": [1]}), "there is no '1' at its place"),
        (in_json("/a~2", {}), "~ is written as ~0"),
    ],
)
def test_a_place_that_is_none(http: HttpRequest, problem: str) -> None:
    found = find_size_problem(http)
    assert problem in found
    assert bool(problem) == bool(found)


@pytest.mark.parametrize(
    ("pointer", "keys"),
    [("/foo", ("foo",)), ("/", ("",)), ("/a~1b", ("a/b",)), ("/m~0n", ("m~n",)), ("/~01", ("~1",))],
)
def test_pointers_of_the_specification(pointer: str, keys: tuple[str, ...]) -> None:
    """RFC 6901, 5; `~01` becomes `~1`, not `/` (4)."""
    assert parse_pointer(pointer) == keys


def test_an_index_has_no_leading_zeros() -> None:
    assert find_value(["a", "b"], "/1") == "b"
    with pytest.raises(LookupError):
        find_value(["a", "b"], "/01")


KEYS = st.lists(st.text(max_size=4), min_size=1, max_size=4)


@given(KEYS, st.integers())
def test_what_is_put_somewhere_is_found_there(keys: list[str], value: int) -> None:
    pointer = "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)
    with pytest.raises(LookupError):
        put_value({}, pointer, value)
    assert find_value(add_value({}, pointer, value), pointer) == value


def test_a_body_is_copied() -> None:
    body = {"queries": [{"q": "tent"}]}
    assert add_value(body, "/queries/0/limit", 5) == {"queries": [{"q": "tent", "limit": 5}]}
    assert body == {"queries": [{"q": "tent"}]}
