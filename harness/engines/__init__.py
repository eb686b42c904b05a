"""
Engines that the harness starts itself: the embedded node.

What is named here is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.engines.background import NodeState, down, find_running, open_node, status, up
    from harness.engines.embedded import EmbeddedNode, start
    from harness.engines.lock import DEFAULT_VERSION, versions

__all__ = [
    "DEFAULT_VERSION",
    "EmbeddedNode",
    "NodeState",
    "down",
    "find_running",
    "open_node",
    "start",
    "status",
    "up",
    "versions",
]


_HOMES = {
    "harness.engines.background": ("NodeState", "down", "find_running", "open_node", "status", "up"),
    "harness.engines.embedded": ("EmbeddedNode", "start"),
    "harness.engines.lock": ("DEFAULT_VERSION", "versions"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
