"""One query on a terminal: its ranking with grades beside it, and the relevant documents that are missing from it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.model import MissingDocument, MovedDocument, QueryReport, RankedDocument
from harness.report.run_sentences import MISSING_SHOWN, RANKS_SHOWN, grade_text, known_text, missing_place
from harness.report.sentences import plain_text, printable
from harness.report.terminal.layout import columns, indented
from harness.words import count

__all__ = ["grade_cell", "query_renderables"]


TITLE_CELLS = 48


def query_renderables(
    query: QueryReport, measure: str | None = None, *, concerns: str | None = None
) -> Iterator[RenderableType]:
    """
    A heading with the score of *measure*, or of all measures, the ranking, and the missing relevant documents.

    *concerns* says why the query is looked at.
    """
    yield _heading(query, measure)
    if concerns is not None:
        yield indented(Text(f"concerns {printable(concerns)}", style="dim"))
    if query.reason:
        yield indented(Text(printable(query.reason)))
    if query.ranking:
        yield indented(_ranking_table(query.ranking[:RANKS_SHOWN]))
    if len(query.ranking) > RANKS_SHOWN:
        yield indented(Text(f"and {count(len(query.ranking) - RANKS_SHOWN, 'hit')} more", style="dim"))
    if query.missing:
        yield indented(_missing_table(query.missing[:MISSING_SHOWN]))
    if len(query.missing) > MISSING_SHOWN:
        left = count(len(query.missing) - MISSING_SHOWN, "relevant document")
        yield indented(Text(f"and {left} more missing", style="dim"))


def grade_cell(document: RankedDocument | MovedDocument) -> Text:
    """The grade in the colour of its gain."""
    style = "dim" if document.grade is None else "green" if (document.gain or 0) > 0 else "red"
    return Text(grade_text(document), style=style)


def _heading(query: QueryReport, measure: str | None) -> Text:
    text = Text.assemble(("query ", "dim"), (printable(query.id), "bold"))
    if query.text and query.text != query.id:
        text.append(f"  {printable(query.text)}")
    return text.append(f"  ({printable(known_text(query, measure))})", style="dim")


def _ranking_table(ranking: tuple[RankedDocument, ...]) -> Table:
    table = columns()
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("document", overflow="fold")
    table.add_column("grade", justify="right", no_wrap=True)
    table.add_column("gain", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    tied = any(document.tied for document in ranking)
    if tied:
        table.add_column("")
    titled = any(document.title for document in ranking)
    if titled:
        table.add_column("title", overflow="fold")
    for document in ranking:
        tie = [Text("tied" if document.tied else "")] if tied else []
        table.add_row(*_cells(document), *tie, *([_title(document.title)] if titled else []))
    return table


def _cells(document: RankedDocument) -> list[Text]:
    return [
        Text(str(document.rank)),
        Text(printable(document.id)),
        grade_cell(document),
        Text(plain_text(document.gain)),
        Text("–" if document.score is None else f"{document.score:.5g}"),
    ]


def _title(title: str | None) -> Text:
    text = Text(printable(title or ""))
    text.truncate(TITLE_CELLS, overflow="ellipsis")
    return text


def _missing_table(missing: tuple[MissingDocument, ...]) -> Table:
    table = columns()
    table.add_column("missing relevant document", overflow="fold")
    table.add_column("grade", justify="right", no_wrap=True)
    table.add_column("where it is", overflow="fold")
    titled = any(document.title for document in missing)
    if titled:
        table.add_column("title", overflow="fold")
    for document in missing:
        title = [_title(document.title)] if titled else []
        table.add_row(Text(printable(document.id)), plain_text(document.grade), missing_place(document), *title)
    return table
