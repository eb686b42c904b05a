"""What the judging page reads: the JSON of ``GET /session``."""

from __future__ import annotations

import json
from typing import Any

from harness.files.judge_files import read_shown_params
from harness.judging.session import JudgeView
from harness.model import PooledDocument, Query


def build_session(view: JudgeView) -> dict[str, Any]:
    """*view* as JSON values."""
    task = view.task
    queries = {query.id: query for query in task.suite.queries}
    return {
        "suite": task.suite.name,
        "judge": view.judge,
        "blind": view.blind,
        "notes": list(task.notes),
        "choices": [{"grade": choice.grade, "name": choice.name, "key": choice.key} for choice in task.choices],
        "documents": [build_document(view, document, queries[document.query]) for document in view.documents],
    }


def build_document(view: JudgeView, document: PooledDocument, query: Query) -> dict[str, Any]:
    """A document and its query, as JSON values; values of the environment are masked in those of the query."""
    pair = (document.query, document.document)
    text = query.text
    if query.masked is not None and query.masked.get("text"):
        text = query.masked["text"]
    params = {}
    for name, value in read_shown_params(view.task.suite, query).items():
        params[name] = value if isinstance(value, str) else json.dumps(value)
    others = {} if view.blind else view.others.get(pair, {})
    return {
        "query": document.query,
        "document": document.document,
        "text": text or query.id,
        "params": params,
        "title": document.title,
        "snippet": document.snippet,
        "fields": dict(document.texts),
        "grade": view.file.grades.get(pair),
        "ranks": {} if view.blind else dict(document.ranks),
        "existing": None if view.blind else view.task.existing.get(pair),
        "others": {judge: answer.grade for judge, answer in others.items()},
        "comments": {judge: answer.comment for judge, answer in others.items() if answer.comment},
    }
