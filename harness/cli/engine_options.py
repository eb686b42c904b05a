"""The options that say where suites run and what of them, the same for every command that runs some."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.run.options import Matrix, RunOptions

__all__ = ["cell_options", "engine_options", "run_choices", "run_options", "server_options"]


Command = TypeVar("Command", bound=Callable[..., Any])

_SERVER_OPTIONS = (
    click.option("--url", metavar="URL", help="Run on this server instead of the suites' own clusters."),
    click.option("--embedded", is_flag=True, help="Run on an OpenSearch node that is started for this run."),
    click.option("--engine-version", metavar="VERSION", help="The embedded node's version, such as 3.8 or 2.19."),
)

_ENGINE_OPTIONS = (
    *_SERVER_OPTIONS,
    click.option(
        "--tag", "tags", metavar="TAG", multiple=True, help="Run only queries with this tag; may be repeated."
    ),
    click.option("--allow-write", is_flag=True, help="Let suites build the index that their fixture describes."),
)

_CELL_OPTIONS = (
    click.option(
        "--request",
        "requests",
        metavar="NAME",
        multiple=True,
        help="Send this one of the suites' named requests; may be repeated.",
    ),
    click.option("--all-requests", is_flag=True, help="Send every request that a suite has."),
    click.option(
        "--index",
        "indexes",
        metavar="NAME",
        multiple=True,
        help="Search this index instead of the suites' own; may be repeated.",
    ),
)


def server_options(command: Command) -> Command:
    """Give *command* the options that say where its engine is."""
    for option in reversed(_SERVER_OPTIONS):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """Give *command* the options that say where suites run, and with which queries."""
    for option in reversed(_ENGINE_OPTIONS):
        command = option(command)
    return command


def cell_options(command: Command) -> Command:
    """Give *command* the options of a run with several requests or indexes."""
    for option in reversed(_CELL_OPTIONS):
        command = option(command)
    return command


def run_choices(
    *, requests: tuple[str, ...], indexes: tuple[str, ...], all_requests: bool, **others: Any
) -> tuple[RunOptions, Matrix]:
    """
    What was asked for of all cells, and which cells there are; raises as `run_options`.

    Raises:
        click.UsageError: The options contradict each other.
    """
    if all_requests and requests:
        raise click.UsageError("--all-requests sends every request, and --request names some; give one of them")
    from harness.run.options import Matrix

    return run_options(**others), Matrix(requests, indexes, all_requests)


def run_options(*, url: str | None, embedded: bool, engine_version: str | None, **others: Any) -> RunOptions:
    """
    What was asked for, as the pipeline takes it.

    Raises:
        click.UsageError: The options contradict each other.
    """
    if url and embedded:
        raise click.UsageError("--url and --embedded name two engines; give one of them")
    if engine_version and not embedded:
        raise click.UsageError("--engine-version chooses the version of the embedded engine; give --embedded too")
    from harness.run.options import RunOptions

    return RunOptions(url=url, embedded=embedded, engine_version=engine_version, **others)
