"""The scores that a baseline holds, and those of run files, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from harness.baseline.entries import group_by_state
from harness.means import are_weighted, mean
from harness.model import Baseline, Measure
from harness.report.sentences import mean_heading, plain_text, printable, score_text
from harness.report.terminal import Fitting, columns, right, safe
from harness.words import count, grouped, listed

if TYPE_CHECKING:
    from harness.metrics.evaluate import Evaluation


# Baselines.


def means_of(baseline: Baseline) -> dict[str, tuple[float, int]]:
    """The mean of the kept scores by measure, with the weights kept, and the number of its queries."""
    kept: dict[str, list[tuple[float, float]]] = {}
    for query in baseline.queries.values():
        for measure, value in query.scores.items():
            if value is not None:
                kept.setdefault(measure, []).append((value, query.weight))
    return {measure: (mean(*zip(*found, strict=True)), len(found)) for measure, found in kept.items()}


def is_weighted(baseline: Baseline) -> bool:
    """Whether the means of *baseline* are weighted."""
    return are_weighted(query.weight for query in baseline.queries.values())


def entry_renderables(request: str, baseline: Baseline) -> Iterator[RenderableType]:
    """The facts about one request's baseline, and a line per measure."""
    yield Text.assemble("request ", (printable(request), "bold"))
    index = baseline.index
    queries, hits = count(len(baseline.queries), "query"), count(baseline.depth, "hit")
    facts = [
        f"saved    {baseline.created} by version {baseline.harness}",
        f"engine   {baseline.engine}",
        f"index    {'number of documents unknown' if index.documents is None else count(index.documents, 'document')}"
        + (f"; not read: {', '.join(index.missing)}" if index.missing else ""),
        f"gain     {baseline.gain}, profile {baseline.profile}",
        f"queries  {queries}, at most {hits} of each",
    ]
    for (created, documents), names in group_by_state(baseline, baseline.queries).items():
        if (created, documents) != (baseline.created, index.documents):
            size = "an unknown number of documents" if documents is None else count(documents, "document")
            facts.append(
                f"         of these {count(len(names), 'query')} ({listed(names)}) saved {created} from {size}"
            )
    yield Text("".join(f"  {printable(line)}\n" for line in facts))
    yield _means_table(baseline)


def _means_table(baseline: Baseline) -> RenderableType:
    banded = grouped((measure, query) for query, kept in baseline.queries.items() for measure in kept.bands)
    mean = mean_heading(weighted=is_weighted(baseline))
    table = columns("measure", right(mean), right("queries"), "moved by ties")
    for measure, (value, counted) in means_of(baseline).items():
        table.add_row(Text(measure), score_text(value), f"{counted:,}", safe(listed(banded.get(measure, []))))
    return table


# Run files.


def score_renderables(
    evaluation: Evaluation, measures: Mapping[str, Measure], gains: Mapping[str, str], *, per_query: bool
) -> Iterator[RenderableType]:
    """The profile, and a line per measure under its requested text; with *per_query* a line per query before."""
    yield Text(f"profile {evaluation.profile}")
    if per_query:
        yield Fitting(_score_table(evaluation, measures), _score_lines(evaluation, measures))
        yield Text()
    summed = any(measure.text in evaluation.summed for measure in measures.values())
    figures = ("mean", *(["sum"] if summed else []), "counted", "undefined")
    table = columns("measure", *map(right, figures), "gain")
    for asked, measure in measures.items():
        table.add_row(Text(asked), *_figures(evaluation, measure, summed=summed), Text(gains[asked]))
    yield table
    for asked, measure in measures.items():
        over_ties = evaluation.means_over_ties(measure.text)
        if over_ties is not None:
            least, greatest = map(score_text, over_ties)
            moved = count(len(evaluation.tie_ranges[measure.text]), "query")
            yield Text(f"{asked}: {least} to {greatest} over the orders of ties, which move {moved}", style="yellow")


def _figures(evaluation: Evaluation, measure: Measure, *, summed: bool) -> Iterator[str]:
    """The mean, the sum where any measure has one, and the numbers of queries counted and not counted."""
    values = evaluation.values(measure.text)
    yield score_text(evaluation.mean(measure.text))
    if summed:
        yield plain_text(evaluation.sum(measure.text)) if measure.text in evaluation.summed else ""
    yield f"{len(values):,}"
    yield f"{len(evaluation.scores[measure.text]) - len(values):,}"


def _score_table(evaluation: Evaluation, measures: Mapping[str, Measure]) -> RenderableType:
    table = columns("query", *(Column(Text(asked), justify="right") for asked in measures))
    scores = [evaluation.scores[measure.text] for measure in measures.values()]
    for query in scores[0]:
        table.add_row(safe(query), *(score_text(of_query[query]) for of_query in scores))
    return table


def _score_lines(evaluation: Evaluation, measures: Mapping[str, Measure]) -> RenderableType:
    """A line per query and measure, where a column for each measure takes too many."""
    table = columns("query", "measure", right("score"))
    scores = {asked: evaluation.scores[measure.text] for asked, measure in measures.items()}
    for query in next(iter(scores.values())):
        for asked, of_query in scores.items():
            table.add_row(safe(query), Text(asked), score_text(of_query[query]))
    return table
