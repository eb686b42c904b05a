"""A step of GitHub Actions, by what its environment says."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.report.github_step import GitHubStep, find_github_step, is_in_github_actions, stop_commands

STEP = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/work space", "GITHUB_STEP_SUMMARY": "/tmp/summary.md"}


def test_a_step_knows_its_repository_and_its_summary():
    assert find_github_step(STEP, option="--github", markdown="--output markdown=FILE") == GitHubStep(
        Path("/work space"), Path("/tmp/summary.md")
    )


def test_without_a_workspace_files_are_named_from_where_the_step_runs():
    environ = {name: value for name, value in STEP.items() if name != "GITHUB_WORKSPACE"}
    assert find_github_step(environ, option="--github", markdown="--output markdown=FILE").repository == Path()


@pytest.mark.parametrize("value", ["", "false", "1", "True"])
def test_only_what_github_says_makes_it_one(value):
    environ = STEP | {"GITHUB_ACTIONS": value}
    assert not is_in_github_actions(environ)
    with pytest.raises(UsageError, match=r"^--an-option works only in GitHub Actions, "):
        find_github_step(environ, option="--an-option", markdown="--its-other")


def test_a_step_without_a_summary_is_refused():
    with pytest.raises(UsageError, match="GITHUB_STEP_SUMMARY is not set"):
        find_github_step(STEP | {"GITHUB_STEP_SUMMARY": ""}, option="--github", markdown="--output markdown=FILE")


def test_commands_are_heeded_again_however_the_report_ends():
    said: list[str] = []

    def print_until_interrupted() -> None:
        with stop_commands(said.append):
            said.append("  ::add-mask::a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        print_until_interrupted()
    word = said[0].removeprefix("::stop-commands::")
    assert said == [f"::stop-commands::{word}", "  ::add-mask::a", f"::{word}::"]
    assert len(word) >= 16
