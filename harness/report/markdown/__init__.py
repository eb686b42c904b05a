"""A document as Markdown, for GitHub's job summary or to post elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch

from harness.model.report import MissingSuite, Report, SuiteReport
from harness.model.run import Status
from harness.report.attention import LOOKED_AT, find_attention
from harness.report.document import (
    Block,
    Cell,
    Code,
    ColumnKind,
    Details,
    Difference,
    Drawing,
    Facts,
    Heading,
    Notes,
    Paragraph,
    Queries,
    QuerySection,
    Rankings,
    Section,
    Span,
    Table,
    ThresholdLine,
    Thresholds,
    Tone,
    join_spans,
)
from harness.report.markdown.escape import (
    LARGEST_SUMMARY,
    MOST_TEXT,
    NOTES_SHOWN,
    Piece,
    choose_sign,
    escape,
    escape_inside,
    fit_pieces,
    format_block,
    format_code,
    format_table,
)
from harness.report.run_document import build_run_document, has_decisions
from harness.words import count

REFUSAL_SHOWN = 20_000
"""Characters of the reason why nothing ran."""

MOST_DIFF = 10_000
"""Characters of a difference between two texts."""

_MOST_TITLE = 80
"""Characters of a title, which may be a whole description."""

THRESHOLDS_SHOWN = 100

BOLD = (Tone.BEST, Tone.BAD, Tone.WARNING, Tone.UNDECIDED)
"""Tones that Markdown sets apart."""


def render(report: Report, *, limit: int = LARGEST_SUMMARY) -> str:
    """*report* in at most *limit* bytes of UTF-8; its first lines, which are always there, take a few hundred."""
    document = build_run_document(report)
    heading = f"## {choose_sign(report.exit_status, decided=has_decisions(report))} {document.headline}"
    pieces = [Piece(0, "suite", _print_missing(suite)) for suite in report.missing]
    if document.overview is not None:
        pieces.append(Piece(0, "table", "\n\n".join(print_block(document.overview)) + "\n"))
    for suite, section in zip(report.suites, document.sections, strict=True):
        pieces += _print_suite(suite, section)
    return fit_pieces(f"{heading}\n\n{join_spans(document.closing)}\n", pieces, limit)


def render_refusal(text: str) -> str:
    """Why nothing ran, in the words of the terminal."""
    return f"## ❌ Nothing was decided\n\n{format_block(text, most=REFUSAL_SHOWN)}\n"


def _print_missing(suite: MissingSuite) -> str:
    return f"### {escape(suite.path)}\n\n❌ It did not run.\n\n{format_block(suite.reason, most=REFUSAL_SHOWN)}\n"


def _print_suite(suite: SuiteReport, section: Section) -> Iterator[Piece]:
    """The suite, then each of its queries: the first query of each suite takes precedence over the second of any."""
    paragraphs = [f"### {escape(section.title[0].text)}", format_code(suite.path)]
    for block in section.blocks:
        paragraphs += print_block(block)
    is_calm = not find_attention(suite).verdicts and not suite.unanswered
    yield Piece(int(is_calm), "suite", "\n\n".join(paragraphs) + "\n")
    yield from print_queries(section.blocks)


def print_queries(blocks: Iterable[Block]) -> Iterator[Piece]:
    """Each of the queries in *blocks*, and below them how many more there are."""
    for block in blocks:
        if isinstance(block, Queries):
            for turn, query in enumerate(block.queries, start=2):
                yield Piece(turn, "query", print_query(query))
            if block.more:
                yield Piece(2, "note", f"{escape(block.more)}\n")


# Blocks, as paragraphs.


@singledispatch
def print_block(block: Block) -> Iterator[str]:
    """The paragraphs of one block; a drawing has nothing for a text, and queries are pieces of their own."""
    assert isinstance(block, Drawing | Queries)
    return iter(())


@print_block.register
def _print_heading(block: Heading) -> Iterator[str]:
    yield f"{'#' * block.level} {escape(block.text)}"


@print_block.register
def _print_paragraph(block: Paragraph) -> Iterator[str]:
    yield print_cell(block.text)


@print_block.register
def _print_facts(block: Facts) -> Iterator[str]:
    if block.heading:
        yield escape(block.heading)
    yield "\n".join(f"- {escape(fact.name)} {print_cell(fact.text)}" for fact in block.facts)


@print_block.register
def _print_code(block: Code) -> Iterator[str]:
    yield format_block(block.text, most=MOST_DIFF)


@print_block.register
def _print_difference(block: Difference) -> Iterator[str]:
    lines = "\n".join([*block.lines, block.remark])
    yield f"{escape(block.heading)}\n\n{format_block(lines, most=MOST_DIFF, language='diff')}"


@print_block.register
def _print_rankings(block: Rankings) -> Iterator[str]:
    yield from print_table(block.beside)


@print_block.register
def _print_details(block: Details) -> Iterator[str]:
    yield escape(block.summary)
    for part in block.blocks:
        yield from print_block(part)


def print_cell(cell: Cell) -> str:
    """The spans of *cell*, one after another, for a place that is not the start of a line."""
    texts = []
    for span in cell:
        most = _MOST_TITLE if span.is_title else None
        text = format_code(span.text) if span.is_name else escape_inside(span.text, most=most)
        texts.append(_emphasize(text, span))
    return "".join(texts)


def _emphasize(text: str, span: Span) -> str:
    """*text*, which is that of *span*, in bold if the tone is one to set apart."""
    if span.tone not in BOLD:
        return text
    return f"**{text}**"


@print_block.register
def print_table(content: Table) -> Iterator[str]:
    """The table, and its remarks in one paragraph."""
    headings = []
    figures = []
    for column in content.columns:
        heading = format_code(column.heading) if column.is_name else escape(column.heading)
        headings.append(heading)
        if column.kind in (ColumnKind.FIGURE, ColumnKind.SCORE):
            figures.append(heading)
    rows = [[print_cell(cell) for cell in row] for row in content.rows]
    yield format_table(headings, rows, right=figures)
    if content.remarks:
        yield escape("; ".join(content.remarks))


@print_block.register
def print_notes(notes: Notes) -> Iterator[str]:
    """A list of the first of *notes*, one by itself as a paragraph; and how many more there are."""
    texts = []
    for span in notes.lines[:NOTES_SHOWN]:
        warning = "⚠️ " if span.tone is Tone.WARNING else ""
        texts.append(warning + _emphasize(escape(span.text, most=MOST_TEXT), span))
    if len(texts) == 1:
        yield texts[0]
    elif texts:
        # Another sign than that of facts, so that GitHub does not take both for one list.
        yield "\n".join(f"* {text}" for text in texts)
    if len(notes.lines) > NOTES_SHOWN:
        yield f"and {count(len(notes.lines) - NOTES_SHOWN, 'more note')}"


@print_block.register
def print_thresholds(thresholds: Thresholds) -> Iterator[str]:
    """A table with the reasons, and how many more there are; the passed ones of single queries are only counted."""
    if thresholds.unanswered:
        yield f"**ERROR** {count(thresholds.unanswered, 'threshold')}: no query has an answer"
    shown = thresholds.thresholds[:THRESHOLDS_SHOWN]
    if shown:
        headings = ["verdict", "threshold", "observed", "required", "why"]
        yield format_table(headings, map(_print_threshold, shown), right=["observed", "required"])
    if len(thresholds.thresholds) > THRESHOLDS_SHOWN:
        yield f"and {count(len(thresholds.thresholds) - THRESHOLDS_SHOWN, 'more threshold')}"
    if thresholds.passed_of_queries:
        yield f"{count(thresholds.passed_of_queries, 'threshold')} of single queries passed"


def _print_threshold(threshold: ThresholdLine) -> list[str]:
    """The cells of a threshold: its status, the threshold, the observed and the required number, and why."""
    verdict = threshold.verdict
    status = str(verdict.status)
    if verdict.status in LOOKED_AT:
        status = f"**{status.upper()}**"
    name = format_code(verdict.threshold)
    if verdict.query is not None:
        name += f" (query {format_code(verdict.query)})"
    # The reason of a pass only repeats its figures.
    if verdict.status in (Status.PASSED, Status.SKIPPED):
        why = escape(threshold.caveat, most=MOST_TEXT)
    else:
        why = escape("; ".join(threshold.details), most=MOST_TEXT)
        if verdict.mark.line:
            why += f" {format_code(str(verdict.mark))}"
    return [status, name, escape(threshold.observed), escape(threshold.required), why]


# Queries, each folded below a line that names it.


def print_query(query: QuerySection) -> str:
    """*query*, folded below a line with its id, its text and what is known of it."""
    text = ""
    if query.text not in ("", query.id):
        text = f" {escape(query.text, most=MOST_TEXT)}"
    paragraphs = []
    if query.need:
        paragraphs.append(f"need: {escape(query.need, most=MOST_TEXT)}")
    if query.concerns:
        paragraphs.append(f"concerns {format_code(query.concerns, most=MOST_TEXT)}")
    for part in query.blocks:
        paragraphs += print_block(part)
    summary = f"query {format_code(query.id)}{text} ({escape(query.known)})"
    body = "\n\n".join(paragraphs)
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>\n"
