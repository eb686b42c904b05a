"""What ``relevance`` by itself prints: what is in the folder, and the commands to go on with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from harness.config import Configs
from harness.extensions import Step, load_extensions
from harness.report.safe_text import make_loggable
from harness.suites.names import is_misnamed, is_suite_name
from harness.words import count, listed

_FIXTURE = re.compile(r"^fixture:", re.MULTILINE)

_SHOWN = 5
"""Suites that are named."""


def describe_next_steps(folder: Path) -> list[str]:
    """The lines that say what *folder* has, and what to do next."""
    suites = _find_near_suites(folder)
    if suites:
        folder_of_suites = suites[0].parent
        if any(suite.parent != folder_of_suites for suite in suites):
            folder_of_suites = folder
        target = shlex.quote(str(folder_of_suites.relative_to(folder)))
        lines = [_describe_suites(folder, suites)]
        steps = [Step(f"relevance validate {target}", "check the suites, without an engine")]
        if Configs().path is None:
            steps.append(Step(f"relevance run {target} --url http://localhost:9200", "run them on this server"))
        else:
            steps.append(Step(f"relevance run {target}", "run them on the clusters that they name"))
        if any(map(_has_fixture, suites[:_SHOWN])):
            steps.append(Step(f"relevance run {target} --embedded --allow-write", "run them on an embedded OpenSearch"))
        for extension in load_extensions():
            steps += extension.steps
    else:
        lines = ["There is no suite (*.relevance.yaml) in this folder, nor one folder down."]
        lines += _describe_misnamed(folder)
        steps = []
        for extension in load_extensions():
            steps += extension.first_steps
    lines.append("")
    width = max((len(step.command) for step in steps), default=0)
    for step in steps:
        lines.append(f"  {make_loggable(step.command):{width}}  {step.purpose}")
    lines += ["", "relevance --help lists all commands."]
    return lines


def _find_near_suites(folder: Path) -> Sequence[Path]:
    """The suites of *folder* and of the folders in it, without hidden ones: a home folder is not searched whole."""
    return [path for path in _list_near_files(folder) if is_suite_name(path.name)]


def _list_near_files(folder: Path) -> Sequence[Path]:
    """The files of *folder*, and of the folders in it, that are named nearly as suites are."""
    files = [*folder.glob("*.relevance.*"), *folder.glob("[!.]*/*.relevance.*")]
    return sorted(path for path in files if path.is_file())


def _has_fixture(suite: Path) -> bool:
    """Whether *suite*, which may have problems, seems to bring its own documents, as a new engine has none."""
    try:
        return _FIXTURE.search(suite.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


def _describe_suites(folder: Path, suites: Sequence[Path]) -> str:
    """How many *suites* there are, and the paths of the first ones."""
    names = [make_loggable(str(suite.relative_to(folder))) for suite in suites]
    return f"{count(len(suites), 'suite')}: {listed(names, _SHOWN)}"


def _describe_misnamed(folder: Path) -> list[str]:
    """A line for each file whose name is nearly that of a suite."""
    misnamed = [path for path in _list_near_files(folder) if is_misnamed(path.name)]
    return [
        f"{make_loggable(str(path.relative_to(folder)))} is not read; name it *.relevance.yaml" for path in misnamed
    ]
