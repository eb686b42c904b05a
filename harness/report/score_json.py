"""The scores of a run file as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.model import Json, Measure

if TYPE_CHECKING:
    from harness.evaluation import Evaluation


def scores_json(evaluation: Evaluation, measures: Mapping[str, Measure]) -> str:
    """
    ``{"profile": …, "measures": {"nDCG@10": {"mean": x, "queries": {"q1": x}}}}``, null where a score is undefined.

    Args:
        evaluation: The scores.
        measures: What is written, by the text that it is written under.
    """
    by_measure: dict[str, Json] = {}
    for asked, measure in measures.items():
        figures: dict[str, Json] = {"mean": evaluation.mean(measure.text)}
        if measure.text in evaluation.summed:
            figures["sum"] = evaluation.sum(measure.text)
        by_measure[asked] = {**figures, "queries": dict(evaluation.scores[measure.text])}
    return json.dumps({"profile": str(evaluation.profile), "measures": by_measure}, indent=2, allow_nan=False)
