"""Which changes of a ranking are only another order of tied documents, between which the engine had no order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise, takewhile

from harness.errors import MeasureError, UndefinedScore
from harness.metrics import TieRange, measure_range, settings_of, tie_range
from harness.metrics.profiles import by_score, rules_of
from harness.model.request import find_sort_places
from harness.model.run import Hit, Ranking, Run
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
"""Relative; the engines compute scores as 32-bit floats, whose last digit the order of a sum may change."""

LARGEST_WHOLE = 2**24
"""Up to this number, a 32-bit float holds each whole number."""

_UNSORTED = ("rescore", "retriever", "rank")
"""Keys of a body beside which engines take no `sort`."""


def suggest_tie_break(template: RequestTemplate | None) -> str:
    """How to give tied documents an order, in words; empty where *template* does not allow it."""
    if template is not None and template.http is not None:
        return "make the service break ties"
    body: Mapping[str, Json] = {}
    if template is not None:
        body = _read_body(template)
    if find_sort_places(body):
        return "end the `sort` of the request with a unique field"
    # Engines refuse `sort` beside these keys, and OpenSearch beside a hybrid query.
    if not body.keys().isdisjoint(_UNSORTED) or "hybrid" in dict(iterate_members(body)):
        return ""
    return "break ties in the request (`sort: [_score, FIELD]`)"


def has_sort(template: RequestTemplate) -> bool:
    """Whether the request says by what its hits are sorted; a template that the engine stores does not show it."""
    return "sort" in _read_body(template)


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
    Tied documents: those *shown* are consecutive in the ranking from *start* on, counting from 0; *hit* is the first.

    *below* are documents that tie with them below the ranking, as far as they are known; *closed* says that there are
    no others. *exact_scores* is that of the ranking.
    """

    start: int
    hit: Hit
    shown: tuple[str, ...]
    below: tuple[str, ...] = ()
    closed: bool = True
    exact_scores: bool = False

    @property
    def known(self) -> frozenset[str]:
        """All documents that are known to belong to the group."""
        return frozenset((*self.shown, *self.below))

    def is_interchangeable_with(self, other: TieGroup) -> bool:
        """
        Whether it is at the place of *other*, and each document that either shows is known to be in both.

        The order of one is then a possible order of the other. Their scores and sort values may differ.
        """
        if self.start != other.start or len(self.shown) != len(other.shown):
            return False
        return self.known.issuperset(other.shown) and other.known.issuperset(self.shown)


def group_ties(ranking: Ranking) -> list[TieGroup]:
    """The groups of tied documents, best first, most of them of one; none where it is unknown which documents tie."""
    hits = ranking.hits
    for hit in hits:
        has_order = bool(hit.sort) if hit.sort is not None else hit.score is not None
        if not has_order:
            return []
    exact = ranking.exact_scores
    starts: list[int] = []
    for place, hit in enumerate(hits):
        if not starts or not is_tie(hits[starts[-1]], hit, exact=exact):
            starts.append(place)
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
    hits, below = ranking.hits[:depth], ranking.hits[depth:]
    if not below:
        return ranking
    tied = tuple(takewhile(lambda hit: is_tie(hits[-1], hit, exact=ranking.exact_scores), below))
    # A hit below that does not tie ends the group: no other document can belong to it.
    if len(tied) < len(below):
        return replace(ranking, hits=hits, tail=tied, closed=True)
    return replace(ranking, hits=hits, tail=(*tied, *ranking.tail))


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
    # A script or a function returned them, such as a number of sales: no sum of weights was rounded.
    return not (_is_whole(first.score) and _is_whole(second.score))


def _is_whole(score: float) -> bool:
    """Whether *score* is a whole number that was not rounded."""
    return isinstance(score, int) or (score.is_integer() and abs(score) <= LARGEST_WHOLE)


def compute_bands(
    suite: Suite, query: Query, ranking: Ranking, measures: Iterable[Measure]
) -> dict[str, tuple[float, float]]:
    """
    The least and the greatest value of each of *measures* over all orders of tied documents, or over a sample; without
    those that ties do not move, and those that are undefined.
    """
    groups = [(*group.shown, *group.below) for group in group_ties(order_by_profile(ranking, suite.profile))]
    if not groups:
        return {}
    depth = len(ranking.hits)
    bands = {}
    for measure in measures:
        with suppress(UndefinedScore, MeasureError):
            band = tie_range(measure, groups, query.judgments, depth=depth, gain=suite.gain, profile=suite.profile)
            if band.least < band.greatest:
                bands[measure.text] = band.least, band.greatest
    return bands


def find_bands(suite: Suite, run: Run, measure: Measure) -> dict[str, tuple[float, float]]:
    """The least and the greatest value of *measure* over the orders of ties, for each query that ties move."""
    bands = {}
    for query in suite.queries:
        ranking = run.responses.get(query.id)
        if isinstance(ranking, Ranking) and _may_be_moved(query, ranking):
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
            if isinstance(ranking, Ranking) and _may_be_moved(query, ranking):
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


def _may_be_moved(query: Query, ranking: Ranking) -> bool:
    """Whether the order of ties may move a value of *query*."""
    return has_ties(ranking) and _has_tied_grades(query, group_ties(ranking))


def has_ties(ranking: Ranking) -> bool:
    """Whether any tied documents are known, found out faster than by grouping them."""
    if ranking.tail:
        return True
    exact = ranking.exact_scores
    return any(is_tie(first, second, exact=exact) for first, second in pairwise(ranking.hits))


def _has_tied_grades(query: Query, groups: Iterable[TieGroup]) -> bool:
    """Whether documents of different grades are in one of *groups*; no grade equals that of an unjudged document."""
    for group in groups:
        grades = {query.judgments.get(document) for document in group.known}
        if len(grades) > 1:
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
        A group at the same place with the same documents, and the same sort values if it has any, counts in the
        baseline's order: neither run had an order for them. Any other group counts as returned where all of its
        documents are known, then and now; else in every order of those that are known: today's, and those that tied
        with them in the baseline and are not elsewhere in today's ranking. None where the rankings are the same, or it
        is unknown which documents tie.
    """
    first, second = order_by_profile(before, suite.profile), order_by_profile(after, suite.profile)
    if [hit.id for hit in first.hits] == [hit.id for hit in second.hits]:
        return None
    groups_before, groups_today = group_ties(first), group_ties(second)
    # Hits without groups: it is unknown which of them tie.
    if not groups_today or (first.hits and not groups_before):
        return None
    # A measure that leaves unjudged documents out looks beyond its cutoff.
    limit: float = math.inf
    if measure.cutoff is not None and not settings_of(measure).values.get("judged_only"):
        limit = measure.cutoff
    only_ties = min(limit, len(first.hits)) == min(limit, len(second.hits))
    # Each group of documents in *order* may come in any order; a group of one stays at its place.
    order: list[Sequence[str]] = []
    for group, match in pair_groups(groups_today, groups_before):
        order += _arrange_group(group, match, groups_before, second)
        if group.start < limit and not _is_same_group(group, match, groups_before, second):
            only_ties = False
    tied = find_tie_range(suite, query, measure, order, len(second.hits))
    return TiedValue(tied.least, tied.greatest, only_ties and tied.exact)


def _arrange_group(
    group: TieGroup, match: TieGroup | None, groups_before: Sequence[TieGroup], today: Ranking
) -> list[Sequence[str]]:
    """
    The documents of a *group* of today, in groups that may come in any order, as `read_ties` reads them.

    *match* is the group at its place in the baseline.
    """
    if match is not None and _is_same_group(group, match, groups_before, today):
        # Neither run had an order for them: that of the baseline is as good.
        return [(document,) for document in match.shown]
    if group.closed and not _was_open(group, match):
        return [(document,) for document in group.shown]
    return [_list_candidates(group, groups_before, today)]


def _is_same_group(group: TieGroup, match: TieGroup | None, groups_before: Sequence[TieGroup], today: Ranking) -> bool:
    """Whether a *group* of today has the documents of *match*, that of the baseline, and no others may belong to it."""
    if match is None or not group.is_interchangeable_with(match):
        return False
    return not _may_have_others(group, groups_before, today)


def group_today(before: Ranking, after: Ranking) -> list[Sequence[str]]:
    """The documents of *after* in groups, each of which may come in any order, as `read_ties` reads them."""
    groups_before, groups_today = group_ties(before), group_ties(after)
    order: list[Sequence[str]] = []
    if not before.hits or groups_before:
        for group, match in pair_groups(groups_today, groups_before):
            order += _arrange_group(group, match, groups_before, after)
    # No groups: it is unknown which documents tie.
    return order or [(hit.id,) for hit in after.hits]


def _may_have_others(group: TieGroup, groups_before: Sequence[TieGroup], today: Ranking) -> bool:
    """
    Whether a document that had the score of *group* in the baseline may belong to it today.

    Where the group at the same place has that score too, such a document is one of that group, and it is known.
    """
    if group.closed or any(_has_score_of(group, other) for other in groups_before if other.start == group.start):
        return False
    return not group.known.issuperset(_list_candidates(group, groups_before, today))


def _was_open(group: TieGroup, match: TieGroup | None) -> bool:
    """Whether other documents may have tied with those of *group* in the baseline, whose group *match* is."""
    return match is not None and not match.closed and _has_score_of(group, match)


def _read_bounds_of_measure(measure: Measure, suite: Suite) -> TieRange:
    """The value where there are too many orders: it is somewhere between the bounds of the measure."""
    least, greatest = measure_range(measure, suite.gain, suite.profile)
    if least is None:
        least = -math.inf
    if greatest is None:
        greatest = math.inf
    return TieRange(least, greatest, exact=False)


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
    return tuple(order) or tuple(hit.id for hit in second.hits)


def reorder_ties(reference: Ranking, candidate: Ranking) -> Ranking:
    """
    *candidate* with documents of equal score in the order of *reference*, where these are the same documents.

    The same object comes back where no tie is reordered.
    """
    documents = [hit.id for hit in candidate.hits]
    order = restore_tie_order(reference, candidate, depth=max(len(reference.hits), len(documents)))
    if list(order) == documents:
        return candidate
    hits = {hit.id: hit for hit in (*candidate.hits, *candidate.tail)}
    settled = []
    for document, place in zip(order, candidate.hits, strict=True):
        # Scores that tie may differ by rounding. Each place keeps its own, as a profile may order by score.
        settled.append(replace(hits[document], score=place.score))
    return replace(candidate, hits=tuple(settled))


def group_both(first: Ranking, second: Ranking) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """
    The documents of two rankings of one run in groups, each of which may come in any order.

    Where both have a group at the same place with the same documents, both have it in the order of *first*, document by
    document: the engine had no order for them. Where others may belong to a group that are not known, those of the
    other ranking do that are not elsewhere: if they have its score, or if several documents tie in it, as the score of
    a document for one text says nothing of that for another one.
    """
    groups_first, groups_second = group_ties(first), group_ties(second)
    shared: dict[int, Sequence[Sequence[str]]] = {}
    for group, match in pair_groups(groups_second, groups_first):
        # Others that tie with those of one of the two might have been returned in place of these.
        if match is not None and group.is_interchangeable_with(match) and group.known == match.known:
            shared[group.start] = [(document,) for document in match.shown]
    orders = []
    for ranking, groups, others in ((first, groups_first, groups_second), (second, groups_second, groups_first)):
        order: list[Sequence[str]] = []
        for group in groups:
            order += shared.get(group.start, [_list_candidates(group, others, ranking, is_same_text=False)])
        # No groups: it is unknown which documents tie.
        orders.append(order or [(hit.id,) for hit in ranking.hits])
    return orders[0], orders[1]


def find_tie_range(
    suite: Suite, query: Query, measure: Measure, groups: Sequence[Sequence[str]], depth: int
) -> TieRange:
    """
    The range of a value over all orders of *groups*, of which *depth* documents are scored.

    Where there are too many orders, it is that of the measure; where the measure is undefined in one, it is infinite.
    """
    try:
        value_range = tie_range(measure, groups, query.judgments, depth=depth, gain=suite.gain, profile=suite.profile)
    except (UndefinedScore, MeasureError):
        return TieRange(-math.inf, math.inf, exact=False)
    return value_range if value_range.exact else _read_bounds_of_measure(measure, suite)


def pair_groups(groups: Iterable[TieGroup], before: Iterable[TieGroup]) -> Iterator[tuple[TieGroup, TieGroup | None]]:
    """
    Each of *groups*, with the group of *before* at the same place, if there is one with the same sort values.

    Where neither has sort values, the scores need not be the same: another engine may multiply all by a constant.
    """
    at_place = {group.start: group for group in before}
    for group in groups:
        match = at_place.get(group.start)
        if match is not None and match.hit.sort != group.hit.sort:
            match = None
        yield group, match


def _has_score_of(group: TieGroup, other: TieGroup) -> bool:
    """Whether *group* and *other*, of two rankings, have the same score or sort values."""
    return is_tie(group.hit, other.hit, exact=group.exact_scores or other.exact_scores)


def order_by_profile(ranking: Ranking, profile: Profile) -> Ranking:
    """*ranking* in the order that *profile* scores, which may be by score and id, whatever the engine sorted by."""
    if not rules_of(profile).sorts or any(hit.score is None for hit in ranking.hits):
        return ranking
    if any(hit.sort is not None for hit in ranking.hits):
        # Scored in another order than the engine's: neither its sort values nor what tied by them counts.
        hits = tuple(replace(hit, sort=None) for hit in ranking.hits)
        ranking = replace(ranking, hits=hits, tail=())
    by_id = {hit.id: hit for hit in ranking.hits}
    ordered = by_score(list(by_id), [hit.score for hit in by_id.values()])
    return replace(ranking, hits=tuple(by_id[document] for document in ordered))


def replace_scores(ranking: Ranking, profile: Profile) -> Ranking:
    """
    *ranking* in the order that *profile* scores, with the place of each group of ties in place of the engine's scores.

    The same documents tie as before, if it is known which do; else none. Groups at the same place of two rankings have
    the same score. So where documents may tie that neither shows, those of one may be in the other: no score rules it
    out.

    >>> ranking = Ranking((Hit("a", 7.5), Hit("b", 3.25), Hit("c", 3.25)))
    >>> [(hit.id, hit.score) for hit in replace_scores(ranking, Profile.STANDARD).hits]
    [('a', 0), ('b', -1), ('c', -1)]
    """
    ordered = order_by_profile(ranking, profile)
    groups = group_ties(ordered)
    if not groups:
        hits = tuple(Hit(hit.id, -place) for place, hit in enumerate(ordered.hits))
        return Ranking(hits, closed=True, exact_scores=True)
    hits = tuple(Hit(document, -group.start) for group in groups for document in group.shown)
    last = groups[-1]
    tail = tuple(Hit(document, -last.start) for document in last.below)
    return Ranking(hits, tail=tail, closed=last.closed, exact_scores=True)


def _list_candidates(
    group: TieGroup, before: Sequence[TieGroup], today: Ranking, *, is_same_text: bool = True
) -> tuple[str, ...]:
    """The documents that may be at the place of *group* today; the groups *before* may be those of another text."""
    candidates = [*group.shown, *group.below]
    if group.closed:
        return tuple(candidates)
    # What tied with them in the baseline may still do so, below the last hit, unless it is elsewhere by now.
    returned = {hit.id for hit in today.hits}
    for earlier_group in before:
        may_tie = _has_score_of(group, earlier_group)
        if not is_same_text and len(group.shown) > 1:
            # The score of a document for one text says nothing of that for another one.
            may_tie = True
        if may_tie:
            documents = (*earlier_group.shown, *earlier_group.below)
            candidates += [document for document in documents if document not in returned]
    return tuple(dict.fromkeys(candidates))
