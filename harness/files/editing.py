"""
Edits grades in the text of a judgment file or a suite with the least change: everything else keeps its comments, order,
quotes and line ends.

YAML is not parsed and dumped again, because that would change other lines too: each grade is inserted at the place that
the parser reports.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import yaml

from harness.errors import UsageError
from harness.files.opening import FileFormat
from harness.files.records import detect_separator, mark_as_text, read_number, remove_mark
from harness.files.yaml import choose_yaml_loader, quote_doubly


class NoPlace(UsageError):
    """A text cannot hold a grade."""


Grades: TypeAlias = Mapping[tuple[str, str], str]
"""Grades by query and document as they are written, by number or by name."""


Edit: TypeAlias = tuple[int, int, str]
"""A replacement: the text between two offsets becomes the third member."""


def applied(text: str, edits: Sequence[Edit]) -> str:
    """*text* with *edits*, whose places do not overlap."""
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _line_break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _after_line(text: str, offset: int, lines: Sequence[str]) -> Edit:
    """*lines* below the one that *offset* is in."""
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end - text[:end].endswith("\r")
    new = _line_break(text)
    return end, end, "".join(new + line for line in lines)


def _at_end(text: str, lines: Sequence[str]) -> Edit:
    new = _line_break(text)
    begin = "" if not text or text.endswith("\n") else new
    return len(text), len(text), begin + "".join(line + new for line in lines)


# Files of lines.


def _edit_trec(text: str, grades: Grades) -> list[Edit]:
    edits: list[Edit] = []
    open_ones = dict(grades)
    last: dict[str, int] = {}
    blank, offset = " ", 0
    for line in _lines(text):
        columns = list(re.finditer(r"[^ \t\r\n]+", line))
        if len(columns) == 4 and not line.startswith("#"):
            query, _, document, _ = (column.group() for column in columns)
            blank = line[columns[0].end() : columns[1].start()]
            last[query] = offset
            grade = open_ones.pop((query, document), None)
            if grade is not None:
                edits.append((offset + columns[3].start(), offset + columns[3].end(), grade))
        offset += len(line)
    new: dict[str, list[str]] = {}
    for (query, document), grade in open_ones.items():
        if re.search(r"[ \t]", query + document):
            found = f"document {document!r} of query {query!r}"
            raise NoPlace(f"a TREC file cannot hold the ids of {found}, which have a blank; use another form")
        new.setdefault(query, []).append(blank.join((query, "0", document, grade)))
    edits += [_after_line(text, last[query], lines) for query, lines in new.items() if query in last]
    rest = [line for query, lines in new.items() if query not in last for line in lines]
    return [*edits, _at_end(text, rest)] if rest else edits


_CELL = '"(?:[^"]|"")*"|[^{separator}\\r\\n]*'


def _csv_rows(text: str, separator: str) -> Iterator[list[tuple[int, int]]]:
    """Where the cells of each row begin and end."""
    cell = re.compile(_CELL.format(separator=re.escape(separator)))
    offset, row = 0, []
    while offset <= len(text):
        found = cell.match(text, offset)
        assert found is not None
        row.append(found.span())
        offset = found.end()
        if text[offset : offset + 1] == separator:
            offset += 1
            continue
        yield row
        row = []
        offset += 2 if text.startswith("\r\n", offset) else 1


def edit_csv(text: str, grades: Grades) -> list[Edit]:
    """Grades in their cells, and rows at the end for documents that have none; raises as `edit_suite`."""
    separator = detect_separator(next(filter(str.strip, _lines(text)), ""), "query")
    header: list[str] = []
    edits: list[Edit] = []
    open_ones = dict(grades)
    for spans in _csv_rows(text, separator):
        cells = [_cell_text(text[slice(*span)]) for span in spans]
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = [cell.strip() for cell in cells]
            continue
        row = dict(zip(header, zip(cells, spans, strict=False), strict=False))
        pair = tuple(remove_mark(row[name][0]) if name in row else "" for name in ("query", "document"))
        if pair in open_ones and "grade" in row:
            begin, end = row["grade"][1]
            grade = open_ones.pop(pair)
            edits.append((begin, end, f'"{grade}"' if text[begin:end].startswith('"') else grade))
    written = io.StringIO()
    writer = csv.DictWriter(written, header, restval="", delimiter=separator, lineterminator="\n")
    for (query, document), grade in open_ones.items():
        writer.writerow({"query": mark_as_text(query), "document": mark_as_text(document), "grade": grade})
    lines = written.getvalue().split("\n")[:-1]
    return [*edits, _at_end(text, lines)] if lines else edits


def _cell_text(raw: str) -> str:
    return raw[1:-1].replace('""', '"') if raw.startswith('"') else raw


_JSON_GRADE = re.compile(r'(?<!\\)"grade"\s*:\s*(null|-?[0-9][0-9.eE+-]*|"(?:[^"\\]|\\.)*")')


def _edit_json_lines(text: str, grades: Grades) -> list[Edit]:
    edits: list[Edit] = []
    open_ones, offset = dict(grades), 0
    for line in _lines(text):
        entry = json.loads(line) if line.strip() else {}
        pair = (str(entry.get("query")), str(entry.get("document")))
        found = _JSON_GRADE.search(line)
        if pair in open_ones and found:
            begin, end = found.span(1)
            edits.append((offset + begin, offset + end, _json_grade(open_ones.pop(pair))))
        offset += len(line)
    lines = [json_line(*pair, grade) for pair, grade in open_ones.items()]
    return [*edits, _at_end(text, lines)] if lines else edits


def json_line(query: str, document: str, grade: str) -> str:
    """A judgment as a line of a JSON lines file, without its end."""
    ids = json.dumps({"query": query, "document": document}, ensure_ascii=False)
    return f'{ids[:-1]}, "grade": {_json_grade(grade)}}}'


def _json_grade(grade: str) -> str:
    return grade if read_number(grade) is not None else json.dumps(grade, ensure_ascii=False)


# YAML.


def _composed(text: str) -> Any:
    return yaml.compose(text, Loader=choose_yaml_loader(text))


def _child(node: Any, name: str) -> Any:
    """The value below the key *name*; None where there is none."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == name), None)


def _query_nodes(root: Any) -> dict[str, Any]:
    """The mapping of each query that stands in the suite itself, by id."""
    queries = _child(root, "queries")
    if isinstance(queries, yaml.MappingNode):
        queries = _child(queries, "inline")
    entries = queries.value if isinstance(queries, yaml.SequenceNode) else ()
    nodes = ((_child(entry, "id"), entry) for entry in entries)
    return {node.value: entry for node, entry in nodes if isinstance(node, yaml.ScalarNode)}


def suite_grades(text: str) -> dict[tuple[str, str], str]:
    """The judgments that are written with their queries."""
    found: dict[tuple[str, str], str] = {}
    for query, entry in _query_nodes(_composed(text)).items():
        judged = _child(entry, "judgments")
        if isinstance(judged, yaml.MappingNode):
            found |= {(query, key.value): _grade_of(value) for key, value in judged.value}
    return found


def without_judgments(text: str) -> Any:
    """The suite without the judgments of its queries, as nested lists of scalars."""
    root = _composed(text)
    for entry in _query_nodes(root).values():
        entry.value = [(key, value) for key, value in entry.value if key.value != "judgments"]
    return _plain(root)


def _plain(node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return [(_plain(key), _plain(value)) for key, value in node.value]
    return [_plain(item) for item in node.value] if isinstance(node, yaml.SequenceNode) else node and node.value


def _grade_of(node: Any) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else "?"


def edit_suite(text: str, grades: Grades) -> list[Edit]:
    """
    Grades beside their queries in the suite.

    Raises:
        NoPlace: A query is not in the suite itself.
    """
    nodes = _query_nodes(_composed(text))
    judged = {query: _child(entry, "judgments") for query, entry in nodes.items()}
    in_flow = any(isinstance(node, yaml.MappingNode) and node.flow_style for node in judged.values())
    edits: list[Edit] = []
    for query, some in _by_query(grades).items():
        if query not in nodes:
            raise NoPlace(f"query {query!r} is in a query file; name a file for its judgments under 'judgments'")
        if judged[query] is None:
            edits += _with_member(text, nodes[query], "judgments", some, in_flow=in_flow)
        else:
            edits += _graded(text, judged[query], some)
    return edits


def _edit_yaml(text: str, grades: Grades) -> list[Edit]:
    root = _composed(text)
    edits: list[Edit] = []
    for query, some in _by_query(grades).items():
        node = _child(root, query)
        if node is not None:
            edits += _graded(text, node, some)
        elif isinstance(root, yaml.MappingNode) and root.value:
            edits += _with_member(text, root, query, some, in_flow=False)
        else:
            lines = [f"{_key(query)}:", *(f"  {_key(document)}: {grade}" for document, grade in some.items())]
            edits.append(_at_end(text, lines))
    return edits


def _by_query(grades: Grades) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for (query, document), grade in grades.items():
        found.setdefault(query, {})[document] = grade
    return found


def _graded(text: str, node: Any, grades: Mapping[str, str]) -> list[Edit]:
    """*grades* in the mapping of a query's judgments, or in the place of one that has nothing yet."""
    if not isinstance(node, yaml.MappingNode):
        return [_filled(text, node, _flow(grades))]
    values = {key.value: value for key, value in node.value}
    edits = [_filled(text, values[document], grade) for document, grade in grades.items() if document in values]
    new = {document: grade for document, grade in grades.items() if document not in values}
    sibling = node.value[-1][0] if node.value else None
    members = [f"{_key(document, sibling)}: {grade}" for document, grade in new.items()]
    return [*edits, *_with_members(text, node, members)] if members else edits


def _filled(text: str, node: Any, new: str) -> Edit:
    """*new* in the place of a scalar, which may be empty."""
    begin, end = node.start_mark.index, node.end_mark.index
    return begin, end, f" {new}" if text[begin - 1] == ":" else new


def _flow(grades: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_key(document)}: {grade}" for document, grade in grades.items()) + "}"


def _with_member(text: str, node: Any, name: str, grades: Mapping[str, str], *, in_flow: bool) -> list[Edit]:
    """*grades* below a new key of a mapping that is not empty."""
    key = _key(name, node.value[-1][0])
    if in_flow or node.flow_style:
        return _with_members(text, node, [f"{key}: {_flow(grades)}"])
    lines = [f"{key}:", *(f"  {_key(document)}: {grade}" for document, grade in grades.items())]
    return [_below(text, node, lines)]


def _with_members(text: str, node: Any, members: Sequence[str]) -> list[Edit]:
    if not node.flow_style:
        return [_below(text, node, members)]
    if not node.value:
        begin = node.start_mark.index + 1
        return [(begin, begin, ", ".join(members))]
    keys = [key.start_mark for key, _ in node.value]
    end, close = node.value[-1][1].end_mark.index, node.end_mark.index - 1
    comma = _COMMA.match(text, end, close)
    last = comma.end() if comma else end
    if node.start_mark.line == keys[-1].line or "\n" not in text[last:close]:
        return [(end, end, "".join(f", {member}" for member in members))]
    column = min(key.column for key in keys if key.line == keys[-1].line)
    lines = [f"{' ' * column}{member}," for member in members]
    if comma:
        return [_after_line(text, last, lines)]
    begin, _, new = _after_line(text, last, [*lines[:-1], lines[-1][:-1]])
    return [(end, end, f",{new}")] if begin == end else [(end, end, ","), (begin, begin, new)]


_COMMA = re.compile(r"(?:\s|#[^\n]*\n)*,")
"""The comma behind the last member of a flow mapping, with the comments before it."""


def _below(text: str, node: Any, lines: Sequence[str]) -> Edit:
    """*lines* behind all that a block mapping has, indented as its keys are."""
    last = node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    offset = len(text[: last.end_mark.index].rstrip())
    return _after_line(text, offset, [" " * node.start_mark.column + line for line in lines])


_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null)$)[a-z_0-9][\w./@+-]*", re.ASCII | re.IGNORECASE)


def _key(text: str, sibling: Any = None) -> str:
    """*text* as a key, quoted as its *sibling* is, and where a reader of YAML may take it for something else."""
    style = None if sibling is None else sibling.style
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    of_digits = sibling is not None and sibling.value[:1].isdigit()
    if not style and _PLAIN.fullmatch(text) and (of_digits or not text[0].isdigit()):
        return text
    return quote_doubly(text)


EDITORS: Mapping[FileFormat, Callable[[str, Grades], list[Edit]]] = {
    FileFormat.TREC: _edit_trec,
    FileFormat.CSV: edit_csv,
    FileFormat.JSON_LINES: _edit_json_lines,
    FileFormat.YAML: _edit_yaml,
}
