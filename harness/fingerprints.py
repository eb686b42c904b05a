"""A short text that changes when a value does."""

from __future__ import annotations

import hashlib
import json

from harness.model import Json

__all__ = ["fingerprint"]


def fingerprint(value: Json) -> str:
    """
    Sixteen hexadecimal digits that change when *value* does; the order of keys does not matter.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:16]
