"""Searches cut into batches, each of which is one request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.search.multisearch import Entry

__all__ = ["Batches"]


MOST_SEARCHES = 250
MOST_BYTES = 4 * 1024 * 1024


class Batches:
    """Entries cut into batches: templates apart, none over the limits of searches and bytes unless it is one search."""

    def __init__(self, entries: Sequence[Entry], *, most: int = MOST_SEARCHES, most_bytes: int = MOST_BYTES) -> None:
        self._entries = sorted(entries, key=lambda entry: (entry.is_template, entry.place))
        self._most = most
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[list[Entry]]:
        batch: list[Entry] = []
        size = 0
        for entry in self._entries:
            if batch and not self._fits(entry, batch, size):
                yield batch
                batch, size = [], 0
            batch.append(entry)
            size += len(entry.lines)
        if batch:
            yield batch

    def _fits(self, entry: Entry, batch: Sequence[Entry], size: int) -> bool:
        alike = entry.is_template == batch[0].is_template
        return alike and len(batch) < self._most and size + len(entry.lines) <= self._most_bytes

    def no_larger_than(self, most: int) -> None:
        """Cut what is still to come into batches of at most *most*."""
        self._most = max(1, min(self._most, most))
