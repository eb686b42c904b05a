"""
``{{text}}`` and the other placeholders of a request: filled structurally, and checked against the queries.

A string that consists of one placeholder becomes the value itself, with its type: a list stays a list. Inside a longer
string, and in a key, the value is inserted as text. Inserted values are not searched for placeholders, so a query's
text may contain quotes, braces, `{{` or `$`.

The braces in the `source` of a search template belong to the engine. The suite's own placeholders are filled in
`params`, as values, and the engine inserts them into the source as JSON. So no text of a query can break the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from harness.errors import UsageError
from harness.model.suite import Json, Query, match_placeholders
from harness.search.esql import ESQL, EsqlError, is_esql, parse_esql
from harness.suites.scalars import BESIDE_A_BODY
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode, find_child
from harness.words import did_you_mean, listed

RESERVED = ("text", "depth")
"""Placeholders that every query fills: its text, and the number of hits requested."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_name(text: str) -> bool:
    """Whether a placeholder can have this name."""
    return _NAME.fullmatch(text) is not None


PARAMETER = "param:"
"""What the name of a placeholder begins with that is filled from ``tune: parameters:``."""


def read_parameter_name(placeholder: str) -> str | None:
    """
    The name of the parameter that *placeholder* is for; None where it is for something of the queries.

    >>> read_parameter_name(" param:title_boost "), read_parameter_name("text")
    ('title_boost', None)
    """
    name = placeholder.strip()
    return name.removeprefix(PARAMETER).strip() if name.startswith(PARAMETER) else None


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A placeholder in a text."""

    name: str
    offset: int
    is_inside: bool
    """Whether the text has more than the placeholder, so that its value is inserted as text."""


def locate_placeholders(text: str) -> list[Placeholder]:
    """The placeholders in *text*, in their order."""
    matches = match_placeholders(text)
    return [Placeholder(match[1].strip(), match.start(), match.group() != text) for match in matches]


def fill(template: Json, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> Json:
    """
    *template* with its placeholders filled.

    Args:
        template: A JSON value.
        values: By the placeholder's name; must contain each that occurs.
        encode: Applied to a value that is inserted into a longer string.

    Raises:
        UsageError: A list or an object would be inserted into a string, or two keys become the same.

    >>> fill({"terms": {"brand": "{{brands}}"}, "name": "for {{text}}"}, {"brands": ["a", "b"], "text": '"x" {{y}}'})
    {'terms': {'brand': ['a', 'b']}, 'name': 'for "x" {{y}}'}
    """
    if isinstance(template, str):
        if template.startswith("{{") and template.endswith("}}"):
            # Of "{{a}} and {{b}}" this is no name.
            name = template[2:-2].strip()
            if is_name(name):
                return values[name]
        return fill_text(template, values, encode=encode)
    if isinstance(template, list):
        return [fill(item, values, encode=encode) for item in template]
    if not isinstance(template, Mapping):
        return template
    filled: dict[str, Json] = {}
    for key, value in template.items():
        name = fill_text(key, values)
        if name in filled:
            raise UsageError(f"two keys become {name!r} when their placeholders are filled")
        filled[name] = fill(value, values, encode=encode)
    return filled


def fill_text(template: str, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> str:
    """*template* with each placeholder inserted as text, even if it is the whole string."""
    if "{{" not in template:
        return template
    filled, end = "", 0
    for match in match_placeholders(template):
        name = match[1].strip()
        filled += template[end : match.start()] + encode(format_value(values[name], name))
        end = match.end()
    return filled + template[end:]


def format_value(value: Json, name: str) -> str:
    """
    A value as text for a longer string.

    Raises:
        UsageError: It is a list, a mapping or None; the error names the placeholder *name*.
    """
    if isinstance(value, str):
        return value
    kind = ""
    if value is None:
        kind = "nothing"
    elif isinstance(value, list):
        kind = "a list"
    elif isinstance(value, Mapping):
        kind = "a mapping"
    if kind:
        raise UsageError(f"{{{{{name}}}}} is {kind}, which cannot be inserted into a text")
    return json.dumps(value)


def fill_body(body: Json, values: Mapping[str, Json]) -> Json:
    """
    The body of a request with its placeholders filled; the source of a search template is not changed.

    Raises:
        UsageError: As `fill` does.
    """
    return fill_but_source(body, partial(fill, values=values))


def fill_but_source(body: Json, fill_part: Callable[[Json], Json]) -> Json:
    """
    *body* as *fill_part* makes it.

    The braces in the source of a search template are the engine's, and nothing is filled into the text of ES|QL.
    """
    if isinstance(body, Mapping) and is_esql(body):
        return {**fill_part({key: value for key, value in body.items() if key != ESQL}), ESQL: body[ESQL]}
    template = body.get("template") if isinstance(body, Mapping) else None
    if not isinstance(template, Mapping) or "source" not in template:
        return fill_part(body)
    without_source = {key: value for key, value in template.items() if key != "source"}
    filled = fill_part({**body, "template": without_source})
    return {**filled, "template": {**filled["template"], "source": template["source"]}}


def check_placeholders(
    requests: Mapping[str, Node], queries: Sequence[Query], parameters: Mapping[str, str], problems: Problems
) -> None:
    """
    Check that every placeholder has a value in every query, every param a placeholder, every request a placeholder.

    Args:
        requests: The suite's, by name, as nodes of the file.
        queries: The suite's.
        parameters: The names of the suite's ``tune: parameters:``, each with the reason why one of its values cannot be
            inserted into a text; empty where all can.
        problems: Takes the problems.
    """
    params: set[str] = set()
    for query in queries:
        params |= query.params.keys()
    used: set[str] = set()
    for node in requests.values():
        scalars = [pair for pair in _iterate_scalars(node, but=_list_filled_elsewhere(node)) if "{{" in pair[0]]
        names = _check_request(scalars, params, queries, problems)
        names |= _check_esql_parameters(body_node(node), params, queries, problems)
        _check_parameters(scalars, parameters, problems)
        if not names - {"depth"} and not _has_problem(node, problems):
            has_source = source_node(body_node(node)) is not None
            where = ", among the params of its template" if has_source else ""
            written = "{{text}}" if esql_node(body_node(node)) is None else "?text"
            message = f"this request is the same for every query: expected {written} somewhere in it{where}"
            problems.note(node.mark, message)
        check_source(body_node(node), {*params, *RESERVED}, problems)
        used |= names
    _check_params(queries, used, problems)


def _check_request(
    scalars: Sequence[tuple[ScalarNode, bool]], params: set[str], queries: Sequence[Query], problems: Problems
) -> set[str]:
    """The names of all placeholders of a request, whose *scalars* have them; notes those that a query cannot fill."""
    used: set[tuple[str, bool]] = set()
    unknown: dict[str, str] = {}
    for scalar, is_key in scalars:
        notes: dict[int, str] = {}
        for placeholder in locate_placeholders(scalar):
            name = placeholder.name
            if read_parameter_name(name) is not None:
                continue
            if name in RESERVED or name in params:
                used.add((name, placeholder.is_inside or is_key))
                continue
            if name not in unknown:
                unknown[name] = _describe_unknown(name, params)
            notes[placeholder.offset] = unknown[name]
        problems.note_all_inside(scalar, notes)
    for name, is_inside in sorted(used):
        _check_values(name, queries, problems, is_inside=is_inside)
    return {name for name, _ in used} | unknown.keys()


def _find_named_parameters(text: ScalarNode, params: Node | None) -> dict[str, int] | None:
    """
    The parameters of a *text* of ES|QL that no *params* beside it give, each with its place.

    None where they are not known: a variable has no value, or the text has a problem, which is noted elsewhere.
    """
    if text.unset:
        return None
    try:
        parameters = parse_esql(str(text)).parameters
    except EsqlError:
        return None
    given = params.keys() if isinstance(params, MappingNode) else ()
    return {name: offset for name, offset in parameters.items() if name not in given and is_name(name)}


def _check_esql_parameters(
    body: Node | None, params: set[str], queries: Sequence[Query], problems: Problems
) -> set[str]:
    """The names of the parameters that the text of ES|QL in *body* has; notes those that a query cannot fill."""
    text = esql_node(body)
    if text is None:
        return set()
    parameters = _find_named_parameters(text, find_child(body, "params"))
    if parameters is None:
        return {*RESERVED, *params}  # it may use any of them
    notes: dict[int, str] = {}
    for name, offset in parameters.items():
        if name in RESERVED or name in params:
            _check_values(name, queries, problems, is_inside=False)
        else:
            notes[offset] = _describe_unknown(name, params, form="?{}")
    problems.note_all_inside(text, notes)
    return set(parameters)


def _check_parameters(
    scalars: Sequence[tuple[ScalarNode, bool]], parameters: Mapping[str, str], problems: Problems
) -> None:
    """Note the placeholders of a request that are for no parameter, or for one that cannot stand in a text."""
    for scalar, is_key in scalars:
        notes: dict[int, str] = {}
        for placeholder in locate_placeholders(scalar):
            name = read_parameter_name(placeholder.name)
            if name is None:
                continue
            if name not in parameters:
                known = ", ".join(parameters) if parameters else "none"
                message = f"found {{{{{PARAMETER}{name}}}}}, which 'tune: {{parameters: …}}' does not have; "
                notes[placeholder.offset] = f"{message}known are {known}{did_you_mean(name, parameters)}"
            elif parameters[name] and (placeholder.is_inside or is_key):
                notes[placeholder.offset] = f"a choice of {name!r} cannot stand here: {parameters[name]}"
        problems.note_all_inside(scalar, notes)


def find_parameters(requests: Mapping[str, Node]) -> set[str]:
    """The names of the parameters that *requests* have places for, as nodes of the file."""
    names: set[str] = set()
    for node in requests.values():
        for scalar, _ in _iterate_scalars(node, but=_list_filled_elsewhere(node)):
            found = [read_parameter_name(placeholder.name) for placeholder in locate_placeholders(scalar)]
            names.update(name for name in found if name is not None)
    return names


def _has_problem(node: Node, problems: Problems) -> bool:
    """Whether a problem was found in the lines of *node*, such as a placeholder that lost its quotes."""
    # A request has lines in two files where its body has a file of its own.
    lines_by_path: dict[str, list[int]] = {node.mark.path: [node.mark.line]}
    for scalar, _ in _iterate_scalars(node):
        lines_by_path.setdefault(scalar.mark.path, []).append(scalar.mark.line)
    for problem in problems.found:
        lines = lines_by_path.get(problem.path)
        if lines and min(lines) <= problem.line <= max(lines):
            return True
    return False


def check_source(body: Node | None, names: set[str], problems: Problems) -> None:
    """Check that a source uses none of *names*, the suite's placeholders, that is not in the template's params."""
    source = source_node(body)
    if not isinstance(body, MappingNode) or source is None:
        return
    params = body.find_child("template").find_child("params")
    passed = set(map(str, params)) if isinstance(params, MappingNode) else set()
    # The harness puts the size among the params itself.
    lacking = names - passed - {"size"}
    for scalar, _ in _iterate_scalars(source):
        notes: dict[int, str] = {}
        for placeholder in locate_placeholders(scalar):
            parameter = read_parameter_name(placeholder.name)
            if parameter is not None:
                written = "{{" + placeholder.name + "}}"
                remedy = f'expected params: {{{parameter}: "{written}"}}, and {{{{{parameter}}}}} here'
                notes[placeholder.offset] = f"found {written} in the source, which the engine fills; {remedy}"
            elif placeholder.name in lacking:
                written = "{{" + placeholder.name + "}}"
                remedy = "the engine fills placeholders of a source from params; "
                remedy += f'expected params: {{{placeholder.name}: "{written}"}}'
                message = f"found {written}, which the template's params do not have; {remedy}"
                notes[placeholder.offset] = message
        problems.note_all_inside(scalar, notes)


def source_node(body: Node | None) -> Node | None:
    """The source of the search template in *body*, None if there is none, or the template is stored in the engine."""
    template = find_child(body, "template")
    source: Node | None = find_child(template, "source")
    return source


def esql_node(body: Node | None) -> ScalarNode | None:
    """The text of ES|QL in *body*, None if there is none."""
    text = find_child(body, ESQL)
    return text if isinstance(text, ScalarNode) else None


def body_node(request: Node) -> Node | None:
    """The body of _search in a request, which may be the request itself."""
    if isinstance(request, MappingNode) and request.keys() & set(BESIDE_A_BODY):
        body: Node | None = request.find_child("body")
        return body
    return request


def documents_node(request: Node) -> Node | None:
    """The request for documents by their ids that is beside a search over HTTP; None if there is none."""
    http = find_child(request, "http")
    documents: Node | None = find_child(http, "documents")
    return documents


def _list_filled_elsewhere(request: Node) -> list[Node | None]:
    """The parts of *request* that no query fills: the engine does, or the harness with ids of documents."""
    body = body_node(request)
    return [source_node(body), esql_node(body), documents_node(request)]


def _iterate_scalars(node: Node, *, but: Sequence[Node | None] = ()) -> Iterator[tuple[ScalarNode, bool]]:
    """All scalars below *node* except those of the nodes *but*, and whether each is a key."""
    if any(node is other for other in but):
        return
    if isinstance(node, ScalarNode):
        yield node, False
    elif isinstance(node, MappingNode):
        for key, value in node.items():
            yield key, True
            yield from _iterate_scalars(value, but=but)
    else:
        for item in node:
            yield from _iterate_scalars(item, but=but)


def _describe_unknown(name: str, params: set[str], form: str = "{{{{{}}}}}") -> str:
    """The problem of a placeholder, written in this *form*, that is neither reserved nor one of *params*."""
    known = [*RESERVED, *sorted(params)]
    written = form.format(name)
    expected = ", ".join(form.format(other) for other in known)
    if not is_name(name):
        return f"found {written}, expected a placeholder such as {expected}"
    guess = did_you_mean(name, known)
    return f"unknown placeholder {written}, expected {expected}, or the name of a param of the queries{guess}"


def _check_values(name: str, queries: Sequence[Query], problems: Problems, *, is_inside: bool) -> None:
    """Check that each query has a value for the placeholder that can be inserted there."""
    files = {query.mark.path for query in queries} - {problems.source.path}
    for query in queries:
        if name == "text":
            if not query.text:
                message = f"query {query.id!r} has no text, but the request uses {{{{text}}}}"
                if files and query.mark.path not in files:
                    # Most often it left the file, and the suite still gives it tags.
                    message = f"query {query.id!r} is not in {listed(sorted(files))}, and has no text here"
                problems.note(query.mark, message, "no-text")
        elif name == "depth":
            continue
        elif name not in query.params:
            problems.note(query.mark, f"query {query.id!r} has no param {name!r}, which the request uses")
        elif is_inside:
            try:
                format_value(query.params[name], name)
            except UsageError as error:
                problems.note(query.mark, f"query {query.id!r} cannot fill the request: {error}")


def _check_params(queries: Sequence[Query], used: set[str], problems: Problems) -> None:
    """Check that no param has a reserved name, or one that no request uses, which is noted once."""
    reported: set[str] = set()
    for query in queries:
        for name in query.params:
            if name in RESERVED:
                problems.note(query.mark, f"query {query.id!r} has a param {name!r}, which is a reserved name")
            elif name not in used and name not in reported:
                reported.add(name)
                guess = did_you_mean(name, used - set(RESERVED))
                problems.note(query.mark, f"query {query.id!r} has a param {name!r}, which no request uses{guess}")
