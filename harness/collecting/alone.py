"""What a threshold on every query asks of one query, where its verdict on all of them does not tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from harness.model import Status

if TYPE_CHECKING:
    from harness.model import Verdict
    from harness.run.execution import FinishedSuite

__all__ = ["LoneQueries"]


class LoneQueries:
    """
    Judges queries one by one, as the gate would if each were the only one.

    The suite that ran is fetched when the first query is judged: most reports tell all.
    """

    def __init__(self, fetch: Callable[[], FinishedSuite], today: date) -> None:
        """
        Args:
            fetch: Gives the suite as it ran, its variables filled.
            today: Decides which skips of queries hold.
        """
        self._fetch = fetch
        self._today = today
        self._finished: FinishedSuite | None = None

    def shortfall(self, threshold: str, query: str) -> Verdict | None:
        """
        The verdict with the id *threshold* on *query* alone; None where it holds, or is not about that query.

        Raises:
            HarnessError: the suite is wrong now, or is not there any more.
        """
        from harness.gate import decide

        if self._finished is None:
            self._finished = self._fetch()
        done = self._finished
        alone = replace(
            done.suite,
            queries=tuple(one for one in done.suite.queries if one.id == query),
            thresholds=tuple(replace(one, xfail=None, skip=None) for one in done.suite.thresholds),
        )
        scores = [score for score in done.scores if score.query == query]
        verdicts = decide(alone, done.run, scores, today=self._today)
        found = next((verdict for verdict in verdicts if verdict.id == threshold), None)
        if found is None or found.status is Status.PASSED:
            return None
        return found if found.blamed and not found.left_out else None
