"""
A pool as files to grade: each is a judgment file without grades.

Everything beside query, document and grade is for people, and not read back.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from harness.errors import UsageError
from harness.files.records import mark_as_text
from harness.files.yaml import in_double_quotes
from harness.model import Pool, PooledDocument
from harness.report.sentences import printable

_BYTE_ORDER_MARK = "\ufeff"
_LONGEST_PLAIN_KEY = 1000
"""The longest key, in characters, that YAML allows without a question mark before it."""


def pool_csv(pool: Pool) -> str:
    """
    Columns query, document, grade, text, title, snippet, and one with the rank for each run.

    A cell that a spreadsheet would take for a formula, a number or a date begins with an apostrophe, which the reader
    of judgments removes. Text beyond ASCII begins with a byte order mark: without one a spreadsheet does not recognise
    UTF-8, and writes other ids back.

    Raises:
        UsageError: An id holds what a CSV file cannot return: a carriage return, a NUL or a lone surrogate.
    """
    runs = [coverage.run for coverage in pool.coverage]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    ranks = ["rank"] if len(runs) == 1 else [f"rank {printable(run)}" for run in runs]
    writer.writerow(["query", "document", "grade", "text", "title", "snippet", *ranks])
    for one in pool.documents:
        _require_writable(one)
        words = [mark_as_text(printable(text or "")) for text in (one.text, one.title, one.snippet)]
        ids = [mark_as_text(one.query), mark_as_text(one.document)]
        writer.writerow([*ids, "", *words, *(one.ranks.get(run, "") for run in runs)])
    text = written.getvalue()
    return text if text.isascii() else _BYTE_ORDER_MARK + text


def pool_yaml(pool: Pool) -> str:
    """
    Query to document, without grades, with a comment on each document above it.

    The lines below a query may also be put under its `judgments` in the suite.
    """
    lines = [f"# {printable(pool.suite)}: unjudged documents of the top {pool.depth}; write a grade after each colon"]
    for query, documents in groupby(pool.documents, key=lambda one: one.query):
        known = list(documents)
        text = known[0].text
        lines += ["", *([f"# {printable(text)}"] if text and text != query else []), _key(query)]
        for one in known:
            lines += [f"  # {line}" for line in _about(one, pool)]
            lines.append(_key(one.document, "  "))
    return "\n".join(lines) + "\n"


WRITERS: Mapping[str, Callable[[Pool], str]] = {"csv": pool_csv, "yaml": pool_yaml}


def _require_writable(one: PooledDocument) -> None:
    for what, text in (("query", one.query), ("document", one.document)):
        if "\r" in text or "\0" in text or any(0xD800 <= ord(character) <= 0xDFFF for character in text):
            raise UsageError(f"the id of {what} {text!r} cannot be written to a CSV file; use yaml=FILE")


def _about(one: PooledDocument, pool: Pool) -> Iterator[str]:
    runs = [coverage.run for coverage in pool.coverage]
    ranks = [f"rank {rank}" if len(runs) == 1 else f"{run} {rank}" for run, rank in one.ranks.items()]
    yield printable(" | ".join([", ".join(ranks), *([one.title] if one.title else [])]))
    if one.snippet:
        yield printable(one.snippet)


def _key(text: str, indent: str = "") -> str:
    """*text* as a key in double quotes, with the colon behind it."""
    quoted = in_double_quotes(text)
    if len(quoted) < _LONGEST_PLAIN_KEY:
        return f"{indent}{quoted}:"
    return f"{indent}? {quoted}\n{indent}:"
