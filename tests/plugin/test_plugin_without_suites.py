"""A pytest run without suites pays nothing for the plugin."""

from __future__ import annotations

import pytest

HEAVY = (
    "click",
    "elastic_transport",
    "elasticsearch",
    "harness.api",
    "harness.config",
    "harness.files.opening",
    "harness.gate",
    "harness.metrics",
    "harness.model",
    "harness.run",
    "jinja2",
    "jsonpath",
    "numpy",
    "platformdirs",
    "pydantic",
    "requests",
    "rich",
    "scipy",
    "yaml",
)

TESTS = f"""
import sys

def test_nothing(): pass

def pytest_unconfigure():
    print("loaded:", sorted(set(sys.modules) & set({HEAVY!r})))
    print("plugin:", "harness.plugin" in sys.modules)
"""


@pytest.mark.parametrize("options", [[], ["--relevance-report=report.html", "--relevance-embedded"]])
@pytest.mark.parametrize("ignored", ["", "node_modules"])
def test_nothing_heavy_is_imported(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: list[str], ignored: str
) -> None:
    if ignored:
        (pytester.mkdir(ignored) / "index.js").touch()
    # Other plugins of this environment may be as heavy as they like.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(test_nothing="def test_nothing(): pass")
    pytester.makeconftest(TESTS)
    pytester.makefile(".yaml", other="kind: Deployment")

    result = pytester.runpytest_subprocess("-W", "error", "-p", "harness.plugin", *options)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1)
    assert "loaded: []" in result.outlines
    assert "plugin: True" in result.outlines
    assert not (pytester.path / "report.html").exists()


def test_under_xdist_no_folder_is_left(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("temporary")))
    pytester.makepyfile("def test_nothing(): pass")

    result = pytester.runpytest_subprocess("-n1", "-W", "error", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=1)
    assert list((pytester.path / "temporary").glob("relevance-*")) == []
