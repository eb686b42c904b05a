"""Whether the queries of a suite can fill every placeholder of its requests, told before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.errors import UsageError, did_you_mean
from harness.model import Query
from harness.suites.nodes import MappingNode, Node, Written
from harness.suites.placeholders import RESERVED, as_text, is_name, placeholders_in
from harness.suites.problems import Problems
from harness.suites.search_templates import check_source, source_node, texts
from harness.suites.templates import body_node


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
