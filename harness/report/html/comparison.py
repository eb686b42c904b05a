"""A comparison as one HTML page: what it shows is chosen and bounded here, laid out by the template."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment

from harness.model import ComparisonReport
from harness.report.comparison_words import agreement_facts, changes_text, closing, headline, method_text, scores_texts
from harness.report.figures import difference_text, p_text, plain_text
from harness.report.html import templating
from harness.report.html.comparison_page import MeasureView, SpreadView, comparison_view
from harness.report.html.page import Limits
from harness.report.html.plot import Plot, Whisker, plotted, whisker
from harness.report.html.verdict_lines import worst_status


def render(report: ComparisonReport, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    return templating.fill(
        _environment(),
        "comparison.html.jinja",
        ["report.css", "comparison.css"],
        report=report,
        view=comparison_view(report, limits or Limits()),
        status=worst_status(report.verdicts),
        product="Relevance comparison",
        headline=headline(report),
        closing=closing(report),
    )


@cache
def _environment() -> Environment:
    return templating.environment(
        {
            "agreement_facts": agreement_facts,
            "changes": changes_text,
            "difference": difference_text,
            "p": p_text,
            "scores": lambda query: tuple(scores_texts(query)),
            "spread_plot": _spread_plot,
            "method": method_text,
            "whisker": _whisker,
        }
    )


def _spread_plot(view: SpreadView) -> Plot:
    mean = view.tested.row.difference if view.tested else None
    return plotted(view.bins, mean, lambda edge: plain_text(float(f"{edge:.4g}")))


def _whisker(view: MeasureView) -> Whisker | None:
    return whisker(view.row.low, view.row.high, view.row.difference, view.end)
