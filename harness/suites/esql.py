"""
Requests of ES|QL in a suite: ``{esql: "FROM products METADATA _id, _score | …", params: {…}}``.

The text names what a query gives as ``?text``, ``?depth`` and ``?NAME``. A template has these as placeholders in its
params, where values are filled in with their types, so that no value becomes a part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.errors import UsageError
from harness.model.suite import Json, RequestTemplate, Suite
from harness.search.esql import (
    ESQL,
    KEEPS_ORDER,
    Command,
    EsqlError,
    EsqlQuery,
    PieceKind,
    explain_no_esql,
    is_esql,
    parse_esql,
)
from harness.suites.placeholders import body_node, esql_node, locate_placeholders, read_parameter_name
from harness.suites.reading import Reading
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode, describe, find_child
from harness.words import did_you_mean

EXPECTED = 'expected a text such as "FROM products METADATA _id, _score | WHERE MATCH(title, ?text) | …"'

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What a parameter with a name is called: other ones are counted."""


def parse_node(text: ScalarNode | None) -> EsqlQuery | None:
    """*text* in its commands; None where that is not possible, or not yet, as a variable has no value."""
    if text is None or text.unset:
        return None
    try:
        return parse_esql(str(text))
    except EsqlError:
        return None


# What is sent.


def complete_body(body: Json) -> Json:
    """
    *body* with a param for each parameter of its text, and its LIMIT as `size`; as it is where its text has a problem.

    >>> complete_body({"esql": "FROM a | WHERE MATCH(t, ?text) | LIMIT ?depth"})["params"]
    {'text': '{{text}}', 'depth': '{{depth}}'}
    """
    if not is_esql(body) or not isinstance(body[ESQL], str):
        return body
    try:
        query = parse_esql(body[ESQL])
    except EsqlError:
        return body
    written = body.get("params")
    if not isinstance(written, Mapping):
        written = {}
    params = {name: written.get(name, "{{" + name + "}}") for name in query.parameters}
    completed = {ESQL: body[ESQL], "params": params}
    return _add_size(completed, query)


def _add_size(body: dict[str, Json], query: EsqlQuery) -> dict[str, Json]:
    """*body* with the LIMIT of *query* as its size, or the param that is the LIMIT."""
    limit = query.limit
    if limit is None:
        return body
    size = int(limit.text) if limit.kind is PieceKind.WORD else body["params"].get(limit.text.lstrip("?"))
    return {**body, "size": size}


def find_index(body: Json) -> str | None:
    """What the text of *body* searches; None where it is no ES|QL, empty where that is not known."""
    if not is_esql(body):
        return None
    try:
        return parse_esql(str(body[ESQL])).index
    except EsqlError:
        return ""


def finish_body(body: Mapping[str, Json], index: str | None) -> Mapping[str, Json]:
    """
    The filled *body*, whose text searches *index*.

    Raises:
        UsageError: A value is a mapping, in which Elasticsearch may find the name of a field in place of a value.
    """
    for name, value in body["params"].items():
        if isinstance(value, Mapping):
            raise UsageError(f"?{name} is a mapping, expected a text, a number, true, false or a list of these")
    query = parse_esql(body[ESQL])
    filled = _add_size(dict(body), query)
    return filled if index is None else {**filled, ESQL: query.move(index)}


# What is refused.


def check_body(body: MappingNode, problems: Problems) -> None:
    """Check the keys of *body*, which has the key `esql`, and its text."""
    for key in body:
        if key not in (ESQL, "params"):
            problems.note(key.mark, f"found {str(key)!r} beside 'esql'; ES|QL may have only params beside it")
    params = body.find_child("params")
    if params is not None and not isinstance(params, MappingNode):
        problems.note(params.mark, f"found {describe(params)}, expected params as a mapping")
        params = None
    text = body.find_child(ESQL)
    if not isinstance(text, ScalarNode) or not text.strip():
        problems.note(text.mark, f"found {describe(text)}, {EXPECTED}")
        return
    if text.unset:
        return
    notes = _list_pasted(text)
    if notes:
        problems.note_all_inside(text, notes)
        return
    try:
        query = parse_esql(str(text))
    except EsqlError as error:
        problems.note_inside(text, error.offset, f"in ES|QL: {error}")
        return
    problems.note_all_inside(text, _list_wrong_parameters(query) | _list_unordered(query))
    for name in params or ():
        if name not in query.parameters:
            guess = did_you_mean(name, query.parameters)
            problems.note(name.mark, f"found the param {str(name)!r}, and the text has no ?{name}{guess}")


def _list_pasted(text: ScalarNode) -> dict[int, str]:
    """Why placeholders must not stand in *text*, by their offsets."""
    notes: dict[int, str] = {}
    for placeholder in locate_placeholders(text):
        written = "{{" + placeholder.name + "}}"
        tuned = read_parameter_name(placeholder.name)
        remedy = f"expected the parameter ?{placeholder.name}"
        if tuned is not None:
            remedy = f'expected the parameter ?{tuned}, and beside the text params: {{{tuned}: "{written}"}}'
        notes[placeholder.offset] = f"found {written} in ES|QL, {remedy}: a value never becomes a part of the text"
    return notes


def _list_wrong_parameters(query: EsqlQuery) -> dict[int, str]:
    notes: dict[int, str] = {}
    for name, offset in query.parameters.items():
        if not _NAME.fullmatch(name):
            written = name if name.startswith("?") else f"?{name}"
            notes[offset] = f"found {written!r}, expected a parameter with a name, such as ?text"
    for piece in query.pieces:
        inside = piece.text.strip('"')
        if piece.kind is PieceKind.TEXT and inside.startswith("?") and _NAME.fullmatch(inside[1:]):
            notes[piece.offset] = (
                f"found {piece.text}, which is a text for what it says; expected {inside}, not in quotes"
            )
    return notes


def _list_unordered(query: EsqlQuery) -> dict[int, str]:
    """Why the rows of *query* are no ranking, by the offset of each reason."""
    names = [command.name for command in query.commands]
    if "SORT" not in names:
        return {len(query.text): "ES|QL without SORT has no order; expected SORT, such as SORT _score DESC, and LIMIT"}
    first, last = names.index("SORT"), len(names) - 1 - names[::-1].index("SORT")
    notes: dict[int, str] = {}
    for number, command in enumerate(query.commands):
        if command.name == "LIMIT" and number < first:
            notes[command.offset] = "found LIMIT before SORT, which takes any rows; expected it behind SORT"
        elif number > last and command.name not in KEEPS_ORDER:
            message = f"found {command.name} behind the last SORT, after which rows may have another order"
            notes[command.offset] = f"{message}; expected SORT behind it"
    if "LIMIT" not in names[last:]:
        if not notes:
            notes[len(query.text)] = (
                "ES|QL without LIMIT behind its last SORT has as many rows as the server wants; expected LIMIT"
            )
    elif query.limit is None or query.limit.text == "0":
        offset = query.commands[len(names) - 1 - names[::-1].index("LIMIT")].offset
        notes[offset] = "expected LIMIT with a whole number of at least 1, or with a parameter such as ?depth"
    else:
        notes |= _list_lower_limits(query, query.limit.text)
    is_defined = any(
        piece.name == "_score" for command in query.commands if command.name != "SORT" for piece in command.pieces
    )
    if any(key.column == "_score" for key in query.sort_keys) and not is_defined:
        notes[query.commands[last].offset] = "found SORT by _score, expected METADATA _id, _score behind FROM"
    return notes


def _list_lower_limits(query: EsqlQuery, last: str) -> dict[int, str]:
    """That a LIMIT of *query* leaves fewer rows than its *last* one asks for, by the offset of each."""
    notes: dict[int, str] = {}
    for command in query.commands:
        number = command.pieces[0].text if command.name == "LIMIT" and command.pieces else ""
        if number.isdecimal() and last.isdecimal() and int(number) < int(last):
            notes[command.offset] = (
                f"found LIMIT {number} before LIMIT {last}, which it leaves fewer rows; expected one LIMIT"
            )
    return notes


def check_targets_of_esql(suite: Suite, reading: Reading, nodes: Mapping[str, Node]) -> None:
    """Check that each ES|QL returns what its target has as ids, and that its target is no server without ES|QL."""
    for name, template in suite.requests.items():
        if not is_esql(template.body) or template.http is not None:
            continue
        target = suite.find_target(name)
        text = esql_node(body_node(nodes[name]))
        query = parse_node(text)
        if text is not None and query is not None and target.id_field is None and "_id" not in query.metadata:
            message = f"the ES|QL has no METADATA _id: expected FROM {query.index} METADATA _id, _score, "
            message += "or 'id_field' in the target"
            reading.problems.note_inside(text, query.commands[0].offset, message)
        elif text is not None and query is not None:
            id_column = target.id_field or "_id"
            dropping = _find_dropping(query, id_column)
            if dropping is not None:
                message = (
                    f"after this {dropping.name} no column {id_column} is left, which holds the ids of documents; "
                )
                reading.problems.note_inside(text, dropping.offset, f"{message}expected it to stay")
        refusal = explain_no_esql((target.engine or "").split(" ")[0])
        if refusal:
            reading.problems.note(
                target.mark, f"the request {name!r} is ES|QL, and the engine {target.engine}: {refusal}"
            )


def _find_dropping(query: EsqlQuery, id_column: str) -> Command | None:
    """The command of *query* that takes away the column of ids; None if that stays, or is made anew."""
    dropping = None
    for command in query.commands:
        names = {piece.name for piece in command.pieces}
        if command.name == "KEEP" and id_column not in names:
            # `KEEP *` and `KEEP s*` keep what is not known here.
            if not any(piece.text == "*" for piece in command.pieces):
                dropping = command
        elif id_column in names:
            dropping = command if command.name == "DROP" else None
    return dropping


def explain_own_index(template: RequestTemplate, index: str) -> str:
    """Why *index* cannot stand beside the ES|QL of *template*; empty where it can."""
    found = find_index(template.body)
    if not found or found == index:
        return ""
    return f"found the index {index!r}, and FROM {found} in the ES|QL; expected the same, or none here"


def find_limit(name: str, reading: Reading) -> tuple[ScalarNode, int] | None:
    """The text of the request *name*, and where its LIMIT stands in it; None where that is not known."""
    node = reading.root.find_child("request")
    if node is None:
        node = find_child(reading.root.find_child("requests"), name)
    text = esql_node(body_node(node))
    query = parse_node(text)
    if text is None or query is None or query.limit is None:
        return None
    return text, query.limit.offset
