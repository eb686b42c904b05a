"""
YAML text -> a tree of nodes with marks, or syntax errors with our own messages.

The parser's events are processed one by one, and dangerous or ambiguous files are refused before anything is built:
deep nesting, alias expansion, tags, a second document. Scalars have no type here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias

import yaml

from harness.errors import Problem, ProblemCode, SuiteError
from harness.files.border import conceal
from harness.files.opening import MOST_PROBLEMS, TextSource
from harness.files.yaml import PARSER_TOO_DEEP, choose_yaml_loader
from harness.model.suite import Json, Mark
from harness.words import count, shorten


class ScalarNode(str):
    """
    A scalar as written in the file, so that an id `007` or `1.10` is not changed.

    *plain* says that it has no quotes; only then it may be a number. *raw* is the text before variables were replaced,
    *variables* are their names, *unset* those that have no value yet. *whole* says that it is one variable and nothing
    else. *masked* is the text with ``${NAME}`` for each value from the environment that may be a secret.
    """

    __slots__ = ("mark", "masked", "plain", "raw", "unset", "variables", "whole")

    mark: Mark
    plain: bool
    raw: str
    masked: str
    variables: tuple[str, ...]
    unset: tuple[str, ...]
    whole: bool

    def __new__(cls, text: str, mark: Mark, *, plain: bool) -> ScalarNode:
        """*text* at *mark*, before variables are replaced."""
        written = super().__new__(cls, text)
        written.mark = mark
        written.plain = plain
        written.raw = written.masked = text
        written.variables = written.unset = ()
        written.whole = False
        return written

    def __getnewargs_ex__(self) -> tuple[tuple[str, Mark], dict[str, bool]]:
        """The arguments that a copy is made with; `str` has the text alone."""
        return (str(self), self.mark), {"plain": self.plain}

    def fill(
        self, text: str, masked: str, variables: tuple[str, ...], unset: tuple[str, ...], *, whole: bool
    ) -> ScalarNode:
        """A copy with variables replaced: its value is *text*; stored files have *masked* instead."""
        written = ScalarNode(text, self.mark, plain=self.plain)
        written.masked = masked
        written.raw, written.variables, written.unset, written.whole = self.raw, variables, unset, whole
        return written

    @property
    def empty(self) -> bool:
        """Whether there is no value, as after `key:`."""
        return self.plain and not self.raw


class MappingNode(dict[ScalarNode, Any]):
    """A mapping; its keys are scalars with marks. *repeats* are the pairs of duplicate keys."""

    __slots__ = ("mark", "repeats")

    def __init__(self, mark: Mark, pairs: Iterable[tuple[ScalarNode, Any]] = ()) -> None:
        super().__init__(pairs)
        self.mark = mark
        self.repeats: list[RepeatedKey] = []

    def find_key(self, text: str) -> ScalarNode:
        """The key *text* with its mark."""
        return next(key for key in self if key == text)

    def find_child(self, key: str) -> Any:
        """The node below *key*, None if there is no such key."""
        return next((value for name, value in self.items() if name == key), None)


def find_child(node: object, key: str) -> Any:
    """The node below *key* of *node*; None if that is no mapping, or has no such key."""
    return node.find_child(key) if isinstance(node, MappingNode) else None


class ListNode(list[Any]):
    """A list."""

    __slots__ = ("mark",)

    def __init__(self, mark: Mark, items: Iterable[Any] = ()) -> None:
        super().__init__(items)
        self.mark = mark


Node: TypeAlias = ScalarNode | MappingNode | ListNode


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """A pair with a duplicate *key*, and its *problem*."""

    key: ScalarNode
    value: Node
    problem: Problem


def make_node(value: Json, mark: Mark) -> Node:
    """*value* as the node that YAML of the same value at *mark* has."""
    if isinstance(value, Mapping):
        pairs = [(ScalarNode(key, mark, plain=False), make_node(member, mark)) for key, member in value.items()]
        return MappingNode(mark, pairs)
    if isinstance(value, list):
        return ListNode(mark, [make_node(member, mark) for member in value])
    if isinstance(value, str):
        return ScalarNode(value, mark, plain=False)
    return ScalarNode(json.dumps(value), mark, plain=True)


def describe(node: Node) -> str:
    """The node in an error: ``a list``, ``'abc'``, ``nothing``."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, ListNode):
        return "a list"
    return "nothing" if node.empty else repr(shorten(node.raw))


_NULLS = {"", "~", "null", "Null", "NULL"}
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_NOT_A_NUMBER = {".nan", ".NaN", ".NAN"}
_LONGEST_INTEGER = 300
"""Digits; Python refuses to convert thousands of them, and no engine accepts as many."""


def resolve(text: str) -> str | int | float | bool | None:
    """
    The value of a plain scalar.

    >>> [resolve(text) for text in ("12", "0x1F", "1e3", "true", "no", "012", "2027-01-01")]
    [12, 31, 1000.0, True, 'no', '012', '2027-01-01']
    """
    if text in _NULLS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    number = resolve_number(text)
    return text if number is None else number


def resolve_number(text: str) -> int | float | None:
    """The number of a plain scalar, None if it is not one; `.inf` and `.nan` are numbers."""
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _LONGEST_INTEGER else math.inf
    if _RADIX.fullmatch(text):
        return int(text, 0) if len(text) <= _LONGEST_INTEGER else math.inf
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if text in _NOT_A_NUMBER:
        return math.nan
    return None


_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_BARE_INDICATOR = re.compile(r"(?:^|[-:,\[{]\s+|[\[{,])(@|%|>=?|`|\|)[^\s#]")
_BRACES_HINT = '; YAML reads {{text}} without quotes as a mapping; write "{{text}}"'


def make_syntax_problem(error: yaml.YAMLError, source: TextSource) -> Problem:
    """The place of *error* and a message."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return source.make_problem(0, 0, f"this is not YAML: {error}", "syntax")
    line, column = mark.line + 1, mark.column + 1
    message = str(getattr(error, "problem", "") or "")
    if message == PARSER_TOO_DEEP:
        return source.make_problem(line, column, _TOO_DEEP, "syntax")
    if source.get_line(line)[column - 1 : column] == "\t" or "tab" in message:
        return source.make_problem(line, column, "found a tab; YAML is indented with spaces", "syntax")
    if "escape" in message or "hexdecimal" in message:
        return _make_escape_problem(source, line, column)
    context = str(getattr(error, "context", "") or "")
    context_mark = getattr(error, "context_mark", None)
    if "quoted scalar" in context and context_mark:
        # The parser stops at the end of the file. The quote that begins the text is what has to be mended.
        line, column, sentence = context_mark.line + 1, context_mark.column + 1, "this quote is not closed"
    else:
        sentence = _explain_syntax_error(message, context, context_mark)
    return source.make_problem(line, column, sentence + _suggest_quotes(source, line, column), "syntax")


_ESCAPE = re.compile(r"\\(?:([xuU])([0-9a-fA-F]*)|.|$)")
_DIGITS = {"x": 2, "u": 4, "U": 8}


def _make_escape_problem(source: TextSource, line: int, column: int) -> Problem:
    """A text in double quotes with a backslash, at or before *column*, that begins no character."""
    text = source.get_line(line)
    begin = text.rfind("\\", 0, column)
    escape = _ESCAPE.match(text, max(begin, 0))
    # The parser that joins halves of characters knows only where the text begins.
    if escape is None:
        reason = "this text has half of a character; write the character itself, or its number as in \\U0001F600"
        return source.make_problem(line, column, reason, "syntax")
    digits = _DIGITS.get(escape[1] or "", 0)
    if len(escape[2] or "") < digits:
        reason = f"{escape[0]} is no character; expected {digits} hexadecimal digits after \\{escape[1]}"
    elif digits:
        number = escape[0][: 2 + digits]
        reason = f"{number} is no character; write the character itself, or its number as in \\U0001F600"
    else:
        reason = f"{escape[0]} means nothing in double quotes; put the text in single quotes"
    message = f"{reason}, or write two backslashes for one that belongs to the text"
    return source.make_problem(line, begin + 1, message, "syntax")


def _explain_syntax_error(message: str, context: str, context_mark: yaml.Mark | None) -> str:
    """Our own sentence for the parser's *message* and *context*, which begins at *context_mark*."""
    if "flow mapping" in context or "flow sequence" in context:
        bracket, closing = ("{", "}") if "mapping" in context else ("[", "]")
        where = f" of line {context_mark.line + 1}, column {context_mark.column + 1}" if context_mark else ""
        return f"expected ',' or '{closing}' here, because the '{bracket}'{where} is not closed"
    if "cannot start any token" in message:
        return "found a character that cannot begin a value"
    if "mapping values are not allowed" in message:
        return "found ': ' inside a value; put a text that contains it in quotes"
    if "block scalar" in context:
        return "invalid text after a > or | that begins a block of text"
    if "block mapping" in context or "block collection" in context:
        return "this line does not fit the ones above it; check the indentation and the quotes"
    return f"this is not YAML: {message or context}"


def _suggest_quotes(source: TextSource, line: int, column: int) -> str:
    """A hint for what a suite often has without the quotes that YAML needs; empty if the line has none of it."""
    unquoted = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), source.get_line(line))
    if "{{" in unquoted:
        return _BRACES_HINT
    if "${" in unquoted and unquoted.find("${") < column:
        return '; inside [ ] and { } put a variable in quotes: "${NAME}"'
    indicator = _BARE_INDICATOR.search(unquoted)
    if indicator:
        return f"; put a text that begins with {indicator[1]} in quotes"
    return ""


MAX_DEPTH = 64
"""Levels of nesting; requests have up to about twenty."""
_TOO_DEEP = f"the nesting is deeper than {MAX_DEPTH} levels"
MAX_NODES = 1_000_000
"""Scalars, mappings and lists in a file, counted after aliases are expanded."""


def compose(source: TextSource) -> tuple[Node | None, list[Problem]]:
    """
    Build the tree of a file.

    Returns:
        The root, or None for an empty file, and the problems that do not prevent building the tree: duplicate keys,
        tags, keys that are not scalars.

    Raises:
        SuiteError: The text is not YAML, has several documents, or exceeds a limit.
    """
    composer = Composer(source)
    try:
        for event in yaml.parse(source.text, Loader=choose_yaml_loader(source.text)):
            composer.take(event)
    except yaml.YAMLError as error:
        raise SuiteError([*composer.problems, make_syntax_problem(error, source)]) from None
    return composer.root, composer.problems


@dataclass(slots=True)
class _OpenNode:
    """A mapping or list that has not ended yet; *size* counts its values, *height* its levels."""

    node: MappingNode | ListNode
    anchor: str | None
    size: int = 1
    height: int = 1
    key: ScalarNode | None = None
    """The key whose value comes next; None if the key was refused, or if a key comes next."""
    has_key: bool = False


@dataclass(frozen=True, slots=True)
class _AnchoredNode:
    """A node that aliases may name, with its *size* and *height* as in `_OpenNode`."""

    node: Node
    size: int
    height: int


@dataclass(slots=True)
class Composer:
    """Builds the tree of *source* from the events of the parser."""

    source: TextSource
    root: Node | None = None
    problems: list[Problem] = field(default_factory=list)
    _documents: int = 0
    _values: int = 0
    _open: list[_OpenNode] = field(default_factory=list)
    _anchors: dict[str, _AnchoredNode] = field(default_factory=dict)

    def take(self, event: yaml.Event) -> None:
        """Add what *event* begins or ends; raises SuiteError beyond a limit."""
        if isinstance(event, yaml.ScalarEvent):
            self._take_scalar(event)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._open_node(event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._close_node()
        elif isinstance(event, yaml.AliasEvent):
            self._take_alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._stop(event, "a second YAML document begins here; expected one document per file")

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        self._refuse_tag(event)
        scalar = ScalarNode(event.value, self._find_mark(event), plain=not event.style)
        if event.anchor:
            self._anchors[event.anchor] = _AnchoredNode(scalar, 1, 0)
        self._count(1, event)
        self._add(scalar, size=1, height=0)

    def _open_node(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        self._refuse_tag(event)
        if len(self._open) >= MAX_DEPTH:
            self._stop(event, _TOO_DEEP)
        self._count(1, event)
        mark = self._find_mark(event)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        node = MappingNode(mark) if is_mapping else ListNode(mark)
        self._open.append(_OpenNode(node, event.anchor))

    def _close_node(self) -> None:
        closed = self._open.pop()
        if closed.anchor:
            self._anchors[closed.anchor] = _AnchoredNode(closed.node, closed.size, closed.height)
        self._add(closed.node, size=closed.size, height=closed.height)

    def _take_alias(self, event: yaml.AliasEvent) -> None:
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            is_inside = any(parent.anchor == event.anchor for parent in self._open)
            reason = "is inside the value that it refers to" if is_inside else "has no anchor before it"
            self._stop(event, f"the alias *{event.anchor} {reason}; put a text that begins with * in quotes")
        # A few lines of aliases to aliases expand to billions of values. Each alias counts like what it stands for.
        if len(self._open) + anchored.height > MAX_DEPTH:
            self._stop(event, f"with the alias *{event.anchor} the nesting is deeper than {MAX_DEPTH} levels")
        self._count(anchored.size, event)
        self._add(anchored.node, size=anchored.size, height=anchored.height)

    def _count(self, values: int, event: yaml.Event) -> None:
        self._values += values
        if self._values > MAX_NODES:
            self._stop(event, f"the file holds more than {MAX_NODES:,} values, with aliases expanded")

    def _add(self, node: Node, *, size: int, height: int) -> None:
        """Add a node that has ended to its parent: as an item, as a key, or as the value of the key before it."""
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        parent.size += size
        parent.height = max(parent.height, height + 1)
        if isinstance(parent.node, ListNode):
            parent.node.append(node)
        elif parent.has_key:
            if parent.key is not None:
                self._add_pair(parent.node, parent.key, node)
            parent.key, parent.has_key = None, False
        else:
            parent.key, parent.has_key = self._check_key(node), True

    def _add_pair(self, mapping: MappingNode, key: ScalarNode, value: Node) -> None:
        """Add a pair; a duplicate key is a problem, and its first value counts."""
        if key not in mapping:
            mapping[key] = value
            return
        first = mapping.find_key(key).mark
        message = f"the key {str(key)!r} occurs twice, first in line {first.line}, column {first.column}"
        problem = self.source.make_problem(key.mark.line, key.mark.column, message)
        self.problems.append(problem)
        mapping.repeats.append(RepeatedKey(key, value, problem))

    def _check_key(self, node: Node) -> ScalarNode | None:
        """*node* if it can be a key, else None, and a problem."""
        if not isinstance(node, ScalarNode):
            kind = "a mapping" if isinstance(node, MappingNode) else "a list"
            line, begin = self.source.get_line(node.mark.line), node.mark.column - 1
            # A placeholder without quotes is a mapping whose key is a mapping.
            has_braces = "{{" in line[max(0, begin - 1) : begin + 2]
            hint = _BRACES_HINT if has_braces else ""
            self._note(node.mark, f"found {kind} as a key, expected a word{hint}")
            return None
        if node == "<<" and node.plain:
            self._note(node.mark, "the merge key << is not supported; repeat the keys, or use an alias for a value")
            return None
        return node

    def _refuse_tag(self, event: yaml.NodeEvent) -> None:
        tag = getattr(event, "tag", None)
        if tag is not None:
            written = tag.replace("tag:yaml.org,2002:", "!!")
            self._note(self._find_mark(event), f"found the YAML tag {written}; expected a value without a tag")

    def _find_mark(self, event: yaml.Event) -> Mark:
        start = event.start_mark
        return Mark(self.source.path, start.line + 1, start.column + 1) if start else Mark(self.source.path)

    def _note(self, mark: Mark, message: str) -> None:
        self.problems.append(self.source.make_problem(mark.line, mark.column, message))

    def _stop(self, event: yaml.Event, message: str) -> NoReturn:
        mark = self._find_mark(event)
        raise SuiteError([*self.problems, self.source.make_problem(mark.line, mark.column, message)])


def _find_place_in_block(scalar: ScalarNode, offset: int, source: TextSource) -> tuple[int, int] | None:
    """
    Line and column of the character *offset* of a block whose lines are those of the text; None in a folded one.

    At the end of the text it is the end of its last line.
    """
    offset = min(offset, len(scalar.rstrip()))
    above = scalar[:offset].count("\n")
    text = scalar.split("\n")[above]
    line = scalar.mark.line + 1 + above
    written = source.get_line(line)
    if not text or not written.rstrip().endswith(text.rstrip()):
        return None
    indent = written.rindex(text.rstrip())
    if written[:indent].strip():
        return None
    return line, indent + 1 + offset - (scalar[:offset].rfind("\n") + 1)


@dataclass(slots=True)
class Problems:
    """
    The problems of the suite with the text *source*, and of the files that it names.

    *concealed* are the names of those files whose content is not printed. *sources* are files whose lines are shown.
    """

    source: TextSource
    found: list[Problem] = field(default_factory=list)
    concealed: set[str] = field(default_factory=set)
    sources: dict[str, TextSource] = field(default_factory=dict)
    _noted: set[Problem] = field(default_factory=set)

    def note(self, mark: Mark, message: str, code: ProblemCode = "invalid-value") -> None:
        """Note a problem at a place in the suite, or in a file that it names; the same problem only once."""
        source = self._find_source(mark)
        if source is None:
            problem = Problem(mark.path, mark.line, mark.column, message, code=code)
        else:
            problem = source.make_problem(mark.line, mark.column, message, code)
        self._note_once(problem)

    def note_without_excerpt(self, mark: Mark, message: str) -> None:
        """Note a problem whose line must not be printed, because it may have a secret."""
        self.extend([Problem(mark.path, mark.line, mark.column, message)])

    def note_unquoted(self, problem: Problem) -> None:
        """Note a *problem* whose message quotes nothing of its file, so that it is printed for any file."""
        self.found.append(replace(problem, excerpt=""))

    def note_others(self, message: str, count: int) -> None:
        """Note that *count* more problems are not shown."""
        self.found.append(Problem(self.source.path, 0, 0, message, count=count))

    def note_inside(self, scalar: ScalarNode, offset: int, message: str, code: ProblemCode = "invalid-value") -> None:
        """Note a problem at the character *offset* of a scalar, or at its beginning if variables were replaced."""
        source = self._find_source(scalar.mark)
        if source is None:
            # The scalar is in no file, but in a body from Python.
            self.note(scalar.mark, message, code)
            return
        column = scalar.mark.column
        begin = column - 1 if scalar.plain else column
        line = scalar.mark.line
        # With escapes, offsets in the text are not those in its line.
        is_as_in_line = scalar == scalar.raw and source.get_line(line)[begin:].startswith(scalar.raw)
        if is_as_in_line and offset > 0:
            column = begin + 1 + offset
        elif scalar == scalar.raw and "\n" in scalar:
            line, column = _find_place_in_block(scalar, offset, source) or (line, column)
        self._note_once(source.make_problem(line, column, message, code))

    def _find_source(self, mark: Mark) -> TextSource | None:
        """The file of *mark* if its lines are shown."""
        return self.source if mark.path == self.source.path else self.sources.get(mark.path)

    def _note_once(self, problem: Problem) -> None:
        """Note *problem*, once for all requests that share a file, and for all aliases of a value."""
        if problem not in self._noted:
            self._noted.add(problem)
            self.extend([problem])

    def note_all_inside(self, scalar: ScalarNode, notes: Mapping[int, str]) -> None:
        """Note the first problems of a scalar, by the offset of each, and the number of the others."""
        offsets = sorted(notes)
        for offset in offsets[:MOST_PROBLEMS]:
            self.note_inside(scalar, offset, notes[offset])
        others = len(offsets) - MOST_PROBLEMS
        if others > 0:
            self.note_others(
                f"{count(others, 'more problem')} of the text in line {scalar.mark.line} are not shown", others
            )

    def list_first(self, most: int) -> list[Problem]:
        """The first *most* problems by place, and the number of the others."""
        shown = sorted(self.found)[:most]
        others = sum(problem.count for problem in self.found) - sum(problem.count for problem in shown)
        if not others:
            return shown
        subject = "1 more problem is" if others == 1 else f"{others:,} more problems are"
        return [*shown, Problem(self.source.path, 0, 0, f"{subject} not shown", count=others)]

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add problems that were found elsewhere."""
        for problem in problems:
            if problem.path in self.concealed:
                problem = conceal(problem)
                # Without what was found, two problems of a line look the same.
                if problem in self.found:
                    continue
            self.found.append(problem)
