"""The printer of documents as HTML: a page with its styles and its script, or a piece for a notebook."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, ClassVar

from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_environment
from markupsafe import Markup, escape

from harness.model.request import SentRequest
from harness.model.run import Highlight
from harness.report.attention import is_hardly_judged
from harness.report.document import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Document,
    Drawing,
    Link,
    Span,
    Tone,
    join_spans,
    make_notes,
    split_marked,
)
from harness.report.html.charts import Strip, choose_shade, place_meter, plot_bins
from harness.report.overview import format_mean_change
from harness.report.run_sentences import (
    describe_held_quotes,
    describe_place,
    describe_quote_places,
    find_left_documents,
    find_old_ranks,
    format_grade,
    format_query_change,
)
from harness.report.safe_text import printable
from harness.report.sentences import (
    explain_no_interval,
    format_difference,
    format_matching,
    format_mean_interval,
    format_score,
    format_tally,
    format_value,
    name_mean_column,
)
from harness.words import count, shorten

SCRIPT = "report.js"
"""The script of a report's pages."""


_BREAKS = re.compile(r"(?=@)|(?<=,)")


def allow_breaks(measure: str) -> Markup:
    """*measure*, whose text may continue on the next line before its cutoff and between its parameters."""
    return Markup("<wbr>").join(map(printable, _BREAKS.split(measure)))


@dataclass(frozen=True, slots=True)
class Columns(Drawing):
    """Blocks beside each other."""

    template: ClassVar[str] = "blocks.html.jinja"

    columns: Sequence[Sequence[Block]]


@dataclass(frozen=True, slots=True)
class FirstQueries(Drawing):
    """A sentence with links to the queries to look at first, whose rankings are printed on paper too."""

    template: ClassVar[str] = "blocks.html.jinja"

    text: Cell


@dataclass(frozen=True, slots=True)
class Part(Drawing):
    """Blocks that open below their *heading*; *digest* says beside it what they come to."""

    template: ClassVar[str] = "blocks.html.jinja"

    heading: str
    blocks: Sequence[Block]
    digest: str = ""
    anchor: str = ""
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """A document, and what a page has around it."""

    document: Document
    product: str
    """What kind of page it is."""
    footer: Cell
    created: str = ""
    """When it was made; *maker* says by what."""
    maker: str = ""
    style: str = ""
    """The file of its own styles, beside those that every page has."""
    script: str = SCRIPT
    data: str = ""
    """JSON for its script."""


def render_page(page: Page) -> str:
    """*page* as HTML; each block is printed by the macro of its kind."""
    style = _read_template("report.css")
    if page.style:
        style += _read_template(page.style)
    script = _read_template(page.script)
    return (
        _make_environment()
        .get_template("page.html.jinja")
        .render(
            page=replace(page, data=_embed_json(page.data)),
            style=Markup(style),
            script=Markup(script),
            style_hash=_hash_source(style),
            script_hash=_hash_source(script),
        )
    )


def render_piece(blocks: Iterable[Block]) -> str:
    """*blocks* as a piece of HTML, without styles and scripts."""
    environment = _make_environment()
    printed = Markup("\n").join(_print_block(environment, block) for block in blocks)
    return Markup('<div class="relevance">\n{}\n</div>').format(printed)


def _embed_json(text: str) -> Markup:
    """JSON as a script element can hold it: no tag and no comment begins in it."""
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@pass_environment
def _print_block(environment: Environment, block: Block) -> Markup:
    """*block*, by the macro that has the name of its kind."""
    template = block.template if isinstance(block, Drawing) else "blocks.html.jinja"
    macro = getattr(environment.get_template(template).module, type(block).__name__)
    return Markup(macro(block))


LONGEST_NAME = 300
LONG_NAME = 60
"""Characters of a name that may take several lines, of which the first are shown."""
LONGEST_TITLE = 120

_TONES = {
    Tone.QUIET: "muted",
    Tone.STRONG: "strong",
    Tone.GOOD: "rise",
    Tone.POOR: "fall",
    Tone.BEST: "strong rise",
    Tone.BAD: "strong fall",
    Tone.UNDECIDED: "strong",
}
"""The class of a text by its tone; the others are as plain ones."""


def print_cell(cell: Cell) -> Markup:
    """The spans of *cell*, one after another."""
    return Markup("").join(map(_print_span, cell))


def _print_span(span: Span) -> Markup:
    """*span* as HTML: a status as a chip, a title or a name by its length, all in the tone, and linked if it is."""
    if span.status is not None:
        name = span.status.replace(" ", "-")
        return Markup('<span class="chip status-{}">{}</span>').format(name, span.text)
    if span.is_title:
        text = Markup('<bdi class="title">{}</bdi>').format(printable(shorten(span.text, LONGEST_TITLE)))
    elif span.is_name or span.link is not None:
        text = _print_name(span)
    else:
        text = escape(printable(span.text))
    if span.tone in _TONES and span.text:
        text = Markup('<span class="{}">{}</span>').format(_TONES[span.tone], text)
    if span.link is not None:
        text = _print_link(span.link, text)
    return text


def _print_name(span: Span) -> Markup:
    """A name, which is cut; of one that takes many lines the first are shown."""
    text = printable(shorten(span.text, LONGEST_NAME))
    classes = []
    if span.is_name:
        classes.append("id")
    if len(text) > LONG_NAME:
        classes.append("clamped")
    if not classes:
        return escape(text)
    return Markup('<bdi class="{}">{}</bdi>').format(" ".join(classes), text)


def _print_link(link: Link, text: Markup) -> Markup:
    """*text* as a link, with what the page's script reads of it."""
    attributes = {"href": link.address}
    for name, value in link.data.items():
        attributes[f"data-{name}"] = value
    if link.label:
        attributes["aria-label"] = printable(link.label)
    pairs = Markup(" ").join(Markup('{}="{}"').format(name, value) for name, value in attributes.items())
    return Markup("<a {}>{}</a>").format(pairs, text)


def _capitalize(text: str) -> str:
    """*text* with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def _print_heading(column: Column) -> str | Markup:
    """The heading of a column: a name may break before its cutoff, and a symbol of one letter stays small."""
    if column.is_name:
        return allow_breaks(column.heading)
    if len(column.heading) == 1:
        return column.heading
    return _capitalize(column.heading)


def _mark_sign(change: str) -> Markup:
    """A change since a baseline in the colour of its sign; nothing for none."""
    if not change:
        return Markup("")
    css_class = {"+": "rise", "-": "fall"}.get(change[:1], "muted")
    return Markup('<span class="since {}">{}</span>').format(css_class, change)


# A table of queries has thousands of the following two, which templates take three times as long to print:
# scripts/bench/report-page. Their texts are numbers that `sentences` and `charts` made, with nothing to escape.


def print_figure(text: str, value: float | None, step: str = "") -> Markup:
    """A cell of a table with a number as *text*; the page's script sorts by *value*, and *step* is its colour."""
    css_class = f"number {step}" if step else "number"
    sorted_by = "" if value is None else f' data-v="{value}"'
    return Markup(f'<td class="{css_class}"{sorted_by}>{text}</td>')


def print_strip(strip: Strip) -> Markup:
    """The grades of the first hits of a query as small cells in their colours."""
    parts = [f'<span class="strip" role="img" aria-label="{strip.label}">']
    for shade, text in strip.cells:
        if shade:
            parts.append(f'<i class="{shade}">{text}</i>')
        else:
            parts.append(f"<i>{text}</i>")
    parts.append("</span>")
    return Markup("".join(parts))


@cache
def _make_environment() -> Environment:
    """What jinja renders the templates with: filters and tests by the names that templates use."""
    environment = Environment(
        loader=FunctionLoader(_read_template), autoescape=True, undefined=StrictUndefined, finalize=_make_printable
    )
    environment.filters |= {
        "breakable": allow_breaks,
        "capital": _capitalize,
        "cell": print_cell,
        "clipped": shorten,
        "counted": count,
        "difference": format_difference,
        "tally": format_tally,
        "figure": print_figure,
        "grade_text": format_grade,
        "heading": _print_heading,
        "joined": join_spans,
        "listed": lambda texts: ", ".join(texts),  # jinja's own join returns markup, which is not made printable again
        "marked": mark_words,
        "mean_heading": lambda weighted: name_mean_column(weighted=weighted),
        "mean_interval": format_mean_interval,
        "meter_marks": place_meter,
        "no_interval": explain_no_interval,
        "number": lambda count: "–" if count is None else f"{count:,}",
        "plain": format_value,
        "plotted": plot_bins,
        "printed": _print_block,
        "score": format_score,
        "shade": choose_shade,
        "since": _mark_sign,
        "strip": print_strip,
        "status_class": lambda status: "status-" + status.replace(" ", "-"),
        "change": format_mean_change,
        "changed": format_query_change,
        "hardly_judged": is_hardly_judged,
        "left": find_left_documents,
        "matching": format_matching,
        "missing_place": describe_place,
        "held_quotes": describe_held_quotes,
        "quote_places": describe_quote_places,
        "old_ranks": find_old_ranks,
        "ranks": lambda query: {document.id: document.rank for document in query.ranking},
        "request_lines": format_request,
    }
    environment.tests |= {
        "figure": lambda column: column.kind in (ColumnKind.FIGURE, ColumnKind.SCORE),
        "trend": lambda column: column.kind is ColumnKind.TREND,
        "warning": lambda span: span.tone is Tone.WARNING,
    }
    return environment


@cache
def _read_template(name: str) -> str:
    """A file beside the templates of every page; a name with folders is that of one of the package."""
    path = name
    if "/" not in name:
        path = f"report/html/templates/{name}"
    return (resources.files("harness") / path).read_text(encoding="utf-8")


def mark_words(text: str, marked: tuple[tuple[int, int], ...], length: int) -> Markup:
    """*text*, cut to *length* characters, with the places of words that are *marked* in it."""
    shown = Highlight(text, marked).shorten(length)
    pieces = []
    for part, is_marked in split_marked(shown.text, shown.spans):
        piece = escape(printable(part))
        pieces.append(Markup("<mark>{}</mark>").format(piece) if is_marked else piece)
    return Markup("").join(pieces)


def _make_printable(value: Any) -> Any:
    """*value* made printable, as on a terminal, before it is escaped; our own markup is not changed."""
    if isinstance(value, Markup | int | float):
        return value
    return printable(str(value))


def _hash_source(text: str) -> str:
    """A hash of a style or a script, by which the page's Content-Security-Policy allows it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def note_omissions(omitted: Iterable[str]) -> tuple[Span, ...]:
    """A note for each thing that a page leaves out."""
    sentence = "This page omits {} to limit its size; the JSON report contains them."
    return make_notes([sentence.format(what) for what in omitted], Tone.QUIET)


def format_request(sent: SentRequest) -> list[str]:
    """A request in the format of the engines' consoles: method and path, then the body."""
    lines = [f"{sent.method} {sent.url}"]
    if sent.body is not None:
        lines += json.dumps(sent.body, indent=2, ensure_ascii=False).splitlines()
    return lines
