"""Profiles, which reproduce the numbers of other tools: how each differs from the standard rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from itertools import islice
from math import ceil, inf, isnan, log
from operator import gt
from typing import cast

from harness.errors import GradeError, UsageError
from harness.metrics.definition import SMALLEST_POSITIVE, Formula, Reach, Settings
from harness.metrics.ranking import GradedRanking
from harness.model.suite import Gain, GainKind, Parameter, Profile
from harness.words import did_you_mean, format_exactly

# The Rated Ranking Evaluator computes with decimals and truncates or rounds in between, counts every judged document as
# relevant whatever its grade, and scores 1 where nothing is judged and nothing was returned. What looks like a mistake
# below, such as a rounding in the middle of a formula, is what it does: its scores are to be reproduced to the digit.

_EXACT = Context(prec=330)
"""Enough digits for the gain of every grade whose gain is a finite float, with decimals."""

ONE, ZERO = Decimal(1), Decimal(0)


def _divide(above: Decimal, below: Decimal, places: int, rounding: str) -> Decimal:
    return _EXACT.divide(above, below).quantize(Decimal(1).scaleb(-places), rounding, _EXACT)


def _divide_up(above: Decimal, below: Decimal) -> Decimal:
    return _divide(above, below, 4, ROUND_CEILING)


def _gain(grade: float) -> Decimal:
    try:
        return _EXACT.subtract(Decimal(repr(2.0**grade)), ONE)
    except OverflowError:
        raise GradeError(f"the gain of grade {format_exactly(grade)} is too large for a float", grade) from None


def _discount(gain: Decimal, rank: int) -> Decimal:
    return _divide(gain, Decimal(log(rank + 1) / log(2)), 2, ROUND_FLOOR)


def _count_judged(ranking: GradedRanking) -> Decimal:
    return Decimal(sum(grade is not None for grade in ranking.grades))


def _ndcg(ranking: GradedRanking, settings: Settings) -> Decimal:
    if not ranking.grades:
        return _score_empty(ranking)
    dcg, ideal_dcg = ZERO, ZERO
    for rank, grade in enumerate(ranking.grades, start=1):
        if grade is not None:
            gain = _gain(grade)
            # The gain at rank 1 is not rounded here, but it is in the ideal ranking.
            dcg += gain if rank == 1 else _discount(gain, rank)
    best = sorted(ranking.judgments.values(), reverse=True)[: settings.cutoff]
    for rank, grade in enumerate(best, start=1):
        ideal_dcg += _discount(_gain(grade), rank)
    return _divide(dcg, ideal_dcg, 2, ROUND_FLOOR) if ideal_dcg else ZERO


def _precision(ranking: GradedRanking, settings: Settings) -> Decimal:
    if not ranking.grades:
        return _score_empty(ranking)
    hits = Decimal(len(ranking.grades))
    if settings.cutoff is None:
        return _divide_up(_count_judged(ranking), hits)
    return _divide(_count_judged(ranking), hits, 2, ROUND_HALF_UP)


def _recall(ranking: GradedRanking, _: Settings) -> Decimal:
    if not ranking.judgments:
        return _score_unjudged(ranking)
    return _divide_up(_count_judged(ranking), Decimal(len(ranking.judgments)))


def _f_measure(ranking: GradedRanking, settings: Settings) -> Decimal:
    weight = Decimal(repr(settings.number("beta"))) ** 2
    precision, recall = _precision(ranking, settings), _recall(ranking, settings)
    if not precision or not recall:
        return ZERO
    return (ONE + weight) * _divide_up(precision * recall, precision * weight + recall)


def _reciprocal_rank(ranking: GradedRanking, _: Settings) -> Decimal:
    """1 / the rank of the first document of the best grade that was returned, not of the first relevant one."""
    if not ranking.judgments:
        return _score_unjudged(ranking)
    positive = [grade for grade in ranking.grades if grade is not None and grade > 0]
    if not positive:
        return ZERO
    return _divide(ONE, Decimal(ranking.grades.index(max(positive)) + 1), 2, ROUND_HALF_UP)


def _average_precision(ranking: GradedRanking, _: Settings) -> Decimal:
    if not ranking.judgments:
        return _score_unjudged(ranking)
    total = Decimal(len(ranking.judgments))
    found, reached, value = ZERO, ZERO, ZERO
    for rank, grade in enumerate(ranking.grades, start=1):
        found += ONE if grade is not None else ZERO
        recall = _divide_up(found, total)
        value += _divide_up(found, Decimal(rank)) * (recall - reached)
        reached = recall
    return value


def _err(ranking: GradedRanking, settings: Settings) -> Decimal:
    """ERR of RRE, whose quotients have eight decimals; all else is exact."""
    if not ranking.returned:
        return ONE
    if not _count_judged(ranking):
        return ZERO
    top = Decimal(repr(2.0 ** settings.number("max")))
    value, still_looking = ZERO, ONE
    for rank, grade in enumerate(ranking.grades, start=1):
        if grade is None:
            grade = settings.number("unjudged")
        stop = _divide(_gain(grade), top, 8, ROUND_HALF_UP)
        stop_by_rank = _divide(stop, Decimal(rank), 8, ROUND_HALF_UP)
        value = _EXACT.add(value, _EXACT.multiply(still_looking, stop_by_rank))
        still_looking = _EXACT.multiply(still_looking, ONE - stop)
    return value


def _score_empty(ranking: GradedRanking) -> Decimal:
    return ZERO if ranking.judgments else ONE


def _score_unjudged(ranking: GradedRanking) -> Decimal:
    return ZERO if ranking.returned else ONE


def _as_float(formula: Callable[[GradedRanking, Settings], Decimal]) -> Formula:
    return lambda ranking, settings: float(formula(ranking, settings))


RRE_FORMULAS: Mapping[str, Formula] = {
    "nDCG": _as_float(_ndcg),
    "P": _as_float(_precision),
    "R": _as_float(_recall),
    "F": _as_float(_f_measure),
    "RR": _as_float(_reciprocal_rank),
    "AP": _as_float(_average_precision),
    "ERR": _as_float(_err),
}

RRE_RANGES: Mapping[str, Reach] = {
    "nDCG": lambda _: (None, None),
    "F": lambda settings: (0.0, 1.0 + 1e-4 * (1.0 + settings.number("beta") ** 2)),
    "ERR": lambda _: (None, None),
}
"""
Ranges that differ from the measure's own: a grade below 0 loses, one above the scale's top gains without bound, and F
is rounded up before it is multiplied.
"""


Defaults = Mapping[str, Mapping[str, Parameter]]


@dataclass(frozen=True, slots=True)
class Rules:
    """
    A profile.

    *gain* applies where neither a measure's text nor the caller gives another one, *defaults* the parameters of
    measures where their text gives none; those of "" are every measure's. *zero_undefined*: a query with nothing
    relevant scores 0. *skips_unjudged*: a query without any judgment is left out. *sorts*: hits are ordered by score,
    not taken as they come. *cuts_first*: before unjudged documents are taken out. *grades_unjudged*: an unjudged hit
    may be given a grade. *least_judged*: below this grade, `judged_only` takes a document for unjudged. *level* gives
    the least relevant grade from all grades of a query, where a measure's text names none. *formulas* replaces those of
    the registry by name, and *ranges* says how far these go.
    """

    gain: GainKind = GainKind.EXPONENTIAL
    defaults: Defaults = field(default_factory=dict)
    zero_undefined: bool = True
    skips_unjudged: bool = False
    sorts: bool = False
    cuts_first: bool = False
    grades_unjudged: bool = False
    least_judged: float = -inf
    level: Callable[[Collection[float]], float] | None = None
    formulas: Mapping[str, Formula] = field(default_factory=dict)
    ranges: Mapping[str, Reach] = field(default_factory=dict)

    def defaults_of(self, measure: str) -> Iterable[tuple[str, Parameter]]:
        """The parameters that hold for a measure of this name where its text gives none."""
        return {**self.defaults.get("", {}), **self.defaults.get(measure, {})}.items()


def workbench_level(grades: Collection[float]) -> float:
    """
    From which grade on a document is relevant in OpenSearch's Search Relevance Workbench since 3.6.0.

    It is the greater of half the greatest grade and the 90th percentile by nearest rank, of all grades of the query;
    never 0 or less.

    Source: JudgmentThresholdCalculator of opensearch-project/search-relevance, pull request 394.

    >>> workbench_level([0, 0, 1, 1, 2, 2, 3, 3, 5, 5]), workbench_level([0] * 18 + [1, 10])
    (5, 5.0)
    """
    if not grades:
        return SMALLEST_POSITIVE
    ordered = sorted(grades)
    return max(SMALLEST_POSITIVE, 0.5 * ordered[-1], ordered[ceil(0.9 * len(ordered)) - 1])


ANY_POSITIVE: Mapping[str, Parameter] = {"rel": SMALLEST_POSITIVE}
WORKBENCH: Defaults = {"": ANY_POSITIVE, "P": {"over": "hits"}}

_RULES: Mapping[Profile, Rules] = {
    Profile.STANDARD: Rules(zero_undefined=False),
    Profile.TREC: Rules(
        GainKind.LINEAR,
        {
            "Bpref": {"negative": "skipped"},
            "RBPResidual": {"negative": "skipped", "tail": "unjudged"},
            "IPrec": {"rounding": "nearest"},
        },
        skips_unjudged=True,
        sorts=True,
        least_judged=0.0,
    ),
    Profile.RANK_EVAL: Rules(
        defaults={"nDCG": {"ideal": "returned"}, "P": {"over": "hits"}}, cuts_first=True, grades_unjudged=True
    ),
    Profile.OPENSEARCH_SRW: Rules(defaults=WORKBENCH, level=workbench_level),
    Profile.OPENSEARCH_SRW_3_5: Rules(defaults=WORKBENCH),
    Profile.QUEPID: Rules(
        defaults={
            "": ANY_POSITIVE,
            "CG": {"gain": Gain(GainKind.LINEAR)},
            "nDCG": {"ideal": "all"},
            "P": {"over": "hits"},
        }
    ),
    Profile.RRE: Rules(
        defaults={"ERR": {"max": 3.0, "unjudged": 2.0}}, grades_unjudged=True, formulas=RRE_FORMULAS, ranges=RRE_RANGES
    ),
}


def read_profile(given: object) -> Profile:
    """
    A profile by its name, or as it is.

    Raises:
        UsageError: there is no profile of that name.

    >>> read_profile("trec") is Profile.TREC
    True
    """
    names = [str(profile) for profile in Profile]
    hint = ""
    if isinstance(given, str):
        if given in names:
            return Profile(given)
        hint = did_you_mean(given, names)
    raise UsageError(f"found {given!r} as profile, expected one of {', '.join(names)}{hint}")


def rules_of(profile: Profile) -> Rules:
    """
    The rules of *profile*.

    Raises:
        UsageError: *profile* is not a profile.
    """
    try:
        return _RULES[profile]
    except (KeyError, TypeError):
        return _RULES[read_profile(profile)]


def profile_gain(profile: Profile) -> Gain:
    """The gain of *profile* where a suite names none: linear for trec_eval, exponential for all others."""
    return Gain(rules_of(profile).gain)


def sort_by_score(ranking: Sequence[str], scores: Sequence[float | None]) -> Sequence[str]:
    """
    Order *ranking* as trec_eval does: by score, highest first, ties by document id from the last to the first in UTF-8.

    Infinities are scores like any other, and -0 equals 0. Where a score is not known the order stands: an engine that
    sorts by something else gives none.

    Raises:
        UsageError: the lengths differ, or a score is not a number.
    """
    if len(ranking) != len(scores):
        raise UsageError(f"{len(ranking)} documents came with {len(scores)} scores")
    if _are_falling(scores):
        return ranking
    numbers = [score for score in scores if score is not None]
    if len(numbers) < len(scores):
        return ranking
    for document, score in zip(ranking, numbers, strict=True):
        if isnan(score):
            raise UsageError(f"the score of document {document!r} is not a number")
    ids = (document.encode("utf-8", "surrogatepass") for document in ranking)
    return [document for _, _, document in sorted(zip(numbers, ids, ranking, strict=True), reverse=True)]


def _are_falling(scores: Sequence[float | None]) -> bool:
    """Whether each score is a number below the one before it, as in a run file that was written in order."""
    if None in scores:
        return False
    numbers = cast("Sequence[float]", scores)
    # No comparison with NaN is true, so only a single score needs a look.
    return all(map(gt, numbers, islice(numbers, 1, None))) and not any(map(isnan, numbers[:1]))
