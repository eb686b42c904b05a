"""What the YAML parser could not read, in a sentence of our own, with a hint for the traps that suites meet."""

from __future__ import annotations

import re

import yaml

from harness.errors import Problem
from harness.files.opening import Source
from harness.model import Mark

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_BARE_INDICATOR = re.compile(r"(?:^|[-:,\[{]\s+|[\[{,])(@|%|>=?|`|\|)[^\s#]")


def syntax_problem(error: yaml.YAMLError, source: Source) -> Problem:
    """The place of *error* and a sentence about it."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return source.problem(0, 0, f"this is not YAML: {error}")
    line, column = mark.line + 1, mark.column + 1
    found = str(getattr(error, "problem", "") or "")
    opened = getattr(error, "context_mark", None)
    context = str(getattr(error, "context", "") or "")
    if source.line(line)[column - 1 : column] == "\t" or "tab" in found:
        return source.problem(line, column, "found a tab; YAML indents with blanks only")
    line, column, sentence = _sentence(found, context, opened, line, column)
    return source.problem(line, column, sentence + _hint(source, line, column))


def unquoted_braces_hint(source: Source, mark: Mark) -> str:
    """A hint where a placeholder without quotes was read as a mapping in a mapping."""
    line, at = source.line(mark.line), mark.column - 1
    if "{{" in line[max(0, at - 1) : at + 2]:
        return '; {{text}} without quotes is a mapping in YAML, write "{{text}}"'
    return ""


def _sentence(found: str, context: str, opened: yaml.Mark | None, line: int, column: int) -> tuple[int, int, str]:
    """Where it is best shown, and what it is: what was opened and not closed is shown where it was opened."""
    if "flow mapping" in context or "flow sequence" in context:
        bracket = "{" if "mapping" in context else "["
        closing = "}" if bracket == "{" else "]"
        where = f" of line {opened.line + 1}, column {opened.column + 1}" if opened else ""
        return line, column, f"expected ',' or '{closing}' here, as the '{bracket}'{where} is not closed"
    if "quoted scalar" in context and opened:
        return opened.line + 1, opened.column + 1, "the quote that is opened here is not closed"
    if "cannot start any token" in found:
        return line, column, "found a character that no value can begin with"
    if "mapping values are not allowed" in found:
        return line, column, "found ': ' inside a value; text that holds it is put in quotes"
    if "block scalar" in context:
        return line, column, "found what cannot follow a > or | that begins a block of text"
    if "block mapping" in context or "block collection" in context:
        return line, column, "this line does not fit the ones above it; check the indentation and the quotes"
    return line, column, f"this is not YAML: {found or context}"


def _hint(source: Source, line: int, column: int) -> str:
    bare = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), source.line(line))
    if "{{" in bare:
        return '; {{text}} without quotes is a mapping in YAML, write "{{text}}"'
    if "${" in bare and bare.find("${") < column:
        return '; inside [ ] and { } a variable is put in quotes: "${NAME}"'
    indicator = _BARE_INDICATOR.search(bare)
    if indicator:
        return f"; text that begins with {indicator[1]} is put in quotes"
    return ""
