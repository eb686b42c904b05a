"""
How far a ranking agrees with that of another request or text in the same run, and how much it loses; reports show both.

Scores of two requests, or of two texts, say nothing of each other: documents are compared by their ranks and ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.gate.ties import (
    find_tie_range,
    group_ties,
    has_ties,
    list_orders_of_both,
    order_by_profile,
    restore_tie_order,
    truncate_ranking,
)
from harness.metrics.agreement import agreement_value, find_agreement_range, order_tied
from harness.metrics.run_scores import score_of
from harness.model.run import Ranking, Run
from harness.model.suite import Measure, Query, Suite


@dataclass(frozen=True, slots=True)
class RangedValue:
    """An agreement or a loss, and the range of it over the orders of tied documents."""

    value: float
    least: float
    greatest: float


def compute_agreement(agreement: Measure, ranking: Ranking, of_variant: Ranking, *, depth: int) -> float:
    """
    How far a variant's ranking agrees with that of its query, tied documents in the order of the query.

    A variant without hits agrees with nothing, not even where its query has none: two empty rankings say nothing.
    """
    if not of_variant.hits:
        return 0.0
    cutoff = agreement.cutoff or depth
    first = ranking.ids[:cutoff]
    second = restore_tie_order(ranking, of_variant, depth=cutoff)
    return agreement_value(agreement, first, second, depth=depth)


def compute_agreement_with_range(
    agreement: Measure, ranking: Ranking, of_variant: Ranking, *, depth: int
) -> RangedValue:
    """As `compute_agreement`, with the range of it."""
    value = compute_agreement(agreement, ranking, of_variant, depth=depth)
    if not of_variant.hits or not (has_ties(ranking) or has_ties(of_variant)):
        return RangedValue(value, value, value)
    cutoff = agreement.cutoff or depth
    first, second = truncate_ranking(ranking, cutoff), truncate_ranking(of_variant, cutoff)
    groups_first, groups_second = list_orders_of_both(first, second)
    lengths = len(first.hits), len(second.hits)
    least, greatest = find_agreement_range(agreement, groups_first, groups_second, lengths, depth=cutoff)
    return RangedValue(value, min(least, value), max(greatest, value))


@dataclass(frozen=True, slots=True)
class ScoredQuery:
    """A query with its *score* by *measure* in the run; None if it is undefined."""

    query: Query
    measure: Measure
    score: float | None


def compute_loss(suite: Suite, scored: ScoredQuery, run: Run, of_variant: Ranking) -> float | None:
    """
    How far the score of a variant is below that of its query in *run*, by the judgments of the query.

    Tied documents of the variant are in the order of the query, where both have the same. None where either has no
    score.
    """
    query = scored.query
    returned = run.responses.get(query.id)
    if isinstance(returned, Ranking) and has_ties(of_variant):
        ordered, ordered_of_variant = _order_both(suite, returned, of_variant)
        order = restore_tie_order(ordered, ordered_of_variant, depth=suite.depth)
        if order != ordered_of_variant.ids:
            hits_by_id = {hit.id: hit for hit in (*ordered_of_variant.hits, *ordered_of_variant.tail)}
            # A profile may sort by score: falling scores keep this order.
            hits = tuple(
                replace(hits_by_id[document], score=-position, sort=None) for position, document in enumerate(order)
            )
            of_variant = replace(of_variant, hits=hits, tail=())
    run_of_variant = replace(run, responses={query.id: of_variant})
    score_of_variant = score_of(suite, query, scored.measure, run_of_variant).value
    if scored.score is None or score_of_variant is None:
        return None
    return scored.score - score_of_variant


def _order_both(suite: Suite, ranking: Ranking, of_variant: Ranking) -> tuple[Ranking, Ranking]:
    """Both rankings as deep as the suite scores them, in the order that its profile scores."""
    first, second = truncate_ranking(ranking, suite.depth), truncate_ranking(of_variant, suite.depth)
    return order_by_profile(first, suite.profile), order_by_profile(second, suite.profile)


def compute_loss_with_range(suite: Suite, scored: ScoredQuery, run: Run, of_variant: Ranking) -> RangedValue | None:
    """As `compute_loss`, with the range of it."""
    loss = compute_loss(suite, scored, run, of_variant)
    if loss is None:
        return None
    ranking = run.responses[scored.query.id]
    assert isinstance(ranking, Ranking), "queries without a ranking were refused"
    if not (has_ties(ranking) or has_ties(of_variant)):
        return RangedValue(loss, loss, loss)
    ordered, ordered_of_variant = _order_both(suite, ranking, of_variant)
    orders, orders_of_variant = list_orders_of_both(ordered, ordered_of_variant)
    query, measure = scored.query, scored.measure
    score = find_tie_range(suite, query, measure, orders, [ordered, ordered_of_variant])
    score_of_variant = find_tie_range(suite, query, measure, orders_of_variant, [ordered_of_variant, ordered])
    least, greatest = score.least - score_of_variant.greatest, score.greatest - score_of_variant.least
    return RangedValue(loss, min(least, loss), max(greatest, loss))


# A ranking beside that of a reference, whose hits are the right ones: documents that tie there are equally right.


def compare_with_reference(agreement: Measure, reference: Ranking, candidate: Ranking, *, depth: int) -> RangedValue:
    """
    How far *candidate* agrees with *reference*, where a difference within equal scores of either is none.

    A document that ties with the last of the reference may stand in its place. The value is uncertain where it is not
    known which documents tie there, and where documents that were not returned tie with the last of the candidate.
    """
    cutoff = agreement.cutoff or depth
    first, second = truncate_ranking(reference, cutoff), truncate_ranking(candidate, cutoff)
    lengths = len(first.hits), len(second.hits)
    groups, shown = _list_tied(first), _list_tied(replace(second, tail=()))
    first_order = order_tied(groups, shown, is_alike=True, is_first=True)[: lengths[0]]
    second_order = order_tied(shown, groups, is_alike=True, is_first=False)
    value = agreement_value(agreement, first_order, second_order, depth=cutoff)
    if _knows_ties(first) and _knows_ties(second) and not second.tail:
        return RangedValue(value, value, value)
    orders_first, orders_second = list_orders_of_both(first, second)
    least, greatest = find_agreement_range(agreement, orders_first, orders_second, lengths, depth=cutoff)
    if _knows_ties(first):
        # Only the candidate leaves something open: whichever of its tied documents come first, all that tie in the
        # reference are right.
        second_order = order_tied(orders_second, orders_first, is_alike=False, is_first=False)[: lengths[1]]
        fixed = [(document,) for document in second_order]
        first_order = order_tied(groups, fixed, is_alike=True, is_first=True)[: lengths[0]]
        least = agreement_value(agreement, first_order, second_order, depth=cutoff)
    return RangedValue(value, min(least, value), max(greatest, value))


def list_missed(reference: Ranking, candidate: Ranking, *, depth: int) -> list[int]:
    """
    The places in *reference*, counted from 0, of the documents among its first *depth* that *candidate* lacks there.

    Where several tie, as many are missed as the candidate has too few of all that tie.
    """
    first, found = truncate_ranking(reference, depth), set(candidate.ids[:depth])
    missed: list[int] = []
    place = 0
    for tied in _list_tied(first):
        shown = first.ids[place : place + len(tied)]
        lacking = len(shown) - len(found.intersection(tied))
        absent = [position for position, document in enumerate(shown, start=place) if document not in found]
        missed += absent[: max(lacking, 0)]
        place += len(shown)
    return missed


def _list_tied(ranking: Ranking) -> list[Sequence[str]]:
    """The documents of *ranking* in groups of ties, with those that are known to tie below its last hit."""
    groups = [(*group.shown, *group.below) for group in group_ties(ranking)]
    # No groups: it is unknown which documents tie.
    return list(groups) or [(document,) for document in ranking.ids]


def _knows_ties(ranking: Ranking) -> bool:
    """Whether all documents that tie with the last hit of *ranking* are known, as far as hits say what ties."""
    groups = group_ties(ranking)
    return not groups or groups[-1].closed
