"""Pauses Python's search for reference cycles where many objects without cycles are built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """
    Pause Python's search for reference cycles, which would visit all queries and rankings again and again.

    Queries, responses, scores and reports hold no cycles: they are freed without it. As a decorator it pauses the
    search for each call.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
