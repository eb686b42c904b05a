"""The plugin's options, as pytest shows them in its help: on the command line, and as lines of the ini file."""

from __future__ import annotations

import argparse

import pytest

from harness.collecting.baselines import update_word

__all__ = ["add_options"]


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
