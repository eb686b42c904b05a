"""
The searches of a run in batches: several under way at once, as large as the server can handle.

`Batches` decides what is sent next. A batch that fails as a whole is divided, and its parts are sent before anything
else. What the server was too busy for is sent again when all others are answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Condition
from typing import TypeVar

from harness.search.msearch import Entry
from harness.search.server_health import ServerHealth

T = TypeVar("T")

MOST_SEARCHES = 1000
_MOST_BYTES = 4 * 1024 * 1024
"""Bytes of one request."""

FEWEST = 25
"""Searches of a first batch, if there are that many: a small suite is one request."""

FIRST = 100
"""The most searches of a first batch."""

READ_AT_ONCE = 20
"""Searches that are read ahead while no sender can take a batch."""

QUICK = 0.5
"""Seconds of a request below which batches grow, whatever that gains."""

_SLOW = 5.0
"""Seconds of a request from which batches do not grow; a quarter of the timeout, if that is less."""

WORTH = 1.2
"""The gain in searches a second for which batches above `QUICK` grow: the time of a request is mostly overhead."""

MUCH = 1.6
"""The gain for which they grow twice as fast, as below half of `QUICK`."""

LARGE_ANSWER = 512 * 1024
"""Bytes of an answer from which batches do not grow."""

HUGE_ANSWER = 16 * 2**20
"""Bytes of an answer after which one batch at a time is sent: several such answers at once take much memory."""


@dataclass(slots=True)
class SearchBatch:
    """The searches of one request."""

    entries: list[Entry]
    attempt: int = 1
    """The number of times that just these were sent, with the next."""
    due: float = 0.0
    """The earliest time to send them, by the clock of the health."""
    outages: int = 0
    """`ServerHealth.outages` when they were sent."""


class Batches:
    """
    Searches in batches for several senders; each method may be called from any thread.

    Templates are in batches of their own, and what is no part of an `_msearch` is alone.
    The size of a batch grows to two or four times while requests are quick, or while that makes them worth it. It is
    halved if the server refuses one of that size, and then grows slowly until that size is answered.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        searches: int,
        health: ServerHealth,
        *,
        senders: int = 1,
        most: int = MOST_SEARCHES,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        """
        Args:
            entries: The searches; each is read once, at the latest when its batch is cut.
            searches: Their number.
            health: Of the server; while it does not serve, one batch at a time is sent.
            senders: The number of senders.
            most: Searches of a batch.
            most_bytes: Bytes of a request with more than one search.
        """
        self._health = health
        self._senders = senders
        self._most = most
        self._most_bytes = most_bytes
        self._entries = iter(entries)
        self._fresh = searches
        """The number of searches that were not sent yet."""
        self._ahead: deque[Entry] = deque()
        """Those of them that were read."""
        self._ahead_bytes = 0
        self._others: deque[Entry] = deque()
        """Those that were read and come last, see `_read_next`."""
        self._are_templates: bool | None = None
        self._parts: list[SearchBatch] = []
        """Parts of divided batches."""
        self._again: deque[SearchBatch] = deque()
        """Batches that are sent again, when they are due."""
        self._unanswered = searches
        self._under_way = 0
        self._changed = Condition()
        share_of_sender = -(-searches // senders)  # rounded up
        self._first = min(most, FIRST, max(FEWEST, share_of_sender))
        """The most searches of a first batch."""
        self._size = self._first
        self._refused_size: int | None = None
        """The least size that the server refused, until that size is answered."""
        self._rates: dict[int, float] = {}
        """The most searches a second, by the size of a batch."""
        self._is_stopped = False
        self._are_answers_huge = False
        """Whether the last answer was."""
        self._slow = min(_SLOW, health.timeout / 4)

    @property
    def size(self) -> int:
        """The most searches of the next batch."""
        return self._size

    def take(self) -> SearchBatch | None:
        """
        The next batch, which `release` follows; None if nothing is left.

        Waits while nothing can be sent, but a batch that is under way may be divided, and while many answers are
        unread.
        """
        with self._changed:
            while self._unanswered and not self._is_stopped:
                most_under_way = 2 * self._senders
                # A server that does not serve gets one batch at a time, to see whether it does again.
                if self._health.outages or self._are_answers_huge:
                    most_under_way = 1
                if self._under_way < most_under_way:
                    batch = self._next()
                    if batch is not None:
                        self._under_way += 1
                        batch.outages = self._health.outages
                        return batch
                self._changed.wait()
            return None

    def _next(self) -> SearchBatch | None:
        """Parts of a batch first, then searches that were not sent yet, then what is sent again; None without any."""
        if self._parts:
            return self._cut(self._parts.pop(), self._parts)
        if self._fresh:
            return SearchBatch(self._cut_fresh())
        if not self._again:
            return None
        earliest = min(self._again, key=lambda batch: batch.due)
        self._again.remove(earliest)
        return self._cut(earliest, self._again)

    def _cut(self, batch: SearchBatch, rest: list[SearchBatch] | deque[SearchBatch]) -> SearchBatch:
        """*batch* as far as the size allows; what is left goes to *rest*."""
        if len(batch.entries) <= self._size:
            return batch
        rest.append(replace(batch, entries=batch.entries[self._size :]))
        return replace(batch, entries=batch.entries[: self._size])

    def _cut_fresh(self) -> list[Entry]:
        """A batch of what was not sent yet: smaller ones at the end, so that all senders end at the same time."""
        most = self._most_fresh
        entries: list[Entry] = []
        size = 0
        while self._fresh and len(entries) < most:
            if not self._ahead:
                self._read_next()
            entry = self._ahead[0]
            size += len(entry.lines)
            if entries and (size > self._most_bytes or not _are_alike(entries[0], entry)):
                break
            entries.append(self._ahead.popleft())
            self._ahead_bytes -= len(entry.lines)
            self._fresh -= 1
        return entries

    @property
    def _most_fresh(self) -> int:
        """The most searches of the next batch of those that were not sent yet."""
        share_of_sender = -(-self._fresh // self._senders)  # rounded up
        share = max(self._first, self._size // 4, share_of_sender)
        return min(self._size, share, self._fresh)

    def read_ahead(self) -> bool:
        """Read some searches of the next batch, so that a sender need not build it; False if they are all read."""
        with self._changed:
            for _ in range(READ_AT_ONCE):
                if len(self._ahead) >= self._most_fresh or self._ahead_bytes >= self._most_bytes:
                    return False
                self._read_next()
            return True

    def _read_next(self) -> None:
        """Read the next one that was not sent yet; templates or others, whichever the first is not, are the last."""
        for entry in self._entries:
            if self._are_templates is None:
                self._are_templates = entry.is_template
            if entry.is_template == self._are_templates:
                break
            self._others.append(entry)
        else:
            entry = self._others.popleft()
        self._ahead.append(entry)
        self._ahead_bytes += len(entry.lines)

    @property
    def under_way(self) -> int:
        """The number of batches that were taken and not released."""
        return self._under_way

    def probe(self, *, halve: bool) -> None:
        """
        Make the next batches small: nothing was answered, whatever the size, and they may grow as fast as before.

        Args:
            halve: Whether such a batch had no answer either: what keeps the server silent may still be its size.
        """
        with self._changed:
            self._size = min(self._size, FEWEST)
            if halve:
                self._size = max(1, self._size // 2)

    def release(
        self, *, answered: int = 0, parts: Sequence[SearchBatch] = (), again: Sequence[SearchBatch] = ()
    ) -> None:
        """
        Record the result of a batch.

        Args:
            answered: The number of its searches that have their response.
            parts: To be sent next.
            again: To be sent when they are due.
        """
        with self._changed:
            self._unanswered -= answered
            self._under_way -= 1
            self._parts.extend(parts)
            self._again.extend(again)
            self._changed.notify_all()

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def record_answer(self, size: int, seconds: float, answer: int) -> None:
        """Record that a batch of *size* was answered after *seconds* with *answer* bytes; batches may grow."""
        with self._changed:
            self._are_answers_huge = answer >= HUGE_ANSWER
            if self._refused_size is not None and size >= self._refused_size:
                self._refused_size = None
            rate = size / max(seconds, 1e-6)
            self._rates[size] = max(rate, self._rates.get(size, 0.0))
            if size < self._size or seconds >= self._slow or answer >= LARGE_ANSWER:
                return
            growth = self._choose_growth(size, seconds)
            if self._refused_size is not None and growth * size >= self._refused_size and growth > 1:
                # A size that was refused is approached slowly.
                self._size = min(self._most, size + max(1, size // 8))
            else:
                self._size = min(self._most, growth * size)

    def record_huge_answer(self) -> None:
        """Record that an answer was too large to be read."""
        with self._changed:
            self._are_answers_huge = True

    def _choose_growth(self, size: int, seconds: float) -> int:
        """How many times as large the next batches are, after one of *size* took *seconds*."""
        smaller_sizes = [known for known in self._rates if known < size]
        gain = WORTH
        if smaller_sizes:
            gain = self._rates[size] / self._rates[max(smaller_sizes)]
        if seconds < QUICK / 2 or gain >= MUCH:
            return 4
        if seconds < QUICK or gain >= WORTH:
            return 2
        return 1

    def record_refusal(self, size: int, *, least: int = 1) -> None:
        """Record that a batch of *size* was too much; those that follow are half of it, but not below *least*."""
        if size <= least:
            return
        with self._changed:
            if self._refused_size is None or size < self._refused_size:
                self._refused_size = size
            self._size = min(self._size, max(least, size // 2))


def _are_alike(entry: Entry, other: Entry) -> bool:
    """Whether both can be parts of one request."""
    if entry.is_template != other.is_template:
        return False
    # What has a path of its own is sent by itself, and what is refused is not sent.
    return not any((entry.path, other.path, entry.refusal, other.refusal))


def split_into_batches(values: Sequence[T], size: int) -> list[list[T]]:
    """
    *values* in lists of *size*, of which the last may be shorter.

    >>> split_into_batches("abcde", 2)
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    return [list(values[begin : begin + size]) for begin in range(0, len(values), size)]
