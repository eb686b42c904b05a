"""The scores of a run file on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from harness.model import Measure
from harness.report.figures import plain_text, score_text
from harness.report.printable import printable
from harness.report.terminal.layout import columns

if TYPE_CHECKING:
    from harness.metrics.evaluate import Evaluation


def score_renderables(
    evaluation: Evaluation, measures: Mapping[str, Measure], gains: Mapping[str, str], *, per_query: bool
) -> Iterator[RenderableType]:
    """The profile, and a line a measure, by the text that it was asked for; with *per_query* a line a query before."""
    yield Text(f"profile {evaluation.profile}")
    if per_query:
        yield _score_table(evaluation, measures)
        yield Text()
    table = columns()
    table.add_column("measure", overflow="fold")
    summed = any(measure.text in evaluation.summed for measure in measures.values())
    for name in ("mean", *(["sum"] if summed else []), "counted", "undefined"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("gain", overflow="fold")
    for asked, measure in measures.items():
        table.add_row(Text(asked), *_figures(evaluation, measure, summed=summed), Text(gains[asked]))
    yield table


def _figures(evaluation: Evaluation, measure: Measure, *, summed: bool) -> Iterator[str]:
    """The mean, the sum where any measure has one, and how many queries were counted and were not."""
    values = evaluation.values(measure.text)
    yield score_text(evaluation.mean(measure.text))
    if summed:
        yield plain_text(evaluation.sum(measure.text)) if measure.text in evaluation.summed else ""
    yield f"{len(values):,}"
    yield f"{len(evaluation.scores[measure.text]) - len(values):,}"


def _score_table(evaluation: Evaluation, measures: Mapping[str, Measure]) -> RenderableType:
    table = columns()
    table.add_column("query", overflow="fold")
    for asked in measures:
        table.add_column(Text(asked), justify="right")
    scores = [evaluation.scores[measure.text] for measure in measures.values()]
    for query in scores[0]:
        table.add_row(Text(printable(query)), *(score_text(of_query[query]) for of_query in scores))
    return table
