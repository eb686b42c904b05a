"""The thresholds and expectations of a suite -> conditions; errors have the place of the character."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from harness.errors import GrammarError, MeasureError, ProblemKind, UnknownMeasure
from harness.gate.grammar import check_reach, parse_expectation, parse_threshold
from harness.metrics import is_of_novelty, parse_measure
from harness.model import Condition, Gain, Measure, Profile, Query, Threshold, UnresolvedCondition, Waiver
from harness.suites.shape import ExpectationShape, ThresholdShape, WaiverShape
from harness.suites.yaml import Problems, ScalarNode
from harness.words import did_you_mean

_VARIABLE = re.compile(r"\$\{[^}]*\}+")
_VALUE = "\0"
"""What stands for the value of a variable."""

_FOR_A_TAG = re.compile(r"(?:[\d%\0]|quer(?:y|ies))\s+for\s+(\S.*)$")
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
        if _is_refused_for_novelty(measure, text, problems):
            continue
        if measure.text in measures:
            problems.note(text.mark, f"the measure {measure.text} is named twice")
        measures[measure.text] = measure
    return tuple(measures.values())


def read_thresholds(
    lines: Iterable[Line],
    gain: Gain | None,
    problems: Problems,
    *,
    of_query: bool,
    checking: bool,
    profile: Profile = Profile.STANDARD,
) -> tuple[Threshold, ...]:
    """
    The thresholds of a suite or of one query; invalid ones are left out and noted.

    Args:
        lines: Texts, or mappings with a text and more keys.
        gain: The suite's; None if it is unknown, then the reach is not checked.
        problems: Receives the problems.
        of_query: Whether they are a query's own.
        checking: Whether variables may be unset, so that a text with variables cannot be judged yet.
        profile: The suite's.
    """
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
            if not _can_be_judged(condition, text, problems, gain, profile):
                continue
            if text.variables and checking:
                condition = UnresolvedCondition(text.variables)
        thresholds.append(_make_threshold(line, text, condition, tag))
    return tuple(thresholds)


def read_expectations(lines: Iterable[Line], problems: Problems, *, checking: bool) -> tuple[Threshold, ...]:
    """The expectations of a query; like `read_thresholds`."""
    expectations = []
    for line in lines:
        text = _find_text(line)
        condition: Condition = UnresolvedCondition(text.variables)
        if not text.unset:
            try:
                parsed = parse_expectation(text)
            except GrammarError as error:
                _note_grammar_error(error, text, problems)
                continue
            if not _can_be_judged(parsed, text, problems, Gain(), Profile.STANDARD):
                continue
            if not (text.variables and checking):
                condition = parsed
        expectations.append(_make_threshold(line, text, condition, tag=None))
    return tuple(expectations)


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
            problems.note(threshold.mark, f"no query has the tag {threshold.tag!r}{guess}")


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


def _can_be_judged(
    condition: Condition, text: ScalarNode, problems: Problems, gain: Gain | None, profile: Profile
) -> bool:
    """Whether *condition* can be met and can fail, and a suite has what its measure needs; notes the problem if not."""
    measure = getattr(condition, "measure", None)
    if measure is not None and _is_refused_for_novelty(measure, text, problems):
        return False
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


def _is_refused_for_novelty(measure: Measure, text: ScalarNode, problems: Problems) -> bool:
    """Whether *measure* needs subtopics, which a suite does not have; notes the problem."""
    if not is_of_novelty(measure):
        return False
    problems.note(text.mark, f"{measure.text} needs judgments by subtopic, which a suite does not have")
    return True


def _make_threshold(line: Line, text: ScalarNode, condition: Condition, tag: str | None) -> Threshold:
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
    )


def _note_grammar_error(error: GrammarError, text: ScalarNode, problems: Problems) -> None:
    """Note *error* at its place in *text*."""
    kind: ProblemKind = "unknown measure" if isinstance(error, UnknownMeasure) else ""
    # A list in brackets splits `nDCG(gain=linear, log=e)@10` at its comma unless it is quoted.
    is_halved = text.plain and text.count("(") + text.count("{") != text.count(")") + text.count("}")
    hint = "; inside [ ] put a measure with a comma in quotes" if is_halved else ""
    problems.note_inside(text, error.offset, f"{error}{hint}", kind)
