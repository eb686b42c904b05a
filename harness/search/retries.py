"""
Whether a request is retried, and the pause before.

Full jitter: a pause is drawn uniformly from 0 to a limit that doubles with each attempt, so that many clients do not
retry at the same time. A Retry-After header is respected.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and randomness, so that tests can replace them."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Retries:
    """
    The limits of retries.

    *attempts* includes the first. The pause before attempt n + 1 is drawn from 0 to *base* * 2^(n - 1) seconds, at most
    *cap*. There is no retry later than *patience* seconds after the first attempt.
    """

    attempts: int = 9
    base: float = 0.5
    cap: float = 20.0
    patience: float = 120.0
    clock: Clock = field(default_factory=Clock)

    def pause(self, attempt: int, server_pause: float | None) -> float:
        """
        Seconds to wait after *attempt* (from 1) failed; *server_pause* is that of a Retry-After header.

        Jitter is added to it too, because the server sends the same value to all clients.
        """
        drawn = self.clock.chance() * min(self.cap, self.base * 2.0 ** (attempt - 1))
        return drawn if server_pause is None else server_pause + min(drawn, self.base)

    def next_pause(
        self,
        attempt: int,
        *,
        started: float,
        server_pause: float | None,
        end: float | None,
        is_away: bool = False,
    ) -> float | None:
        """
        Seconds to wait before the next attempt, None if there is none.

        Args:
            attempt: The number of attempts so far.
            started: The time of the first one, by the clock.
            server_pause: Seconds of a Retry-After header.
            end: The end of the whole run, by the clock.
            is_away: Whether no node could be asked at all: then *patience* alone is the limit, as a start takes long.
        """
        if attempt >= self.attempts and not is_away:
            return None
        pause = self.pause(attempt, server_pause)
        wakes = self.clock.now() + pause
        too_late = wakes > started + self.patience or (end is not None and wakes >= end)
        return None if too_late else pause

    def wait(self, attempt: int, *, started: float, server_pause: float | None, end: float | None) -> bool:
        """Wait for the `next_pause`; False, at once, if there is none."""
        pause = self.next_pause(attempt, started=started, server_pause=server_pause, end=end)
        if pause is not None:
            self.clock.sleep(pause)
        return pause is not None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """
    Seconds of a Retry-After header, None if there is no valid one.

    The header has seconds or a date (RFC 9110, section 10.2.3); for a past date there is no wait.
    """
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
