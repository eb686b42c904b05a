"""Which changes of a ranking are no more than another order of documents that the engine scored the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from harness.errors import MeasureError, UndefinedScore
from harness.measures.ties import TieBand, tie_band
from harness.model import Hit, Measure, Query, Ranking, RequestTemplate, Suite
from harness.thresholds import TOLERANCE

__all__ = ["band_of", "differs_by_ties", "leaves_ties", "same_scores", "tie_groups"]

SAME_SCORE = 1e-6
"""Relative; the engines compute scores as 32-bit floats, whose last digit the order of a sum may change."""

_NO_ORDER = ("_score", "_doc", "_shard_doc")
"""What a body may sort by that leaves documents of equal score in the order in which the index holds them."""


def leaves_ties(template: RequestTemplate | None) -> bool:
    """
    Whether *template* leaves documents of equal score in an order that nobody asked for.

    A body that sorts by anything beside the score has asked for one: another order is then another ranking.
    """
    if template is None:
        return False
    sort = template.body.get("sort") if template.http is None and isinstance(template.body, Mapping) else None
    keys = sort if isinstance(sort, list) else [sort]
    names = [name for key in keys if key is not None for name in (key if isinstance(key, Mapping) else [key])]
    return all(name in _NO_ORDER for name in names)


def band_of(suite: Suite, query: Query, measure: Measure, ranking: Ranking) -> TieBand | None:
    """The values that *measure* has over all orders of tied documents; None where scores or judgments are missing."""
    scores = [hit.score for hit in ranking.hits if hit.score is not None]
    if len(scores) != len(ranking.hits) or not scores:
        return None
    documents = [hit.id for hit in ranking.hits]
    try:
        return tie_band(measure, documents, scores, query.judgments, gain=suite.gain, profile=suite.profile)
    except (UndefinedScore, MeasureError):
        return None


def differs_by_ties(
    suite: Suite, query: Query, measure: Measure, before: Ranking, after: Ranking, *, depth: int, value: float
) -> bool:
    """
    Whether *after* differs from *before*, as far as *measure* looks, by the order of tied documents and nothing else.

    Args:
        suite: Gives the gain and the profile.
        query: Gives the judgments.
        measure: Looks down to its cutoff; a group of ties that begins there is looked at whole.
        before: The baseline's ranking.
        after: The ranking of today.
        depth: How many hits both were asked for. A group of ties that reaches so far may go on below it, so other
            documents may take the places of its own.
        value: Of *measure* for *after*.

    Returns:
        True where the engine's scores are the same place by place, and each group of equal scores holds the same
        documents; or where only documents that are not judged changed in it, and *value* is in the baseline's band.
    """
    first, second = before.hits[:depth], after.hits[:depth]
    end = _end_of_group(first, measure.cutoff or depth)
    ends_alike = measure.cutoff is not None or len(first) == len(second)
    if not end or not ends_alike or not same_scores(first[:end], second[:end]):
        return False
    groups = _complete_groups(first[:end], is_open=end == depth)
    changed = [_changed(first[start:stop], second[start:stop]) for start, stop in groups]
    if not any(changed):
        return True
    band = band_of(suite, query, measure, before)
    unjudged = not any(document in query.judgments for documents in changed for document in documents)
    return unjudged and band is not None and band.least - TOLERANCE <= value <= band.greatest + TOLERANCE


def _end_of_group(hits: Sequence[Hit], cutoff: int) -> int:
    """Where the group of ties ends that the place *cutoff* is in."""
    end = min(cutoff, len(hits))
    while 0 < end < len(hits) and hits[end].score == hits[end - 1].score:
        end += 1
    return end


def same_scores(first: Sequence[Hit], second: Sequence[Hit]) -> bool:
    """Whether the engine's scores are known, and the same place by place."""
    if len(first) != len(second):
        return False
    pairs = zip(first, second, strict=True)
    return all(
        one.score is not None and other.score is not None and math.isclose(one.score, other.score, rel_tol=SAME_SCORE)
        for one, other in pairs
    )


def _complete_groups(hits: Sequence[Hit], *, is_open: bool) -> list[tuple[int, int]]:
    """Each group of equal scores, without the last where it may go on."""
    groups = tie_groups(hits)
    return groups[:-1] if is_open else groups


def tie_groups(hits: Sequence[Hit]) -> list[tuple[int, int]]:
    """Where each group of equal scores begins and ends, counting from 0, the end not in it."""
    scores = [hit.score for hit in hits]
    starts = [at for at, score in enumerate(scores) if not at or score != scores[at - 1]]
    return list(zip(starts, [*starts[1:], len(scores)], strict=True)) if scores else []


def _changed(first: Sequence[Hit], second: Sequence[Hit]) -> set[str]:
    return {hit.id for hit in first} ^ {hit.id for hit in second}
