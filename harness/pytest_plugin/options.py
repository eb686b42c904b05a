"""The plugin's options, from the command line and the ini file; the command line takes precedence."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from harness.errors import EntryPoint, HarnessError, UsageError
from harness.options import (
    COUNT,
    FILE,
    FLAG,
    FOLDER,
    OPTIONS,
    SECONDS,
    RunOption,
    RunOptions,
    check_servers,
    read_count,
    read_seconds,
)
from harness.report.github_step import GitHubStep, github_step, in_github_actions
from harness.report.outputs import SUFFIXES, Output, output_named, shows_all_hits
from harness.words import one_of

PYTEST = EntryPoint.PYTEST
IniType: TypeAlias = Literal["args", "bool", "string"]
FORCE = "force"
PLAIN = "yes"


def update_word(text: str) -> str:
    """Check the value of ``--relevance-update-baseline``, for which argparse may have taken the path of a suite."""
    if text not in (FORCE, PLAIN):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected nothing or ={FORCE}; put paths before the option")
    return text


def update_wanted(word: str | None) -> bool:
    """
    Whether baselines are to be updated.

    Raises:
        pytest.UsageError: in CI, where nobody has reviewed what later runs would be compared with.
    """
    if word == PLAIN:
        from harness.baseline import refuse_in_ci

        option = "--relevance-update-baseline"
        try:
            refuse_in_ci(os.environ, option=option, forced=f"{option}={FORCE}")
        except HarnessError as error:
            raise pytest.UsageError(str(error)) from None
    return word is not None


def add_options(parser: pytest.Parser) -> None:
    """Register the options and their ini lines: those of runs, from their table, and the plugin's own."""
    group = parser.getgroup("relevance", "search relevance suites (*.relevance.yaml)")
    of_runs = [option for option in OPTIONS.values() if option.pytest]
    for option in of_runs:
        if option.kind is not FILE:
            _add_option(group, option)
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
    for option in of_runs:
        if option.kind is FILE:
            _add_option(group, option)
    group.addoption(
        "--relevance-update-baseline",
        nargs="?",
        const="yes",
        type=update_word,
        metavar="force",
        help="Save the rankings of suites as their baseline; in CI only with =force.",
    )
    for option in of_runs:
        if option.ini:
            kind: IniType = "args" if option.several else "bool" if option.kind is FLAG else "string"
            parser.addini(_key(option), f"{option.help} ({option.name.name_in(PYTEST)})", type=kind)
    parser.addini("relevance_each_query", "Make an item for every query (--relevance-each-query).", type="bool")
    parser.addini(
        "relevance_report", "Report files, one per line, relative to the rootdir (--relevance-report).", type="linelist"
    )
    parser.addini(
        "relevance_github",
        "In GitHub Actions, annotate and summarize (--relevance-github).",
        type="bool",
    )


def _add_option(group: pytest.OptionGroup, option: RunOption) -> None:
    name = option.name.name_in(PYTEST)
    if option.kind is FLAG:
        group.addoption(name, action="store_true", default=None, help=option.help)
    else:
        group.addoption(name, metavar=option.metavar, action="append" if option.several else "store", help=option.help)


def _key(option: RunOption) -> str:
    """The name of *option* in the ini file, and as an attribute of pytest's parsed options."""
    return option.name.name_in(PYTEST).lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """
    The options of a session: *run* for each suite, with each of *requests* on each of *indexes*.

    *reports* are the files to write, by absolute paths. With *each_query* every query has an item. *github* is the step
    of GitHub Actions that gets annotations and a summary.
    """

    run: RunOptions
    requests: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    each_query: bool = False
    reports: tuple[Output, ...] = ()
    github: GitHubStep | None = None


def read_options(config: pytest.Config) -> PluginOptions:
    """
    The options in force.

    Raises:
        pytest.UsageError: options that exclude each other, a report of an unknown kind, a URL with a login in it, a
            baseline that is to be updated in CI or from several indexes, a budget that is no number of seconds.
    """
    given = {option.several or option.field: _value(config, option) for option in OPTIONS.values() if option.pytest}
    given |= _server(config, given)
    given["config"] = _config(config, given["config"], given["variables"])
    requests, indexes = given.pop("requests"), given.pop("indexes")
    update_baseline = update_wanted(config.getoption("relevance_update_baseline"))
    if update_baseline and len(indexes) > 1:
        raise pytest.UsageError(
            "--relevance-update-baseline: a baseline has one run per request; give one --relevance-index"
        )
    each_query, reports = config.getoption("relevance_each_query"), _reports(config)
    if each_query is None:
        each_query = bool(config.getini("relevance_each_query"))
    all_titles = each_query or shows_all_hits(reports)
    run = RunOptions(
        **given,
        save_baseline=update_baseline,
        all_titles=all_titles,
        strict_xfail=_is_strict(config),
        entry=PYTEST,
    )
    return PluginOptions(run, requests, indexes, each_query, reports, _github(config))


def _value(config: pytest.Config, option: RunOption) -> Any:
    """The value of *option* on the command line, else in the ini file."""
    given = config.getoption(_key(option)) or (config.getini(_key(option)) if option.ini else None)
    if option.several:
        return tuple(dict.fromkeys(given or ()))
    if option.kind is FLAG:
        return bool(given)
    if given and option.kind in (FILE, FOLDER):
        base = config.invocation_params.dir if config.getoption(_key(option)) else config.rootpath
        return _path(option.name.name_in(PYTEST), base, given)
    read = {COUNT: read_count, SECONDS: read_seconds}.get(option.kind)
    if given and read is not None:
        try:
            return read(given)
        except UsageError as error:
            raise pytest.UsageError(f"{option.name.name_in(PYTEST)}: {error}") from None
    return given or None


def _config(config: pytest.Config, given: Path | None, variables: Sequence[str]) -> Path | None:
    """
    The trusted configuration, if an option, a variable or the ini file names it, in this order.

    The variable comes before the ini file, which may be a part of a pull request as suites are.
    """
    from_environ = os.environ.get("RELEVANCE_CONFIG")
    if from_environ and not config.getoption("relevance_config"):
        given = config.invocation_params.dir / from_environ
    if given is not None or variables:
        from harness.config import Configs

        try:
            Configs(given, variables)
        except UsageError as error:
            raise pytest.UsageError(error.text(PYTEST)) from None
    return given


def _is_strict(config: pytest.Config) -> bool:
    """
    Whether an unexpected pass fails, as pytest's own xfail takes it; `strict` of pytest 9 includes that.

    With ``-p no:skipping`` pytest has no `xfail_strict`, and before pytest 9 no `strict`.
    """
    given = None
    for name in ("xfail_strict", "strict"):
        with suppress(ValueError):
            given = config.getini(name) if given is None else given
    return bool(given) and not config.getoption("runxfail", False)


def only_shows(config: pytest.Config) -> bool:
    """Whether the session runs no item, as under ``--collect-only``, ``--setup-plan`` and ``--fixtures``."""
    options = ("collectonly", "setuponly", "showfixtures", "show_fixtures_per_test")  # --setup-plan sets the second
    return any(config.getoption(option, False) for option in options)


def _github(config: pytest.Config) -> GitHubStep | None:
    """The step of GitHub Actions; outside of one the ini line is ignored, as the file is read on any machine."""
    given = config.getoption("relevance_github")
    if given is None:
        given = config.getini("relevance_github") and in_github_actions(os.environ)
    option = "--relevance-github"
    try:
        return github_step(os.environ, option=option, markdown="--relevance-report FILE.md") if given else None
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _server(config: pytest.Config, given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Where suites run. The URL or the embedded node on the command line replaces both in the ini file; a version in the
    ini file applies to the embedded node, if there is one.
    """
    url, embedded = config.getoption("relevance_url"), bool(config.getoption("relevance_embedded"))
    if not url and not embedded:
        url, embedded = given["url"], given["embedded"]
        if url and embedded:
            raise pytest.UsageError("relevance_url and relevance_embedded in the ini file exclude each other: keep one")
    version = given["engine_version"] if embedded else config.getoption("relevance_engine_version")
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
    from harness.config import url_problem

    sentence = url_problem(url)
    if sentence:
        raise pytest.UsageError(f"--relevance-url: {sentence}")


def _reports(config: pytest.Config) -> tuple[Output, ...]:
    given = config.getoption("relevance_report")
    base = config.invocation_params.dir if given else config.rootpath
    names = given or config.getini("relevance_report")
    paths = dict.fromkeys(_path("--relevance-report", base, name) for name in names)
    return tuple(map(_report, paths))


def _path(option: str, base: Path, name: str) -> Path:
    if not FILE.fits(name):
        raise pytest.UsageError(f"{option}: found {name!r}, expected {FILE.expected}")
    return (base / name).absolute()


def _report(path: Path) -> Output:
    output = output_named(path)
    if output is None:
        raise pytest.UsageError(f"--relevance-report {path.name}: the name of a report ends with {one_of(SUFFIXES)}")
    if path.is_dir():
        raise pytest.UsageError(f"--relevance-report {path}: is a folder, expected a file")
    return output


def header_line(options: PluginOptions) -> str | None:
    """Where suites run and which part of them, as given by options; None where no option says so."""
    parts = list(_given(options))
    return f"relevance: {', '.join(parts)}" if parts else None


def _given(options: PluginOptions) -> Iterator[str]:
    if options.run.url:
        yield options.run.url
    if options.run.embedded:
        yield f"embedded node {options.run.engine_version}" if options.run.engine_version else "embedded node"
    yield from _named(options)
    if options.run.budget is not None:
        yield f"at most {options.run.budget:g} s a suite"
    if options.run.repeat is not None:
        yield f"{options.run.repeat} repeats"
    if options.each_query:
        yield "an item for every query"
    if options.run.allow_write:
        yield "may build indexes"
    if options.run.baseline:
        yield f"baseline {options.run.baseline.name}"
    if options.run.save_baseline:
        yield "baselines are updated"


def _named(options: PluginOptions) -> Iterator[str]:
    """The requests, the indexes, the tags and the queries, each by its names."""
    if options.requests:
        yield f"{'request' if len(options.requests) == 1 else 'requests'} {', '.join(options.requests)}"
    if options.indexes:
        yield f"{'index' if len(options.indexes) == 1 else 'indexes'} {', '.join(options.indexes)}"
    if options.run.tags:
        yield f"tags {', '.join(options.run.tags)}"
    if options.run.queries:
        yield f"{'query' if len(options.run.queries) == 1 else 'queries'} {', '.join(options.run.queries)}"
