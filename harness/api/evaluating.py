"""Plain rankings and judgments, scored without a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from harness.api.scores import Scores
from harness.errors import UsageError
from harness.measures import parse_measure, profile_gain
from harness.model import Engine, Gain, Hit, Profile, Query, Ranking, Run, Suite, Target

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
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    skip_undefined: bool = False,
) -> Evaluation:
    """
    Score plain rankings with plain judgments.

    Args:
        rankings: Query id to document ids, best first; a document that comes twice counts once.
        judgments: Query id to grades by document id. A judged query without a ranking did not run, and a ranking
            without judgments is undefined: neither counts as 0.
        measures: Such as ``nDCG@10``.
        gain: What a grade is worth; the profile's own where None.
        profile: Whose numbers are reproduced.
        skip_undefined: Whether queries without a score are left out of means and medians.

    Raises:
        MeasureError: a measure is not known.
        UsageError: a ranking is a text instead of a sequence of ids.

    >>> evaluate({"q": ["a", "b"]}, {"q": {"b": 1}}, measures=["RR@10"]).mean("RR@10")
    0.5
    """
    parsed = tuple(parse_measure(measure) for measure in measures)
    ids = list(dict.fromkeys([*judgments, *rankings]))
    suite = Suite(
        name="evaluation",
        path="",
        target=Target(),
        requests={},
        measures=parsed,
        queries=tuple(Query(query, query, judgments=judgments.get(query, {})) for query in ids),
        gain=profile_gain(profile) if gain is None else gain,
        profile=profile,
        skip_undefined=skip_undefined,
    )
    responses = {query: _plain_ranking(query, ranking) for query, ranking in rankings.items()}
    return Evaluation(suite, Run(responses, Engine("none")))


def _plain_ranking(query: str, documents: Sequence[str]) -> Ranking:
    if isinstance(documents, str):
        raise UsageError(
            f"the ranking of query {query!r} is the text {documents!r}, expected a sequence of document ids"
        )
    return Ranking(tuple(Hit(document) for document in dict.fromkeys(documents)), total=None)
