"""Places in files, and values of JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Json", "Mark"]


Json: TypeAlias = Any
"""A value as `json.loads` gives it."""


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in a file; *line* and *column* count from 1, 0 where there is none."""

    path: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path
