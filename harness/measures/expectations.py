"""
For each measure that has one, the formula of its mean over all orders of tied documents, and which order is best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from harness.measures.cumulative_measures import ideal_cutoff
from harness.measures.definition import Settings
from harness.metrics import cascade, cumulative, ties
from harness.metrics.binary import shares_of
from harness.metrics.gain import gain_function, ideal_gains
from harness.metrics.ranking import GradedRanking

__all__ = ["EXPECTED", "WORTH"]


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
    return lambda ranking, groups, settings: ties.mean_by_group(_worths(name, ranking, settings), groups)[
        : settings.cutoff
    ]


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
        tail *= ties.expected_success(unjudged, groups, settings.cutoff)
    return cascade.rbp(means, p) + tail


def _average_precision(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    total = ranking.total_relevant(settings.level)
    return ties.expected_average_precision(ranking.relevant(settings.level), groups, total, settings.cutoff)


def _reciprocal_rank(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return ties.expected_reciprocal_rank(ranking.relevant(settings.level), groups, settings.cutoff)


def _success(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return ties.expected_success(ranking.relevant(settings.level), groups, settings.cutoff)


def _q(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), None)
    total = len(ideal) if settings.cutoff is None else min(len(ideal), settings.cutoff)
    worths = _worths("Q", ranking, settings)
    return ties.expected_q(worths, ideal, groups, total, settings.cutoff, settings.number("beta"))


def _err(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    return ties.expected_err(_worths("ERR", ranking, settings), groups, settings.cutoff)


def _bpref(ranking: GradedRanking, groups: Groups, settings: Settings) -> float:
    kinds = [{0.0: False, 1.0: True}.get(worth) for worth in _worths("Bpref", ranking, settings)]
    total = ranking.total_relevant(settings.level)
    others = sum(WORTH["Bpref"](grade, settings) == 0.0 for grade in ranking.judgments.values())
    return ties.expected_bpref(kinds, groups, total, min(others, total))


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
