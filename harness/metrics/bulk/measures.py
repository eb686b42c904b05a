"""
The measures that have a formula for many queries at once, joined to their settings.

The others are computed query by query. Imports numpy, so it is only imported where a batch is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.metrics.bulk import formulas as metrics
from harness.metrics.bulk.batch import Batch, Floats
from harness.metrics.bulk.formulas import has_ideal, ideal_dcg
from harness.metrics.definition import Definition, Needs, Settings
from harness.metrics.profiles import rules_of
from harness.metrics.registry import definition_of, settings_of, takes_level
from harness.metrics.score import GREATEST_SCORE, in_bounds
from harness.model import Gain, Measure, Profile

__all__ = ["BATCHED", "score_batch"]


ROUNDING = 1e-13
"""How far from 1 the ratio of two equal sums may be, which were added in different orders."""

BatchFormula: TypeAlias = Callable[[Batch, Settings], Floats]


def score_batch(
    batch: Batch, measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD
) -> Floats:
    """
    The score of every query of *batch*, NaN where it is undefined; arguments as of `harness.metrics.score_query`.

    Raises:
        MeasureError: a grade that the gain map or the measure's scale does not hold, a score beyond what can be summed.
    """
    definition, settings = definition_of(measure), settings_of(measure, gain, profile)
    rules = rules_of(profile)
    if rules.level is not None and takes_level(measure, settings):
        batch = batch.regraded(rules.level)
        settings = replace(settings, values={**settings.values, "rel": 1.0})
    condensed = batch.condensed(rules.least_judged) if settings.values.get("judged_only") else batch
    with np.errstate(over="ignore", invalid="ignore"):
        values = BATCHED[definition.name](condensed, settings)
        defined = _defined(definition, batch, settings)
    for beyond in values[defined & ~(np.abs(values) <= GREATEST_SCORE)].tolist():
        in_bounds(measure, beyond)  # the first is told
    return np.where(defined, values, 0.0 if rules.zero_undefined else np.nan)


def _defined(definition: Definition, batch: Batch, settings: Settings) -> NDArray[np.bool_]:
    if definition.needs is Needs.RELEVANT:
        return batch.total(settings.level) > 0
    if definition.needs is Needs.GAIN:
        return has_ideal(batch, settings.gain)
    return np.ones(batch.queries, bool)


def _missing(settings: Settings) -> float:
    return settings.number("missing") if settings.given("missing") else 0.0


def _cg(batch: Batch, settings: Settings) -> Floats:
    return metrics.cg(batch, settings.gain, settings.cutoff, _missing(settings))


def _dcg(batch: Batch, settings: Settings) -> Floats:
    log, discount = settings.number("log"), settings.word("discount")
    missing = _missing(settings)
    return metrics.dcg(batch, settings.gain, settings.cutoff, log=log, discount=discount, missing=missing)


def _ndcg(batch: Batch, settings: Settings) -> Floats:
    log, discount = settings.number("log"), settings.word("discount")
    end = {"cut": settings.cutoff, "all": None, "returned": batch.hits(settings.cutoff)}[settings.word("ideal")]
    ideal = ideal_dcg(batch, settings.gain, end, log=log, discount=discount)
    share = metrics.ratio(_dcg(batch, settings), ideal)
    return np.where(np.abs(share - 1.0) < ROUNDING, 1.0, share)  # sums in another order than for one query


def _precision(batch: Batch, settings: Settings) -> Floats:
    ranks = settings.cutoff if settings.word("over") == "cutoff" else batch.hits(settings.cutoff)
    return metrics.precision(batch, settings.level, settings.cutoff, ranks)


def _at_level(
    metric: Callable[[Batch, float, int | None], Floats],
) -> BatchFormula:
    return lambda batch, settings: metric(batch, settings.level, settings.cutoff)


def _f_measure(batch: Batch, settings: Settings) -> Floats:
    return metrics.f_measure(batch, settings.level, settings.cutoff, settings.number("beta"))


def _r_precision(batch: Batch, settings: Settings) -> Floats:
    return metrics.r_precision(batch, settings.level)


def _interpolated_precision(batch: Batch, settings: Settings) -> Floats:
    nearest = settings.word("rounding") == "nearest"
    return metrics.interpolated_precision(batch, settings.level, settings.number("recall"), nearest=nearest)


def _set_precision(batch: Batch, settings: Settings) -> Floats:
    return metrics.set_precision(batch, settings.level, relative=bool(settings.values["relative"]))


def _set_f(batch: Batch, settings: Settings) -> Floats:
    return metrics.set_f(batch, settings.level, settings.number("beta"))


def _set_average_precision(batch: Batch, settings: Settings) -> Floats:
    return metrics.set_average_precision(batch, settings.level)


def _queries(batch: Batch, _: Settings) -> Floats:
    return np.ones(batch.queries)


def _bpref(batch: Batch, settings: Settings) -> Floats:
    return metrics.bpref(batch, settings.level, skip_negative=settings.word("negative") == "skipped")


def _inferred_ap(batch: Batch, settings: Settings) -> Floats:
    return metrics.inferred_ap(batch, settings.level)


def _err(batch: Batch, settings: Settings) -> Floats:
    return metrics.err(batch, settings.number("max"), settings.cutoff)


def _rbp(batch: Batch, settings: Settings) -> Floats:
    top = settings.number("max") if settings.given("max") else None
    return metrics.rbp(batch, settings.number("p"), settings.cutoff, level=settings.level, top=top)


def _rbp_residual(batch: Batch, settings: Settings) -> Floats:
    skip, always = settings.word("negative") == "skipped", settings.word("tail") == "always"
    return metrics.rbp_residual(batch, settings.number("p"), settings.cutoff, skip_negative=skip, tail_always=always)


def _judged(batch: Batch, settings: Settings) -> Floats:
    return metrics.judged(batch, settings.cutoff)


def _returned(batch: Batch, settings: Settings) -> Floats:
    return batch.hits(settings.cutoff).astype(np.float64)


def _relevant_judged(batch: Batch, settings: Settings) -> Floats:
    return batch.total(settings.level)


BATCHED: Mapping[str, BatchFormula] = {
    "CG": _cg,
    "DCG": _dcg,
    "nDCG": _ndcg,
    "P": _precision,
    "R": _at_level(metrics.recall),
    "F": _f_measure,
    "RR": _at_level(metrics.reciprocal_rank),
    "AP": _at_level(metrics.average_precision),
    "Rprec": _r_precision,
    "Success": _at_level(metrics.success),
    "IPrec": _interpolated_precision,
    "SetP": _set_precision,
    "SetR": _at_level(metrics.recall),
    "SetF": _set_f,
    "SetAP": _set_average_precision,
    "Judged": _judged,
    "Bpref": _bpref,
    "infAP": _inferred_ap,
    "ERR": _err,
    "RBP": _rbp,
    "RBPResidual": _rbp_residual,
    "NumQ": _queries,
    "NumRet": _returned,
    "NumRel": _relevant_judged,
    "NumRelRet": _at_level(metrics.relevant_returned),
}
