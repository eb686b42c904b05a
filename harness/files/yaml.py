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

import re
from collections.abc import Iterator
from functools import cache
from typing import IO, Any

from harness.files.opening import JUDGMENTS, FileProblems, Layout, Record

NO_GRADE = ("", "~", "null", "Null", "NULL")
"""Unquoted scalars that mean no value."""

_EXPECTED = "expected query ids with document ids and grades below them, such as 'sku-17: 3'"

PARSER_TOO_DEEP = "exceeded maximum nesting depth"
"""
What the parser of PyYAML 6.0.4 says beyond 1,000 levels.

It reads a thousand characters ahead of its events, so that it may stop before the first level is seen here.
"""

_PAIR = re.compile(r"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def choose_yaml_loader(text: str = "") -> Any:
    """
    The parser of libyaml, which is ten times as fast, if PyYAML was built with it.

    It refuses a character written as two halves, as JSON does; a *text* that has one gets a parser that reads it.
    """
    import yaml

    if _PAIR.search(text):
        return _make_pairing_loader()
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _make_pairing_loader() -> Any:
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


class _OtherShape(Exception):
    """The file is YAML with another structure; the findings have the place."""


def read_yaml(file: IO[bytes], layout: Layout, findings: FileProblems) -> Iterator[Record]:
    """The judgments of the file; the first other structure ends the reading, and goes to *findings*."""
    import yaml

    if layout is not JUDGMENTS:
        findings.add(0, "a run cannot be YAML; expected TREC, CSV, JSON lines or Parquet")
        return
    events = yaml.parse(file, Loader=choose_yaml_loader())
    try:
        yield from _Walk(yaml, events, findings).iterate_records()
    except _OtherShape:
        return
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 1)
        problem = getattr(error, "problem", None) or str(error)
        sentence = (
            f"the nesting is too deep; {_EXPECTED}" if problem == PARSER_TOO_DEEP else f"this is not YAML: {problem}"
        )
        findings.add(line, sentence, column=column)


class _Walk:
    """Reads the events of two nested mappings."""

    def __init__(self, yaml: Any, events: Iterator[Any], findings: FileProblems) -> None:
        self._yaml = yaml
        self._events = events
        self._findings = findings

    def iterate_records(self) -> Iterator[Record]:
        yaml = self._yaml
        # The first event is the beginning of the stream.
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return
        root = next(self._events)
        if self._is_empty(root):
            return
        self._require(root, yaml.MappingStartEvent)
        query = self._read_key()
        while query is not None:
            yield from self._iterate_query(query)
            query = self._read_key()
        # After the end of the document, a second one may begin.
        next(self._events)
        self._require(next(self._events), yaml.StreamEndEvent)

    def _iterate_query(self, query: Any) -> Iterator[Record]:
        begin = next(self._events)
        if self._is_empty(begin):
            return
        self._require(begin, self._yaml.MappingStartEvent)
        document = self._read_key()
        while document is not None:
            grade = next(self._events)
            self._require(grade, self._yaml.ScalarEvent)
            has_no_grade = not grade.style and grade.value in NO_GRADE
            place = document.start_mark
            value = "" if has_no_grade else grade.value
            yield Record(place.line + 1, query.value, document.value, value, column=place.column + 1)
            document = self._read_key()

    def _read_key(self) -> Any:
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
        self._findings.add(mark.line + 1, f"found {self._describe(event)}; {_EXPECTED}", column=mark.column + 1)
        raise _OtherShape

    def _describe(self, event: Any) -> str:
        yaml = self._yaml
        if getattr(event, "tag", None) is not None:
            return "a YAML tag"
        if isinstance(event, yaml.ScalarEvent):
            return repr(event.value[:60])
        names = {yaml.SequenceStartEvent: "a list", yaml.MappingStartEvent: "a mapping", yaml.AliasEvent: "an alias"}
        return names.get(type(event), "a second document")
