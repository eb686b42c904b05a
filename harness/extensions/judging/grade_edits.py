"""Puts grades into the text of a judgment file or a suite, with the least change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import yaml

from harness.agreement import group_by_query
from harness.files.editing import (
    Edit,
    NoPlace,
    add_members,
    append_lines,
    compose_nodes,
    find_node,
    insert_after_line,
    insert_below,
    replace_node,
    split_lines,
)
from harness.files.json import parse_json
from harness.files.opening import FileFormat, FileProblems
from harness.files.tables import format_json_lines, format_rows, mark_as_text, read_number, read_table, remove_mark
from harness.model.suite import Json
from harness.suites.dumping import format_scalar

WrittenGrades: TypeAlias = Mapping[tuple[str, str], str]
"""Grades by query and document as they are written, by number or by name."""


# Files of lines.


def _edit_trec(text: str, grades: WrittenGrades) -> list[Edit]:
    edits: list[Edit] = []
    remaining = dict(grades)
    last_lines: dict[str, int] = {}
    blank, offset = " ", 0
    for line in split_lines(text):
        columns = list(re.finditer(r"[^ \t\r\n]+", line))
        if len(columns) == 4 and not line.startswith("#"):
            query, _, document, _ = (column.group() for column in columns)
            blank = line[columns[0].end() : columns[1].start()]
            last_lines[query] = offset
            grade = remaining.pop((query, document), None)
            if grade is not None:
                edits.append((offset + columns[3].start(), offset + columns[3].end(), grade))
        offset += len(line)
    new_lines: dict[str, list[str]] = {}
    for (query, document), grade in remaining.items():
        if re.search(r"[ \t]", query + document):
            pair = f"document {document!r} of query {query!r}"
            raise NoPlace(f"a TREC file cannot hold the ids of {pair}, which have a blank; use another form")
        new_lines.setdefault(query, []).append(blank.join((query, "0", document, grade)))
    lines_at_end: list[str] = []
    for query, lines in new_lines.items():
        if query in last_lines:
            edits.append(insert_after_line(text, last_lines[query], lines))
        else:
            lines_at_end += lines
    if lines_at_end:
        edits.append(append_lines(text, lines_at_end))
    return edits


_CELL = '"(?:[^"]|"")*"|[^{separator}\\r\\n]*'


def iterate_csv_rows(text: str, separator: str, offset: int) -> Iterator[list[tuple[int, int]]]:
    """Where the cells of each row from *offset* on begin and end."""
    cell = re.compile(_CELL.format(separator=re.escape(separator)))
    row = []
    while offset <= len(text):
        match = cell.match(text, offset)
        # The expression also matches an empty cell.
        assert match is not None
        row.append(match.span())
        offset = match.end()
        if text[offset : offset + 1] == separator:
            offset += 1
            continue
        yield row
        row = []
        offset += 2 if text.startswith("\r\n", offset) else 1


def _edit_csv(text: str, grades: WrittenGrades) -> list[Edit]:
    """Grades in their cells, and rows at the end for documents that have none; raises as `edit_suite`."""
    lines = split_lines(text)
    table = read_table(lines, FileProblems(""), ["query"])
    if table is None:
        raise NoPlace("the file has no header")
    edits: list[Edit] = []
    remaining = dict(grades)
    header_begin = len("".join(lines[: table.line - 1]))
    rows = iterate_csv_rows(text, table.separator, header_begin)
    next(rows)
    for spans in rows:
        cells = [unquote_cell(text[slice(*span)]) for span in spans]
        row = dict(zip(table.columns, cells, strict=False))
        spans_by_column = dict(zip(table.columns, spans, strict=False))
        pair = (remove_mark(row.get("query", "")), remove_mark(row.get("document", "")))
        if pair in remaining and "grade" in row:
            begin, end = spans_by_column["grade"]
            grade = remaining.pop(pair)
            is_quoted = text[begin:end].startswith('"')
            edits.append((begin, end, f'"{grade}"' if is_quoted else grade))
    new_rows = []
    for (query, document), grade in remaining.items():
        new = {"query": mark_as_text(query), "document": mark_as_text(document), "grade": grade}
        new_rows.append([new.get(column, "") for column in table.columns])
    new_lines = format_rows(new_rows, table.separator).split("\n")[:-1]
    return [*edits, append_lines(text, new_lines)] if new_lines else edits


def unquote_cell(raw: str) -> str:
    """The text of a cell of CSV as it is written."""
    return raw[1:-1].replace('""', '"') if raw.startswith('"') else raw


_JSON_GRADE = re.compile(r'(?<!\\)"grade"\s*:\s*(null|-?[0-9][0-9.eE+-]*|"(?:[^"\\]|\\.)*")')


def _edit_json_lines(text: str, grades: WrittenGrades) -> list[Edit]:
    edits: list[Edit] = []
    remaining, offset = dict(grades), 0
    for line in split_lines(text):
        entry = parse_json(line) if line.strip() else {}
        pair = (str(entry.get("query")), str(entry.get("document")))
        match = _JSON_GRADE.search(line)
        if pair in remaining and match:
            grade = json.dumps(_parse_grade(remaining.pop(pair)), ensure_ascii=False)
            edits.append((offset + match.start(1), offset + match.end(1), grade))
        offset += len(line)
    entries: list[Json] = []
    for (query, document), grade in remaining.items():
        entries.append({"query": query, "document": document, "grade": _parse_grade(grade)})
    lines = format_json_lines(entries).split("\n")[:-1]
    return [*edits, append_lines(text, lines)] if lines else edits


def _parse_grade(grade: str) -> Json:
    """A grade as it stands in JSON: a number, or the name of a grade."""
    return json.loads(grade) if read_number(grade) is not None else grade


# YAML.


def list_query_nodes(root: Any) -> dict[str, Any]:
    """The mapping of each query that stands in the suite itself, by id."""
    queries = find_node(root, ["queries"])
    if isinstance(queries, yaml.MappingNode):
        queries = find_node(queries, ["inline"])
    nodes: dict[str, Any] = {}
    if isinstance(queries, yaml.SequenceNode):
        for entry in queries.value:
            query_id = find_node(entry, ["id"])
            if isinstance(query_id, yaml.ScalarNode):
                nodes[query_id.value] = entry
    return nodes


def read_suite_grades(text: str) -> dict[tuple[str, str], str]:
    """The judgments that are written with their queries."""
    grades: dict[tuple[str, str], str] = {}
    for query, entry in list_query_nodes(compose_nodes(text)).items():
        judgments = find_node(entry, ["judgments"])
        if isinstance(judgments, yaml.MappingNode):
            for document, grade in judgments.value:
                is_scalar = isinstance(grade, yaml.ScalarNode)
                grades[query, document.value] = str(grade.value) if is_scalar else "?"
    return grades


def read_without_judgments(text: str) -> Any:
    """The suite without the judgments of its queries, as nested lists of scalars."""
    root = compose_nodes(text)
    for entry in list_query_nodes(root).values():
        entry.value = [(key, value) for key, value in entry.value if key.value != "judgments"]
    return read_plain(root)


def read_plain(node: Any) -> Any:
    """What *node* says, as nested lists of scalars."""
    if isinstance(node, yaml.MappingNode):
        return [(read_plain(key), read_plain(value)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [read_plain(item) for item in node.value]
    # An empty file has no node.
    return None if node is None else node.value


def edit_suite(text: str, grades: WrittenGrades) -> list[Edit]:
    """
    Grades beside their queries in the suite.

    Raises:
        NoPlace: A query is not in the suite itself.
    """
    nodes = list_query_nodes(compose_nodes(text))
    judgments = {query: find_node(entry, ["judgments"]) for query, entry in nodes.items()}
    # New judgments are written as the suite writes the others: {sku-17: 3}, or a line for each.
    in_flow = any(isinstance(node, yaml.MappingNode) and node.flow_style for node in judgments.values())
    edits: list[Edit] = []
    for query, new_grades in group_by_query(grades).items():
        if query not in nodes:
            raise NoPlace(f"query {query!r} is in a query file; name a file for its judgments under 'judgments'")
        if judgments[query] is None:
            edits += _add_judgments(text, nodes[query], "judgments", new_grades, in_flow=in_flow)
        else:
            edits += _edit_judgments(text, judgments[query], new_grades)
    return edits


def _edit_yaml(text: str, grades: WrittenGrades) -> list[Edit]:
    root = compose_nodes(text)
    edits: list[Edit] = []
    for query, new_grades in group_by_query(grades).items():
        node = find_node(root, [query])
        if node is not None:
            edits += _edit_judgments(text, node, new_grades)
        elif isinstance(root, yaml.MappingNode) and root.value:
            edits += _add_judgments(text, root, query, new_grades, in_flow=False)
        else:
            edits.append(append_lines(text, _format_block(format_key(query), new_grades)))
    return edits


def _edit_judgments(text: str, node: Any, grades: Mapping[str, str]) -> list[Edit]:
    """*grades* in the mapping of a query's judgments, or in the place of one that has nothing yet."""
    if not isinstance(node, yaml.MappingNode):
        return [replace_node(text, node, _format_flow(grades))]
    values = {key.value: value for key, value in node.value}
    sibling = node.value[-1][0] if node.value else None
    edits, members = [], []
    for document, grade in grades.items():
        if document in values:
            edits.append(replace_node(text, values[document], grade))
        else:
            members.append(f"{format_key(document, sibling)}: {grade}")
    if members:
        edits += add_members(text, node, members)
    return edits


def _format_flow(grades: Mapping[str, str]) -> str:
    return "{" + ", ".join(_list_pairs(grades)) + "}"


def _format_block(key: str, grades: Mapping[str, str]) -> list[str]:
    """The lines of *grades* below their *key*."""
    return [f"{key}:", *(f"  {pair}" for pair in _list_pairs(grades))]


def _list_pairs(grades: Mapping[str, str]) -> list[str]:
    return [f"{format_scalar(document)}: {grade}" for document, grade in grades.items()]


def _add_judgments(text: str, node: Any, name: str, grades: Mapping[str, str], *, in_flow: bool) -> list[Edit]:
    """*grades* below a new key of a mapping that is not empty."""
    key = format_key(name, node.value[-1][0])
    if in_flow or node.flow_style:
        return add_members(text, node, [f"{key}: {_format_flow(grades)}"])
    return [insert_below(text, node, _format_block(key, grades))]


def format_key(text: str, sibling: Any = None) -> str:
    """*text* as a key, quoted as its *sibling* is, and where a reader of YAML may take it for something else."""
    if sibling is None:
        return format_scalar(text)
    # Ids that begin with a digit are quoted, unless the file has such ids without quotes.
    return format_scalar(text, sibling.style, may_begin_with_digit=sibling.value[:1].isdigit())


EDITORS: Mapping[FileFormat, Callable[[str, WrittenGrades], list[Edit]]] = {
    FileFormat.TREC: _edit_trec,
    FileFormat.CSV: _edit_csv,
    FileFormat.JSON_LINES: _edit_json_lines,
    FileFormat.YAML: _edit_yaml,
}
