"""How many queries would show an effect, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.model.comparison import MeasurePlan, PlanReport
from harness.report.document import Column, ColumnKind, Table, make_words
from harness.report.sentences import format_difference, format_score, printable
from harness.report.terminal import indent, make_texts, print_table
from harness.words import count


def print_plan(report: PlanReport) -> Iterator[RenderableType]:
    """The two sides and the test, and a table for each measure."""
    yield Text.assemble((f"{printable(report.candidate)} against {printable(report.reference)}", "bold"))
    mean = "weighted mean" if report.weighted else "mean"
    sides = "" if report.alternative == "two-sided" else f", {report.alternative}"
    yield indent(
        Text(f"a difference of the {mean} by {report.effect:g}, in a paired t test at {report.level:g}{sides}")
    )
    for plan in report.measures:
        yield Text()
        yield from map(indent, _print_measure(plan))
    yield Text()
    yield from make_texts(report.notes, "dim")
    yield Text(
        "queries: how many show the difference with this power, if their differences spread like those that were "
        "measured; at most: the same for the upper 95 % limit of the spread; found with: the smallest difference that "
        "the queries measured show",
        style="dim",
    )


def _print_measure(plan: MeasurePlan) -> Iterator[RenderableType]:
    """What was measured, and the numbers of queries by power; or why there are none."""
    queries = count(plan.queries, "query")
    if plan.reason:
        yield Text(f"{plan.measure}: no plan, {plan.reason}")
        return
    yield Text(
        f"{plan.measure}: {queries}, difference {format_difference(plan.difference)}, "
        f"standard deviation {format_score(plan.standard_deviation)}"
    )
    headings = ("queries", "at most", f"found with {plan.queries:,}")
    columns = (Column("power"), *(Column(heading, ColumnKind.SCORE) for heading in headings))
    rows = []
    for planned in plan.plans:
        texts = (f"{planned.power:.0%}", f"{planned.queries:,}", f"{planned.queries_at_most:,}")
        rows.append(tuple(make_words(text) for text in (*texts, format_score(planned.detectable))))
    yield from print_table(Table(columns, tuple(rows)))
