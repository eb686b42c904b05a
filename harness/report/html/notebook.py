"""A report in short, as a piece of HTML for a notebook: facts, thresholds and measures, without styles and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment

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
    return render_summary(suite.name, suite.verdicts, build_facts(suite), build_thresholds(suite), measures)


def render_summary(
    title: str, verdicts: Sequence[Verdict], facts: Facts, thresholds: Thresholds, measures: Table | None
) -> str:
    """A report on *title* in short."""
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
