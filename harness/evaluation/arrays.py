"""
Scores from arrays: grades in CSR form, or columns of integer codes.

Imports numpy; `harness.evaluation.evaluate` is for dicts of ids.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.errors import MeasureError
from harness.evaluation import is_batched
from harness.measures.batched import score_batch
from harness.metrics.batch import Batch, Floats, Numbers
from harness.metrics.joining import CodedJudgments, CodedRun, batch_of_grades, batches_of_codes
from harness.model import Gain, Measure, Profile

__all__ = ["CodedJudgments", "CodedRun", "evaluate_codes", "evaluate_grades"]


def evaluate_grades(
    offsets: Numbers,
    grades: Numbers,
    judged_offsets: Numbers,
    judged_grades: Numbers,
    measures: Sequence[Measure],
    *,
    judged: Numbers | None = None,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> dict[str, Floats]:
    """
    Score rankings whose grades are looked up already.

    Args:
        offsets: Query i's hits are ``grades[offsets[i]:offsets[i + 1]]``; int64, one more than there are queries.
        grades: The grade of each hit, best first; NaN where it is unjudged. No ranking holds a document twice.
        judged_offsets: The same for the judgments.
        judged_grades: The grade of every judged document, returned or not.
        measures: What is measured.
        judged: Which hits are judged, for grades of a type that has no NaN.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: Whose rules hold; the order of the hits stands under all of them.

    Returns:
        The text of each measure with one float64 a query, NaN where it is undefined.

    Raises:
        MeasureError: a grade that a gain map or a measure's scale does not hold, a measure that has no batch formula.
        UsageError: offsets that do not fit, a judgment that is not finite.
    """
    _check_batched(measures, profile)
    batch = batch_of_grades(offsets, grades, judged_offsets, judged_grades, judged)
    return _scores(batch, measures, gain, profile)


def evaluate_codes(
    run: CodedRun,
    judgments: CodedJudgments,
    queries: int,
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> dict[str, Floats]:
    """
    Join a run to judgments by integer codes, as Parquet's dictionaries hold ids, and score it.

    Args:
        run: Grouped by query in the order of the codes, best hit first.
        judgments: In any order.
        queries: How many queries there are; their codes run from 0 to one less.
        measures: What is measured.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: Whose rules hold; the order of the hits stands under all of them.

    Returns:
        The text of each measure with one float64 a query, NaN where it is undefined.

    Raises:
        MeasureError: as `evaluate_grades`.
        UsageError: columns that do not fit, a document twice in a ranking or in the judgments of a query.
    """
    _check_batched(measures, profile)
    parts = [_scores(batch, measures, gain, profile) for batch in batches_of_codes(run, judgments, queries)]
    empty = [np.zeros(0)]
    return {measure.text: np.concatenate([part[measure.text] for part in parts] or empty) for measure in measures}


def _scores(batch: Batch, measures: Sequence[Measure], gain: Gain | None, profile: Profile) -> dict[str, Floats]:
    return {measure.text: score_batch(batch, measure, gain, profile) for measure in measures}


def _check_batched(measures: Sequence[Measure], profile: Profile) -> None:
    for measure in measures:
        if not is_batched(measure, profile):
            raise MeasureError(
                f"{measure} is computed from ids, query by query, under the profile {profile}; use evaluate"
            )
