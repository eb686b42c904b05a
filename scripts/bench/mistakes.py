"""What scripts/bench/mutants makes wrong: one small mistake at a place of a source, whose formatting stays."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

SIGN = re.compile(r"\bis\s+not\b|\bnot\s+in\b|\b(is|in|and|or)\b|[=!<>]=|[<>]")
NEGATED = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
    "in": "not in", "not in": "in", "is": "is not", "is not": "is",
}  # fmt: skip
OFF_BY_ONE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SWAPPED = {"and": "or", "or": "and"}
NOT_ENTERED = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)
"""Sentences of errors and labels are no conditions; each function is begun with by itself."""


@dataclass(frozen=True)
class Mutant:
    """Whole lines of *path*, which begin at *line*: the *old* become the *new*."""

    path: str
    line: int
    kind: str
    old: str
    new: str


@dataclass(frozen=True)
class Edit:
    """Bytes of a source from *start* to *end*, which become *text*."""

    kind: str
    start: int
    end: int
    text: str


class Source:
    """The bytes of a file, in which ast counts its columns."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self.tree = ast.parse(content)
        self._starts = [0]
        for line in content.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def list_edits(self) -> Iterator[Edit]:
        """All mistakes in the functions of the file."""
        for function in ast.walk(self.tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for statement in function.body:
                    for node in walk(statement):
                        yield from self._list_edits_of(node)

    def make_mutant(self, edit: Edit) -> Mutant | None:
        """None where the edited source is none, or says the same."""
        edited = self.content[: edit.start] + edit.text.encode() + self.content[edit.end :]
        try:
            if ast.dump(ast.parse(edited)) == ast.dump(self.tree):
                return None
        except SyntaxError:
            return None
        begin = self.content.rfind(b"\n", 0, edit.start) + 1
        end = self.content.index(b"\n", edit.end) + 1
        new = edited[begin : len(edited) - len(self.content) + end]
        line = self.content.count(b"\n", 0, begin) + 1
        return Mutant(self.path, line, edit.kind, self.content[begin:end].decode(), new.decode())

    def _list_edits_of(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Compare(left=left, comparators=[right]):
                yield from self._replace_sign("negated", left, right, NEGATED)
                yield from self._replace_sign("off by one", left, right, OFF_BY_ONE)
            case ast.BoolOp(values=[first, second, *_]):
                yield from self._replace_sign("and or", first, second, SWAPPED)
            case ast.UnaryOp(op=ast.Not()):
                start = self._start(node)
                yield Edit("not dropped", start, start + len("not "), "")
            case ast.Return(value=ast.expr() as value):
                yield self._replace("return", value, "None")
            case ast.If(body=[first, *_] as body):
                yield Edit("branch removed", self._start(first), self._end(body[-1]), "pass")
            case ast.Constant(value=bool() as truth):
                yield self._replace("constant", node, str(not truth))
            case ast.Constant(value=int() | float() as number):
                yield self._replace("constant", node, str(number + 1))
            case ast.Constant(value=str() as text) if text:
                yield self._replace("constant", node, '""')
            case ast.Call(args=arguments, keywords=keywords) if len(arguments) + len(keywords) > 1:
                *_, kept, dropped = [*arguments, *keywords]
                yield Edit("argument dropped", self._end(kept), self._end(dropped), "")

    def _replace(self, kind: str, node: ast.expr, text: str) -> Edit:
        return Edit(kind, self._start(node), self._end(node), text)

    def _replace_sign(self, kind: str, left: ast.expr, right: ast.expr, signs: dict[str, str]) -> Iterator[Edit]:
        """Another sign between two expressions; nothing where *signs* has none for it."""
        start = self._end(left)
        match = SIGN.search(self.content[start : self._start(right)].decode("latin-1"))
        if match:
            text = signs.get(" ".join(match.group().split()))
            if text:
                yield Edit(kind, start + match.start(), start + match.end(), text)

    def _start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """*node* and those below, without docstrings and annotations."""
    if isinstance(node, NOT_ENTERED) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        if child is not getattr(node, "annotation", None):
            yield from walk(child)
