"""Imports point one way, wherever in a module they stand: never to a layer above, never in a circle."""

import ast
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import harness
from builders.sources import list_nodes, parse_module

ROOT = Path(harness.__file__).parent

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
ROW = re.compile(r"^\| (\d+) \| `([\w/]+?)(?:/|\.py)` \|", re.MULTILINE)

LAYER_OF = {unit: int(layer) for layer, unit in ROW.findall(PAGE.read_text(encoding="utf-8"))}
"""The layer of each part, from the table of the page; a module may import from its own layer and from lower ones."""

PURE = ("errors", "model", "words", "id_forms", "means", "agreement", "statistics", "metrics", "gate")
DOORS_TO_THE_WORLD = {
    "asyncio", "elastic_transport", "elasticsearch", "http", "io", "logging", "os", "pathlib", "requests", "shutil",
    "socket", "subprocess", "tempfile", "threading", "time", "urllib",
}  # fmt: skip


def module_name(path: Path) -> str:
    parts = ("harness", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py")) if "__pycache__" not in path.parts}


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Every module that *path* imports, inside functions and for type checkers too."""
    return tuple(_imports(path, list_nodes(path)))


def _imports(path: Path, nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where a thing comes from"
            yield from (_target(node.module, alias.name) for alias in node.names)


def _target(module: str, name: str) -> str:
    submodule = f"{module}.{name}"
    return submodule if submodule in MODULES else module


def unit_of(module: str) -> str | None:
    """The layer's name for a module of the harness; None for the package itself, which holds only the version."""
    parts = module.split(".")
    if len(parts) > 2 and parts[1] == "extensions":
        return f"extensions/{parts[2]}"
    return parts[1] if len(parts) > 1 else None


def roots(module: str) -> set[str]:
    """The packages that *module* imports."""
    return {name.split(".")[0] for name in imported(MODULES[module])}


def ours(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "harness" and name != "harness"}


EXTENSION_PAIRS = {
    ("extensions/compare", "extensions/judging"),
    ("extensions/migrate", "extensions/sampling"),
    ("extensions/workbench", "extensions/judging"),
    ("extensions/workbench", "extensions/compare"),
    ("extensions/workbench", "extensions/tuning"),
}
"""An extension that imports another one."""


def uses_of_extensions() -> set[tuple[str, str]]:
    """Each module with an extension of another folder that it imports, but for the pairs."""
    return {
        (module, unit_of(name))
        for module, path in MODULES.items()
        for name in ours(imported(path))
        if name.startswith("harness.extensions.")
        and unit_of(name) != unit_of(module)
        and (unit_of(module), unit_of(name)) not in EXTENSION_PAIRS
    }


def test_the_core_imports_no_extension():
    assert uses_of_extensions() == set()


def test_each_module_has_a_layer():
    units = {unit_of(module) for module in MODULES} - {None}
    assert units == LAYER_OF.keys(), "the table of layers in docs/architecture.md differs from the packages"


def test_no_module_imports_anything_from_a_layer_above_its_own():
    above = [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        for name in sorted(ours(imported(path)))
        if LAYER_OF.get(unit_of(name), math.inf) > LAYER_OF.get(unit_of(module), -1)
    ]
    assert above == []


def test_no_module_imports_another_that_imports_it_inside_functions_too():
    _refuse_circles({module: ours(imported(path)) - {module} for module, path in MODULES.items()})


def test_no_part_imports_another_that_imports_it():
    parts: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        unit = unit_of(module)
        if unit is not None:
            used = {unit_of(name) for name in ours(imported(path))}
            parts.setdefault(unit, set()).update(other for other in used if other)
    _refuse_circles({unit: targets - {unit} for unit, targets in parts.items()})


def _refuse_circles(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("imports run in a circle: " + " -> ".join(error.args[1]))


def says_it_is_pure(module: str) -> bool:
    """Whether the docstring of *module* ends with the word, as in parts that read files in other modules."""
    said = ast.get_docstring(parse_module(MODULES[module])) or ""
    return re.search(r"\bpure(: [^.]+)?\.$", said, re.IGNORECASE) is not None


def test_the_core_reaches_for_no_file_no_clock_and_no_network():
    core = [module for module in MODULES if unit_of(module) in PURE or says_it_is_pure(module)]
    reached = {(module, name) for module in core for name in roots(module) & DOORS_TO_THE_WORLD}
    assert reached == {("harness.errors", "pathlib")}  # a type in a signature


def test_nobody_imports_pytest_s_private_parts():
    assert [module for module in MODULES if "_pytest" in roots(module)] == []


FORMS_OF_REPORTS = [path.name for path in (ROOT / "report").iterdir() if (path / "__init__.py").exists()]


@pytest.mark.parametrize("form", FORMS_OF_REPORTS)
def test_a_form_of_the_reports_takes_nothing_from_another(form):
    others = tuple(f"harness.report.{other}" for other in FORMS_OF_REPORTS if other != form)
    for module, path in MODULES.items():
        if f"{module}.".startswith(f"harness.report.{form}."):
            assert not [name for name in imported(path) if name.startswith(others)], module


OF_ONE_SERVER = ("engine", "engine_dialect", "engine_state", "explain", "http_dialect", "http_service", "index_sample")
"""The modules of `harness.search` that know one kind of server; what a run asks is in `harness.search.protocol`."""


def test_which_kind_of_server_it_is_is_asked_in_search_alone():
    others = {module: path for module, path in MODULES.items() if unit_of(module) != "search"}
    hidden = {f"harness.search.{name}" for name in OF_ONE_SERVER}
    assert hidden <= MODULES.keys()
    assert [(module, name) for module, path in others.items() for name in imported(path) if name in hidden] == []
    compared = {
        module
        for module, path in others.items()
        for node in list_nodes(path)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Attribute) and side.attr == "service"
    }
    assert compared == {"harness.config.shape"}, "a feature of `Dialect` says what a kind of server can do"


def test_the_walk_sees_imports_inside_functions_and_of_submodules(tmp_path):
    source = tmp_path / "example.py"
    source.write_text("def f():\n    from harness.gate import decide\n    import os.path\n")
    assert set(imported(source)) == {"harness.gate.decide", "os.path"}


LATE = {
    "harness.cli": {"harness.cli.added_options", "harness.cli.next_steps"},  # the help imports click and nothing else
    "harness.cli.run": {"harness.cli.running"},
    # A run without files of JSON needs no pydantic.
    "harness.cli.running": {"harness.report.json", "harness.store.journal"},
    "harness.cli.exits": {"harness.cli.problem_report"},  # for errors with --json alone
    "harness.cli.validate": {"harness.cli.validating"},
    "harness.cli.validating": {"harness.report.sentences"},
    "harness.cli.streams": {"harness.report.safe_text"},  # for errors alone
    "harness.cli.terminal": {"rich.progress"},  # for bars, which a log does not have
    "harness.pytest_plugin.node": {"harness.embedded"},
    # Every session of pytest imports these two, if the package is installed.
    "harness.pytest_plugin.plugin_options": {
        "harness.config",
        "harness.report.github_step",
        "harness.store.baseline",
    },
    "harness.pytest_plugin.session": {
        "harness.files.writing",
        "harness.process",
        "harness.pytest_plugin.node",
        "harness.report.output_files",
        "harness.suites.discovery",
    },
}
"""What entry points import inside functions; the table of commands and plugin.py are there for the rest."""


@pytest.mark.parametrize("module", [one for one in MODULES if one.startswith(("harness.cli", "harness.pytest_plugin"))])
def test_an_entry_point_imports_at_the_top(module):
    functions = [node for node in list_nodes(MODULES[module]) if isinstance(node, ast.FunctionDef)]
    late = {name for function in functions for name in _imports(MODULES[module], ast.walk(function))}
    assert late == LATE.get(module, set())
