"""The type of an option that is a span of time."""

from __future__ import annotations

import math
from typing import Any

import click


class Seconds(click.ParamType[float]):
    """A finite number of seconds above 0; ``nan`` and ``inf`` are numbers to Python, and no limit."""

    name = "SECONDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that *value* writes."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0):
            self.fail(f"found {value!r}, expected a number of seconds above 0, such as 60", param, ctx)
        return seconds
