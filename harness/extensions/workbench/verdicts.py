"""The thresholds that a try would not hold, by the gate's own verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.extensions.tuning.asking import list_decidable
from harness.extensions.workbench.figures import ScoredSide
from harness.extensions.workbench.opening import Material
from harness.gate.decide import decide
from harness.gate.selection import needs_baseline
from harness.metrics.run_scores import score_run
from harness.model.run import Status, Verdict
from harness.model.suite import Suite, Threshold, select_tagged
from harness.store.baseline import find_reference
from harness.suites.variants import is_of_variants

Failing: TypeAlias = Mapping[str, str]
"""The text of each threshold that does not hold, by its id."""


def find_failing(material: Material, side: ScoredSide) -> Failing:
    """The thresholds that *side* does not hold."""
    suite = side.suite
    decidable = list_decidable(suite.thresholds, suite.queries)
    # Other than with trials of a tuning, variants were sent.
    thresholds = [one for one in suite.thresholds if one in decidable or _is_of_shown_variants(one, suite)]
    suite = replace(suite, thresholds=tuple(thresholds))
    failing = {}
    for verdict in _decide(material, suite, side):
        if verdict.status is Status.FAILED:
            text = verdict.threshold
            if verdict.query is not None:
                text += f" of {verdict.query}"
            failing[verdict.id] = material.masker.mask(f"{text}: {verdict.reason.partition('; worst:')[0]}")
    return failing


def _is_of_shown_variants(threshold: Threshold, suite: Suite) -> bool:
    """Whether a *threshold* compares variants, of which some are shown."""
    queries = suite.queries if threshold.tag is None else select_tagged(suite.queries, threshold.tag)
    return is_of_variants(threshold) and any(query.variants for query in queries)


def _decide(material: Material, suite: Suite, side: ScoredSide) -> Sequence[Verdict]:
    options = material.options.run
    # A threshold that is for the request of the suite is one for the text in its place.
    run = replace(side.answered, request=material.request)
    reference = None
    if needs_baseline(suite, material.request):
        reference = find_reference(suite, run, options.baseline, options.searched(), material.held_out)
    return decide(suite, run, score_run(suite, run), today=options.day(), reference=reference)
