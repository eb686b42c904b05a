"""Measures of graded gain: CG, DCG, nDCG, Q and compatibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.measures.definition import Cutoff, Definition, Needs, Settings
from harness.measures.parameters import CONDENSED, UNJUDGED, Choice, Flag, GainChoice, Kind, LogBase, Number
from harness.measures.reach import DEEPEST_SUM, cg_range, dcg_range, ndcg_range
from harness.metrics import cumulative, graded
from harness.metrics.discount import RANK, RANK_PLUS_ONE
from harness.metrics.gain import gains_of, ideal_gains
from harness.metrics.ranking import GradedRanking

__all__ = ["CUMULATIVE_MEASURES", "ideal_cutoff"]


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
