"""
The queries of a suite, inline or from a file.

A query file is ``.tsv`` (id, tab, text, no header), ``.csv`` (a header with id, text, and tags, weight or
params.NAME), or ``.jsonl`` (id, text, tags, weight, params). Variables in it are not
replaced.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import InputError, Problem, SuiteError, did_you_mean, unknown_key
from harness.files.opening import Source, read_source
from harness.files.records import read_number, separator_of
from harness.masking import fingerprint
from harness.model import Gain, Json, Mark, Profile, Query
from harness.suites.judgments import Judgments, read_written_grade
from harness.suites.reading import NamedFile, Reading, SuiteFiles
from harness.suites.scalars import EXPECTED_WEIGHT, is_weight, masked_variables, read_masked
from harness.suites.shape import QueryShape
from harness.suites.thresholds import read_expectations, read_thresholds, read_waiver
from harness.suites.variables import names_login
from harness.suites.yaml import ListNode, MappingNode, Problems, Written
from harness.words import count, listed

_MOST_BYTES = 256 * 2**20
_KEYS = ("id", "text", "tags", "weight", "params")
_COLUMNS = ("id", "text", "tags", "weight")


@dataclass(slots=True)
class _Reader:
    source: Source
    queries: list[Query] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unweighed: list[Query] = field(default_factory=list)

    def note(self, line: int, message: str, column: int = 1) -> None:
        self.problems.append(self.source.problem(line, column, message))

    def add(
        self,
        line: int,
        identifier: str,
        text: str,
        tags: tuple[str, ...] = (),
        params: dict[str, Any] | None = None,
        weight: Any = None,
    ) -> None:
        """Add a query; *weight* is as written, None if there is none."""
        read = None if weight is None else weight_in_file(weight)
        if not identifier.strip() or not identifier.isprintable():
            self.note(line, f"found {identifier!r} as id, expected a name of printable characters")
        elif not text.strip():
            self.note(line, f"query {identifier!r} has no text")
        elif weight is not None and read is None:
            self.note(line, f"found {json.dumps(weight, ensure_ascii=False)[:60]} as weight, {EXPECTED_WEIGHT}")
        else:
            mark = Mark(self.source.path, line, 1)
            query = Query(identifier, text, params=params or {}, tags=tags, mark=mark, weight=read or 1.0)
            self.queries.append(query)
            self.unweighed += [query] if read is None else []

    def check_weights(self) -> None:
        """Check that no weight is missing: it would count as 1 beside the others."""
        sentence = lacking_weights([query.id for query in self.unweighed], len(self.queries))
        if sentence and not self.problems:
            self.note(self.unweighed[0].mark.line, sentence)


def read_queries(file: NamedFile) -> list[Query]:
    """
    The queries of a file, without judgments; marks point into it.

    Raises:
        SuiteError: With every invalid line.
    """
    readers: dict[str, Callable[[_Reader], None]] = {".tsv": _tsv, ".csv": _csv, ".jsonl": _json_lines}
    suffix = file.path.suffix.lower()
    if suffix not in readers:
        raise SuiteError([Problem(file.name, 0, 0, "expected a query file with the suffix .tsv, .csv or .jsonl")])
    try:
        reader = _Reader(read_source(file.path, file.name, limit=_MOST_BYTES))
    except InputError as error:
        raise SuiteError(error.problems) from None
    readers[suffix](reader)
    reader.check_weights()
    if reader.problems:
        raise SuiteError(reader.problems)
    return reader.queries


def _tsv(reader: _Reader) -> None:
    for number, line in enumerate(reader.source.lines, start=1):
        if not line.strip():
            continue
        columns = line.split("\t")
        if len(columns) != 2:
            found = f"found {len(columns)} column{'s' * (len(columns) != 1)} separated by tabs"
            reader.note(number, f"{found}, expected 2: id, text")
        else:
            reader.add(number, columns[0], columns[1])


def _csv(reader: _Reader) -> None:
    begin = next((line for line in reader.source.lines if line.strip()), "")
    text = io.StringIO(reader.source.text, newline="")
    rows = csv.reader(text, strict=True, delimiter=separator_of(begin, "id"))
    header: list[str] | None = None
    first = 1
    try:
        for row in rows:
            line, first = first, rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = [cell.strip() for cell in row]
                if not _header_fits(header, line, reader):
                    return
            elif len(row) != len(header):
                reader.note(line, f"found {len(row)} columns, expected {len(header)} as in the header")
            else:
                _add_row(dict(zip(header, row, strict=True)), line, reader)
    except csv.Error as error:
        reader.note(rows.line_num, f"this is not CSV: {error}")


def _header_fits(header: list[str], line: int, reader: _Reader) -> bool:
    before = len(reader.problems)
    for column in ("id", "text"):
        if column not in header:
            reader.note(
                line, f"the header lacks the column {column}; expected id, text, and tags, weight or params.NAME"
            )
    for column in header:
        if column not in _COLUMNS and not column.startswith("params."):
            guess = did_you_mean(column, _KEYS)
            reader.note(line, f"unknown column {column!r}, expected {', '.join(_COLUMNS)} or params.NAME{guess}")
        if header.count(column) > 1:
            reader.note(line, f"the header names {column!r} twice")
    return len(reader.problems) == before


def _add_row(row: dict[str, str], line: int, reader: _Reader) -> None:
    tags = tuple(tag for part in row.get("tags", "").split(";") if (tag := part.strip()))
    params = {name.removeprefix("params."): value for name, value in row.items() if name.startswith("params.")}
    given = {name: value for name, value in params.items() if value}
    weight = row.get("weight", "").strip() or None
    reader.add(line, row["id"].strip(), row["text"].strip(), tags, given, weight)


def _json_lines(reader: _Reader) -> None:
    for number, line in enumerate(reader.source.lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except RecursionError:
            reader.note(number, "the JSON is nested too deeply")
        except ValueError as error:
            reader.note(number, f"this is not JSON: {getattr(error, 'msg', error)}", getattr(error, "colno", 1))
        else:
            _add_entry(entry, number, reader)


def _add_entry(entry: Any, line: int, reader: _Reader) -> None:
    sentence = _entry_problem(entry)
    if sentence:
        reader.note(line, sentence)
        return
    tags = tuple(entry.get("tags", ()))
    reader.add(line, str(entry["id"]), entry["text"], tags, entry.get("params", {}), entry.get("weight"))


def _entry_problem(entry: Any) -> str | None:
    """Why a JSON value is not a query; None if it is."""
    if not isinstance(entry, dict):
        return f"found {json.dumps(entry)[:60]}, expected an object with id and text"
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        return unknown_key(unknown[0], _KEYS)
    identifier = entry.get("id")
    if isinstance(identifier, bool) or not isinstance(identifier, (str, int)):
        return "expected an id: a string or a whole number"
    if not isinstance(entry.get("text"), str):
        return "expected a text: a string"
    tags = entry.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag.strip() for tag in tags):
        return "expected tags: a list of strings"
    return None if isinstance(entry.get("params", {}), dict) else "expected params: an object"


def weight_in_file(written: Any) -> float | None:
    """The weight in a cell of CSV, or a value of JSON; None if it is invalid."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    number = read_number(written)
    return number if number is not None and is_weight(number) else None


def lacking_weights(lacking: Sequence[str], queries: int) -> str:
    """The problem that the queries *lacking*, of so many, have no weight; empty if all have one, or none has."""
    if len(lacking) in (0, queries):
        return ""
    verb = "has" if len(lacking) == 1 else "have"
    return (
        f"{len(lacking):,} of {count(queries, 'query')} {verb} no weight: {listed(lacking)}; "
        "expected a weight for every query, or for none"
    )


def list_queries(
    reading: Reading, files: SuiteFiles, names: Mapping[str, float] | None, gain: Gain | None, judgments: Judgments
) -> tuple[Query, ...] | None:
    """
    The suite's queries, each id once; their inline judgments are added to *judgments*.

    Returns:
        None if they are unknown, because their file is invalid or its name has a variable.
    """
    written = reading.shape.queries
    if isinstance(written, Written):
        stored = _from_file(written, files, reading.problems)
        return None if stored is None else _distinct(stored, reading.problems)
    masked = _masked_questions(reading) if reading.variables else {}
    entries = [_query(entry, gain, reading, masked.get(entry.id.mark)) for entry in written or ()]
    queries = _distinct(entries, reading.problems)
    _check_weights(entries, written or (), reading)
    kept = {id(query) for query in queries}
    for query, entry in zip(entries, written or (), strict=True):
        if id(query) in kept:
            _add_judgments(entry, names, judgments)
    return queries


def _from_file(written: Written, files: SuiteFiles, problems: Problems) -> list[Query] | None:
    file = files.find(written)
    if file is None:
        return None
    try:
        queries = read_queries(file)
    except SuiteError as error:
        problems.extend(error.problems)
        return None
    if not queries:
        problems.at(Mark(file.name), "the file has no queries")
    return queries


def _masked_questions(reading: Reading) -> dict[Mark, Json]:
    """What `Query.masked` says of each query that has values from the environment in it, by the place of its id."""
    nodes = reading.root.child("queries")
    queries = [node for node in nodes if isinstance(node, MappingNode)] if isinstance(nodes, ListNode) else []
    found: dict[Mark, Json] = {}
    for query in queries:
        text, params = query.child("text"), query.child("params")
        names = {*masked_variables(text), *masked_variables(params)}
        if "id" in query and names:
            found[query.child("id").mark] = {
                "text": text.masked if isinstance(text, Written) else "",
                "params": {} if params is None else read_masked(params),
                "values": {
                    name: fingerprint(value)
                    for name, value in reading.variables.items()
                    if name in names and not names_login(name)
                },
            }
    return found


def _query(entry: QueryShape, gain: Gain | None, reading: Reading, masked: Json) -> Query:
    problems, checking = reading.problems, reading.checking
    profile = Profile(reading.shape.profile)
    own = read_thresholds(entry.thresholds, gain, problems, of_query=True, checking=checking, profile=profile)
    expected = read_expectations(entry.expect, problems, checking=checking)
    return Query(
        id=str(entry.id),
        text="" if entry.text is None else str(entry.text),
        params={str(name): value for name, value in entry.params.items()},
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
            problems.at(tag.mark, f"the tag {str(tag)!r} is given twice")
        seen[str(tag)] = None
    return tuple(seen)


def _check_weights(queries: Sequence[Query], written: Sequence[QueryShape], reading: Reading) -> None:
    """Check that no weight is missing: it would count as 1 beside the others; a misspelt key is already noted."""
    lacking = [query for query, entry in zip(queries, written, strict=True) if entry.weight is None]
    sentence = lacking_weights([query.id for query in lacking], len(queries))
    if sentence and "weight" not in reading.broken:
        reading.problems.at(lacking[0].mark, sentence)


def _distinct(queries: Sequence[Query], problems: Problems) -> tuple[Query, ...]:
    distinct: dict[str, Query] = {}
    for query in queries:
        first = distinct.setdefault(query.id, query)
        if first is not query:
            problems.at(query.mark, f"the query id {query.id!r} is used twice, first at {first.mark}")
    return tuple(distinct.values())


def _add_judgments(entry: QueryShape, names: Mapping[str, float] | None, judgments: Judgments) -> None:
    for document, written in entry.judgments.items():
        grade = read_written_grade(written, names, judgments.problems)
        if grade is not None:
            judgments.add_inline(str(entry.id), str(document), grade, document.mark)
