"""Scores from data frames: pandas, polars, or whatever gives a column by name that has ``to_list()``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol

from harness.errors import UsageError
from harness.metrics.evaluate import Evaluation, evaluate
from harness.model import Gain, Measure, Profile

__all__ = ["Columns", "Frame", "evaluate_frames"]


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
