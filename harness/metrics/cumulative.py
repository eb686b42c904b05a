"""
Cumulative gain, discounted, normalised.

All take *gains*: what the document at each rank is worth, best rank first, cut at k. An unjudged document gains 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import UndefinedScore
from harness.metrics.discount import RANK_PLUS_ONE, Discount, divisors

__all__ = ["ROUNDING", "cg", "dcg", "fixed_length", "ndcg"]


ROUNDING = 1e-9
"""How far above 1 a ratio of two equal sums may be rounded."""


def cg(gains: Sequence[float]) -> float:
    """
    Cumulative gain: the sum of the gains, whatever their order.

    Source: Järvelin & Kekäläinen (2002).

    >>> cg([3, 2, 3, 0, 1, 2])
    11.0
    """
    return float(sum(gains))


def dcg(gains: Sequence[float], *, log: float = 2.0, discount: Discount = RANK_PLUS_ONE) -> float:
    """
    Discounted cumulative gain: the sum of gain / log_b(rank + 1), where *log* is b.

    *discount* chooses Järvelin & Kekäläinen's own instead: see `harness.metrics.discount`.

    Source: Burges et al. (2005) for the discount log(rank + 1); Järvelin & Kekäläinen (2002) for the measure.

    >>> round(dcg([3, 2, 3, 0, 1, 2]), 3)
    6.861
    >>> round(dcg([3, 2, 3, 0, 1, 2], discount="jarvelin"), 3)
    8.097
    """
    return float(sum(gain / divisor for gain, divisor in zip(gains, divisors(discount, log, len(gains)), strict=True)))


def ndcg(
    gains: Sequence[float], ideal: Sequence[float], *, log: float = 2.0, discount: Discount = RANK_PLUS_ONE
) -> float:
    """
    Normalised discounted cumulative gain: DCG over the DCG of the *ideal* ranking.

    Args:
        gains: The gain at each rank, cut at k.
        ideal: The gains of the best k of all judged documents, returned or not, only positive ones, best first.
        log: Base of the logarithm; it cancels out, except under Järvelin & Kekäläinen's discount.
        discount: Which discount.

    Returns:
        Dimensionless, at most 1, and at least 0 where no gain is negative.

    Raises:
        UndefinedScore: *ideal* is empty.

    Source: Järvelin & Kekäläinen (2002).

    >>> round(ndcg([3, 2, 3, 0, 1, 2], ideal=[3, 3, 2, 2, 1]), 3)
    0.961
    """
    if not ideal:
        raise UndefinedScore("no judged document has a positive gain, so there is no ideal ranking to compare with")
    share = dcg(gains, log=log, discount=discount) / dcg(ideal, log=log, discount=discount)
    return 1.0 if 1.0 < share < 1.0 + ROUNDING else share


def fixed_length(gains: Sequence[float], cutoff: int, missing: float) -> Sequence[float]:
    """
    *gains* filled up to *cutoff* ranks with the gain of a *missing* document.

    So a ranking that is too short loses against one that is not.

    >>> fixed_length([1.0, 1.0], 4, -1.0)
    [1.0, 1.0, -1.0, -1.0]
    """
    return [*gains, *[missing] * (cutoff - len(gains))]
