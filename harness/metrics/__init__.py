"""
The measures: their text, their registry, their formulas, and the scores of rankings by judgments.

Pure: no file, no clock, no network. numpy is imported in `bulk` and inside batch formulas only: a suite is scored
without it.
"""

from harness.metrics.definition import Choice, Cutoff, Definition, Flag, Needs, Number, Settings, read_gain
from harness.metrics.grammar import parse_measure
from harness.metrics.profiles import profile_gain, read_profile
from harness.metrics.ranking import GradedRanking
from harness.metrics.registry import (
    deepest_cutoff,
    definition_of,
    gain_in_force,
    is_built_in,
    measure_range,
    register_measure,
    settings_of,
)
from harness.metrics.score import is_of_novelty, score_diverse_query, score_query, unjudged_bounds
from harness.metrics.ties import TieBand, TieRange, tie_band, tie_range

__all__ = [
    "Choice",
    "Cutoff",
    "Definition",
    "Flag",
    "GradedRanking",
    "Needs",
    "Number",
    "Settings",
    "TieBand",
    "TieRange",
    "deepest_cutoff",
    "definition_of",
    "gain_in_force",
    "is_built_in",
    "is_of_novelty",
    "measure_range",
    "parse_measure",
    "profile_gain",
    "read_gain",
    "read_profile",
    "register_measure",
    "score_diverse_query",
    "score_query",
    "settings_of",
    "tie_band",
    "tie_range",
    "unjudged_bounds",
]
