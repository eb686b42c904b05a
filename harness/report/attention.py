"""What of a report needs attention: one decision for all outputs, on values."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from harness.gate.selection import interleave_blamed
from harness.model.report import QueryReport, SuiteReport
from harness.model.run import Status, Unit, Verdict
from harness.model.scores import Outcome

BAD = (Status.FAILED, Status.INCONCLUSIVE, Status.ERROR)
"""The statuses of thresholds that do not hold: the exit status is not 0."""

LOOKED_AT = (*BAD, Status.WARNED, Status.XPASSED)
"""
Statuses that need attention: a warning is meant to be read, and the `xfail` of an unexpected pass would hide the next
failure.
"""

_WORST_FIRST = (
    Status.ERROR,
    Status.INCONCLUSIVE,
    Status.FAILED,
    Status.WARNED,
    Status.XPASSED,
    Status.XFAILED,
    Status.NOT_DECIDED,
    Status.PASSED,
    Status.SKIPPED,
)

QUERIES_OF_THRESHOLD = 3
"""The worst queries that are shown for one threshold."""

QUERIES_OF_SUITE = 10
"""The queries that are shown for all thresholds of a suite together."""

_LEAST_JUDGED = 0.5
"""The share of judged hits below which a report warns: most of what users see then does not count."""


@dataclass(frozen=True, slots=True)
class Attention:
    """
    *verdicts* that need attention, the worst first, without those that only repeat that queries had no answer; the
    *queries* that they blame, the worst of each before the second of any, and the *more_queries* that they blame.

    With a baseline, the queries that fell come first, and among them the one that fell most.
    """

    verdicts: tuple[Verdict, ...]
    queries: tuple[QueryReport, ...]
    more_queries: tuple[QueryReport, ...]


def find_attention(suite: SuiteReport) -> Attention:
    """What needs attention in *suite*; where the run only reports, all its answered queries, if these are few."""
    unanswered = suite.unanswered
    verdicts = [verdict for verdict in order_verdicts(suite.verdicts) if needs_attention(verdict, unanswered)]
    if suite.report_only and len(suite.queries) - len(unanswered) <= QUERIES_OF_SUITE:
        sent = [query.id for query in suite.queries if query.outcome is not Outcome.SKIPPED]
        answered = [query for query in sent if query not in unanswered]
        return Attention(tuple(verdicts), tuple(suite.find_queries(answered)), ())

    # A threshold may blame queries that are not in the report.
    in_report: set[str] = set()
    if any(verdict.blamed for verdict in verdicts):
        in_report = {query.id for query in suite.queries}
    blamed_by_verdict = []
    all_blamed: dict[str, None] = {}
    for verdict in verdicts:
        blamed = [query for query in order_blamed(suite, verdict) if query in in_report and query not in unanswered]
        blamed_by_verdict.append(blamed[:QUERIES_OF_THRESHOLD])
        all_blamed.update(dict.fromkeys(blamed))
    shown = interleave_blamed(blamed_by_verdict)[:QUERIES_OF_SUITE]
    queries = suite.find_queries(shown)
    more = suite.find_queries([query for query in all_blamed if query not in shown])
    if suite.baseline is not None:
        queries, more = _order_by_fall(queries, verdicts), _order_by_fall(more, verdicts)
    return Attention(tuple(verdicts), tuple(queries), tuple(more))


COMPARING = (Unit.DROP, Unit.P_VALUE, Unit.QUERIES)
"""The units of thresholds that compare with a baseline: the gate orders what they blame by its fall."""


def order_blamed(suite: SuiteReport, verdict: Verdict) -> list[str]:
    """
    The queries that *verdict* blames: those that fell since the baseline first, by how much each lowered the mean.

    The others follow, the worst first, and expected failures last. A query that was as bad before may have the lowest
    score of all, and says nothing about the change. Without a baseline the order is that of the gate.
    """
    blamed = list(verdict.blamed)
    if suite.baseline is None or verdict.unit in COMPARING or len(blamed) < 2:
        return blamed
    expected_to_fail = {other.query for other in suite.verdicts if other.status is Status.XFAILED}
    falls = {query.id: measure_fall(query, verdict.measure) for query in suite.find_queries(blamed)}

    def rank_query(query: str) -> tuple[float, bool]:
        return -falls.get(query, 0.0), query in expected_to_fail

    return sorted(blamed, key=rank_query)


def _order_by_fall(queries: Sequence[QueryReport], verdicts: Sequence[Verdict]) -> list[QueryReport]:
    """*queries* by the worst status of *verdicts* that blame them, and those of one status by their fall."""

    def rank_query(query: QueryReport) -> tuple[int, float]:
        blaming = [verdict for verdict in verdicts if query.id in verdict.blamed]
        worst_status = min(_WORST_FIRST.index(verdict.status) for verdict in blaming)
        greatest_fall = max(measure_fall(query, verdict.measure) for verdict in blaming)
        return worst_status, -greatest_fall

    return sorted(queries, key=rank_query)


def measure_fall(query: QueryReport, measure: str | None) -> float:
    """
    How much *query* lowered the mean of *measure* since the baseline: its weight times its fall, 0 if it did not fall.

    Where a threshold is on no measure, such as one on a rank, the measure that fell most counts.
    """
    if query.baseline is None:
        return 0.0
    falls = [0.0]
    for name, before in query.baseline.scores.items():
        now = query.scores.get(name)
        if now is not None and measure in (name, None):
            falls.append(before - now)
    return query.weight * max(falls)


def needs_attention(verdict: Verdict, unanswered: Container[str]) -> bool:
    """
    Whether *verdict* needs attention; one that was not decided does if it blames a query.

    One that only repeats that queries are *unanswered* does not: that is reported once for all of them.
    """
    if verdict.status in LOOKED_AT or (verdict.status is Status.NOT_DECIDED and verdict.blamed):
        return not only_repeats_unanswered(verdict, unanswered)
    return False


def order_verdicts(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """*verdicts*, the worst first, and of one status in the order of the suite; passed ones of single queries last."""
    return sorted(verdicts, key=lambda verdict: (is_passed_of_query(verdict), _WORST_FIRST.index(verdict.status)))


def only_repeats_unanswered(verdict: Verdict, unanswered: Container[str]) -> bool:
    """Whether *verdict* only repeats that queries had no answer, which is reported once for all of them."""
    has_no_figure = verdict.status is Status.ERROR or (
        verdict.status is Status.NOT_DECIDED and verdict.observed is None
    )
    return has_no_figure and bool(verdict.blamed) and all(query in unanswered for query in verdict.blamed)


def split_unanswered(suite: SuiteReport) -> tuple[list[Verdict], list[Verdict]]:
    """If no query has an answer: the verdicts that only repeat that, and the others; else none, and all."""
    unanswered = suite.unanswered
    if not unanswered or len(unanswered) < len(suite.queries):
        return [], list(suite.verdicts)
    repeating: list[Verdict] = []
    others: list[Verdict] = []
    for verdict in suite.verdicts:
        if only_repeats_unanswered(verdict, unanswered):
            repeating.append(verdict)
        else:
            others.append(verdict)
    return repeating, others


def find_repeated_causes(suite: SuiteReport) -> dict[str, Verdict]:
    """
    The verdicts that fail for the same queries without a score as another one, by id, each with the first of these.

    One query without a relevant document is one cause, however many thresholds it fails.
    """
    failed = [verdict for verdict in order_verdicts(suite.verdicts) if verdict.status is Status.FAILED]
    failed = [verdict for verdict in failed if verdict.observed is None and verdict.query is None and verdict.blamed]
    if len(failed) < 2:
        return {}
    scores = {query.id: query.scores for query in suite.queries if not query.outcome.is_unanswered}
    first_by_queries: dict[tuple[str, ...], Verdict] = {}
    repeated = {}
    for verdict in failed:
        # A query that has a score by the measure is to blame for something else.
        measure = verdict.measure or ""
        if any(query not in scores or scores[query].get(measure) is not None for query in verdict.blamed):
            continue
        first = first_by_queries.setdefault(tuple(sorted(verdict.blamed)), verdict)
        if first is not verdict:
            repeated[verdict.id] = first
    return repeated


def is_passed_of_query(verdict: Verdict) -> bool:
    """Whether *verdict* is a passed threshold of a single query: there may be thousands, and none needs a look."""
    return verdict.query is not None and verdict.status is Status.PASSED


def is_hardly_judged(hits: int, judged: int) -> bool:
    """Whether so few of *hits* are judged that scores say little."""
    return hits > 0 and judged / hits < _LEAST_JUDGED


def lacks_judgments(suite: SuiteReport) -> bool:
    """
    Whether so few hits of *suite* are judged that its scores say little, or that none can be made.

    A suite without scores needs no judgment if its queries are compared with another request, or no result is right.
    """
    needs_none = not suite.summaries and all(query.compared or query.nothing for query in suite.queries)
    return not needs_none and is_hardly_judged(suite.hits, suite.judged_hits)


def list_looked_at(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Those of *verdicts* whose status needs attention, the worst first."""
    return [verdict for verdict in order_verdicts(verdicts) if verdict.status in LOOKED_AT]
