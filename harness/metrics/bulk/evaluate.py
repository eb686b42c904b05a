"""Scores from arrays: grades in CSR form, columns of integer codes, columns of bytes from files, and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import isnan
from typing import Any, Protocol

import numpy as np

from harness.errors import MeasureError, UsageError
from harness.metrics.bulk.batch import Batch, Floats, Numbers
from harness.metrics.bulk.joining import (
    CodedJudgments,
    CodedRun,
    JudgedColumns,
    RankedColumns,
    batch_of_columns,
    batch_of_grades,
    batches_of_codes,
)
from harness.metrics.bulk.measures import score_batch
from harness.metrics.bulk.texts import texts_of
from harness.metrics.evaluate import Evaluation, evaluate, is_batched
from harness.metrics.profiles import rules_of
from harness.metrics.registry import definition_of
from harness.model import Gain, Measure, Profile

__all__ = [
    "CodedJudgments",
    "CodedRun",
    "Columns",
    "Frame",
    "evaluate_codes",
    "evaluate_columns",
    "evaluate_frames",
    "evaluate_grades",
]


# Scores from arrays: grades in CSR form, or columns of integer codes.
#
# Imports numpy; `harness.metrics.evaluate.evaluate` is for dicts of ids.


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


# Scores from columns of bytes, as the bulk readers of files give them. Imports numpy.


@dataclass(slots=True)
class _Scored:
    """The queries that are scored so far, and the values of each measure beside them."""

    measures: Sequence[Measure]
    gain: Gain | None
    profile: Profile
    queries: list[str] = field(default_factory=list)
    values: dict[Measure, list[float]] = field(default_factory=dict)

    def add(self, queries: Iterable[str], batch: Batch) -> None:
        self.queries.extend(queries)
        for measure in self.measures:
            scores = score_batch(batch, measure, self.gain, self.profile).tolist()
            self.values.setdefault(measure, []).extend(scores)

    def by_query(self, measure: Measure, left_out: set[str]) -> dict[str, float | None]:
        pairs = zip(self.queries, self.values.get(measure, ()), strict=True)
        return {query: None if isnan(value) else value for query, value in pairs if query not in left_out}


def evaluate_columns(
    judged: JudgedColumns,
    ranked: Iterable[RankedColumns],
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    complete: bool = False,
) -> Evaluation:
    """
    Score every query of a run, each ranked by score: what `harness.metrics.evaluate.evaluate` gives for dicts.

    Args:
        judged: All judgments.
        ranked: The hits, no query in two of them.
        measures: What is measured; `is_batched` must hold for each.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: Whose rules hold.
        complete: A judged query that the run does not hold counts as one that returned nothing.

    Raises:
        MeasureError: a grade that a gain map or a measure's scale does not hold.
        Unfit: a document comes twice for a query, or ids cannot be told apart in bulk.
    """
    rules = rules_of(profile)
    scored = _Scored(measures, gain, profile)
    for part in ranked:
        scored.add(part.queries, batch_of_columns(judged, part, ties_by_id=rules.sorts))
    returned = set(scored.queries)
    unjudged = tuple(query for query in scored.queries if query not in judged.queries)
    missing = tuple(query for query in judged.queries if query not in returned)
    if complete and missing:
        scored.add(missing, batch_of_columns(judged, _nothing(missing), ties_by_id=False))
    left_out = set(unjudged) if rules.skips_unjudged else set()
    return Evaluation(
        profile,
        {measure.text: scored.by_query(measure, left_out) for measure in measures},
        missing,
        unjudged,
        frozenset(measure.text for measure in measures if definition_of(measure).summed),
    )


def _nothing(queries: Sequence[str]) -> RankedColumns:
    sizes = np.zeros(len(queries), np.int64)
    return RankedColumns(list(queries), sizes, texts_of((), 0), np.zeros(0))


# Scores from data frames: pandas, polars, or whatever gives a column by name that has ``to_list()``.


class Column(Protocol):
    """One column."""

    def to_list(self) -> list[Any]:
        """Its values, as Python has them."""


class Frame(Protocol):
    """What is asked of a data frame."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    def __getitem__(self, name: str) -> Column:
        """A column by name."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns that are read."""

    query: str = "query"
    document: str = "document"
    grade: str = "grade"
    score: str = "score"


def evaluate_frames(
    judgments: Frame,
    run: Frame,
    measures: Sequence[Measure],
    *,
    columns: Columns = Columns(),
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    complete: bool = False,
) -> Evaluation:
    """
    Score a run that is a data frame, against judgments that are another.

    Args:
        judgments: A row a judgment: query, document, grade.
        run: A row a hit: query, document, score. The highest score comes first, equal ones in the order of the rows,
            or as the trec profile has them; without a column of scores the order of the rows is the ranking.
        measures: What is measured.
        columns: What the columns are called.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: Whose rules hold.
        complete: A judged query that the run does not hold counts as one that returned nothing.

    Raises:
        UsageError: a column is missing, a value is, or is no number, or a document is judged twice for a query.
        MeasureError: a grade that a gain map or a measure's scale does not hold.
    """
    rankings, scores = _read_run(run, columns)
    return evaluate(
        _read_judgments(judgments, columns),
        rankings,
        measures,
        gain=gain,
        profile=profile,
        scores=scores if columns.score in run.columns else None,
        complete=complete,
    )


def _read_judgments(frame: Frame, columns: Columns) -> dict[str, dict[str, float]]:
    judgments: dict[str, dict[str, float]] = {}
    names = (columns.query, columns.document, columns.grade)
    for query, document, grade in zip(*(_column(frame, name, "judgments") for name in names), strict=True):
        judged = judgments.setdefault(str(query), {})
        if str(document) in judged:
            raise UsageError(f"document {document!r} is judged twice for query {query!r}")
        judged[str(document)] = _number(grade, columns.grade, "judgments")
    return judgments


def _read_run(frame: Frame, columns: Columns) -> tuple[dict[str, list[str]], dict[str, list[float]]]:
    queries, documents = _column(frame, columns.query, "run"), _column(frame, columns.document, "run")
    known = columns.score in frame.columns
    rows: dict[str, list[tuple[float, str]]] = {}
    values = _column(frame, columns.score, "run") if known else []
    scores = (_number(value, columns.score, "run") for value in values) if known else repeat(0.0)
    for query, document, score in zip(queries, documents, scores, strict=False):
        rows.setdefault(str(query), []).append((score, str(document)))
    for hits in rows.values():
        hits.sort(key=lambda hit: -hit[0])
    by_query = rows.items()
    return (
        {query: [document for _, document in hits] for query, hits in by_query},
        {query: [score for score, _ in hits] for query, hits in by_query},
    )


def _number(value: Any, name: str, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"the column {name!r} of the {what} has a value that is no number, or one too large") from None


def _column(frame: Frame, name: str, what: str) -> list[Any]:
    if name not in frame.columns:
        raise UsageError(
            f"the frame of the {what} has no column {name!r}; it has {', '.join(map(repr, frame.columns))}"
        )
    values = frame[name].to_list()
    if any(value is None or value != value for value in values):
        raise UsageError(f"the column {name!r} of the {what} has empty values")
    return values
