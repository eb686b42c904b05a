"""
A limit of time for a request: who sends a byte now and then would hold a connection for good.

waitress closes a connection on which nothing comes for a while, and each byte is something. All connections that it
takes can be held like that by one sender, and then nobody reaches the page.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waitress.server import BaseWSGIServer

LONGEST_REQUEST = 10
"""Seconds from the first byte of a request to its last one, and from the connection to its first byte."""

LOOKED_AFTER = 2
"""Seconds after which the server looks for requests that take longer."""


def limit_requests(server: BaseWSGIServer) -> None:
    """Let *server*, which has no connection yet, close those on which a request takes longer than `LONGEST_REQUEST`."""
    from waitress.channel import HTTPChannel

    class TimedChannel(HTTPChannel):  # type: ignore[misc]
        """A connection that knows when its request began."""

        request_began: float | None = None

        def received(self, data: bytes) -> bool:
            if self.request is None:
                self.request_began = time.time()
            return bool(super().received(data))

    close_idle = server.maintenance

    def close_slow(now: float) -> None:
        """Close idle connections as before, and those on which a request takes too long."""
        close_idle(now)
        for channel in server.active_channels.values():
            began = channel.request_began
            if began is None:
                # Nothing came yet: whoever says nothing is given no more time than one who says little.
                began = channel.creation_time
            elif channel.request is None:
                # A request that is there as a whole waits for its answer, and is not being read.
                continue
            if began < now - LONGEST_REQUEST:
                channel.will_close = True

    server.channel_class = TimedChannel
    server.maintenance = close_slow
