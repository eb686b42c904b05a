"""
What a report says, once for all outputs: sections of facts, thresholds, tables, notes, differences and queries.

`run_document`, and modules of extensions, make it from the values of a report. The packages `terminal`, `markdown` and
`html` print it: they decide looks, such as colors, widths, escapes and how much fits, and neither facts nor order.
No text in here is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import ClassVar, TypeAlias

from harness.model.run import Status, Verdict


class Tone(Enum):
    """How a text is meant, for printers that set texts apart."""

    PLAIN = auto()
    QUIET = auto()
    STRONG = auto()
    GOOD = auto()
    POOR = auto()
    BEST = auto()
    """The best of a column, or a significant rise."""
    BAD = auto()
    """A failure, or a significant fall."""
    NOTED = auto()
    """To be read, without consequences."""
    WARNING = auto()
    """To be read before the figures."""
    UNDECIDED = auto()
    ENTERED = auto()
    """A document that only the second of two rankings has."""
    LEFT = auto()
    """A document that only the first of two rankings has."""


@dataclass(frozen=True, slots=True)
class Link:
    """Where a text of a page leads: *address*, with *data* for the page's script; *label* says it without its place."""

    address: str
    label: str = ""
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text."""

    text: str
    tone: Tone = Tone.PLAIN
    is_name: bool = False
    """Whether it is an id, a threshold, a measure or a file, which Markdown prints as code."""
    is_title: bool = False
    """Whether it is the title of a document, which may be long and may be cut."""
    status: Status | None = None
    """The status that it names; a page shows it as a chip."""
    link: Link | None = None
    """Of a page alone."""


Cell: TypeAlias = tuple[Span, ...]
"""The spans are printed one after another, without a blank between them."""


def make_name(text: str, tone: Tone = Tone.PLAIN) -> Cell:
    """A cell of one name."""
    return (Span(text, tone, is_name=True),)


def make_words(text: str, tone: Tone = Tone.PLAIN) -> Cell:
    """A cell of one text."""
    return (Span(text, tone),)


def make_title(text: str | None, marked: Sequence[tuple[int, int]] = ()) -> Cell:
    """A cell of the title of a document, empty where it has none, with the places of words that are *marked* in it."""
    parts = split_marked(text or "", marked)
    return tuple(Span(part, Tone.STRONG if is_marked else Tone.PLAIN, is_title=True) for part, is_marked in parts)


def split_marked(text: str, marked: Iterable[tuple[int, int]]) -> list[tuple[str, bool]]:
    """
    The parts of *text*, none of them empty, and whether each is marked.

    >>> split_marked("a red tent", [(2, 5)])
    [('a ', False), ('red', True), (' tent', False)]
    """
    parts = []
    end = 0
    for start, following in marked:
        parts += [(text[end:start], False), (text[start:following], True)]
        end = following
    parts.append((text[end:], False))
    return [(part, is_marked) for part, is_marked in parts if part]


def join_spans(cell: Cell) -> str:
    """The whole text of *cell*."""
    return "".join(span.text for span in cell)


# Blocks: what a section consists of.


class ColumnKind(Enum):
    """What the cells of a column are, from which printers choose alignment and what is cut or folded."""

    NAME = auto()
    SIDE = auto()
    """Names of one of two sides, which share the width."""
    FIGURE = auto()
    """A number under a short heading."""
    SCORE = auto()
    """A number under a heading that may be long, such as a measure."""
    WORD = auto()
    """One or two words, never folded."""
    TREND = auto()
    """A line drawn in characters, which says nothing to who hears it."""
    TITLE = auto()


class Overflow(Enum):
    """What becomes of a table that is too wide for a terminal."""

    FOLD = auto()
    """Its texts are folded."""
    SPLIT = auto()
    """Columns that do not fit follow in further tables, each with the columns of names first."""
    STACK = auto()
    """The cells of each row stand below one another."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table with its heading."""

    heading: str
    kind: ColumnKind = ColumnKind.NAME
    is_name: bool = False
    """Whether the heading is a name, as that of a measure."""
    least_width: int = 0
    """The width of the longest word that it may have, so that tables below one another have the same columns."""
    may_stand_below: bool = False
    """Whether its cells may stand below those of the column before it, where the table is too wide."""


def make_columns(kind: ColumnKind, *headings: str) -> tuple[Column, ...]:
    """A column of *kind* for each of *headings*."""
    return tuple(Column(heading, kind) for heading in headings)


def make_row(name: str, *texts: str) -> tuple[Cell, ...]:
    """A row of what is known by its *name*."""
    return (make_name(name), *map(make_words, texts))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a cell for each of *columns*, and sentences below them."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    remarks: tuple[str, ...] = ()
    overflow: Overflow = Overflow.FOLD
    caption: str = ""
    """What it shows, for who does not see where it stands."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something known by a name."""

    name: str
    text: Cell


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by their names, below a heading if there is one."""

    facts: tuple[Fact, ...]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """What the blocks below it are about."""

    text: str
    level: int = 3
    """1 is the title of a document, 2 that of a section."""
    anchor: str = ""
    """The end of an address that leads to it."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text that explains what stands beside it."""

    text: Cell


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences, each by itself."""

    lines: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A text in its own lines, such as the body of a request."""

    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions of a text: lines that begin with ``+`` or ``-`` are in one of them; *remark* is on what is cut."""

    heading: str
    lines: tuple[str, ...]
    remark: str
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """
    One threshold and its verdict.

    The reason and what else explains the verdict are *details*; *caveat* qualifies a pass. *command* shows the worst
    query, and is empty where none can.
    """

    verdict: Verdict
    observed: str
    required: str
    caveat: str
    details: tuple[str, ...]
    command: str
    needs_attention: bool
    is_repeated: bool = False
    """Whether it has the cause of another threshold, which explains both."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """
    Thresholds, the worst verdicts first.

    *unanswered* counts those that are left out because no query has an answer, *passed_of_queries* the passed ones of
    single queries: there may be thousands, and none needs a look.
    """

    thresholds: tuple[ThresholdLine, ...]
    unanswered: int
    passed_of_queries: int
    caption: str = ""
    """What they are of, for who does not see where they stand."""
    path: str | None = None
    """The file that most of them stand in."""
    anchors: Mapping[str, str] = field(default_factory=dict)
    """Where a page shows the rankings of queries, by id."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        return not (self.thresholds or self.unanswered or self.passed_of_queries)

    @property
    def explained(self) -> list[ThresholdLine]:
        """Those that need attention, without those whose cause another one explains."""
        return [line for line in self.thresholds if line.needs_attention and not line.is_repeated]


@dataclass(frozen=True, slots=True)
class Rankings:
    """Two rankings of a query: *beside* each other, and where that is too wide as one list of documents *below*."""

    beside: Table
    below: Table


@dataclass(frozen=True, slots=True)
class QuerySection:
    """
    One query: *known* has its scores and its outcome, *concerns* names the thresholds that blame it, *need* says what
    would satisfy the user.
    """

    id: str
    text: str
    known: str
    concerns: str
    blocks: tuple[Notes | Table | Rankings, ...]
    need: str = ""


@dataclass(frozen=True, slots=True)
class Queries:
    """The queries to look at, and as a sentence how many *more* there are."""

    queries: tuple[QuerySection, ...]
    more: str


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks below a *summary*, which a page folds away."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """
    What a page alone can show, such as a chart: a kind of block of its own derives from this.

    *template* has the macro of its name: a file beside the templates of pages, or with folders one of the package.
    """

    template: ClassVar[str]


Block: TypeAlias = (
    Heading
    | Paragraph
    | Facts
    | Table
    | Notes
    | Code
    | Difference
    | Thresholds
    | Rankings
    | Queries
    | Details
    | Drawing
)


# A document.


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document that can stand by itself."""

    title: Cell
    blocks: tuple[Block, ...]
    anchor: str = ""
    """What the ids in it begin with on a page."""
    address: str = ""
    """Its own id, where it has another one than *anchor*."""


@dataclass(frozen=True, slots=True)
class Document:
    """What is said, as any printer prints it: a page begins with *headline*, a terminal ends with *closing*."""

    headline: str
    closing: tuple[Span, ...]
    sections: tuple[Section, ...]
    overview: Table | None = None
    """The sections side by side; a terminal prints it below them, as its end is what is seen."""


def make_notes(lines: Sequence[str], tone: Tone) -> tuple[Span, ...]:
    """A note of *tone* for each of *lines*."""
    return tuple(Span(line, tone) for line in lines)
