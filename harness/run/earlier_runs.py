"""The earlier runs that the thresholds of a suite compare with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from harness.errors import UsageError
from harness.gate.selection import count_history_runs
from harness.history import read_history, rescore
from harness.history.entries import find_chosen_index, format_created
from harness.history.repeats import JudgedRun, choose_entries
from harness.model import History, HistoryEntry, Run, Suite
from harness.options import RunOptions

TOLERANCE = timedelta(minutes=1)
"""How far the clocks of two machines may be apart."""


def read_histories(suites: Sequence[Suite], options: RunOptions) -> dict[str, list[HistoryEntry]]:
    """
    Read what thresholds of *suites* are going to be compared with, before a query is sent.

    Returns:
        The entries of each suite with such a threshold, by its name.

    Raises:
        UsageError: Two of the suites have one name, so that their runs could not be told apart.
        HistoryError: A file of the history cannot be read.
    """
    if options.history is None:
        return {}
    histories: dict[str, list[HistoryEntry]] = {}
    path_by_name: dict[str, str] = {}
    for suite in suites:
        other = path_by_name.setdefault(suite.name, suite.path)
        if other != suite.path:
            sentence = f"{suite.path}: its name is {suite.name!r}, as that of {other}"
            raise UsageError(f"{sentence}: a history tells suites apart by their names; give one of them another")
        if any(count_history_runs(suite, request) for request in suite.requests):
            histories[suite.name] = read_history(options.history, suite.name)
    return histories


def find_history(
    suite: Suite, run: Run, options: RunOptions, commit: str | None, entries: Sequence[HistoryEntry] | None = None
) -> History | None:
    """
    The last runs of the history, scored anew, as many as a threshold for the request of *run* looks back.

    Only runs of the same suite, request and chosen index count, and none that repeats *run* or another one if there are
    enough: see `choose_entries`. None if no threshold compares with them.

    Args:
        suite: The suite with the selected queries.
        run: Their responses.
        options: Name the folder.
        commit: That of *run*, None if it is unknown.
        entries: Those that `read_histories` read for the suite; None if they are still to be read.

    Raises:
        HistoryError: A file of the history cannot be read.
    """
    most = count_history_runs(suite, run.request)
    if most == 0:
        return None
    if options.history is None:
        return History()
    series = (suite.name, run.request, find_chosen_index(suite, run.request, options.index) or "")
    if entries is None:
        entries = read_history(options.history, suite.name)
    entries = [entry for entry in entries if entry.series == series]
    # An entry of the future would be the last one for good.
    latest = format_created(datetime.now(UTC) + TOLERANCE)
    later = tuple(entry.created for entry in entries if entry.created > latest)
    entries = [entry for entry in entries if entry.created <= latest]
    chosen = choose_entries(entries, JudgedRun(suite, run, commit), most)
    return History(rescore(chosen, suite, hooked=run.hooked), options.history.as_posix(), later)
