"""
The queries of a suite, from the suite itself and from its query file, as `harness.model.Query`.

A file of queries is ``.tsv`` (id, tab, text, no header), ``.csv`` (a header with id, text and more columns), or
``.jsonl`` (objects with the keys of a query in a suite). Variables are not replaced in it: a query may contain `${`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from harness.errors import InputError, Problem, SuiteError
from harness.files.json import WrongJson, parse_json
from harness.files.opening import read_source
from harness.files.records import read_number, separator_of, without_mark
from harness.files.vectors import is_array, read_ids, read_vectors
from harness.masking import fingerprint, names_login
from harness.model import Gain, Json, Mark, Profile, Query
from harness.suites.grades import Judgments, read_written_grade
from harness.suites.placeholders import RESERVED, is_name
from harness.suites.reading import NamedFile, Reading, SuiteFiles, read_query
from harness.suites.scalars import masked_variables, read_masked
from harness.suites.shape import QueryFileShape, QueryShape, VectorFileShape
from harness.suites.thresholds import read_expectations, read_thresholds, read_waiver
from harness.suites.yaml import ListNode, MappingNode, Node, Problems, ScalarNode
from harness.words import count, did_you_mean, listed

_MOST_BYTES = 256 * 2**20
_CSV_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_NO_PARAMS: Mapping[str, Json] = {}
"""The params of all queries without any, shared to save memory."""
_LISTS = ("tags", "thresholds", "expect", "markers")
_WAIVERS = ("xfail", "skip")
_COLUMNS = ("id", "text", "weight", *_LISTS, "xfail", "xfail.until", "skip", "skip.until")
_IDS, _TEXTS = {"id", "qid", "query_id", "query id"}, {"text", "query", "query_text", "query text"}


@dataclass(frozen=True, slots=True)
class _WrittenQuery:
    """A query, and the keys of `_GIVEN` that its source has; their values are in *query*."""

    query: Query
    given: tuple[str, ...]


_WrittenQueries: TypeAlias = dict[str, _WrittenQuery]
"""ScalarNode queries by their id."""

_Take: TypeAlias = Callable[[QueryShape, Problems], None]
"""Takes a query's shape, keeps what is needed of it, and notes its problems."""


def _read_file(file: NamedFile, take: _Take) -> Problems:
    """
    Call *take* with the queries of a file, one after the other, so that only one shape is in memory.

    Returns:
        The problems that *take* noted.

    Raises:
        SuiteError: With every line that is not a query.
    """
    readers: dict[str, Callable[[Problems], Iterator[MappingNode]]] = {
        ".tsv": _tsv,
        ".csv": _csv,
        ".jsonl": _json_lines,
    }
    suffix = file.path.suffix.lower()
    if suffix not in readers:
        raise SuiteError([Problem(file.name, 0, 0, "expected a query file with the suffix .tsv, .csv or .jsonl")])
    try:
        problems = Problems(read_source(file.path, file.name, limit=_MOST_BYTES))
    except InputError as error:
        raise SuiteError(error.problems) from None
    noted, is_empty = Problems(problems.source), True
    for node in readers[suffix](problems):
        shape, is_empty = read_query(node, problems), False
        if shape is not None:
            take(shape, noted)
    if problems.found:
        raise SuiteError(problems.found)
    if is_empty:
        noted.note(Mark(file.name), "the file has no queries")
    return noted


def _tsv(problems: Problems) -> Iterator[MappingNode]:
    begun = False
    for number, line in enumerate(problems.source.drain_lines(), start=1):
        if not line.strip():
            continue
        mark = Mark(problems.source.path, number, 1)
        columns = line.split("\t")
        if len(columns) != 2:
            found = f"found {count(len(columns), 'column')} separated by tabs"
            problems.note(mark, f"{found}, expected 2: id, text")
        elif not begun and columns[0].strip().lower() in _IDS and columns[1].strip().lower() in _TEXTS:
            problems.note(mark, "found a header, which a .tsv does not have; remove the line, or name the file .csv")
        else:
            yield _mapping(zip(("id", "text"), (_text(column, mark) for column in columns), strict=True), mark)
        begun = True


def _csv(problems: Problems) -> Iterator[MappingNode]:
    source = problems.source
    begin = next((line for line in source.iterate_lines() if line.strip()), "")
    lines = (line.group() for line in _CSV_LINE.finditer(source.text))
    rows = csv.reader(lines, strict=True, delimiter=separator_of(begin, "id"))
    header: list[str] | None = None
    first = 1
    try:
        for row in rows:
            mark, first = Mark(source.path, first, 1), rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = [cell.strip() for cell in row]
                if not _header_fits(header, mark, problems):
                    return
            elif len(row) != len(header):
                problems.note(mark, f"found {len(row)} columns, expected {len(header)} as in the header")
            else:
                yield _row(dict(zip(header, row, strict=True)), mark)
    except csv.Error as error:
        problems.note(Mark(source.path, rows.line_num, 1), f"this is not CSV: {error}")


def _header_fits(header: list[str], mark: Mark, problems: Problems) -> bool:
    before = len(problems.found)
    for column in ("id", "text"):
        if column not in header:
            problems.note(mark, f"the header lacks the column {column}")
    for column in header:
        if column not in _COLUMNS and not column.startswith("params."):
            guess = did_you_mean(column, _COLUMNS)
            problems.note(mark, f"unknown column {column!r}, expected {', '.join(_COLUMNS)} or params.NAME{guess}")
        if header.count(column) > 1:
            problems.note(mark, f"the header names {column!r} twice")
    return len(problems.found) == before


def _row(row: Mapping[str, str], mark: Mark) -> MappingNode:
    """The query of a row; a list is one cell with semicolons between its items, and an empty cell is left out."""
    cells = {name: without_mark(cell.strip()) for name, cell in row.items() if cell.strip()}
    found: dict[str, Node] = {name: _text(cells[name], mark) for name in ("id", "text") if name in cells}
    if "weight" in cells:
        found["weight"] = ScalarNode(cells["weight"], mark, plain=read_number(cells["weight"]) is not None)
    for name in _LISTS:
        if name in cells:
            found[name] = ListNode(mark, (_text(one.strip(), mark) for one in cells[name].split(";") if one.strip()))
    for name in _WAIVERS:
        waiver = {"reason": cells.get(name), "until": cells.get(f"{name}.until")}
        if any(waiver.values()):
            found[name] = _mapping(((key, _text(text, mark)) for key, text in waiver.items() if text), mark)
    params = {name.removeprefix("params."): cell for name, cell in cells.items() if name.startswith("params.")}
    if params:
        found["params"] = _mapping(((name, _text(cell, mark)) for name, cell in params.items()), mark)
    return _mapping(found.items(), mark)


def _json_lines(problems: Problems) -> Iterator[MappingNode]:
    source = problems.source
    for number, line in enumerate(source.drain_lines(), start=1):
        if not line.strip():
            continue
        mark = Mark(source.path, number, 1)
        try:
            node = _node(parse_json(line), mark)
        except WrongJson as error:
            problems.note(Mark(source.path, number, error.column), str(error))
        except RecursionError:
            problems.note(mark, "the JSON is nested too deeply")
        else:
            if isinstance(node, MappingNode):
                yield node
            else:
                problems.note(mark, f"found {line.strip()[:60]}, expected an object with id and text")


def _node(value: Any, mark: Mark) -> Node:
    """A JSON value as the node of the same value in YAML."""
    if isinstance(value, dict):
        return _mapping(((key, _node(item, mark)) for key, item in value.items()), mark)
    if isinstance(value, list):
        return ListNode(mark, (_node(item, mark) for item in value))
    return _text(value, mark) if isinstance(value, str) else ScalarNode(json.dumps(value), mark, plain=True)


def _text(text: str, mark: Mark) -> ScalarNode:
    return ScalarNode(text, mark, plain=False)


def _mapping(pairs: Iterable[tuple[str, Node]], mark: Mark) -> MappingNode:
    return MappingNode(mark, ((_text(key, mark), value) for key, value in pairs))


def list_queries(
    reading: Reading, files: SuiteFiles, names: Mapping[str, float] | None, gain: Gain | None, judgments: Judgments
) -> tuple[Query, ...] | None:
    """
    The suite's queries, each id once, without judgments; judgments written with a query go to *judgments*.

    Returns:
        None where they are unknown, because their file is wrong or its name holds a variable.
    """
    written, problems = reading.shape.queries, reading.problems
    named = written.file if isinstance(written, QueryFileShape) else written
    stored: _WrittenQueries = {}
    added: _WrittenQueries = {}
    masked = _masked_questions(reading) if reading.variables else {}

    def take(entry: QueryShape, noted: Problems, into: _WrittenQueries) -> None:
        query = _query(entry, gain, reading, noted, masked.get(entry.id.mark))
        if query.id in into:
            first = into[query.id].query
            noted.note(query.mark, f"the query id {query.id!r} is used twice, first at {first.mark}")
            return
        given = tuple(key for key in _GIVEN if getattr(entry, key) is not None)
        into[query.id] = _WrittenQuery(query, given)
        _add_judgments(entry, names, judgments)

    if isinstance(named, ScalarNode):
        file = files.find(named)
        try:
            noted = None if file is None else _read_file(file, partial(take, into=stored))
        except SuiteError as error:
            problems.extend(error.problems)
            return None
        if noted is None:
            return None
        problems.extend(noted.found)
    for entry in _inline(written):
        take(entry, problems, added)
    merged = _merge_queries(stored, added, problems)
    _check_weights(list(merged.values()), reading)
    return tuple(written_query.query for written_query in merged.values())


def _inline(written: Any) -> Sequence[QueryShape]:
    """The queries written in the suite itself."""
    if isinstance(written, QueryFileShape):
        return written.inline
    return [] if isinstance(written, ScalarNode) else written or []


_GIVEN = ("text", "weight", *_WAIVERS)


def _merge_queries(stored: _WrittenQueries, added: _WrittenQueries, problems: Problems) -> _WrittenQueries:
    """The queries of the file, each with what the suite adds to it, and then the other queries of the suite."""
    merged = dict(stored)
    for query_id, written_query in added.items():
        if query_id in stored:
            written_query = _merge_query(stored[query_id], written_query, problems)
        merged[query_id] = written_query
    return merged


def _merge_query(stored: _WrittenQuery, added: _WrittenQuery, problems: Problems) -> _WrittenQuery:
    """One query from its parts in the file and in the suite; keys in both must have the same value."""
    query, other = stored.query, added.query

    def one_of_both(key: str) -> Any:
        first, second = getattr(query, key), getattr(other, key)
        if key in stored.given and key in added.given and first != second:
            problems.note(other.mark, f"query {query.id!r} has another {key} at {query.mark}")
        return second if key in added.given else first

    for name in query.params.keys() & other.params.keys():
        if query.params[name] != other.params[name]:
            problems.note(other.mark, f"query {query.id!r} has another value of the param {name!r} at {query.mark}")
    values = {key: one_of_both(key) for key in _GIVEN}
    kept = query.masked or {"text": query.text, "params": query.params}
    masked = other.masked and {
        "text": other.masked["text"] or kept["text"],
        "params": {**kept["params"], **other.masked["params"]},
        "values": other.masked["values"],
    }
    both = replace(
        query,
        params={**query.params, **other.params},
        tags=tuple(dict.fromkeys((*query.tags, *other.tags))),
        thresholds=query.thresholds + other.thresholds,
        markers=tuple(dict.fromkeys((*query.markers, *other.markers))),
        masked=masked,
        **values,
    )
    return _WrittenQuery(both, tuple(key for key in _GIVEN if key in {*stored.given, *added.given}))


def _masked_questions(reading: Reading) -> dict[Mark, Json]:
    """The value of `Query.masked` for each query with values from the environment, by the place of its id."""
    nodes = reading.root.find_child("queries")
    nodes = nodes.find_child("inline") if isinstance(nodes, MappingNode) else nodes
    queries = [node for node in nodes if isinstance(node, MappingNode)] if isinstance(nodes, ListNode) else []
    found: dict[Mark, Json] = {}
    for query in queries:
        text, params = query.find_child("text"), query.find_child("params")
        names = {*masked_variables(text), *masked_variables(params)}
        if "id" in query and names:
            found[query.find_child("id").mark] = {
                "text": text.masked if isinstance(text, ScalarNode) else "",
                "params": {} if params is None else read_masked(params),
                "values": {
                    name: fingerprint(value)
                    for name, value in reading.variables.items()
                    if name in names and not names_login(name)
                },
            }
    return found


def _query(entry: QueryShape, gain: Gain | None, reading: Reading, problems: Problems, masked: Json = None) -> Query:
    checking = reading.checking
    profile = Profile(reading.shape.profile)
    own = read_thresholds(entry.thresholds, gain, problems, of_query=True, checking=checking, profile=profile)
    expected = read_expectations(entry.expect, problems, checking=checking)
    return Query(
        id=str(entry.id),
        text="" if entry.text is None else str(entry.text),
        params={str(name): value for name, value in entry.params.items()} if entry.params else _NO_PARAMS,
        tags=_each_once(entry.tags, problems),
        weight=1.0 if entry.weight is None else entry.weight,
        thresholds=own + expected,
        markers=tuple(map(str, entry.markers)),
        xfail=read_waiver(entry.xfail),
        skip=read_waiver(entry.skip),
        mark=entry.id.mark,
        masked=masked,
    )


def _each_once(tags: Sequence[Any], problems: Problems) -> tuple[str, ...]:
    seen: dict[str, None] = {}
    for tag in tags:
        if str(tag) in seen:
            problems.note(tag.mark, f"the tag {str(tag)!r} is given twice")
        seen[str(tag)] = None
    return tuple(seen)


def _check_weights(written: Sequence[_WrittenQuery], reading: Reading) -> None:
    """Require a weight for all queries or none: a forgotten one would count as 1. Misspelt ones are noted already."""
    lacking = [written_query.query for written_query in written if "weight" not in written_query.given]
    if len(lacking) in (0, len(written)) or "weight" in reading.broken:
        return
    verb = "has" if len(lacking) == 1 else "have"
    named = listed([query.id for query in lacking])
    reading.problems.note(
        lacking[0].mark,
        f"{len(lacking):,} of {count(len(written), 'query')} {verb} no weight: {named}; "
        "expected a weight for every query, or for none",
    )


def _add_judgments(entry: QueryShape, names: Mapping[str, float] | None, judgments: Judgments) -> None:
    for document, written in entry.judgments.items():
        grade = read_written_grade(written, names, judgments.problems)
        if grade is not None:
            judgments.add_inline(str(entry.id), str(document), grade, document.mark)


def with_vectors(queries: tuple[Query, ...], reading: Reading, files: SuiteFiles) -> tuple[Query, ...]:
    """
    *queries* with their vectors from files as params. Where a file is wrong or not known yet, the vectors are empty, so
    that requests that use them have no further problems.
    """
    for name, written in reading.shape.vectors.items():
        mark = reading.root.find_child("vectors").find_key(name).mark
        if not is_name(name) or name in RESERVED:
            expected = f"the name of a placeholder other than {' and '.join(RESERVED)}"
            reading.problems.note(mark, f"found {str(name)!r}, expected {expected}")
            continue
        taken = next((query for query in queries if name in query.params), None)
        if taken is not None:
            reading.problems.note(taken.mark, f"query {taken.id!r} has a param {str(name)!r}, which `vectors` has too")
        vectors = _read_vectors(written, queries, reading, files) if taken is None else {}
        queries = tuple(_with_param(query, str(name), vectors.get(query.id, [])) for query in queries)
    return queries


def _with_param(query: Query, name: str, vector: Json) -> Query:
    masked = query.masked and {**query.masked, "params": {**query.masked["params"], name: vector}}
    return replace(query, params={**query.params, name: vector}, masked=masked)


def _read_vectors(
    written: ScalarNode | VectorFileShape, queries: Sequence[Query], reading: Reading, files: SuiteFiles
) -> Mapping[str, Json]:
    """The vector of each query in a file, by id; none where the file has problems, which are noted."""
    shape = written if isinstance(written, VectorFileShape) else VectorFileShape.model_construct(file=written)
    file = files.find(shape.file)
    rows = None if shape.ids is None else files.find(shape.ids)
    if file is None or (shape.ids is not None and rows is None):
        return {}
    if rows is not None and not is_array(file.path):
        reading.problems.note(rows.written.mark, "only a .npy file has rows without ids; remove `ids`")
        return {}
    try:
        query_ids = [query.id for query in queries]
        if rows is None:
            return read_vectors(file.path, file.name, query_ids)
        return read_vectors(file.path, file.name, query_ids, rows=read_ids(rows.path, rows.name), rows_of=rows.name)
    except InputError as error:
        reading.problems.extend(error.problems)
        return {}
