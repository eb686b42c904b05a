"""The quotes that queries lost since the baseline: which passages are behind a drop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from harness.gate.finding import Finding
from harness.gate.grammar import TOLERANCE
from harness.gate.inputs import GateInputs
from harness.metrics import is_of_novelty
from harness.metrics.quotes import place_quotes
from harness.model.run import Ranking, Status, find_held_share
from harness.model.suite import Measure, Query
from harness.words import NAMES_SHOWN, listed, shorten

SHOWN = 50
"""Characters of a quote in a reason."""


def add_lost_quotes(finding: Finding, measure: Measure, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """Add the quotes that the worst queries lost to the reason of *finding*, if it fails on a *measure* of quotes."""
    if finding.status is not Status.FAILED or not is_of_novelty(measure):
        return finding
    queries_by_id = {query.id: query for query in queries}
    lost: list[str] = []
    for query in finding.blamed[:NAMES_SHOWN]:
        if query in queries_by_id:
            lost += _list_lost(queries_by_id[query], measure, inputs)
    if not lost:
        return finding
    return replace(finding, reason=f"{finding.reason}; lost: {listed(lost)}")


def _list_lost(query: Query, measure: Measure, inputs: GateInputs) -> list[str]:
    """The quotes of *query* of which fewer is in the hits that count: "q1 'the first words' 100% -> 0%"."""
    reference, field = inputs.reference, inputs.suite.display.text
    if reference is None or reference.run is None or field is None:
        return []
    shares = []
    for response in (reference.run.responses.get(query.id), inputs.run.responses.get(query.id)):
        places = place_quotes(query, response, field) if isinstance(response, Ranking) else None
        if places is None:
            return []
        cutoff = measure.cutoff or math.inf
        shares.append({key: find_held_share(hits, cutoff) for key, hits in places.items()})
    before, after = shares
    lost = []
    for quote in query.quotes:
        if before[quote.key] - after[quote.key] > TOLERANCE:
            text = shorten(quote.text, SHOWN)
            lost.append(f"{query.id} {text!r} {before[quote.key]:.0%} -> {after[quote.key]:.0%}")
    return lost
