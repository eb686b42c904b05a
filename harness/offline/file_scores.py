"""
Scores of run files against one judgment file.

Large TREC files are read and joined as columns, everything else as dicts of ids. What is wrong with a file is found
and told by the second way alone, to which the first gives up whatever is out of the ordinary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import MeasureError, UsageError
from harness.formats.opening import Form, form_of
from harness.formats.trec import Irregular
from harness.metrics import is_of_novelty
from harness.metrics.evaluate import Evaluation, evaluate, is_batched
from harness.model import Gain, Measure, Profile

if TYPE_CHECKING:
    from harness.metrics.bulk.joining import JudgedColumns

__all__ = ["FileScorer"]


LARGE = 1 << 18
"""Bytes of a run from which on the import of numpy pays."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgment file: *grades* by query and document, or *subtopics* by query, document and subtopic."""

    grades: Mapping[str, Mapping[str, float]]
    subtopics: Mapping[str, Mapping[str, Mapping[str, float]]] | None = None


@dataclass(frozen=True)
class FileScorer:
    """
    Scores runs by one judgment file, which is read once.

    *gain* is None where the profile's own holds. *complete* counts a judged query that a run does not hold as one that
    returned nothing.
    """

    judgments: Path
    measures: Sequence[Measure]
    gain: Gain | None
    profile: Profile
    complete: bool

    def score(self, run: Path) -> Evaluation:
        """
        The scores of a run file.

        Raises:
            FormatError: a file is wrong; holds all its problems.
            UsageError: a file needs a package that is not installed, or the measures need different judgments.
            MeasureError: a grade that a gain map or a measure's scale does not hold.
        """
        return self._score_columns(run) or self._score_dicts(run)

    def _score_columns(self, run: Path) -> Evaluation | None:
        """None where columns do not do."""
        judged = self._columns if _is_large_trec(run) else None
        if judged is None:
            return None
        from harness.formats.columns import ranked_columns
        from harness.metrics.bulk.evaluate import evaluate_columns
        from harness.metrics.bulk.texts import Unfit

        ranked = ranked_columns(run, str(run))
        try:
            return evaluate_columns(
                judged, ranked, self.measures, gain=self.gain, profile=self.profile, complete=self.complete
            )
        except (Irregular, Unfit, MeasureError):
            return None

    @cached_property
    def _columns(self) -> JudgedColumns | None:
        batched = all(is_batched(measure, self.profile) for measure in self.measures)
        if not batched or form_of(self.judgments) is not Form.TREC:
            return None
        from harness.formats.columns import judged_columns

        try:
            return judged_columns(self.judgments, str(self.judgments))
        except Irregular:
            return None

    @cached_property
    def _judged(self) -> Judged:
        """By subtopic where the measures of novelty are asked for, else a grade a document."""
        from harness.formats.judgments import read_judgments
        from harness.formats.subtopics import read_subtopic_judgments

        of_novelty = [measure.text for measure in self.measures if is_of_novelty(measure)]
        others = [measure.text for measure in self.measures if not is_of_novelty(measure)]
        if of_novelty and others:
            raise UsageError(
                f"{', '.join(of_novelty)} take judgments by subtopic, and {', '.join(others)} one grade a document; "
                "ask for them one after the other"
            )
        path = self.judgments
        return Judged({}, read_subtopic_judgments(path)) if of_novelty else Judged(read_judgments(path))

    def _score_dicts(self, run: Path) -> Evaluation:
        from harness.formats.runs import read_run

        judged, stored = self._judged, read_run(run)
        sorts_itself = self.profile is Profile.TREC
        rankings = {query: one.documents if sorts_itself else one.in_order() for query, one in stored.items()}
        scores = {query: one.scores for query, one in stored.items()} if sorts_itself else None
        if judged.subtopics is not None:
            from harness.metrics.evaluate import evaluate_novelty

            return evaluate_novelty(
                judged.subtopics, rankings, self.measures, profile=self.profile, scores=scores, complete=self.complete
            )
        return evaluate(
            judged.grades,
            rankings,
            self.measures,
            gain=self.gain,
            profile=self.profile,
            scores=scores,
            complete=self.complete,
        )


def _is_large_trec(run: Path) -> bool:
    is_trec = form_of(run) is Form.TREC and run.is_file()
    return is_trec and run.stat().st_size >= LARGE and find_spec("numpy") is not None
