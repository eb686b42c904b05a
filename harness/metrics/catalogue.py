"""The measures that the harness has: name, parameters, formula, and how far each can go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log

from harness.metrics import binary, diversity, graded
from harness.metrics import binary as incomplete
from harness.metrics import graded as cascade
from harness.metrics import graded as cumulative
from harness.metrics.definition import (
    CONDENSED,
    LEVEL,
    NEGATIVE,
    UNJUDGED,
    Choice,
    Cutoff,
    Definition,
    Flag,
    GainChoice,
    Kind,
    LogBase,
    Needs,
    Number,
    Range,
    Settings,
)
from harness.metrics.graded import RANK, RANK_PLUS_ONE, divisors, err, stop_probability
from harness.metrics.ranking import DiverseRanking, GradedRanking, gains_of, ideal_gains
from harness.model import GainKind

__all__ = [
    "BINARY_MEASURES",
    "CUMULATIVE_MEASURES",
    "DEEPEST_SUM",
    "USER_MODEL_MEASURES",
    "cg_range",
    "count_range",
    "dcg_range",
    "err_range",
    "ideal_cutoff",
    "ndcg_range",
    "rbp_range",
]


# How far each measure can go: the least and the greatest value, so that a threshold beyond it is refused.


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


# Measures that ask of a document only whether it is relevant, and those that count.


def _relevant(ranking: GradedRanking, settings: Settings) -> list[bool]:
    return ranking.relevant(settings.level)


def _total(ranking: GradedRanking, settings: Settings) -> int:
    return ranking.total_relevant(settings.level)


def _precision(ranking: GradedRanking, settings: Settings) -> float:
    ranks = settings.cutoff if settings.word("over") == "cutoff" else None
    return binary.precision(_relevant(ranking, settings), ranks)


def _recall(ranking: GradedRanking, settings: Settings) -> float:
    return binary.recall(_relevant(ranking, settings), _total(ranking, settings))


def _f_measure(ranking: GradedRanking, settings: Settings) -> float:
    relevant, total = _relevant(ranking, settings), _total(ranking, settings)
    return binary.f_measure(relevant, total, settings.cutoff, settings.number("beta"))


def _reciprocal_rank(ranking: GradedRanking, settings: Settings) -> float:
    return binary.reciprocal_rank(_relevant(ranking, settings))


def _average_precision(ranking: GradedRanking, settings: Settings) -> float:
    return binary.average_precision(_relevant(ranking, settings), _total(ranking, settings))


def _r_precision(ranking: GradedRanking, settings: Settings) -> float:
    return binary.r_precision(_relevant(ranking, settings), _total(ranking, settings))


def _success(ranking: GradedRanking, settings: Settings) -> float:
    return binary.success(_relevant(ranking, settings))


def _interpolated_precision(ranking: GradedRanking, settings: Settings) -> float:
    nearest = settings.word("rounding") == "nearest"
    recall = settings.number("recall")
    return binary.interpolated_precision(
        _relevant(ranking, settings), _total(ranking, settings), recall, nearest=nearest
    )


def _set_precision(ranking: GradedRanking, settings: Settings) -> float:
    relevant = _relevant(ranking, settings)
    if settings.values["relative"]:
        return binary.relative_precision(relevant, _total(ranking, settings))
    return binary.precision(relevant, None)


def _set_f(ranking: GradedRanking, settings: Settings) -> float:
    return binary.set_f(_relevant(ranking, settings), _total(ranking, settings), settings.number("beta"))


def _set_average_precision(ranking: GradedRanking, settings: Settings) -> float:
    return binary.set_average_precision(_relevant(ranking, settings), _total(ranking, settings))


def _query(_: GradedRanking, __: Settings) -> float:
    return 1.0


def _judged(ranking: GradedRanking, _: Settings) -> float:
    return incomplete.judged(ranking.grades)


def _bpref(ranking: GradedRanking, settings: Settings) -> float:
    skip = settings.word("negative") == "skipped"
    return incomplete.bpref(ranking.grades, ranking.judgments.values(), settings.level, skip_negative=skip)


def _inferred_ap(ranking: GradedRanking, settings: Settings) -> float:
    return incomplete.inferred_ap(ranking.grades, _total(ranking, settings), settings.level)


def _returned(ranking: GradedRanking, _: Settings) -> float:
    return float(len(ranking.grades))


def _relevant_judged(ranking: GradedRanking, settings: Settings) -> float:
    return float(_total(ranking, settings))


def _relevant_returned(ranking: GradedRanking, settings: Settings) -> float:
    return float(sum(_relevant(ranking, settings)))


BINARY: Mapping[str, Kind] = {**LEVEL, **CONDENSED}
INTERPOLATED: Mapping[str, Kind] = {
    **LEVEL,
    "recall": Number(None, 0.0, 1.0),
    "rounding": Choice("up", ("up", "nearest")),
    **CONDENSED,
}
DIVISOR: Mapping[str, Kind] = {"over": Choice("cutoff", ("cutoff", "hits"))}

BINARY_MEASURES: tuple[Definition, ...] = (
    Definition("P", _precision, {**LEVEL, **DIVISOR, **CONDENSED}, batched=True),
    Definition("R", _recall, BINARY, batched=True),
    Definition("F", _f_measure, {**LEVEL, "beta": Number(1.0, least=0.0), **CONDENSED}, batched=True),
    Definition("RR", _reciprocal_rank, BINARY, batched=True),
    Definition("AP", _average_precision, BINARY, batched=True),
    Definition("Rprec", _r_precision, BINARY, Cutoff.NONE, batched=True),
    Definition("Success", _success, BINARY, batched=True),
    Definition("IPrec", _interpolated_precision, INTERPOLATED, Cutoff.NONE, batched=True, at="recall"),
    Definition("SetP", _set_precision, {**LEVEL, "relative": Flag(), **CONDENSED}, Cutoff.NONE, batched=True),
    Definition("SetR", _recall, LEVEL, Cutoff.NONE, batched=True),
    Definition("SetF", _set_f, {**LEVEL, "beta": Number(1.0, least=0.0), **CONDENSED}, Cutoff.NONE, batched=True),
    Definition("SetAP", _set_average_precision, BINARY, Cutoff.NONE, batched=True),
    Definition("Judged", _judged, needs=Needs.NOTHING, batched=True),
    Definition("Bpref", _bpref, {**LEVEL, **NEGATIVE}, Cutoff.NONE, batched=True),
    Definition("infAP", _inferred_ap, LEVEL, Cutoff.NONE, batched=True),
    Definition("NumQ", _query, {}, Cutoff.NONE, Needs.NOTHING, summed=True, batched=True),
    Definition("NumRet", _returned, {}, Cutoff.OPTIONAL, Needs.NOTHING, count_range, True, True),
    Definition("NumRel", _relevant_judged, LEVEL, Cutoff.NONE, Needs.NOTHING, count_range, True, True),
    Definition("NumRelRet", _relevant_returned, LEVEL, Cutoff.OPTIONAL, Needs.NOTHING, count_range, True, True),
)


# Measures of graded gain: CG, DCG, nDCG, Q and compatibility.


GAIN: Mapping[str, Kind] = {"gain": GainChoice(), "missing": Number(None, greatest=0.0), **UNJUDGED}
DISCOUNT: Mapping[str, Kind] = {"log": LogBase(), "discount": Choice(RANK_PLUS_ONE, (RANK_PLUS_ONE, RANK))}
IDEAL: Mapping[str, Kind] = {"ideal": Choice("cut", ("cut", "all", "returned"))}


def ideal_cutoff(settings: Settings, returned: int) -> int | None:
    """
    Where the ideal ranking ends: at the cutoff, at the end of the judgments, or at the number of hits.

    Only the first is sound; the others are what Quepid's nDCG@k and `_rank_eval` do.
    """
    return {"cut": settings.cutoff, "all": None, "returned": returned}[settings.word("ideal")]


def _gains(ranking: GradedRanking, settings: Settings) -> Sequence[float]:
    unjudged = settings.number("unjudged") if settings.given("unjudged") else None
    gains = gains_of(settings.gain, ranking.grades, unjudged)
    if not settings.given("missing") or settings.cutoff is None:
        return gains
    return cumulative.fixed_length(gains, settings.cutoff, settings.number("missing"))


def _cg(ranking: GradedRanking, settings: Settings) -> float:
    return cumulative.cg(_gains(ranking, settings))


def _dcg(ranking: GradedRanking, settings: Settings) -> float:
    gains = _gains(ranking, settings)
    return cumulative.dcg(gains, log=settings.number("log"), discount=settings.word("discount"))


def _ndcg(ranking: GradedRanking, settings: Settings) -> float:
    end = ideal_cutoff(settings, len(ranking.grades))
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), end)
    if not ideal:
        return 0.0  # nothing was returned, and the ideal was cut there too
    log, discount = settings.number("log"), settings.word("discount")
    return cumulative.ndcg(_gains(ranking, settings), ideal, log=log, discount=discount)


def _q(ranking: GradedRanking, settings: Settings) -> float:
    gains = [max(gain, 0.0) for gain in gains_of(settings.gain, ranking.grades)]
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), None)
    return graded.q_measure(gains, ideal, settings.cutoff, settings.number("beta"))


def _compatibility(ranking: GradedRanking, settings: Settings) -> float:
    normalize = bool(settings.values["normalize"])
    return graded.compatibility(ranking.ids, ranking.judgments, settings.number("p"), normalize=normalize)


def _check(settings: Settings) -> str | None:
    if settings.given("missing") and settings.cutoff is None:
        return "missing= fills the ranking up to the cutoff, so it needs one, such as @10"
    if settings.given("missing") and (settings.cutoff or 0) > DEEPEST_SUM:
        return f"missing= fills the ranking up to the cutoff, which may be no more than @{DEEPEST_SUM} then"
    return None


Q_GAIN: Mapping[str, Kind] = {"gain": GainChoice(), "beta": Number(1.0, least=0.0)}
OVERLAP: Mapping[str, Kind] = {"p": Number(0.95, 0.0, 1.0, open_ends=True), "normalize": Flag(True)}

CUMULATIVE_MEASURES: tuple[Definition, ...] = (
    Definition("CG", _cg, {**GAIN, **CONDENSED}, needs=Needs.GAIN, reach=cg_range, batched=True, check=_check),
    Definition(
        "DCG", _dcg, {**GAIN, **DISCOUNT, **CONDENSED}, needs=Needs.GAIN, reach=dcg_range, batched=True, check=_check
    ),
    Definition(
        "nDCG",
        _ndcg,
        {**GAIN, **DISCOUNT, **IDEAL, **CONDENSED},
        needs=Needs.GAIN,
        reach=ndcg_range,
        batched=True,
        check=_check,
    ),
    Definition("Q", _q, {**Q_GAIN, **CONDENSED}, needs=Needs.GAIN),
    Definition("Compat", _compatibility, OVERLAP, Cutoff.NONE, Needs.NOTHING),
)


# Measures with a model of the user: ERR and RBP, and those for queries with several meanings.


def _err(ranking: GradedRanking, settings: Settings) -> float:
    top = settings.number("max")
    unknown = cascade.stop_probability(settings.number("unjudged"), top) if settings.given("unjudged") else 0.0
    stops = [unknown if grade is None else cascade.stop_probability(grade, top) for grade in ranking.grades]
    for grade in ranking.judgments.values():
        cascade.stop_probability(grade, top)  # a grade above the top is an error even where it was not returned
    return cascade.err(stops)


def _rbp(ranking: GradedRanking, settings: Settings) -> float:
    p = settings.number("p")
    if not settings.given("max"):
        return cascade.rbp([float(hit) for hit in ranking.relevant(settings.level)], p)
    top = settings.number("max")
    for grade in ranking.judgments.values():
        cascade.usefulness(grade, top)
    return cascade.rbp([0.0 if grade is None else cascade.usefulness(grade, top) for grade in ranking.grades], p)


def _rbp_residual(ranking: GradedRanking, settings: Settings) -> float:
    least = 0.0 if settings.word("negative") == "skipped" else -inf
    unjudged = [float(grade is None or grade < least) for grade in ranking.grades]
    return cascade.rbp_residual(unjudged, settings.number("p"), tail_always=settings.word("tail") == "always")


def _rbp_check(settings: Settings) -> str | None:
    if settings.given("rel") and settings.given("max"):
        return "rel= makes it binary and max= graded: give one of them"
    return None


def _alpha_dcg(ranking: DiverseRanking, settings: Settings) -> float:
    return diversity.alpha_dcg(ranking.covers, settings.number("alpha"))


def _alpha_ndcg(ranking: DiverseRanking, settings: Settings) -> float:
    alpha = settings.number("alpha")
    ideal = diversity.ideal_covers(ranking.judged_covers, alpha, settings.cutoff)
    return diversity.alpha_ndcg(ranking.covers, ideal, settings.cutoff, alpha)


def _err_ia(ranking: DiverseRanking, settings: Settings) -> float:
    depth = len(ranking.covers) if settings.cutoff is None else settings.cutoff
    return diversity.err_ia(ranking.covers, ranking.subtopics, depth, settings.number("alpha"))


def _subtopic_recall(ranking: DiverseRanking, _: Settings) -> float:
    return diversity.subtopic_recall(ranking.covers, ranking.subtopics)


TOP: Mapping[str, Kind] = {"max": Number(4.0, least=0.0, greatest=1024.0, open_ends=True)}  # 2^max is a number
PERSISTENCE: Mapping[str, Kind] = {"p": Number(0.8, 0.0, 1.0, open_ends=True)}
RBP: Mapping[str, Kind] = {**PERSISTENCE, "rel": Number(None, least=0.0), "max": Number(None, 0.0, open_ends=True)}
RESIDUAL: Mapping[str, Kind] = {**PERSISTENCE, **NEGATIVE, "tail": Choice("always", ("always", "unjudged"))}
NOVELTY: Mapping[str, Kind] = {**LEVEL, "alpha": Number(0.5, 0.0, 1.0)}

USER_MODEL_MEASURES: tuple[Definition, ...] = (
    Definition("ERR", _err, {**TOP, **UNJUDGED, **CONDENSED}, reach=err_range, batched=True),
    Definition("RBP", _rbp, {**RBP, **CONDENSED}, reach=rbp_range, batched=True, check=_rbp_check),
    Definition("RBPResidual", _rbp_residual, RESIDUAL, needs=Needs.NOTHING, batched=True),
    Definition("alpha_DCG", parameters=NOVELTY, reach=lambda _: (0.0, None), diverse=_alpha_dcg),
    Definition("alpha_nDCG", parameters=NOVELTY, diverse=_alpha_ndcg),
    Definition("ERR_IA", parameters=NOVELTY, diverse=_err_ia),
    Definition("StRecall", parameters=LEVEL, diverse=_subtopic_recall),
)
