"""Judgments by subtopic and rankings become scores of the measures of novelty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.errors import UndefinedScore
from harness.evaluation import Evaluation, Rankings, Scores, queries_in_the_mean, rankings_in_order
from harness.measures import score_diverse_query
from harness.model import Measure, Profile

__all__ = ["evaluate_novelty"]


def evaluate_novelty(
    judgments: Mapping[str, Mapping[str, Mapping[str, float]]],
    rankings: Rankings,
    measures: Sequence[Measure],
    *,
    profile: Profile = Profile.STANDARD,
    scores: Scores | None = None,
    complete: bool = False,
) -> Evaluation:
    """
    Score every query of a run whose queries have several meanings.

    Args:
        judgments: Query id to document id to subtopic to grade.
        rankings: Query id to document ids, best first.
        measures: Of novelty, such as alpha_nDCG@10.
        profile: Whose rules hold, as for `harness.evaluation.evaluate`.
        scores: Query id to the score of each document; only the trec profile orders by them.
        complete: A judged query that the run does not hold counts as one that returned nothing.

    Raises:
        MeasureError: a measure that is not one of novelty.
    """
    unjudged, missing, queries = queries_in_the_mean(judgments, rankings, profile, complete=complete)
    ranked = rankings_in_order(queries, rankings, profile, scores)

    def score(measure: Measure, query: str, ranking: Sequence[str]) -> float | None:
        try:
            return score_diverse_query(measure, ranking, judgments.get(query, {}), profile=profile)
        except UndefinedScore:
            return None

    columns = {
        measure.text: {query: score(measure, query, ranking) for query, ranking in zip(queries, ranked, strict=True)}
        for measure in measures
    }
    return Evaluation(profile, columns, missing, unjudged)
