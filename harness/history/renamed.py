"""Entries of a request that has another name in the suite by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.baseline.entries import fingerprint_request
from harness.baseline.renamed import match_renamed
from harness.model.history import HistoryEntry
from harness.model.suite import Suite


def rename_entries(entries: Sequence[HistoryEntry], suite: Suite) -> list[HistoryEntry]:
    """
    *entries*, those of a request that *suite* has under another name by this name.

    A request may be the one of before if it has no entry as old as the newest of that one.

    Args:
        entries: Of the file of the suite, in the order in which they were kept.
        suite: The suite of today.
    """
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for place, entry in enumerate(entries):
        last[entry.request] = place
        first.setdefault(entry.request, place)
    before = {name: entries[place].state.request for name, place in last.items() if name not in suite.requests}
    if not before:
        return list(entries)
    newest = max(last[name] for name in before)
    now: dict[str, str] = {}
    for name in suite.requests:
        if name not in first:
            now[name] = fingerprint_request(suite, name) or ""
        elif first[name] > newest:
            now[name] = entries[first[name]].state.request
    renamed = match_renamed(before, now, is_only=len(before) == 1 and len(suite.requests) == 1)
    return [replace(entry, request=renamed.get(entry.request, entry.request)) for entry in entries]
