"""
JUnit XML: a test case for each threshold of a report, as pytest writes one for each of its items.

Cases have the names, messages and properties of the items. pytest has one item for all thresholds of a query; here each
of them is a case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from harness import __version__
from harness.errors import SearchError
from harness.gate.decide import compute_exit_status
from harness.gate.finding import list_by_cause
from harness.gate.selection import assign_ids
from harness.model.report import MissingSuite, QueryReport, Report, SuiteReport
from harness.model.run import Instability, Status, Verdict
from harness.model.suite import Waiver
from harness.report.annotations import make_relative
from harness.report.attention import order_blamed
from harness.report.overview import find_differing_parts, name_cells
from harness.report.run_sentences import describe_mean_interval, describe_ranking_causes, suggest_command
from harness.report.safe_text import make_loggable, make_loggable_lines
from harness.report.sentences import format_figures
from harness.report.terminal.run import format_changes, format_query
from harness.words import count

Property: TypeAlias = tuple[str, str | int | float]
"""A name that begins with `relevance.`, and a value."""

Section: TypeAlias = tuple[str, str]
"""A title and a longer text below it."""

_QUERIES_SHOWN = 3
"""Queries whose rankings are printed for a threshold over many queries."""

MOST_MESSAGE = 500
"""Characters of a message, as in pytest; the text of the element has all of it."""

_ILLEGAL = re.compile("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot have, not even as a reference."""


# What cases share with the items of pytest.


def list_verdict_figures(verdict: Verdict, suffix: str = "") -> list[Property]:
    """The observed and the required number, and the caveat, with *suffix* after each name."""
    figures: list[Property] = []
    if verdict.observed is not None:
        figures.append((f"relevance.observed{suffix}", verdict.observed))
    if verdict.required is not None:
        figures.append((f"relevance.required{suffix}", verdict.required))
    if figures and verdict.unit is not None:
        figures.append((f"relevance.unit{suffix}", str(verdict.unit)))
    if verdict.repeats is not None:
        lowest, highest = verdict.repeats
        figures.append((f"relevance.repeats{suffix}", f"{lowest:g} to {highest:g}"))
    if verdict.spread is not None:
        lowest, highest = verdict.spread
        figures.append((f"relevance.spread{suffix}", f"{lowest:g} to {highest:g}"))
    if verdict.runs:
        figures.append((f"relevance.runs{suffix}", ", ".join(str(run.number) for run in verdict.runs)))
    # A reason has the caveat of a threshold that does not hold.
    if verdict.caveat and verdict.status is Status.PASSED:
        figures.append((f"relevance.caveat{suffix}", verdict.caveat))
    return figures


def list_query_properties(query: QueryReport) -> list[Property]:
    """The outcome of *query*, and its scores."""
    properties: list[Property] = [("relevance.outcome", str(query.outcome))]
    for measure, score in query.scores.items():
        if score is not None:
            properties.append((f"relevance.{measure}", score))
    return properties


def list_facts(report: SuiteReport) -> list[Property]:
    """What the suite ran with."""
    facts = {
        "request": report.request,
        "index": report.index,
        "cluster": report.cluster,
        "engine": str(report.engine),
        "gain": report.gain,
        "profile": str(report.profile),
        "baseline": report.baseline.created if report.baseline else None,
        "baseline-changes": "; ".join(report.baseline.changes) if report.baseline else None,
        "harness": __version__,
    }
    return [(f"relevance.{name}", fact) for name, fact in facts.items() if fact]


def make_loggable_property(entry: Property) -> Property:
    """*entry* without what a CI system would execute if it prints it."""
    name, value = entry
    if isinstance(value, str):
        value = make_loggable_lines(value)
    return make_loggable(name), value


def format_waiver(waiver: Waiver) -> str:
    """The reason of *waiver*, with its last day."""
    if waiver.until is None:
        return waiver.reason
    return f"{waiver.reason} (until {waiver.until})"


def list_unanswered(report: SuiteReport) -> dict[str, str]:
    """The queries without an answer, in the run or in one of its repeats, with the reasons."""
    reasons: dict[str, str] = {}
    if report.repeats is not None:
        for unstable in report.repeats.unstable:
            if unstable.cause is Instability.UNANSWERED:
                reasons[unstable.query] = "a repeat has no ranking of it"
    for query in report.unanswered.values():
        reasons[query.id] = f"{query.outcome}: {query.reason}"
    return reasons


def describe_unnamed(reasons: dict[str, str], named: set[str | None]) -> str:
    """A sentence on the queries of *reasons*, which have no answer, that are not *named*; empty if all are."""
    unnamed = {query: reason for query, reason in reasons.items() if query not in named}
    if not unnamed:
        return ""
    return f"no answer to {count(len(unnamed), 'query')} that no threshold is about: {list_by_cause(unnamed)}"


def list_worst(report: SuiteReport, verdict: Verdict) -> list[QueryReport]:
    """The worst queries that *verdict* blames, whose rankings are shown."""
    return report.find_queries(order_blamed(report, verdict))[:_QUERIES_SHOWN]


def make_worst_section(report: SuiteReport, verdict: Verdict, blocks: Sequence[str]) -> Section:
    """The section of a *verdict* on many queries: the interval of its mean, and *blocks*, the texts of `list_worst`."""
    texts = list(blocks)
    hidden = len(report.find_queries(verdict.blamed)) - len(texts)
    if hidden > 0:
        texts.append(f"and {hidden} more")
    interval = describe_mean_interval(report, verdict)
    if interval:
        texts.insert(0, interval)
    return f"{verdict.threshold} ({verdict.mark})", "\n\n".join(texts)


def complete_sections(sections: list[Section], report: SuiteReport, verdicts: Sequence[Verdict]) -> list[Section]:
    """*sections* with the changes since the baseline, and with the command to run next below the last one."""
    completed = list(sections)
    changes = format_changes(report, verdicts[0]) if verdicts else ""
    if changes:
        completed.append(("since the baseline", changes))
    commands = [suggest_command(report, verdict) for verdict in verdicts]
    command = next(filter(None, commands), "")
    if command and completed:
        title, text = completed.pop()
        completed.append((title, f"{text}\n\nnext: {make_loggable(command)}"))
    return completed


# The cases of a report.


@dataclass(frozen=True, slots=True)
class TestCase:
    """A test case; *element* is `failure`, `error` or `skipped`, or empty if it passed."""

    __test__ = False  # It is no test of pytest's.

    classname: str
    name: str
    properties: Sequence[Property] = ()
    element: str = ""
    message: str = ""
    text: str = ""
    kind: str = ""
    """The `type` of the *element*; empty for none."""


def render(report: Report) -> str:
    """
    *report* as JUnit XML, in the form that pytest writes by default (`xunit2`): a test suite for each suite that ran.

    What the run lacks is an error: a suite that did not run, and a query without an answer that no threshold is about.
    """
    root = ElementTree.Element("testsuites", name="relevance")
    labels = _label_cells(report.suites)
    for title, label, suite in zip(name_cells(report.suites), labels, report.suites, strict=True):
        cases = _build_cases(suite, label)
        if report.undecided:
            reason = make_loggable_lines(report.undecided)
            cases.append(TestCase(_name_class(suite.path), "nothing-was-decided", (), "failure", reason, reason))
        element = _add_suite(root, title, cases, suite.timing.search_seconds)
        element.set("timestamp", report.timing.created)
    for missing in report.missing:
        _add_suite(root, missing.path, [_make_missing_case(missing)], 0.0)
    return f'<?xml version="1.0" encoding="utf-8"?>{ElementTree.tostring(root, encoding="unicode")}\n'


def _label_cells(suites: Sequence[SuiteReport]) -> list[str]:
    """What ends the names of a cell's cases, as pytest names them: ``[request]``, ``[index]``, ``[request@index]``."""
    parts = find_differing_parts(suites)
    requests = assign_ids(dict.fromkeys(part["request"] or "" for part in parts if "request" in part))
    indexes = assign_ids(dict.fromkeys(part["index"] or "" for part in parts if "index" in part))
    labels = []
    for part in parts:
        ids = []
        if "request" in part:
            ids.append(requests[part["request"] or ""])
        if "index" in part:
            ids.append(indexes[part["index"] or ""])
        labels.append(f"[{'@'.join(ids)}]" if ids else "")
    return labels


def _name_class(path: str) -> str:
    """The file of a suite as pytest names a class: its path below the working folder, with dots for slashes."""
    return make_loggable(make_relative(Path(), path).replace("/", "."))


def _build_cases(suite: SuiteReport, label: str) -> list[TestCase]:
    classname = _name_class(suite.path)
    queries = {query.id: query for query in suite.queries}
    causes = list(describe_ranking_causes(suite.queries, suite.checks))
    cases = []
    for verdict in suite.verdicts:
        query = queries.get(verdict.query) if verdict.query is not None else None
        properties = [make_loggable_property(entry) for entry in _list_properties(suite, verdict, query)]
        case = TestCase(classname, f"{verdict.id}{label}", properties)
        cases.append(_add_outcome(case, suite, verdict, query, causes))
    missing = _describe_missing(suite)
    if missing:
        text = make_loggable_lines(missing)
        facts = [make_loggable_property(entry) for entry in list_facts(suite)]
        cases.append(TestCase(classname, f"answers{label}", facts, "error", text, text))
    return cases


def _list_properties(suite: SuiteReport, verdict: Verdict, query: QueryReport | None) -> Iterator[Property]:
    """What a test case says of its threshold: the place, the figures, the *query* it belongs to, and the suite."""
    yield "relevance.suite", suite.name
    yield "relevance.place", str(verdict.mark)
    if query is not None:
        yield "relevance.query", query.id
        yield "relevance.text", query.text
    yield "relevance.threshold", verdict.threshold
    yield "relevance.verdict", str(verdict.status)
    yield from list_verdict_figures(verdict)
    if query is not None:
        yield from list_query_properties(query)
    yield from list_facts(suite)


def _add_outcome(
    case: TestCase, suite: SuiteReport, verdict: Verdict, query: QueryReport | None, causes: Sequence[str]
) -> TestCase:
    """*case* with the outcome of *verdict*. A warning and an unexpected pass that is allowed are passed tests."""
    if verdict.status in (Status.SKIPPED, Status.XFAILED):
        # pytest's names of these, by which readers tell one from the other.
        kind = "pytest.skip" if verdict.status is Status.SKIPPED else "pytest.xfail"
        reason = verdict.reason if verdict.waiver is None else format_waiver(verdict.waiver)
        return replace(case, element="skipped", message=make_loggable_lines(reason), kind=kind)
    if verdict.status is not Status.FAILED and not verdict.status.is_undecided:
        return case
    reason = verdict.reason
    headline = format_figures(verdict)
    if verdict.status is Status.FAILED:
        reason = "\n".join([reason, *causes])
    message = f"{headline}; {reason}" if headline else reason
    text = "\n".join([reason, *_format_sections(suite, verdict, query)])
    element = "failure" if verdict.status is Status.FAILED else "error"
    return replace(case, element=element, message=make_loggable_lines(message), text=make_loggable_lines(text))


def _format_sections(suite: SuiteReport, verdict: Verdict, query: QueryReport | None) -> Iterator[str]:
    """The rankings of the queries to look at."""
    if query is not None:
        section = (f"query {query.id} ({verdict.mark})", format_query(query, verdict.measure))
    else:
        blocks = [format_query(worst, verdict.measure) for worst in list_worst(suite, verdict)]
        section = make_worst_section(suite, verdict, blocks)
    for title, text in complete_sections([section], suite, [verdict]):
        yield f"--- {title} ---"
        if text:
            yield text


def _describe_missing(suite: SuiteReport) -> str:
    """A sentence on the queries without an answer that no error names; empty if the run does not fail for them."""
    # In a pytest session the status may be another: then no item of the session needs their answers.
    if compute_exit_status([suite]) != SearchError.exit_status:
        return ""
    named_by_errors: set[str | None] = set()
    for verdict in suite.verdicts:
        if verdict.status is Status.ERROR:
            named_by_errors.update(verdict.blamed)
    return describe_unnamed(list_unanswered(suite), named_by_errors)


def _make_missing_case(missing: MissingSuite) -> TestCase:
    """An error in place of the cases of a suite that did not run."""
    reason = make_loggable_lines(missing.reason)
    return TestCase(_name_class(missing.path), "did-not-run", (), "error", reason, reason)


# Elements.


def _add_suite(root: ElementTree.Element, title: str, cases: Sequence[TestCase], seconds: float) -> ElementTree.Element:
    """Add a suite of *cases*; the *seconds* are those of the whole suite, as its queries are sent together."""
    elements = Counter(case.element for case in cases)
    counts = {
        "errors": elements["error"],
        "failures": elements["failure"],
        "skipped": elements["skipped"],
        "tests": len(cases),
    }
    suite = ElementTree.SubElement(root, "testsuite", name=_replace_illegal(make_loggable(title)))
    for name, number in counts.items():
        suite.set(name, str(number))
    suite.set("time", f"{seconds:.3f}")
    for case in cases:
        _add_case(suite, case)
    return suite


def _add_case(suite: ElementTree.Element, case: TestCase) -> None:
    """Add the element of *case*, with its properties and its outcome, to that of its *suite*."""
    classname, name = _replace_illegal(case.classname), _replace_illegal(case.name)
    element = ElementTree.SubElement(suite, "testcase", classname=classname, name=name, time="0.000")
    if case.properties:
        properties = ElementTree.SubElement(element, "properties")
        for key, value in case.properties:
            ElementTree.SubElement(properties, "property", name=_replace_illegal(key), value=_replace_illegal(value))
    if not case.element:
        return
    outcome = ElementTree.SubElement(element, case.element)
    if case.kind:
        outcome.set("type", case.kind)
    outcome.set("message", _replace_illegal(_shorten_message(case.message)))
    outcome.text = _replace_illegal(case.text)


def _shorten_message(message: str) -> str:
    """The beginning of a long *message*, as pytest cuts it."""
    if len(message) <= MOST_MESSAGE:
        return message
    return f"{message[:MOST_MESSAGE]}...\n[truncated; full report in element text]"


def _replace_illegal(value: str | float) -> str:
    r"""
    *value* as a text that XML can have.

    >>> _replace_illegal("a\x00b\ufffe"), _replace_illegal(0.5)
    ('a#x00b#xFFFE', '0.5')
    """
    return _ILLEGAL.sub(lambda found: f"#x{ord(found[0]):02X}", str(value))
