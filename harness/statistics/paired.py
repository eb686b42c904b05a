"""The scores of the same queries in two runs: which queries have both, and what changed. Without numpy; pure."""

from __future__ import annotations

from collections.abc import Mapping

EQUAL = 1e-9
"""How far apart two equal numbers may be: they are sums of the same terms in another order."""


def pair_defined(
    reference: Mapping[str, float | None], candidate: Mapping[str, float | None]
) -> dict[str, tuple[float, float]]:
    """
    Both scores of each query that has one in both runs, in the order of *reference*.

    None is a score that is not defined, or that a run has no ranking for; it is in no pair, as is a query that a run
    does not hold. What then follows is for who pairs: the gate fails the threshold, unless the suite leaves such
    queries out; a comparison leaves them out and says how many; a tuning leaves them out of each trial alike.

    >>> pair_defined({"a": 0.5, "b": None, "c": 1.0}, {"c": 0.8, "b": 0.2})
    {'c': (1.0, 0.8)}
    """
    pairs = {}
    for query, before in reference.items():
        after = candidate.get(query)
        if before is not None and after is not None:
            pairs[query] = (before, after)
    return pairs


def compute_change(before: float | None, after: float | None) -> float | None:
    """*after* minus *before*; None where one of them is, 0 where only the order of summation differs."""
    if before is None or after is None:
        return None
    # An infinite score minus itself would be NaN.
    if before == after or abs(after - before) <= EQUAL:
        return 0.0
    return after - before
