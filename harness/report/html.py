"""
A report as one HTML page.

`harness.report.page` says what the page holds, `harness.report.templating` how it is put together and kept safe.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from jinja2 import Environment

from harness.model import Report, Status
from harness.report import templating
from harness.report.figures import counted_text, matching_text, tally_text
from harness.report.page import Limits, MeasureView, suite_views
from harness.report.plot import Plot, plotted
from harness.report.ranking_text import missing_place
from harness.report.verdict_text import BAD


def render(report: Report, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    return templating.fill(
        _environment(),
        "report.html.jinja",
        ["report.css"],
        report=report,
        suites=suite_views(report, limits or Limits()),
        product="Relevance report",
        headline=_headline(report),
        closing=_closing(report),
    )


@cache
def _environment() -> Environment:
    environment = templating.environment()
    environment.filters |= {"matching": matching_text, "missing_place": missing_place, "plotted": _plotted}
    return environment


def _headline(report: Report) -> str:
    counts = Counter(verdict.status for suite in report.suites for verdict in suite.verdicts)
    bad = sum(counts[status] for status in BAD)
    if bad:
        return f"{counted_text(bad, 'threshold')} of {sum(counts.values()):,} did not hold"
    if not counts:
        return "No threshold was decided"
    if report.exit_status != 0:
        return "Not all is well"
    waived = counts[Status.XFAILED]
    held = f"{counted_text(sum(counts.values()), 'threshold')}, all hold"
    return f"{held} but {counted_text(waived, 'expected failure')}" if waived else held


def _closing(report: Report) -> str:
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    queries = sum(len(suite.queries) for suite in report.suites)
    return f"{counted_text(len(report.suites), 'suite')}, {counted_text(queries, 'query')}: {tally_text(statuses)}"


def _plotted(view: MeasureView) -> Plot:
    return plotted(view.bins, view.summary.mean)
