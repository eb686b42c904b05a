"""``relevance validate``: are these suites right, without asking an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.headings import Command
from harness.cli.shared_options import config_options, github_option, json_option, root_option, suites_argument


@click.command("validate", cls=Command, epilog=format_examples("relevance validate suites/"))
@suites_argument
@config_options
@root_option
@github_option
@click.option("--quiet", "-q", is_flag=True, help="Print problems only.")
@json_option
def command(suites: Sequence[Path], github: bool, quiet: bool, as_json: bool, **arguments: Any) -> None:
    """
    Check suites, and the judgment files that they name, without an engine.

    SUITE is a file, or a folder: then all *.relevance.yaml under it. Every problem of every file is printed, with its
    line, on standard error. A suite that is right is printed with its numbers of queries, judgments, thresholds and
    requests. Variables from the environment need not be set, but allowed.
    """
    from harness.cli.validating import check_suites

    check_suites(suites, github=github, quiet=quiet, as_json=as_json, **arguments)
