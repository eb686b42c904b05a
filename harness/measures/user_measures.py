"""Measures with a model of the user: ERR and RBP, and those for queries with several meanings."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from harness.measures.definition import Definition, Needs, Settings
from harness.measures.parameters import CONDENSED, LEVEL, NEGATIVE, UNJUDGED, Choice, Kind, Number
from harness.measures.reach import err_range, rbp_range
from harness.metrics import cascade, diversity
from harness.metrics.ranking import DiverseRanking, GradedRanking

__all__ = ["USER_MODEL_MEASURES"]


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
