"""One query on a terminal: its ranking with grades, what changed since a baseline, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.model import MissingDocument, MovedDocument, QueryComparison, QueryReport
from harness.report.run_sentences import (
    MISSING_SHOWN,
    RANKS_SHOWN,
    grade_text,
    known_text,
    left_documents,
    missing_place,
    old_ranks,
)
from harness.report.sentences import hit_score_text, plain_text, printable
from harness.report.terminal import columns, grade_cell, indented, plain, right, safe
from harness.words import count


def query_block(query: QueryReport, measure: str | None = None) -> str:
    """One query's ranking with grades, and its missing relevant documents, as text without colors."""
    return plain(query_renderables(query, measure))


TITLE_CELLS = 48


def query_renderables(
    query: QueryReport, measure: str | None = None, *, concerns: str = ""
) -> Iterator[RenderableType]:
    """
    A heading with the score of *measure*, or of all measures, the ranking, and the missing relevant documents.

    *concerns* says why the query is shown.
    """
    yield from query_heading(query, known_text(query, measure), concerns)
    if query.reason:
        yield indented(safe(query.reason))
    if query.ranking:
        yield indented(_ranking_table(query))
    if len(query.ranking) > RANKS_SHOWN:
        yield indented(Text(f"and {count(len(query.ranking) - RANKS_SHOWN, 'hit')} more", style="dim"))
    yield from map(indented, query_since_baseline(query))
    yield from missing_renderables(query)


def missing_renderables(query: QueryReport, shown: int | None = MISSING_SHOWN) -> Iterator[RenderableType]:
    """The first *shown* missing relevant documents, all where None, and how many more there are."""
    if query.missing:
        yield indented(_missing_table(query.missing[:shown]))
    left = 0 if shown is None else len(query.missing) - shown
    if left > 0:
        yield indented(Text(f"and {count(left, 'relevant document')} more missing", style="dim"))


def query_heading(query: QueryReport | QueryComparison, known: str, concerns: str) -> Iterator[RenderableType]:
    """The id and the text of *query* with what is *known* of it; and what it *concerns*, if anything."""
    text = Text.assemble(("query ", "dim"), (printable(query.id), "bold"))
    if query.text and query.text != query.id:
        text.append(f"  {printable(query.text)}")
    yield text.append(f"  ({printable(known)})", style="dim")
    if concerns:
        yield indented(Text(f"concerns {printable(concerns)}", style="dim"))


def query_since_baseline(query: QueryReport) -> Iterator[RenderableType]:
    """The documents that left since the baseline, and that only ties changed their order."""
    if query.baseline is not None and query.baseline.ties_only:
        yield Text("since the baseline only tied documents changed their order", style="dim")
    left = left_documents(query)
    if left:
        yield _left_table(left[:RANKS_SHOWN])
    if len(left) > RANKS_SHOWN:
        yield Text(f"and {count(len(left) - RANKS_SHOWN, 'document')} more that left", style="dim")


def _left_table(left: Sequence[MovedDocument]) -> Table:
    titled = any(document.title for document in left)
    table = columns("left since the baseline", right("grade"), right("was"), "title" if titled else None)
    for document in left:
        title = [title_cell(document.title)] if titled else []
        table.add_row(safe(document.id), grade_cell(document), f"{document.reference:,}", *title)
    return table


def ranking_columns(figures: Iterable[str], *, before: bool, tied: bool, titled: bool) -> Table:
    """A table of ranked documents with *figures*, and the old ranks, ties and titles where they are known."""
    return columns(
        right("rank"),
        right("was") if before else None,
        "document",
        *map(right, figures),
        Column() if tied else None,
        "title" if titled else None,
    )


def _ranking_table(query: QueryReport) -> Table:
    ranking, before = query.ranking[:RANKS_SHOWN], old_ranks(query)
    tied, titled = any(document.tied for document in ranking), any(document.title for document in ranking)
    table = ranking_columns(("grade", "gain", "score"), before=bool(before), tied=tied, titled=titled)
    for document in ranking:
        tie = [Text("tied" if document.tied else "")] if tied else []
        was = [Text(before.get(document.id, ""), style="bold")] if before else []
        title = [title_cell(document.title)] if titled else []
        cells = (safe(document.id), grade_cell(document), plain_text(document.gain), hit_score_text(document.score))
        table.add_row(str(document.rank), *was, *cells, *tie, *title)
    return table


def title_cell(title: str | None) -> Text:
    """A title, cut where it is long."""
    text = safe(title or "")
    text.truncate(TITLE_CELLS, overflow="ellipsis")
    return text


def _missing_table(missing: tuple[MissingDocument, ...]) -> Table:
    titled = any(document.title for document in missing)
    table = columns("missing relevant document", right("grade"), "where it is", "title" if titled else None)
    for document in missing:
        title = [title_cell(document.title)] if titled else []
        table.add_row(safe(document.id), grade_text(document), missing_place(document), *title)
    return table
