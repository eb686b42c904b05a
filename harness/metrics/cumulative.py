"""Measures of cumulative gain: CG, DCG, nDCG and Q."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import log2
from typing import TYPE_CHECKING

from harness.means import exact_sum
from harness.metrics.binary import split_shares
from harness.metrics.definition import (
    CONDENSED,
    UNJUDGED,
    Choice,
    Definition,
    GainChoice,
    Kind,
    LogBase,
    Needs,
    Number,
    Range,
    Settings,
)
from harness.metrics.ranking import GradedRanking, gain_function, gains_of, ideal_gains
from harness.model.suite import GainKind

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch
    from harness.model.inspection import RankContribution
    from harness.statistics.tests import FloatArray

Discount = str
"""The name of a discount: `RANK_PLUS_ONE` or `RANK`."""

RANK_PLUS_ONE: Discount = "log"
RANK: Discount = "jarvelin"

DEEPEST_SUM = 1_000_000
"""Ranks beyond this are not summed for a bound; the bound is then left open."""

_ROUNDING = 1e-9
"""How far above 1 a ratio of two equal sums may be rounded."""

BATCH_ROUNDING = 1e-13
"""How far from 1 a ratio of two equal sums may be that were added in different orders."""

GAIN: Mapping[str, Kind] = {"gain": GainChoice(), "missing": Number(None, greatest=0.0), **UNJUDGED}
DISCOUNT: Mapping[str, Kind] = {"log": LogBase(), "discount": Choice(RANK_PLUS_ONE, (RANK_PLUS_ONE, RANK))}


def _list_gains(ranking: GradedRanking, settings: Settings) -> Sequence[float]:
    """The gains; with ``missing=``, ranks without a hit have one too."""
    gains = gains_of(settings.gain, ranking.grades, settings.optional("unjudged"))
    if settings.cutoff is None or not settings.given("missing"):
        return gains
    return fill_ranks(gains, settings.cutoff, settings.number("missing"))


def _find_worth(grade: float | None, settings: Settings) -> float:
    if grade is None:
        grade = settings.optional("unjudged")
    return 0.0 if grade is None else gain_function(settings.gain)(grade)


def _find_range(settings: Settings, weight: float | None) -> Range:
    """The range of a sum of gains, each times its rank's share of *weight*; None where the ranks have no end."""
    least, greatest = _find_gain_ends(settings)
    low: float | None = 0.0
    if least < 0:
        low = None if weight is None else least * weight
    if greatest is not None and greatest <= 0:
        return low, 0.0
    if greatest is None or weight is None:
        return low, None
    return low, greatest * weight


def _find_gain_ends(settings: Settings) -> tuple[float, float | None]:
    """The least (0 for an unjudged document) and the greatest gain a rank can hold; None where grades have no top."""
    gains = [0.0, *(gain for _, gain in settings.gain.table)]
    if settings.given("missing"):
        gains.append(settings.number("missing"))
    greatest = max(gains) if settings.gain.kind is GainKind.MAP else None
    return min(gains), greatest


def _check(settings: Settings) -> str | None:
    if not settings.given("missing"):
        return None
    if settings.cutoff is None:
        return "missing= fills the ranking up to the cutoff, so it needs one, such as @10"
    if settings.cutoff > DEEPEST_SUM:
        return f"missing= fills the ranking up to the cutoff, which may be no more than @{DEEPEST_SUM} then"
    return None


def fill_ranks(gains: Sequence[float], cutoff: int, missing: float) -> Sequence[float]:
    """
    *gains* filled up to *cutoff* ranks with the gain of a *missing* document.

    So a ranking that is too short loses against one that is not.

    >>> fill_ranks([1.0, 1.0], 4, -1.0)
    [1.0, 1.0, -1.0, -1.0]
    """
    return [*gains, *[missing] * (cutoff - len(gains))]


def _cg_range(settings: Settings) -> Range:
    """All ranks hold the worst, or the best, document of the map; other gains have no top."""
    return _find_range(settings, None if settings.cutoff is None else float(settings.cutoff))


@Definition("CG", parameters={**GAIN, **CONDENSED}, needs=Needs.GAIN, reach=_cg_range, check=_check, worth=_find_worth)
def cg(ranking: GradedRanking, settings: Settings) -> float:
    """
    Cumulative gain: the sum of g(r) over the ranks.

    Source: Järvelin & Kekäläinen (2002).

    >>> score_grades("CG(gain=linear)", [3, 2, 3, 0, 1, 2])
    11.0
    """
    return exact_sum(_list_gains(ranking, settings))


@cg.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    hits, gains = batch.gains(settings.gain, settings.cutoff)
    total, missing = batch.per_query(hits.query, gains), settings.optional("missing")
    if missing and settings.cutoff is not None:
        total += missing * (settings.cutoff - batch.hits(settings.cutoff))
    return total


def choose_divisor(kind: Discount, base: float) -> Callable[[int], float]:
    """
    The divisor of a gain at a rank (from 1), as a function of the rank.

    ``log`` is log_base(rank + 1), which every engine and trec_eval use. ``jarvelin`` is the discount of Järvelin &
    Kekäläinen (2002): none before rank *base*, log_base(rank) from there on.

    >>> round(choose_divisor("log", 2)(3), 6), choose_divisor("jarvelin", 2)(2)
    (2.0, 1.0)
    """
    scale = log2(base)
    if kind == RANK_PLUS_ONE:
        return lambda rank: log2(rank + 1) / scale
    return lambda rank: max(1.0, log2(rank) / scale)


@lru_cache(maxsize=64)
def list_divisors(kind: Discount, base: float, depth: int) -> tuple[float, ...]:
    """
    The divisors of ranks 1 to *depth*, computed once for all queries.

    >>> list_divisors("log", 2, 1)
    (1.0,)
    """
    return tuple(map(choose_divisor(kind, base), range(1, depth + 1)))


def _choose_divisors(settings: Settings) -> Callable[[int], Sequence[float]]:
    return partial(list_divisors, settings.word("discount"), settings.number("log"))


def _sum_discounted(gains: Sequence[float], settings: Settings) -> float:
    divisors = _choose_divisors(settings)(len(gains))
    # Most hits have no gain: scripts/bench/runner --by-hand.
    return exact_sum(gain / divisor for gain, divisor in zip(gains, divisors, strict=True) if gain)


def _sum_discounts(settings: Settings) -> float | None:
    if settings.cutoff is None or settings.cutoff > DEEPEST_SUM:
        return None
    return exact_sum(1.0 / divisor for divisor in _choose_divisors(settings)(settings.cutoff))


def _dcg_range(settings: Settings) -> Range:
    """The range as for CG, each rank discounted."""
    return _find_range(settings, _sum_discounts(settings))


@Definition(
    "DCG",
    parameters={**GAIN, **DISCOUNT, **CONDENSED},
    needs=Needs.GAIN,
    reach=_dcg_range,
    check=_check,
    worth=_find_worth,
)
def dcg(ranking: GradedRanking, settings: Settings) -> float:
    """
    Discounted cumulative gain: the sum of ``g(r) / log_b(r + 1)``, where *log* is b.

    With ``discount=jarvelin`` it is that of the original paper: none before rank b, ``log_b(r)`` from there on.

    Source: Järvelin & Kekäläinen (2002); the discount log(r + 1) is from Burges et al. (2005).

    >>> round(score_grades("DCG(gain=linear)", [3, 2, 3, 0, 1, 2]), 3)
    6.861
    >>> round(score_grades("DCG(gain=linear, discount=jarvelin)", [3, 2, 3, 0, 1, 2]), 3)
    8.097
    """
    return _sum_discounted(_list_gains(ranking, settings), settings)


@dcg.add_batch
def batch_dcg(batch: Batch, settings: Settings) -> FloatArray:
    """DCG, of many queries."""
    import numpy as np

    hits, gains = batch.gains(settings.gain, settings.cutoff)
    divisor_by_rank = np.array((1.0, *_choose_divisors(settings)(int(hits.rank.max(initial=0)))))  # ranks count from 1
    total = batch.per_query(hits.query, gains / divisor_by_rank[hits.rank])
    missing = settings.optional("missing")
    if missing and settings.cutoff is not None:
        # The weight of the ranks behind the last hit is that of all ranks, less that of the ranks with a hit.
        weights = np.cumsum([0.0, *(1.0 / divisor for divisor in _choose_divisors(settings)(settings.cutoff))])
        total += missing * (weights[settings.cutoff] - weights[batch.hits(settings.cutoff)])
    return total


def _find_ideal_end(ranking: GradedRanking, settings: Settings) -> int | None:
    """
    Where the ideal ranking ends: at the cutoff, at the end of the judgments, or at the number of hits.

    Only the first is sound; the others are what Quepid's nDCG@k and `_rank_eval` do.
    """
    ends = {"cut": settings.cutoff, "all": None, "returned": len(ranking.grades)}
    return ends[settings.word("ideal")]


def _ndcg_range(settings: Settings) -> Range:
    """At most 1; below 0 only with negative gains: at worst all ranks bad, and the ideal the least good document."""
    # Unjudged hits are not in the ideal ranking: together they may gain any multiple of it.
    if settings.given("unjudged"):
        return 0.0, None
    least, _ = _find_gain_ends(settings)
    positive = [gain for _, gain in settings.gain.table if gain > 0]
    if least == 0:
        return 0.0, 1.0
    weight = _sum_discounts(settings)
    if weight is None or not positive:
        return None, 1.0
    first = _choose_divisors(settings)(1)[0]
    return least * weight * first / min(positive), 1.0


@Definition(
    "nDCG",
    parameters={**GAIN, **DISCOUNT, "ideal": Choice("cut", ("cut", "all", "returned")), **CONDENSED},
    needs=Needs.GAIN,
    reach=_ndcg_range,
    check=_check,
    worth=_find_worth,
)
def ndcg(ranking: GradedRanking, settings: Settings) -> float:
    """
    Normalized discounted cumulative gain: DCG over the DCG of the ideal ranking.

    The ideal ranking has the best k of all judged documents of positive gain, returned or not.

    Source: Järvelin & Kekäläinen (2002).

    >>> round(score_grades("nDCG(gain=linear)", [3, 2, 3, 0, 1, 2]), 3)
    0.961
    """
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), _find_ideal_end(ranking, settings))
    if not ideal:
        return 0.0  # nothing was returned, and the ideal was cut there too
    share = _sum_discounted(_list_gains(ranking, settings), settings) / _sum_discounted(ideal, settings)
    # A ranking as good as the ideal one, but with other documents, has the same gains in other floats.
    return 1.0 if 1.0 < share < 1.0 + _ROUNDING else share


@ndcg.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    import numpy as np

    ends = {"cut": settings.cutoff, "all": None, "returned": batch.hits(settings.cutoff)}
    ideal = batch.ideal_dcg(settings.gain, ends[settings.word("ideal")], _choose_divisors(settings))
    share = batch.ratio(batch_dcg(batch, settings), ideal)
    return np.where(np.abs(share - 1.0) < BATCH_ROUNDING, 1.0, share)


DISCOUNTED = ("nDCG", "DCG")
"""The measures that `contributions` takes apart."""


def contributions(ranking: GradedRanking, settings: Settings) -> tuple[RankContribution, ...]:
    """
    What each rank adds to the DCG of *ranking*, and what it loses against the ideal ranking.

    The sum of what is added is the DCG. With the sum of what is lost it is the DCG of the ideal ranking. Ranks below
    the last hit are there as far as the ideal ranking goes.

    Args:
        ranking: Cut at the cutoff of *settings*.
        settings: Those of a measure in `DISCOUNTED`.

    Raises:
        MeasureError: a grade that the gain map does not hold.

    >>> from harness.metrics import parse_measure, settings_of
    >>> ranking = GradedRanking(["x", "a"], [None, 2.0], {"a": 2.0}, returned=2)
    >>> found = contributions(ranking, settings_of(parse_measure("nDCG@3")))
    >>> [(rank.document, round(rank.adds, 4), round(rank.loses, 4)) for rank in found]
    [('x', 0.0, 3.0), ('a', 1.8928, -1.8928)]
    """
    from harness.model.inspection import RankContribution

    gains = _list_gains(ranking, settings)
    end = _find_ideal_end(ranking, settings) if "ideal" in settings.values else settings.cutoff
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), end)
    length = max(len(gains), len(ideal))
    gains, ideal = fill_ranks(gains, length, 0.0), fill_ranks(ideal, length, 0.0)
    ranks = []
    for place, divisor in enumerate(_choose_divisors(settings)(length)):
        has_hit = place < len(ranking.ids)
        rank = RankContribution(
            rank=place + 1,
            document=ranking.ids[place] if has_hit else None,
            grade=ranking.grades[place] if has_hit else None,
            gain=gains[place],
            discount=divisor,
            adds=gains[place] / divisor,
            loses=(ideal[place] - gains[place]) / divisor,
        )
        ranks.append(rank)
    return tuple(ranks)


def _find_positive_worth(grade: float | None, settings: Settings) -> float:
    return max(0.0, _find_worth(grade, settings))


@Definition(
    "Q",
    parameters={"gain": GainChoice(), "beta": Number(1.0, least=0.0), **CONDENSED},
    needs=Needs.GAIN,
    worth=_find_positive_worth,
)
def q_measure(ranking: GradedRanking, settings: Settings) -> float:
    """
    The Q-measure, average precision with graded judgments: precision is blended with cumulative gain.

    It is the sum, over the relevant ranks, of (relevant so far + beta CG(r)) / (r + beta ideal CG(r)), divided by the
    lesser of R and k. Documents of positive gain are relevant.

    Source: Sakai (2004); with a cutoff, Sakai (2014).

    >>> round(score_grades("Q(gain=linear)", [3, 0, 1]), 4)
    0.9286
    """
    gains = [max(gain, 0.0) for gain in gains_of(settings.gain, ranking.grades)]
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), None)
    # Both sums of the blend are divided by 1 + beta: a large beta would overflow.
    of_gain, of_rank = split_shares(settings.number("beta"))
    found, cumulated, ideal_cumulated, value = 0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        if rank <= len(ideal):
            ideal_cumulated += ideal[rank - 1]
        cumulated += gain
        if gain > 0:
            found += 1
            value += (of_rank * found + of_gain * cumulated) / (of_rank * rank + of_gain * ideal_cumulated)
    reachable = len(ideal) if settings.cutoff is None else min(len(ideal), settings.cutoff)
    return value / reachable


MEASURES = (cg, dcg, ndcg, q_measure)
