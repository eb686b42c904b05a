"""Imports datasets of ir_datasets by their ids; the package is an optional extra, and downloads datasets itself."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from harness.drafts.draft import Draft, DraftQuery
from harness.errors import UsageError, missing_package
from harness.extensions.migrate.trec import NEEDS
from harness.model.suite import Mark, Profile

_TEXTS = ("title", "query", "text", "keyword")
_NOTHING: Final[tuple[object, ...]] = (None, "", (), [], {})
"""Values of a field that contain no information."""

_QUERIES_ARE_DOCUMENTS = ("beir/arguana", "beir/quora")
"""Datasets whose queries are documents of the corpus, with the same ids."""


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
    return [_read_dataset(name, package) for name in sources]


def _read_dataset(name: str, package: Any) -> Draft:
    """The draft of the dataset *name*, read by *package*, which is ir_datasets; raises as `read`."""
    try:
        dataset = package.load(name)
    except KeyError:
        raise UsageError(f"ir_datasets has no dataset {name!r}") from None
    if not dataset.has_queries():
        hint = ""
        # Often only the parts of a dataset have queries, such as beir/scifact/test of beir/scifact.
        for part in package.registry:
            if part.startswith(f"{name}/") and package.load(part).has_queries():
                hint = f"; some below it have, such as {part}"
                break
        raise UsageError(f"the dataset {name!r} has no queries{hint}")
    draft = Draft(Profile.TREC, name=name.replace("/", "-"))
    draft.stranger_remark = "judgments of queries that the dataset does not have"
    place = Mark(name)
    if name.startswith(_QUERIES_ARE_DOCUMENTS):
        what = "that a query is a document of the corpus, which BEIR removes from its ranking"
        remedy = "leave it out with must_not in the request, or score a run with --remove-query"
        draft.add_leftover(place, f"{what}; {remedy}")
    queries: dict[str, DraftQuery] = {}
    for record in _read_all(name, dataset.queries_iter):
        query = draft.add(record.query_id, place, _find_text(record))
        queries[record.query_id] = query
        _add_fields(record, query, draft, place)
    if dataset.has_qrels():
        _add_judgments(_read_all(name, dataset.qrels_iter), queries, draft, place)
    other_parts = {
        "the documents; index them and name the index": dataset.has_docs(),
        "the scored documents, a run": dataset.has_scoreddocs(),
        "the pairs of documents": dataset.has_docpairs(),
        "the query log": dataset.has_qlogs(),
    }
    for what, is_there in other_parts.items():
        if is_there:
            draft.add_leftover(place, what)
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


def _find_text(query: Any) -> str | None:
    """
    The default text of *query*, as the package defines it; in older versions the first usual field that is not empty.

    None if the query has no text, for example if it is a document.
    """
    default = getattr(query, "default_text", None)
    if callable(default):
        return str(default() or "").strip() or None
    for name in _TEXTS:
        text = getattr(query, name, None)
        if text:
            return str(text)
    return None


def _add_fields(record: Any, query: DraftQuery, draft: Draft, place: Mark) -> None:
    """Keep description and narrative as the need, other fields as comments; note those that are no plain values."""
    needs = []
    for name in record._fields:
        value = getattr(record, name)
        if name == "query_id" or value in _NOTHING or str(value).strip() == query.text:
            continue
        if name in NEEDS and isinstance(value, str):
            needs.append(" ".join(value.split()))
        elif isinstance(value, (str, int, float)):
            query.remarks.append(f"{name}: {' '.join(str(value).split())}")
        else:
            draft.add_leftover(place, f"{name!r} of queries", first=f"query {record.query_id!r}")
    query.need = " ".join(needs)


def _add_judgments(judgments: Sequence[Any], queries: Mapping[str, DraftQuery], draft: Draft, place: Mark) -> None:
    """
    Give documents their grades: the highest one if a document is judged several times for a query.

    Other fields of judgments are noted, but not the iteration if it is the same for all judgments.
    """
    ignored = {"query_id", "doc_id", "relevance"}
    # The iteration of TREC qrels says nothing where all have the same, mostly 0; elsewhere it is often a subtopic.
    if len({getattr(judgment, "iteration", None) for judgment in judgments}) < 2:
        ignored.add("iteration")
    grades: dict[tuple[str, str], set[float]] = {}
    for judgment in judgments:
        query_id, document = judgment.query_id, judgment.doc_id
        grades.setdefault((query_id, document), set()).add(float(judgment.relevance))
        if query_id not in queries:
            continue
        for name in judgment._fields:
            value = getattr(judgment, name)
            if name not in ignored and value not in _NOTHING:
                first = f"{value!r} of document {document!r} for query {query_id!r}"
                draft.add_leftover(place, f"{name!r} of judgments", first=first)
    for (query_id, document), grades_of_document in grades.items():
        query = queries.get(query_id)
        if query is None:
            query = draft.find_or_add_stranger(query_id, place)
        draft.add_highest_judgment(query, document, grades_of_document, place)
