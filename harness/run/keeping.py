"""The earlier runs that thresholds of a suite compare with, and how a run is kept in its baselines and its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HistoryError, UsageError
from harness.files.paths import shorten_path
from harness.gate.selection import count_history_runs
from harness.masking import Masker
from harness.model.kept import History, HistoryEntry, RescoredEntry
from harness.model.run import Run
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.run.notes import explain_not_kept
from harness.store.commits import find_commit
from harness.store.history import EntryOrigin, find_chosen_index, format_created, make_entry, rename_entries, rescore
from harness.store.history_files import (
    name_suite_file,
    put_last,
    read_history,
    select_of_file,
    write_entry,
)
from harness.store.repeats import JudgedRun, choose_entries

if TYPE_CHECKING:
    from harness.run.finished import FinishedSuite

_TOLERANCE = timedelta(minutes=1)
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
            raise UsageError(f"{sentence}: a history names their runs by it; give one of them another")
        if any(count_history_runs(suite, request) for request in suite.requests):
            histories[suite.name] = read_history(options.history, suite.name)
    return histories


def find_history(
    suite: Suite, run: Run, options: RunOptions, commit: str | None, entries: Sequence[HistoryEntry] | None = None
) -> History | None:
    """
    The last runs of the history, scored anew, as many as a threshold for the request of *run* looks back.

    Only runs of the same file, request and chosen index count, and none that repeats *run* or another one if there are
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
    of_file, other_files = select_of_file(entries, Path(suite.path), options.history)
    of_series = [entry for entry in rename_entries(of_file, suite) if entry.series == series]
    now = datetime.now(UTC)
    latest = format_created(now + _TOLERANCE)
    until_now = [entry for entry in of_series if entry.created <= latest]
    later = tuple(entry.created for entry in of_series if entry.created > latest)
    judged = JudgedRun(suite, run, commit, format_created(now)[:10])
    chosen = _rescore_chosen(until_now, of_series, judged, most)
    repeats, repeated = _list_passed_over(until_now, of_series, judged, chosen)
    return History(
        entries=chosen,
        folder=options.history.as_posix(),
        later=later,
        entries_with_later=_rescore_chosen(of_series, of_series, judged, most) if later else (),
        newest=len(of_series),
        repeats=repeats,
        repeated=repeated,
        file=name_suite_file(Path(suite.path), options.history),
        other_files=other_files,
    )


def _rescore_chosen(
    entries: Sequence[HistoryEntry], of_series: Sequence[HistoryEntry], judged: JudgedRun, most: int
) -> tuple[RescoredEntry, ...]:
    """Those of *entries* to compare with, scored anew, with their numbers among all *of_series*."""
    chosen = choose_entries(entries, judged, most)
    numbers = {id(entry): number for number, entry in enumerate(of_series, start=1)}
    rescored = []
    for entry in rescore(chosen, judged.suite, hooked=judged.run.hooked):
        is_repeat = judged.is_repeated_by(entry.entry)
        rescored.append(replace(entry, number=numbers[id(entry.entry)], is_repeat=is_repeat))
    return tuple(rescored)


def _list_passed_over(
    entries: Sequence[HistoryEntry],
    of_series: Sequence[HistoryEntry],
    judged: JudgedRun,
    chosen: Sequence[RescoredEntry],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """
    The numbers of those of *entries* that are not *chosen*, though one before them is.

    First those that repeat the run that is judged, then those that a later one repeats.
    """
    chosen_numbers = {entry.number for entry in chosen}
    oldest = min(chosen_numbers, default=len(of_series))
    candidates = {id(entry) for entry in entries}
    repeats, repeated = [], []
    for number, entry in enumerate(of_series, start=1):
        if number < oldest or number in chosen_numbers or id(entry) not in candidates:
            continue
        if judged.is_repeated_by(entry):
            repeats.append(number)
        else:
            repeated.append(number)
    return tuple(repeats), tuple(repeated)


def keep_suite(finished: FinishedSuite, environ: Mapping[str, str], created: datetime | None = None) -> FinishedSuite:
    """
    Write *finished* to the history that its options name; its report then says where, or why it is not kept.

    What was decided is not lost with a file that cannot be written: its report says so too, in `not_kept`.

    Args:
        finished: The suite that ran.
        environ: Holds the variables of a CI service.
        created: When it ran, if that was not now: parts that are merged twice are then one entry.
    """
    suite, run, options = finished.suite, finished.run, finished.options
    if options.history is None or explain_not_kept(suite, run, options):
        return finished
    commit, branch = find_commit(environ, Path(finished.report.path).parent)
    now = datetime.now(UTC)
    origin = EntryOrigin(
        created=created or now,
        commit=commit,
        branch=None if branch is None else Masker(suite.variables).mask(branch),
        chosen_index=find_chosen_index(suite, run.request, options.index),
        file=name_suite_file(Path(suite.path), options.history),
    )
    entry = make_entry(suite, run, finished.scores, finished.report, origin)
    not_kept = ""
    try:
        path = write_entry(options.history, put_last(options.history, entry, now))
        note = f"kept in {shorten_path(path).as_posix()}"
    except HistoryError as error:
        not_kept = str(error)
        note = f"the run is not kept in the history: {error}"
    report = replace(finished.report, notes=(*finished.report.notes, note), not_kept=not_kept)
    return replace(finished, report=report)
