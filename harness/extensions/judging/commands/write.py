"""``relevance judge write``: the grades of all judges into the suite, without the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.headings import Command
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import config_options, json_option, make_run_options, root_option
from harness.extensions.judging.commands.judged_suite import (
    JudgedSuite,
    WritingOptions,
    folder_option,
    suite_argument,
    writing_options,
)
from harness.report.safe_text import make_loggable


@click.command("write", cls=Command, epilog=format_examples("relevance judge write suites/products.relevance.yaml"))
@suite_argument
@click.option(
    "--settler",
    metavar="NAME",
    help="If judges differ: the judge who settled that, whose grades come before --resolve.",
)
@writing_options
@folder_option
@config_options
@root_option
@json_option
def command(suite: Path, settler: str | None, folder: Path | None, as_json: bool, **arguments: Any) -> int:
    """
    Write the grades of all judges to the suite, when judging on the page or as a team ended without that.

    No page is opened, and no engine is asked. Grades of machines are never written. The exit status is 2 if a file or
    the command line is wrong.
    """
    options = WritingOptions.from_arguments(arguments)
    judged = JudgedSuite.read(suite, folder, make_run_options(**arguments))
    if settler is not None:
        judged.check_has_graded(settler)
        judged.add_people([settler])
    lines = list(options.make_target(judged, settler).write())
    if as_json:
        return print_result(CommandResult("judge write", remarks=lines))
    for line in lines:
        click.echo(make_loggable(line))
    return 0
