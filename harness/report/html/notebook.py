"""A report in short, as a piece of HTML for a notebook: facts, thresholds and measures, without styles and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment

from harness.extensions.compare.comparison_document import (
    build_comparison_facts,
    build_comparison_table,
    build_comparison_thresholds,
)
from harness.extensions.compare.sentences import find_pool_command
from harness.model.comparison import ComparisonReport
from harness.model.report import SuiteReport
from harness.model.run import Verdict
from harness.report.document import Facts, Table, Thresholds
from harness.report.html import make_environment
from harness.report.run_document import build_facts, build_measures_table, build_thresholds

THRESHOLDS = 10
"""The most thresholds that are shown: a notebook shows the report among much else."""


def render_run_summary(suite: SuiteReport) -> str:
    """The facts, the thresholds, the worst first, and the measures of *suite*."""
    measures = build_measures_table(suite) if suite.summaries else None
    return _render(suite.name, suite.verdicts, build_facts(suite), build_thresholds(suite), measures)


def render_comparison_summary(report: ComparisonReport) -> str:
    """The two sides, the thresholds and the differences of *report*."""
    measures = build_comparison_table(report.measures) if report.measures else None
    thresholds = build_comparison_thresholds(report.verdicts, find_pool_command(report))
    return _render(report.suite, report.verdicts, build_comparison_facts(report), thresholds, measures)


def _render(
    title: str, verdicts: Sequence[Verdict], facts: Facts, thresholds: Thresholds, measures: Table | None
) -> str:
    shown = thresholds.thresholds[:THRESHOLDS]
    return (
        _make_notebook_environment()
        .get_template("notebook.html.jinja")
        .render(
            title=title,
            verdicts=verdicts,
            facts=facts,
            thresholds=thresholds,
            shown=shown,
            more=len(thresholds.thresholds) - len(shown) + thresholds.passed_of_queries,
            measures=measures,
        )
    )


@cache
def _make_notebook_environment() -> Environment:
    return make_environment({})
