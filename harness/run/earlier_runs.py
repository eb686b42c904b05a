"""The earlier runs that the thresholds of a suite compare with."""

from __future__ import annotations

from harness.gate.selection import count_history_runs
from harness.model import History, Run, Suite
from harness.options import RunOptions


def find_history(suite: Suite, run: Run, options: RunOptions) -> History | None:
    """
    The last runs of the history, scored anew, as many as a threshold for the request of *run* looks back.

    Only runs of the same suite, request and chosen index count. None if no threshold compares with them.

    Raises:
        HistoryError: A file of the history cannot be read.
    """
    most = count_history_runs(suite, run.request)
    if most == 0:
        return None
    if options.history is None:
        return History()
    from harness.history import read_history, rescore
    from harness.history.entries import find_chosen_index

    series = (suite.name, run.request, find_chosen_index(suite, run.request, options.index) or "")
    entries = [entry for entry in read_history(options.history, suite.name) if entry.series == series]
    return History(rescore(entries[-most:], suite, hooked=run.hooked), options.history.as_posix())
