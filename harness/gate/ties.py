"""Which changes of a ranking are only another order of tied documents, between which the engine had no order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise

from harness.errors import MeasureError, UndefinedScore
from harness.metrics import is_of_novelty, measure_range, settings_of
from harness.metrics.profiles import rules_of, sort_by_score
from harness.metrics.quotes import find_quotes
from harness.metrics.ties import TieRange, find_tie_range_of_quotes, tie_range
from harness.model.request import find_sort_places
from harness.model.run import FoundQuotes, Hit, Ranking, Run
from harness.model.suite import (
    Json,
    Measure,
    Profile,
    Query,
    RequestTemplate,
    ScoreCondition,
    Suite,
    Threshold,
    iterate_members,
)

SAME_SCORE = 1e-6
"""
The relative difference up to which two scores of an engine are the same. Engines compute scores as 32-bit floats, whose
last digit depends on the order in which a sum is computed.
"""

LARGEST_EXACT_INTEGER = 2**24
"""Up to this number a 32-bit float represents each integer exactly."""

_UNSORTED = ("rescore", "retriever", "rank")
"""Keys of a body beside which engines take no `sort`."""


def suggest_tie_break(template: RequestTemplate | None) -> str:
    """How to give tied documents an order, in words; empty where *template* does not allow it."""
    if template is not None and template.http is not None:
        return "make the service break ties"
    body: Mapping[str, Json] = {}
    if template is not None:
        body = _read_body(template)
    if "esql" in body:
        return "break ties in the request (`SORT _score DESC, FIELD`, if a field is unique)"
    if find_sort_places(body):
        return "end the `sort` of the request with a unique field, such as the id indexed as a `keyword`"
    # Engines refuse `sort` beside these keys, and OpenSearch beside a hybrid query.
    if not body.keys().isdisjoint(_UNSORTED) or "hybrid" in dict(iterate_members(body)):
        return ""
    return "break ties in the request (`sort: [_score, FIELD]`, if a field is unique)"


def has_sort(template: RequestTemplate) -> bool:
    """Whether the request says by what its hits are sorted; a template that the engine stores does not show it."""
    return not _read_body(template).keys().isdisjoint(("sort", "esql"))


def _read_body(template: RequestTemplate) -> Mapping[str, Json]:
    """The body of a search; empty for a template that is stored in the engine, or written as a text."""
    if not isinstance(template.body, Mapping):
        return {}
    stored = template.body.get("template")
    if not isinstance(stored, Mapping):
        return template.body
    source = stored.get("source")
    return source if isinstance(source, Mapping) else {}


@dataclass(frozen=True, slots=True)
class TieGroup:
    """
    Documents of one ranking that tie with each other.

    *shown* are the ids of those in the ranking, where they follow each other from the position *start* on, counted
    from 0. *hit* is the first of them. *below* are those that tie with them below the end of the ranking, as far as
    they are known. *closed* says that there are no others. *exact_scores* is that of the ranking.
    """

    start: int
    hit: Hit
    shown: tuple[str, ...]
    below: tuple[str, ...] = ()
    closed: bool = True
    exact_scores: bool = False

    @property
    def documents(self) -> frozenset[str]:
        """All documents that belong to the group, as far as they are known."""
        return frozenset((*self.shown, *self.below))

    def is_interchangeable_with(self, other: TieGroup) -> bool:
        """
        Whether it is at the ranks of *other*, and each document that either shows is known to be in both.

        The order of one is then a possible order of the other. Their scores and sort values may differ.
        """
        if self.start != other.start or len(self.shown) != len(other.shown):
            return False
        return self.documents.issuperset(other.shown) and other.documents.issuperset(self.shown)


def group_ties(ranking: Ranking) -> list[TieGroup]:
    """
    All documents of *ranking* in groups of ties, best first; a document that ties with no other is a group of one.

    Empty where it is unknown which documents tie, because a hit has neither sort values nor a score.
    """
    hits = ranking.hits
    for hit in hits:
        if hit.sort is None and hit.score is None:
            return []
        if hit.sort is not None and not hit.sort:
            return []
    exact = ranking.exact_scores
    starts: list[int] = []
    for position, hit in enumerate(hits):
        if not starts or not is_tie(hits[starts[-1]], hit, exact=exact):
            starts.append(position)
    groups = []
    for start, stop in zip(starts, [*starts[1:], len(hits)], strict=False):
        shown = tuple(hit.id for hit in hits[start:stop])
        groups.append(TieGroup(start, hits[start], shown, exact_scores=exact))
    if groups:
        tail = tuple(hit.id for hit in ranking.tail)
        groups[-1] = replace(groups[-1], below=tail, closed=ranking.closed)
    return groups


def truncate_ranking(ranking: Ranking, depth: int) -> Ranking:
    """*ranking* with at most *depth* hits; the hits below that tie with the last become its tail."""
    if len(ranking.ids) <= depth:
        return ranking
    columns = ranking.columns
    # Few hits tie with the first below the cut: scripts/bench/runner --by-hand.
    if columns is not None and not has_close_scores(columns.scores[depth - 1 : depth + 1]):
        return ranking.keep_first(depth, tail=(), closed=True)
    last, *below = ranking.list_hits_from(depth - 1)
    tied: list[Hit] = []
    for hit in below:
        if not is_tie(last, hit, exact=ranking.exact_scores):
            # It ends the group of ties: no document below it can belong to the group.
            return ranking.keep_first(depth, tail=tuple(tied), closed=True)
        tied.append(hit)
    return ranking.keep_first(depth, tail=(*tied, *ranking.tail))


def is_tie(first: Hit, second: Hit, *, exact: bool) -> bool:
    """
    Whether the server had nothing to order the two hits by.

    Their sort values are equal, or, where neither has any, their scores are. Scores that are not *exact*, those of an
    engine, also tie within the precision of a 32-bit float, unless both are whole numbers that it holds.
    """
    if first.sort is not None or second.sort is not None:
        return first.sort == second.sort and first.sort != ()
    if first.score is None or second.score is None:
        return False
    if first.score == second.score:
        return True
    if exact or not math.isclose(first.score, second.score, rel_tol=SAME_SCORE):
        return False
    # A script or a function returned two integers, such as numbers of sales: no sum of weights was rounded.
    return not (_is_exact_integer(first.score) and _is_exact_integer(second.score))


def _is_exact_integer(score: float) -> bool:
    """Whether *score* is an integer that a 32-bit float holds without rounding."""
    return isinstance(score, int) or (score.is_integer() and abs(score) <= LARGEST_EXACT_INTEGER)


def compute_bands(
    suite: Suite, query: Query, ranking: Ranking, measures: Iterable[Measure]
) -> dict[str, tuple[float, float]]:
    """
    The least and the greatest value of each of *measures* over all orders of tied documents, or over a sample; without
    those that ties do not move, and those that are undefined.
    """
    ordered = order_by_profile(ranking, suite.profile)
    groups = [(*group.shown, *group.below) for group in group_ties(ordered)]
    if not groups:
        return {}
    depth = len(ranking.hits)
    bands = {}
    for measure in measures:
        try:
            band = _compute_range(suite, query, measure, groups, [ranking], depth)
        except (UndefinedScore, MeasureError):
            continue
        if band.least < band.greatest:
            bands[measure.text] = band.least, band.greatest
    return bands


def _compute_range(
    suite: Suite,
    query: Query,
    measure: Measure,
    groups: Sequence[Sequence[str]],
    rankings: Sequence[Ranking],
    depth: int,
) -> TieRange:
    """
    The range of a value over all orders of *groups*, of which *depth* documents are scored.

    *rankings* have the texts of the documents, for measures of quotes; of a document in several, the first counts.
    """
    if not is_of_novelty(measure):
        return tie_range(measure, groups, query.judgments, depth=depth, gain=suite.gain, profile=suite.profile)
    shares: dict[str, Mapping[str, float]] = {}
    for ranking in reversed(rankings):
        shares |= {document: {} for document in ranking.ids}
        shares |= find_quotes(query, ranking, suite.display.text or "", with_tail=True).shares
    found = FoundQuotes(shares=shares)
    return find_tie_range_of_quotes(measure, groups, query, found, depth=depth, gain=suite.gain, profile=suite.profile)


def find_bands(suite: Suite, run: Run, measure: Measure) -> dict[str, tuple[float, float]]:
    """The least and the greatest value of *measure* over the orders of ties, for each query that ties move."""
    bands = {}
    for query in suite.queries:
        ranking = run.responses.get(query.id)
        if isinstance(ranking, Ranking) and may_be_moved_by_ties(query, ranking):
            bands_of_query = compute_bands(suite, query, ranking, [measure])
            if measure.text in bands_of_query:
                bands[query.id] = bands_of_query[measure.text]
    return bands


class RunBands:
    """
    How far the order of ties moves the values of one run, by the measures of its thresholds.

    Each ranking is read once. Only documents that are known to tie are reordered, and only where their grades differ:
    the order of others changes no value.
    """

    def __init__(self, suite: Suite, run: Run) -> None:
        self._suite, self._run = suite, run

    def list_extremes(self, measure: Measure, values: Mapping[str, float]) -> list[dict[str, float]]:
        """
        The *values* of queries by *measure* with the least ones over the orders of ties, then with the greatest ones;
        nothing where ties move none of them.
        """
        all_least, all_greatest = dict(values), dict(values)
        are_moved = False
        for query, (least, greatest) in self._bands.get(measure.text, {}).items():
            if query in values:
                all_least[query], all_greatest[query] = least, greatest
                are_moved = True
        return [all_least, all_greatest] if are_moved else []

    @cached_property
    def _bands(self) -> dict[str, dict[str, tuple[float, float]]]:
        """The least and the greatest value that ties allow, by measure and query, where ties move it."""
        bands: dict[str, dict[str, tuple[float, float]]] = {}
        # Many queries share few combinations of tags.
        list_measures_for_tags = lru_cache(maxsize=64)(self._list_measures_for_tags)
        for query in self._suite.queries:
            ranking = self._run.responses.get(query.id)
            if isinstance(ranking, Ranking) and may_be_moved_by_ties(query, ranking):
                measures = list_measures_for_tags(query.tags) | _list_measures(query.thresholds)
                for measure, band in compute_bands(self._suite, query, ranking, measures.values()).items():
                    bands.setdefault(measure, {})[query.id] = band
        return bands

    def _list_measures_for_tags(self, tags: Collection[str]) -> dict[str, Measure]:
        """The measures of the suite's thresholds on queries with *tags*."""
        thresholds = self._suite.thresholds
        return _list_measures(threshold for threshold in thresholds if threshold.tag is None or threshold.tag in tags)


def _list_measures(thresholds: Iterable[Threshold]) -> dict[str, Measure]:
    """The measures whose scores *thresholds* compare with a number, by their text."""
    measures = {}
    for threshold in thresholds:
        if isinstance(threshold.condition, ScoreCondition):
            measures[threshold.condition.measure.text] = threshold.condition.measure
    return measures


def may_be_moved_by_ties(query: Query, ranking: Ranking) -> bool:
    """Whether the order of ties may move a value of *query*."""
    return has_ties(ranking) and _has_tied_grades(query, group_ties(ranking))


def has_ties(ranking: Ranking) -> bool:
    """Whether any tied documents are known, found out faster than by grouping them."""
    if ranking.tail:
        return True
    columns = ranking.columns
    # Few rankings have scores that are close: scripts/bench/runner --by-hand.
    if columns is not None and not has_close_scores(columns.scores):
        return False
    exact = ranking.exact_scores
    return any(is_tie(first, second, exact=exact) for first, second in pairwise(ranking.hits))


_ARE_CLOSE = partial(math.isclose, rel_tol=SAME_SCORE)


def has_close_scores(scores: Sequence[float]) -> bool:
    """Whether two of *scores* that follow each other are within the precision of a 32-bit float."""
    return any(map(_ARE_CLOSE, scores, scores[1:]))


def _has_tied_grades(query: Query, groups: Iterable[TieGroup]) -> bool:
    """Whether documents of different grades are in one of *groups*; no grade equals that of an unjudged document."""
    for group in groups:
        grades = {query.judgments.get(document) for document in group.documents}
        # Quotes are looked for only where they may matter: in documents that tie.
        if len(grades) > 1 or (query.quotes and len(group.documents) > 1):
            return True
    return False


@dataclass(frozen=True, slots=True)
class TiedValue:
    """
    The range of a query's value of today if the order of tied documents is ignored: from *least* to *greatest*.

    The two differ where it is not known which documents tie. They are infinite where the range is unknown: there are
    too many orders and the measure has no bounds, or the measure is undefined in one of them. *only_ties* says that
    nothing else changed, so that the value is the baseline's.
    """

    least: float
    greatest: float
    only_ties: bool = False


def read_ties(suite: Suite, query: Query, measure: Measure, before: Ranking, after: Ranking) -> TiedValue | None:
    """
    Read today's ranking with ties in the baseline's order, as far as the same documents tie.

    Args:
        suite: Gives the gain and the profile.
        query: Gives the judgments.
        measure: Looks down to its cutoff; a group of ties that begins there is looked at whole.
        before: The baseline's ranking, no deeper than both runs requested.
        after: The ranking of today, as deep.

    Returns:
        None where the rankings are the same, or it is unknown which documents tie. Else each group of ties of today
        counts in one of three ways:

        - A group at the same ranks with the same documents, and the same sort values if it has any, counts in the
          baseline's order: neither run had an order for them.
        - Any other group counts as returned if all of its documents are known, then and now.
        - If they are not all known, every order is possible of those that are: today's documents, and those that tied
          with them in the baseline and are not elsewhere in today's ranking.
    """
    ranking_before, ranking_today = order_by_profile(before, suite.profile), order_by_profile(after, suite.profile)
    if ranking_before.ids == ranking_today.ids:
        return None
    groups_before, groups_today = group_ties(ranking_before), group_ties(ranking_today)
    # Hits without groups: it is unknown which of them tie.
    if not groups_today or (ranking_before.hits and not groups_before):
        return None
    # A measure that leaves unjudged documents out looks beyond its cutoff.
    limit: float = math.inf
    if measure.cutoff is not None and not settings_of(measure).values.get("judged_only"):
        limit = measure.cutoff
    only_ties = min(limit, len(ranking_before.hits)) == min(limit, len(ranking_today.hits))
    possible_orders: list[Sequence[str]] = []
    for group, match in pair_groups(groups_today, groups_before):
        possible_orders += _list_possible_orders(group, match, groups_before, ranking_today)
        if group.start < limit and not _is_same_group(group, match, groups_before, ranking_today):
            only_ties = False
    tied = find_tie_range(suite, query, measure, possible_orders, [ranking_today, ranking_before])
    return TiedValue(tied.least, tied.greatest, only_ties and tied.exact)


def _list_possible_orders(
    group: TieGroup, match: TieGroup | None, groups_before: Sequence[TieGroup], today: Ranking
) -> list[Sequence[str]]:
    """
    The documents of a *group* of today's ranking, as `read_ties` counts them.

    The result is a list of lists of documents. Those of an inner list may come in any order, so that a document with a
    fixed rank is a list of one. *match* is the group at the same ranks in the baseline.
    """
    if match is not None and _is_same_group(group, match, groups_before, today):
        # Neither run had an order for them: that of the baseline is as good.
        return [(document,) for document in match.shown]
    # Whether other documents, which nobody knows, may have tied with those of the group in the baseline.
    was_open = match is not None and not match.closed and _has_score_of(group, match)
    if group.closed and not was_open:
        return [(document,) for document in group.shown]
    return [_list_candidates(group, groups_before, today)]


def _is_same_group(group: TieGroup, match: TieGroup | None, groups_before: Sequence[TieGroup], today: Ranking) -> bool:
    """Whether a *group* of today has the documents of *match*, that of the baseline, and no others may belong to it."""
    if match is None or not group.is_interchangeable_with(match):
        return False
    return not _may_have_others(group, groups_before, today)


def list_possible_orders(before: Ranking, after: Ranking) -> list[Sequence[str]]:
    """
    The documents of *after*, today's ranking, as `read_ties` counts them beside *before*, that of the baseline.

    The result is a list of lists of documents. Those of an inner list may come in any order, so that a document with a
    fixed rank is a list of one.
    """
    groups_before, groups_today = group_ties(before), group_ties(after)
    possible_orders: list[Sequence[str]] = []
    if not before.hits or groups_before:
        for group, match in pair_groups(groups_today, groups_before):
            possible_orders += _list_possible_orders(group, match, groups_before, after)
    if not possible_orders:
        # No groups: it is unknown which documents tie.
        return [(hit.id,) for hit in after.hits]
    return possible_orders


def _may_have_others(group: TieGroup, groups_before: Sequence[TieGroup], today: Ranking) -> bool:
    """
    Whether a document that had the score of *group* in the baseline may belong to it today.

    Where the group at the same ranks has that score too, such a document is one of that group, and it is known.
    """
    if group.closed:
        return False
    for other in groups_before:
        if other.start == group.start and _has_score_of(group, other):
            return False
    return not group.documents.issuperset(_list_candidates(group, groups_before, today))


def restore_tie_order(before: Ranking, after: Ranking, *, depth: int) -> tuple[str, ...]:
    """The documents of *after*; a group of ties with the same documents in *before* takes its order from there."""
    first, second = truncate_ranking(before, depth), truncate_ranking(after, depth)
    order: list[str] = []
    for group, match in pair_groups(group_ties(second), group_ties(first)):
        if match is not None and group.is_interchangeable_with(match):
            order += match.shown
        else:
            order += group.shown
    # No groups: it is unknown which documents tie.
    return tuple(order) or second.ids


def reorder_ties(reference: Ranking, candidate: Ranking) -> Ranking:
    """
    *candidate* with documents of equal score in the order of *reference*, where these are the same documents.

    The same object comes back where no tie is reordered.
    """
    order = restore_tie_order(reference, candidate, depth=max(len(reference.ids), len(candidate.ids)))
    if order == candidate.ids:
        return candidate
    hits_by_id = {hit.id: hit for hit in (*candidate.hits, *candidate.tail)}
    reordered = []
    for document, hit_at_rank in zip(order, candidate.hits, strict=True):
        # Scores that tie may differ by rounding. The score stays at its rank, as a profile may sort by score.
        reordered.append(replace(hits_by_id[document], score=hit_at_rank.score))
    return replace(candidate, hits=tuple(reordered))


def list_orders_of_both(first: Ranking, second: Ranking) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """
    The possible orders of the documents of two rankings of one run: that of a query, and that of its variant.

    For each ranking a list of lists of documents, as of `list_possible_orders`. If both have a group of ties at the
    same ranks with the same documents, both have it in the order of *first*: the engine had no order for them. If a
    group may have documents that are not known, those of the other ranking are possible that are not elsewhere in this
    one: if they have the score of the group, or if several documents tie in it, as the score of a document for one text
    says nothing of its score for another one.
    """
    groups_first, groups_second = group_ties(first), group_ties(second)
    shared_groups: dict[int, list[Sequence[str]]] = {}
    for group, match in pair_groups(groups_second, groups_first):
        # Another document that ties with those of only one group might have been returned in place of one of them.
        if match is not None and group.is_interchangeable_with(match) and group.documents == match.documents:
            shared_groups[group.start] = [(document,) for document in match.shown]
    return (
        _list_orders_beside(first, groups_first, groups_second, shared_groups),
        _list_orders_beside(second, groups_second, groups_first, shared_groups),
    )


def _list_orders_beside(
    ranking: Ranking,
    groups: Sequence[TieGroup],
    groups_of_other: Sequence[TieGroup],
    shared_groups: Mapping[int, Sequence[Sequence[str]]],
) -> list[Sequence[str]]:
    """The possible orders of one of the two rankings of `list_orders_of_both`; *shared_groups* are by their start."""
    possible_orders: list[Sequence[str]] = []
    for group in groups:
        if group.start in shared_groups:
            possible_orders += shared_groups[group.start]
        else:
            possible_orders.append(_list_candidates(group, groups_of_other, ranking, is_same_text=False))
    if not possible_orders:
        # No groups: it is unknown which documents tie.
        return [(hit.id,) for hit in ranking.hits]
    return possible_orders


def find_tie_range(
    suite: Suite, query: Query, measure: Measure, groups: Sequence[Sequence[str]], rankings: Sequence[Ranking]
) -> TieRange:
    """
    The range of a value over all orders of *groups*, of which as many documents are scored as the first of *rankings*
    has; these have all documents of *groups*.

    Where there are too many orders, it is that of the measure; where the measure is undefined in one, it is infinite.
    """
    try:
        value_range = _compute_range(suite, query, measure, groups, rankings, len(rankings[0].hits))
    except (UndefinedScore, MeasureError):
        return TieRange(-math.inf, math.inf, exact=False)
    if value_range.exact:
        return value_range
    least, greatest = measure_range(measure, suite.gain, suite.profile)
    if least is None:
        least = -math.inf
    if greatest is None:
        greatest = math.inf
    return TieRange(least, greatest, exact=False)


def pair_groups(groups: Iterable[TieGroup], before: Iterable[TieGroup]) -> Iterator[tuple[TieGroup, TieGroup | None]]:
    """
    Each of *groups*, with the group of *before* at the same rank, if there is one with the same sort values, or None.

    Where neither has sort values, the scores need not be the same: another engine may multiply all by a constant.
    """
    groups_by_start = {group.start: group for group in before}
    for group in groups:
        match = groups_by_start.get(group.start)
        if match is not None and match.hit.sort != group.hit.sort:
            match = None
        yield group, match


def _has_score_of(group: TieGroup, other: TieGroup) -> bool:
    """Whether *group* and *other*, of two rankings, have the same score or sort values."""
    return is_tie(group.hit, other.hit, exact=group.exact_scores or other.exact_scores)


def order_by_profile(ranking: Ranking, profile: Profile) -> Ranking:
    """
    *ranking* in the order in which *profile* scores it.

    The standard profile scores hits in the order of the engine. Others sort them by score and id, as trec_eval does.
    """
    if not rules_of(profile).sorts:
        return ranking
    documents: list[str] = []
    scores: list[float] = []
    for hit in ranking.hits:
        if hit.score is None:
            return ranking
        documents.append(hit.id)
        scores.append(hit.score)
    hits_by_id = {hit.id: hit for hit in ranking.hits}
    tail = ranking.tail
    if any(hit.sort is not None for hit in ranking.hits):
        # Sort values say nothing of hits that are sorted by score, nor does the tail, which tied by sort values.
        hits_by_id = {hit.id: replace(hit, sort=None) for hit in ranking.hits}
        tail = ()
    ordered_hits = tuple(hits_by_id[document] for document in sort_by_score(documents, scores))
    return replace(ranking, hits=ordered_hits, tail=tail)


def replace_scores(ranking: Ranking, profile: Profile) -> Ranking:
    """
    *ranking* in the order in which *profile* scores it, with new scores: minus the position of each group of ties.

    The same documents tie as before, if it is known which do; else none. Groups at the same ranks of two rankings then
    have the same score, so that a document that only one of them shows may also tie in the other.

    >>> ranking = Ranking((Hit("a", 7.5), Hit("b", 3.25), Hit("c", 3.25)))
    >>> [(hit.id, hit.score) for hit in replace_scores(ranking, Profile.STANDARD).hits]
    [('a', 0), ('b', -1), ('c', -1)]
    """
    ordered = order_by_profile(ranking, profile)
    groups = group_ties(ordered)
    if not groups:
        untied = [Hit(hit.id, -position, values=hit.values) for position, hit in enumerate(ordered.hits)]
        return Ranking(tuple(untied), closed=True, exact_scores=True, found_quotes=ranking.found_quotes)
    values_by_id = {hit.id: hit.values for hit in (*ordered.hits, *ordered.tail)}
    hits: list[Hit] = []
    for group in groups:
        hits += [Hit(document, -group.start, values=values_by_id[document]) for document in group.shown]
    last_group = groups[-1]
    tail = tuple(Hit(document, -last_group.start, values=values_by_id[document]) for document in last_group.below)
    return Ranking(
        tuple(hits), tail=tail, closed=last_group.closed, exact_scores=True, found_quotes=ranking.found_quotes
    )


def _list_candidates(
    group: TieGroup, before: Sequence[TieGroup], today: Ranking, *, is_same_text: bool = True
) -> tuple[str, ...]:
    """
    The documents that may be at the ranks of *group* today.

    *before* are the groups of the ranking that it is compared with. If not *is_same_text*, that is the ranking for
    another text, of a variant, so that its scores cannot be compared with those of *today*.
    """
    candidates = [*group.shown, *group.below]
    if group.closed:
        return tuple(candidates)
    # What tied with them in the baseline may still do so, below the last hit, unless it is elsewhere by now.
    returned = set(today.ids)
    for other_group in before:
        may_tie = _has_score_of(group, other_group)
        if not is_same_text and len(group.shown) > 1:
            # The score of a document for one text says nothing of that for another one.
            may_tie = True
        if may_tie:
            documents = (*other_group.shown, *other_group.below)
            candidates += [document for document in documents if document not in returned]
    return tuple(dict.fromkeys(candidates))
