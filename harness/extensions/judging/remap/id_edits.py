"""Puts new ids of documents into the text of a judgment file or a suite, by place, all at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import yaml

from harness.errors import GrammarError
from harness.extensions.judging.grade_edits import format_key, iterate_csv_rows, list_query_nodes, unquote_cell
from harness.files.editing import Edit, NoPlace, apply_edits, compose_nodes, find_node, replace_node, split_lines
from harness.files.json import parse_json
from harness.files.opening import FileFormat, FileProblems
from harness.files.tables import format_rows, mark_as_text, read_table, remove_mark
from harness.gate.conditions import list_named_documents
from harness.gate.expectations import parse_expectation
from harness.suites.dumping import format_scalar

NewIds: TypeAlias = Mapping[str, str]
"""The old id of each document that moved, and its new one."""


# Files of lines.


def _edit_trec(text: str, new_ids: NewIds) -> Iterator[Edit]:
    offset = 0
    for line in split_lines(text):
        columns = list(re.finditer(r"[^ \t\r\n]+", line))
        if len(columns) == 4 and not line.startswith("#"):
            new = new_ids.get(columns[2].group())
            if new is not None:
                if re.search(r"[ \t]", new):
                    raise NoPlace(f"a TREC file cannot hold the id {new!r}, which has a blank")
                yield offset + columns[2].start(), offset + columns[2].end(), new
        offset += len(line)


def _edit_csv(text: str, new_ids: NewIds) -> Iterator[Edit]:
    lines = split_lines(text)
    table = read_table(lines, FileProblems(""), ["query"])
    if table is None or "document" not in table.columns:
        raise NoPlace("the file has no header with a document")
    place = table.columns.index("document")
    rows = iterate_csv_rows(text, table.separator, len("".join(lines[: table.line - 1])))
    next(rows)
    for spans in rows:
        if place >= len(spans):
            continue
        begin, end = spans[place]
        written = text[begin:end]
        new = new_ids.get(remove_mark(unquote_cell(written)))
        if new is not None:
            cell = format_rows([[mark_as_text(new)]], table.separator).removesuffix("\n")
            if written.startswith('"') and not cell.startswith('"'):
                cell = f'"{cell}"'
            yield begin, end, cell


_JSON_DOCUMENT = re.compile(r'(?<!\\)"document"\s*:\s*(-?[0-9]+|"(?:[^"\\]|\\.)*")')


def edit_json_lines(text: str, new_ids: NewIds) -> Iterator[Edit]:
    """The edits of JSON lines, each an object with a document."""
    offset = 0
    for line in split_lines(text):
        entry = parse_json(line) if line.strip() else {}
        document = entry.get("document") if isinstance(entry, dict) else None
        new = None if document is None else new_ids.get(str(document))
        if new is not None:
            matches = list(_JSON_DOCUMENT.finditer(line))
            if len(matches) != 1:
                raise NoPlace(f"the place of the document {document!r} is not clear in its line")
            yield offset + matches[0].start(1), offset + matches[0].end(1), _format_json_id(new, document)
        offset += len(line)


def _format_json_id(new: str, old: object) -> str:
    """*new* as JSON: a number, if *old* was one and it can be."""
    if isinstance(old, int) and re.fullmatch(r"0|-?[1-9][0-9]*", new):
        return new
    return json.dumps(new, ensure_ascii=False)


# YAML.


def _edit_yaml(text: str, new_ids: NewIds) -> Iterator[Edit]:
    root = compose_nodes(text)
    for _, judgments in root.value if isinstance(root, yaml.MappingNode) else ():
        yield from _edit_keys(text, _list_keys(judgments), new_ids)


def _list_keys(node: Any) -> list[Any]:
    return [key for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []


def list_judged(entry: Any) -> list[Any]:
    """The documents that are judged with a query in its suite, as nodes."""
    return _list_keys(find_node(entry, ["judgments"]))


def _edit_keys(text: str, keys: list[Any], new_ids: NewIds) -> Iterator[Edit]:
    for key in keys:
        new = new_ids.get(key.value)
        if new is not None:
            yield replace_node(text, key, format_key(new, key))


def edit_suite(text: str, new_ids: NewIds) -> Iterator[Edit]:
    """The edits of the judgments and the expectations that stand with their queries in a suite."""
    for entry in list_query_nodes(compose_nodes(text)).values():
        yield from _edit_keys(text, list_judged(entry), new_ids)
        for node in list_expectations(entry):
            new = rewrite_expectation(node.value, new_ids)
            if new != node.value:
                yield replace_node(text, node, format_scalar(new, node.style))


def list_expectations(entry: Any) -> list[Any]:
    """The texts of the expectations of a query, as nodes: in a list, some of them in a mapping under `expect`."""
    expectations = find_node(entry, ["expect"])
    nodes = []
    for node in expectations.value if isinstance(expectations, yaml.SequenceNode) else ():
        text = find_node(node, ["expect"]) if isinstance(node, yaml.MappingNode) else node
        if isinstance(text, yaml.ScalarNode):
            nodes.append(text)
    return nodes


_WORD = re.compile(r"\"[^\"]*\"(?!\S)|'[^']*'(?!\S)|\S+")


def rewrite_expectation(text: str, new_ids: NewIds) -> str:
    """
    *text* with the new ids of the documents that it names.

    >>> rewrite_expectation("a before 'b'", {"a": "b", "b": "a c"}), rewrite_expectation("a = a in top 3", {"a": "b"})
    ("b before 'a c'", 'a = a in top 3')
    """
    try:
        named = list_named_documents(parse_expectation(text))
    except GrammarError:
        return text
    # A document is the first word, and another one the last, behind `before`.
    words = [word for number, word in enumerate(_WORD.finditer(text)) if number in (0, 2)]
    edits: list[Edit] = []
    for document, word in zip(named, words, strict=False):
        if document in new_ids:
            quote = word[0][0] if word[0] != document else ""
            edits.append((word.start(), word.end(), _quote_document(new_ids[document], quote)))
    return apply_edits(text, edits)


def _quote_document(document: str, quote: str) -> str:
    """*document* as an expectation names it, in the *quote* that it had if it can."""
    needs_quotes = bool(re.search(r"\s", document)) or document[:1] in "\"'"
    if not quote and not needs_quotes:
        return document
    for mark in (quote or "'", "'", '"'):
        if mark not in document:
            return f"{mark}{document}{mark}"
    raise NoPlace(f"an expectation cannot hold the id {document!r}, which has both kinds of quotes")


EDITORS: Mapping[FileFormat, Callable[[str, NewIds], Iterator[Edit]]] = {
    FileFormat.TREC: _edit_trec,
    FileFormat.CSV: _edit_csv,
    FileFormat.JSON_LINES: edit_json_lines,
    FileFormat.YAML: _edit_yaml,
}
