"""Where the embedded node's jars and the states of background nodes are kept."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["CACHE_VARIABLE", "cache_folder"]


CACHE_VARIABLE = "RELEVANCE_CACHE_DIR"


def cache_folder() -> Path:
    """The folder that ``RELEVANCE_CACHE_DIR`` names, or the platform's own place for caches; it may not exist yet."""
    from platformdirs import user_cache_path

    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser().absolute() if chosen else user_cache_path("relevance-harness", appauthor=False)
