"""A suite and one of its requests -> what is sent for each query, every placeholder filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from harness.errors import SuiteError, UsageError, did_you_mean
from harness.model import HttpRequest, Json, Query, RequestTemplate, SearchRequest, Suite
from harness.suites.placeholders import fill, fill_text
from harness.suites.search_templates import fill_body
from harness.suites.window import window_problem


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
