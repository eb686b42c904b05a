"""What ``relevance`` by itself prints: what is in the folder, and the commands to go on with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from harness.config import Configs
from harness.report.sentences import make_loggable
from harness.suites.discovery import is_misnamed, is_suite_name
from harness.words import count, listed

_FIXTURE = re.compile(r"^fixture:", re.MULTILINE)

SHOWN = 5
"""Suites that are named."""

FIRST_STEPS = (
    ("relevance init", "write a small suite with documents, ready to run"),
    ("relevance init --url http://localhost:9200", "write a suite from an index of this server"),
    ("relevance import --help", "take suites and judgments over from other systems"),
)
"""Where there is no suite yet."""


def describe_next_steps(folder: Path) -> list[str]:
    """The lines that say what *folder* has, and what to do next."""
    suites = _find_near_suites(folder)
    if suites:
        where = suites[0].parent
        if any(suite.parent != where for suite in suites):
            where = folder
        target = shlex.quote(str(where.relative_to(folder)))
        lines = [_describe_suites(folder, suites)]
        steps = [(f"relevance validate {target}", "check the suites, without an engine")]
        if Configs().path is None:
            steps.append((f"relevance run {target} --url http://localhost:9200", "run them on this server"))
        else:
            steps.append((f"relevance run {target}", "run them on the clusters that they name"))
        if any(map(_has_fixture, suites[:SHOWN])):
            steps.append((f"relevance run {target} --embedded --allow-write", "run them on an embedded OpenSearch"))
        steps.append(("relevance doctor --help", "check a server before a run"))
    else:
        lines = ["There is no suite (*.relevance.yaml) in this folder, nor one folder down."]
        lines += _describe_misnamed(folder)
        steps = list(FIRST_STEPS)
    lines.append("")
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        lines.append(f"  {make_loggable(command):{width}}  {purpose}")
    lines += ["", "relevance --help lists all commands."]
    return lines


def _find_near_suites(folder: Path) -> Sequence[Path]:
    """The suites of *folder* and of the folders in it, without hidden ones: a home folder is not searched whole."""
    return [path for path in _list_near_files(folder) if is_suite_name(path.name)]


def _list_near_files(folder: Path) -> Sequence[Path]:
    files = [*folder.glob("*.relevance.*"), *folder.glob("[!.]*/*.relevance.*")]
    return sorted(path for path in files if path.is_file())


def _has_fixture(suite: Path) -> bool:
    """Whether *suite*, which may have problems, seems to bring its own documents, as a new engine has none."""
    try:
        return _FIXTURE.search(suite.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


def _describe_suites(folder: Path, suites: Sequence[Path]) -> str:
    names = [make_loggable(str(suite.relative_to(folder))) for suite in suites]
    return f"{count(len(suites), 'suite')}: {listed(names, SHOWN)}"


def _describe_misnamed(folder: Path) -> list[str]:
    """A line for each file whose name is nearly that of a suite."""
    misnamed = [path for path in _list_near_files(folder) if is_misnamed(path.name)]
    return [
        f"{make_loggable(str(path.relative_to(folder)))} is not read; name it *.relevance.yaml" for path in misnamed
    ]
