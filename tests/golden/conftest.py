"""
Golden outputs: what the program prints and writes, kept in `outputs` and compared whole.

They hold what a change of the inside must not change. A change that is meant is kept by one command, whose diff is then
read like any other change::

    pytest tests/golden --update-golden

A test's folder in `outputs` has the test's name and holds exactly the outputs that the test gives. What differs between
runs is masked by `builders.golden.masked` alone. No node is started: the suites here run on the scripted engine with
the answers below, and the example suites on what the embedded node once found (`found.tsv`), which
`tests/cluster/test_golden_engines.py` holds to the node and records anew with the same option.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import builders.loaded  # noqa: F401
from builders import golden as kept
from builders.engine import ScriptedEngine, item_of
from builders.recorded import RECORDED, RecordedEngine, read_recorded
from harness.cli import main

collect_ignore = ["suites"]  # run by the tests, in folders of their own

HERE = Path(__file__).parent

Golden = Callable[[Mapping[str, str]], None]
Harness = Callable[..., str]
Pytest = Callable[..., str]


@pytest.fixture
def golden(request: pytest.FixtureRequest, folder: Path) -> Golden:
    """Compares all that a test kept, by name, with the test's folder, or writes it there."""

    def compare(outputs: Mapping[str, str]) -> None:
        masked = {name: kept.masked(text, folder) for name, text in outputs.items()}
        kept.hold(HERE / "outputs" / request.node.name, masked, update=request.config.getoption("update_golden"))

    return compare


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test runs, with the suites of this folder; a terminal of 120 columns and no colours."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("PYTEST_ADDOPTS", "GITHUB_ACTIONS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(HERE / "suites", pytester.path, dirs_exist_ok=True)
    pytester.makeini("[pytest]\nmarkers = slow: takes long")
    return pytester.path


@pytest.fixture
def engine() -> Iterator[ScriptedEngine]:
    """The scripted engine with the answers for the suites of this folder."""
    with ScriptedEngine() as server:
        server.rankings = {
            "what is in no other ranking": ["lost"],
            "red shoes": ["a", "b", "c"],
            "rubber boots": ["e", "d", "x"],
            "rain coat": [("t1", 5.0), ("t2", 5.0), ("t3", 5.0), ("t4", 1.5)],
            "nothing": [],
            "dull": ["z", "y"],
            "left out": ["a"],
            "<script>alert('text')</script> & | `x` %s 靴": ["sku 1|<i>", "`b`"],
            **{text: [f"q{number}-{rank}" for rank in range(1, 7)] for number, text in enumerate(HELD, start=1)},
        }
        server.on_index = {("next", "red shoes"): ["b", "a", "c"], ("next", "rubber boots"): ["d", "f", "e"]}
        server.answers = {"twice": item_of(["m", "n", "m", "o"]), "counted in part": counted_in_part()}
        yield server


HELD = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def counted_in_part() -> object:
    """An engine that stopped counting."""
    item = item_of(["p1", "p2"])
    item["hits"]["total"] = {"value": 10_000, "relation": "gte"}
    return item


@pytest.fixture
def examples() -> Iterator[RecordedEngine]:
    """The engine of the example suites, with what the embedded node found."""
    with RecordedEngine(read_recorded(RECORDED.read_text(encoding="utf-8"))) as server:
        yield server


@pytest.fixture
def harness(folder: Path, capsys: pytest.CaptureFixture[str]) -> Harness:
    """Gives a command line in this process: what was asked, both outputs, and the exit status."""

    def run(*words: str) -> str:
        capsys.readouterr()
        status = main(words)
        printed = capsys.readouterr()
        parts = [f"$ relevance {' '.join(words)}\n", printed.out]
        parts += ["--- standard error\n", printed.err] if printed.err else []
        return "".join([*parts, f"--- exit status {status}\n"])

    return run


@pytest.fixture
def inner_pytest(folder: Path, pytester: pytest.Pytester) -> Pytest:
    """Gives what a pytest prints that has no plugin but ours, and its exit status."""

    def run(*words: str) -> str:
        result = pytester.runpytest("-p", "relevance", "-W", "default", "-p", "no:cacheprovider", *words)
        parts = [f"$ pytest {' '.join(words)}", result.stdout.str()]
        parts += ["--- standard error", result.stderr.str()] if result.stderr.str() else []
        return "\n".join([*parts, f"--- exit status {int(result.ret)}\n"])

    return run
