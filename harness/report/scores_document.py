"""The documents of the scores that a baseline holds, and of those of run files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.means import are_weighted, mean
from harness.model.kept import Baseline
from harness.model.suite import Measure
from harness.report.document import (
    Block,
    Column,
    ColumnKind,
    Document,
    Fact,
    Facts,
    Notes,
    Overflow,
    Section,
    Span,
    Table,
    Tone,
    make_columns,
    make_notes,
    make_row,
    make_words,
)
from harness.report.sentences import format_score, format_value, name_mean_column
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


def build_entry(request: str, baseline: Baseline, notes: Sequence[str]) -> Section:
    """The facts about one request's baseline, a line per measure, and *notes* on what changed since."""
    index = baseline.index
    size = "number of documents unknown" if index.documents is None else count(index.documents, "document")
    if index.missing:
        size += f"; not read: {', '.join(index.missing)}"
    queries, hits = count(len(baseline.queries), "query"), count(baseline.depth, "hit")
    facts = {
        "saved": f"{baseline.created} by version {baseline.harness}",
        "engine": str(baseline.engine),
        "index": size,
        "gain": f"{baseline.gain}, profile {baseline.profile}",
        "queries": f"{queries}, at most {hits} of each",
    }
    blocks: list[Block] = [
        Facts(tuple(Fact(name, make_words(text)) for name, text in facts.items())),
        _build_means(baseline),
    ]
    lines = [*_list_other_states(baseline), *notes]
    if lines:
        blocks.append(Notes(make_notes(lines, Tone.PLAIN)))
    return Section((Span("request "), Span(request, Tone.STRONG)), tuple(blocks))


def _list_other_states(baseline: Baseline) -> Iterator[str]:
    """The queries that were not saved with the baseline."""
    for (created, documents), names in group_by_state(baseline, baseline.queries).items():
        if (created, documents) != (baseline.created, baseline.index.documents):
            size = "an unknown number of documents" if documents is None else count(documents, "document")
            yield f"of these {count(len(names), 'query')} ({listed(names)}) saved {created} from {size}"


def _build_means(baseline: Baseline) -> Table:
    moved_by_ties: dict[str, list[str]] = {}
    for name, query in baseline.queries.items():
        for measure in query.bands:
            moved_by_ties.setdefault(measure, []).append(name)
    columns = (
        Column("measure"),
        Column(name_mean_column(weighted=is_weighted(baseline)), ColumnKind.FIGURE),
        Column("queries", ColumnKind.FIGURE),
        Column("moved by ties"),
    )
    rows = []
    for measure, (value, queries) in compute_means(baseline).items():
        texts = (format_score(value), f"{queries:,}", listed(moved_by_ties.get(measure, [])))
        rows.append(make_row(measure, *texts))
    return Table(columns, tuple(rows))


# Run files.


def build_scores_document(
    evaluation: RunScores, measures: Mapping[str, Measure], gains: Mapping[str, str], *, per_query: bool
) -> Document:
    """The profile, and a line per measure under its requested text; with *per_query* a line per query before."""
    has_sums = any(measure.text in evaluation.summed for measure in measures.values())
    headings = ["mean", "sum", "counted", "undefined"] if has_sums else ["mean", "counted", "undefined"]
    rows = []
    notes = []
    for text, measure in measures.items():
        figures = _list_figures(evaluation, measure, has_sums=has_sums)
        rows.append(make_row(text, *figures, gains[text]))
        over_ties = evaluation.means_over_ties(measure.text)
        if over_ties is not None:
            least, greatest = map(format_score, over_ties)
            moved = count(len(evaluation.tie_ranges[measure.text]), "query")
            notes.append(f"{text}: {least} to {greatest} over the orders of ties, which move {moved}")
    columns = (Column("measure"), *make_columns(ColumnKind.FIGURE, *headings), Column("gain"))
    blocks: list[Block] = [_build_query_scores(evaluation, measures)] if per_query else []
    blocks.append(Table(columns, tuple(rows)))
    if notes:
        blocks.append(Notes(make_notes(notes, Tone.NOTED)))
    return Document("", (), (Section(make_words(f"profile {evaluation.profile}"), tuple(blocks)),))


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


def _build_query_scores(evaluation: RunScores, measures: Mapping[str, Measure]) -> Table:
    scores = [evaluation.scores[measure.text] for measure in measures.values()]
    rows = []
    # Each measure has the same queries.
    for query in scores[0]:
        texts = [format_score(of_measure[query]) for of_measure in scores]
        rows.append(make_row(query, *texts))
    columns = (Column("query"), *(Column(text, ColumnKind.FIGURE, is_name=True) for text in measures))
    return Table(columns, tuple(rows), overflow=Overflow.STACK)
