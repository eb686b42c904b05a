"""Plain rankings and judgments, scored without a suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date
from typing import Any

from harness.api.choices import AnyGain, read_argument, refuse
from harness.api.scores import Scores
from harness.metrics import parse_measure, profile_gain
from harness.metrics.ranking import finite
from harness.model import Engine, Hit, Profile, Query, Ranking, Run, Suite, Target

__all__ = ["Evaluation", "evaluate"]


class Evaluation(Scores):
    """Rankings that were scored as they are, without a suite."""

    def __init__(self, suite: Suite, run: Run) -> None:
        """
        Args:
            suite: The judgments, as a suite without requests.
            run: The rankings.
        """
        super().__init__(suite, run, depth=None, today=date.min)

    def means(self) -> dict[str, float]:
        """The mean of each measure that was named; raises as `mean`."""
        return {measure.text: self.mean(measure.text) for measure in self._suite.measures}


def evaluate(
    rankings: Mapping[str, Sequence[str]],
    judgments: Mapping[str, Mapping[str, float]],
    *,
    measures: Sequence[str],
    gain: AnyGain | None = None,
    profile: Profile | str = Profile.STANDARD,
    skip_undefined: bool = False,
) -> Evaluation:
    """
    Score plain rankings with plain judgments.

    Args:
        rankings: Query id to document ids, best first; a document that comes twice counts once.
        judgments: Query id to grades by document id. A judged query without a ranking did not run, and a ranking
            without judgments is undefined: neither counts as 0.
        measures: Such as ``nDCG@10``.
        gain: What a grade is worth: ``"linear"``, ``"exponential"``, a map from grade to gain, or a `Gain`; the
            profile's own where None.
        profile: Whose numbers are reproduced, such as ``"trec"``.
        skip_undefined: Whether queries without a score are left out of means and medians.

    Raises:
        MeasureError: a measure is not known.
        UsageError: an argument is not of its kind: a ranking that is a text or a set, a grade that is no number.

    >>> evaluate({"q": ["a", "b"]}, {"q": {"b": 1}}, measures=["RR@10"]).mean("RR@10")
    0.5
    """
    whose = read_argument("profile", profile)
    worth = read_argument("gain", gain)
    parsed = tuple(map(parse_measure, read_argument("measures", measures)))
    ranked = {query: _ids(query, documents) for query, documents in _by_query("rankings", rankings)}
    judged = {query: _grades(query, grades) for query, grades in _by_query("judgments", judgments)}
    suite = Suite(
        name="evaluation",
        path="",
        target=Target(),
        requests={},
        measures=parsed,
        queries=tuple(Query(query, query, judgments=judged.get(query, {})) for query in {**judged, **ranked}),
        gain=profile_gain(whose) if worth is None else worth,
        profile=whose,
        skip_undefined=read_argument("skip_undefined", skip_undefined),
    )
    responses = {query: Ranking(tuple(map(Hit, dict.fromkeys(ids))), total=None) for query, ids in ranked.items()}
    return Evaluation(suite, Run(responses, Engine("none")))


def _by_query(name: str, given: object) -> Iterable[tuple[str, Any]]:
    if not isinstance(given, Mapping):
        refuse(name, given, "a mapping by query id")
    for query in given:
        if not isinstance(query, str):
            refuse(f"a query id of {name}", query, "a text")
    return given.items()


def _ids(query: str, documents: object) -> list[str]:
    """A text would be taken for its letters, and neither a set nor a mapping is in the order of a ranking."""
    what = f"the ranking of query {query!r}"
    if not isinstance(documents, Iterable) or isinstance(documents, str | bytes | Set | Mapping):
        refuse(what, documents, "a sequence of document ids")
    ids = list(documents)
    for document in ids:
        if not isinstance(document, str):
            refuse(f"a document id in {what}", document, "a text")
    return list(map(str, ids))


def _grades(query: str, judged: object) -> dict[str, float]:
    if not isinstance(judged, Mapping):
        refuse(f"judgments of query {query!r}", judged, "a mapping from document id to grade")
    grades: dict[str, float] = {}
    for document, given in judged.items():
        if not isinstance(document, str):
            refuse(f"a document id in the judgments of query {query!r}", document, "a text")
        grade = finite(given)
        if grade is None:
            refuse(f"the grade of document {document!r} for query {query!r}", given, "a finite number")
        grades[document] = grade
    return grades
