"""
The queries of a suite, from the suite itself and from its query file, as `harness.model.Query`.

A file of queries is ``.tsv`` (id, tab, text, no header), ``.csv`` (a header with id, text and more columns), or
``.jsonl`` (objects with the keys of a query in a suite). Variables are not replaced in it: a query may contain `${`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from harness.errors import InputError, Problem
from harness.files.opening import FileProblems, TextSource, add_excerpts, read_source
from harness.files.tables import read_json_rows, read_number, read_table, remove_mark
from harness.files.vectors import is_array, read_ids, read_vectors
from harness.masking import fingerprint, names_login
from harness.model.suite import Json, Mark, Query, Threshold
from harness.suites.files import NamedFile, SuiteFiles
from harness.suites.grades import Judgments, read_written_grade
from harness.suites.placeholders import RESERVED, is_name
from harness.suites.quotes import merge_quotes, read_quotes
from harness.suites.reading import Reading, read_query
from harness.suites.scalars import format_optional, iterate_masked_variables, read_masked
from harness.suites.shape import QueryFileShape, QueryShape, VectorFileShape
from harness.suites.thresholds import ThresholdReader, read_waiver
from harness.suites.variants import WrittenVariants, add_variants, merge_variants
from harness.suites.yaml import ListNode, MappingNode, Node, Problems, ScalarNode, make_node
from harness.words import count, did_you_mean, listed

_MOST_BYTES = 256 * 2**20
_NO_PARAMS: Mapping[str, Json] = {}
"""The params of all queries without any, shared to save memory."""
_LISTS = ("tags", "thresholds", "expect", "variants", "markers")
_WAIVERS = ("xfail", "skip")
_COLUMNS = ("id", "text", "need", "nothing", "weight", "same_as", *_LISTS, "xfail", "xfail.until", "skip", "skip.until")
_ID_HEADERS = {"id", "qid", "query_id", "query id"}
_TEXT_HEADERS = {"text", "query", "query_text", "query text"}

_MUST_AGREE = ("text", "need", "nothing", "weight", *_WAIVERS)
"""The keys whose values must be the same where a query file and the suite both have them."""


@dataclass(frozen=True, slots=True)
class _WrittenQuery:
    """A query, and the keys of `_MUST_AGREE` that its source has; their values are in *query*."""

    query: Query
    given: tuple[str, ...]
    variants: WrittenVariants


_WrittenQueries: TypeAlias = dict[str, _WrittenQuery]
"""Written queries by their id."""


def list_queries(
    reading: Reading,
    files: SuiteFiles,
    grade_names: Mapping[str, float] | None,
    threshold_reader: ThresholdReader,
    judgments: Judgments,
) -> tuple[Query, ...] | None:
    """
    The suite's queries, each id once, without judgments; judgments written with a query go to *judgments*.

    Returns:
        None where they are unknown, because their file is wrong or its name holds a variable.
    """
    shape = reading.shape.queries
    masked = _find_masked_questions(reading) if reading.variables else {}
    reader = _QueryReader(reading, grade_names, threshold_reader, judgments, masked)
    path = shape.file if isinstance(shape, QueryFileShape) else shape
    from_file: _WrittenQueries = {}
    if isinstance(path, ScalarNode):
        file = files.find(path)
        queries = None if file is None else reader.read_file(file)
        if queries is None:
            return None
        from_file = queries
    inline: Sequence[QueryShape] = []
    if isinstance(shape, QueryFileShape):
        inline = shape.inline
    elif isinstance(shape, list):
        inline = shape
    from_suite = reader.read_all(inline, reading.problems)
    merged = _merge_queries(from_file, from_suite, reading.problems)
    _check_weights(list(merged.values()), reading)
    queries_by_id = {query_id: written.query for query_id, written in merged.items()}
    variants = {query_id: written.variants for query_id, written in merged.items()}
    if reading.shape.variants is None and all(written == WrittenVariants() for written in variants.values()):
        return tuple(queries_by_id.values())
    return add_variants(queries_by_id, variants, reading)


@dataclass(frozen=True, slots=True)
class _QueryReader:
    """
    Reads queries of a suite and of its query file; judgments written with a query go to *judgments*.

    *grade_names* are None if they are unknown. *masked* has the values of `Query.masked` by the place of the
    query's id.
    """

    reading: Reading
    grade_names: Mapping[str, float] | None
    threshold_reader: ThresholdReader
    judgments: Judgments
    masked: Mapping[Mark, Json]

    def read_file(self, file: NamedFile) -> _WrittenQueries | None:
        """The queries of *file*; None where it cannot be read, or a line of it is not a query."""
        suite_problems = self.reading.problems
        suffix = file.path.suffix.lower()
        if suffix not in _READERS:
            message = "expected a query file with the suffix .tsv, .csv or .jsonl"
            suite_problems.extend([Problem(file.name, 0, 0, message)])
            return None
        try:
            source = read_source(file.path, file.name, limit=_MOST_BYTES)
        except InputError as error:
            suite_problems.extend(error.problems)
            return None
        findings = FileProblems(file.name)
        line_problems = Problems(source)
        query_problems = Problems(source)
        queries = self.read_all(_iterate_shapes(_READERS[suffix](source, findings), line_problems), query_problems)
        wrong_lines = [*add_excerpts(file.path, findings.list_all()), *line_problems.found]
        if wrong_lines:
            # What is wrong with single queries may follow from these lines, such as from a shifted column.
            suite_problems.extend(wrong_lines)
            return None
        if not queries:
            query_problems.note(Mark(file.name), "the file has no queries")
        suite_problems.extend(query_problems.found)
        return queries

    def read_all(self, shapes: Iterable[QueryShape], problems: Problems) -> _WrittenQueries:
        """The queries of *shapes* by id; further ones with the same id are problems."""
        queries: _WrittenQueries = {}
        for shape in shapes:
            query = self._build_query(shape, problems)
            if query.id in queries:
                first = queries[query.id].query
                problems.note(
                    query.mark, f"the query id {query.id!r} is used twice, first at {first.mark}", "duplicate"
                )
                continue
            given = tuple(key for key in _MUST_AGREE if getattr(shape, key) is not None)
            queries[query.id] = _WrittenQuery(query, given, WrittenVariants(shape.variants, shape.same_as))
            for document, written in shape.judgments.items():
                grade = read_written_grade(written, self.grade_names, self.judgments.problems)
                if grade is not None:
                    self.judgments.add_inline(query.id, str(document), grade, document.mark)
        return queries

    def _build_query(self, shape: QueryShape, problems: Problems) -> Query:
        thresholds = self.threshold_reader.read_thresholds(shape.thresholds, problems, of_query=True)
        expectations: tuple[Threshold, ...] = ()
        if shape.expect:
            expectations = self.threshold_reader.read_expectations(shape.expect, problems, of_query=True)
        tags: dict[str, None] = {}
        for tag in shape.tags:
            if str(tag) in tags:
                problems.note(tag.mark, f"the tag {str(tag)!r} is given twice", "duplicate")
            tags[str(tag)] = None
        need, weight, params = "", 1.0, _NO_PARAMS
        if shape.need is not None:
            # Nothing sends it, so that no value of the environment is needed in it.
            need = shape.need.masked.strip()
        if shape.params:
            params = {str(name): value for name, value in shape.params.items()}
        if shape.weight is not None:
            weight = shape.weight
        return Query(
            id=str(shape.id),
            text=format_optional(shape.text) or "",
            quotes=read_quotes(shape.quotes, self.grade_names, self.judgments.problems) if shape.quotes else (),
            need=need,
            nothing=bool(shape.nothing),
            params=params,
            tags=tuple(tags),
            weight=weight,
            thresholds=thresholds + expectations,
            markers=tuple(map(str, shape.markers)),
            xfail=read_waiver(shape.xfail),
            skip=read_waiver(shape.skip),
            mark=shape.id.mark,
            masked=self.masked.get(shape.id.mark),
        )


def _find_masked_questions(reading: Reading) -> dict[Mark, Json]:
    """The value of `Query.masked` for each query with values from the environment, by the place of its id."""
    nodes = reading.root.find_child("queries")
    if isinstance(nodes, MappingNode):
        nodes = nodes.find_child("inline")
    masked: dict[Mark, Json] = {}
    if not isinstance(nodes, ListNode):
        return masked
    for node in nodes:
        if not isinstance(node, MappingNode) or "id" not in node:
            continue
        text, params = node.find_child("text"), node.find_child("params")
        names = {*iterate_masked_variables(text), *iterate_masked_variables(params)}
        if not names:
            continue
        # A login may change without changing what is asked, and nothing derived from it is stored.
        named = [name for name in reading.variables if name in names and not names_login(name)]
        masked[node.find_child("id").mark] = {
            "text": text.masked if isinstance(text, ScalarNode) else "",
            "params": {} if params is None else read_masked(params),
            "values": {name: fingerprint(reading.variables[name]) for name in named},
        }
    return masked


def _merge_queries(from_file: _WrittenQueries, from_suite: _WrittenQueries, problems: Problems) -> _WrittenQueries:
    """The queries of the file, each with what the suite adds to it, and then the other queries of the suite."""
    merged = dict(from_file)
    for query_id, written in from_suite.items():
        if query_id in from_file:
            written = _merge_query(from_file[query_id], written, problems)
        merged[query_id] = written
    return merged


def _merge_query(from_file: _WrittenQuery, from_suite: _WrittenQuery, problems: Problems) -> _WrittenQuery:
    """One query from its parts in the file and in the suite; keys in both must have the same value."""
    query, addition = from_file.query, from_suite.query
    values: dict[str, Any] = {}
    for key in _MUST_AGREE:
        first, second = getattr(query, key), getattr(addition, key)
        is_added = key in from_suite.given
        if is_added and key in from_file.given and first != second:
            problems.note(addition.mark, f"query {query.id!r} has another {key} at {query.mark}")
        values[key] = second if is_added else first
    for name in query.params.keys() & addition.params.keys():
        if query.params[name] != addition.params[name]:
            message = f"query {query.id!r} has another value of the param {name!r} at {query.mark}"
            problems.note(addition.mark, message)
    # Variables are not replaced in a file: only the part in the suite has values to be masked.
    masked = addition.masked
    if masked is not None:
        masked = {
            "text": masked["text"] or query.text,
            "params": {**query.params, **masked["params"]},
            "values": masked["values"],
        }
    merged = replace(
        query,
        params={**query.params, **addition.params},
        tags=tuple(dict.fromkeys((*query.tags, *addition.tags))),
        quotes=merge_quotes(query, addition, problems),
        thresholds=query.thresholds + addition.thresholds,
        markers=tuple(dict.fromkeys((*query.markers, *addition.markers))),
        masked=masked,
        **values,
    )
    given = tuple(dict.fromkeys((*from_file.given, *from_suite.given)))
    variants = merge_variants(from_file.variants, from_suite.variants)
    return _WrittenQuery(merged, given, variants)


def _check_weights(queries: Sequence[_WrittenQuery], reading: Reading) -> None:
    """Require a weight for all queries or none: a forgotten one would count as 1. Misspelt ones are noted already."""
    lacking = [written.query for written in queries if "weight" not in written.given]
    if len(lacking) in (0, len(queries)) or "weight" in reading.broken:
        return
    verb = "has" if len(lacking) == 1 else "have"
    ids = listed([query.id for query in lacking])
    reading.problems.note(
        lacking[0].mark,
        f"{len(lacking):,} of {count(len(queries), 'query')} {verb} no weight: {ids}; "
        "expected a weight for every query, or for none",
    )


# Query files: each line becomes the node that the same query would be in YAML.


def _iterate_shapes(rows: Iterable[MappingNode | QueryShape], problems: Problems) -> Iterator[QueryShape]:
    """The queries of a file one after the other, so that only one shape is in memory; *problems* is of its source."""
    for row in rows:
        shape = row if isinstance(row, QueryShape) else read_query(row, problems)
        if shape is not None:
            yield shape


def _read_tsv(source: TextSource, findings: FileProblems) -> Iterator[MappingNode | QueryShape]:
    is_first = True
    for number, line in source.drain_written_lines():
        columns = line.split("\t")
        if len(columns) != 2:
            found = f"found {count(len(columns), 'column')} separated by tabs"
            findings.add(number, f"{found}, expected 2: id, text", line)
        elif is_first and columns[0].strip().lower() in _ID_HEADERS and columns[1].strip().lower() in _TEXT_HEADERS:
            message = "found a header, which a .tsv does not have; remove the line, or name the file .csv"
            findings.add(number, message, line)
        else:
            query_id, text = columns
            yield make_row_of_two(query_id, text, Mark(source.path, number, 1))
        is_first = False


def make_row_of_two(query_id: str, text: str, mark: Mark) -> MappingNode | QueryShape:
    """The row of a `.tsv`: the query, or what `read_query` refuses with a sentence."""
    id_node, text_node = _make_text(query_id, mark), _make_text(text, mark)
    # Nothing else can be wrong in nearly all rows: scripts/bench/runner --by-hand.
    if query_id.strip() and query_id.isprintable() and text.strip():
        return QueryShape(id=id_node, text=text_node)
    return _make_mapping({"id": id_node, "text": text_node}, mark)


def _read_csv(source: TextSource, findings: FileProblems) -> Iterator[MappingNode]:
    lines = (f"{line}\n" for line in source.drain_lines())
    table = read_table(lines, findings, ["id"])
    if table is None:
        return
    # Of a file of something else, such as of ratings, every column would be unknown.
    can_be_read = table.need(["id", "text"])
    if not can_be_read:
        return
    for column in table.columns:
        if column not in _COLUMNS and not column.startswith("params."):
            can_be_read = False
            guess = did_you_mean(column, _COLUMNS)
            message = f"unknown column {column!r}, expected {', '.join(_COLUMNS)} or params.NAME{guess}"
            findings.add(table.line, message, table.text)
    if can_be_read:
        for line, cells in table:
            yield _make_row(dict(zip(table.columns, cells, strict=True)), Mark(source.path, line, 1))


def _make_row(row: Mapping[str, str], mark: Mark) -> MappingNode:
    """The query of a row; a list is one cell with semicolons between its items, and an empty cell is left out."""
    cells = {name: remove_mark(cell.strip()) for name, cell in row.items() if cell.strip()}
    texts: dict[str, Node] = {name: _make_text(cell, mark) for name, cell in cells.items()}
    query: dict[str, Node] = {name: texts[name] for name in ("id", "text", "need", "same_as") if name in texts}
    if "nothing" in cells:
        query["nothing"] = ScalarNode(cells["nothing"], mark, plain=True)
    if "weight" in cells:
        weight = cells["weight"]
        query["weight"] = ScalarNode(weight, mark, plain=read_number(weight) is not None)
    for name in _LISTS:
        if name in cells:
            items = [item.strip() for item in cells[name].split(";") if item.strip()]
            query[name] = ListNode(mark, [_make_text(item, mark) for item in items])
    for name in _WAIVERS:
        columns = {"reason": name, "until": f"{name}.until"}
        waiver = {key: texts[column] for key, column in columns.items() if column in texts}
        if waiver:
            query[name] = _make_mapping(waiver, mark)
    names = [name.removeprefix("params.") for name in texts if name.startswith("params.")]
    if names:
        query["params"] = _make_mapping({name: texts[f"params.{name}"] for name in names}, mark)
    return _make_mapping(query, mark)


def _read_json_lines(source: TextSource, findings: FileProblems) -> Iterator[MappingNode]:
    # The checks of a query find the keys that it lacks.
    for line, entry, text in read_json_rows(source.drain_written_lines(), findings, ("id", "text"), needed=False):
        mark = Mark(source.path, line, 1)
        try:
            yield _make_mapping({key: make_node(value, mark) for key, value in entry.items()}, mark)
        except RecursionError:
            findings.add(line, "the JSON is nested too deeply", text)


_READERS = {".tsv": _read_tsv, ".csv": _read_csv, ".jsonl": _read_json_lines}
"""The readers of query files, by suffix."""


def _make_text(text: str, mark: Mark) -> ScalarNode:
    return ScalarNode(text, mark, plain=False)


def _make_mapping(nodes: Mapping[str, Node], mark: Mark) -> MappingNode:
    return MappingNode(mark, [(_make_text(key, mark), node) for key, node in nodes.items()])


# Vectors of queries, from files of their own.


def add_vectors(queries: tuple[Query, ...], reading: Reading, files: SuiteFiles) -> tuple[Query, ...]:
    """
    Add the vectors in files to the params of *queries*.

    Where a file is wrong or not known yet, the vectors are empty, so that requests that use them have no further
    problems.
    """
    for key, written in reading.shape.vectors.items():
        name = str(key)
        if not is_name(name) or name in RESERVED:
            mark = reading.root.find_child("vectors").find_key(name).mark
            expected = f"the name of a placeholder other than {' and '.join(RESERVED)}"
            reading.problems.note(mark, f"found {name!r}, expected {expected}")
            continue
        vectors: Mapping[str, Json] = {}
        owner = next((query for query in queries if name in query.params), None)
        if owner is None:
            vectors = _read_vectors(written, queries, reading, files)
        else:
            message = f"query {owner.id!r} has a param {name!r}, which `vectors` has too"
            reading.problems.note(owner.mark, message)
        extended = []
        for query in queries:
            vector = vectors.get(query.id, [])
            masked = query.masked
            if masked is not None:
                masked = {**masked, "params": {**masked["params"], name: vector}}
            extended.append(replace(query, params={**query.params, name: vector}, masked=masked))
        queries = tuple(extended)
    return queries


def _read_vectors(
    written: ScalarNode | VectorFileShape, queries: Sequence[Query], reading: Reading, files: SuiteFiles
) -> Mapping[str, Json]:
    """The vector of each query in a file, by id; none where the file has problems, which are noted."""
    if isinstance(written, VectorFileShape):
        path, path_of_ids = written.file, written.ids
    else:
        path, path_of_ids = written, None
    file = files.find(path)
    file_of_ids = None if path_of_ids is None else files.find(path_of_ids)
    if file is None or (path_of_ids is not None and file_of_ids is None):
        return {}
    if file_of_ids is not None and not is_array(file.path):
        reading.problems.note(file_of_ids.written.mark, "only a .npy file has rows without ids; remove `ids`")
        return {}
    query_ids = [query.id for query in queries]
    try:
        if file_of_ids is None:
            return read_vectors(file.path, file.name, query_ids)
        rows = read_ids(file_of_ids.path, file_of_ids.name)
        return read_vectors(file.path, file.name, query_ids, rows=rows, rows_of=file_of_ids.name)
    except InputError as error:
        reading.problems.extend(error.problems)
        return {}
