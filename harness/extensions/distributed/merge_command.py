"""``relevance merge``: the journals of the parts of a run in, the report and the exit status of the whole run out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.earlier_reports import remove_outdated_on_error
from harness.cli.examples import format_examples
from harness.cli.github import open_github_step, report_errors_to
from harness.cli.headings import Command
from harness.cli.run import report_options
from harness.cli.running import check_outputs, deliver_report
from harness.cli.shared_options import config_options, deciding_options, make_run_options, root_option
from harness.config import CONFIG_VARIABLE
from harness.errors import UsageError
from harness.extensions.distributed.merging import MergedJournal
from harness.report.outputs import Output
from harness.run import Matrix, run_suites
from harness.store.journal import read_content
from harness.suites.inputs import RunInputs
from harness.waits import show_work
from harness.words import count

journal_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    "merge", cls=Command, epilog=format_examples("relevance merge 1.journal 2.journal --output html=report.html")
)
@click.argument("journals", metavar="JOURNAL…", nargs=-1, required=True, type=journal_file)
@config_options
@root_option
@deciding_options
@report_options
def command(
    journals: tuple[Path, ...], as_json: bool, outputs: tuple[Output, ...], github: bool, quiet: bool, **arguments: Any
) -> int:
    """
    Decide and report as one run what several machines sent in parts, each with `relevance run --shard`.

    JOURNAL is what `relevance run --shard I/N --journal JOURNAL` wrote. All parts of the run have to be there, each
    once and whole, of the same suites, judgments, requests, options, target and version of the harness; the suites are
    read from where they ran. No query is sent. What is sent, the configuration and the variables are those of the
    parts. The exit status is that of `relevance run`; it is 2 if the journals are not the parts of one run.
    """
    step = open_github_step(github)
    with report_errors_to(step):
        deciding = make_run_options(**arguments)
        named_config = os.environ.get(CONFIG_VARIABLE)
        if deciding.config is None and named_config:
            # It counts before the configuration that the journals name: that of whoever sent the queries.
            deciding = replace(deciding, config=Path(named_config))
        check_outputs(deciding, outputs)
        for number, journal in enumerate(journals):
            if any(journal.samefile(other) for other in journals[:number]):
                raise UsageError(f"{journal} is given twice")
        with show_work(f"reading {count(len(journals), 'journal')}", quiet=quiet):
            merged = MergedJournal([(str(journal), read_content(journal)) for journal in journals])
        options = merged.add_options(deciding)
        matrix = Matrix(**merged.matrix)
        with remove_outdated_on_error(outputs, RunInputs(merged.suites, options, os.environ, journals)):
            with show_work("scoring and deciding", quiet=quiet):
                report = run_suites(merged.suites, options, environ=os.environ, matrix=matrix, journal=merged)
            merged.check_all_taken()
    delivery = Delivery()
    deliver_report(report, delivery, step, outputs, as_json=as_json, quiet=quiet)
    return delivery.report_errors(report.exit_status)
