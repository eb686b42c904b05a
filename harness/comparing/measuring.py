"""The measures of two runs, tested; and why some were not. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from harness.comparing.basis import ScoredSides
from harness.errors import UsageError
from harness.gate.scope import count
from harness.metrics.run_scores import common_measures
from harness.model import Comparison, Score

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions

__all__ = ["absent_packages", "compare_measures", "require_packages", "score_tables"]


NEEDED = ("numpy", "scipy")
FEWEST = 2
"""Queries that an interval needs."""

Table = dict[str, float | None]


def compare_measures(
    names: tuple[str, str], basis: ScoredSides, how: ComparisonOptions | None
) -> tuple[Comparison | None, tuple[str, ...]]:
    """
    Test each measure of *basis* over the queries that have a score on both sides.

    Args:
        names: What the two are called.
        basis: Holds the scores.
        how: How differences are tested; as usual where None.

    Returns:
        The comparison, None where no measure has two such queries, and a sentence for each measure that is left out.

    Raises:
        UsageError: The packages for statistics are not installed.
        StatisticError: The t test was asked for and no query differs.
    """
    reference, candidate = (score_tables(basis, scores) for scores in basis.scores)
    both = {measure: _in_both(reference[measure], candidate[measure]) for measure in reference}
    tested = [measure for measure in reference if both[measure] >= FEWEST]
    notes = tuple(
        f"{measure} is not tested: {count(scored, 'query')} {'has' if scored == 1 else 'have'} a score on both sides"
        for measure, scored in both.items()
        if scored < FEWEST
    )
    if not tested or not basis.is_judged:
        return None, notes if basis.is_judged else ()
    require_packages()
    from harness.statistics.compare import compare

    sides = ({measure: table[measure] for measure in tested} for table in (reference, candidate))
    weights = {query.id: query.weight for query in basis.suite.queries}
    return compare(*sides, names=names, options=how, weights=weights), notes


def score_tables(basis: ScoredSides, scores: Sequence[Score]) -> dict[str, Table]:
    """By measure, then by query of *basis*, the values of *scores*; None where there is no finite one."""
    values = {
        (score.query, score.measure): score.value
        for score in scores
        if score.value is not None and math.isfinite(score.value)
    }
    return {
        measure.text: {query.id: values.get((query.id, measure.text)) for query in basis.suite.queries}
        for measure in common_measures(basis.suite)
    }


def _in_both(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> int:
    return sum(value is not None and second.get(query) is not None for query, value in first.items())


def absent_packages() -> list[str]:
    """Those of the packages for statistics that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


def require_packages() -> None:
    """Raise UsageError where the packages for statistics are not installed."""
    absent = absent_packages()
    if absent:
        raise UsageError(
            f"measures are compared with {' and '.join(absent)}, not installed: "
            "pip install 'relevance-harness[statistics]' brings what is needed"
        )
