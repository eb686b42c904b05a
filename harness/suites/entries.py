"""The queries that a suite lists, or names a file of, as the model has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import SuiteError
from harness.model import Gain, Json, Mark, Query
from harness.suites.conditions import read_expectations, read_thresholds, read_waiver
from harness.suites.files import SuiteFiles
from harness.suites.grading import read_grade
from harness.suites.judging import Judgments
from harness.suites.leaves import is_masked, read_masked
from harness.suites.nodes import ListNode, MappingNode, Node, Written
from harness.suites.problems import Problems
from harness.suites.query_files import read_queries
from harness.suites.reading import Reading
from harness.suites.shape import QueryShape
from harness.suites.weights import lacking_weights


def list_queries(
    reading: Reading, files: SuiteFiles, names: Mapping[str, float] | None, gain: Gain | None, judgments: Judgments
) -> tuple[Query, ...] | None:
    """
    The suite's queries, each id once, without judgments; those that stand in the suite go to *judgments*.

    Returns:
        None where they cannot be told, since their file is wrong or its name holds a variable.
    """
    written = reading.shape.queries
    if isinstance(written, Written):
        stored = _from_file(written, files, reading.problems)
        return None if stored is None else _distinct(stored, reading.problems)
    masked = _masked_questions(reading.root.child("queries")) if reading.variables else {}
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
        problems.at(Mark(file.name), "the file holds no queries")
    return queries


def _masked_questions(nodes: Node | None) -> dict[Mark, Json]:
    """Text and params of each query that has values from the environment in them, masked, by the place of its id."""
    queries = [node for node in nodes if isinstance(node, MappingNode)] if isinstance(nodes, ListNode) else []
    return {
        query.child("id").mark: {
            "text": text.masked if isinstance(text := query.child("text"), Written) else "",
            "params": {} if (params := query.child("params")) is None else read_masked(params),
        }
        for query in queries
        if "id" in query and (is_masked(query.child("text")) or is_masked(query.child("params")))
    }


def _query(entry: QueryShape, gain: Gain | None, reading: Reading, masked: Json) -> Query:
    problems, checking = reading.problems, reading.checking
    own = read_thresholds(entry.thresholds, gain, problems, of_query=True, checking=checking)
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
    """A weight that was forgotten would count as 1 beside the others; one that was misspelt is told already."""
    lacking = [query for query, entry in zip(queries, written, strict=True) if entry.weight is None]
    sentence = lacking_weights([query.id for query in lacking], len(queries))
    if sentence and "weight" not in reading.broken:
        reading.problems.at(lacking[0].mark, sentence)


def _distinct(queries: Sequence[Query], problems: Problems) -> tuple[Query, ...]:
    distinct: dict[str, Query] = {}
    for query in queries:
        first = distinct.setdefault(query.id, query)
        if first is not query:
            problems.at(query.mark, f"the query id {query.id!r} is taken, first at {first.mark}")
    return tuple(distinct.values())


def _add_judgments(entry: QueryShape, names: Mapping[str, float] | None, judgments: Judgments) -> None:
    for document, written in entry.judgments.items():
        grade = read_grade(written, names, judgments.problems)
        if grade is not None:
            judgments.add_inline(str(entry.id), str(document), grade, document.mark)
