"""
Measures for queries with several meanings: a document is judged for each subtopic, and novelty counts.

A ranking has *covers*: for the document at each rank, the subtopics that it is relevant to, cut at k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2

from harness.means import exact_sum
from harness.metrics.definition import LEVEL, Definition, Kind, Number, Settings
from harness.metrics.ranking import DiverseRanking

NOVELTY: Mapping[str, Kind] = {**LEVEL, "alpha": Number(0.5, 0.0, 1.0)}


def list_novelty_gains(covers: Iterable[Collection[str]], alpha: float) -> list[float]:
    """
    The gain at each rank: 1 for each subtopic covered, times 1 - *alpha* for each document that covered it before.

    >>> list_novelty_gains([{"s", "t"}, {"s"}], alpha=0.5)
    [2.0, 0.5]
    """
    seen: Counter[str] = Counter()
    gains = []
    for covered in covers:
        gains.append(exact_sum((1.0 - alpha) ** seen[subtopic] for subtopic in covered))
        seen.update(covered)
    return gains


def _sum_novelty(covers: Iterable[Collection[str]], alpha: float) -> float:
    return exact_sum(gain / log2(rank + 1) for rank, gain in enumerate(list_novelty_gains(covers, alpha), start=1))


@Definition("alpha_DCG", parameters=NOVELTY, reach=lambda _: (0.0, None)).add_diverse
def alpha_dcg(ranking: DiverseRanking, settings: Settings) -> float:
    """
    DCG with a gain of (1 - alpha)^c for each subtopic of a document, if c documents above cover the subtopic too.

    The measure of this name in ndeval and ir_measures is another one: this sum, divided by that of k documents which
    all cover every subtopic.

    Source: Clarke et al. (2008).

    >>> round(score_covers("alpha_DCG", ["st", "s"]), 4)
    2.3155
    """
    return _sum_novelty(ranking.covers, settings.number("alpha"))


def find_ideal_covers(documents: Sequence[Collection[str]], alpha: float, cutoff: int | None) -> list[Collection[str]]:
    """
    The documents in the order that gains most at each rank, which is close to the ideal order.

    The ideal order is hard to compute (Carterette 2009), so this is the greedy one, as in TREC's ndeval. The order of
    *documents* breaks ties of gain; those that cover nothing are left out.

    >>> find_ideal_covers([{"s"}, {"s", "t"}, {"u"}], alpha=0.5, cutoff=2) == [{"s", "t"}, {"u"}]
    True
    """
    candidates = [covered for covered in documents if covered]
    seen: Counter[str] = Counter()
    order: list[Collection[str]] = []
    while candidates and (cutoff is None or len(order) < cutoff):
        gains = [exact_sum((1.0 - alpha) ** seen[subtopic] for subtopic in covered) for covered in candidates]
        best = candidates.pop(gains.index(max(gains)))
        order.append(best)
        seen.update(best)
    return order


@Definition("alpha_nDCG", parameters=NOVELTY).add_diverse
def alpha_ndcg(ranking: DiverseRanking, settings: Settings) -> float:
    """
    alpha-DCG over that of the ideal order.

    The ideal order is found greedily, as in ndeval. It is close to the best order, but not always equal to it.

    Source: Clarke et al. (2008).

    >>> round(score_covers("alpha_nDCG@2", ["s", "st"]), 4)
    0.8406
    """
    alpha = settings.number("alpha")
    ideal = find_ideal_covers(ranking.judged_covers, alpha, settings.cutoff)
    return _sum_novelty(ranking.covers, alpha) / _sum_novelty(ideal, alpha)


@Definition("ERR_IA", parameters=NOVELTY).add_diverse
def err_ia(ranking: DiverseRanking, settings: Settings) -> float:
    """
    ERR over the subtopics, divided by that of documents that all cover every subtopic.

    Source: Chapelle et al. (2009), normalized as in TREC's ndeval.

    >>> round(score_covers("ERR_IA@2", ["s", "st"]), 4)
    0.7
    """
    alpha = settings.number("alpha")
    value = exact_sum(gain / rank for rank, gain in enumerate(list_novelty_gains(ranking.covers, alpha), start=1))
    # The ranks that the perfect documents fill.
    depth = len(ranking.covers) if settings.cutoff is None else settings.cutoff
    perfect_gains = [ranking.subtopics * (1.0 - alpha) ** seen for seen in range(depth)]
    best = exact_sum(gain / rank for rank, gain in enumerate(perfect_gains, start=1))
    return value / best if best else 0.0


@Definition("StRecall", parameters=LEVEL).add_diverse
def subtopic_recall(ranking: DiverseRanking, _settings: Settings) -> float:
    """
    The share of the subtopics that at least one hit covers.

    Source: Zhai, Cohen & Lafferty (2003).

    >>> score_covers("StRecall@1", ["s", "t"])
    0.5
    """
    return len(frozenset().union(*ranking.covers)) / ranking.subtopics


MEASURES = (alpha_dcg, alpha_ndcg, err_ia, subtopic_recall)
