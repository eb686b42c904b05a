"""How many searches a second a server is sent."""

from __future__ import annotations

from threading import Lock


class Pace:
    """
    Gives searches their turns, so that a server is sent at most so many a second by all threads together.

    A turn of several searches, as in an `_msearch`, is followed by a pause for all of them. What was not used is not
    made up for later: after a pause of the run there is no burst.
    """

    def __init__(self, rate: float) -> None:
        """
        Args:
            rate: Searches a second.
        """
        self._rate = rate
        self._next_turn = 0.0
        """When the next search may be sent, by the clock of the one that asks."""
        self._lock = Lock()

    def take_turn(self, searches: float, now: float) -> float:
        """
        Take the next turn; returns its time, which is *now* or later, for *searches* that are sent together.

        >>> pace = Pace(10)
        >>> pace.take_turn(5, now=100.0), pace.take_turn(1, now=100.0), pace.take_turn(1, now=200.0)
        (100.0, 100.5, 200.0)
        """
        with self._lock:
            turn = max(now, self._next_turn)
            self._next_turn = turn + searches / self._rate
        return turn

    def limit_batch(self, most: int) -> int:
        """The most searches of one request, of *most*: those of a second, as the server gets them at once."""
        return max(1, min(most, int(self._rate)))
