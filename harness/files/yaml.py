"""
Judgments as YAML: query to document to grade, as under a query of a suite.

::

    red-shoes:
      sku-17: 3
      sku-4: good

The parser's events are read one by one, so that each judgment has its place, repeated documents are found, and deeper
nesting is never built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import IO, Any

from harness.files.opening import JUDGMENTS, FileProblems, Layout, Record

NO_GRADE = ("", "~", "null", "Null", "NULL")
"""Unquoted scalars that mean no value."""

EXPECTED = "expected query ids with document ids and grades below them, such as 'sku-17: 3'"


_PAIR = re.compile(r"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def yaml_loader(text: str = "") -> Any:
    """
    The parser of libyaml, which is ten times as fast, if PyYAML was built with it.

    It refuses a character written as two halves, as JSON does; a *text* that has one gets a parser that reads it.
    """
    import yaml

    return _pairing_loader() if _PAIR.search(text) else getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _pairing_loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Joins the halves of characters."""

        def scan_flow_scalar(self, style: str) -> Any:
            """See `yaml.scanner.Scanner`."""
            begin = self.get_mark()
            context, problem = "while parsing a quoted scalar", "found invalid Unicode character escape code"
            try:
                token = super().scan_flow_scalar(style)
                token.value = token.value.encode("utf-16", "surrogatepass").decode("utf-16")
            except ValueError:
                raise yaml.scanner.ScannerError(context, begin, problem, begin) from None
            return token

    return Loader


def in_double_quotes(text: str) -> str:
    r"""
    *text* as a YAML scalar in double quotes.

    >>> print(in_double_quotes('red\u200b "shoes"'))
    "red\U0000200b \"shoes\""
    """
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else f"\\U{ord(character):08x}" for character in quoted)


class _OtherShape(Exception):
    """The file is YAML with another structure; the findings have the place."""


def yaml_records(file: IO[bytes], layout: Layout, findings: FileProblems) -> Iterator[Record]:
    """The judgments of the file; the first other structure ends the reading, and goes to *findings*."""
    import yaml

    if layout is not JUDGMENTS:
        findings.add(0, "a run cannot be YAML; expected TREC, CSV, JSON lines or Parquet")
        return
    events = yaml.parse(file, Loader=yaml_loader())
    try:
        yield from _Walk(yaml, events, findings).records()
    except _OtherShape:
        return
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 1)
        findings.add(line, f"this is not YAML: {getattr(error, 'problem', None) or error}", column=column)


class _Walk:
    """Reads the events of two nested mappings."""

    def __init__(self, yaml: Any, events: Iterator[Any], findings: FileProblems) -> None:
        self._yaml = yaml
        self._events = events
        self._findings = findings

    def records(self) -> Iterator[Record]:
        yaml = self._yaml
        next(self._events)  # the stream's begin
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return
        root = next(self._events)
        if self._is_empty(root):
            return
        self._require(root, yaml.MappingStartEvent)
        while (query := self._key()) is not None:
            yield from self._of_query(query)
        next(self._events)  # the document's end
        self._require(next(self._events), yaml.StreamEndEvent)

    def _of_query(self, query: Any) -> Iterator[Record]:
        begin = next(self._events)
        if self._is_empty(begin):
            return
        self._require(begin, self._yaml.MappingStartEvent)
        while (document := self._key()) is not None:
            grade = next(self._events)
            self._require(grade, self._yaml.ScalarEvent)
            value = "" if not grade.style and grade.value in NO_GRADE else grade.value
            place = document.start_mark
            yield Record(place.line + 1, query.value, document.value, value, column=place.column + 1)

    def _key(self) -> Any:
        """The next key, a scalar; None at the mapping's end."""
        event = next(self._events)
        if isinstance(event, self._yaml.MappingEndEvent):
            return None
        self._require(event, self._yaml.ScalarEvent)
        return event

    def _is_empty(self, event: Any) -> bool:
        return isinstance(event, self._yaml.ScalarEvent) and not event.style and event.value in NO_GRADE

    def _require(self, event: Any, kind: type) -> None:
        """Raise _OtherShape unless *event* is of that *kind* and without a tag; an alias never is."""
        if isinstance(event, kind) and getattr(event, "tag", None) is None:
            return
        mark = event.start_mark
        self._findings.add(mark.line + 1, f"found {self._described(event)}; {EXPECTED}", column=mark.column + 1)
        raise _OtherShape

    def _described(self, event: Any) -> str:
        yaml = self._yaml
        if getattr(event, "tag", None) is not None:
            return "a YAML tag"
        if isinstance(event, yaml.ScalarEvent):
            return repr(event.value[:60])
        names = {yaml.SequenceStartEvent: "a list", yaml.MappingStartEvent: "a mapping", yaml.AliasEvent: "an alias"}
        return next((name for kind, name in names.items() if isinstance(event, kind)), "a second document")
