"""Baselines on a terminal: what one holds, and how a run differs from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from harness.gate.aggregates import mean
from harness.gate.pairs import Pairs
from harness.gate.sentences import listed
from harness.model import Baseline
from harness.report.figures import counted_text, difference_text, score_text
from harness.report.printable import printable
from harness.report.ranking_text import columns
from harness.thresholds import TOLERANCE

__all__ = ["difference_renderables", "entry_renderables", "means_of"]

MOVED_SHOWN = 5
"""Queries of a measure that are named, those that changed most first."""


def means_of(baseline: Baseline) -> dict[str, tuple[float, int]]:
    """By measure the mean of the scores that were kept, and how many queries have one."""
    values: dict[str, list[float]] = {}
    for query in baseline.queries.values():
        for measure, value in query.scores.items():
            if value is not None:
                values.setdefault(measure, []).append(value)
    return {measure: (mean(found), len(found)) for measure, found in values.items()}


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
    yield _means_table(means_of(baseline), _banded(baseline))


def difference_renderables(pairs: tuple[Pairs, ...]) -> Iterator[RenderableType]:
    """A line a measure, and the queries that moved most."""
    table = columns()
    table.add_column("measure", overflow="fold")
    for heading in ("baseline", "now", "difference", "better/same/worse", "only ties", "queries"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in pairs:
        table.add_row(Text(each.measure.text), *_cells(each))
    yield table
    for each in pairs:
        moved = sorted(each.drops().items(), key=lambda item: (-abs(item[1]), item[0]))
        names = [query for query, drop in moved if abs(drop) > TOLERANCE][:MOVED_SHOWN]
        if names:
            shown = (f"{printable(one)} {each.before[one]:.4f} → {each.after[one]:.4f}" for one in names)
            yield Text(f"{each.measure.text}: moved most: {', '.join(shown)}")


def _cells(pairs: Pairs) -> tuple[str, ...]:
    before, after = mean(list(pairs.before.values())), mean(list(pairs.after.values()))
    drops = pairs.drops().values()
    better, worse = sum(drop < -TOLERANCE for drop in drops), sum(drop > TOLERANCE for drop in drops)
    counts = f"{better:,}/{len(pairs.before) - better - worse:,}/{worse:,}"
    scores = score_text(before), score_text(after), difference_text(after - before)
    return *scores, counts, f"{len(pairs.ties):,}", f"{len(pairs.before):,}"


def _means_table(means: Mapping[str, tuple[float, int]], banded: Mapping[str, list[str]]) -> RenderableType:
    table = columns()
    table.add_column("measure", overflow="fold")
    table.add_column("mean", justify="right", no_wrap=True)
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
