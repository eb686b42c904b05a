"""What `harness significance` found, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from harness.model import Comparison, Json, MeasureComparison


def comparisons_json(profile: str, comparisons: Sequence[Comparison]) -> str:
    """``{"profile": …, "comparisons": [{…, "measures": {"nDCG@10": {…}}}]}``, null where a figure is not defined."""
    plain = {"profile": profile, "comparisons": [_comparison(comparison) for comparison in comparisons]}
    return json.dumps(plain, indent=2, allow_nan=False)


def _comparison(comparison: Comparison) -> Json:
    measures = {row.measure: _measure(row) for row in comparison.measures}
    return {**asdict(comparison), "measures": measures}


def _measure(row: MeasureComparison) -> Json:
    figures = asdict(row)
    del figures["measure"]
    moved = [{"query": query, "reference": before, "candidate": after} for query, before, after in row.moved]
    return {**figures, "moved": moved}
