"""Scores of many queries at once from arrays, and from data frames by way of them; needs numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from harness.api.choices import AnyGain, read_argument, refuse
from harness.errors import UsageError, missing_package
from harness.metrics import parse_measure
from harness.metrics.profiles import rules_of
from harness.model import Measure, Profile

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
        _array("offsets", offsets, "iu"),
        _array("grades", grades, "iuf"),
        _array("judged_offsets", judged_offsets, "iu"),
        _array("judged_grades", judged_grades, "iuf"),
        None if judged is None else _array("judged", judged, "b"),
    )
    worth, whose = read_argument("gain", gain), read_argument("profile", profile)
    parsed = _measures(measures)
    columns = score_batches([batch], list(parsed.values()), gain=worth, profile=whose)
    return {text: columns[measure.text] for text, measure in parsed.items()}


class Column(Protocol):
    """One column of a frame."""

    def to_list(self) -> list[Any]:
        """Its values, as Python has them."""


class Frame(Protocol):
    """The interface of a data frame that is needed; frames of pandas and polars have it."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    def __getitem__(self, name: str) -> Column:
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

    worth, whose = read_argument("gain", gain), read_argument("profile", profile)
    names = _names(run, "run")
    _names(judgments, "judgments")
    score = "score" if score is None and "score" in names else score
    ties_by_id = score is not None and rules_of(whose).sorts
    hits = [_texts(run, name, "run") for name in (query, document)]
    known = [_texts(judgments, name, "judgments") for name in (query, document)]
    queries = _numbers([*hits[0], *known[0]])
    documents = _numbers(sorted({*hits[1], *known[1]}, key=_in_bytes) if ties_by_id else [*hits[1], *known[1]])
    of_hit, hit = _coded(hits, queries, documents, twice="comes twice")
    of_judged, judged = _coded(known, queries, documents, twice="is judged twice")
    scores = np.zeros(len(hit)) if score is None else np.array(_floats(run, score, "run"))
    order = np.lexsort((-hit, -scores, of_hit) if ties_by_id else (-scores, of_hit))
    batches = batches_of_codes(
        CodedRun(of_hit[order], hit[order]),
        CodedJudgments(of_judged, judged, np.array(_floats(judgments, grade, "judgments"))),
        len(queries),
    )
    parsed = _measures(measures)
    columns = score_batches(batches, list(parsed.values()), gain=worth, profile=whose)
    scored = np.bincount(of_hit, minlength=len(queries)) > 0
    if rules_of(whose).skips_unjudged:
        scored &= np.bincount(of_judged, minlength=len(queries)) > 0
    return {
        text: dict(zip(queries, np.where(scored & ~np.isnan(values), values, None).tolist(), strict=True))
        for text, values in ((text, columns[measure.text]) for text, measure in parsed.items())
    }


def _require_numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise missing_package("arrays and frames need", "numpy", "arrays") from None
    return numpy


def _measures(given: Sequence[str]) -> dict[str, Measure]:
    """The measures by their text as given."""
    return {text: parse_measure(text) for text in read_argument("measures", given)}


def _array(name: str, given: ArrayLike, kinds: str) -> NDArray[Any]:
    import numpy as np

    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in kinds):
        numbers = {"iu": "whole numbers", "iuf": "numbers", "b": "truth values"}[kinds]
        refuse(name, given, f"an array of {numbers} in one dimension")
    return array if array.size else array.astype(np.int64)


def _numbers(ids: Iterable[str]) -> dict[str, int]:
    """Each id with a number from 0, in the order in which they first come."""
    return {each: number for number, each in enumerate(dict.fromkeys(ids))}


def _in_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _coded(
    columns: Sequence[Sequence[str]], queries: Mapping[str, int], documents: Mapping[str, int], *, twice: str
) -> tuple[Codes, Codes]:
    """
    The code of the query and of the document of each row, as whole numbers.

    Raises:
        UsageError: a document comes twice for a query.
    """
    import numpy as np

    query, document = (
        np.fromiter(map(known.__getitem__, ids), np.int64, len(ids))
        for ids, known in zip(columns, (queries, documents), strict=True)
    )
    _, first = np.unique(query * len(documents) + document, return_index=True)
    if len(first) < len(query):
        row = int(np.setdiff1d(np.arange(len(query)), first)[0])
        raise UsageError(f"document {columns[1][row]!r} {twice} for query {columns[0][row]!r}")
    return query, document


def _texts(frame: Frame, name: str, what: str) -> list[str]:
    values = _column(frame, name, what)
    if float in set(map(type, values)):
        raise UsageError(f"the column {name!r} of the {what} has floating-point numbers, expected strings or integers")
    return list(map(str, values))


def _floats(frame: Frame, name: str, what: str) -> list[float]:
    try:
        return list(map(float, _column(frame, name, what)))
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"the column {name!r} of the {what} has a value that is no number, or one too large") from None


def _names(frame: object, what: str) -> list[Any]:
    """The names of the columns; UsageError if *frame* is not a data frame in memory."""
    if callable(getattr(frame, "collect", None)):
        raise UsageError(f"{what} is of type {type(frame).__name__}, whose rows are not computed; pass its collect()")
    columns = getattr(frame, "columns", None)
    if not isinstance(columns, Iterable) or not hasattr(frame, "__getitem__"):
        refuse(what, frame, "a data frame of pandas or polars")
    return list(columns)


def _column(frame: Frame, name: str, what: str) -> list[Any]:
    names = _names(frame, what)
    if name not in names:
        raise UsageError(f"the frame of the {what} has no column {name!r}; it has {', '.join(map(repr, names))}")
    if names.count(name) > 1:
        raise UsageError(f"the frame of the {what} has {names.count(name)} columns {name!r}, expected one")
    values = frame[name].to_list()
    if any(value is None or value != value for value in values):
        raise UsageError(f"the column {name!r} of the {what} has empty values")
    return values
