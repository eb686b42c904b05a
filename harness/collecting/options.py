"""What the user asked for, on the command line or in lines of the ini file. The command line wins."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.collecting.baselines import update_wanted
from harness.collecting.reports import REPORT_SUFFIXES
from harness.errors import UsageError
from harness.report.github_step import GitHubStep, github_step, in_github_actions

__all__ = ["PluginOptions", "only_shows", "read_options"]


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """
    What the user asked for; *reports* are absolute paths of the files to write, *baseline* that of the file to compare
    with. With *update_baseline* what runs becomes the baseline. *github* is the step to tell what does not hold.
    """

    url: str | None = None
    embedded: bool = False
    engine_version: str | None = None
    requests: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    allow_write: bool = False
    each_query: bool = False
    reports: tuple[Path, ...] = ()
    baseline: Path | None = None
    update_baseline: bool = False
    budget: float | None = None
    github: GitHubStep | None = None


def read_options(config: pytest.Config) -> PluginOptions:
    """
    The options in force.

    Raises:
        pytest.UsageError: options that exclude each other, a report of an unknown kind, a URL with a login in it, a
            baseline that is to be updated in CI or from several indexes, a budget that is no number of seconds.
    """
    url, embedded = _server(config)
    version = config.getoption("relevance_engine_version") or config.getini("relevance_engine_version") or None
    if config.getoption("relevance_engine_version") and not embedded:
        raise pytest.UsageError(
            "--relevance-engine-version is the version of the embedded node: add --relevance-embedded"
        )
    indexes = _unique(config.getoption("relevance_index") or config.getini("relevance_index"))
    update_baseline = update_wanted(config.getoption("relevance_update_baseline"))
    if update_baseline and len(indexes) > 1:
        raise pytest.UsageError(
            "--relevance-update-baseline: a baseline keeps one run of each request; give one --relevance-index"
        )
    return PluginOptions(
        url=url,
        embedded=embedded,
        engine_version=version if embedded else None,
        requests=_unique(config.getoption("relevance_request") or config.getini("relevance_request")),
        indexes=indexes,
        tags=_unique(config.getoption("relevance_tag") or ()),
        allow_write=_switch(config, "relevance_allow_write"),
        each_query=_switch(config, "relevance_each_query"),
        reports=_reports(config),
        budget=_budget(config),
        baseline=_baseline(config),
        update_baseline=update_baseline,
        github=_github(config),
    )


def only_shows(config: pytest.Config) -> bool:
    """Whether the session runs no item, as under ``--collect-only``, ``--setup-plan`` and ``--fixtures``."""
    options = ("collectonly", "setuponly", "showfixtures", "show_fixtures_per_test")  # --setup-plan sets the second
    return any(config.getoption(option, False) for option in options)


def _github(config: pytest.Config) -> GitHubStep | None:
    """The ini file is read on people's own machines too, so that its line says nothing there."""
    given = config.getoption("relevance_github")
    if given is None:
        given = config.getini("relevance_github") and in_github_actions(os.environ)
    try:
        return github_step(os.environ, option="--relevance-github") if given else None
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _budget(config: pytest.Config) -> float | None:
    text = config.getoption("relevance_budget") or config.getini("relevance_budget") or None
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise pytest.UsageError(f"--relevance-budget: found {text!r}, expected a number of seconds above 0, such as 60")
    return seconds


def _switch(config: pytest.Config, name: str) -> bool:
    given = config.getoption(name)
    return bool(config.getini(name) if given is None else given)


def _server(config: pytest.Config) -> tuple[str | None, bool]:
    """The URL, and whether the embedded node is wanted: the command line's word on the two replaces the ini file's."""
    url, embedded = config.getoption("relevance_url"), bool(config.getoption("relevance_embedded"))
    if url and embedded:
        raise pytest.UsageError(
            "--relevance-url and --relevance-embedded exclude each other: a suite runs on one server"
        )
    if not url and not embedded:
        url, embedded = config.getini("relevance_url") or None, config.getini("relevance_embedded")
        if url and embedded:
            raise pytest.UsageError("relevance_url and relevance_embedded in the ini file exclude each other: keep one")
    if url:
        _check_url(url)
    return url, embedded


def _check_url(url: str) -> None:
    """Refused here already, and with no word of what may be a login, as the header line prints the URL."""
    from harness.config import url_problem

    sentence = url_problem(url)
    if sentence:
        raise pytest.UsageError(f"--relevance-url: {sentence}")


def _baseline(config: pytest.Config) -> Path | None:
    given = config.getoption("relevance_baseline")
    return (config.invocation_params.dir / given).absolute() if given else None


def _reports(config: pytest.Config) -> tuple[Path, ...]:
    given = config.getoption("relevance_report")
    base = config.invocation_params.dir if given else config.rootpath
    paths = tuple(dict.fromkeys((base / name).absolute() for name in given or config.getini("relevance_report")))
    for path in paths:
        if path.suffix.lower() not in REPORT_SUFFIXES:
            raise pytest.UsageError(
                f"--relevance-report {path.name}: a report's name ends with {', '.join(REPORT_SUFFIXES[:-1])}"
                f" or {REPORT_SUFFIXES[-1]}"
            )
        if path.is_dir():
            raise pytest.UsageError(f"--relevance-report {path}: is a folder, the name of a file is needed")
    return paths
