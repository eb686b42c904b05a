"""How far each measure can go: the least and the greatest value, so that a threshold beyond it is refused."""

from __future__ import annotations

from math import log

from harness.measures.definition import Range, Settings
from harness.metrics.cascade import err, stop_probability
from harness.metrics.discount import divisors
from harness.model import GainKind

__all__ = ["DEEPEST_SUM", "cg_range", "count_range", "dcg_range", "err_range", "ndcg_range", "rbp_range"]


DEEPEST_SUM = 1_000_000
"""Ranks beyond this are not summed for a bound; the bound is then left open."""


def count_range(settings: Settings) -> Range:
    """Documents among the hits: none, to all *cutoff* of them."""
    return 0.0, None if settings.cutoff is None else float(settings.cutoff)


def cg_range(settings: Settings) -> Range:
    """All ranks hold the worst, or the best, document of the map; other gains have no top."""
    return _spread(settings, None if settings.cutoff is None else float(settings.cutoff))


def dcg_range(settings: Settings) -> Range:
    """As for CG, each rank discounted."""
    return _spread(settings, _discount_sum(settings))


def ndcg_range(settings: Settings) -> Range:
    """At most 1; below 0 only with negative gains: at worst all ranks bad, and the ideal the least good document."""
    if settings.given("unjudged"):
        return 0.0, None
    least, _ = _gains_of_suite(settings)
    positive = [worth for _, worth in settings.gain.table if worth > 0]
    if least == 0:
        return 0.0, 1.0
    weight = _discount_sum(settings)
    if weight is None or not positive:
        return None, 1.0
    first = divisors(settings.word("discount"), settings.number("log"), 1)[0]
    return least * weight * first / min(positive), 1.0


def _spread(settings: Settings, weight: float | None) -> Range:
    least, greatest = _gains_of_suite(settings)
    low = None if least < 0 and weight is None else least * (weight or 0.0)
    high = None if greatest is None or (greatest > 0 and weight is None) else greatest * (weight or 0.0)
    return low, high


def _gains_of_suite(settings: Settings) -> tuple[float, float | None]:
    """The least (0 for an unjudged document) and the greatest gain a rank can hold; None where grades have no top."""
    worths = [worth for _, worth in settings.gain.table]
    if settings.given("missing"):
        worths.append(settings.number("missing"))
    greatest = max([0.0, *worths]) if settings.gain.kind is GainKind.MAP else None
    return min([0.0, *worths]), greatest


def _discount_sum(settings: Settings) -> float | None:
    if settings.cutoff is None or settings.cutoff > DEEPEST_SUM:
        return None
    depth = divisors(settings.word("discount"), settings.number("log"), settings.cutoff)
    return sum(1.0 / divisor for divisor in depth)


def err_range(settings: Settings) -> Range:
    """All ranks hold documents of the top grade; without a cutoff, the limit of ever more of them."""
    stop = stop_probability(settings.number("max"), settings.number("max"))
    if settings.cutoff is None or settings.cutoff > DEEPEST_SUM:
        return 0.0, -stop * log(stop) / (1.0 - stop) if 0.0 < stop < 1.0 else stop
    return 0.0, err([stop] * settings.cutoff)


def rbp_range(settings: Settings) -> Range:
    """All ranks hold documents of full use."""
    return 0.0, 1.0 if settings.cutoff is None else 1.0 - settings.number("p") ** settings.cutoff
