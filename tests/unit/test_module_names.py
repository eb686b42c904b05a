"""A name of a module is bound once: a second binding hides the first, and one of the two is not what a reader found."""

import ast
from pathlib import Path

import pytest

import harness
from builders.sources import parse_module

ROOT = Path(harness.__file__).parent


def list_bindings(statements):
    """Each name that *statements* bind, in order; of branches of an `if` or `try`, those of one."""
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                overload = any(ast.unparse(decorator).endswith("overload") for decorator in statement.decorator_list)
                if not overload:
                    yield statement.name
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names if alias.name != "annotations")
            case ast.If(test=test) if ast.unparse(test).startswith("__name__ =="):
                # What a module does as a program names nothing for others.
                continue
            case ast.If(body=body, orelse=others) | ast.Try(body=body, handlers=others):
                first = list(list_bindings(body))
                yield from first
                nested = [inner for other in others for inner in getattr(other, "body", [other])]
                yield from (name for name in list_bindings(nested) if name not in first)


def find_twice_bound(tree):
    names = list(list_bindings(tree.body))
    # What is called `_` was registered, and is found by no name.
    return sorted({name for name in names if names.count(name) > 1 and name != "_"})


def test_no_module_binds_a_name_twice():
    twice_bound = {}
    for path in sorted(ROOT.rglob("*.py")):
        names = find_twice_bound(parse_module(path))
        if names:
            twice_bound[path.relative_to(ROOT).as_posix()] = names
    assert twice_bound == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A = 1\nB = 2\nA = 3", ["A"]),
        ("A: int = 1\ndef A(): pass", ["A"]),
        ("import os\nfrom x import os", ["os"]),
        ("if x:\n    A = 1\nelse:\n    A = 2", []),
        ("try:\n    import a\nexcept ImportError:\n    a = None", []),
        ("if x:\n    A = 1\nA = 2", ["A"]),
        ("A: int\nA = 2", []),
    ],
)
def test_a_second_binding_is_seen(text, names):
    assert find_twice_bound(ast.parse(text)) == names
