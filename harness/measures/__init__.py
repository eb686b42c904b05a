"""
Measures: their text, their registry, and the score of one query.

``nDCG(gain=linear)@10`` is a measure: a metric's name, parameters where they differ from the usual, a cutoff. Its
canonical text is its identity. Nothing here imports numpy; `harness.evaluation` computes many queries at once.
"""

from harness.measures.bounds import UnjudgedBounds, unjudged_bounds
from harness.measures.builtin import definition_of, is_built_in, register_measure
from harness.measures.definition import Cutoff, Definition, Needs, Settings
from harness.measures.parameters import read_gain
from harness.measures.profiles import profile_gain, read_profile
from harness.measures.score import is_of_novelty, score_diverse_query, score_query
from harness.measures.settings import deepest_cutoff, gain_in_force, measure_range, settings_of
from harness.measures.text import parse_measure
from harness.measures.ties import TieBand, TieRange, tie_band, tie_range
from harness.metrics.ranking import GradedRanking

__all__ = [
    "Cutoff",
    "Definition",
    "GradedRanking",
    "Needs",
    "Settings",
    "TieBand",
    "TieRange",
    "UnjudgedBounds",
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
