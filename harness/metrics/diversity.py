"""
Measures for queries with several meanings: a document is judged for each subtopic, and novelty counts.

A ranking has *hits*: for the document at each rank, the subtopics that it is relevant to, cut at k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log2

from harness.means import exact_sum
from harness.metrics.definition import LEVEL, Definition, GainChoice, Kind, Number, Settings
from harness.metrics.ranking import Covering, DiverseRanking, gain_function

NOVELTY: Mapping[str, Kind] = {**LEVEL, "alpha": Number(0.5, 0.0, 1.0)}


def list_novelty_gains(hits: Iterable[Mapping[str, Covering]], alpha: float) -> list[float]:
    """
    The gain at each rank: 1 for each subtopic covered, or the share of it that the hit adds, times 1 - *alpha* for each
    document that covered it before.

    >>> list_novelty_gains([{"s": Covering(1), "t": Covering(1)}, {"s": Covering(1)}], alpha=0.5)
    [2.0, 0.5]
    """
    seen: Counter[str] = Counter()
    gains = []
    for covered in hits:
        parts = [covering.share * (1.0 - alpha) ** seen[subtopic] for subtopic, covering in covered.items()]
        gains.append(exact_sum(parts))
        seen.update(covered.keys())
    return gains


def _sum_novelty(hits: Iterable[Mapping[str, Covering]], alpha: float) -> float:
    return _discount(list_novelty_gains(hits, alpha))


def _discount(gains: Iterable[float]) -> float:
    """The sum of *gains*, each over the logarithm of its rank and one."""
    return exact_sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


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
    return _sum_novelty(ranking.hits, settings.number("alpha"))


def find_ideal_covers(
    documents: Sequence[Mapping[str, Covering]], alpha: float, cutoff: int | None
) -> list[Mapping[str, Covering]]:
    """
    The documents in the order that gains most at each rank, which is close to the ideal order.

    The ideal order is hard to compute (Carterette 2009), so this is the greedy one, as in TREC's ndeval. The order of
    *documents* breaks ties of gain; those that cover nothing are left out.

    >>> s, t, u = ({name: Covering(1)} for name in "stu")
    >>> [sorted(covered) for covered in find_ideal_covers([s, {**s, **t}, u], alpha=0.5, cutoff=2)]
    [['s', 't'], ['u']]
    """
    candidates = [covered for covered in documents if covered]
    seen: Counter[str] = Counter()
    order: list[Mapping[str, Covering]] = []
    while candidates and (cutoff is None or len(order) < cutoff):
        gains = [exact_sum((1.0 - alpha) ** seen[subtopic] for subtopic in covered) for covered in candidates]
        best = candidates.pop(gains.index(max(gains)))
        order.append(best)
        seen.update(best.keys())
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
    ideal = find_ideal_covers(ranking.judged, alpha, settings.cutoff)
    return _sum_novelty(ranking.hits, alpha) / _sum_novelty(ideal, alpha)


@Definition("ERR_IA", parameters=NOVELTY).add_diverse
def err_ia(ranking: DiverseRanking, settings: Settings) -> float:
    """
    ERR over the subtopics, divided by that of documents that all cover every subtopic.

    Source: Chapelle et al. (2009), normalized as in TREC's ndeval.

    >>> round(score_covers("ERR_IA@2", ["s", "st"]), 4)
    0.7
    """
    alpha = settings.number("alpha")
    value = exact_sum(gain / rank for rank, gain in enumerate(list_novelty_gains(ranking.hits, alpha), start=1))
    # The ranks that the perfect documents fill.
    depth = len(ranking.hits) if settings.cutoff is None else settings.cutoff
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
    shares: dict[str, float] = {}
    for covered in ranking.hits:
        for subtopic, covering in covered.items():
            shares[subtopic] = shares.get(subtopic, 0.0) + covering.share
    return exact_sum(min(1.0, share) for share in shares.values()) / ranking.subtopics


class _BestGains:
    """The gain of each subtopic by the hits so far."""

    def __init__(self, settings: Settings) -> None:
        self._find_gain = gain_function(settings.gain)
        self._shares: dict[str, float] = {}
        self._gains: dict[str, float] = {}

    def list_better(self, covered: Mapping[str, Covering]) -> dict[str, float]:
        """The gain of each subtopic that a hit with *covered* raises, after it."""
        better = {}
        for subtopic, covering in covered.items():
            share = min(1.0, self._shares.get(subtopic, 0.0) + covering.share)
            gain = share * self._find_gain(covering.grade)
            if gain > self._gains.get(subtopic, 0.0):
                better[subtopic] = gain
        return better

    def measure(self, covered: Mapping[str, Covering]) -> float:
        """What a hit with *covered* would add."""
        return exact_sum(gain - self._gains.get(name, 0.0) for name, gain in self.list_better(covered).items())

    def add(self, covered: Mapping[str, Covering]) -> float:
        """Add a hit with *covered*; returns what it adds."""
        added = self.measure(covered)
        self._gains |= self.list_better(covered)
        for subtopic, covering in covered.items():
            self._shares[subtopic] = self._shares.get(subtopic, 0.0) + covering.share
        return added


@Definition("St_nDCG", parameters={"gain": GainChoice()}).add_diverse
def subtopic_ndcg(ranking: DiverseRanking, settings: Settings) -> float:
    """
    DCG over that of the ideal order, where a subtopic gains once, by its grade.

    A hit gains for each subtopic what its grade is worth beyond that of the hits above it. So a subtopic that several
    hits cover counts at the first of them. The ideal order is found greedily, as for alpha_nDCG.

    Source: nDCG (Järvelin & Kekäläinen 2002), and the gain of novelty of alpha_nDCG (Clarke et al. 2008) for alpha = 1.

    >>> round(score_covers("St_nDCG@3", ["s", "st", "t"]), 4)
    0.8155
    """
    so_far = _BestGains(settings)
    gains = [so_far.add(covered) for covered in ranking.hits]
    ideal = _BestGains(settings)
    candidates = list(ranking.judged)
    ideal_gains: list[float] = []
    while candidates and (settings.cutoff is None or len(ideal_gains) < settings.cutoff):
        added = [ideal.measure(covered) for covered in candidates]
        if not max(added) > 0:
            break
        ideal_gains.append(ideal.add(candidates.pop(added.index(max(added)))))
    best = _discount(ideal_gains)
    return _discount(gains) / best if best else 0.0


MEASURES = (alpha_dcg, alpha_ndcg, err_ia, subtopic_recall, subtopic_ndcg)
