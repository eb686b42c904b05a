"""What the judging page can ask of its server for one judge: each action takes the view and what the page sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from harness.agreement import Pair
from harness.errors import UsageError
from harness.extensions.judging.marked_quotes import check_quote, name_source
from harness.extensions.judging.page.session_json import build_answer, build_document, build_session
from harness.extensions.judging.session import JudgeView, RefusedGrade
from harness.extensions.judging.texts import fingerprint_texts
from harness.metrics.quotes import make_quote
from harness.model.judging import JudgeAnswer
from harness.words import shorten


def show_session(view: JudgeView, sent: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """All that the page shows."""
    return build_session(view)


LONGEST_COMMENT = 4000
"""Characters of a comment."""


def record_grade(view: JudgeView, sent: Mapping[str, Any]) -> dict[str, Any]:
    """
    Keep a grade, take it away where it is null, or keep that the judge cannot tell.

    The comment stays if none is sent with it.
    """
    pair, grade = (str(sent.get("query")), str(sent.get("document"))), sent.get("grade")
    if "grade" not in sent:
        raise RefusedGrade("found no grade, expected a number, or null to take the grade away")
    view.check_grade(pair, grade)
    cannot_tell = sent.get("cannot_tell") is True
    if cannot_tell and grade is not None:
        raise RefusedGrade("found a grade and that the judge cannot tell, expected one of them")
    before = view.file.answers.get(pair)
    comment = sent.get("comment", "" if before is None else before.comment)
    if not isinstance(comment, str) or len(comment) > LONGEST_COMMENT:
        raise RefusedGrade(f"expected a text of at most {LONGEST_COMMENT:,} characters as a comment")
    document = view.find_document(pair)
    replaced_grade = None
    if grade is not None:
        grade = float(grade)
        replaced_grade = view.find_replaced_grade(pair)
    answer = JudgeAnswer(
        *pair,
        grade,
        cannot_tell=cannot_tell,
        comment=comment,
        settles=view.settles,
        replaces=replaced_grade,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        shown={} if document is None else fingerprint_texts(document, view.task.suite.display),
        quotes=() if before is None else before.quotes,
    )
    view.file.record(answer)
    return describe_grade(view, pair)


def record_quote(view: JudgeView, sent: Mapping[str, Any]) -> dict[str, Any]:
    """
    Keep that a `text` of the document is a quote with a `grade`, or remove the quote where that is null.

    It is from the document that its field `from` names, or from the one with the id of the hit.
    """
    pair, text, grade = (str(sent.get("query")), str(sent.get("document"))), sent.get("text"), sent.get("grade")
    view.check_grade(pair, grade)
    document = view.find_document(pair)
    if not isinstance(text, str) or "grade" not in sent or document is None:
        raise RefusedGrade("expected the text of a quote with its grade, or null to remove it")
    before = view.file.answers.get(pair)
    if before is None:
        time = datetime.now(UTC).isoformat(timespec="seconds")
        shown = fingerprint_texts(document, view.task.suite.display)
        before = JudgeAnswer(*pair, None, settles=view.settles, time=time, shown=shown)
    quote = make_quote(" ".join(text.split()), document=name_source(document, sent.get("from")))
    quotes = [other for other in before.quotes if other.key != quote.key]
    if grade is not None:
        check_quote(quote, document, view.task.suite)
        if grade <= 0:
            raise RefusedGrade("a quote is what hits should hold; expected a grade above 0")
        quotes.append(replace(quote, grade=float(grade)))
    # What else was said of the document stays as it was, with its time.
    view.file.record(replace(before, quotes=tuple(quotes), undoes=False))
    return describe_grade(view, pair)


def find_documents(view: JudgeView, sent: Mapping[str, Any]) -> dict[str, Any]:
    """
    Documents of a query, wherever they rank: the hits for other `words`, the one with the id `document`, or those that
    the suite judges. They can be graded from then on.
    """
    query, words, document = str(sent.get("query")), sent.get("words"), sent.get("document")
    beyond = view.task.beyond
    if beyond is None or query not in view.task.queries:
        raise UsageError("no documents can be searched for this query")
    missing = 0
    if sent.get("judged") is True:
        ids = [judged for asked, judged in view.task.existing if asked == query]
        found = beyond.find_ids(query, ids)
        missing = len(ids) - len(found)
    elif isinstance(document, str):
        found = beyond.find_ids(query, [document])
        if not found:
            raise UsageError(f"found no document with the id {shorten(document)!r}{beyond.id_remedy}")
    elif isinstance(words, str):
        found = beyond.search_words(query, words)
    else:
        raise UsageError("expected words to search, or the id of a document")
    view.task.add_found(found)
    return {"documents": [build_document(view, document) for document in found], "missing": missing}


def undo_grade(view: JudgeView, sent: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Undo the last step of the judge."""
    pair = view.file.undo()
    return {} if pair is None else describe_grade(view, pair)


def describe_grade(view: JudgeView, pair: Pair) -> dict[str, Any]:
    """A document of which the judge says something else, and what that is now."""
    return {"query": pair[0], "document": pair[1], **build_answer(view.file.answers.get(pair))}


ACTIONS: dict[tuple[str, str], Callable[[JudgeView, Mapping[str, Any]], dict[str, Any]]] = {
    ("GET", "/session"): show_session,
    ("POST", "/grade"): record_grade,
    ("POST", "/quote"): record_quote,
    ("POST", "/undo"): undo_grade,
    ("POST", "/search"): find_documents,
}
"""By method and path; each is called while the judge's lock is held."""
