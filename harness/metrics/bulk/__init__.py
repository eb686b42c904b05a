"""
Many queries at once, with numpy: input becomes batches, and `score_batches` scores them.

`harness.metrics.evaluate` uses it for ids and files that are large enough for the import of numpy to pay, and
`harness.api` for arrays and frames. The batch formulas are beside the others, in the modules of the measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.errors import MeasureError
from harness.metrics.bulk.arrays import CodedJudgments, CodedRun, batch_of_grades, batches_of_codes
from harness.metrics.bulk.batch import Batch, Floats
from harness.metrics.bulk.ids import batches_of_ids
from harness.metrics.bulk.texts import CannotReadInBulk
from harness.metrics.bulk.trec import TrecJudgments, TrecRankings, read_judgments, read_rankings
from harness.metrics.definition import BatchFormula, Needs, Settings
from harness.metrics.profiles import rules_of
from harness.metrics.registry import batch_formula_of, definition_of, settings_of, takes_level
from harness.metrics.score import GREATEST_SCORE, check_bounds
from harness.model import Gain, Measure, Profile

__all__ = [
    "Batch",
    "CannotReadInBulk",
    "CodedJudgments",
    "CodedRun",
    "Floats",
    "TrecJudgments",
    "TrecRankings",
    "batch_of_grades",
    "batches_of_codes",
    "batches_of_ids",
    "read_judgments",
    "read_rankings",
    "score_batches",
]


def score_batches(
    batches: Iterable[Batch],
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> dict[str, Floats]:
    """
    Score every query of all *batches*.

    Args:
        batches: Batches of different queries; each is released before the next is read.
        measures: The measures to compute.
        gain: The gain where a measure's text gives none; None is the profile's own.
        profile: The profile whose rules apply; none of them reorders the hits.

    Returns:
        The text of each measure with one float64 per query, in the order of the batches; NaN where it is undefined.

    Raises:
        MeasureError: a grade that a gain map or a measure's scale does not hold, a score beyond what can be summed, a
            measure that has no batch formula under the profile.
    """
    formulas = [(measure, _formula_of(measure, profile)) for measure in measures]
    parts = [[_score(batch, *each, gain, profile) for each in formulas] for batch in batches]
    columns = zip(*parts, strict=True) if parts else [(np.zeros(0),)] * len(measures)
    return {
        measure.text: np.concatenate(column) if len(column) > 1 else column[0]
        for measure, column in zip(measures, columns, strict=True)
    }


def _formula_of(measure: Measure, profile: Profile) -> BatchFormula:
    formula = batch_formula_of(measure, profile)
    if formula is None:
        raise MeasureError(f"{measure} is computed from ids, query by query, under the profile {profile}; use evaluate")
    return formula


def _score(batch: Batch, measure: Measure, formula: BatchFormula, gain: Gain | None, profile: Profile) -> Floats:
    settings, rules = settings_of(measure, gain, profile), rules_of(profile)
    if rules.level is not None and takes_level(measure, settings):
        batch = batch.regrade(rules.level)
        settings = replace(settings, values={**settings.values, "rel": 1.0})
    condensed = batch.condense(rules.least_judged) if settings.values.get("judged_only") else batch
    with np.errstate(over="ignore", invalid="ignore"):
        values = formula(condensed, settings)
        defined = _defined(definition_of(measure).needs, batch, settings)
    within = np.abs(values) <= GREATEST_SCORE
    if not within.all():
        for beyond in values[defined & ~within].tolist():
            check_bounds(measure, beyond)  # names the first
    return np.where(defined, values, 0.0 if rules.zero_undefined else np.nan)


def _defined(needs: Needs, batch: Batch, settings: Settings) -> NDArray[np.bool_]:
    if needs is Needs.RELEVANT:
        return batch.total(settings.level) > 0
    if needs is Needs.GAIN:
        return batch.has_gain(settings.gain)
    return np.ones(batch.queries, bool)
