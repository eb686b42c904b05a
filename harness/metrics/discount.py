"""How much a gain is worth at a rank."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log2

__all__ = ["RANK", "RANK_PLUS_ONE", "Discount", "discount", "divisors"]


Discount = str
"""The name of a discount: `RANK_PLUS_ONE` or `RANK`."""

RANK_PLUS_ONE: Discount = "log"
RANK: Discount = "jarvelin"


def discount(kind: Discount, base: float) -> Callable[[int], float]:
    """
    What a gain at a rank (from 1) is divided by.

    ``log`` is log_base(rank + 1), which every engine and trec_eval use. ``jarvelin`` is the discount of Järvelin &
    Kekäläinen (2002): none before rank *base*, log_base(rank) from there on.

    >>> round(discount("log", 2)(3), 6), discount("jarvelin", 2)(2)
    (2.0, 1.0)
    """
    scale = log2(base)
    if kind == RANK_PLUS_ONE:
        return lambda rank: log2(rank + 1) / scale
    return lambda rank: max(1.0, log2(rank) / scale)


@lru_cache(maxsize=64)
def divisors(kind: Discount, base: float, depth: int) -> tuple[float, ...]:
    """The divisors of ranks 1 to *depth*, computed once for all queries."""
    return tuple(map(discount(kind, base), range(1, depth + 1)))
