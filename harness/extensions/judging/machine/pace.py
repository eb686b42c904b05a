"""How fast calls follow each other: requests and tokens a minute, and the pauses that a server asks for."""

from __future__ import annotations

from threading import Event, Lock

from harness.search.pace import Pace
from harness.search.server_health import Clock

MINUTE = 60.0


class CallPace:
    """
    When the next call may be sent; several threads ask it.

    Calls are spread evenly over a minute: a server counts its minutes from moments that nobody here knows.
    """

    def __init__(
        self, requests_per_minute: int | None = None, tokens_per_minute: int | None = None, clock: Clock | None = None
    ) -> None:
        """
        Args:
            requests_per_minute: The most requests; None for no limit.
            tokens_per_minute: The most tokens; None for no limit.
            clock: Tells the time; by default that of the system.
        """
        self._requests_per_minute = requests_per_minute
        self._tokens_per_minute = tokens_per_minute
        self._clock = clock or Clock()
        self._lock = Lock()
        self._turns = Pace(1.0)
        """Gives each call its turn, of as many seconds as the limits ask for."""
        self._resumes = 0.0
        """When the server may be asked again after it said to wait."""

    def wait(self, tokens: int, stopped: Event) -> bool:
        """Wait until a call of *tokens* may be sent; False if *stopped* was set before."""
        seconds = 0.0
        if self._requests_per_minute is not None:
            seconds = MINUTE / self._requests_per_minute
        if self._tokens_per_minute is not None:
            seconds = max(seconds, tokens * MINUTE / self._tokens_per_minute)
        begin = self._turns.take_turn(seconds, self._clock.now())
        while not stopped.is_set():
            # Read again after each wait: another thread may have been told to pause meanwhile.
            pause = max(begin, self._resumes) - self._clock.now()
            if pause <= 0:
                return True
            stopped.wait(pause)
        return False

    def pause(self, seconds: float) -> None:
        """Send nothing for *seconds* from now."""
        with self._lock:
            self._resumes = max(self._resumes, self._clock.now() + seconds)
