"""One query's two rankings side by side on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.model import MovedDocument, QueryComparison
from harness.report.comparison_words import change_mark, known_texts, left_mark
from harness.report.figures import counted_text
from harness.report.printable import printable
from harness.report.ranking_words import RANKS_SHOWN
from harness.report.terminal.layout import Fitting, columns, indented
from harness.report.terminal.rankings import grade_cell

TITLE_CELLS = 28
LEAST_WIDTH = 80
"""Columns that two rankings beside each other need."""

STYLES = {"entered": "cyan", "left": "magenta", "tied": "dim"}


def beside_renderables(query: QueryComparison, *, concerns: str = "") -> Iterator[RenderableType]:
    """What changed, and the two rankings beside each other; *concerns* says why the query is looked at."""
    yield _heading(query)
    if concerns:
        yield indented(Text(f"concerns {printable(concerns)}", style="dim"))
    if not query.documents:
        return
    yield indented(Fitting(_beside(query), _below(query), LEAST_WIDTH))
    ranks = max(max(document.reference or 0, document.candidate or 0) for document in query.documents)
    if ranks > RANKS_SHOWN:
        yield indented(Text(f"and {counted_text(ranks - RANKS_SHOWN, 'rank')} more", style="dim"))


def _heading(query: QueryComparison) -> Text:
    text = Text.assemble(("query ", "dim"), (printable(query.id), "bold"))
    if query.text and query.text != query.id:
        text.append(f"  {printable(query.text)}")
    return text.append(f"  ({printable('; '.join(known_texts(query)))})", style="dim")


def _beside(query: QueryComparison) -> Table:
    """A line a rank: the reference's document, whether it left, how the candidate's came there, and that."""
    table = columns()
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("reference", overflow="fold", ratio=1)
    table.add_column("grade", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=4)
    table.add_column("", no_wrap=True, min_width=7)
    table.add_column("candidate", overflow="fold", ratio=1)
    table.add_column("grade", justify="right", no_wrap=True)
    before = {one.reference: one for one in query.documents if one.reference is not None}
    after = {one.candidate: one for one in query.documents if one.candidate is not None}
    for rank in range(1, min(RANKS_SHOWN, max([*before, *after])) + 1):
        table.add_row(str(rank), *_cells(before, after, rank))
    return table


def _cells(before: Mapping[int, MovedDocument], after: Mapping[int, MovedDocument], rank: int) -> list[Text]:
    first, second = before.get(rank), after.get(rank)
    return [
        *([_named(first), grade_cell(first), _mark(left_mark(first))] if first else [Text()] * 3),
        *([_mark(change_mark(second)), _named(second), grade_cell(second)] if second else [Text()] * 3),
    ]


def _below(query: QueryComparison) -> Table:
    """The same for a narrow terminal: a line a document, with its rank before and now."""
    table = columns()
    table.add_column("was", justify="right", no_wrap=True)
    table.add_column("now", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("document", overflow="fold")
    table.add_column("grade", justify="right", no_wrap=True)
    for document in query.documents:
        if min(document.reference or RANKS_SHOWN + 1, document.candidate or RANKS_SHOWN + 1) <= RANKS_SHOWN:
            ranks = (Text("–" if rank is None else str(rank)) for rank in (document.reference, document.candidate))
            mark = _mark(change_mark(document) or left_mark(document))
            table.add_row(*ranks, mark, _named(document), grade_cell(document))
    return table


def _mark(mark: str) -> Text:
    return Text(mark, style=STYLES.get(mark, ""))


def _named(document: MovedDocument) -> Text:
    text = Text(printable(document.id))
    if document.title:
        title = Text(printable(document.title), style="dim")
        title.truncate(TITLE_CELLS, overflow="ellipsis")
        text.append(" ").append_text(title)
    return text
