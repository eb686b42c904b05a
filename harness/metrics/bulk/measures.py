"""The scores of a batch: the batch formula of a measure, and where it is defined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.metrics.bulk.batch import Batch, Floats
from harness.metrics.definition import Definition, Needs, Settings
from harness.metrics.profiles import rules_of
from harness.metrics.registry import definition_of, settings_of, takes_level
from harness.metrics.score import GREATEST_SCORE, in_bounds
from harness.model import Gain, Measure, Profile

__all__ = ["score_batch"]


def score_batch(
    batch: Batch, measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD
) -> Floats:
    """
    The score of every query of *batch*, NaN where it is undefined; arguments as of `harness.metrics.score_query`.

    Raises:
        MeasureError: a grade that the gain map or the measure's scale does not hold, a score beyond what can be summed.
    """
    definition, settings = definition_of(measure), settings_of(measure, gain, profile)
    formula, rules = definition.batch, rules_of(profile)
    assert formula is not None
    if rules.level is not None and takes_level(measure, settings):
        batch = batch.regraded(rules.level)
        settings = replace(settings, values={**settings.values, "rel": 1.0})
    condensed = batch.condensed(rules.least_judged) if settings.values.get("judged_only") else batch
    with np.errstate(over="ignore", invalid="ignore"):
        values = formula(condensed, settings)
        defined = _defined(definition, batch, settings)
    for beyond in values[defined & ~(np.abs(values) <= GREATEST_SCORE)].tolist():
        in_bounds(measure, beyond)  # the first is told
    return np.where(defined, values, 0.0 if rules.zero_undefined else np.nan)


def _defined(definition: Definition, batch: Batch, settings: Settings) -> NDArray[np.bool_]:
    if definition.needs is Needs.RELEVANT:
        return batch.total(settings.level) > 0
    if definition.needs is Needs.GAIN:
        return batch.has_gain(settings.gain)
    return np.ones(batch.queries, bool)
