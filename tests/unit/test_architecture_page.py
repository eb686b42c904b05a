"""What docs/architecture.md and CONTRIBUTING.md name exists: files, and functions, classes and constants."""

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from builders.sources import list_nodes, parse_module

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"]
PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
FILE_NAME = re.compile(r"[\w…/.-]+\.(?:py|md|toml|ya?ml)|[\w.-]+(?:/[\w.-]+)*/|[\w.-]+(?:/[\w.-]+)+")
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
OF_A_FILE = re.compile(r"((?:`\w+`(?:, | and )?)+) (?:in|of) `([\w/]+\.py)`")

HARNESS = list((ROOT / "harness").rglob("*.py"))

FOLDERS = [ROOT, ROOT / "harness", ROOT / "tests" / "unit", ROOT / "tests" / "property", ROOT / ".github" / "workflows"]
"""Where a path on the pages may begin."""

NOT_HERE = {"relevance.toml", "conftest.py", "dist/"}
"""Files of users, and what scripts make."""


def read_text(page: Path) -> str:
    """*page* without its fenced blocks, each paragraph on one line."""
    return re.sub(r"\n[ ]*(?=\S)(?![|#-]|\d+\.)", " ", FENCE.sub("", page.read_text(encoding="utf-8")))


def read_excerpts() -> list[ast.Module]:
    """The Python that the pages show."""
    blocks = [block for page in PAGES for block in FENCE.findall(page.read_text(encoding="utf-8"))]
    return [ast.parse(textwrap.dedent(code)) for language, code in blocks if language == "python"]


def find_paths(line: str) -> list[str]:
    """The files and folders that *line* names; a file without a folder is in that of the file before it."""
    paths: list[str] = []
    folder = ""
    for code in CODE.findall(line):
        if not FILE_NAME.fullmatch(code) or code in NOT_HERE:
            continue
        if "/" in code:
            folder = code[: code.rindex("/") + 1]
            paths.append(code)
        else:
            paths.append(folder + code if exists(folder + code) else code)
    return paths


def exists(path: str) -> bool:
    pattern = path.rstrip("/").replace("…", "*")
    return any(any(folder.glob(pattern)) for folder in FOLDERS)


def walk_outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of *tree* that no function has within it."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef):
            nodes.extend(ast.iter_child_nodes(node))


@cache
def list_definitions(path: Path) -> frozenset[str]:
    """Functions, classes, fields, attributes, constants and imported names of a file; no variables of functions."""
    names = set()
    for node in list_nodes(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[-1])
    for node in walk_outside_functions(parse_module(path)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names)


@cache
def list_known() -> frozenset[str]:
    """What is defined anywhere in the harness and in unit tests, with the names of modules and packages."""
    paths = [*HARNESS, *(ROOT / "tests" / "unit").glob("*.py"), *(ROOT / "tests" / "builders").glob("*.py")]
    modules = {path.stem for path in paths} | {path.parent.name for path in paths}
    return frozenset(modules.union(*map(list_definitions, paths)))


@cache
def list_words() -> frozenset[str]:
    """The texts of one word in the harness, such as keys of suites."""
    constants = [node.value for path in HARNESS for node in list_nodes(path) if isinstance(node, ast.Constant)]
    return frozenset(constant for constant in constants if isinstance(constant, str) and constant.islower())


INVENTED = {
    "SpreadCondition", "decide_spread", "ShelfDialect", "ShelfSearch", "find_books", "_fallout", "_batch_fallout",
    "_worth_in_fallout", "FALLOUT", "search/shelf.py", "judged", "extensions/migrate/judged.py",
    "tests/extensions/migrate/test_migrate_judged.py",
}  # fmt: skip
"""What the worked changes add."""


OF_A_RELEASE = {"RELEVANCE_REPOSITORY_URL", "REGISTRY", "v1"}
"""Variables of the workflow that releases, and the tag that it moves."""


@PAGE
def test_every_file_exists(page):
    paths = {path for line in read_text(page).splitlines() for path in find_paths(line)}
    assert len(paths) > 10
    assert [path for path in sorted(paths - INVENTED) if not exists(path)] == []


@PAGE
def test_every_name_is_defined(page):
    names = {code.removesuffix("()") for code in CODE.findall(read_text(page)) if NAME.fullmatch(code)}
    names = {name for name in names if not FILE_NAME.fullmatch(name)}
    missing = [
        name
        for name in sorted(names - INVENTED - OF_A_RELEASE)
        if not list_known().issuperset(name.split(".")) and name not in list_words()
    ]
    assert missing == []


@PAGE
def test_every_name_of_a_file_is_defined_there(page):
    missing = []
    for names, path in OF_A_FILE.findall(read_text(page)):
        [file] = [folder / path for folder in FOLDERS if (folder / path).exists()]
        missing += [
            f"{name} in {path}" for name in CODE.findall(names) if name not in list_definitions(file) | INVENTED
        ]
    assert missing == []


def test_the_excerpts_use_what_is_defined():
    excerpts = read_excerpts()
    assert len(excerpts) == 6
    known = list_known() | set(dir(builtins)) | INVENTED | {"append", "items", "values"}
    for excerpt in excerpts:
        used = {node.attr for node in ast.walk(excerpt) if isinstance(node, ast.Attribute)}
        used |= {node.id for node in ast.walk(excerpt) if isinstance(node, ast.Name) and not node.id.islower()}
        for call in ast.walk(excerpt):
            if isinstance(call, ast.Call):
                used |= {keyword.arg for keyword in call.keywords if keyword.arg}
                used |= {call.func.id} if isinstance(call.func, ast.Name) else set()
        assert used - known == set(), ast.unparse(excerpt)
