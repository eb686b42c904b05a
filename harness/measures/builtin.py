"""The harness's own measures: each metric's formula, joined to the parameters that a suite can write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.measures.definition import Cutoff, Definition, Needs, Settings
from harness.measures.parameters import Choice, Flag, GainChoice, Kind, LogBase, Number
from harness.measures.reach import cg_range, count_range, dcg_range, ndcg_range
from harness.metrics import binary, cumulative, incomplete
from harness.metrics.discount import RANK, RANK_PLUS_ONE
from harness.metrics.gain import gains_of, ideal_gains
from harness.metrics.ranking import GradedRanking

__all__ = ["DEFINITIONS"]

LEVEL: Mapping[str, Kind] = {"rel": Number(1.0, least=0.0)}
CONDENSED: Mapping[str, Kind] = {"judged_only": Flag()}
BINARY: Mapping[str, Kind] = {**LEVEL, **CONDENSED}
GAIN: Mapping[str, Kind] = {"gain": GainChoice(), "missing": Number(None, greatest=0.0)}
DISCOUNT: Mapping[str, Kind] = {"log": LogBase(), "discount": Choice(RANK_PLUS_ONE, (RANK_PLUS_ONE, RANK))}


def _gains(ranking: GradedRanking, settings: Settings) -> Sequence[float]:
    gains = gains_of(settings.gain, ranking.grades)
    if settings.cutoff is None or not settings.given("missing"):
        return gains
    return cumulative.fixed_length(gains, settings.cutoff, settings.number("missing"))


def _cg(ranking: GradedRanking, settings: Settings) -> float:
    return cumulative.cg(_gains(ranking, settings))


def _dcg(ranking: GradedRanking, settings: Settings) -> float:
    gains = _gains(ranking, settings)
    return cumulative.dcg(gains, log=settings.number("log"), discount=str(settings.values["discount"]))


def _ndcg(ranking: GradedRanking, settings: Settings) -> float:
    ideal = ideal_gains(settings.gain, ranking.judgments.values(), settings.cutoff)
    log, discount = settings.number("log"), str(settings.values["discount"])
    return cumulative.ndcg(_gains(ranking, settings), ideal, log=log, discount=discount)


def _relevant(ranking: GradedRanking, settings: Settings) -> list[bool]:
    return ranking.relevant(settings.number("rel"))


def _total(ranking: GradedRanking, settings: Settings) -> int:
    return ranking.total_relevant(settings.number("rel"))


def _precision(ranking: GradedRanking, settings: Settings) -> float:
    return binary.precision(_relevant(ranking, settings), settings.cutoff)


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


def _judged(ranking: GradedRanking, _: Settings) -> float:
    return incomplete.judged(ranking.grades)


def _returned(ranking: GradedRanking, _: Settings) -> float:
    return float(len(ranking.grades))


def _relevant_judged(ranking: GradedRanking, settings: Settings) -> float:
    return float(_total(ranking, settings))


def _relevant_returned(ranking: GradedRanking, settings: Settings) -> float:
    return float(sum(_relevant(ranking, settings)))


DEFINITIONS: tuple[Definition, ...] = (
    Definition("CG", _cg, {**GAIN, **CONDENSED}, needs=Needs.GAIN, reach=cg_range, batched=True),
    Definition("DCG", _dcg, {**GAIN, **DISCOUNT, **CONDENSED}, needs=Needs.GAIN, reach=dcg_range, batched=True),
    Definition("nDCG", _ndcg, {**GAIN, **DISCOUNT, **CONDENSED}, needs=Needs.GAIN, reach=ndcg_range, batched=True),
    Definition("P", _precision, BINARY, batched=True),
    Definition("R", _recall, BINARY, batched=True),
    Definition("F", _f_measure, {**LEVEL, "beta": Number(1.0, least=0.0), **CONDENSED}, batched=True),
    Definition("RR", _reciprocal_rank, BINARY, batched=True),
    Definition("AP", _average_precision, BINARY, batched=True),
    Definition("Rprec", _r_precision, BINARY, Cutoff.NONE, batched=True),
    Definition("Success", _success, BINARY, batched=True),
    Definition("Judged", _judged, needs=Needs.NOTHING, batched=True),
    Definition("NumRet", _returned, {}, Cutoff.OPTIONAL, Needs.NOTHING, count_range, True, True),
    Definition("NumRel", _relevant_judged, LEVEL, Cutoff.NONE, Needs.NOTHING, count_range, True, True),
    Definition("NumRelRet", _relevant_returned, LEVEL, Cutoff.OPTIONAL, Needs.NOTHING, count_range, True, True),
)
