"""The scores that a baseline holds, and those of run files, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from harness.means import are_weighted, mean
from harness.model.kept import Baseline
from harness.model.suite import Measure
from harness.report.sentences import format_score, format_value, name_mean_column, printable
from harness.report.terminal import Fitting, align_right, make_table, make_text
from harness.store.what_changed import group_by_state
from harness.words import count, listed

if TYPE_CHECKING:
    from harness.metrics.evaluate import RunScores


# Baselines.


def compute_means(baseline: Baseline) -> dict[str, tuple[float, int]]:
    """The mean of the kept scores by measure, with the weights kept, and the number of its queries."""
    scores: dict[str, list[float]] = {}
    weights: dict[str, list[float]] = {}
    for query in baseline.queries.values():
        for measure, score in query.scores.items():
            if score is not None:
                scores.setdefault(measure, []).append(score)
                weights.setdefault(measure, []).append(query.weight)
    return {measure: (mean(scores[measure], weights[measure]), len(scores[measure])) for measure in scores}


def is_weighted(baseline: Baseline) -> bool:
    """Whether the means of *baseline* are weighted."""
    return are_weighted(query.weight for query in baseline.queries.values())


def print_entry(request: str, baseline: Baseline) -> Iterator[RenderableType]:
    """The facts about one request's baseline, and a line per measure."""
    yield Text.assemble("request ", (printable(request), "bold"))
    index = baseline.index
    size = "number of documents unknown" if index.documents is None else count(index.documents, "document")
    if index.missing:
        size += f"; not read: {', '.join(index.missing)}"
    queries, hits = count(len(baseline.queries), "query"), count(baseline.depth, "hit")
    facts = [
        f"saved    {baseline.created} by version {baseline.harness}",
        f"engine   {baseline.engine}",
        f"index    {size}",
        f"gain     {baseline.gain}, profile {baseline.profile}",
        f"queries  {queries}, at most {hits} of each",
    ]
    for (created, documents), names in group_by_state(baseline, baseline.queries).items():
        # The others were saved with the baseline.
        if (created, documents) != (baseline.created, index.documents):
            size = "an unknown number of documents" if documents is None else count(documents, "document")
            older = f"{count(len(names), 'query')} ({listed(names)})"
            facts.append(f"         of these {older} saved {created} from {size}")
    yield Text("".join(f"  {printable(line)}\n" for line in facts))
    yield _lay_out_means(baseline)


def _lay_out_means(baseline: Baseline) -> RenderableType:
    moved_by_ties: dict[str, list[str]] = {}
    for name, query in baseline.queries.items():
        for measure in query.bands:
            moved_by_ties.setdefault(measure, []).append(name)
    table = make_table(
        "measure",
        align_right(name_mean_column(weighted=is_weighted(baseline))),
        align_right("queries"),
        "moved by ties",
    )
    for measure, (value, queries) in compute_means(baseline).items():
        moved = listed(moved_by_ties.get(measure, []))
        table.add_row(Text(measure), format_score(value), f"{queries:,}", make_text(moved))
    return table


# Run files.


def print_scores(
    evaluation: RunScores, measures: Mapping[str, Measure], gains: Mapping[str, str], *, per_query: bool
) -> Iterator[RenderableType]:
    """The profile, and a line per measure under its requested text; with *per_query* a line per query before."""
    yield Text(f"profile {evaluation.profile}")
    if per_query:
        yield Fitting(_lay_out_scores(evaluation, measures), _list_scores(evaluation, measures))
        yield Text()
    has_sums = any(measure.text in evaluation.summed for measure in measures.values())
    headings = ["mean", "sum", "counted", "undefined"] if has_sums else ["mean", "counted", "undefined"]
    table = make_table("measure", *map(align_right, headings), "gain")
    for text, measure in measures.items():
        table.add_row(Text(text), *_list_figures(evaluation, measure, has_sums=has_sums), Text(gains[text]))
    yield table
    for text, measure in measures.items():
        over_ties = evaluation.means_over_ties(measure.text)
        if over_ties is not None:
            least, greatest = map(format_score, over_ties)
            moved = count(len(evaluation.tie_ranges[measure.text]), "query")
            yield Text(f"{text}: {least} to {greatest} over the orders of ties, which move {moved}", style="yellow")


def _list_figures(evaluation: RunScores, measure: Measure, *, has_sums: bool) -> Iterator[str]:
    """The mean, the sum where any measure has one, and the numbers of queries counted and not counted."""
    values = evaluation.values(measure.text)
    yield format_score(evaluation.mean(measure.text))
    if measure.text in evaluation.summed:
        yield format_value(evaluation.sum(measure.text))
    elif has_sums:
        yield ""
    yield f"{len(values):,}"
    yield f"{len(evaluation.scores[measure.text]) - len(values):,}"


def _lay_out_scores(evaluation: RunScores, measures: Mapping[str, Measure]) -> RenderableType:
    table = make_table("query", *(Column(Text(text), justify="right") for text in measures))
    scores = [evaluation.scores[measure.text] for measure in measures.values()]
    # Each measure has the same queries.
    for query in scores[0]:
        table.add_row(make_text(query), *(format_score(of_measure[query]) for of_measure in scores))
    return table


def _list_scores(evaluation: RunScores, measures: Mapping[str, Measure]) -> RenderableType:
    """A line per query and measure, where a column for each measure takes too many."""
    table = make_table("query", "measure", align_right("score"))
    scores = {text: evaluation.scores[measure.text] for text, measure in measures.items()}
    for query in next(iter(scores.values())):
        for text, of_measure in scores.items():
            table.add_row(make_text(query), Text(text), format_score(of_measure[query]))
    return table
