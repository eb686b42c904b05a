"""SIGTERM, which CI systems send to a job that they cancel."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["terminated_as_interrupted"]


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """
    Raise KeyboardInterrupt on SIGTERM, so that a half-built index and an embedded node are removed.

    An existing handler stays. Only the main thread may set one; in other threads nothing changes.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
