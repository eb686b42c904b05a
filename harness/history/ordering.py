"""
The place of a run in the order of a history: after all that were kept before it, whatever its clock says.

The time of a run is its place, as long as clocks are right: so the runs of two branches that git merges are in order
too. A run whose clock is behind the last one gets a place after that one. Its time stays what its clock said.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from harness.history.entries import format_created
from harness.history.files import PACKED, list_files, make_file_name, name_moment, read_file, read_history
from harness.model.history import HistoryEntry

_MOMENT = re.compile(rf"(?:{PACKED})?(\d{{4}}-\d{{2}}-\d{{2}}T\d{{6}}Z)-")
"""Begins the names of files: the place of the entry, or of the last one of a packed file."""

_LEAST_STEP = timedelta(microseconds=1)


def put_last(folder: Path, entry: HistoryEntry, now: datetime) -> HistoryEntry:
    """
    *entry* with a place after all entries that *folder*, a history, has of its suite.

    Its place is its time, moved by as much as *now* is behind the last entry. So a run whose parts are merged later has
    the place of its time, if clocks are right. An entry that *folder* has already keeps its place.

    Raises:
        HistoryError: A file cannot be read.
    """
    last = _find_last_moment(folder / make_file_name(entry.suite), format_created(now))
    is_merged = entry.created != format_created(now)
    if is_merged:
        for known in read_history(folder, entry.suite):
            if replace(known, kept=None) == entry:
                return known
    if last is None:
        return entry
    behind = datetime.fromisoformat(last) + _LEAST_STEP - now
    return replace(entry, kept=format_created(datetime.fromisoformat(entry.created) + behind))


def _find_last_moment(folder: Path, now: str) -> str | None:
    """The place of the last entry in *folder*, that of a suite; None if it is before *now*."""
    if not folder.is_dir():
        return None
    newest_name = name_moment(now)
    newest_files: list[Path] = []
    unnamed_files: list[Path] = []
    for path in list_files(folder):
        named = _MOMENT.match(path.name)
        if named is None:
            # Packed files of earlier versions.
            unnamed_files.append(path)
        elif named.group(1) > newest_name:
            newest_name, newest_files = named.group(1), [path]
        elif named.group(1) == newest_name:
            newest_files.append(path)
    # Names have no more than the second. Where clocks are right, nothing is read here.
    moments = [entry.moment for path in (*newest_files, *unnamed_files) for entry in read_file(path)]
    last = max(moments, default=now)
    return last if last > now else None
