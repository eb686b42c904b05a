"""A body of _search from Python, in place of the body of one of a suite's requests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from harness.errors import UsageError
from harness.model.suite import Mark
from harness.options import RunOptions
from harness.suites.scalars import BESIDE_A_BODY
from harness.suites.yaml import MAX_DEPTH, ListNode, MappingNode, Node, ScalarNode
from harness.words import listed

_PLACE = "body"
"""What the places of problems in such a body begin with: the name of the argument in Python."""


@dataclass(frozen=True, slots=True)
class GivenBody:
    """A body of _search, and the name of the request whose body it replaces; None for the first."""

    body: Mapping[str, Any]
    request: str | None = None


def read_given_body(options: RunOptions) -> GivenBody | None:
    """The body that *options* give, None where they give none."""
    return None if options.body is None else GivenBody(options.body, options.request)


def replace_body(root: MappingNode, body: Node, request_name: str | None) -> MappingNode:
    """
    *root*, that of a suite, with *body* in one of its requests, which keeps its index and its parameters.

    A suite without such a request stays as it is: what reads the requests refuses it, with the names of those there
    are.

    Raises:
        UsageError: The request goes over HTTP.
    """
    single = root.find_child("request")
    if single is not None:
        return _replace_child(root, "request", _replace_in_request(single, body))
    requests = root.find_child("requests")
    if not isinstance(requests, MappingNode) or not requests:
        return root
    name = next(iter(requests)) if request_name is None else request_name
    if name not in requests:
        return root
    request = _replace_in_request(requests.find_child(name), body)
    return _replace_child(root, "requests", _replace_child(requests, name, request))


def make_body_node(body: Mapping[str, Any]) -> Node:
    """
    *body* as the nodes of a suite file, each with the expression by which Python finds it as its place.

    Raises:
        UsageError: It is not a body of _search, or not JSON.
    """
    beside = [name for name in body if name in BESIDE_A_BODY]
    if beside:
        raise UsageError(
            f"{_PLACE} has the key {listed([repr(name) for name in beside])}, which stands beside a body in a suite; "
            "expected the body of _search itself, such as {'query': …}"
        )
    return _make_node(body, _PLACE, 0)


def _make_node(value: Any, place: str, depth: int) -> Node:
    """*value*, which is at *place*, as nodes."""
    if depth >= MAX_DEPTH:
        raise UsageError(f"{_PLACE} is nested deeper than {MAX_DEPTH} levels")
    mark = Mark(place)
    if isinstance(value, Mapping):
        pairs = []
        for key, child in value.items():
            if not isinstance(key, str):
                raise UsageError(f"{place} has the key {key!r}, expected a text")
            pairs.append((ScalarNode(key, mark, plain=False), _make_node(child, f"{place}[{key!r}]", depth + 1)))
        return MappingNode(mark, pairs)
    if isinstance(value, list | tuple):
        items = [_make_node(item, f"{place}[{number}]", depth + 1) for number, item in enumerate(value)]
        return ListNode(mark, items)
    if isinstance(value, str):
        return ScalarNode(value, mark, plain=False)
    if value is None:
        return ScalarNode("null", mark, plain=True)
    if isinstance(value, bool):
        return ScalarNode("true" if value else "false", mark, plain=True)
    return ScalarNode(_format_number(value, place), mark, plain=True)


def _format_number(value: Any, place: str) -> str:
    """*value* as a number of JSON; one of numpy is one too."""
    if isinstance(value, Real):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise UsageError(f"{place} is {number}, expected a finite number")
        return str(int(value)) if isinstance(value, Integral) else repr(number)
    # An array has a method for the list that JSON needs.
    remedy = "; pass its tolist()" if callable(getattr(value, "tolist", None)) else ""
    expected = "a text, a number, True, False, None, a list or a dict"
    raise UsageError(f"{place} is of type {type(value).__name__}, expected {expected}{remedy}")


def _replace_in_request(request: Node, body: Node) -> MappingNode:
    """*request* with *body* in place of its own."""
    pairs: list[tuple[ScalarNode, Any]] = []
    if isinstance(request, MappingNode) and request.keys() & set(BESIDE_A_BODY):
        if "http" in request:
            raise UsageError(
                f"{request.mark}: this request goes over HTTP and has no body of _search that {_PLACE} could replace; "
                "name another request, or change the suite"
            )
        pairs = [(key, value) for key, value in request.items() if key != "body"]
    key = ScalarNode("body", body.mark, plain=True)
    return MappingNode(body.mark, [*pairs, (key, body)])


def _replace_child(node: MappingNode, name: str, child: Node) -> MappingNode:
    """*node* with *child* below the key *name*, which it has."""
    replaced = MappingNode(node.mark, node.items())
    replaced[node.find_key(name)] = child
    replaced.repeats = node.repeats
    return replaced
