"""
A pool as files to grade: each is a judgment file without grades.

Everything beside query, document and grade is for people, and not read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from harness.errors import UsageError
from harness.extensions.judging.model import Pool, PooledDocument
from harness.files.tables import format_table
from harness.report.safe_text import join_lines, printable
from harness.suites.dumping import quote_doubly
from harness.words import grouped, shorten

_SHOWN_LENGTH = 200
"""Characters of a field's text."""

_LONGEST_PLAIN_KEY = 1000
"""The longest key, in characters, that YAML allows without a question mark before it."""


def format_pool_csv(pool: Pool) -> str:
    """
    Columns query, document, grade, text, need, title, snippet, one for each field that is shown, and one with the rank
    for each run.

    There is a need only where a query has one.

    A cell that a spreadsheet would take for a formula, a number or a date begins with an apostrophe, which the reader
    of judgments removes. Text beyond ASCII begins with a byte order mark: without one a spreadsheet does not recognise
    UTF-8, and writes other ids back.

    Raises:
        UsageError: An id holds what a CSV file cannot return: a carriage return, a NUL or a lone surrogate.
    """
    runs = [coverage.run for coverage in pool.coverage]
    fields: dict[str, None] = {}
    for document in pool.documents:
        fields |= dict.fromkeys(document.texts)
    rank_headings = ["rank"] if len(runs) == 1 else [f"rank {printable(run)}" for run in runs]
    has_needs = any(document.need for document in pool.documents)
    need_heading = ["need"] if has_needs else []
    # With a word before it, as an index may have a field named "grade", which a reader would take for the grades.
    field_headings = [f"field {printable(field)}" for field in fields]
    text_headings = ["text", *need_heading, "title", "snippet", *field_headings]
    rows: list[list[object]] = []
    for document in pool.documents:
        _require_writable("query", document.query)
        _require_writable("document", document.document)
        need = [join_lines(document.need)] if has_needs else []
        texts = [printable(text or "") for text in (document.text, *need, document.title, document.snippet)]
        texts += [printable(shorten(document.texts.get(field, ""), _SHOWN_LENGTH)) for field in fields]
        ranks = [document.ranks.get(run, "") for run in runs]
        rows.append([document.query, document.document, "", *texts, *ranks])
    return format_table(["query", "document", "grade", *text_headings, *rank_headings], rows)


def format_pool_yaml(pool: Pool) -> str:
    """
    Query to document, without grades, with a comment on each document above it.

    The lines below a query may also be put under its `judgments` in the suite.
    """
    lines = [f"# {printable(pool.suite)}: unjudged documents of the top {pool.depth}; write a grade after each colon"]
    by_query = grouped((document.query, document) for document in pool.documents)
    for query, documents in by_query.items():
        lines.append("")
        text = documents[0].text
        if text and text != query:
            lines.append(f"# {printable(text)}")
        if documents[0].need:
            lines.append(f"# need: {printable(join_lines(documents[0].need))}")
        lines.append(_format_key(query))
        for document in documents:
            lines += [f"  # {line}" for line in _describe_document(document, pool)]
            lines.append(_format_key(document.document, "  "))
    return "\n".join(lines) + "\n"


POOL_WRITERS: Mapping[str, Callable[[Pool], str]] = {"csv": format_pool_csv, "yaml": format_pool_yaml}


def _require_writable(what: str, identity: str) -> None:
    has_surrogate = any(0xD800 <= ord(character) <= 0xDFFF for character in identity)
    if "\r" in identity or "\0" in identity or has_surrogate:
        raise UsageError(f"the id of {what} {identity!r} cannot be written to a CSV file; use yaml=FILE")


def _describe_document(document: PooledDocument, pool: Pool) -> Iterator[str]:
    """The ranks and the title, then the snippet and the fields."""
    if len(pool.coverage) == 1:
        ranks = [f"rank {rank}" for rank in document.ranks.values()]
    else:
        ranks = [f"{run} {rank}" for run, rank in document.ranks.items()]
    line = ", ".join(ranks)
    if document.title:
        line += f" | {document.title}"
    yield printable(line)
    if document.snippet:
        yield printable(document.snippet)
    for field, text in document.texts.items():
        yield printable(f"{field}: {shorten(text, _SHOWN_LENGTH)}")


def _format_key(text: str, indent: str = "") -> str:
    """*text* as a key in double quotes, with the colon behind it."""
    quoted = quote_doubly(text)
    if len(quoted) < _LONGEST_PLAIN_KEY:
        return f"{indent}{quoted}:"
    return f"{indent}? {quoted}\n{indent}:"
