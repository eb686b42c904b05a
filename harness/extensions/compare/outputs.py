"""A comparison as the text of a file: its kinds, and its JSON form."""

from __future__ import annotations

from harness.extensions.compare.model import ComparisonReport, PlanReport
from harness.files.versioned import VersionedJson

COMPARISON_KINDS = ("html", "json", "markdown")
"""The kinds of files that a comparison is written as."""

_FORM = VersionedJson(ComparisonReport, "comparison")

dumps_comparison = _FORM.dumps
loads_comparison = _FORM.loads
comparison_schema = _FORM.schema

_PLAN_FORM = VersionedJson(PlanReport, "plan")

dumps_plan = _PLAN_FORM.dumps
plan_schema = _PLAN_FORM.schema


def render(report: ComparisonReport, kind: str) -> str:
    """*report* as text of the *kind*, one of `COMPARISON_KINDS`."""
    if kind == "json":
        return dumps_comparison(report)
    if kind == "html":
        from harness.extensions.compare import page

        return page.render(report)
    if kind == "markdown":
        from harness.extensions.compare.printers import render_markdown

        return render_markdown(report)
    raise ValueError(f"no form of a comparison is called {kind!r}")
