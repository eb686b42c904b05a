"""Modules of the project as Python parses them, each parsed once for all tests of a process."""

import ast
from functools import cache
from pathlib import Path

from harness.process import gc_paused


@cache
@gc_paused()
def parse_module(path: Path) -> ast.Module:
    """The tree of the module at *path*; who changes it parses the text anew."""
    # A tree is a million objects: the search for reference cycles would take three times as long as the parser.
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
@gc_paused()
def list_nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the module at *path*, as `ast.walk` yields them."""
    return tuple(ast.walk(parse_module(path)))
