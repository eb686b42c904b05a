"""What the thresholds of a suite are decided by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from harness.gate.decide_answers import RequestedDepth
from harness.gate.ties import RunBands
from harness.model.kept import History, Reference
from harness.model.run import Run
from harness.model.scores import ScoreTable
from harness.model.suite import Suite


@dataclass(frozen=True, slots=True)
class GateInputs:
    """
    One run of a suite with its scores, beside the run that it is compared with.

    *today* decides which waivers are in force. *requested* is the number of hits that the run requested, *bands* how
    far the order of ties moves its scores.
    """

    suite: Suite
    run: Run
    scores: ScoreTable
    reference: Reference | None
    reference_scores: ScoreTable
    today: date
    requested: RequestedDepth
    bands: RunBands
    history: History | None = None
    """The earlier runs that thresholds `since` some runs compare with."""

    @property
    def ignores_ties(self) -> bool:
        """Whether the order of ties is ignored; it counts where the request changed, perhaps to change that order."""
        return self.reference is not None and self.reference.same_request
