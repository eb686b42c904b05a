"""A small suite, and the scripted engine that it runs on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import builders.loaded  # noqa: F401
import harness.plugin
from builders.engine import ScriptedEngine

collect_ignore = ["examples"]  # run by tests, in folders of their own


SUITE = """\
suite: shop
target: {{index: products}}
request:
  query: {{match: {{title: "{{{{text}}}}"}}}}
measures: ["nDCG@10"]
{more}
queries:
  - id: shoes
    text: red shoes
    tags: [head]
    judgments: {{a: 3, b: 1}}
    {shoes}
  - id: boots
    text: rubber boots
    tags: [tail]
    judgments: {{d: 3}}
    {boots}
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Callable[..., Path]:
    """
    Writes a suite of two queries: nDCG@10 of `shoes` is 1, of `boots` 1 / log2(3) = 0.6309, and their mean 0.8155.

    *more* are lines of the suite, *shoes* and *boots* a line of those queries.
    """

    def write(more: str = "", *, shoes: str = "", boots: str = "", name: str = "shop.relevance.yaml") -> Path:
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SUITE.format(more=more, shoes=shoes, boots=boots), encoding="utf-8")
        return path

    return write


@pytest.fixture
def run(
    pytester: pytest.Pytester, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Runs pytest on the engine's server, warnings as errors, with no plugin but ours and those that are named."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def with_options(*options: str) -> pytest.RunResult:
        words = ("--relevance-url", engine.url, "-W", "error", *options)
        if "xdist" in options:
            # A process of a worker is told the name of the plugin.
            return pytester.runpytest("-p", "relevance", *words)
        # For the name pytest reads a file of every installed package, which is a fifth of a short session.
        return pytester.runpytest_inprocess(*words, plugins=[harness.plugin])

    return with_options


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of the outer run and the width of its terminal are no part of a test."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
