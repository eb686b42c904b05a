"""The mean of each measure over all orders of the documents that share a score, and the best order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, log, prod
from operator import mul
from typing import TypeAlias, TypeVar

from harness.metrics import graded as cascade
from harness.metrics import graded as cumulative
from harness.metrics.binary import shares_of
from harness.metrics.catalogue import ideal_cutoff
from harness.metrics.definition import Settings
from harness.metrics.ranking import GradedRanking, gain_function, ideal_gains

__all__ = [
    "EXPECTED",
    "WORTH",
    "expected_average_precision",
    "expected_bpref",
    "expected_err",
    "expected_q",
    "expected_reciprocal_rank",
    "expected_success",
    "mean_by_group",
]


# The mean of a metric over all orders of the documents that share a score.
#
# An engine gives documents of equal score in any order, so the score that a ranking got is one of many. All functions
# take values by rank, not cut, and *groups*: how many documents share each score, in the order of the ranking.
#
# Source: McSherry & Najork (2008), "Computing information retrieval performance measures efficiently in the presence
# of tied scores", for precision, recall, RR, AP and nDCG; the others follow from the same reasoning.


T = TypeVar("T")

NOTHING = 1e-18
"""A chance that changes no digit of a sum."""


def mean_by_group(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    """
    Each value replaced by the mean of its group: whatever is linear in the values has its mean there.

    >>> mean_by_group([3.0, 1.0, 0.0], [1, 2])
    [3.0, 0.5, 0.5]
    """
    return [mean for _, members in _split(values, groups) for mean in [sum(members) / len(members)] * len(members)]


def expected_reciprocal_rank(relevant: Sequence[bool], groups: Sequence[int], cutoff: int | None) -> float:
    """
    The first group that holds a relevant document decides; its r relevant ones fall anywhere among its n places.

    >>> expected_reciprocal_rank([False, True], [2], None)
    0.75
    """
    for start, members in _split(relevant, groups):
        size, hits = len(members), sum(members)
        if hits:
            places = min(size - hits + 1, _left(start, size, cutoff))
            missed = _missed(size, hits, places)
            return sum(still * hits / (size - above) / (start + above + 1) for above, still in enumerate(missed[:-1]))
    return 0.0


def expected_success(relevant: Sequence[bool], groups: Sequence[int], cutoff: int | None) -> float:
    """
    1 less the probability that no relevant document of the group that the cutoff divides comes above it.

    >>> expected_success([False, True], [2], 1)
    0.5
    """
    missed = 1.0
    for start, members in _split(relevant, groups):
        size = len(members)
        missed *= _missed(size, sum(members), _left(start, size, cutoff))[-1]
    return 1.0 - missed


def expected_average_precision(
    relevant: Sequence[bool], groups: Sequence[int], total: int, cutoff: int | None
) -> float:
    """
    The mean of average precision.

    >>> expected_average_precision([False, True], [2], total=1, cutoff=None)
    0.75
    """
    return expected_q([float(hit) for hit in relevant], [], groups, total, cutoff, beta=0.0)


def expected_q(
    gains: Sequence[float], ideal: Sequence[float], groups: Sequence[int], total: int, cutoff: int | None, beta: float
) -> float:
    """
    The mean of the Q-measure, and with *beta* 0 of average precision; divided by *total*.

    A relevant document stands at each place of its group as often as at any other, and the others are spread evenly
    over the rest.

    >>> expected_q([0.0, 2.0], [2.0], [2], total=1, cutoff=None, beta=1.0)
    0.875
    """
    of_gain, of_rank = shares_of(beta)
    blended = [of_rank * float(gain > 0) + of_gain * gain for gain in gains]
    value, above, best = 0.0, 0.0, 0.0
    for start, members in _split(blended, groups):
        size, whole = len(members), sum(members)
        found = [worth for worth, gain in zip(members, gains[start : start + size], strict=True) if gain > 0]
        of_found = sum(found)
        for at in range(1, size + 1):
            rank = start + at
            best += ideal[rank - 1] if rank <= len(ideal) else 0.0
            if cutoff is not None and rank > cutoff:
                break
            others = (at - 1) / (size - 1) if size > 1 else 0.0
            term = (len(found) * (above + others * whole) + (1.0 - others) * of_found) / size
            value += term / (of_rank * rank + of_gain * best)
        above += whole
    return value / total


def expected_err(stops: Sequence[float], groups: Sequence[int], cutoff: int | None) -> float:
    """
    The mean of ERR: the chance to stop at a place is that of still looking above it, less that of looking below it.

    >>> expected_err([0.5, 0.0], [2], None)
    0.375
    """
    value, reach = 0.0, 1.0
    for start, members in _split(stops, groups):
        looking = _still_looking(members, _left(start, len(members), cutoff))
        value += reach * sum(
            (before - after) / (start + at) for at, (before, after) in enumerate(pairwise(looking), start=1)
        )
        reach *= prod(1.0 - stop for stop in members)
    return value


def expected_bpref(kinds: Sequence[bool | None], groups: Sequence[int], total: int, most: int) -> float:
    """
    The mean of Bpref: before a relevant document stand none to all of its group's others, each as often.

    *kinds* tells by rank whether the document is relevant, None for one that does not count; *total* is R, and *most*
    the lesser of R and the judged non-relevant documents.

    >>> expected_bpref([False, True], [2], total=1, most=1)
    0.5
    """
    value, before = 0.0, 0
    for _, members in _split(kinds, groups):
        hits, others = members.count(True), members.count(False)
        lost = [min(before + ahead, total) / most if before + ahead else 0.0 for ahead in range(others + 1)]
        value += hits * (1.0 - sum(lost) / len(lost))
        before += others
    return value / total


def _split(values: Sequence[T], groups: Sequence[int]) -> Iterator[tuple[int, Sequence[T]]]:
    """Each group's values, and how many ranks stand above it."""
    start = 0
    for size in groups:
        yield start, values[start : start + size]
        start += size


def _left(start: int, size: int, cutoff: int | None) -> int:
    """How many places of a group lie within *cutoff*."""
    return size if cutoff is None else max(0, min(size, cutoff - start))


def _missed(size: int, hits: int, places: int) -> list[float]:
    """The chance that none of *hits* among *size* documents stands in the first 0, 1 … to *places* of them."""
    missed = [1.0]
    for above in range(places):
        missed.append(missed[-1] * max(0, size - hits - above) / (size - above))
    return missed


def _still_looking(stops: Sequence[float], places: int) -> list[float]:
    """
    The mean chance to get past the first 0, 1 … to *places* documents, until it is next to nothing.

    Only documents at which one may stop count. *share* is the chance that so many of them stand above, which is next to
    nothing outside of *low* to *high*.
    """
    past = _mean_products([1.0 - stop for stop in stops if stop], places)
    size, hits = len(stops), sum(stop > 0 for stop in stops)
    share, looking = [1.0] + [0.0] * (len(past) - 1), [1.0]
    low = high = 0
    for above in range(places):
        left, high = size - above, min(high + 1, len(past) - 1)
        for count in range(high, low, -1):
            share[count] = (share[count] * (left - hits + count) + share[count - 1] * (hits - count + 1)) / left
        share[low] *= (left - hits + low) / left
        while share[low] < NOTHING and low < high:
            low += 1
        while share[high] < NOTHING and low < high:
            high -= 1
        looking.append(sum(map(mul, share[low : high + 1], past[low : high + 1])))
        if looking[-1] < NOTHING:
            break
    return looking


def _mean_products(values: Sequence[float], most: int) -> list[float]:
    """The mean product of 0, 1 … to *most* of *values*, drawn at random, until it is next to nothing."""
    greatest = max(values, default=0.0)
    if 0.0 < greatest < 1.0:
        most = min(most, ceil(log(NOTHING) / log(greatest)))
    means = [1.0] + [0.0] * min(len(values), most)
    for count, value in enumerate(values, start=1):
        for drawn in range(min(count, len(means) - 1), 0, -1):
            means[drawn] = ((count - drawn) * means[drawn] + drawn * value * means[drawn - 1]) / count
    return means


# For each measure that has one, the formula of its mean over all orders of tied documents, and which order is best.


Groups: TypeAlias = Sequence[int]
Expected: TypeAlias = Callable[[GradedRanking, Groups, Settings], float]
Worth: TypeAlias = Callable[[float | None, Settings], float]


def _gain(grade: float | None, settings: Settings) -> float:
    known = settings.number("unjudged") if grade is None and settings.given("unjudged") else grade
    return 0.0 if known is None else gain_function(settings.gain)(known)


def _positive_gain(grade: float | None, settings: Settings) -> float:
    return max(0.0, _gain(grade, settings))


def _relevance(grade: float | None, settings: Settings) -> float:
    return float(grade is not None and grade >= settings.level)


def _stop(grade: float | None, settings: Settings) -> float:
    known = settings.number("unjudged") if grade is None and settings.given("unjudged") else grade
    return 0.0 if known is None else cascade.stop_probability(known, settings.number("max"))


def _usefulness(grade: float | None, settings: Settings) -> float:
    if not settings.given("max"):
        return _relevance(grade, settings)
    return 0.0 if grade is None else cascade.usefulness(grade, settings.number("max"))


def _positive_grade(grade: float | None, _: Settings) -> float:
    return max(0.0, grade or 0.0)


def _judged(grade: float | None, _: Settings) -> float:
    return float(grade is not None)


def _unjudged(grade: float | None, settings: Settings) -> float:
    return float(grade is None or (grade < 0 and settings.word("negative") == "skipped"))


def _preference(grade: float | None, settings: Settings) -> float:
    """1 for relevant, 0 for non-relevant; a document that does not count is neither worth."""
    if grade is None or (grade < 0 and settings.word("negative") == "skipped"):
        return 0.5
    return _relevance(grade, settings)


WORTH: Mapping[str, Worth] = {
    **dict.fromkeys(("CG", "DCG", "nDCG"), _gain),
    **dict.fromkeys(("P", "R", "F", "RR", "AP", "Rprec", "IPrec", "Success"), _relevance),
    **dict.fromkeys(("SetP", "SetR", "SetF", "SetAP", "NumQ", "NumRet", "NumRel", "NumRelRet"), _relevance),
    "Q": _positive_gain,
    "Compat": _positive_grade,
    "ERR": _stop,
    "RBP": _usefulness,
    "RBPResidual": _unjudged,
    "Judged": _judged,
    "Bpref": _preference,
}
"""What a document is worth to a measure: a ranking is best where, of equal scores, more worth comes first."""


def _worths(name: str, ranking: GradedRanking, settings: Settings) -> list[float]:
    return [WORTH[name](grade, settings) for grade in ranking.grades]


def _means(name: str) -> Callable[[GradedRanking, Groups, Settings], list[float]]:
    """The mean worth at each rank down to the cutoff; a measure that is linear in it has its own mean there."""
    return lambda ranking, groups, settings: mean_by_group(_worths(name, ranking, settings), groups)[: settings.cutoff]


def _filled(ranking: GradedRanking, groups: Groups, settings: Settings) -> Sequence[float]:
    means = _means("DCG")(ranking, groups, settings)
    if settings.cutoff is None or not settings.given("missing"):
        return means
    return cumulative.fixed_length(means, settings.cutoff, settings.number("missing"))


def _dcg(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    means = _filled(ranking, groups, settings)
    return cumulative.dcg(means, log=settings.number("log"), discount=settings.word("discount"))


def _ndcg(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    returned = len(ranking.grades[: settings.cutoff])
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), ideal_cutoff(settings, returned))
    best = cumulative.dcg(ideal, log=settings.number("log"), discount=settings.word("discount"))
    return _dcg(ranking, groups, settings) / best if ideal else 0.0


def _found(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return sum(_means("P")(ranking, groups, settings))


def _precision(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    means = _means("P")(ranking, groups, settings)
    over_hits = settings.cutoff is None or settings.word("over") == "hits"
    return sum(means) / (len(means) if over_hits else settings.cutoff or 1) if means else 0.0


def _recall(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return _found(ranking, groups, settings) / ranking.total_relevant(settings.level)


def _f_measure(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    """F is (1 + beta^2) found / (beta^2 total + ranks), and so linear in what was found."""
    of_recall, of_precision = shares_of(settings.number("beta") * settings.number("beta"))
    ranks = len(ranking.grades) if settings.cutoff is None else settings.cutoff
    total = ranking.total_relevant(settings.level)
    below = of_recall * total + of_precision * ranks
    return _found(ranking, groups, settings) / below if below else 0.0


def _r_precision(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    total = ranking.total_relevant(settings.level)
    return sum(_means("P")(ranking, groups, settings)[:total]) / total


def _judged_share(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    means = _means("Judged")(ranking, groups, settings)
    return sum(means) / len(means) if means else 0.0


def _rbp(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return cascade.rbp(_means("RBP")(ranking, groups, settings), settings.number("p"))


def _rbp_residual(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    means, p = _means("RBPResidual")(ranking, groups, settings), settings.number("p")
    tail = float(p ** len(means))
    if settings.word("tail") == "unjudged":
        unjudged = [worth > 0 for worth in _worths("RBPResidual", ranking, settings)]
        tail *= expected_success(unjudged, groups, settings.cutoff)
    return cascade.rbp(means, p) + tail


def _average_precision(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    total = ranking.total_relevant(settings.level)
    return expected_average_precision(ranking.relevant(settings.level), groups, total, settings.cutoff)


def _reciprocal_rank(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return expected_reciprocal_rank(ranking.relevant(settings.level), groups, settings.cutoff)


def _success(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return expected_success(ranking.relevant(settings.level), groups, settings.cutoff)


def _q(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), None)
    total = len(ideal) if settings.cutoff is None else min(len(ideal), settings.cutoff)
    worths = _worths("Q", ranking, settings)
    return expected_q(worths, ideal, groups, total, settings.cutoff, settings.number("beta"))


def _err(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return expected_err(_worths("ERR", ranking, settings), groups, settings.cutoff)


def _bpref(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    kinds = [{0.0: False, 1.0: True}.get(worth) for worth in _worths("Bpref", ranking, settings)]
    total = ranking.total_relevant(settings.level)
    others = sum(WORTH["Bpref"](grade, settings) == 0.0 for grade in ranking.judgments.values())
    return expected_bpref(kinds, groups, total, min(others, total))


EXPECTED: Mapping[str, Expected] = {
    "CG": lambda ranking, groups, settings: cumulative.cg(_filled(ranking, groups, settings)),
    "DCG": _dcg,
    "nDCG": _ndcg,
    "P": _precision,
    "R": _recall,
    "F": _f_measure,
    "NumRelRet": _found,
    "Rprec": _r_precision,
    "Judged": _judged_share,
    "RBP": _rbp,
    "RBPResidual": _rbp_residual,
    "AP": _average_precision,
    "RR": _reciprocal_rank,
    "Success": _success,
    "Q": _q,
    "ERR": _err,
    "Bpref": _bpref,
}
