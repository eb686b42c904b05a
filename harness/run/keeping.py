"""Which runs are kept in a history, and their entries: written when the report is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.config import Configs
from harness.errors import HistoryError
from harness.files.paths import shorten_path
from harness.history import check_writable, make_entry, write_entry
from harness.history.commits import find_commit
from harness.history.entries import EntryOrigin, find_chosen_index
from harness.history.ordering import put_last
from harness.history.suite_files import name_suite_file
from harness.masking import Masker
from harness.options import RunOptions
from harness.run.cell import FinishedSuite
from harness.run.notes import explain_not_kept


def choose_history(options: RunOptions, configs: Configs) -> RunOptions:
    """
    *options* with the folder of the history, which relevance.toml names where they do not.

    Raises:
        ConfigError: relevance.toml is wrong.
        HistoryError: No file can be created there. Without this the run would end before that is noticed.
    """
    folder = configs.find_history(options)
    if folder is not None:
        check_writable(folder)
    return replace(options, history=folder)


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
