"""Imports datasets of ir_datasets by their ids; the package is an optional extra, and downloads datasets itself."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from harness.errors import UsageError, missing_package
from harness.migrate.draft import Draft, DraftQuery
from harness.model import Mark, Profile

_TEXTS = ("title", "query", "text", "keyword")
_NOTHING: Final[tuple[object, ...]] = (None, "", (), [], {})
"""Values of a field that contain no information."""


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read a suite from each of *sources*, ids of datasets such as ``vaswani`` or ``beir/scifact/test``.

    Raises:
        UsageError: The package is not installed or cannot use its folder, or a dataset does not exist, has no queries
            or cannot be read.
        InputError: A document of a dataset has no id.
    """
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError:
        raise missing_package("datasets need", "ir_datasets", "datasets") from None
    except OSError as error:  # the package creates its folder on import
        raise UsageError(f"ir_datasets cannot use its folder: {error}; IR_DATASETS_HOME names another") from None
    return [_draft(name, package) for name in sources]


def _draft(name: str, package: Any) -> Draft:
    try:
        dataset = package.load(name)
    except KeyError:
        raise UsageError(f"ir_datasets has no dataset {name!r}") from None
    if not dataset.has_queries():
        below = [one for one in package.registry if one.startswith(f"{name}/") and package.load(one).has_queries()]
        such = f"; some below it have, such as {below[0]}" if below else ""
        raise UsageError(f"the dataset {name!r} has no queries{such}")
    draft = Draft(Profile.TREC, name=name.replace("/", "-"))
    place = Mark(name)
    known: dict[str, DraftQuery] = {}
    for one in _read_all(name, dataset.queries_iter):
        known[one.query_id] = query = draft.add(one.query_id, place, _text(one))
        _take_fields(one, query, draft, place)
    if dataset.has_qrels():
        _take_judgments(_read_all(name, dataset.qrels_iter), known, draft, place)
    for is_there, what in (
        (dataset.has_docs, "the documents; index them and name the index"),
        (dataset.has_scoreddocs, "the scored documents, a run"),
        (dataset.has_docpairs, "the pairs of documents"),
        (dataset.has_qlogs, "the query log"),
    ):
        if is_there():
            draft.leave(place, what)
    return draft


def _read_all(name: str, iterate: Callable[[], Iterable[Any]]) -> list[Any]:
    """
    All items of *iterate*; the package may download the dataset first.

    Raises:
        UsageError: They cannot be read. The package passes on the exceptions of its parts, so all are caught.
    """
    try:
        return list(iterate())
    except Exception as error:  # see above
        reason = str(error.args[0]) if error.args else type(error).__name__
        raise UsageError(f"ir_datasets cannot read the dataset {name!r}: {reason}") from None


def _text(query: Any) -> str | None:
    """
    The default text of *query*, as the package defines it; in older versions the first usual field that is not empty.

    None if the query has no text, for example if it is a document.
    """
    default = getattr(query, "default_text", None)
    if callable(default):
        return str(default() or "").strip() or None
    return next((str(text) for key in _TEXTS if (text := getattr(query, key, None))), None)


def _take_fields(one: Any, query: DraftQuery, draft: Draft, place: Mark) -> None:
    """Keep the other fields, such as descriptions and narratives, as comments; note those that are no plain values."""
    for name in one._fields:
        value = getattr(one, name)
        if name == "query_id" or value in _NOTHING or str(value).strip() == query.text:
            continue
        if isinstance(value, (str, int, float)):
            query.remarks.append(f"{name}: {' '.join(str(value).split())}")
        else:
            draft.leave(place, f"{name!r} of queries", first=f"query {one.query_id!r}")


def _take_judgments(judgments: Sequence[Any], known: Mapping[str, DraftQuery], draft: Draft, place: Mark) -> None:
    """
    Give documents their grades: the highest one if a document is judged several times for a query.

    Other fields of judgments are noted, but not the iteration if it is the same for all judgments.
    """
    one_iteration = len({getattr(one, "iteration", None) for one in judgments}) < 2
    unsaid = {"query_id", "doc_id", "relevance", *(["iteration"] if one_iteration else [])}
    grades: dict[tuple[str, str], set[float]] = {}
    for one in judgments:
        if one.query_id not in known:
            draft.leave(place, "judgments of queries that the dataset does not have", first=f"query {one.query_id!r}")
            continue
        grades.setdefault((one.query_id, one.doc_id), set()).add(float(one.relevance))
        for name in one._fields:
            value = getattr(one, name)
            if name not in unsaid and value not in _NOTHING:
                first = f"{value!r} of document {one.doc_id!r} for query {one.query_id!r}"
                draft.leave(place, f"{name!r} of judgments", first=first)
    for (query_id, document), found in grades.items():
        draft.judge_highest(known[query_id], document, found, place)
