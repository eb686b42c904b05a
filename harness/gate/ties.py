"""Which changes of a ranking are only another order of tied documents, between which the engine had no order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise, takewhile

from harness.errors import MeasureError, UndefinedScore
from harness.metrics import measure_range, settings_of, tie_range
from harness.metrics.profiles import by_score, rules_of
from harness.model import (
    Hit,
    Json,
    Measure,
    Profile,
    Query,
    Ranking,
    RequestTemplate,
    Run,
    ScoreCondition,
    Suite,
    Threshold,
    members,
    sort_places,
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
    body = {} if template is None else _body_of(template)
    if sort_places(body):
        return "end the `sort` of the request with a unique field"
    takes_none = any(key in body for key in _UNSORTED) or any(key == "hybrid" for key, _ in members(body))
    return "" if takes_none else "break ties in the request (`sort: [_score, FIELD]`)"


def has_sort(template: RequestTemplate) -> bool:
    """Whether the request says by what its hits are sorted; a template that the engine stores does not show it."""
    return "sort" in _body_of(template)


def _body_of(template: RequestTemplate) -> Mapping[str, Json]:
    """The body of a search; empty for a template that is stored in the engine, or written as a text."""
    body = template.body if isinstance(template.body, Mapping) else {}
    inner = body.get("template")
    if not isinstance(inner, Mapping):
        return body
    source = inner.get("source")
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

    def holds_as(self, other: TieGroup) -> bool:
        """
        Whether it is at the place of *other*, and each document that either shows is known to be in both.

        The order of one is then a possible order of the other. Their scores and sort values may differ.
        """
        alike = (self.start, len(self.shown)) == (other.start, len(other.shown))
        return alike and self.known.issuperset(other.shown) and other.known.issuperset(self.shown)


def group_ties(ranking: Ranking) -> list[TieGroup]:
    """The groups of tied documents, best first, most of them of one; none where it is unknown which documents tie."""
    hits = ranking.hits
    if any(hit.score is None if hit.sort is None else not hit.sort for hit in hits):
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
    hits, rest = ranking.hits[:depth], ranking.hits[depth:]
    if not rest:
        return ranking
    tail = tuple(takewhile(lambda hit: is_tie(hits[-1], hit, exact=ranking.exact_scores), rest))
    if len(tail) < len(rest):
        return replace(ranking, hits=hits, tail=tail, closed=True)
    return replace(ranking, hits=hits, tail=(*tail, *ranking.tail))


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
    groups = [(*group.shown, *group.below) for group in group_ties(_as_measured(ranking, suite.profile))]
    depth, found = len(ranking.hits), {}
    for measure in measures if groups else ():
        with suppress(UndefinedScore, MeasureError):
            band = tie_range(measure, groups, query.judgments, depth=depth, gain=suite.gain, profile=suite.profile)
            if band.least < band.greatest:
                found[measure.text] = band.least, band.greatest
    return found


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
        found: dict[str, dict[str, tuple[float, float]]] = {}
        common = lru_cache(maxsize=64)(self._measures_of_tags)
        for query in self._suite.queries:
            ranking = self._run.responses.get(query.id)
            if not isinstance(ranking, Ranking) or not _has_ties(ranking):
                continue
            if _grades_tie(query, group_ties(ranking)):
                measures = common(query.tags) | _scored_by(query.thresholds)
                for measure, band in compute_bands(self._suite, query, ranking, measures.values()).items():
                    found.setdefault(measure, {})[query.id] = band
        return found

    def _measures_of_tags(self, tags: Collection[str]) -> dict[str, Measure]:
        """The measures of the suite's thresholds on queries with *tags*."""
        return _scored_by(one for one in self._suite.thresholds if one.tag is None or one.tag in tags)


def _scored_by(thresholds: Iterable[Threshold]) -> dict[str, Measure]:
    """The measures whose scores *thresholds* compare with a number, by their text."""
    conditions = (one.condition for one in thresholds)
    return {one.measure.text: one.measure for one in conditions if isinstance(one, ScoreCondition)}


def _has_ties(ranking: Ranking) -> bool:
    """Whether any tied documents are known, found out faster than by grouping them."""
    exact = ranking.exact_scores
    return bool(ranking.tail) or any(is_tie(first, second, exact=exact) for first, second in pairwise(ranking.hits))


def _grades_tie(query: Query, groups: Iterable[TieGroup]) -> bool:
    """Whether documents of different grades are in one of *groups*; no grade equals that of an unjudged document."""
    return any(len({query.judgments.get(one) for one in group.known}) > 1 for group in groups)


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


def read_ties(
    suite: Suite, query: Query, measure: Measure, before: Ranking, after: Ranking, *, depth: int
) -> TiedValue | None:
    """
    Read today's ranking with ties in the baseline's order, as far as the same documents tie.

    Args:
        suite: Gives the gain and the profile.
        query: Gives the judgments.
        measure: Looks down to its cutoff; a group of ties that begins there is looked at whole.
        before: The baseline's ranking.
        after: The ranking of today.
        depth: The number of hits that both requested.

    Returns:
        A group at the same place with the same documents, and the same sort values if it has any, counts in the
        baseline's order: neither run had an order for them. Any other group counts as returned where all of its
        documents are known, then and now; else in every order of those that are known: today's, and those that tied
        with them in the baseline and are not elsewhere in today's ranking. None where the rankings are the same, or it
        is unknown which documents tie.
    """
    first, second = (_as_measured(truncate_ranking(one, depth), suite.profile) for one in (before, after))
    old, new = group_ties(first), group_ties(second)
    known = new and (old or not first.hits)
    if not known or [hit.id for hit in first.hits] == [hit.id for hit in second.hits]:
        return None
    condensed = settings_of(measure).values.get("judged_only")
    limit = depth if condensed or measure.cutoff is None else measure.cutoff
    only_ties = min(limit, len(first.hits)) == min(limit, len(second.hits))
    order: list[Sequence[str]] = []
    for group, match in pair_groups(new, old):
        if match is not None and group.holds_as(match):
            order += [(document,) for document in match.shown]
            continue
        only_ties = only_ties and group.start >= limit
        was_closed = match is None or match.closed or not _has_score_of(group, match)
        if group.closed and was_closed:
            order += [(document,) for document in group.shown]
        else:
            order.append(_candidates(group, old, second))
    try:
        depth = len(second.hits)
        found = tie_range(measure, order, query.judgments, depth=depth, gain=suite.gain, profile=suite.profile)
    except (UndefinedScore, MeasureError):
        return TiedValue(-math.inf, math.inf)
    if found.exact:
        return TiedValue(found.least, found.greatest, only_ties)
    least, greatest = measure_range(measure, suite.gain, suite.profile)
    return TiedValue(-math.inf if least is None else least, math.inf if greatest is None else greatest)


def restore_tie_order(before: Ranking, after: Ranking, *, depth: int) -> tuple[str, ...]:
    """The documents of *after*; a group of ties with the same documents in *before* takes its order from there."""
    first, second = truncate_ranking(before, depth), truncate_ranking(after, depth)
    order: list[str] = []
    for group, match in pair_groups(group_ties(second), group_ties(first)):
        order += match.shown if match is not None and group.holds_as(match) else group.shown
    return tuple(order) or tuple(hit.id for hit in second.hits)


def pair_groups(groups: Iterable[TieGroup], before: Iterable[TieGroup]) -> Iterator[tuple[TieGroup, TieGroup | None]]:
    """
    Each of *groups*, with the group of *before* at the same place, if there is one with the same sort values.

    Where neither has sort values, the scores need not be the same: another engine may multiply all by a constant.
    """
    at_place = {group.start: group for group in before}
    for group in groups:
        match = at_place.get(group.start)
        yield group, match if match is not None and match.hit.sort == group.hit.sort else None


def _has_score_of(group: TieGroup, other: TieGroup) -> bool:
    """Whether *group* and *other*, of two rankings, have the same score or sort values."""
    return is_tie(group.hit, other.hit, exact=group.exact_scores or other.exact_scores)


def _as_measured(ranking: Ranking, profile: Profile) -> Ranking:
    """*ranking* in the order that *profile* scores, which may be by score and id, whatever the engine sorted by."""
    if not rules_of(profile).sorts or any(hit.score is None for hit in ranking.hits):
        return ranking
    is_sorted = any(hit.sort is not None for hit in ranking.hits)
    by_id = {hit.id: replace(hit, sort=None) if is_sorted else hit for hit in ranking.hits}
    ordered = by_score(list(by_id), [hit.score for hit in by_id.values()])
    tail = () if is_sorted else ranking.tail
    return replace(ranking, hits=tuple(by_id[document] for document in ordered), tail=tail)


def _candidates(group: TieGroup, before: Sequence[TieGroup], today: Ranking) -> tuple[str, ...]:
    """The documents that may be at the place of *group* today."""
    found = dict.fromkeys((*group.shown, *group.below))
    if not group.closed:
        elsewhere = {hit.id for hit in today.hits}
        tied = (one for one in before if _has_score_of(group, one))
        found |= dict.fromkeys(
            document for one in tied for document in (*one.shown, *one.below) if document not in elsewhere
        )
    return tuple(found)
