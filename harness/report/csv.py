"""Scores as CSV: a row for each query and request, a column for each measure."""

from __future__ import annotations

import csv
import io

from harness.files.records import mark_as_text, mark_encoding
from harness.model.report import QueryReport, Report, SuiteReport
from harness.model.scores import Outcome
from harness.report.sentences import join_lines, printable

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
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([*COLUMNS, *map(mark_as_text, measures)])
    for suite in report.suites:
        for query in suite.queries:
            scores = [_format_score(query.scores.get(measure)) for measure in measures]
            writer.writerow([*_list_cells(suite, query), *scores])
    for missing in report.missing:
        cells = dict.fromkeys(COLUMNS, "")
        cells |= {"suite": _format_text(missing.path), "outcome": str(Outcome.NOT_RUN)}
        cells["reason"] = _format_text(join_lines(missing.reason))
        writer.writerow([*cells.values(), *("" for _ in measures)])
    return mark_encoding(written.getvalue())


def _list_cells(suite: SuiteReport, query: QueryReport) -> list[str]:
    """The cells of `COLUMNS`. Ids are as they are; a text that has several lines is one paragraph."""
    ids = [suite.name, suite.request, suite.index or "", suite.cluster, query.id]
    texts = [join_lines(query.text), ";".join(query.tags)]
    reason = _format_text(join_lines(query.reason))
    return [*map(_format_text, ids), *map(_format_text, texts), repr(query.weight), str(query.outcome), reason]


def _format_text(text: str) -> str:
    return mark_as_text(printable(text))


def _format_score(score: float | None) -> str:
    """All digits of *score*, so that the mean of a column is that of the report."""
    return "" if score is None else repr(score)
