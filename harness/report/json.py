"""JSON that is written and read back: reports, comparisons, scores of run files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.files.versioned import LineWriter, VersionedJson, escape_json_commands
from harness.model.inspection import QueryInspection
from harness.model.report import QueryReport, Report
from harness.model.run import Unit, Verdict
from harness.model.suite import Json, Measure
from harness.model.timing import LatencyFigures
from harness.report.run_sentences import list_next_commands

if TYPE_CHECKING:
    from harness.metrics.evaluate import RunScores


_REPORT_FORM = VersionedJson(Report, "report")


def report_schema() -> dict[str, Any]:
    """The JSON Schema of what `dumps_report` writes."""
    schema = _REPORT_FORM.schema()
    schema["$defs"]["SuiteReport"]["properties"]["next"] = {
        "default": [],
        "description": "The commands to go on with, each as the list of its words.",
        "items": {"items": {"type": "string"}, "type": "array"},
        "title": "Next",
        "type": "array",
    }
    return schema


NO_QUERIES = '\n      "queries": []'
"""The queries of a suite without any. No string of JSON holds a line break, so nothing else in a report matches it."""


@cache
def _make_query_writer() -> LineWriter[QueryReport]:
    return LineWriter(QueryReport)


def dumps_report(report: Report) -> str:
    """*report* as JSON text, a query a line."""
    return "".join(dump_report_parts(report))


def dump_report_parts(report: Report) -> Iterator[str]:
    """
    *report* as JSON text, a query a line, in parts that need not be in memory at once.

    Each suite has the commands to go on with, under ``next``. Figures of verdicts that depend on latencies are in their
    `timing`.
    """
    suites = tuple(replace(suite, queries=()) for suite in report.suites)
    plain = _REPORT_FORM.dump_plain(_change_verdicts(replace(report, suites=suites), _separate_latency))
    for suite, plain_suite in zip(report.suites, plain["suites"], strict=True):
        plain_suite["next"] = list_next_commands(suite)
    rest = _REPORT_FORM.encode(plain)
    for suite in report.suites:
        before, _, rest = rest.partition(NO_QUERIES)
        yield f"{before}{NO_QUERIES[:-1]}"
        for place, query in enumerate(suite.queries):
            # A copy: the rows that are made to be written need not be in memory behind the line.
            yield f"{',' if place else ''}\n        {_make_query_writer().dump(query.change())}"
        yield "\n      ]" if suite.queries else "]"
    yield rest


def read_report(path: Path) -> Report:
    """
    Read the file that has what `dumps_report` wrote.

    Raises:
        FormatError: See `VersionedJson.read`.
    """
    return _join_latency(_REPORT_FORM.read(path))


def loads_report(text: str, *, path: str | None = None) -> Report:
    """
    Read what `dumps_report` wrote; errors name *path*.

    Raises:
        FormatError: See `VersionedJson.loads`.
    """
    return _join_latency(_REPORT_FORM.loads(text, path=path))


def _join_latency(report: Report) -> Report:
    joined = _change_verdicts(report, _merge_latency)
    suites = tuple(replace(suite, queries=tuple(suite.queries)) for suite in joined.suites)
    return replace(joined, suites=suites)


def _change_verdicts(report: Report, change: Callable[[Verdict], Verdict]) -> Report:
    suites = (replace(suite, verdicts=tuple(map(change, suite.verdicts))) for suite in report.suites)
    return replace(report, suites=tuple(suites))


def _separate_latency(verdict: Verdict) -> Verdict:
    if verdict.unit is not Unit.MILLISECONDS:
        return verdict
    figures = LatencyFigures(verdict.reason, verdict.observed, verdict.blamed, verdict.repeats)
    return replace(verdict, reason="", observed=None, blamed=(), repeats=None, timing=figures)


def _merge_latency(verdict: Verdict) -> Verdict:
    if verdict.timing is None:
        return verdict
    return replace(verdict, **asdict(verdict.timing), timing=None)


_INSPECTION_FORM = VersionedJson(QueryInspection, "inspection")

dumps_inspection = _INSPECTION_FORM.dumps
inspection_schema = _INSPECTION_FORM.schema


def dump_scores(evaluation: RunScores, measures: Mapping[str, Measure], *, complete: bool = False) -> str:
    """
    ``{"profile": …, "measures": {"nDCG@10": {"mean": x, "queries": {"q1": x}}}}``, null where a score is undefined.

    Where the order of documents with equal scores moves the mean, the figures have
    ``"over_ties": {"least": x, "greatest": x}``.

    Queries that are in no mean are listed under ``"left_out": {"not_in_run": [ids], "not_judged": [ids]}``; an empty
    list is left out. ``"near_ids"`` is a sentence on hits that are judged under another form of their id, if any are.

    Args:
        evaluation: The scores.
        measures: The measures to write, by the text to write them under.
        complete: Whether judged queries that are not in the run were counted.
    """
    by_measure: dict[str, Json] = {}
    for text, measure in measures.items():
        figures: dict[str, Json] = {"mean": evaluation.mean(measure.text)}
        if measure.text in evaluation.summed:
            figures["sum"] = evaluation.sum(measure.text)
        over_ties = evaluation.means_over_ties(measure.text)
        if over_ties is not None:
            figures["over_ties"] = {"least": over_ties[0], "greatest": over_ties[1]}
        by_measure[text] = {**figures, "queries": dict(evaluation.scores[measure.text])}
    plain: dict[str, Json] = {"profile": str(evaluation.profile), "measures": by_measure}
    left_out = {"not_in_run": () if complete else evaluation.missing, "not_judged": evaluation.unjudged}
    if any(left_out.values()):
        plain["left_out"] = {why: list(queries) for why, queries in left_out.items() if queries}
    if evaluation.near_ids:
        plain["near_ids"] = evaluation.near_ids
    return escape_json_commands(json.dumps(plain, indent=2, allow_nan=False))
