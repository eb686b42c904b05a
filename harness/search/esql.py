"""
A text of ES|QL as far as the harness has to know it: its parameters, what it searches, how it orders and limits rows.

A body ``{"esql": TEXT, "params": {NAME: VALUE}, "size": LIMIT}`` stands for one. Values are sent beside the text, under
the names of its parameters, and never become a part of it. The text itself is read as Elasticsearch's grammar divides
it: strings, names in backticks and comments are one piece each, so that nothing in them counts as a command.
Source: https://www.elastic.co/docs/reference/query-languages/esql/esql-syntax
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from harness.model.suite import Json

ESQL = "esql"
"""The key of a body with the text."""

PATH = "/_query"
"""Where it is sent."""


def is_esql(body: Json) -> bool:
    """Whether *body* is one of ES|QL, and not of `_search`."""
    return isinstance(body, Mapping) and ESQL in body


def explain_no_esql(kind: str) -> str:
    """
    Why a server of that *kind* cannot be sent ES|QL; empty where it may have it.

    >>> explain_no_esql("opensearch")
    'OpenSearch has no ES|QL: it is a language of Elasticsearch alone'
    """
    return "OpenSearch has no ES|QL: it is a language of Elasticsearch alone" if kind == "opensearch" else ""


class EsqlError(Exception):
    """A text cannot be divided into commands; *offset* is the character where the reason begins."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class PieceKind(Enum):
    """What a piece of a text is."""

    WORD = "word"
    """A keyword, a number or a name, with its dots."""
    TEXT = "text"
    QUOTED = "name in backticks"
    PARAMETER = "parameter"
    MARK = "mark"
    """Any other character."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that stands for one thing, *offset* characters from its beginning, inside *depth* brackets."""

    kind: PieceKind
    text: str
    offset: int
    depth: int

    def is_word(self, *words: str) -> bool:
        """Whether it is one of *words*, which are in capitals, in any case."""
        return self.kind is PieceKind.WORD and self.text.upper() in words

    def is_mark(self, mark: str) -> bool:
        """Whether it is the character *mark*, outside of brackets."""
        return self.kind is PieceKind.MARK and self.text == mark and self.depth == 0

    @property
    def name(self) -> str:
        """The column that it names; empty if it names none."""
        if self.kind is PieceKind.QUOTED:
            return self.text[1:-1].replace("``", "`")
        return self.text if self.kind is PieceKind.WORD else ""


_PIECES = re.compile(
    r"""
    (?P<blank>\s+|//[^\r\n]*)
    | (?P<comment>/\*)
    | (?P<text>\"{3}[^\r\n]*?\"{3}\"{0,2} | \"(?!\"\")(?:\\.|[^\\\"\r\n])*\")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<parameter>\?{1,2}[A-Za-z0-9_]*)
    | (?P<word>[\w@.]+)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_ENDS = re.compile(r"/\*|\*/")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def list_pieces(text: str) -> list[Piece]:
    """
    The pieces of *text*, without blanks and comments.

    Raises:
        EsqlError: A string, a comment or a bracket is not closed.

    >>> [piece.text for piece in list_pieces('WHERE MATCH(title, ?text) // "a | b"')]
    ['WHERE', 'MATCH', '(', 'title', ',', '?text', ')']
    """
    pieces: list[Piece] = []
    open_brackets: list[Piece] = []
    offset = 0
    while offset < len(text):
        match = _PIECES.match(text, offset)
        assert match is not None  # a mark is any character
        kind = str(match.lastgroup)
        if kind == "comment":
            offset = _find_end_of_comment(text, offset)
            continue
        if kind != "blank":
            piece = _make_piece(match, kind, open_brackets)
            pieces.append(piece)
        offset = match.end()
    if open_brackets:
        raise EsqlError(f"the bracket {open_brackets[-1].text} is not closed", open_brackets[-1].offset)
    return pieces


def _make_piece(match: re.Match[str], kind: str, open_brackets: list[Piece]) -> Piece:
    """The piece that *match* is; *open_brackets* takes one that it opens, and loses one that it closes."""
    text = match[0]
    if kind != "mark":
        kinds = {"text": PieceKind.TEXT, "quoted": PieceKind.QUOTED, "parameter": PieceKind.PARAMETER}
        return Piece(kinds.get(kind, PieceKind.WORD), text, match.start(), len(open_brackets))
    if text in ('"', "`"):
        raise EsqlError(f"the text after {text} is not closed in its line", match.start())
    if text in _BRACKETS.values() and (not open_brackets or _BRACKETS[open_brackets.pop().text] != text):
        raise EsqlError(f"the bracket {text} closes none", match.start())
    piece = Piece(PieceKind.MARK, text, match.start(), len(open_brackets))
    if text in _BRACKETS:
        open_brackets.append(piece)
    return piece


def _find_end_of_comment(text: str, start: int) -> int:
    """The end of the comment that begins at *start*; it may have others inside."""
    depth = 0
    for match in _COMMENT_ENDS.finditer(text, start):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    raise EsqlError("the comment /* is not closed", start)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the *name* in capitals, and its *pieces* behind the name; *offset* is that of the name."""

    name: str
    pieces: tuple[Piece, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class SortKey:
    """What rows are sorted by: the name of a column, empty for an expression."""

    column: str
    is_descending: bool = False


KEEPS_ROWS = frozenset({"KEEP", "DROP", "RENAME", "EVAL"})
"""Commands that leave all rows in their order."""

KEEPS_ORDER = KEEPS_ROWS | {"LIMIT", "WHERE"}
"""Commands that leave the rows that they keep in their order."""

_READS_INDEX = ("FROM", "TS", "JOIN", "ENRICH")
"""Words that stand before what is read."""


@dataclass(frozen=True)
class EsqlQuery:
    """A text of ES|QL, divided into its commands."""

    text: str
    pieces: tuple[Piece, ...]
    commands: tuple[Command, ...]

    @cached_property
    def parameters(self) -> dict[str, int]:
        """The names of its parameters, each with its first place; of those without a name, what is written."""
        found: dict[str, int] = {}
        for piece in self.pieces:
            if piece.kind is PieceKind.PARAMETER:
                found.setdefault(piece.text.lstrip("?") or piece.text, piece.offset)
        return found

    def find_last(self, name: str) -> Command | None:
        """The last command of that *name*; None if there is none."""
        return next((command for command in reversed(self.commands) if command.name == name), None)

    @cached_property
    def source(self) -> tuple[Piece, ...]:
        """The pieces that name what its first command, a FROM, reads."""
        pieces = self.commands[0].pieces
        end = next((number for number, piece in enumerate(pieces) if piece.is_word("METADATA")), len(pieces))
        # In versions up to 8.16, brackets may stand around METADATA.
        if 0 < end < len(pieces) and pieces[end - 1].text == "[":
            end -= 1
        return pieces[:end]

    @cached_property
    def index(self) -> str:
        """The indexes of its first command, a FROM, with commas between."""
        names = [piece.text.strip('"') if piece.kind is PieceKind.TEXT else piece.text for piece in self.source]
        return "".join(names)

    @cached_property
    def metadata(self) -> frozenset[str]:
        """The fields behind METADATA."""
        pieces = self.commands[0].pieces[len(self.source) :]
        return frozenset(piece.name for piece in pieces if piece.name and not piece.is_word("METADATA"))

    @cached_property
    def sort_keys(self) -> tuple[SortKey, ...]:
        """The keys of its last SORT."""
        command = self.find_last("SORT")
        keys: list[SortKey] = []
        key: list[Piece] = []
        for piece in () if command is None else command.pieces:
            if piece.is_mark(","):
                keys.append(_read_sort_key(key))
                key = []
            else:
                key.append(piece)
        return (*keys, _read_sort_key(key)) if key else tuple(keys)

    @cached_property
    def limit(self) -> Piece | None:
        """The number of its last LIMIT, or the parameter in the place of one; None if there is none."""
        command = self.find_last("LIMIT")
        if command is None or len(command.pieces) != 1:
            return None
        [piece] = command.pieces
        is_number = piece.kind is PieceKind.WORD and piece.text.isascii() and piece.text.isdigit()
        return piece if is_number or piece.kind is PieceKind.PARAMETER else None

    @cached_property
    def lists_all(self) -> bool:
        """Whether fewer rows than its LIMIT are all that it finds: no other command limits them, or leaves some out."""
        limits = [number for number, command in enumerate(self.commands) if command.name == "LIMIT"]
        if len(limits) != 1:
            return False
        for command in self.commands[: limits[0]]:
            # The nearest neighbors are a number of rows too, and a FORK has commands of its own.
            if any(piece.is_word("KNN", "LIMIT") for piece in command.pieces):
                return False
        return all(command.name in KEEPS_ROWS for command in self.commands[limits[0] + 1 :])

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """All that names indexes or policies in it, at any depth: each such word with the pieces up to the next one."""
        found: list[str] = []
        is_named = False
        for piece in self.pieces:
            if piece.is_word(*_READS_INDEX):
                is_named = True
                found.append("")
            elif piece.is_word("METADATA", "ON", "WITH") or piece.text in ("|", ")"):
                is_named = False
            elif is_named:
                found[-1] += piece.text
        return tuple(found)

    def move(self, index: str) -> str:
        """The text, which searches *index* in place of its own; its first command is a FROM."""
        if index == self.index:
            return self.text
        names = [_quote_index(name) for name in index.split(",")]
        last = self.source[-1]
        return f"{self.text[: self.source[0].offset]}{', '.join(names)}{self.text[last.offset + len(last.text) :]}"


_PLAIN_INDEX = re.compile(r"[\w.*<>{}:@+-]+")


def _quote_index(name: str) -> str:
    return name if _PLAIN_INDEX.fullmatch(name) else f'"{name}"'


def _read_sort_key(pieces: Sequence[Piece]) -> SortKey:
    first, *others = pieces or [Piece(PieceKind.MARK, "", 0, 0)]
    is_column = all(piece.is_word("ASC", "DESC", "NULLS", "FIRST", "LAST") for piece in others)
    is_descending = any(piece.is_word("DESC") for piece in others)
    return SortKey(first.name if is_column else "", is_descending)


@lru_cache(maxsize=64)
def parse_esql(text: str) -> EsqlQuery:
    """
    *text* in its commands.

    Raises:
        EsqlError: It cannot be divided, or its first command is no FROM with an index.

    >>> query = parse_esql("FROM a, b METADATA _id, _score | WHERE MATCH(t, ?text) | SORT _score DESC | LIMIT 5")
    >>> query.index, sorted(query.metadata), query.sort_keys, query.limit.text, query.move("c")[:13]
    ('a,b', ['_id', '_score'], (SortKey(column='_score', is_descending=True),), '5', 'FROM c METADA')
    """
    pieces = list_pieces(text)
    commands: list[Command] = []
    group: list[Piece] = []
    for piece in [*pieces, Piece(PieceKind.MARK, "|", len(text), 0)]:
        if not piece.is_mark("|"):
            group.append(piece)
            continue
        if not group:
            raise EsqlError("expected a command before this place", piece.offset)
        commands.append(Command(group[0].text.upper(), tuple(group[1:]), group[0].offset))
        group = []
    query = EsqlQuery(text, tuple(pieces), tuple(commands))
    if commands[0].name != "FROM" or not query.source:
        raise EsqlError("expected FROM and the name of an index as the first command", commands[0].offset)
    bracket = next((piece for piece in query.source if piece.text == "("), None)
    if bracket is not None:
        raise EsqlError("found a subquery in FROM, expected the names of indexes", bracket.offset)
    return query


_ALL_FIELDS = re.compile(r"\b(?:QSTR|KQL)\s*\(", re.IGNORECASE)


def searches_all_fields(body: Json) -> bool:
    """
    Whether *body* is of ES|QL, and has a function whose text may search fields that nothing names.

    >>> searches_all_fields({"esql": "FROM a | WHERE QSTR(?text)"}), searches_all_fields({"query": {}})
    (True, False)
    """
    return is_esql(body) and _ALL_FIELDS.search(str(body[ESQL])) is not None


def make_content(body: Mapping[str, Json]) -> dict[str, Json]:
    """
    What is sent of *body*: the text, and its parameters by their names.

    >>> make_content({"esql": "FROM a | WHERE MATCH(t, ?text)", "params": {"text": '" OR 1'}, "size": 10})
    {'query': 'FROM a | WHERE MATCH(t, ?text)', 'params': [{'text': '" OR 1'}]}
    """
    content: dict[str, Json] = {"query": body[ESQL]}
    params = body.get("params")
    if params:
        content["params"] = [{name: value} for name, value in params.items()]
    return content
