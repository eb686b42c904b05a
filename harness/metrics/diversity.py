"""
Measures for queries with several meanings: a document is judged for each subtopic, and novelty counts.

All take *covers*: for the document at each rank, the subtopics that it is relevant to, cut at k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2

from harness.errors import UndefinedScore
from harness.means import exact_sum
from harness.metrics.definition import LEVEL, Definition, Kind, Number, Settings
from harness.metrics.ranking import DiverseRanking

NOVELTY: Mapping[str, Kind] = {**LEVEL, "alpha": Number(0.5, 0.0, 1.0)}


def novelty_gains(covers: Iterable[Collection[str]], alpha: float) -> list[float]:
    """
    The gain at each rank: 1 for each subtopic covered, times 1 - *alpha* for each document that covered it before.

    >>> novelty_gains([{"s", "t"}, {"s"}], alpha=0.5)
    [2.0, 0.5]
    """
    seen: Counter[str] = Counter()
    gains = []
    for covered in covers:
        gains.append(exact_sum((1.0 - alpha) ** seen[subtopic] for subtopic in covered))
        seen.update(covered)
    return gains


def alpha_dcg(covers: Sequence[Collection[str]], alpha: float = 0.5) -> float:
    """
    DCG with a gain of (1 - alpha)^c for each subtopic of a document, if c documents above cover the subtopic too.

    The measure of this name in ndeval and ir_measures is another one: this sum, divided by that of k documents which
    all cover every subtopic.

    Source: Clarke et al. (2008).

    >>> round(alpha_dcg([{"s", "t"}, {"s"}]), 4)
    2.3155
    """
    return exact_sum(gain / log2(rank + 1) for rank, gain in enumerate(novelty_gains(covers, alpha), start=1))


ALPHA_DCG = Definition(
    "alpha_DCG",
    parameters=NOVELTY,
    reach=lambda _: (0.0, None),
    diverse=lambda ranking, settings: alpha_dcg(ranking.covers, settings.number("alpha")),
)


def alpha_ndcg(
    covers: Sequence[Collection[str]], ideal: Sequence[Collection[str]], cutoff: int | None, alpha: float = 0.5
) -> float:
    """
    alpha-DCG over that of the ideal order.

    The ideal order is found greedily, as in ndeval. It is close to the best order, but not always equal to it.

    Raises:
        UndefinedScore: no document is relevant to any subtopic.

    Source: Clarke et al. (2008).

    >>> round(alpha_ndcg([{"s"}, {"s", "t"}], ideal=[{"s", "t"}, {"s"}], cutoff=2), 4)
    0.8406
    """
    if not ideal:
        raise UndefinedScore("no judged document is relevant to a subtopic")
    return alpha_dcg(covers, alpha) / alpha_dcg(ideal[:cutoff], alpha)


def ideal_covers(documents: Sequence[Collection[str]], alpha: float, cutoff: int | None) -> list[Collection[str]]:
    """
    The documents in the order that gains most at each rank, which is close to the ideal order.

    The ideal order is hard to compute (Carterette 2009), so this is the greedy one, as in TREC's ndeval. The order of
    *documents* breaks ties of gain; those that cover nothing are left out.

    >>> ideal_covers([{"s"}, {"s", "t"}, {"u"}], alpha=0.5, cutoff=2) == [{"s", "t"}, {"u"}]
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


def _alpha_ndcg(ranking: DiverseRanking, settings: Settings) -> float:
    alpha = settings.number("alpha")
    ideal = ideal_covers(ranking.judged_covers, alpha, settings.cutoff)
    return alpha_ndcg(ranking.covers, ideal, settings.cutoff, alpha)


ALPHA_NDCG = Definition("alpha_nDCG", parameters=NOVELTY, diverse=_alpha_ndcg)


def err_ia(covers: Sequence[Collection[str]], subtopics: int, depth: int, alpha: float = 0.5) -> float:
    """
    ERR over the subtopics, divided by that of documents that all cover every subtopic.

    Args:
        covers: The subtopics that the document at each rank covers.
        subtopics: How many subtopics have a relevant document.
        depth: Ranks that the perfect documents fill: the cutoff, or the hits where there is none.
        alpha: The probability that a relevant document satisfies the user.

    Raises:
        UndefinedScore: *subtopics* is 0.

    Source: Chapelle et al. (2009), normalized as in TREC's ndeval.

    >>> round(err_ia([{"s"}, {"s", "t"}], subtopics=2, depth=2), 4)
    0.7
    """
    if not subtopics:
        raise UndefinedScore("no judged document is relevant to a subtopic")
    gains = novelty_gains(covers, alpha)
    value = exact_sum(gain / rank for rank, gain in enumerate(gains, start=1))
    perfect_gains = [subtopics * (1.0 - alpha) ** seen for seen in range(depth)]
    best = exact_sum(gain / rank for rank, gain in enumerate(perfect_gains, start=1))
    return value / best if best else 0.0


def _err_ia(ranking: DiverseRanking, settings: Settings) -> float:
    depth = len(ranking.covers) if settings.cutoff is None else settings.cutoff
    return err_ia(ranking.covers, ranking.subtopics, depth, settings.number("alpha"))


ERR_IA = Definition("ERR_IA", parameters=NOVELTY, diverse=_err_ia)


def subtopic_recall(covers: Iterable[Collection[str]], subtopics: int) -> float:
    """
    The share of the subtopics that at least one hit covers.

    Raises:
        UndefinedScore: *subtopics* is 0.

    Source: Zhai, Cohen & Lafferty (2003).

    >>> subtopic_recall([{"s"}, {"s"}], subtopics=2)
    0.5
    """
    if not subtopics:
        raise UndefinedScore("no judged document is relevant to a subtopic")
    return len(frozenset().union(*covers)) / subtopics


ST_RECALL = Definition(
    "StRecall", parameters=LEVEL, diverse=lambda ranking, _: subtopic_recall(ranking.covers, ranking.subtopics)
)

MEASURES = (ALPHA_DCG, ALPHA_NDCG, ERR_IA, ST_RECALL)
