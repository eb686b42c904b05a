"""A suite and one of its requests -> what is sent for each query, every placeholder filled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from harness.errors import SuiteError, UsageError, did_you_mean
from harness.model import HttpRequest, Json, Query, RequestTemplate, SearchRequest, Suite
from harness.suites.templates import (
    RESERVED,
    as_text,
    body_node,
    check_source,
    fill,
    fill_body,
    fill_text,
    is_name,
    placeholders_in,
    source_node,
    texts,
    window_problem,
)
from harness.suites.yaml import MappingNode, Node, Problems, Written

# A suite and one of its requests -> what is sent for each query, every placeholder filled.


def build_requests(suite: Suite, request: str | None) -> tuple[SearchRequest, ...]:
    """
    Fill a request with every query of the suite.

    Args:
        suite: Loaded with an environment.
        request: The request's name; None is the first.

    Returns:
        One request a query, in the suite's order. A body without a `size` of its own gets the suite's depth.

    Raises:
        UsageError: The suite has no request of that name.
        SuiteError: A query's value makes a request that cannot be sent, such as one with the same key twice.
    """
    template = choose_template(suite, request)
    return tuple(_build(suite, template, query) for query in suite.queries)


def choose_template(suite: Suite, request: str | None) -> RequestTemplate:
    """
    The template of that name, or the first.

    Raises:
        UsageError: The suite has no request of that name.
    """
    name = next(iter(suite.requests)) if request is None else request
    if name not in suite.requests:
        known = ", ".join(suite.requests)
        guess = did_you_mean(name, suite.requests)
        raise UsageError(f"{suite.path}: the suite has no request {name!r}, expected one of {known}{guess}")
    return suite.requests[name]


def on_index(suite: Suite, index: str | None) -> Suite:
    """*suite* with every request going to *index*, those that name an index of their own too."""
    requests = {name: replace(template, index=None) for name, template in suite.requests.items()}
    return replace(suite, target=replace(suite.target, index=index), requests=requests)


def _build(suite: Suite, template: RequestTemplate, query: Query) -> SearchRequest:
    values = {**query.params, "text": query.text, "depth": suite.depth}
    try:
        if template.http is not None:
            http = _fill_http(template.http, values)
            return SearchRequest(query.id, None, http.json, http)
        body = _fill_body(template.body, values, suite.depth)
    except UsageError as error:
        mark = template.mark
        sentence = f"the request {template.name!r} cannot be filled for query {query.id!r}: {error}"
        raise SuiteError.at(mark.path or suite.path, mark.line, mark.column, sentence) from None
    index = template.index or suite.target.index
    return SearchRequest(query.id, index, {"size": suite.depth, **body}, unique_ids=suite.target.unique_ids)


def _fill_body(template: Json, values: Mapping[str, Json], depth: int) -> Json:
    body = fill_body(template, values)
    sentence = window_problem(template, body, depth)
    if sentence:
        raise UsageError(sentence)
    return body


def _fill_http(http: HttpRequest, values: Mapping[str, Json]) -> HttpRequest:
    """In the path a value is one segment's text, whatever it holds; in a header it is one line."""
    headers = {name: fill_text(value, values) for name, value in http.headers.items()}
    for name, value in headers.items():
        if not value.isprintable():
            raise UsageError(f"the header {name} would hold a line break or a control character")
    return replace(
        http,
        path=fill_text(http.path, values, encode=lambda text: quote(text, safe="")),
        params=fill(http.params, values),
        headers=headers,
        json=fill(http.json, values),
    )


# Whether the queries of a suite can fill every placeholder of its requests, told before anything is sent.


def check_placeholders(requests: Mapping[str, Node], queries: Sequence[Query], problems: Problems) -> None:
    """
    Every placeholder has a value in every query, every param of a query has a placeholder, every request changes.

    *requests* are the suite's, by name, as they stand in the file.
    """
    params = {name for query in queries for name in query.params}
    used: set[str] = set()
    for node in requests.values():
        named = _check_request(node, params, queries, problems)
        if not named - {"depth"} and not _is_told_of(node, problems):
            problems.at(node.mark, _unchanging(node))
        check_source(body_node(node), {*params, *RESERVED}, problems)
        used |= named
    _check_params(queries, used, problems)


def _check_request(node: Node, params: set[str], queries: Sequence[Query], problems: Problems) -> set[str]:
    """The names of all placeholders of a request, those told that a query cannot fill."""
    named = set()
    for scalar, is_key in _texts(node, besides=source_node(body_node(node))):
        for name, offset, inside in placeholders_in(scalar):
            named.add(name)
            sentence = _unknown(name, params)
            if sentence:
                problems.inside(scalar, offset, sentence)
            else:
                _check_values(name, queries, problems, inside=inside or is_key)
    return named


def _unchanging(node: Node) -> str:
    """One ranking for every query would be held against the judgments of each."""
    of_template = "" if source_node(body_node(node)) is None else ", among the params of its template"
    return f"no query can change this request: expected {{{{text}}}} somewhere in it{of_template}"


def _is_told_of(node: Node, problems: Problems) -> bool:
    """Whether something else is wrong in the lines of *node*, such as a placeholder that lost its quotes."""
    first = node.mark.line
    last = max((text.mark.line for text in texts(node)), default=first)
    return any(problem.path == node.mark.path and first <= problem.line <= last for problem in problems.found)


def _texts(node: Node, *, besides: Node | None) -> Iterator[tuple[Written, bool]]:
    """All scalars below *node* but those of the node *besides*, and whether each is a key."""
    if node is besides:
        return
    if isinstance(node, Written):
        yield node, False
    elif isinstance(node, MappingNode):
        for key, value in node.items():
            yield key, True
            yield from _texts(value, besides=besides)
    else:
        for item in node:
            yield from _texts(item, besides=besides)


def _unknown(name: str, params: set[str]) -> str | None:
    if name in RESERVED or name in params:
        return None
    known = [*RESERVED, *sorted(params)]
    written = "{{" + name + "}}"
    expected = ", ".join("{{" + other + "}}" for other in known)
    if not is_name(name):
        return f"found {written}, expected a placeholder such as {expected}"
    guess = did_you_mean(name, known)
    return f"unknown placeholder {written}, expected {expected}, or a name that the queries have in params{guess}"


def _check_values(name: str, queries: Sequence[Query], problems: Problems, *, inside: bool) -> None:
    """Each query has a value for the placeholder, and one that can stand where it is."""
    for query in queries:
        sentence = _gap(name, query, inside=inside)
        if sentence:
            problems.at(query.mark, f"query {query.id!r} {sentence}")


def _gap(name: str, query: Query, *, inside: bool) -> str | None:
    if name == "depth":
        return None
    if name == "text":
        return None if query.text else "has no text, which the request asks for with {{text}}"
    if name not in query.params:
        return f"has no param {name!r}, which the request asks for"
    if not inside:
        return None
    try:
        as_text(query.params[name], name)
    except UsageError as error:
        return f"cannot fill the request: {error}"
    return None


def _check_params(queries: Sequence[Query], used: set[str], problems: Problems) -> None:
    """No param has a name that is taken, or one that no request asks for; the latter is told once."""
    told: set[str] = set()
    for query in queries:
        for name in query.params:
            if name in RESERVED:
                problems.at(query.mark, f"query {query.id!r} has a param {name!r}, a name that is taken")
            elif name not in used and name not in told:
                told.add(name)
                guess = did_you_mean(name, used - set(RESERVED))
                problems.at(query.mark, f"query {query.id!r} has a param {name!r}, which no request asks for{guess}")
