"""The scores of a run file as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.model import Json, Measure

if TYPE_CHECKING:
    from harness.metrics.evaluate import Evaluation


def scores_json(evaluation: Evaluation, measures: Mapping[str, Measure], *, complete: bool = False) -> str:
    """
    ``{"profile": …, "measures": {"nDCG@10": {"mean": x, "queries": {"q1": x}}}}``, null where a score is undefined.

    Where queries are in no mean, ``"left_out": {"not_in_run": [ids], "not_judged": [ids]}`` names them, each list only
    where it holds some.

    Args:
        evaluation: The scores.
        measures: What is written, by the text that it is written under.
        complete: Whether judged queries that are not in the run were counted.
    """
    by_measure: dict[str, Json] = {}
    for asked, measure in measures.items():
        figures: dict[str, Json] = {"mean": evaluation.mean(measure.text)}
        if measure.text in evaluation.summed:
            figures["sum"] = evaluation.sum(measure.text)
        by_measure[asked] = {**figures, "queries": dict(evaluation.scores[measure.text])}
    plain: dict[str, Json] = {"profile": str(evaluation.profile), "measures": by_measure}
    left_out = {"not_in_run": () if complete else evaluation.missing, "not_judged": evaluation.unjudged}
    if any(left_out.values()):
        plain["left_out"] = {why: list(queries) for why, queries in left_out.items() if queries}
    return json.dumps(plain, indent=2, allow_nan=False)
