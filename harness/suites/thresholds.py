"""The thresholds and expectations of a suite -> conditions; errors have the place of the character."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from harness.errors import GrammarError, MeasureError, ProblemKind, UnknownMeasure
from harness.gate.grammar import check_reach, parse_expectation, parse_threshold
from harness.metrics import is_of_novelty, parse_measure
from harness.model import Condition, Gain, Measure, Profile, Query, Threshold, UnresolvedCondition, Waiver
from harness.suites.shape import ExpectationShape, ThresholdShape, WaiverShape
from harness.suites.yaml import Problems, ScalarNode
from harness.words import did_you_mean

_FOR_A_TAG = re.compile(r"(?:[\d%\0]|quer(?:y|ies))\s+for\s+(\S.*)$")
_VARIABLE = re.compile(r"\$\{.*?\}+")
_VALUE = "\0"
"""What stands for the value of a variable."""

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
            _note(error, text, problems)
            continue
        if _refused_for_novelty(measure, text, problems):
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

    def reach(condition: Condition) -> str | None:
        return None if gain is None else check_reach(condition, gain, profile)

    return _read(
        lines, partial(parse_threshold, of_query=of_query), reach, problems, _tag_as_written, checking=checking
    )


def read_expectations(lines: Iterable[Line], problems: Problems, *, checking: bool) -> tuple[Threshold, ...]:
    """The expectations of a query; like `read_thresholds`."""

    def parse(text: str) -> tuple[Condition, str | None]:
        return parse_expectation(text), None

    return _read(lines, parse, partial(check_reach, gain=Gain()), problems, lambda _: None, checking=checking)


def read_waiver(shape: WaiverShape | None) -> Waiver | None:
    """The waiver of an xfail or skip."""
    return None if shape is None else Waiver(str(shape.reason), shape.until)


def check_tags(thresholds: Sequence[Threshold], queries: Sequence[Query], problems: Problems) -> None:
    """Check that the tag of each threshold is a tag of some query."""
    tags = {tag for query in queries for tag in query.tags}
    for threshold in thresholds:
        if threshold.tag is not None and threshold.tag not in tags:
            guess = did_you_mean(threshold.tag, tags)
            problems.note(threshold.mark, f"no query has the tag {threshold.tag!r}{guess}")


def _read(
    lines: Iterable[Line],
    parse: Callable[[str], tuple[Condition, str | None]],
    reach: Callable[[Condition], str | None],
    problems: Problems,
    tag_of: Callable[[ScalarNode], str | None],
    *,
    checking: bool,
) -> tuple[Threshold, ...]:
    thresholds = []
    for line in lines:
        text = _text_of(line)
        parsed = _parse(text, parse, reach, problems, tag=tag_of(text), checking=checking)
        if parsed is not None:
            thresholds.append(_threshold(line, text, *parsed))
    return tuple(thresholds)


def _parse(
    text: ScalarNode,
    parse: Callable[[str], tuple[Condition, str | None]],
    reach: Callable[[Condition], str | None],
    problems: Problems,
    *,
    tag: str | None,
    checking: bool,
) -> tuple[Condition, str | None] | None:
    if tag and _VALUE in tag:
        problems.note(text.mark, "found a variable in the tag, expected a tag as queries have it: it selects them")
        return None
    unresolved = UnresolvedCondition(text.variables)
    if text.unset:
        return unresolved, tag
    try:
        condition, tag_now = parse(text)
    except GrammarError as error:
        _note(error, text, problems)
        return None
    if text.variables and tag_now != tag:
        problems.note(
            text.mark, f"the value of a variable has 'for {tag_now}', expected it as written in the threshold"
        )
        return None
    measure = getattr(condition, "measure", None)
    if measure is not None and _refused_for_novelty(measure, text, problems):
        return None
    try:
        sentence = reach(condition)
    except MeasureError as error:  # a measure of the user's may not know its own reach
        sentence = str(error)
    if sentence:
        problems.note(text.mark, sentence)
        return None
    return (unresolved if text.variables and checking else condition), tag


def _tag_as_written(text: ScalarNode) -> str | None:
    """The tag of a threshold before its variables have values: pytest selects its items by tag without them."""
    match = _FOR_A_TAG.search(_VARIABLE.sub(_VALUE, text.raw) if text.variables else text)
    return match[1].rstrip() if match else None


def _refused_for_novelty(measure: Measure, text: ScalarNode, problems: Problems) -> bool:
    """Whether *measure* needs subtopics, which a suite does not have; notes the problem."""
    if not is_of_novelty(measure):
        return False
    problems.note(text.mark, f"{measure.text} needs judgments by subtopic, which a suite does not have")
    return True


def _text_of(line: Line) -> ScalarNode:
    if isinstance(line, ScalarNode):
        return line
    text: ScalarNode = line.threshold if isinstance(line, ThresholdShape) else line.expect
    return text


def _threshold(line: Line, text: ScalarNode, condition: Condition, tag: str | None) -> Threshold:
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


def _note(error: GrammarError, text: ScalarNode, problems: Problems) -> None:
    kind: ProblemKind = "unknown measure" if isinstance(error, UnknownMeasure) else ""
    problems.note_inside(text, error.offset, f"{error}{_comma_hint(text)}", kind)


def _comma_hint(text: ScalarNode) -> str:
    """A hint for a list in brackets, which splits `nDCG(gain=linear, log=e)@10` at its comma unless it is quoted."""
    halved = text.plain and text.count("(") + text.count("{") != text.count(")") + text.count("}")
    return "; inside [ ] put a measure with a comma in quotes" if halved else ""
