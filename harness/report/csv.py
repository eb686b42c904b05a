"""Scores as CSV: a row for each query and request, a column for each measure."""

from __future__ import annotations

from harness.files.tables import format_table
from harness.model.report import QueryReport, Report, SuiteReport
from harness.model.scores import Outcome
from harness.report.safe_text import join_lines, printable

COLUMNS = ("suite", "request", "index", "cluster", "query", "text", "tags", "weight", "outcome", "reason")
"""The columns before those of measures."""


def render(report: Report) -> str:
    """
    The scores of *report*, a row for each query, suite by suite.

    A query without a score has an empty cell, as it has for a measure that its suite does not score. A cell that a
    spreadsheet would take for a formula, a number or a date begins with an apostrophe, and text beyond ASCII begins
    with a byte order mark, as in the files of `relevance judgments pool`.
    """
    measures: dict[str, None] = {}
    for suite in report.suites:
        measures |= dict.fromkeys(summary.measure for summary in suite.summaries)
    rows: list[list[object]] = []
    for suite in report.suites:
        for query in suite.queries:
            # With all digits of a score the mean of a column is that of the report.
            scores = [query.scores.get(measure) for measure in measures]
            rows.append([*_list_cells(suite, query), *scores])
    for missing in report.missing:
        cells = dict.fromkeys(COLUMNS, "")
        cells |= {"suite": printable(missing.path), "outcome": str(Outcome.NOT_RUN)}
        cells["reason"] = printable(join_lines(missing.reason))
        rows.append([*cells.values(), *("" for _ in measures)])
    return format_table([*COLUMNS, *measures], rows)


def _list_cells(suite: SuiteReport, query: QueryReport) -> list[object]:
    """The cells of `COLUMNS`. Ids are as they are; a text that has several lines is one paragraph."""
    ids = [suite.name, suite.request, suite.index or "", suite.cluster, query.id]
    texts = [join_lines(query.text), ";".join(query.tags)]
    reason = printable(join_lines(query.reason))
    return [*map(printable, ids), *map(printable, texts), query.weight, str(query.outcome), reason]
