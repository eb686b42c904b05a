"""What takes a whole suite to tell: its parts are right, each by itself, and may still not go together."""

from __future__ import annotations

from collections.abc import Sequence

from harness.metrics.run_scores import measure_named
from harness.model import Mark, Measure, Query, Suite
from harness.suites.assembling import Parts
from harness.suites.conditions import check_tags
from harness.suites.filling import check_placeholders
from harness.suites.fixtures import check_documents
from harness.suites.grading import check_gain, check_measure_gains, check_measures, measures_of
from harness.suites.targets import check_service
from harness.suites.templates import request_nodes

__all__ = ["NO_JUDGMENTS", "check_suite"]


NO_JUDGMENTS = "the suite has no judgments; expected 'judgments' at its queries, or files under 'judgments'"
"""What is wrong with a suite that scores, unless it is read to find what is to be judged first."""


def check_suite(suite: Suite, parts: Parts) -> None:
    """
    Tell the problems of *parts* what does not go together in *suite*.

    Where a part could not be read whole, what needs all of it is not checked: the wrong line would be blamed.
    """
    if parts.knows_queries:
        _check_documents(suite, parts)
        _check_judgments(suite, parts)
        _check_queries(suite, parts)
    if suite.target.service == "http":
        own = [threshold for query in suite.queries for threshold in query.thresholds]
        check_service([*suite.thresholds, *own], parts.reading)


def _check_documents(suite: Suite, parts: Parts) -> None:
    """What the suite says of documents is about those it brings along, where no request goes elsewhere."""
    elsewhere = not parts.is_whole("request", "requests") or any(one.index for one in suite.requests.values())
    if parts.brought is not None and not elsewhere:
        check_documents(parts.brought, suite.queries, parts.judgments, parts.reading.problems)


def _check_judgments(suite: Suite, parts: Parts) -> None:
    """A suite that scores has judgments; one that only expects documents or counts hits needs none."""
    if not suite.queries or not parts.is_whole("judgments") or _is_wrong(parts):
        return
    if any(query.judgments for query in suite.queries):
        return
    thresholds = [*suite.thresholds, *(threshold for query in suite.queries for threshold in query.thresholds)]
    if suite.measures or not thresholds or any(measure_named(threshold) is not None for threshold in thresholds):
        parts.judgments.problems.at(parts.reading.key_mark("queries"), NO_JUDGMENTS)


def _check_queries(suite: Suite, parts: Parts) -> None:
    """Tags, gains, measures and placeholders against the queries that they are for."""
    reading, wrong = parts.reading, parts.judgments.problems
    check_tags(suite.thresholds, suite.queries, reading.problems)
    if parts.known_gain is not None:
        check_gain(suite.gain, reading.key_mark("gain"), suite.queries, wrong)
    measures = _measures_with_places(suite, reading.key_mark("measures"))
    check_measure_gains(measures, wrong)
    if not _is_wrong(parts):
        check_measures(measures, suite.gain, suite.profile, wrong)
    if parts.is_whole("request", "requests"):
        check_placeholders(request_nodes(reading), suite.queries, reading.problems)


def _is_wrong(parts: Parts) -> bool:
    return bool(parts.reading.problems.found or parts.judgments.problems.found)


def _measures_with_places(suite: Suite, mark: Mark) -> list[tuple[Measure, Mark, Sequence[Query]]]:
    scored: list[tuple[Measure, Mark, Sequence[Query]]] = [(measure, mark, suite.queries) for measure in suite.measures]
    scored += measures_of(suite.queries, suite.thresholds)
    for query in suite.queries:
        scored += measures_of([query], query.thresholds)
    return scored
