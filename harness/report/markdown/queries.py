"""One query in Markdown: its ranking with grades, and what is missing from it, folded below a line that names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.model import MissingDocument, QueryReport, RankedDocument
from harness.report.figures import counted_text, plain_text
from harness.report.markdown.escape import code, escape
from harness.report.markdown.notes import MOST_TEXT
from harness.report.markdown.tables import table
from harness.report.ranking_words import MISSING_SHOWN, RANKS_SHOWN, grade_text, known_text, missing_place

__all__ = ["query_markdown"]


MOST_TITLE = 80
"""Characters of a title, which may be a whole description."""


def query_markdown(query: QueryReport, concerns: str) -> str:
    """*query*, folded; *concerns* names the thresholds that blame it."""
    text = f" {escape(query.text, most=MOST_TEXT)}" if query.text not in ("", query.id) else ""
    summary = f"query {code(query.id)}{text} ({escape(known_text(query))})"
    body = "\n\n".join(_body(query, concerns))
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>\n"


def _body(query: QueryReport, concerns: str) -> Iterator[str]:
    if concerns:
        yield f"concerns {code(concerns, most=MOST_TEXT)}"
    if query.reason:
        yield escape(query.reason, most=MOST_TEXT)
    if query.ranking:
        yield _ranking(query.ranking[:RANKS_SHOWN])
    if len(query.ranking) > RANKS_SHOWN:
        yield f"and {counted_text(len(query.ranking) - RANKS_SHOWN, 'hit')} more"
    if query.missing:
        yield _missing(query.missing[:MISSING_SHOWN])
    if len(query.missing) > MISSING_SHOWN:
        yield f"and {counted_text(len(query.missing) - MISSING_SHOWN, 'relevant document')} more missing"


def _ranking(ranking: Sequence[RankedDocument]) -> str:
    rows = [
        [
            str(document.rank),
            code(document.id),
            grade_text(document),
            plain_text(document.gain),
            ("–" if document.score is None else f"{document.score:.5g}") + (" (tied)" if document.tied else ""),
            escape(document.title or "", most=MOST_TITLE),
        ]
        for document in ranking
    ]
    headings = ["rank", "document", "grade", "gain", "score", "title"]
    return table(headings, rows, right=["rank", "grade", "gain", "score"])


def _missing(missing: Sequence[MissingDocument]) -> str:
    rows = [
        [
            code(document.id),
            plain_text(document.grade),
            missing_place(document),
            escape(document.title or "", most=MOST_TITLE),
        ]
        for document in missing
    ]
    return table(["missing relevant document", "grade", "where it is", "title"], rows, right=["grade"])
