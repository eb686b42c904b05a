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
from harness.metrics.bulk.batch import Batch
from harness.metrics.bulk.ids import batches_of_ids
from harness.metrics.bulk.texts import CannotReadInBulk
from harness.metrics.bulk.trec import TrecJudgments, TrecRankings, read_judgments, read_rankings
from harness.metrics.definition import BatchFormula, Needs, Settings
from harness.metrics.profiles import rules_of
from harness.metrics.registry import batch_formula_of, definition_of, needs_level, settings_of
from harness.metrics.score import GREATEST_SCORE, check_bounds
from harness.model.suite import Gain, Measure, Profile
from harness.statistics.tests import FloatArray

__all__ = [
    "Batch",
    "CannotReadInBulk",
    "CodedJudgments",
    "CodedRun",
    "FloatArray",
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
) -> dict[str, FloatArray]:
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
    formulas: dict[Measure, BatchFormula] = {}
    for measure in measures:
        formula = batch_formula_of(measure, profile)
        if formula is None:
            message = f"{measure} is computed from ids, query by query, under the profile {profile}; use evaluate"
            raise MeasureError(message)
        formulas[measure] = formula
    parts: dict[str, list[FloatArray]] = {measure.text: [] for measure in measures}
    for batch in batches:
        for measure, formula in formulas.items():
            parts[measure.text].append(_score(batch, measure, formula, gain, profile))
    scores: dict[str, FloatArray] = {}
    for text, columns in parts.items():
        # Most runs are one batch, which need not be copied.
        scores[text] = columns[0] if len(columns) == 1 else np.concatenate([np.zeros(0), *columns])
    return scores


def _score(batch: Batch, measure: Measure, formula: BatchFormula, gain: Gain | None, profile: Profile) -> FloatArray:
    settings, rules = settings_of(measure, gain, profile), rules_of(profile)
    if rules.level is not None and needs_level(measure, settings):
        # The level differs from query to query, and a batch formula has one: grades become 1 and 0.
        batch = batch.regrade(rules.level)
        settings = replace(settings, values={**settings.values, "rel": 1.0})
    condensed = batch.condense(rules.least_judged) if settings.values.get("judged_only") else batch
    # What overflows is refused below, with a message; numpy's warning would be an error under pytest.
    with np.errstate(over="ignore", invalid="ignore"):
        values = formula(condensed, settings)
        is_defined = _find_defined(definition_of(measure).needs, batch, settings)
    is_in_bounds = np.abs(values) <= GREATEST_SCORE
    if not is_in_bounds.all():
        for value in values[is_defined & ~is_in_bounds].tolist():
            check_bounds(measure, value)  # names the first
    return np.where(is_defined, values, 0.0 if rules.zero_undefined else np.nan)


def _find_defined(needs: Needs, batch: Batch, settings: Settings) -> NDArray[np.bool_]:
    if needs is Needs.RELEVANT:
        return batch.total(settings.level) > 0
    if needs is Needs.GAIN:
        return batch.has_gain(settings.gain)
    return np.ones(batch.queries, bool)
