"""
YAML text -> a tree of nodes.

The parser's events are read one by one, and what makes a file dangerous or ambiguous ends the reading before anything
is built from it: depth, aliases that multiply, tags, a second document. Nothing is given a type here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from harness.errors import Problem, SuiteError
from harness.files.opening import Source
from harness.model import Mark
from harness.suites.nodes import ListNode, MappingNode, Node, Repeat, Written
from harness.suites.yaml_errors import syntax_problem, unquoted_braces_hint

MAX_DEPTH = 64
"""Levels of nesting; a request of an engine has some twenty."""
MAX_NODES = 1_000_000
"""Scalars, mappings and lists in a file, counted after aliases are put in."""


def compose(source: Source) -> tuple[Node | None, list[Problem]]:
    """
    Build the tree of a file.

    Returns:
        The root, or None for a file that holds nothing, and the problems that leave the tree whole: duplicate keys,
        tags, keys that are not scalars.

    Raises:
        SuiteError: The text is not YAML, holds several documents, or goes beyond a limit.
    """
    composer = _Composer(source)
    try:
        for event in yaml.parse(source.text, Loader=_loader()):
            composer.take(event)
    except yaml.YAMLError as error:
        raise SuiteError([*composer.problems, syntax_problem(error, source)]) from None
    return composer.root, composer.problems


def _loader() -> Any:
    """The parser of libyaml, ten times as fast, where PyYAML was built with it."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end was not met yet; *size* and *height* count what it holds."""

    node: MappingNode | ListNode
    anchor: str | None
    size: int = 1
    height: int = 1
    key: Written | None = None
    has_key: bool = False


@dataclass(frozen=True, slots=True)
class _Anchored:
    node: Node
    size: int
    height: int


@dataclass(slots=True)
class _Composer:
    source: Source
    root: Node | None = None
    problems: list[Problem] = field(default_factory=list)
    documents: int = 0
    _values: int = 0
    _open: list[_Open] = field(default_factory=list)
    _anchors: dict[str, _Anchored] = field(default_factory=dict)

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._start(event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._document(event)

    def _document(self, event: yaml.Event) -> None:
        self.documents += 1
        if self.documents > 1:
            self._stop(event, "a second YAML document begins here; expected one document in a file")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._refuse_tag(event)
        scalar = Written(event.value, self._mark(event), plain=not event.style)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(scalar, 1, 0)
        self._count(1, event)
        self._add(scalar, size=1, height=0)

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        self._refuse_tag(event)
        if len(self._open) >= MAX_DEPTH:
            self._stop(event, f"the nesting is deeper than {MAX_DEPTH} levels")
        self._count(1, event)
        mark = self._mark(event)
        mapping = isinstance(event, yaml.MappingStartEvent)
        self._open.append(_Open(MappingNode(mark) if mapping else ListNode(mark), event.anchor))

    def _end(self) -> None:
        done = self._open.pop()
        if done.anchor:
            self._anchors[done.anchor] = _Anchored(done.node, done.size, done.height)
        self._add(done.node, size=done.size, height=done.height)

    def _alias(self, event: yaml.AliasEvent) -> None:
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            inside = any(part.anchor == event.anchor for part in self._open)
            why = "stands inside what it names" if inside else "names nothing that was marked before it"
            self._stop(event, f"the alias *{event.anchor} {why}; text that begins with * is put in quotes")
        if len(self._open) + anchored.height > MAX_DEPTH:
            self._stop(event, f"with the alias *{event.anchor} the nesting is deeper than {MAX_DEPTH} levels")
        self._count(anchored.size, event)
        self._add(anchored.node, size=anchored.size, height=anchored.height)

    def _count(self, values: int, event: yaml.Event) -> None:
        self._values += values
        if self._values > MAX_NODES:
            self._stop(event, f"the file holds more than {MAX_NODES:,} values, aliases put in")

    def _add(self, node: Node, *, size: int, height: int) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        parent.size += size
        parent.height = max(parent.height, height + 1)
        if isinstance(parent.node, ListNode):
            parent.node.append(node)
        elif parent.has_key:
            self._set(parent.node, parent.key, node)
            parent.key, parent.has_key = None, False
        else:
            parent.key, parent.has_key = self._as_key(node), True

    def _set(self, mapping: MappingNode, key: Written | None, value: Node) -> None:
        """Take the pair in; a key that was refused is None, and a key that stands there already is a problem."""
        if key is None:
            return
        if key in mapping:
            first = mapping.key(key).mark
            message = f"the key {str(key)!r} stands twice here, first in line {first.line}, column {first.column}"
            problem = self.source.problem(key.mark.line, key.mark.column, message)
            self.problems.append(problem)
            mapping.repeats.append(Repeat(key, value, problem))
            return
        mapping[key] = value

    def _as_key(self, node: Node) -> Written | None:
        if not isinstance(node, Written):
            hint = unquoted_braces_hint(self.source, node.mark)
            kind = "a mapping" if isinstance(node, MappingNode) else "a list"
            self._note(node.mark, f"{kind} stands as a key; expected a word{hint}")
            return None
        if node == "<<" and node.plain:
            self._note(node.mark, "the merge key << is not read; write out what is shared, or use an alias for a value")
            return None
        return node

    def _refuse_tag(self, event: yaml.NodeEvent) -> None:
        tag = getattr(event, "tag", None)
        if tag is not None:
            written = tag.replace("tag:yaml.org,2002:", "!!")
            self._note(self._mark(event), f"found the YAML tag {written}; expected a value without a tag")

    def _mark(self, event: yaml.Event) -> Mark:
        start = event.start_mark
        return Mark(self.source.path, start.line + 1, start.column + 1) if start else Mark(self.source.path)

    def _note(self, mark: Mark, message: str) -> None:
        self.problems.append(self.source.problem(mark.line, mark.column, message))

    def _stop(self, event: yaml.Event, message: str) -> NoReturn:
        mark = self._mark(event)
        raise SuiteError([*self.problems, self.source.problem(mark.line, mark.column, message)])
