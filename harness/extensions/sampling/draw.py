"""
Draws queries from the distinct queries of a log: the most frequent, at random, in proportion to traffic, or by strata.

Each query has a random number of its own, made from its text and the seed. So the sample depends neither on the order
of the lines nor on the other queries: a larger sample, or one of the next month's log, keeps most of the queries of
this one, which are judged already. Pure.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from itertools import chain, groupby


class Way(StrEnum):
    """How queries are drawn."""

    FREQUENCY = "frequency"
    """The most frequent ones."""
    RANDOM = "random"
    """Each distinct query with the same probability."""
    TRAFFIC = "traffic"
    """Each with a probability that is proportional to its traffic."""
    STRATA = "strata"
    """As many from the head as from the torso and the tail, in proportion to traffic in each."""


class Stratum(StrEnum):
    """A part of the queries, by their traffic; see `assign_strata`."""

    HEAD = "head"
    TORSO = "torso"
    TAIL = "tail"


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A distinct query of a log."""

    key: str
    """Its folded text, the same for all its spellings."""
    text: str
    """Its most frequent spelling."""
    traffic: int
    """The number of searches, at least 1."""


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """What to draw."""

    way: Way
    size: int
    """The number of queries, at least 1."""
    seed: int


@dataclass(frozen=True, slots=True)
class DrawnQuery:
    """A query of a sample."""

    query: LoggedQuery
    stratum: Stratum
    weight: float
    """
    The number of searches that it stands for: with `Way.TRAFFIC` and `Way.STRATA` its traffic over the probability with
    which it was drawn, with the other ways its traffic.
    """


@dataclass(frozen=True, slots=True)
class StratumShare:
    """The distinct queries of a stratum and their traffic: all of the log, and those in the sample."""

    stratum: Stratum
    queries: int
    traffic: int
    least_traffic: int
    """Of a query of the stratum; 0 if it has none."""
    most_traffic: int
    drawn: int
    drawn_traffic: int


@dataclass(frozen=True, slots=True)
class Sample:
    """The queries that were drawn, those with most traffic first, and the strata of the log."""

    plan: SamplePlan
    queries: tuple[DrawnQuery, ...]
    strata: tuple[StratumShare, ...]


def draw_sample(queries: Iterable[LoggedQuery], plan: SamplePlan) -> Sample:
    """
    Draw queries as *plan* says; all of them, if there are no more than its size.

    >>> log = [LoggedQuery(text, text, traffic) for text, traffic in (("tent", 60), ("rope", 30), ("cam", 10))]
    >>> [drawn.query.text for drawn in draw_sample(log, SamplePlan(Way.FREQUENCY, 2, 1)).queries]
    ['tent', 'rope']
    """
    by_stratum = assign_strata(queries)
    weights = _draw_weights(by_stratum, plan)
    drawn = []
    shares = []
    for stratum, members in by_stratum.items():
        drawn_members = [query for query in members if query.key in weights]
        drawn_of_stratum = [DrawnQuery(query, stratum, weights[query.key]) for query in drawn_members]
        shares.append(_describe_stratum(stratum, members, drawn_of_stratum))
        drawn += drawn_of_stratum
    drawn.sort(key=lambda query: (-query.query.traffic, query.query.key))
    return Sample(plan, tuple(drawn), tuple(shares))


def _draw_weights(by_stratum: Mapping[Stratum, Sequence[LoggedQuery]], plan: SamplePlan) -> dict[str, float]:
    """The weights of the queries that are drawn, by key."""
    if plan.way is Way.STRATA:
        sizes = allocate_evenly(plan.size, {stratum: len(members) for stratum, members in by_stratum.items()})
        weights: dict[str, float] = {}
        for stratum, members in by_stratum.items():
            weights |= draw_by_traffic(members, sizes[stratum], plan.seed)
        return weights
    queries = list(chain.from_iterable(by_stratum.values()))
    if plan.way is Way.TRAFFIC:
        return draw_by_traffic(queries, plan.size, plan.seed)

    def rank_by_number(query: LoggedQuery) -> float:
        return draw_number(query.key, plan.seed)

    def rank_by_traffic(query: LoggedQuery) -> tuple[int, float]:
        # Among queries of equal traffic the seed decides: the order of the alphabet would prefer some words.
        return -query.traffic, draw_number(query.key, plan.seed)

    if plan.way is Way.RANDOM:
        chosen = heapq.nsmallest(plan.size, queries, key=rank_by_number)
    else:
        chosen = heapq.nsmallest(plan.size, queries, key=rank_by_traffic)
    return {query.key: float(query.traffic) for query in chosen}


def _describe_stratum(stratum: Stratum, members: Sequence[LoggedQuery], drawn: Sequence[DrawnQuery]) -> StratumShare:
    """The figures of *stratum*, whose queries in the log are *members*, and those in the sample *drawn*."""
    traffics = [query.traffic for query in members]
    return StratumShare(
        stratum,
        queries=len(members),
        traffic=sum(traffics),
        least_traffic=min(traffics, default=0),
        most_traffic=max(traffics, default=0),
        drawn=len(drawn),
        drawn_traffic=sum(query.query.traffic for query in drawn),
    )


def assign_strata(queries: Iterable[LoggedQuery]) -> dict[Stratum, list[LoggedQuery]]:
    """
    The queries of each stratum, those with most traffic first.

    The queries in the order of their traffic make up the head until a third of all traffic is reached, then the torso
    until two thirds, then the tail. Queries of equal traffic are in the same stratum, the one in which the middle of
    their traffic lies; those with most traffic are always in the head, those with least in the tail.

    >>> log = [LoggedQuery(text, text, traffic) for text, traffic in (("a", 40), ("b", 30), ("c", 15), ("d", 15))]
    >>> {str(stratum): [query.key for query in members] for stratum, members in assign_strata(log).items()}
    {'head': ['a'], 'torso': ['b'], 'tail': ['c', 'd']}
    """
    ordered = sorted(queries, key=lambda query: (-query.traffic, query.key))
    total = sum(query.traffic for query in ordered)
    by_stratum: dict[Stratum, list[LoggedQuery]] = {stratum: [] for stratum in Stratum}
    traffic_before = 0
    for traffic, group in groupby(ordered, key=lambda query: query.traffic):
        members = list(group)
        traffic_of_members = traffic * len(members)
        # Whole numbers, so that no rounding decides: twice the traffic at the middle of these queries.
        middle_doubled = 2 * traffic_before + traffic_of_members
        if traffic_before + traffic_of_members == total:
            stratum = Stratum.TAIL
        elif traffic_before == 0 or 3 * middle_doubled <= 2 * total:
            stratum = Stratum.HEAD
        elif 3 * middle_doubled <= 4 * total:
            stratum = Stratum.TORSO
        else:
            stratum = Stratum.TAIL
        by_stratum[stratum] += members
        traffic_before += traffic_of_members
    return by_stratum


def allocate_evenly(size: int, available: Mapping[Stratum, int]) -> dict[Stratum, int]:
    """
    Divide *size* among strata as evenly as the number of *available* queries in each allows.

    What a small stratum cannot give is divided among the others; of a remainder the rarer strata get one each.

    >>> sizes = allocate_evenly(10, {Stratum.HEAD: 2, Stratum.TORSO: 50, Stratum.TAIL: 900})
    >>> {str(stratum): number for stratum, number in sizes.items()}
    {'head': 2, 'torso': 4, 'tail': 4}
    """
    sizes = dict.fromkeys(available, 0)
    remaining = min(size, sum(available.values()))
    # The smallest stratum first: what it cannot give is divided among those that follow.
    smallest_first = sorted(available, key=lambda stratum: (available[stratum], stratum))
    for number, stratum in enumerate(smallest_first):
        even_share = remaining // (len(smallest_first) - number)
        sizes[stratum] = min(available[stratum], even_share)
        remaining -= sizes[stratum]
    return sizes


def draw_by_traffic(queries: Sequence[LoggedQuery], size: int, seed: int) -> dict[str, float]:
    """
    Draw *size* of *queries*, each at most once, with probabilities that are proportional to their traffic.

    Pareto sampling: the random number u of each query, as odds, is divided by the odds of its inclusion probability,
    and the smallest results are drawn. The number of queries is exact; the probabilities are within three per cent of
    those aimed at if there are a dozen queries, and within six if there are five.

    Args:
        queries: Distinct queries.
        size: How many to draw, at least 0; all queries, if there are no more.
        seed: Together with the key of a query it makes the random number.

    Returns:
        The weights of the queries that were drawn, by key: traffic over inclusion probability. They add up to the
        traffic of *queries*, so that their weighted mean of any value estimates the mean over all searches (Horvitz and
        Thompson, JASA 1952).

    Source: Rosén, On sampling with probability proportional to size, Journal of Statistical Planning and Inference 62
    (1997).
    """
    if size == 0:
        return {}
    ordered = sorted(queries, key=lambda query: (-query.traffic, query.key))
    certain, traffic_of_others = split_certain([query.traffic for query in ordered], size)
    weights = {query.key: float(query.traffic) for query in ordered[:certain]}
    to_draw = min(size, len(ordered)) - certain
    if to_draw == 0:
        return weights
    ranked_keys = []
    for query in ordered[certain:]:
        probability = to_draw * query.traffic / traffic_of_others
        number = draw_number(query.key, seed)
        ranking = number / (1 - number) * (1 - probability) / probability
        ranked_keys.append((ranking, query.key))
    for _, key in heapq.nsmallest(to_draw, ranked_keys):
        weights[key] = traffic_of_others / to_draw
    return weights


def split_certain(traffics: Sequence[int], size: int) -> tuple[int, int]:
    """
    How many of the queries with *traffics*, the greatest first, are in every sample of *size*.

    A query cannot be in a sample more than once: where its share of the sample would be 1 or more it is always drawn,
    and the others share what remains.

    Returns:
        Their number, and the traffic of all others.

    >>> split_certain([60, 30, 5, 5], 2)
    (1, 40)
    """
    certain, traffic_of_others = 0, sum(traffics)
    for traffic in traffics[:size]:
        if (size - certain) * traffic < traffic_of_others:
            break
        certain += 1
        traffic_of_others -= traffic
    return certain, traffic_of_others


def draw_number(key: str, seed: int) -> float:
    """
    The random number of the query *key*, above 0 and below 1, the same on every machine.

    >>> draw_number("red shoes", 1) == draw_number("red shoes", 1) != draw_number("red shoes", 2)
    True
    """
    digest = blake2b(f"{seed} {key}".encode(), digest_size=8).digest()
    # 52 bits and a half: one bit more could be rounded to 1.
    return math.ldexp((int.from_bytes(digest, "big") >> 12) + 0.5, -52)
