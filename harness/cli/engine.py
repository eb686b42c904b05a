"""``relevance engine``: an embedded node that stays between runs."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.cli.examples import format_examples
from harness.cli.exits import NO_ANSWER
from harness.cli.headings import Group
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import json_option
from harness.embedded import DEFAULT_VERSION, EmbeddedNode, versions
from harness.embedded import down as stop_nodes
from harness.embedded import status as running_nodes
from harness.embedded import up as start_node
from harness.errors import UsageError
from harness.model.suite import Json
from harness.waits import show_work
from harness.words import did_you_mean

version_option = click.option("--engine-version", metavar="VERSION", help="Such as 3.8, which is the default, or 2.19.")


@click.group("engine", cls=Group)
def command() -> None:
    """
    Start and stop the embedded engine, a real OpenSearch node in the background.

    It needs neither a container engine nor Java, listens on 127.0.0.1 only, and its data is gone when it is stopped.
    """


@command.command("up", epilog=format_examples("relevance engine up"))
@version_option
@click.option("--port", type=click.IntRange(1, 65535), help="The port; by default a free one.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the URL, and no download progress.")
@json_option
def up(engine_version: str | None, port: int | None, quiet: bool, as_json: bool) -> None:
    """Start a node, or find the one that runs, and print its URL."""
    node = start_node(engine_version or DEFAULT_VERSION, port, quiet=quiet)
    if as_json:
        print_result(_describe_nodes("engine up", [node]))
        return
    if not quiet:
        click.echo(f"OpenSearch {node.version}, process {node.pid}, log in {node.log}", err=True)
    click.echo(node.url)


@command.command("down", epilog=format_examples("relevance engine down"))
@version_option
@json_option
def down(engine_version: str | None, as_json: bool) -> None:
    """Stop the nodes that run, or only that of one version, and remove their data."""
    known_versions = versions()
    if engine_version is not None and engine_version not in known_versions:
        hint = did_you_mean(engine_version, known_versions)
        raise UsageError(f"unknown version {engine_version!r}, only {' and '.join(known_versions)}{hint}")
    with show_work("stopping"):
        stopped = stop_nodes(engine_version)
    if as_json:
        print_result(_describe_nodes("engine down", stopped))
        return
    for node in stopped:
        click.echo(f"stopped OpenSearch {node.version} at {node.url}")
    if not stopped:
        click.echo("no embedded engine was running")


@command.command("status", epilog=format_examples("relevance engine status"))
@json_option
def status(as_json: bool) -> int:
    """Print the version and the URL of each node that runs; the exit status is 3 if none does."""
    nodes = running_nodes()
    if as_json:
        return print_result(_describe_nodes("engine status", nodes, 0 if nodes else NO_ANSWER))
    for node in nodes:
        click.echo(f"OpenSearch {node.version} at {node.url}, process {node.pid}")
    if not nodes:
        click.echo("no embedded engine runs; start one with `relevance engine up`")
    return 0 if nodes else NO_ANSWER


def _describe_nodes(command: str, nodes: Sequence[EmbeddedNode], exit_status: int = 0) -> CommandResult:
    """The result of *command*, which is about *nodes*."""
    facts: list[Json] = [
        {"version": node.version, "url": node.url, "process": node.pid, "log": str(node.log)} for node in nodes
    ]
    return CommandResult(command, exit_status, facts={"nodes": facts})
