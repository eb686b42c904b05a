"""Scores of many queries at once from arrays, and from data frames by way of them; needs numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from harness.api.choices import AnyGain, read_argument, refuse
from harness.errors import UsageError, missing_package
from harness.metrics import parse_measure
from harness.metrics.profiles import rules_of
from harness.model.suite import Measure, Profile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Codes = NDArray[np.int64]


def evaluate_arrays(
    offsets: ArrayLike,
    grades: ArrayLike,
    judged_offsets: ArrayLike,
    judged_grades: ArrayLike,
    *,
    measures: Sequence[str],
    judged: ArrayLike | None = None,
    gain: AnyGain | None = None,
    profile: Profile | str = Profile.STANDARD,
) -> dict[str, NDArray[np.float64]]:
    """
    Score rankings whose grades are looked up already, in CSR form.

    Args:
        offsets: Query i's hits are ``grades[offsets[i]:offsets[i + 1]]``; whole numbers, one more than queries.
        grades: The grade of each hit, best first; NaN where it is unjudged. No ranking holds a document twice.
        judged_offsets: As *offsets*, for ``judged_grades``.
        judged_grades: The grade of every judged document, returned or not, in any order within its query.
        measures: Such as ``nDCG@10``; those that are computed from ids, such as Compat, are refused.
        judged: Which hits are judged, for grades of a type that has no NaN.
        gain: As `evaluate` takes it.
        profile: The profile to reproduce; none of them reorders the hits.

    Returns:
        Each of *measures* with one float64 per query, NaN where it is undefined.

    Raises:
        MeasureError: a measure is not known, or is not computed from grades alone; a grade that a gain map or a
            measure's scale does not hold.
        UsageError: an argument is not of its kind, offsets that do not fit, a judgment that is not finite.

    >>> evaluate_arrays([0, 2, 3], [float("nan"), 1, 0], [0, 1, 2], [1, 2], measures=["RR"])["RR"].tolist()
    [0.5, 0.0]
    """
    _require_numpy()
    from harness.metrics.bulk import batch_of_grades, score_batches

    batch = batch_of_grades(
        _read_array("offsets", offsets, "iu"),
        _read_array("grades", grades, "iuf"),
        _read_array("judged_offsets", judged_offsets, "iu"),
        _read_array("judged_grades", judged_grades, "iuf"),
        None if judged is None else _read_array("judged", judged, "b"),
    )
    parsed_gain, parsed_profile = read_argument("gain", gain), read_argument("profile", profile)
    parsed = _read_measures(measures)
    columns = score_batches([batch], list(parsed.values()), gain=parsed_gain, profile=parsed_profile)
    return {text: columns[measure.text] for text, measure in parsed.items()}


class FrameColumn(Protocol):
    """One column of a frame."""

    def to_list(self) -> list[Any]:
        """Its values, as Python has them."""


class Frame(Protocol):
    """The interface of a data frame that is needed; frames of pandas and polars have it."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    def __getitem__(self, name: str) -> FrameColumn:
        """A column by name."""


def evaluate_frames(
    run: Frame,
    judgments: Frame,
    *,
    measures: Sequence[str],
    query: str = "query",
    document: str = "document",
    grade: str = "grade",
    score: str | None = None,
    gain: AnyGain | None = None,
    profile: Profile | str = Profile.STANDARD,
) -> dict[str, dict[str, float | None]]:
    """
    Score a run that is a data frame of pandas or polars, with judgments that are another.

    Args:
        run: A row per hit, with columns of the query, the document and the score, in any order. The highest score comes
            first, equal ones in the order of the rows, or as the trec profile has them; without a column of scores the
            order of the rows is the ranking under every profile.
        judgments: A row per judgment: query, document, grade.
        measures: Such as ``nDCG@10``; those that are computed from ids, such as Compat, are refused.
        query: The name of the column of queries, in both.
        document: The name of the column of documents, in both; ids that are not texts are converted.
        grade: The name of the column of grades.
        score: The name of the column of scores; None for ``score`` where the run has it.
        gain: As `evaluate` takes it.
        profile: The profile to reproduce.

    Returns:
        Each of *measures* with the score of every query of either frame: None where it is undefined, where the
        run does not hold the query, and under the trec profile where nothing is judged for it.

    Raises:
        MeasureError: as `evaluate_arrays`.
        UsageError: a frame is not one, a column or a value is missing, an id is a floating-point number, a value is
            not a number, or a document comes twice for a query.
    """
    np = _require_numpy()
    from harness.metrics.bulk import CodedJudgments, CodedRun, batches_of_codes, score_batches

    parsed_gain, parsed_profile = read_argument("gain", gain), read_argument("profile", profile)
    rules = rules_of(parsed_profile)
    column_names = _list_columns(run, "run")
    _list_columns(judgments, "judgments")
    if score is None and "score" in column_names:
        score = "score"
    hits = IdColumns(_read_texts(run, query, "run"), _read_texts(run, document, "run"))
    judged = IdColumns(_read_texts(judgments, query, "judgments"), _read_texts(judgments, document, "judgments"))

    # Ids become whole numbers, which numpy groups and joins.
    query_codes = _number_ids([*hits.queries, *judged.queries])
    document_ids = [*hits.documents, *judged.documents]
    sorts_ties = score is not None and rules.sorts
    if sorts_ties:
        # The profile sorts equal scores by id, the last one first: the order of the codes is then that of the ids.
        document_ids = sorted(set(document_ids), key=_encode)
    document_codes = _number_ids(document_ids)
    hit_queries, hit_documents = _code_rows(hits, query_codes, document_codes, repeated="comes twice")
    judged_queries, judged_documents = _code_rows(judged, query_codes, document_codes, repeated="is judged twice")

    # The last key sorts first, and numpy keeps the order of the rows where all keys are equal.
    scores = np.zeros(len(hit_queries)) if score is None else np.array(_read_floats(run, score, "run"))
    keys = (-hit_documents, -scores, hit_queries) if sorts_ties else (-scores, hit_queries)
    order = np.lexsort(keys)
    batches = batches_of_codes(
        CodedRun(hit_queries[order], hit_documents[order]),
        CodedJudgments(judged_queries, judged_documents, np.array(_read_floats(judgments, grade, "judgments"))),
        len(query_codes),
    )
    parsed = _read_measures(measures)
    columns = score_batches(batches, list(parsed.values()), gain=parsed_gain, profile=parsed_profile)

    has_score = np.bincount(hit_queries, minlength=len(query_codes)) > 0
    if rules.skips_unjudged:
        has_score &= np.bincount(judged_queries, minlength=len(query_codes)) > 0
    scores_by_measure = {}
    for text, measure in parsed.items():
        column = columns[measure.text]
        values = np.where(has_score & ~np.isnan(column), column, None).tolist()
        scores_by_measure[text] = dict(zip(query_codes, values, strict=True))
    return scores_by_measure


@dataclass(frozen=True, slots=True)
class IdColumns:
    """The id of the query and that of the document of each row of a frame."""

    queries: Sequence[str]
    documents: Sequence[str]


def _require_numpy() -> Any:
    """The module of numpy; raises UsageError where it is not installed."""
    try:
        import numpy
    except ImportError:
        raise missing_package("arrays and frames need", "numpy", "arrays") from None
    return numpy


def _read_measures(measures: Sequence[str]) -> dict[str, Measure]:
    """The measures by their text as given."""
    return {text: parse_measure(text) for text in read_argument("measures", measures)}


def _read_array(name: str, value: ArrayLike, kinds: str) -> NDArray[Any]:
    """*value* as an array of one dimension, whose type is one of numpy's *kinds*."""
    import numpy as np

    array = np.asarray(value)
    if array.ndim != 1 or (array.size and array.dtype.kind not in kinds):
        numbers = {"iu": "whole numbers", "iuf": "numbers", "b": "truth values"}[kinds]
        refuse(name, value, f"an array of {numbers} in one dimension")
    # An empty list is an array of floats, which cannot be offsets.
    return array if array.size else array.astype(np.int64)


def _number_ids(ids: Iterable[str]) -> dict[str, int]:
    """Each id with a number from 0, in the order in which they first come."""
    return {identifier: number for number, identifier in enumerate(dict.fromkeys(ids))}


def _encode(text: str) -> bytes:
    """A key that sorts texts as trec_eval does, by their bytes; half of a character is kept."""
    return text.encode("utf-8", "surrogatepass")


def _code_rows(
    rows: IdColumns, query_codes: Mapping[str, int], document_codes: Mapping[str, int], *, repeated: str
) -> tuple[Codes, Codes]:
    """
    The code of the query of each row, and the code of the document of each row.

    Raises:
        UsageError: a document is there twice for a query; *repeated* is what the sentence says of it.
    """
    import numpy as np

    queries = np.fromiter(map(query_codes.__getitem__, rows.queries), np.int64, len(rows.queries))
    documents = np.fromiter(map(document_codes.__getitem__, rows.documents), np.int64, len(rows.documents))
    _, first_rows = np.unique(queries * len(document_codes) + documents, return_index=True)
    if len(first_rows) < len(queries):
        row = int(np.setdiff1d(np.arange(len(queries)), first_rows)[0])
        raise UsageError(f"document {rows.documents[row]!r} {repeated} for query {rows.queries[row]!r}")
    return queries, documents


def _read_texts(frame: Frame, name: str, what: str) -> list[str]:
    """A column of ids, as texts."""
    values = _read_column(frame, name, what)
    # pandas turns whole numbers into floats where one is missing, and 17 would be 17.0.
    if float in set(map(type, values)):
        raise UsageError(f"the column {name!r} of the {what} has floating-point numbers, expected strings or integers")
    return list(map(str, values))


def _read_floats(frame: Frame, name: str, what: str) -> list[float]:
    """A column of numbers."""
    try:
        return list(map(float, _read_column(frame, name, what)))
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"the column {name!r} of the {what} has a value that is no number, or one too large") from None


def _list_columns(frame: object, what: str) -> list[Any]:
    """The names of the columns; UsageError if *frame* is not a data frame in memory."""
    # A lazy frame of polars has columns, but no rows.
    if callable(getattr(frame, "collect", None)):
        raise UsageError(f"{what} is of type {type(frame).__name__}, whose rows are not computed; pass its collect()")
    columns = getattr(frame, "columns", None)
    if not isinstance(columns, Iterable) or not hasattr(frame, "__getitem__"):
        refuse(what, frame, "a data frame of pandas or polars")
    return list(columns)


def _read_column(frame: Frame, name: str, what: str) -> list[Any]:
    """
    The values of the column *name* of *frame*; *what* is what an error calls the frame.

    Raises:
        UsageError: There is no such column, there are several, or a value is missing.
    """
    names = _list_columns(frame, what)
    if name not in names:
        raise UsageError(f"the frame of the {what} has no column {name!r}; it has {', '.join(map(repr, names))}")
    # pandas allows it, and returns both as one frame.
    if names.count(name) > 1:
        raise UsageError(f"the frame of the {what} has {names.count(name)} columns {name!r}, expected one")
    values = frame[name].to_list()
    # NaN is the value that is not equal to itself.
    if any(value is None or value != value for value in values):
        raise UsageError(f"the column {name!r} of the {what} has empty values")
    return values
