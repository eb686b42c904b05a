"""A report as one HTML page: what it shows is chosen and bounded here, laid out by the template."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment

from harness.model import Report
from harness.report.figures import matching_text
from harness.report.headlines import closing, headline
from harness.report.html import templating
from harness.report.html.page import Limits, suite_views
from harness.report.overview import compared_text, overview, remarks
from harness.report.ranking_words import missing_place
from harness.report.tag_rows import figure_text


def render(report: Report, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    return templating.fill(
        _environment(),
        "report.html.jinja",
        ["report.css"],
        report=report,
        suites=suite_views(report, limits or Limits()),
        overview=overview(report),
        product="Relevance report",
        headline=headline(report),
        closing=closing(report),
    )


@cache
def _environment() -> Environment:
    return templating.environment(
        {
            "remarks": remarks,
            "matching": matching_text,
            "tag_figure": figure_text,
            "missing_place": missing_place,
            "beside": compared_text,
        }
    )
