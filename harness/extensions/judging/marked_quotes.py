"""Texts of documents that judges mark as quotes: which may be, and which of them the suite is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.session import RefusedGrade
from harness.files.judge_files import JudgeFile
from harness.metrics.quotes import find_share, fold_text
from harness.model.suite import Query, Quote, Suite
from harness.words import shorten

LONGEST_QUOTE = 2000
"""Characters of a quote."""

LONGEST_SOURCE = 200
"""Characters of the document that a quote is from."""


def name_source(document: PooledDocument, field_name: object) -> str:
    """
    The document that a quote of *document*, a hit, is from: the text of the field of that name, or the hit's id.

    Raises:
        RefusedGrade: The hit has no such field, or a long text in it.
    """
    if not field_name:
        return document.document
    source = document.texts.get(str(field_name), "")
    if not 0 < len(source) <= LONGEST_SOURCE:
        found = shorten(repr(field_name))
        raise RefusedGrade(
            f"found {found}, expected a field that names the document in 1 to {LONGEST_SOURCE} characters"
        )
    return source


def check_quote(quote: Quote, document: PooledDocument, suite: Suite) -> None:
    """
    Check that *document*, as it is shown, holds *quote*, which the *suite* may have and has not.

    Raises:
        RefusedGrade: It may not be marked.
    """
    query = next(query for query in suite.queries if query.id == document.query)
    if query.nothing:
        raise RefusedGrade(f"the suite says that no result is right for {query.id!r}, so it has no quotes")
    if not fold_text(quote.text) or len(quote.text) > LONGEST_QUOTE:
        raise RefusedGrade(f"found {len(quote.text):,} characters, expected a quote of 1 to {LONGEST_QUOTE:,}")
    shown = document.texts.get(suite.display.text or "", "")
    if quote.text.endswith("…") and shown.endswith(quote.text):
        raise RefusedGrade("the text goes on where the page cuts it; mark what is before the …")
    if find_share(fold_text(quote.text), fold_text(shown)) < 1:
        raise RefusedGrade(f"expected whole words of the text in {suite.display.text}")
    if any(known.key == quote.key for known in query.quotes):
        raise RefusedGrade("the suite has this quote already; change its grade there")


@dataclass(frozen=True, slots=True)
class NewQuotes:
    """The marked quotes that a suite has not, and the others."""

    by_query: dict[str, list[Quote]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of quotes that are not written, by the reason."""

    @property
    def number(self) -> int:
        """How many there are to write."""
        return sum(map(len, self.by_query.values()))

    def leave_out(self, query: str, reason: str) -> None:
        """Do not write those of *query*."""
        self.left_out[reason] += len(self.by_query.pop(query))


def list_new_quotes(judges: Iterable[JudgeFile], suite: Suite) -> NewQuotes:
    """
    The quotes that *judges* marked and *suite* has not, each once.

    One to which they gave different grades is left out, as is one that the suite could not have.
    """
    marked: dict[tuple[str, str], list[Quote]] = {}
    for judge_file in judges:
        for (name, _), answer in judge_file.answers.items():
            for quote in answer.quotes:
                marked.setdefault((name, quote.key), []).append(quote)
    queries = {query.id: query for query in suite.queries}
    new = NewQuotes()
    for (name, key), quotes in marked.items():
        query = queries.get(name)
        if query is not None and any((known.key, known.grade) == (key, quotes[0].grade) for known in query.quotes):
            continue
        reason = _find_obstacle(quotes, query, suite)
        if reason:
            new.left_out[reason] += 1
        else:
            new.by_query.setdefault(name, []).append(quotes[0])
    return new


def _find_obstacle(quotes: Sequence[Quote], query: Query | None, suite: Suite) -> str:
    """Why *query* of *suite* is not given what *quotes*, one text by several judges, say; empty where it is."""
    if query is None:
        return "the suite does not have the query"
    if any(known.key == quotes[0].key for known in query.quotes):
        return "the suite has it with another grade"
    if query.nothing:
        return "the suite says that no result is right for the query"
    if suite.display.text is None:
        return "the suite does not name the field `text` of `display`, in which quotes are looked for"
    if len({quote.grade for quote in quotes}) > 1:
        return "judges gave it different grades"
    return ""
