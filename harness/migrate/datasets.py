"""Datasets of ir_datasets, by their id; the package is an extra, and fetches what it lacks itself."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from harness.errors import UsageError
from harness.migrate.draft import Draft, DraftQuery
from harness.model import Profile

__all__ = ["read"]

_TEXTS = ("title", "query", "text", "keyword")


def read(sources: Sequence[str]) -> list[Draft]:
    """
    A suite for each dataset, such as ``vaswani`` or ``beir/scifact/test``.

    Raises:
        UsageError: The package is not installed, or has no such dataset, or that has no queries.
    """
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError:
        raise UsageError("ir_datasets needs an extra: pip install 'relevance-harness[datasets]'") from None
    return [_draft(name, package) for name in sources]


def _draft(name: str, package: Any) -> Draft:
    try:
        dataset = package.load(name)
    except KeyError:
        raise UsageError(f"ir_datasets has no dataset {name!r}") from None
    if not dataset.has_queries():
        raise UsageError(f"the dataset {name!r} has no queries; one with queries is below it, such as {name}/test")
    draft = Draft(Profile.TREC, name=name.replace("/", "-"))
    place = (name, 0, 0)
    known: dict[str, DraftQuery] = {}
    for one in dataset.queries_iter():
        known[one.query_id] = draft.add(one.query_id, place, _text(one))
        for extra in one._fields:
            if extra not in ("query_id", *_TEXTS[:3]) and getattr(one, extra):
                draft.leave(place, f"{extra!r} of queries")
    for one in dataset.qrels_iter() if dataset.has_qrels() else ():
        query = known.get(one.query_id)
        if query is None:
            draft.leave(place, "judgments of queries that the dataset does not have")
        else:
            draft.judge(query, one.doc_id, float(one.relevance), place)
    if dataset.has_docs():
        draft.leave(place, "the documents; index them and name the index")
    if dataset.has_scoreddocs():
        draft.leave(place, "the scored documents, a run")
    return draft


def _text(query: Any) -> str:
    """What the package itself takes for the query's text; in its older versions the first of the usual fields."""
    default = getattr(query, "default_text", None)
    return (
        str(default()) if callable(default) else next(str(getattr(query, key)) for key in _TEXTS if hasattr(query, key))
    )
