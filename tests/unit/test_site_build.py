"""scripts/site/build: what it calls, and the names of versions on the site."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    """The functions of the script."""
    path, modules = list(sys.path), set(sys.modules)
    yield runpy.run_path(str(ROOT / "scripts" / "site" / "build"))
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("tag", "version", "alias"),
    [("v1.2.3", "1.2", "latest"), ("v1.2.3rc1", "1.2.3rc1", "next"), ("v2.0.0.dev4", "2.0.0.dev4", "next")],
)
def test_a_release_becomes_the_latest_version_of_the_site_and_a_candidate_the_next(script, tag, version, alias):
    deploy, *others = script["list_commands"](["--deploy", tag])
    assert deploy == ("mike", "deploy", "--push", "--update-aliases", version, alias)
    assert bool(others) is (alias == "latest")


@pytest.mark.parametrize("arguments", [["--deploy"], ["--serve", "now"], ["build"]])
def test_wrong_arguments_have_no_command(script, arguments):
    assert script["list_commands"](arguments) == []


def test_the_site_names_the_reports_that_the_script_makes(script):
    hooks = (ROOT / "scripts" / "site" / "hooks.py").read_text(encoding="utf-8")
    assert [name for name in script["REPORTS"] if f'"{name}": ' not in hooks] == []
