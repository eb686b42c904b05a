"""Numbers formatted for people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness.model.report import MeasureSummary, QueryReport
from harness.model.run import Status, Unit, Verdict
from harness.model.suite import Operator
from harness.statistics.mean_intervals import find_fewest
from harness.words import count, grouped, listed

_PLURALS = {
    Status.ERROR: "errors",
    Status.XFAILED: "expected failures",
    Status.XPASSED: "unexpected passes",
}

_DIGITS = 4
"""Decimals of a score, unless two numbers that differ would then look the same."""


MEAN_INTERVAL = "95 % interval"
"""The name of the interval of a mean."""


def format_score(value: float | None, digits: int = _DIGITS) -> str:
    """*value* with *digits* decimals; a dash where there is none; no minus sign before a zero."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return f"{value}"
    return f"{value:z.{digits}f}"


def format_hit_score(score: int | float | None) -> str:
    """
    The score that the server gave a hit; a dash where there is none.

    >>> format_hit_score(578730123365711993), format_hit_score(3.41968)
    ('578730123365711993', '3.4197')
    """
    if score is None:
        return "–"
    if isinstance(score, int):
        return str(score)
    return f"{score:.5g}"


def format_difference(value: float | None) -> str:
    """
    A difference with its sign and the decimals of a score; no sign before a zero.

    >>> format_difference(0.0312), format_difference(-0.00001)
    ('+0.0312', '0.0000')
    """
    if value is None or not math.isfinite(value):
        return format_score(value)
    is_zero = abs(value) < 0.5 * 10**-_DIGITS
    if is_zero:
        return format_score(0.0)
    return f"{value:+.{_DIGITS}f}"


def format_limits(low: float | None, high: float | None) -> str:
    """The differences from *low* to *high*; None where there is no limit."""
    if low is None and high is None:
        return "–"
    if low is None:
        return f"up to {_format_limit(high)}"
    if high is None:
        return f"from {_format_limit(low)}"
    return f"{_format_limit(low)} to {_format_limit(high)}"


def _format_limit(limit: float | None) -> str:
    """*limit* as a difference; one that is not 0 has digits enough to show on which side of 0 it is."""
    text = format_difference(limit)
    if limit and text == format_difference(0.0):
        return f"{limit:+.2g}"
    return text


def format_change(before: float, now: float) -> str:
    """
    How a figure changed: the difference with its sign, ``=`` where no decimal of a score shows one.

    >>> format_change(0.5, 0.4688), format_change(0.5, 0.50001)
    ('-0.0312', '=')
    """
    difference = f"{now - before:+.{_DIGITS}f}"
    if float(difference) == 0:
        return "="
    return difference


def format_p(value: float) -> str:
    """
    A p-value, never rounded to 0.

    >>> format_p(0.0123), format_p(0.00001)
    ('0.0123', '< 0.0001')
    """
    if value < 0.0001:
        return "< 0.0001"
    return f"{value:.4f}"


def name_mean_column(*, weighted: bool) -> str:
    """The heading of a column of means."""
    if weighted:
        return "mean (weighted)"
    return "mean"


def explain_no_interval(summary: MeasureSummary) -> str:
    """Why the mean of *summary* has no interval, if that is for the weights of its queries; else empty."""
    if summary.interval is not None:
        return ""
    return explain_few_by_weights(summary.counted, summary.counts_as)


def explain_few_by_weights(queries: int, counts_as: int | None) -> str:
    """
    That *queries* count as too few by their weights for an interval; empty where they do not, or have none.

    So few queries that they would have no interval without weights either need no such reason.
    """
    fewest = find_fewest(queries)
    if counts_as is None or counts_as >= fewest or queries < fewest:
        return ""
    return f"its {count(queries, 'query')} count as {counts_as:,} by their weights, expected at least {fewest:,}"


def list_missing_intervals(summaries: Iterable[MeasureSummary]) -> list[str]:
    """A sentence for the means without an interval for the weights of the same number of queries."""
    by_reason = grouped((explain_no_interval(summary), summary.measure) for summary in summaries)
    sentences = []
    for reason, measures in by_reason.items():
        if reason:
            sentences.append(f"no {MEAN_INTERVAL} of the mean of {listed(measures)}: {reason}")
    return sentences


def format_mean_interval(interval: tuple[float, float] | None) -> str:
    """
    From where to where the interval of a mean is; a dash where it has none.

    >>> format_mean_interval((0.71234, 0.8))
    '0.7123 to 0.8000'
    """
    if interval is None:
        return "–"
    return " to ".join(map(format_score, interval))


def format_value(value: float | None) -> str:
    """A grade, a gain or a required number: whole ones in full, others with six significant digits."""
    if value is None:
        return "–"
    if isinstance(value, int) or (math.isfinite(value) and value == int(value) and abs(value) < 1e15):
        return f"{int(value)}"
    return f"{value:.6g}"


def format_verdict_figure(verdict: Verdict) -> str:
    """
    The observed number of *verdict* with its unit, and enough decimals to distinguish it from the required one.

    0.79996 against 0.8 reads 0.79996: rounded to four decimals, a failure would look like a pass.
    """
    if verdict.unit is Unit.RANK:
        return _format_rank(verdict)
    if verdict.unit in (Unit.DROP, Unit.SHARE) and verdict.observed is not None and verdict.observed < 0:
        return _format_rise(verdict)
    if verdict.unit is Unit.SHARE and verdict.observed is not None:
        return _format_percent(verdict.observed, verdict.required)
    if verdict.unit in _NO_SCORES and verdict.observed is not None:
        # Four decimals would show a tiny p-value as 0.
        if verdict.unit is Unit.P_VALUE and 0 < verdict.observed < 5e-5:
            return f"{verdict.unit} {verdict.observed:.1e}"
        return f"{verdict.unit} {_format_observed(verdict)}"
    text = _add_unit(_format_observed(verdict), verdict.observed, verdict.unit)
    if verdict.bounds is not None:
        low, high = verdict.bounds
        text += f" ({low:.4f} to {high:.4f})"
    return text


def _format_rise(verdict: Verdict) -> str:
    """The observed drop, which is below 0: "drop -0.0038" would be read as a fall. Only a drop has a share below 0."""
    figure, no_change = _format_observed(verdict).lstrip("-"), "drop 0.0000"
    if verdict.unit is Unit.SHARE and verdict.observed is not None:
        figure, no_change = _format_percent(verdict.observed, verdict.required).lstrip("-"), "0%"
    # A difference from summing the same scores in another order is no rise.
    is_zero = not figure.strip("0.%")
    if is_zero:
        return no_change
    return f"rise {figure}"


_NO_SCORES = (Unit.DROP, Unit.P_VALUE)
"""Units that are written before the number, which has the decimals of a score."""


def format_required(verdict: Verdict) -> str:
    """
    The required number of *verdict* with its unit, of a rank with the comparison; a dash where there is none.

    The unit of a drop or a p-value, which the observed number has already, is left out.
    """
    if verdict.required is None:
        return format_value(None)
    if verdict.unit in _NO_SCORES:
        return format_value(verdict.required)
    if verdict.unit is Unit.RANK:
        return f"rank {verdict.operator} {verdict.required:g}"
    if verdict.unit is Unit.SHARE:
        return f"{format_value(verdict.required * 100)}%"
    return _add_unit(format_value(verdict.required), verdict.required, verdict.unit)


_MISSED: Mapping[Operator, str] = {
    Operator.AT_LEAST: "<",
    Operator.ABOVE: "<=",
    Operator.AT_MOST: ">",
    Operator.BELOW: ">=",
    Operator.EQUAL: "!=",
}
"""The comparison sign for a figure that missed what was required."""


def format_figures(verdict: Verdict) -> str:
    """
    The figures of *verdict*, which failed, before its threshold: ``0.4758 < 0.8: mean nDCG@10 >= 0.80``.

    A rank or a number of hits is written alone, as the threshold says what was required. An unexpected pass missed
    nothing: ``unexpected pass: mean nDCG@10 >= 0.80``. Empty where nothing was decided.
    """
    if verdict.is_unexpected_pass:
        return f"{Status.XPASSED}: {verdict.threshold}"
    if verdict.status not in (Status.FAILED, Status.XFAILED, Status.WARNED) or verdict.operator is None:
        return ""
    observed = format_verdict_figure(verdict)
    if verdict.unit not in (Unit.RANK, Unit.HITS):
        if verdict.observed is None or verdict.required is None:
            return ""
        observed += f" {_MISSED[verdict.operator]} {format_required(verdict)}"
    return f"{observed}: {verdict.threshold}"


def describe_caveat(verdict: Verdict) -> str:
    """The qualification of a pass: its caveat, or how far it depends on ties; empty for any other verdict."""
    if verdict.status not in (Status.PASSED, Status.NOT_DECIDED):
        return ""
    if verdict.caveat or verdict.ties is None:
        return verdict.caveat
    return f"{format_span(verdict, verdict.ties)} over the orders of ties"


def format_span(verdict: Verdict, ends: tuple[float, float]) -> str:
    """The least and the greatest observed number of *verdict*, as `format_verdict_figure` has each."""
    return " to ".join(format_verdict_figure(replace(verdict, observed=end)) for end in ends)


def _format_percent(share: float, beside: float | None) -> str:
    """*share* in per cent, with enough decimals to distinguish it from *beside*."""
    digits = 2
    shown = f"{share * 100:.{digits}f}"
    if beside is not None and share != beside:
        while digits < 16 and float(shown) == float(f"{beside * 100:.{digits}f}"):
            digits += 1
            shown = f"{share * 100:.{digits}f}"
    return f"{shown.rstrip('0').rstrip('.')}%"


def _format_rank(verdict: Verdict) -> str:
    """The rank, or that a document has none, where the verdict was decided on that."""
    if verdict.observed is not None:
        return f"rank {verdict.observed:g}"
    if verdict.counted:
        return "no rank"
    return format_value(None)


def describe_waiver(verdict: Verdict) -> str | None:
    """
    Why *verdict* is waived and until when; None where it is not, or where its reason says so already.

    The reason of an expected failure has the reason of its waiver. That of an error has not, as no waiver forgives
    errors.
    """
    waiver = verdict.waiver
    if waiver is None or waiver.reason in verdict.reason:
        return None
    if waiver.until is None:
        return waiver.reason
    return f"{waiver.reason}, until {waiver.until}"


_ONE_OF: Mapping[Unit, str] = {Unit.QUERIES: "query", Unit.HITS: "hit", Unit.VALUES: "value"}


def _add_unit(text: str, value: float | None, unit: Unit | None) -> str:
    """*text*, which is *value* formatted, followed by the name of *unit*."""
    if unit is None or value is None:
        return text
    noun = _ONE_OF.get(unit, unit) if value == 1 else unit
    return f"{text} {noun}"


def _format_observed(verdict: Verdict) -> str:
    """The observed number of *verdict* without its unit, as short as it can be told from the required one."""
    observed, required = verdict.observed, verdict.required
    has_unit = verdict.unit is not None and verdict.unit not in _NO_SCORES
    if has_unit and format_value(observed) != format_value(required):
        return format_value(observed)
    if observed is None or not math.isfinite(observed):
        return format_score(observed)
    if float(observed).is_integer() and (verdict.measure is None or verdict.unit in _ONE_OF):
        return f"{observed:.0f}"
    if required is None or observed == required:
        return format_score(observed)
    for digits in range(_DIGITS, 17):
        if round(observed, digits) != round(required, digits):
            return format_score(observed, digits)
    return repr(observed)


_NAMED = 3
"""Queries that a line names."""


def name_first(queries: Sequence[str]) -> str:
    """The first of *queries*, and an ellipsis where there are more: ``shoes, boots, hats, …``."""
    ending = ", …" if len(queries) > _NAMED else ""
    return ", ".join(queries[:_NAMED]) + ending


def count_queries(queries: Sequence[str], noun: str = "query") -> str:
    """How many *queries* there are, and the first of them: ``2 queries (shoes, boots)``."""
    return f"{count(len(queries), noun)} ({name_first(queries)})"


QUERIES_LISTED = 10

TEXT_SHOWN = 500
"""Characters of a query's id and text above its ranking: a text may be a whole document."""


def describe_queries(queries: Sequence[str]) -> str:
    """
    *queries* by their ids, as the subject of a sentence.

    >>> describe_queries(["shoes"]), describe_queries(["shoes", "boots"])
    ('query shoes', '2 queries (shoes, boots)')
    """
    if len(queries) == 1:
        return f"query {queries[0]}"
    return f"{count(len(queries), 'query')} ({listed(queries, QUERIES_LISTED)})"


def format_matching(query: QueryReport) -> str:
    """How many documents match, and that it is ``at least`` so many where the engine stopped counting."""
    if query.total is None:
        return "–"
    if query.total_is_lower_bound:
        return f"at least {query.total:,}"
    return f"{query.total:,}"


def format_tally(statuses: Iterable[Status]) -> str:
    """
    The number of each status, in the order of `Status`: ``3 passed, 2 errors``.

    >>> format_tally([Status.ERROR, Status.PASSED, Status.ERROR])
    '1 passed, 2 errors'
    """
    counts = Counter(statuses)
    shown = []
    for status in Status:
        if counts[status]:
            noun = _PLURALS.get(status, status) if counts[status] > 1 else status
            shown.append(f"{counts[status]:,} {noun}")
    return ", ".join(shown) or "no threshold"
