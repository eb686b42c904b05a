"""Reports as text: laid out by rich for a terminal, and plain everywhere else."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from harness.model import MovedDocument, RankedDocument, Status, Verdict
from harness.report.run_sentences import LOOKED_AT, grade_text, is_held_by_query
from harness.report.sentences import observed_text, printable, qualified_text, waiver_not_in_reason, without_commands
from harness.words import count

UNBOUNDED = 10_000
"""Columns that no table needs."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """*wide* if there are at least *least* columns, by default as many as *wide* takes; else *narrow*."""

    wide: RenderableType
    narrow: RenderableType
    least: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render *wide* or *narrow*."""
        least = self.least
        if least is None:
            least = Measurement.get(console, options.update(width=UNBOUNDED), self.wide).maximum
        yield self.wide if least <= options.max_width else self.narrow


def columns(*headings: str | Text | Column | None) -> Table:
    """
    A table without lines: two blanks between its columns, dim headings.

    A heading alone makes a column that folds what is too long for it, None makes no column.
    """
    made = (Column(one, overflow="fold") if isinstance(one, str | Text) else one for one in headings if one is not None)
    return Table(*made, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def right(heading: str | Text) -> Column:
    """A column of `columns` that is aligned right, and never wrapped."""
    return Column(heading, justify="right", no_wrap=True)


def safe(text: str, style: str = "") -> Text:
    """*text*, which may be of an index or a server, made printable."""
    return Text(printable(text), style=style)


def safe_lines(lines: Iterable[str], style: str = "") -> Iterator[Text]:
    """Each of *lines* made printable."""
    return (safe(line, style) for line in lines)


def fact_table(facts: Mapping[str, str]) -> Table:
    """A line for each of *facts* below a heading: its name, and the fact."""
    table = Table.grid(padding=(0, 2))
    for name, fact in facts.items():
        table.add_row(Text(f"  {name}", style="dim"), safe(fact))
    return table


def indented(renderable: RenderableType) -> Padding:
    """*renderable* two blanks to the right."""
    return Padding(renderable, (0, 0, 0, 2))


WIDTH = 120
"""Columns of plain text."""


def plain(renderables: Iterable[RenderableType], width: int = WIDTH) -> str:
    """
    *renderables* below one another, without colors, and without the blanks that rich fills lines with.

    Plain texts are not wrapped, so that they can be copied.
    """
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable, highlight=False, markup=False, soft_wrap=isinstance(renderable, str))
    return without_commands("\n".join(line.rstrip() for line in capture.get().splitlines()))


STYLES: Mapping[Status, str] = {
    Status.PASSED: "green",
    Status.FAILED: "bold red",
    Status.INCONCLUSIVE: "bold magenta",
    Status.ERROR: "bold magenta",
    Status.WARNED: "yellow",
    Status.XFAILED: "yellow",
    Status.XPASSED: "bold yellow",
    Status.SKIPPED: "dim",
    Status.NOT_DECIDED: "",
}


def status_text(status: Status) -> Text:
    """The status, in capitals if it needs attention."""
    return Text(status.upper() if status in LOOKED_AT else status, style=STYLES[status])


def named_threshold(verdict: Verdict) -> Text:
    """The threshold as written, with the query that it belongs to."""
    text = safe(verdict.threshold)
    if verdict.query is not None:
        text.append(f"  (query {printable(verdict.query)})", style="dim")
    return text


def verdict_list(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """A line per verdict, with its caveat if it holds; passed thresholds of single queries are only counted."""
    listed = [verdict for verdict in verdicts if not is_held_by_query(verdict)]
    yield indented(_table(listed))
    if len(listed) < len(verdicts):
        unlisted = count(len(verdicts) - len(listed), "threshold")
        yield indented(Text(f"and {unlisted} of single queries passed", style="dim"))


def reason(verdict: Verdict) -> Iterator[RenderableType]:
    """The threshold with its place, the reason of the verdict, and the reason of its waiver."""
    place = printable(str(verdict.mark))
    yield Text.assemble(status_text(verdict.status), "  ", named_threshold(verdict), (f"  {place}", "dim"))
    yield indented(safe(verdict.reason))
    if verdict.left_out:
        yield indented(Text(f"{count(verdict.counted, 'query')} counted, {verdict.left_out:,} left out"))
    waiver = waiver_not_in_reason(verdict)
    if waiver is not None:
        yield indented(safe(f"waived: {waiver}"))


def quiet_lines(name: str, verdicts: Iterable[Verdict]) -> Iterator[Text]:
    """A line for each verdict that needs attention, which begins with the suite's *name*."""
    for verdict in verdicts:
        if verdict.status in LOOKED_AT:
            named = named_threshold(verdict)
            why = f": {printable(verdict.reason)}"
            yield Text.assemble(printable(name), ": ", status_text(verdict.status), " ", named, why)


def _table(verdicts: Iterable[Verdict]) -> Table:
    table = columns(Column(no_wrap=True), Column(overflow="fold", ratio=1), right(""))
    table.show_header = False
    for verdict in verdicts:
        observed = observed_text(verdict)
        table.add_row(status_text(verdict.status), _with_caveat(verdict), "" if observed == "–" else observed)
    return table


def _with_caveat(verdict: Verdict) -> Text:
    text = named_threshold(verdict)
    qualified = qualified_text(verdict)
    if qualified:
        text.append(f"\n{printable(qualified)}", style="dim")
    return text


def grade_cell(document: RankedDocument | MovedDocument) -> Text:
    """The grade in the color of its gain."""
    style = "dim" if document.grade is None else "green" if (document.gain or 0) > 0 else "red"
    return Text(grade_text(document), style=style)
