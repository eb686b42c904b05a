"""The benchmarks take from the harness what it has: no test runs them, and no type checker reads them."""

import pytest

pytest.importorskip("numpy")

import ast
from importlib import import_module
from pathlib import Path

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
SCRIPTS = sorted(path for path in BENCH.iterdir() if path.is_file())
OURS = ("harness", "builders")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_what_a_benchmark_imports_exists(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS)]
    missing = []
    for node in imports:
        module = import_module(node.module)
        missing += [f"{node.module}.{name.name}" for name in node.names if not hasattr(module, name.name)]
    assert missing == []
