"""What the judging page reads: the JSON of ``GET /session``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.session import JudgeView
from harness.files.judge_files import read_shown_params
from harness.model.judging import JudgeAnswer
from harness.model.run import Highlight
from harness.model.suite import Query


def build_session(view: JudgeView) -> dict[str, Any]:
    """*view* as JSON values."""
    task = view.task
    suite = task.suite
    choices = []
    for choice in task.choices:
        description = suite.grade_descriptions.get(choice.grade, "")
        choices.append(
            {"grade": choice.grade, "name": choice.name, "key": choice.key, "description": description.strip()}
        )
    return {
        "suite": suite.name,
        "judge": view.judge,
        "blind": view.blind,
        "notes": list(task.notes),
        "guidelines": suite.guidelines.strip(),
        "choices": choices,
        "quoted_field": suite.display.text,
        "searches": task.beyond is not None and not view.settles,
        "queries": [build_query(view, query) for query in list_queries(view)],
        "documents": [build_document(view, document) for document in view.list_documents()],
    }


def list_queries(view: JudgeView) -> list[Query]:
    """
    The queries in the order of the page: those with documents as the documents are, then the other selected ones.

    A judge who settles differences has none but those with documents.
    """
    queries = {query.id: query for query in view.task.suite.queries}
    ids = dict.fromkeys(document.query for document in view.list_documents())
    if not view.settles:
        ids |= dict.fromkeys(view.task.queries)
    return [queries[query] for query in ids]


def build_query(view: JudgeView, query: Query) -> dict[str, Any]:
    """A query, as JSON values; values of the environment are masked in them."""
    text = query.text
    if query.masked is not None and query.masked.get("text"):
        text = query.masked["text"]
    params = {}
    for name, value in read_shown_params(view.task.suite, query).items():
        params[name] = value if isinstance(value, str) else json.dumps(value)
    return {
        "id": query.id,
        "text": text or query.id,
        "need": query.need,
        "params": params,
        "tags": list(query.tags),
        "judged": len(query.judgments),
        "elsewhere": view.count_elsewhere(query.id),
    }


def build_document(view: JudgeView, document: PooledDocument) -> dict[str, Any]:
    """A document, with what the judge and others say of it, as JSON values."""
    pair = document.pair
    display = view.task.suite.display
    others = {} if view.blind else view.others.get(pair, {})
    return {
        "query": document.query,
        "document": document.document,
        "title": document.title,
        "title_parts": _split_highlight(document.highlights.get(display.title or ""), document.title or ""),
        "snippet": document.snippet,
        "fields": [_build_field(document, name) for name in document.texts],
        "image": document.image if _is_from(document.image, display.image_hosts) else None,
        "link": document.link,
        **build_answer(view.file.answers.get(pair)),
        "ranks": {} if view.blind else dict(document.ranks),
        "existing": None if view.blind else view.task.existing.get(pair),
        "others": [{"judge": judge, **build_answer(answer)} for judge, answer in others.items()],
    }


def build_answer(answer: JudgeAnswer | None) -> dict[str, Any]:
    """What a judge said of a document, as JSON values; None for nothing."""
    if answer is None:
        return {"grade": None, "cannot_tell": False, "comment": "", "quotes": []}
    comment = answer.comment
    if answer.machine is not None:
        comment = answer.machine.reason
    return {
        "grade": answer.grade,
        "cannot_tell": answer.cannot_tell,
        "comment": comment,
        "quotes": [{"text": quote.text, "grade": quote.grade, "from": quote.document} for quote in answer.quotes],
    }


def _build_field(document: PooledDocument, name: str) -> dict[str, Any]:
    """A text of *document*, in parts."""
    text = document.texts[name]
    return {"name": name, "text": text, "parts": _split_highlight(document.highlights.get(name), text)}


def _split_highlight(highlight: Highlight | None, text: str) -> list[str]:
    """
    *text* in parts: every second one, from the second on, has words of the query.

    >>> _split_highlight(Highlight("light red shoes", ((6, 9),)), "light red shoes")
    ['light ', 'red', ' shoes']
    """
    if highlight is None:
        return [text]
    parts = []
    end = 0
    for start, next_end in highlight.spans:
        parts += [highlight.text[end:start], highlight.text[start:next_end]]
        end = next_end
    return [*parts, highlight.text[end:]]


def _is_from(url: str | None, hosts: Sequence[str]) -> bool:
    """Whether *url* is on one of *hosts*, from which alone the page loads pictures."""
    if url is None:
        return False
    try:
        host = urlsplit(url).netloc
    except ValueError:
        return False
    return host.lower() in [known.lower() for known in hosts]
