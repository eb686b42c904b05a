"""Waiting for what another process or thread does."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], patience: float) -> None:
    """Wait until *condition* is true; the test fails after *patience* seconds."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)
