"""Rankings that were scored in Python, as one of the two that are compared. Pure."""

from __future__ import annotations

from harness.comparing.sides import Contender
from harness.model import Failure, Run, Side, SideKind, Suite
from harness.scoring import failure_text, score_run

__all__ = ["contender_of_rankings"]


def contender_of_rankings(suite: Suite, run: Run, name: str) -> Contender:
    """The rankings of *run*, which are whole, with the judgments of *suite*, called *name*."""
    unanswered = {query: failure_text(one) for query, one in run.responses.items() if isinstance(one, Failure)}
    side = Side(name, SideKind.PYTHON, unanswered=unanswered)
    return Contender(side, run, None, suite.queries, score_run(suite, run), suite.gain, suite.profile)
