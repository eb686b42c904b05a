"""What the code says of each measure: its formula and source, parameters, range, and the judgments that it needs."""

from __future__ import annotations

import inspect
import re
from functools import partial

from harness.metrics.definition import Choice, Cutoff, Definition, Flag, GainChoice, Kind, Needs, as_text
from harness.metrics.grammar import parse_measure
from harness.metrics.registry import DEFINITIONS, measure_range
from harness.model.suite import Gain, GainKind
from reference.markdown import mark_code, write_paragraph

WRITTEN_BY_HAND = ("SetP", "SetR", "NumQ", "NumRet", "NumRel", "NumRelRet")
"""Measures whose formulas the page tells in other words."""

NEGATIVE_GAINS = Gain(GainKind.MAP, ((0.0, -1.0), (1.0, 1.0)))

PYTHONIC = re.compile(r"^(Args|Returns|Raises|Source):|^>>>")
"""What begins the part of a docstring that is for callers."""

CODE = re.compile(r"\*(\w+)\*|``([^`]+)``")
"""A parameter, one of its words, or a formula, as docstrings have them."""


def write_measure(definition: Definition) -> str:
    """The formula of a measure from its docstring, and what its definition says of it."""
    formula = definition.formula or definition.diverse
    paragraphs = inspect.cleandoc(formula.__doc__ or "").split("\n\n")
    if definition.name in WRITTEN_BY_HAND:
        paragraphs = []
    sources = [paragraph for paragraph in paragraphs if paragraph.startswith("Source:")]
    is_of_readers = [PYTHONIC.match(paragraph) is None for paragraph in paragraphs]
    shown = paragraphs[: is_of_readers.index(False)] if False in is_of_readers else paragraphs
    ends = " ".join([describe_range(definition), describe_needs(definition)]).strip()
    facts = [describe_parameters(definition), ends, *(" ".join(source.split()) for source in sources)]
    paragraphs = [write_paragraph(mark_names(paragraph)) for paragraph in shown]
    facts_listed = "\n".join(f"- {mark_code(mark_names(fact))}" for fact in facts if fact)
    return "\n\n".join([*paragraphs, facts_listed])


def mark_names(text: str) -> str:
    """*text* of a docstring with its marks of code as those of Markdown."""
    return CODE.sub(r"`\1\2`", text)


def describe_parameters(definition: Definition) -> str:
    """The parameters with their defaults, and whether there is a cutoff."""
    names = [describe_parameter(name, kind) for name, kind in definition.parameters.items() if name != definition.at]
    sentences = []
    if definition.at:
        sentences.append(f"`{definition.at}` follows @ and is required.")
    elif definition.cutoff is Cutoff.NONE:
        sentences.append("No cutoff.")
    if names:
        sentences.insert(0, f"Parameters: {', '.join(names)}.")
    return " ".join(sentences)


def describe_parameter(name: str, kind: Kind) -> str:
    """A parameter with its default, or its choices with the default first."""
    if isinstance(kind, Choice):
        words = ", ".join(f"`{word}`" for word in kind.words)
        return f"`{name}` ({words})"
    if isinstance(kind, Flag | GainChoice) or kind.default is None:
        return f"`{name}`"
    return f"`{name}` ({as_text(kind.default)})"


def describe_range(definition: Definition) -> str:
    """The range of the scores at a cutoff, and whether negative gains widen it."""
    ending = "@10" if definition.cutoff is Cutoff.OPTIONAL else ""
    if definition.at:
        ending = "@0.5"
    measure = parse_measure(f"{definition.name}{ending}")
    least, greatest = measure_range(measure)
    sentence = f"Range: {least:g}{describe_greatest(greatest)}"
    if "gain" in definition.parameters and measure_range(measure, NEGATIVE_GAINS)[0] != least:
        sentence += ", and below 0 with negative gains"
    return f"{sentence}."


def describe_greatest(greatest: float | None) -> str:
    """The greatest value of a measure @10. That of a count is its cutoff."""
    if greatest is None:
        return " and more"
    if greatest == 10:
        return " to k"
    # Such as ERR, whose greatest value depends on its parameters.
    return " to 1" if greatest == 1 else " to a value below 1"


def describe_needs(definition: Definition) -> str:
    """When the score of a query is undefined."""
    if definition.needs is Needs.NOTHING:
        return ""
    if definition.needs is Needs.GAIN:
        return "Undefined without a document of positive gain."
    return "Undefined without a relevant document."


PARTS = {f"measure {definition.name}": partial(write_measure, definition) for definition in DEFINITIONS}
