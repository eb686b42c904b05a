"""Why thresholds did not hold: each with its reason, then the queries to look at, each of them once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import zip_longest

from rich.console import RenderableType
from rich.text import Text

from harness.model import Outcome, QueryReport, Status, SuiteReport, Verdict
from harness.report.figures import counted_text, untold_waiver
from harness.report.printable import printable
from harness.report.ranking_text import indented, query_renderables
from harness.report.verdict_text import LOOKED_AT, named_threshold, status_text

EXPLAINED = 50
"""Thresholds of a suite that are explained; the others have their line."""

QUERIES_OF_THRESHOLD = 3
"""The worst queries that are shown for one threshold."""

QUERIES_OF_SUITE = 10
"""The queries that are shown for all thresholds of a suite together."""

THRESHOLDS_NAMED = 5
"""Thresholds that are named with a query which concerns them."""

UNANSWERED = (Outcome.ERROR, Outcome.NOT_RUN)


def explanations(suite: SuiteReport) -> Iterator[RenderableType]:
    """Every threshold that somebody has to look at with its reason, and after them the queries that they blame."""
    unanswered = {query.id for query in suite.queries if query.outcome in UNANSWERED}
    bad = [verdict for verdict in suite.verdicts if verdict.status in LOOKED_AT and not _is_told(verdict, unanswered)]
    for verdict in bad[:EXPLAINED]:
        yield from _reason(verdict)
        yield Text()
    if len(bad) > EXPLAINED:
        left = counted_text(len(bad) - EXPLAINED, "more threshold")
        verb = "is" if len(bad) - EXPLAINED == 1 else "are"
        yield Text(f"{left} {verb} not explained here; an HTML report explains each.", style="dim")
        yield Text()
    answered = {query.id: query for query in suite.queries if query.id not in unanswered}
    yield from _blamed_queries(bad, answered)


def failure(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """One threshold by itself: its reason, and the worst of the queries that it blames."""
    yield from _reason(verdict)
    by_id = {query.id: query for query in suite.queries}
    blamed = [by_id[name] for name in verdict.blamed if name in by_id]
    for query in blamed[:QUERIES_OF_THRESHOLD]:
        yield Text()
        yield from map(indented, query_renderables(query, verdict.measure))
    if len(blamed) > QUERIES_OF_THRESHOLD:
        left = counted_text(len(blamed) - QUERIES_OF_THRESHOLD, "more query")
        yield indented(Text(f"and {left}", style="dim"))


def _is_told(verdict: Verdict, unanswered: Set[str]) -> bool:
    """Whether all there is to say of *verdict* is that queries had no answer: the lines above have told that once."""
    return verdict.status is Status.ERROR and bool(verdict.blamed) and unanswered >= set(verdict.blamed)


def _reason(verdict: Verdict) -> Iterator[RenderableType]:
    place = printable(str(verdict.mark))
    yield Text.assemble(status_text(verdict.status), "  ", named_threshold(verdict), (f"  {place}", "dim"))
    yield indented(Text(printable(verdict.reason)))
    if verdict.left_out:
        yield indented(Text(f"{counted_text(verdict.counted, 'query')} counted, {verdict.left_out:,} left out"))
    waiver = untold_waiver(verdict)
    if waiver is not None:
        yield indented(Text(printable(f"waived: {waiver}")))


def _blamed_queries(verdicts: Sequence[Verdict], queries: Mapping[str, QueryReport]) -> Iterator[RenderableType]:
    blamed = [[name for name in verdict.blamed if name in queries] for verdict in verdicts]
    shown = _worst_first([names[:QUERIES_OF_THRESHOLD] for names in blamed])[:QUERIES_OF_SUITE]
    for name in shown:
        concerned = [verdict.threshold for verdict in verdicts if name in verdict.blamed]
        yield from query_renderables(queries[name], concerns=_named(concerned))
        yield Text()
    left = len({name for names in blamed for name in names}) - len(shown)
    if left:
        verb = "is" if left == 1 else "are"
        yield Text(f"{counted_text(left, 'more query')} {verb} blamed; an HTML report shows each.", style="dim")
        yield Text()


def _worst_first(blamed: Sequence[Sequence[str]]) -> list[str]:
    """The worst query of each threshold, then the second of each, and so on, each query once."""
    return list(dict.fromkeys(name for names in zip_longest(*blamed) for name in names if name is not None))


def _named(thresholds: Sequence[str]) -> str:
    named = list(thresholds[:THRESHOLDS_NAMED])
    if len(thresholds) > THRESHOLDS_NAMED:
        named.append(f"and {counted_text(len(thresholds) - THRESHOLDS_NAMED, 'more threshold')}")
    return "; ".join(named)
