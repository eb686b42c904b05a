"""Judgment and run files -> scores, and two runs' scores -> a comparison: evaluation without an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import MeasureError, UsageError
from harness.metrics import definition_of, gain_in_force, parse_measure
from harness.metrics.evaluate import Evaluation
from harness.model import Comparison, Gain, Measure, Profile
from harness.offline.file_scores import FileScorer

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions

__all__ = ["FileOptions", "compare_files", "evaluate_files", "gains_in_force", "read_measures"]


@dataclass(frozen=True, slots=True)
class FileOptions:
    """
    How files are scored.

    *measures* maps each text that was asked for to its measure. *gain* is None where the profile's own holds.
    *complete* counts a judged query that the run does not hold as one that returned nothing.
    """

    measures: Mapping[str, Measure]
    profile: Profile = Profile.STANDARD
    gain: Gain | None = None
    complete: bool = False


def read_measures(texts: Sequence[str]) -> dict[str, Measure]:
    """
    Each of *texts* with its measure.

    Raises:
        UsageError: some are no measures; all of them are named.
    """
    measures, problems = {}, []
    for text in texts:
        try:
            measures[text] = parse_measure(text)
        except MeasureError as error:
            problems.append(f"measure {text!r}: {error}")
    if problems:
        raise UsageError("\n".join(problems))
    return measures


def gains_in_force(options: FileOptions) -> dict[str, str]:
    """By the text that was asked for, the gain that a measure is computed with, in words; empty where it knows none."""
    return {text: _gain(measure, options) for text, measure in options.measures.items()}


def evaluate_files(judgments: Path, run: Path, options: FileOptions) -> Evaluation:
    """
    Score a run file.

    The ranking of a query is its documents by score, the highest first: the lines of the file may come in any order,
    and the rank column is not read. Equal scores are put in order as the profile says: `trec` by document id from the
    last to the first, every other one as they come in the file.

    Raises:
        FormatError: a file is wrong; holds all its problems.
        UsageError: a file needs a package that is not installed.
    """
    return _scorer(judgments, options).score(run)


def compare_files(
    judgments: Path, reference: Path, candidates: Sequence[Path], options: FileOptions, how: ComparisonOptions
) -> tuple[Comparison, ...]:
    """
    Compare each of *candidates* with *reference*; needs numpy and scipy.

    Raises:
        FormatError: a file is wrong; holds all its problems.
        UsageError: the runs have no scored query in common, or a file needs a package that is not installed.
        StatisticError: there are too few queries for the test.
    """
    from harness.statistics.compare import compare

    scorer = _scorer(judgments, options)
    scores = _asked_scores(scorer.score(reference), options)
    comparisons = []
    for candidate in candidates:
        other = _asked_scores(scorer.score(candidate), options)
        comparisons.append(compare(scores, other, names=(str(reference), str(candidate)), options=how))
    return _corrected(comparisons, how)


def _scorer(judgments: Path, options: FileOptions) -> FileScorer:
    """Each measure is scored once, in whatever words it was asked for."""
    measures = list({measure.text: measure for measure in options.measures.values()}.values())
    return FileScorer(judgments, measures, options.gain, options.profile, options.complete)


def _corrected(comparisons: Sequence[Comparison], how: ComparisonOptions) -> tuple[Comparison, ...]:
    """With several candidates, the p-values are corrected for all that were looked at, not for one candidate's only."""
    from harness.statistics.compare import CORRECTIONS

    p_values = [row.p_value for comparison in comparisons for row in comparison.measures]
    adjusted = iter(CORRECTIONS[how.correction](p_values))
    return tuple(
        replace(comparison, measures=tuple(replace(row, adjusted=next(adjusted)) for row in comparison.measures))
        for comparison in comparisons
    )


def _gain(measure: Measure, options: FileOptions) -> str:
    knows_gain = "gain" in definition_of(measure).parameters
    return str(gain_in_force(measure, options.gain, options.profile)) if knows_gain else ""


def _asked_scores(evaluation: Evaluation, options: FileOptions) -> dict[str, Mapping[str, float | None]]:
    return {text: evaluation.scores[measure.text] for text, measure in options.measures.items()}
