"""One query looked at by itself, as text."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.model import Contributions, QueryInspection, QueryReport, RankContribution, RankedDocument, TiedDocuments
from harness.report.curl import curl_line
from harness.report.run_sentences import known_text
from harness.report.sentences import plain_text, printable, score_text
from harness.report.terminal import columns, grade_cell, indented
from harness.report.terminal.run import hit_score, missing_renderables, title_cell

__all__ = ["contribution_table", "inspection_renderables"]


def inspection_renderables(inspection: QueryInspection) -> Iterator[RenderableType]:
    """The query, its request, its ranking rank by rank, and what is missing. A plain text is one line to be copied."""
    yield from _heading(inspection)
    yield Text()
    yield from _request(inspection)
    yield Text()
    yield from _ranking(inspection)
    for note in inspection.notes:
        yield Text(printable(note), style="dim")


def _heading(inspection: QueryInspection) -> Iterator[RenderableType]:
    query = inspection.query
    yield Text.assemble((printable(inspection.suite), "bold"), "  ", (printable(inspection.path), "dim"))
    table = Table.grid(padding=(0, 2))
    where = f"{inspection.engine} at {inspection.cluster}"
    facts = {
        "engine": where if inspection.index is None else f"{where}, index {inspection.index}",
        "request": inspection.request,
        "query": f"{query.id}  {query.text}" if query.text not in ("", query.id) else query.id,
        "scores": known_text(query),
    }
    for name, fact in facts.items():
        table.add_row(Text(f"  {name}", style="dim"), Text(printable(fact)))
    yield table
    if query.reason:
        yield indented(Text(printable(query.reason), style="yellow"))


def _request(inspection: QueryInspection) -> Iterator[RenderableType]:
    sent = inspection.sent
    yield Text("request as sent", style="bold")
    yield indented(Text(printable(f"{sent.method} {sent.url}"), overflow="fold"))
    if sent.body is not None:
        body = json.dumps(sent.body, indent=2, ensure_ascii=False)
        yield indented(Text("\n".join(map(printable, body.splitlines()))))
    yield Text()
    yield printable(curl_line(sent))
    if sent.fingerprint:
        yield Text("curl does not check the `fingerprint` of the certificate: add --cacert FILE", style="dim")


def _ranking(inspection: QueryInspection) -> Iterator[RenderableType]:
    query, found = inspection.query, inspection.contributions
    if query.ranking or found:
        yield Text("ranking", style="bold")
    if found:
        yield indented(Text(contributions_text(found)))
    if query.ranking or found:
        yield indented(contribution_table(query, found))
        yield Text()
    for tied in inspection.ties:
        yield indented(Text(printable(tied_text(tied)), style="yellow"))
    if inspection.ties:
        yield Text()
    if query.missing:
        yield from missing_renderables(query, shown=None)
        yield Text()


def contributions_text(found: Contributions) -> str:
    """What the ranks come to, in words."""
    gained = f"{found.measure}, gain {found.gain}: the ranks add {score_text(found.dcg)}"
    if not found.ideal:
        return f"{gained}; no judged document has a positive gain"
    return f"{gained} of the {score_text(found.ideal)} of the ideal ranking"


def tied_text(tied: TiedDocuments) -> str:
    """Which documents tie, in words."""
    last = tied.rank + len(tied.documents) - 1
    ranks = f"rank {tied.rank}" if last == tied.rank else f"ranks {tied.rank} to {last}"
    below = f", with {', '.join(tied.below)} below the ranking" if tied.below else ""
    others = "" if tied.closed else ", and possibly others below"
    return f"tied with the score {tied.score:.5g}: {', '.join(tied.documents)} ({ranks}){below}{others}"


def contribution_table(query: QueryReport, found: Contributions | None, *, short: bool = False) -> Table:
    """
    The ranking with what each rank adds to the DCG and loses against the ideal ranking.

    Where *short*, only ranks that count, without gain, discount, score and title.
    """
    by_document = {} if found is None else {one.document: one for one in found.ranks if one.document is not None}
    empty = [] if found is None else [one for one in found.ranks if one.document is None]
    ranking = [one for one in query.ranking if not short or one.id in by_document]
    titled, tied = any(one.title for one in ranking), any(one.tied for one in ranking)
    table = columns()
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("document", overflow="fold")
    for heading in ("grade", *(() if short else ("gain", "discount")), "adds", "loses", *(() if short else ("score",))):
        table.add_column(heading, justify="right", no_wrap=True)
    if not short and tied:
        table.add_column("")
    if not short and titled:
        table.add_column("title", overflow="fold")
    for document in ranking:
        rest = [] if short else [hit_score(document)]
        rest += [Text("tied" if document.tied else "")] if tied and not short else []
        rest += [title_cell(document.title)] if titled and not short else []
        table.add_row(*_cells(document, by_document.get(document.id), short=short), *rest)
    for rank in empty:
        table.add_row(str(rank.rank), Text("no hit", style="dim"), "", *_figures(rank, short=short))
    if found is not None:
        blank = [""] if short else ["", "", ""]
        table.add_row("", Text("sum", style="dim"), *blank, score_text(found.dcg), score_text(found.ideal - found.dcg))
    return table


def _cells(document: RankedDocument, rank: RankContribution | None, *, short: bool) -> list[Text | str]:
    figures = ["–"] * (2 if short else 4) if rank is None else _figures(rank, short=short)
    return [str(document.rank), Text(printable(document.id)), grade_cell(document), *figures]


def _figures(rank: RankContribution, *, short: bool) -> list[str]:
    worth = [] if short else [plain_text(rank.gain), score_text(rank.discount)]
    return [*worth, score_text(rank.adds), score_text(rank.loses)]
