"""Queries that chose one of the requests that are compared: a tuning tries many, and keeps the best on them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace

from harness.extensions import load_extensions
from harness.extensions.compare.scores import ScoredSides, compare_measures
from harness.extensions.compare.sides import ComparedSide
from harness.model.suite import Suite
from harness.report.sentences import format_difference, format_limits, format_p
from harness.words import count


def describe_choosing_queries(pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides) -> Iterator[str]:
    """
    A sentence for each of *pair* whose request was chosen by some of the queries in *scored*, with the difference on
    the others, by the first measure.

    A request against itself, on two indexes say, was not chosen over the other side.
    """
    if pair[0].template == pair[1].template:
        return
    queries = scored.suite.queries
    for side in pair:
        choosing = list_choosing_queries(scored.suite, side)
        others = tuple(query for query in queries if query.id not in choosing)
        chosen_by = len(queries) - len(others)
        if not chosen_by:
            continue
        of_all = f"{chosen_by:,} of these {count(len(queries), 'query')}"
        sentence = f"{of_all} chose {side.name}, so that its figures are too good"
        held_out = replace(scored, suite=replace(scored.suite, queries=others))
        comparison, _ = compare_measures((pair[0].name, pair[1].name), held_out, None)
        if comparison is None:
            yield sentence
            continue
        row = comparison.measures[0]
        figures = f"95 % interval {format_limits(row.low, row.high)}, p {format_p(row.p_value)}"
        yield (
            f"{sentence}; on the other {len(others):,} the difference in {row.measure} is "
            f"{format_difference(row.difference)} ({figures})"
        )


def list_choosing_queries(suite: Suite, side: ComparedSide) -> frozenset[str]:
    """The ids of the queries of *suite* that chose the request of *side*; none where it is not known."""
    if not suite.path or side.template is None:
        return frozenset()
    ids: set[str] = set()
    for extension in load_extensions():
        for chooser in extension.choosers:
            module = importlib.import_module(chooser.module)
            ids |= getattr(module, chooser.function)(suite, side.template)
    return frozenset(ids)
