"""What two files of tests need stands once: in tests/builders, or in the builders of an extension."""

import ast
from collections import defaultdict
from pathlib import Path

from harness.process import gc_paused

TESTS = Path(__file__).parents[1]
SEVERAL = 3
"""The number of lines from which on a helper is not written twice."""
PAGES = "show in browser/test_html_report.py and extensions/compare/browser/test_comparison_page.py"
"""Each opens what the `render` of its own page makes."""


def list_helpers(tree):
    """The functions and fixtures of a file that are no tests."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [function for function in functions if not function.name.startswith("test_")]


def body_of(function):
    """The statements of a *function* without its docstring."""
    if ast.get_docstring(function) is None:
        return function.body
    return function.body[1:]


def describe_body(function):
    """The body of a *function*, alike whatever its parameters and variables are called."""
    names = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)]
    nodes = [node for statement in body_of(function) for node in ast.walk(statement)]
    names += [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    numbers = {name: f"name {number}" for number, name in enumerate(dict.fromkeys(names))}
    for node in nodes:
        if isinstance(node, ast.Name):
            node.id = numbers.get(node.id, node.id)
    return "\n".join(ast.dump(statement) for statement in body_of(function))


@gc_paused()
def test_no_helper_is_written_in_two_files():
    places = defaultdict(dict)
    for path in sorted(TESTS.rglob("*.py")):
        for helper in list_helpers(ast.parse(path.read_text(encoding="utf-8"))):
            body = body_of(helper)
            if body and body[-1].end_lineno - body[0].lineno + 1 >= SEVERAL:
                places[describe_body(helper)][path.relative_to(TESTS).as_posix()] = helper.name
    twins = [f"{next(iter(found.values()))} in {' and '.join(found)}" for found in places.values() if len(found) > 1]
    assert twins == [PAGES], "give each one place in tests/builders, or in the builders of its extension"
