"""What of a suite somebody has to look at: thresholds that do not hold by themselves, and the queries they blame."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest

from harness.model import QueryComparison, QueryReport, Status, SuiteReport, Verdict
from harness.report.figures import counted_text

__all__ = [
    "BAD",
    "LOOKED_AT",
    "QUERIES_OF_THRESHOLD",
    "Attention",
    "attention_of",
    "concerned_text",
    "is_told",
    "unanswered_queries",
    "worst_first",
]


BAD = (Status.FAILED, Status.INCONCLUSIVE, Status.ERROR)
"""What does not hold: the exit status is not 0."""

LOOKED_AT = (*BAD, Status.WARNED, Status.XPASSED)
"""
What somebody has to look at: a warning is there to be read, and the `xfail` of an unexpected pass, which holds, would
hide the next failure.
"""

QUERIES_OF_THRESHOLD = 3
"""The worst queries that are shown for one threshold."""

QUERIES_OF_SUITE = 10
"""The queries that are shown for all thresholds of a suite together."""

THRESHOLDS_NAMED = 5
"""Thresholds that are named with a query which concerns them."""


@dataclass(frozen=True, slots=True)
class Attention:
    """
    *verdicts* to look at, in the order of the report, without those that only say again that queries had no answer;
    *queries* that they blame, the worst of each before the second of any, and how many more are *left*.
    """

    verdicts: tuple[Verdict, ...]
    queries: tuple[QueryReport, ...]
    left: int


def attention_of(suite: SuiteReport) -> Attention:
    """What of *suite* somebody has to look at."""
    unanswered = unanswered_queries(suite)
    verdicts = [one for one in suite.verdicts if one.status in LOOKED_AT and not is_told(one, unanswered)]
    return _with_queries(verdicts, {query.id: query for query in suite.queries if query.id not in unanswered})


def unanswered_queries(suite: SuiteReport) -> frozenset[str]:
    """The ids of the queries that had no answer."""
    return frozenset(query.id for query in suite.queries if query.outcome.is_unanswered)


def is_told(verdict: Verdict, unanswered: Set[str]) -> bool:
    """Whether all there is to say of *verdict* is that queries had no answer, which is told once of all of them."""
    return verdict.status is Status.ERROR and bool(verdict.blamed) and unanswered >= set(verdict.blamed)


def concerned_text(query: QueryReport | QueryComparison, verdicts: Iterable[Verdict]) -> str:
    """Which of *verdicts* blame *query*, by their thresholds."""
    thresholds = [verdict.threshold for verdict in verdicts if query.id in verdict.blamed]
    named = thresholds[:THRESHOLDS_NAMED]
    if len(thresholds) > THRESHOLDS_NAMED:
        named.append(f"and {counted_text(len(thresholds) - THRESHOLDS_NAMED, 'more threshold')}")
    return "; ".join(named)


def _with_queries(verdicts: Sequence[Verdict], queries: Mapping[str, QueryReport]) -> Attention:
    blamed = [[name for name in verdict.blamed if name in queries] for verdict in verdicts]
    shown = worst_first([names[:QUERIES_OF_THRESHOLD] for names in blamed])[:QUERIES_OF_SUITE]
    left = len({name for names in blamed for name in names}) - len(shown)
    return Attention(tuple(verdicts), tuple(queries[name] for name in shown), left)


def worst_first(blamed: Collection[Sequence[str]]) -> list[str]:
    """The worst query of each threshold, then the second of each, and so on, each query once."""
    return list(dict.fromkeys(name for names in zip_longest(*blamed) for name in names if name is not None))
