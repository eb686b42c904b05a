"""``relevance doctor``: whether a server has what runs need."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.exits import NO_ANSWER
from harness.cli.headings import Command
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import json_option, make_run_options, server_options
from harness.config import Configs
from harness.errors import SearchError
from harness.extensions.start.doctor import Diagnosis, Health, examine_server
from harness.model.request import Cluster
from harness.model.suite import Json
from harness.options import RunOptions
from harness.pages import format_links
from harness.report.safe_text import make_loggable
from harness.run.connections import Connections
from harness.waits import show_work

NAME_WIDTH = 14
HEALTH_WIDTH = max(map(len, Health))


@click.command(
    "doctor",
    cls=Command,
    epilog=format_examples(
        "relevance doctor --url http://localhost:9200 --index products", "relevance doctor --embedded"
    ),
)
@click.option("--cluster", metavar="NAME", help="The cluster of this name in relevance.toml. Default: default.")
@click.option("--index", metavar="NAME", help="An index, an alias or a pattern; without it indexes are listed.")
@server_options
@json_option
def command(cluster: str | None, index: str | None, as_json: bool, **arguments: Any) -> int:
    """
    Check a server: connection, login, engine, clock, index, privileges and fields.

    Nothing is written. A line that is `limited` names what runs cannot see or use there. The exit status is 3 if the
    server cannot be searched, else 0.
    """
    options = make_run_options(cluster=cluster, **arguments)
    with show_work("asking the server"):
        findings = list(_examine_cluster(options, index))
    status = NO_ANSWER if any(finding.health is Health.BROKEN for finding in findings) else 0
    if as_json:
        return print_result(_describe_findings(findings, status))
    _print_findings(findings)
    for line in format_links(topic for finding in findings for topic in finding.topics):
        click.echo(line, err=True)
    return status


def _examine_cluster(options: RunOptions, index: str | None) -> Iterator[Diagnosis]:
    """What is found of the cluster that *options* name: whether it can be connected to, and what it can do."""
    configs = Configs.from_options(options, os.environ)
    with Connections(os.environ, options) as connections:
        start = perf_counter()
        opened = connections.open_chosen(Path.cwd() / "doctor.relevance.yaml", configs)
        seconds = perf_counter() - start
        if opened.search is None:
            topics = () if opened.error is None else opened.error.topics
            yield Diagnosis("connection", Health.BROKEN, str(opened.error), topics)
            return
        login = _describe_login(opened.cluster)
        yield Diagnosis("connection", Health.FINE, f"{opened.name} identified in {seconds * 1000:.0f} ms; {login}")
        try:
            yield from examine_server(opened.search, index, now=lambda: datetime.now(UTC))
        except SearchError as error:
            yield Diagnosis("search", Health.BROKEN, str(error), error.topics)


def _describe_login(cluster: Cluster) -> str:
    """Which login is sent, without its value."""
    variables = cluster.secret_variables
    return f"login of {', '.join(variables)}" if variables else "no login"


def _describe_findings(findings: Sequence[Diagnosis], status: int) -> CommandResult:
    facts: list[Json] = [
        {"code": finding.name.replace(" ", "-"), "health": finding.health.value, "text": finding.text}
        for finding in findings
    ]
    return CommandResult("doctor", status, facts={"findings": facts})


def _print_findings(findings: Sequence[Diagnosis]) -> None:
    for finding in findings:
        click.echo(make_loggable(f"{finding.health:{HEALTH_WIDTH}}  {finding.name:{NAME_WIDTH}}  {finding.text}"))
