"""The thresholds and expectations of a suite -> conditions; errors have the place of the character."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.errors import GrammarError, MeasureError, ProblemCode, UnknownMeasure
from harness.gate.conditions import explain_not_estimable
from harness.gate.expectations import parse_expectation, parse_suite_expectation
from harness.gate.grammar import check_reach, parse_threshold
from harness.metrics import parse_measure
from harness.model.suite import (
    Condition,
    FieldExpectation,
    Gain,
    Measure,
    Profile,
    Query,
    RequestTemplate,
    Threshold,
    UnresolvedCondition,
    Waiver,
    get_other_request,
)
from harness.suites.shape import ExpectationShape, ThresholdShape, WaiverShape
from harness.suites.yaml import Problems, ScalarNode
from harness.words import did_you_mean, listed

_VARIABLE = re.compile(r"\$\{[^}]*\}+")
_VALUE = "\0"
"""What stands for the value of a variable."""

_NUMBER = "719368245"
"""What stands for it in an expectation, whose grammar is then that of the text with values."""

_FOR_A_TAG = re.compile(r"(?:[\d%\0]|quer(?:y|ies)|documents|runs?)\s+for\s+(\S.*)$")
"""
The tag at the end of a threshold as it is written, after `for` and what may stand before it: a number or a variable.

A variable is in the tag only after a `for` that is written. One whose value has the `for` too is not seen here: its
threshold is refused when it has a value, as the tag is then another than the written one.
"""

Line: TypeAlias = ScalarNode | ThresholdShape | ExpectationShape
"""A text, or a mapping with a text and more keys."""


def read_measures(texts: Iterable[ScalarNode], problems: Problems) -> tuple[Measure, ...]:
    """The measures, each once; texts whose variable is not set yet are skipped."""
    measures: dict[str, Measure] = {}
    for text in texts:
        if text.unset:
            continue
        try:
            measure = parse_measure(text)
        except GrammarError as error:
            _note_grammar_error(error, text, problems)
            continue
        if measure.text in measures:
            problems.note(text.mark, f"the measure {measure.text} is named twice", "duplicate")
        measures[measure.text] = measure
    return tuple(measures.values())


@dataclass(frozen=True, slots=True)
class ThresholdReader:
    """Reads the thresholds of a suite and of its queries; invalid ones are left out and noted."""

    gain: Gain | None
    """The suite's; None if it is unknown, then the reach is not checked."""
    profile: Profile
    """The suite's."""
    requests: Mapping[str, RequestTemplate] | None
    """The suite's, by name; None if they are unknown."""
    checking: bool
    """Whether variables may be unset, so that a text with variables cannot be judged yet."""

    def read_thresholds(self, lines: Iterable[Line], problems: Problems, *, of_query: bool) -> tuple[Threshold, ...]:
        """The thresholds of *lines*, which are the suite's or those *of_query*; *problems* receives what is wrong."""
        thresholds = []
        for line in lines:
            text = _find_text(line)
            tag = _find_written_tag(text)
            if tag and _VALUE in tag:
                message = "found a variable in the tag, expected a tag as queries have it: it selects them"
                problems.note(text.mark, message)
                continue
            condition: Condition
            if text.unset:
                condition = UnresolvedCondition(text.variables)
            else:
                try:
                    condition, parsed_tag = parse_threshold(text, of_query=of_query)
                except GrammarError as error:
                    _note_grammar_error(error, text, problems)
                    continue
                if text.variables and parsed_tag != tag:
                    message = f"the value of a variable has 'for {parsed_tag}', expected it as written in the threshold"
                    problems.note(text.mark, message)
                    continue
                if not _can_be_judged(condition, text, problems, self.gain, self.profile):
                    continue
                if text.variables and self.checking:
                    condition = UnresolvedCondition(text.variables)
            thresholds.append(self._make_threshold(line, condition, tag, problems))
        return tuple(thresholds)

    def read_expectations(self, lines: Iterable[Line], problems: Problems, *, of_query: bool) -> tuple[Threshold, ...]:
        """The expectations of *lines*, which are a query's or the suite's; like `read_thresholds`."""
        expectations = []
        for line in lines:
            text = _find_text(line)
            tag = None
            if text.variables and not of_query:
                tag = _find_expectation_tag(text)
                if tag and _NUMBER in tag:
                    message = "found a variable in the tag, expected a tag as queries have it: it selects them"
                    problems.note(text.mark, message)
                    continue
            condition: Condition = UnresolvedCondition(text.variables, is_expectation=True)
            if not text.unset:
                try:
                    parsed, parsed_tag = (parse_expectation(text), None) if of_query else parse_suite_expectation(text)
                except GrammarError as error:
                    _note_grammar_error(error, text, problems)
                    continue
                if text.variables and parsed_tag != tag:
                    message = f"the value of a variable has 'for {parsed_tag}', expected it as written"
                    problems.note(text.mark, message)
                    continue
                tag = parsed_tag
                if not _can_be_judged(parsed, text, problems, Gain(), Profile.STANDARD):
                    continue
                if not (text.variables and self.checking):
                    condition = parsed
            expectations.append(self._make_threshold(line, condition, tag, problems))
        return tuple(expectations)

    def _make_threshold(self, line: Line, condition: Condition, tag: str | None, problems: Problems) -> Threshold:
        text = _find_text(line)
        if isinstance(line, ScalarNode):
            return Threshold(text.raw, condition, tag, text.mark)
        return Threshold(
            text.raw,
            condition,
            tag,
            text.mark,
            xfail=read_waiver(line.xfail),
            skip=read_waiver(line.skip),
            markers=tuple(map(str, line.markers)),
            warns=line.severity == "warn",
            requests=self._read_requests(line, problems),
            is_estimated=self._is_estimated(line, condition, problems),
        )

    def _is_estimated(self, line: ThresholdShape | ExpectationShape, condition: Condition, problems: Problems) -> bool:
        """Whether *line* is decided by an estimate; notes a problem if it cannot be."""
        if not isinstance(line, ThresholdShape) or line.estimate is None:
            return False
        sentence = explain_not_estimable(condition)
        if sentence and not isinstance(condition, UnresolvedCondition):
            problems.note(
                line.estimate.mark if isinstance(line.estimate, ScalarNode) else _find_text(line).mark, sentence
            )
        return True

    def _read_requests(self, line: ThresholdShape | ExpectationShape, problems: Problems) -> tuple[str, ...]:
        """The names of the requests that *line* is for, each checked."""
        if line.requests is None:
            return ()
        if not line.requests:
            message = "found no name in 'requests', expected the names of the requests that it is for"
            problems.note(_find_text(line).mark, message)
        names: list[str] = []
        for name in line.requests:
            if name in names:
                problems.note(name.mark, f"the request {str(name)!r} is named twice", "duplicate")
            elif self.requests is not None and name not in self.requests:
                known = ", ".join(self.requests)
                guess = did_you_mean(name, self.requests)
                problems.note(name.mark, f"found no request {str(name)!r}, known are {known}{guess}", "unknown-name")
            elif self.requests is not None and not self.requests[name].gates:
                message = f"the request {str(name)!r} has 'gate: false': nothing is decided for it; remove either"
                problems.note(name.mark, message)
            names.append(str(name))
        return tuple(names)


def read_waiver(shape: WaiverShape | None) -> Waiver | None:
    """The waiver of an xfail or skip."""
    return None if shape is None else Waiver(str(shape.reason), shape.until)


def check_tags(thresholds: Sequence[Threshold], queries: Sequence[Query], problems: Problems) -> None:
    """Check that the tag of each threshold is a tag of some query."""
    tags: set[str] = set()
    for query in queries:
        tags.update(query.tags)
    for threshold in thresholds:
        if threshold.tag is not None and threshold.tag not in tags:
            guess = did_you_mean(threshold.tag, tags)
            problems.note(threshold.mark, f"no query has the tag {threshold.tag!r}{guess}", "unknown-name")


def check_compared_requests(
    thresholds: Iterable[Threshold], templates: Mapping[str, RequestTemplate], problems: Problems
) -> None:
    """Check that each threshold that compares with a request names one, and is for another one that is gated."""
    for threshold in thresholds:
        name = get_other_request(threshold.condition)
        if name is None:
            continue
        if name not in templates:
            known = ", ".join(templates)
            message = f"found no request {name!r}, known are {known}{did_you_mean(name, templates)}"
            problems.note(threshold.mark, message)
            continue
        if name in threshold.requests:
            problems.note(threshold.mark, f"the threshold compares the request {name!r} with itself; remove it here")
            continue
        if threshold.requests:
            continue
        others = [template for template in templates.values() if template.name != name]
        if not others:
            message = f"compares the request {name!r} with itself: the suite has no other request"
            problems.note(threshold.mark, f"the threshold {message}")
        elif not any(template.gates for template in others):
            message = f"has nothing to compare with {name!r}: each other request has 'gate: false'"
            problems.note(threshold.mark, f"the threshold {message}")


def check_field_paths(
    thresholds: Iterable[Threshold], templates: Mapping[str, RequestTemplate], problems: Problems
) -> None:
    """Note fields of expectations that a request over HTTP has no path for: its answer is all that is known."""
    for threshold in thresholds:
        condition = threshold.condition
        if not isinstance(condition, FieldExpectation):
            continue
        for template in templates.values():
            is_meant = template.gates and (not threshold.requests or template.name in threshold.requests)
            if template.http is None or not is_meant or condition.field in template.http.known_fields:
                continue
            message = explain_no_path(template, condition.field)
            problems.note(threshold.mark, message)


def explain_no_path(template: RequestTemplate, field: str) -> str:
    """The problem of a *field* that the request over HTTP of *template* has no path for."""
    known = () if template.http is None else template.http.known_fields
    expected = f"one of {listed(known)}" if known else "one under 'fields' beside 'ids'"
    message = f"the request {template.name!r} has no path for the field {field!r}, expected {expected}"
    return message + did_you_mean(field, known)


def _find_text(line: Line) -> ScalarNode:
    if isinstance(line, ScalarNode):
        return line
    text: ScalarNode = line.threshold if isinstance(line, ThresholdShape) else line.expect
    return text


def _find_written_tag(text: ScalarNode) -> str | None:
    """The tag of a threshold before its variables have values: pytest selects its items by tag without them."""
    written: str = text
    if text.variables:
        # Each `${` after the last closing brace would be searched to the end of the text.
        border = text.raw.rfind("}") + 1
        written = _VARIABLE.sub(_VALUE, text.raw[:border]) + text.raw[border:]
    match = _FOR_A_TAG.search(written)
    return match[1].rstrip() if match else None


def _find_expectation_tag(text: ScalarNode) -> str | None:
    """
    The tag of an expectation of the suite before its variables have values, by a number in place of each variable.

    A number may stand for a value, a rank, a limit or a field. None if a variable stands for more than that.
    """
    border = text.raw.rfind("}") + 1
    written = _VARIABLE.sub(_NUMBER, text.raw[:border]) + text.raw[border:]
    try:
        _, tag = parse_suite_expectation(written)
    except GrammarError:
        return None
    return tag


def _can_be_judged(
    condition: Condition, text: ScalarNode, problems: Problems, gain: Gain | None, profile: Profile
) -> bool:
    """Whether *condition* can be met and can fail; notes the problem if not."""
    if gain is None:
        return True
    try:
        sentence = check_reach(condition, gain, profile)
    except MeasureError as error:
        # A measure of the user's may not know its own reach.
        sentence = str(error)
    if sentence:
        problems.note(text.mark, sentence)
    return not sentence


def _note_grammar_error(error: GrammarError, text: ScalarNode, problems: Problems) -> None:
    """Note *error* at its place in *text*."""
    code: ProblemCode = "unknown-measure" if isinstance(error, UnknownMeasure) else "grammar"
    # A list in brackets splits `nDCG(gain=linear, log=e)@10` at its comma unless it is quoted.
    is_halved = text.plain and text.count("(") + text.count("{") != text.count(")") + text.count("}")
    hint = "; inside [ ] put a measure with a comma in quotes" if is_halved else ""
    problems.note_inside(text, error.offset, f"{error}{hint}", code)
