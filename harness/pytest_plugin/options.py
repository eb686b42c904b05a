"""
The plugin's options, on the command line and as lines of the ini file, and what a session writes
because of them.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.errors import HarnessError, Problem, UsageError
from harness.report.github_step import GitHubStep, github_step, in_github_actions
from harness.report.outputs import Output, output_named
from harness.words import one_of

if TYPE_CHECKING:
    from harness.model import Report
    from harness.options import RunOptions
    from harness.pytest_plugin.runs import Failed
    from harness.run.execution import FinishedSuite

__all__ = [
    "FORCE",
    "PluginOptions",
    "add_options",
    "annotation_lines",
    "only_shows",
    "read_options",
    "save_baselines",
    "summarise",
    "update_wanted",
    "update_word",
]


# `--relevance-update-baseline`: what suites returned in a session becomes their baseline.


FORCE = "force"
PLAIN = "yes"


def update_word(text: str) -> str:
    """What may stand behind ``--relevance-update-baseline``; the name of a suite there is the next argument's."""
    if text not in (FORCE, PLAIN):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected nothing or ={FORCE}; put paths before the option")
    return text


def update_wanted(word: str | None) -> bool:
    """
    Whether baselines are to be updated.

    Raises:
        pytest.UsageError: in CI, where nobody has looked at what would become the measure of all later runs.
    """
    if word == PLAIN:
        from harness.baseline.saving import refuse_in_ci

        option = "--relevance-update-baseline"
        try:
            refuse_in_ci(os.environ, asked=option, forced=f"{option}={FORCE}")
        except HarnessError as error:
            raise pytest.UsageError(str(error)) from None
    return word is not None


def save_baselines(finished: Iterable[FinishedSuite], options: RunOptions) -> tuple[list[str], list[str]]:
    """What was written, a line for each file and for what is to be known of it; and why others could not be."""
    from harness.baseline.saving import keep_run

    written, problems = [], []
    for one in finished:
        try:
            kept = keep_run(
                one.suite,
                one.run,
                one.scores,
                created=options.day().isoformat(),
                partial=bool(options.tags),
                others=one.others,
                file=options.baseline,
            )
            kept.write()
        except HarnessError as error:
            problems.append(str(error))
        else:
            written += [f"baseline written to {kept.path}", *(f"  {note}" for note in kept.notes)]
    return list(dict.fromkeys(written)), problems


# The plugin's options, as pytest shows them in its help: on the command line, and as lines of the ini file.


def add_options(parser: pytest.Parser) -> None:
    """Register the options and their ini lines."""
    group = parser.getgroup("relevance", "search relevance suites (*.relevance.yaml)")
    group.addoption(
        "--relevance-url", metavar="URL", help="run every suite on this server, instead of its target's cluster"
    )
    group.addoption(
        "--relevance-embedded",
        action="store_true",
        default=None,
        help="run every suite on an OpenSearch node that is started for this session",
    )
    group.addoption(
        "--relevance-engine-version", metavar="VERSION", help="which embedded node: 3.8 (the default) or 2.19"
    )
    group.addoption(
        "--relevance-request",
        metavar="NAME",
        action="append",
        help="the named request that suites send, where they have several; may be given several times",
    )
    group.addoption(
        "--relevance-index",
        metavar="NAME",
        action="append",
        help="the index that is searched instead of the suites' own; may be given several times",
    )
    group.addoption(
        "--relevance-tag",
        metavar="TAG",
        action="append",
        help="only the queries with this tag; may be given several times",
    )
    group.addoption(
        "--relevance-allow-write",
        action="store_true",
        default=None,
        help="let suites with a fixture build their own index on the server",
    )
    group.addoption(
        "--relevance-budget",
        metavar="SECONDS",
        help="send nothing more of a suite after so many seconds; its other queries did not run",
    )
    group.addoption(
        "--relevance-each-query",
        action=argparse.BooleanOptionalAction,
        help="make an item of every query, not only of those with thresholds of their own",
    )
    group.addoption(
        "--relevance-report",
        metavar="FILE",
        action="append",
        help="write a report, .html, .json or .md by its name; may be given several times",
    )
    group.addoption(
        "--relevance-github",
        action=argparse.BooleanOptionalAction,
        help="in a step of GitHub Actions: annotate the lines of suites, and add to the job's summary",
    )
    group.addoption(
        "--relevance-baseline",
        metavar="FILE",
        help="compare with this file of baselines, instead of the one beside the suite",
    )
    group.addoption(
        "--relevance-update-baseline",
        nargs="?",
        const="yes",
        type=update_word,
        metavar="force",
        help="keep what suites return as their baseline; in CI only with =force",
    )
    _add_ini_lines(parser)


def _add_ini_lines(parser: pytest.Parser) -> None:
    parser.addini("relevance_url", "server that every suite runs on (--relevance-url)")
    parser.addini(
        "relevance_embedded", "run suites on the embedded node (--relevance-embedded)", type="bool", default=False
    )
    parser.addini("relevance_engine_version", "version of the embedded node (--relevance-engine-version)")
    parser.addini("relevance_request", "named requests that suites send (--relevance-request)", type="args")
    parser.addini("relevance_index", "indexes searched instead of the suites' own (--relevance-index)", type="args")
    parser.addini(
        "relevance_allow_write", "let fixtures build their index (--relevance-allow-write)", type="bool", default=False
    )
    parser.addini("relevance_budget", "seconds that the searches of a suite may take (--relevance-budget)")
    parser.addini(
        "relevance_each_query", "make an item of every query (--relevance-each-query)", type="bool", default=False
    )
    parser.addini(
        "relevance_report", "report files, one a line, relative to the rootdir (--relevance-report)", type="linelist"
    )

    parser.addini(
        "relevance_github",
        "wherever GitHub Actions runs the session, annotate and summarise (--relevance-github)",
        type="bool",
        default=False,
    )


REPORT_SUFFIXES = (".html", ".json", ".md")


def summarise(
    step: GitHubStep, report: Report | None, failures: Sequence[Failed], refusals: Sequence[Problem]
) -> list[str]:
    """Add to the job's summary what ran, and what could not; why it could not be added to."""
    sentences = [str(problem) for problem in _problems(failures, refusals)]
    try:
        if sentences:
            step.summarise_refusal("\n".join(sentences))
        if report is not None:
            step.summarise(report)
    except HarnessError as error:
        return [str(error)]
    return []


def annotation_lines(
    step: GitHubStep, report: Report | None, failures: Sequence[Failed], refusals: Sequence[Problem]
) -> list[str]:
    """The lines for GitHub's runner: what could not run before what does not hold."""
    told = step.problems(_problems(failures, refusals))
    return told if report is None else told + step.annotations(report)


def _problems(failures: Iterable[Failed], refusals: Iterable[Problem]) -> list[Problem]:
    """What is wrong in files, each problem once, and of other suites that did not run why."""
    problems = list(refusals)
    for failed in failures:
        problems += failed.problems or [Problem(failed.path, 0, 0, f"did not run: {failed.sentence}")]
    return list(dict.fromkeys(problems))


# What the user asked for, on the command line or in lines of the ini file. The command line wins.


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """
    What the user asked for; *reports* are the files to write, by absolute paths, *baseline* that of the file to compare
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
    reports: tuple[Output, ...] = ()
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
            "--relevance-engine-version chooses the version of the embedded engine; give --relevance-embedded too"
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
    option = "--relevance-github"
    try:
        return github_step(os.environ, option=option, markdown="--relevance-report FILE.md") if given else None
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
        raise pytest.UsageError("--relevance-url and --relevance-embedded name two engines; give one of them")
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


def _reports(config: pytest.Config) -> tuple[Output, ...]:
    given = config.getoption("relevance_report")
    base = config.invocation_params.dir if given else config.rootpath
    paths = dict.fromkeys((base / name).absolute() for name in given or config.getini("relevance_report"))
    return tuple(map(_report, paths))


def _report(path: Path) -> Output:
    output = output_named(path)
    if output is None:
        raise pytest.UsageError(f"--relevance-report {path.name}: a report's name ends with {one_of(REPORT_SUFFIXES)}")
    if path.is_dir():
        raise pytest.UsageError(f"--relevance-report {path}: is a folder, the name of a file is needed")
    return output
