"""Whose numbers are reproduced: what each profile does otherwise than the standard one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan

from harness.errors import UsageError
from harness.measures.definition import Formula
from harness.model import Gain, GainKind, Profile

__all__ = ["Rules", "by_score", "profile_gain", "rules_of"]


@dataclass(frozen=True, slots=True)
class Rules:
    """
    A profile.

    *gain* holds where neither a measure's text nor the caller gives one. *zero_undefined*: a query with nothing
    relevant scores 0. *skips_unjudged*: a query without any judgment is left out. *sorts*: hits are ordered by score,
    not taken as they come. *formulas* replaces those of the registry by name.
    """

    gain: GainKind = GainKind.EXPONENTIAL
    zero_undefined: bool = False
    skips_unjudged: bool = False
    sorts: bool = False
    formulas: Mapping[str, Formula] = field(default_factory=dict)


RULES: Mapping[Profile, Rules] = {
    Profile.STANDARD: Rules(),
    Profile.TREC: Rules(GainKind.LINEAR, zero_undefined=True, skips_unjudged=True, sorts=True),
    Profile.RANK_EVAL: Rules(zero_undefined=True),
    Profile.OPENSEARCH_SRW: Rules(zero_undefined=True),
    Profile.QUEPID: Rules(zero_undefined=True),
    Profile.RRE: Rules(zero_undefined=True),
}


def rules_of(profile: Profile) -> Rules:
    """What *profile* does."""
    return RULES[profile]


def profile_gain(profile: Profile) -> Gain:
    """The gain of *profile* where a suite names none: linear for trec_eval, exponential for all others."""
    return Gain(RULES[profile].gain)


def by_score(ranking: Sequence[str], scores: Sequence[float]) -> list[str]:
    """
    Order *ranking* as trec_eval does: by score, highest first, ties by document id from the last to the first in UTF-8.

    Infinities are scores like any other, and -0 equals 0.

    Raises:
        UsageError: the lengths differ, or a score is not a number.
    """
    if len(ranking) != len(scores):
        raise UsageError(f"{len(ranking)} documents came with {len(scores)} scores")
    for document, score in zip(ranking, scores, strict=True):
        if isnan(score):
            raise UsageError(f"the score of document {document!r} is not a number")
    pairs = sorted(zip(scores, map(str.encode, ranking), ranking, strict=True), reverse=True)
    return [document for _, _, document in pairs]
