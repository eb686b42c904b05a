"""
When something is asked again, and how long is waited before.

Full jitter: a wait is drawn evenly from nothing up to a limit that doubles with each attempt, so that many clients
that were turned away together do not come back together. A server that says when to come back is believed.
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
    """Time and chance, so that a test can hold them."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Retries:
    """
    How patient we are.

    *attempts* counts the first one too. The wait before attempt n + 1 is drawn from 0 to *base* * 2^(n - 1) seconds,
    at most *cap*. Nothing is asked again once *patience* seconds have gone by since it was first asked.
    """

    attempts: int = 6
    base: float = 0.5
    cap: float = 20.0
    patience: float = 120.0
    clock: Clock = field(default_factory=Clock)

    def pause(self, attempt: int, server_pause: float | None) -> float:
        """
        Seconds to wait after *attempt* (from 1) failed; *server_pause* is what the server asked for.

        Jitter is added to what the server asked for as well, as it says the same to all whom it turns away.
        """
        drawn = self.clock.chance() * min(self.cap, self.base * 2.0 ** (attempt - 1))
        return drawn if server_pause is None else server_pause + min(drawn, self.base)

    def next_pause(
        self, attempt: int, *, started: float, server_pause: float | None, end: float | None
    ) -> float | None:
        """
        Seconds to wait before asking again, None where there is to be no more asking.

        Args:
            attempt: How many there were.
            started: When the first one was, by the clock.
            server_pause: Seconds that the server asked for.
            end: When the whole run ends, by the clock.
        """
        if attempt >= self.attempts:
            return None
        pause = self.pause(attempt, server_pause)
        wakes = self.clock.now() + pause
        too_late = wakes > started + self.patience or (end is not None and wakes >= end)
        return None if too_late else pause

    def wait(self, attempt: int, *, started: float, server_pause: float | None, end: float | None) -> bool:
        """Wait for the `next_pause`; False, at once, where there is none."""
        pause = self.next_pause(attempt, started=started, server_pause=server_pause, end=end)
        if pause is not None:
            self.clock.sleep(pause)
        return pause is not None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """
    Seconds that a Retry-After header asks for, None where there is none that can be read.

    The header holds seconds or a date (RFC 9110, section 10.2.3); a date that is over asks for no wait.
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
