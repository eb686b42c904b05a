"""What queries weigh in a mean: all queries of a suite say it, or none does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from harness.files.records import read_number
from harness.gate.scope import count, listed

EXPECTED = "expected a finite number above 0"


def is_weight(number: float) -> bool:
    """Whether *number* can weigh a query: one that weighs nothing would be in a mean without counting there."""
    return math.isfinite(number) and number > 0


def weight_in_file(written: Any) -> float | None:
    """The weight that a cell of CSV, or a value of JSON, says; None where it says none."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    number = read_number(written)
    return number if number is not None and is_weight(number) else None


def lacking_weights(lacking: Sequence[str], queries: int) -> str:
    """What is wrong where the queries *lacking*, of so many, have no weight; empty where all have one, or none has."""
    if len(lacking) in (0, queries):
        return ""
    verb = "has" if len(lacking) == 1 else "have"
    return (
        f"{len(lacking):,} of {count(queries, 'query')} {verb} no weight: {listed(lacking)}; "
        "expected a weight for every query, or for none"
    )
