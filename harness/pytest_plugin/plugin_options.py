"""The plugin's options, from the command line and the ini file; the command line takes precedence."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

from harness.errors import EntryPoint, HarnessError, UsageError
from harness.options import (
    FILE,
    FLAG,
    FOLDER,
    NEW_FOLDER,
    OPTIONS,
    RunOption,
    RunOptions,
    check_servers,
)
from harness.report.outputs import SUFFIXES, Output, find_output, needs_all_hits
from harness.words import one_of

if TYPE_CHECKING:
    from harness.report.github_step import GitHubStep

PYTEST = EntryPoint.PYTEST
IniType: TypeAlias = Literal["args", "bool", "string"]
FORCE = "force"
_PLAIN = "yes"


def read_update_word(text: str) -> str:
    """Check the value of ``--relevance-update-baseline``, for which argparse may have taken the path of a suite."""
    if text not in (FORCE, _PLAIN):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected nothing or ={FORCE}; put paths before the option")
    return text


def add_options(parser: pytest.Parser) -> None:
    """Register the options and their ini lines: those of runs, from their table, and the plugin's own."""
    group = parser.getgroup("relevance", "search relevance suites (*.relevance.yaml)")
    run_options = [option for option in OPTIONS.values() if option.pytest]
    # The help lists the options that name files last, beside those for reports.
    for option in run_options:
        if option.kind is not FILE:
            _add_run_option(group, option)
    group.addoption(
        "--relevance-each-query",
        action=argparse.BooleanOptionalAction,
        help="Make an item for every query, not only for those with their own thresholds.",
    )
    group.addoption(
        "--relevance-report",
        metavar="FILE",
        action="append",
        help=f"Write a report, {one_of(SUFFIXES)} by its name; may be repeated.",
    )
    group.addoption(
        "--relevance-github",
        action=argparse.BooleanOptionalAction,
        help="In GitHub Actions: annotate the lines of suites and add to the job's summary.",
    )
    for option in run_options:
        if option.kind is FILE:
            _add_run_option(group, option)
    group.addoption(
        "--relevance-update-baseline",
        nargs="?",
        const=_PLAIN,
        type=read_update_word,
        metavar="force",
        help="Save the rankings of suites as their baseline; in CI only with =force.",
    )
    for option in run_options:
        if option.ini:
            _add_ini_line(parser, option)
    parser.addini("relevance_each_query", "Make an item for every query (--relevance-each-query).", type="bool")
    parser.addini(
        "relevance_report", "Report files, one per line, relative to the rootdir (--relevance-report).", type="linelist"
    )
    parser.addini(
        "relevance_github",
        "In GitHub Actions, annotate and summarize (--relevance-github).",
        type="bool",
    )


def _add_run_option(group: pytest.OptionGroup, option: RunOption) -> None:
    """Register an *option* of runs for the command line."""
    name = option.name.name_in(PYTEST)
    if option.kind is FLAG:
        # None where the flag is not given: the ini file decides then.
        group.addoption(name, action="store_true", default=None, help=option.help)
    else:
        action = "append" if option.several else "store"
        group.addoption(name, metavar=option.metavar, action=action, help=option.help)


def _add_ini_line(parser: pytest.Parser, option: RunOption) -> None:
    """Register the line of an *option* of runs in the ini file."""
    ini_type: IniType = "string"
    if option.several:
        ini_type = "args"
    elif option.kind is FLAG:
        ini_type = "bool"
    parser.addini(_name_in_ini(option), f"{option.help} ({option.name.name_in(PYTEST)})", type=ini_type)


def _name_in_ini(option: RunOption) -> str:
    """The name of *option* in the ini file, and as an attribute of pytest's parsed options."""
    return option.name.name_in(PYTEST).lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """The options of a session."""

    run: RunOptions
    """For each suite, with each of *requests* on each of *indexes*."""
    requests: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    each_query: bool = False
    """Whether every query has an item."""
    reports: tuple[Output, ...] = ()
    """The files to write, by absolute paths."""
    github: GitHubStep | None = None
    """The step of GitHub Actions that gets annotations and a summary."""


def read_options(config: pytest.Config) -> PluginOptions:
    """
    The options in force.

    Raises:
        pytest.UsageError: options that exclude each other, a report of an unknown kind, a URL with a login in it, a
            baseline that is to be updated in CI or from several indexes, a budget that is no number of seconds.
    """
    values: dict[str, Any] = {}
    for option in OPTIONS.values():
        if option.pytest:
            values[option.several or option.field] = _read_value(config, option)
    values |= _read_server(config, values)
    values["config"] = _find_config(config, values["config"], values["variables"])
    requests, indexes = values.pop("requests"), values.pop("indexes")
    save_baseline = _read_update_baseline(config)
    if save_baseline and len(indexes) > 1:
        raise pytest.UsageError(
            "--relevance-update-baseline: a baseline has one run per request; give one --relevance-index"
        )
    reports = _read_reports(config)
    each_query = config.getoption("relevance_each_query")
    if each_query is None:
        each_query = bool(config.getini("relevance_each_query"))
    run = RunOptions(
        **values,
        save_baseline=save_baseline,
        all_titles=each_query or needs_all_hits(reports),
        strict_xfail=_is_strict(config),
        entry=PYTEST,
    )
    return PluginOptions(run, requests, indexes, each_query, reports, _read_github(config))


def _read_value(config: pytest.Config, option: RunOption) -> Any:
    """The value of *option* on the command line, else in the ini file."""
    key = _name_in_ini(option)
    value = config.getoption(key)
    folder = config.invocation_params.dir
    if not value and option.ini:
        # What the ini file names is beside it, wherever pytest is called.
        value = config.getini(key)
        folder = config.rootpath
    if option.several:
        return tuple(dict.fromkeys(value or ()))
    if option.kind is FLAG:
        return bool(value)
    if not value:
        return None
    name = option.name.name_in(PYTEST)
    if option.kind in (FILE, FOLDER, NEW_FOLDER):
        return _read_path(name, folder, value)
    if option.kind.read is None:
        return value
    try:
        return option.kind.read(value)
    except UsageError as error:
        raise pytest.UsageError(f"{name}: {error}") from None


def _read_path(option: str, folder: Path, name: str) -> Path:
    """The absolute path of the file *name*, which *option* gives relative to *folder*."""
    if not FILE.accepts(name):
        raise pytest.UsageError(f"{option}: found {name!r}, expected {FILE.expected}")
    return (folder / name).absolute()


def _read_server(config: pytest.Config, values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Where suites run. The URL or the embedded node on the command line replaces both in the ini file; a version in the
    ini file applies to the embedded node, if there is one.
    """
    url, embedded = config.getoption("relevance_url"), bool(config.getoption("relevance_embedded"))
    if not url and not embedded:
        url, embedded = values["url"], values["embedded"]
        if url and embedded:
            raise pytest.UsageError("relevance_url and relevance_embedded in the ini file exclude each other: keep one")
    version = values["engine_version"] if embedded else config.getoption("relevance_engine_version")
    server = {"url": url, "embedded": embedded, "engine_version": version}
    try:
        check_servers(RunOptions(**server))
    except UsageError as error:
        raise pytest.UsageError(error.text(PYTEST)) from None
    if url:
        _check_url(url)
    return server


def _check_url(url: str) -> None:
    """Refuse a URL with a login early, without repeating it, as the header line prints the URL."""
    from harness.config import find_url_problem

    sentence = find_url_problem(url)
    if sentence:
        raise pytest.UsageError(f"--relevance-url: {sentence}")


def _find_config(config: pytest.Config, path: Path | None, variables: Sequence[str]) -> Path | None:
    """The trusted configuration, if an option, a variable or the ini file names it, in this order."""
    from_environ = os.environ.get("RELEVANCE_CONFIG")
    if from_environ and not config.getoption("relevance_config"):
        # The variable comes before the ini file, which may be a part of a pull request as suites are.
        path = config.invocation_params.dir / from_environ
    if path is not None or variables:
        from harness.config import Configs

        # A wrong file ends the session before anything is collected.
        try:
            Configs(path, variables)
        except UsageError as error:
            raise pytest.UsageError(error.text(PYTEST)) from None
    return path


def _read_update_baseline(config: pytest.Config) -> bool:
    """Whether baselines are to be updated: in CI, where nobody has reviewed the rankings, only if that is forced."""
    word = config.getoption("relevance_update_baseline")
    if word == _PLAIN:
        from harness.store.baseline import refuse_in_ci

        option = "--relevance-update-baseline"
        try:
            refuse_in_ci(os.environ, option=option, forced=f"{option}={FORCE}")
        except HarnessError as error:
            raise pytest.UsageError(str(error)) from None
    return word is not None


def _read_reports(config: pytest.Config) -> tuple[Output, ...]:
    """The reports to write, of the command line, else of the ini file."""
    names, folder = config.getoption("relevance_report"), config.invocation_params.dir
    if not names:
        names, folder = config.getini("relevance_report"), config.rootpath
    paths = dict.fromkeys(_read_path("--relevance-report", folder, name) for name in names)
    return tuple(_find_output(path) for path in paths)


def _find_output(path: Path) -> Output:
    """The report in the file at *path*, whose name says its kind; raises pytest.UsageError if it does not."""
    output = find_output(path)
    if output is None:
        raise pytest.UsageError(f"--relevance-report {path.name}: the name of a report ends with {one_of(SUFFIXES)}")
    if path.is_dir():
        raise pytest.UsageError(f"--relevance-report {path}: is a folder, expected a file")
    return replace(output, name=str(path))


def _is_strict(config: pytest.Config) -> bool:
    """Whether an unexpected pass fails, as pytest's own xfail takes it; `strict` of pytest 9 includes that."""
    if config.getoption("runxfail", False):
        return False
    for name in ("xfail_strict", "strict"):
        # With ``-p no:skipping`` pytest has no `xfail_strict`, and before pytest 9 no `strict`.
        with suppress(ValueError):
            value = config.getini(name)
            if value is not None:
                return bool(value)
    return False


def only_shows_items(config: pytest.Config) -> bool:
    """Whether the session runs no item, as under ``--collect-only``, ``--setup-plan`` and ``--fixtures``."""
    # --setup-plan sets the second.
    options = ("collectonly", "setuponly", "showfixtures", "show_fixtures_per_test")
    return any(config.getoption(option, False) for option in options)


def _read_github(config: pytest.Config) -> GitHubStep | None:
    """The step of GitHub Actions; outside of one the ini line is ignored, as the file is read on any machine."""
    is_wanted = config.getoption("relevance_github")
    is_in_ini = config.getini("relevance_github")
    if is_wanted is False or not (is_wanted or is_in_ini):
        return None
    from harness.report.github_step import find_github_step, is_in_github_actions

    if not is_wanted and not is_in_github_actions(os.environ):
        return None
    try:
        return find_github_step(os.environ, option="--relevance-github", markdown="--relevance-report FILE.md")
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def describe_options(options: PluginOptions) -> str | None:
    """Where suites run and which part of them, as given by options; None where no option says so."""
    run = options.run
    parts = []
    if run.url:
        parts.append(run.url)
    if run.embedded:
        parts.append(f"embedded node {run.engine_version}" if run.engine_version else "embedded node")
    parts += _describe_selection(options)
    if run.budget is not None:
        parts.append(f"at most {run.budget:g} s a suite")
    if run.repeat is not None:
        parts.append(f"{run.repeat} repeats")
    if options.each_query:
        parts.append("an item for every query")
    if run.allow_write:
        parts.append("may build indexes")
    if run.baseline:
        parts.append(f"baseline {run.baseline.name}")
    if run.save_baseline:
        parts.append("baselines are updated")
    if not parts:
        return None
    return f"relevance: {', '.join(parts)}"


def _describe_selection(options: PluginOptions) -> list[str]:
    """The requests, the indexes, the tags and the queries that are selected."""
    parts = []
    if options.requests:
        parts.append(_list_names("request", "requests", options.requests))
    if options.indexes:
        parts.append(_list_names("index", "indexes", options.indexes))
    if options.run.tags:
        parts.append(_list_names("tags", "tags", options.run.tags))
    if options.run.queries:
        parts.append(_list_names("query", "queries", options.run.queries))
    return parts


def _list_names(singular: str, plural: str, names: Sequence[str]) -> str:
    """*names* behind the word for them."""
    word = singular if len(names) == 1 else plural
    return f"{word} {', '.join(names)}"
