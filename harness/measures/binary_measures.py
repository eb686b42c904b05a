"""Measures that ask of a document only whether it is relevant, and those that count."""

from __future__ import annotations

from collections.abc import Mapping

from harness.measures.definition import Cutoff, Definition, Needs, Settings
from harness.measures.parameters import CONDENSED, LEVEL, NEGATIVE, Choice, Flag, Kind, Number
from harness.measures.reach import count_range
from harness.metrics import binary, incomplete
from harness.metrics.ranking import GradedRanking

__all__ = ["BINARY_MEASURES"]


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
