"""Baselines on a terminal: what one holds, and how a run differs from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from harness.gate.grammar import TOLERANCE
from harness.gate.pairs import Pairs
from harness.gate.scope import listed, weight_aside
from harness.model import Baseline
from harness.report.figures import counted_text, difference_text, mean_heading, score_text
from harness.report.printable import printable
from harness.report.terminal.layout import columns
from harness.statistics.means import are_weighted, mean

__all__ = ["difference_renderables", "entry_renderables", "is_weighted", "means_of"]


MOVED_SHOWN = 5
"""Queries of a measure that are named, those that changed most first."""


def means_of(baseline: Baseline) -> dict[str, tuple[float, int]]:
    """By measure the mean of the scores that were kept, by the weights of then, and how many queries have one."""
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
    """What one request's baseline is, and a line a measure."""
    yield Text.assemble("request ", (printable(request), "bold"))
    index = baseline.index
    queries, hits = counted_text(len(baseline.queries), "query"), counted_text(baseline.depth, "hit")
    facts = [
        f"saved    {baseline.created} by version {baseline.harness}",
        f"engine   {baseline.engine}",
        f"index    {'documents not known' if index.documents is None else counted_text(index.documents, 'document')}"
        + (f"; not read: {', '.join(index.missing)}" if index.missing else ""),
        f"gain     {baseline.gain}, profile {baseline.profile}",
        f"queries  {queries}, at most {hits} of each",
    ]
    yield Text("".join(f"  {printable(line)}\n" for line in facts))
    yield _means_table(baseline)


def difference_renderables(pairs: tuple[Pairs, ...]) -> Iterator[RenderableType]:
    """A line a measure, and the queries that moved most."""
    table = columns()
    table.add_column("measure", overflow="fold")
    for heading in ("baseline", "now", "difference", "better/same/worse", "only ties", "queries"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in pairs:
        table.add_row(Text(each.measure.text), *_cells(each))
    yield table
    if any(each.weights for each in pairs):
        yield Text("The means and their difference are weighted, by the weights of today.", style="dim")
    for each in pairs:
        moved = sorted(each.weighed_drops().items(), key=lambda item: (-abs(item[1]), item[0]))
        names = [query for query, drop in moved if drop][:MOVED_SHOWN]
        if names:
            yield Text(f"{each.measure.text}: {_moved(each, names)}")


def _moved(pairs: Pairs, queries: Sequence[str]) -> str:
    """The *queries* that moved the mean most, with what they weigh where that is not the same for all."""
    shown = (
        f"{printable(query)} {pairs.before[query]:.4f} → {pairs.today[query]:.4f}{weight_aside(query, pairs.weights)}"
        for query in queries
    )
    return f"moved {'the mean ' if pairs.weights else ''}most: {', '.join(shown)}"


def _cells(pairs: Pairs) -> tuple[str, ...]:
    """The means as they are, ties and all; a query that differs by ties alone counts as the same, and once more."""
    before, after = pairs.as_they_came().means()
    drops = pairs.drops().values()
    better, worse = sum(drop < -TOLERANCE for drop in drops), sum(drop > TOLERANCE for drop in drops)
    counts = f"{better:,}/{len(pairs.before) - better - worse:,}/{worse:,}"
    scores = score_text(before), score_text(after), difference_text(after - before)
    return *scores, counts, f"{len(pairs.ties):,}", f"{len(pairs.before):,}"


def _means_table(baseline: Baseline) -> RenderableType:
    means, banded = means_of(baseline), _banded(baseline)
    table = columns()
    table.add_column("measure", overflow="fold")
    table.add_column(mean_heading(weighted=is_weighted(baseline)), justify="right", no_wrap=True)
    table.add_column("queries", justify="right", no_wrap=True)
    table.add_column("moved by ties", overflow="fold")
    for measure, (value, counted) in means.items():
        table.add_row(
            Text(measure), score_text(value), f"{counted:,}", Text(printable(listed(banded.get(measure, []))))
        )
    return table


def _banded(baseline: Baseline) -> dict[str, list[str]]:
    """By measure the queries whose score depends on the order of ties."""
    found: dict[str, list[str]] = {}
    for query, kept in baseline.queries.items():
        for measure in kept.bands:
            found.setdefault(measure, []).append(query)
    return found
