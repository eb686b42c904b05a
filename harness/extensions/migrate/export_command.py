"""``relevance export``: suites as TREC files, CSV or JSON lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.found_suites import find_given_suites
from harness.cli.headings import Command
from harness.cli.shared_options import config_options, json_option, make_run_options, root_option, suites_argument
from harness.cli.written_files import print_written
from harness.config import Configs
from harness.extensions.migrate.formats import FORMATS, export_suites
from harness.extensions.migrate.import_command import strict_option
from harness.suites import load_suites
from harness.waits import show_work
from harness.words import count

WRITTEN = {name: format for name, format in FORMATS.items() if format.writes}

SUMMARIES = "\n".join(f"  {name:15} {format.summary}" for name, format in WRITTEN.items())
FORMATS_HELP = f"\b\nFormats:\n{SUMMARIES}"
"""Begins with what lets click keep line ends."""


@click.command(
    "export",
    cls=Command,
    epilog=format_examples("relevance export csv suites/products.relevance.yaml --output tables", before=FORMATS_HELP),
)
@click.argument("kind", metavar="FORMAT", type=click.Choice(list(WRITTEN)))
@suites_argument
@config_options
@root_option
@click.option(
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder to which files are written; it may not exist yet.",
)
@click.option(
    "--machine-grades",
    is_flag=True,
    help="Write the grades of machines beside people's; CSV and JSON lines say whose they are.",
)
@strict_option
@json_option
def command(
    kind: str,
    suites: Sequence[Path],
    output: Path,
    machine_grades: bool,
    strict: bool,
    as_json: bool,
    **arguments: Any,
) -> int:
    """
    Write suites as TREC files, CSV or JSON lines, which other systems read.

    What the format has no place for is listed on standard error, with its place in the suite. Variables from the
    environment are written as they stand in the suite. No file is replaced. Grades of machines are left out, unless
    --machine-grades is given.
    """
    options = make_run_options(**arguments)
    found, configs = find_given_suites(suites, options.root), Configs.from_options(options, os.environ)
    with show_work(f"exporting {count(len(found.suites), 'suite')}"):
        loaded = load_suites(found.suites, None, needs_judgments=False, configs=configs)
        written = export_suites(kind, loaded, output, machine_grades=machine_grades)
    return print_written(written, strict=strict, command=f"export {kind}" if as_json else "")
