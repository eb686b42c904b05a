"""``relevance verify``: a suite's scores beside those of the cluster's own `_rank_eval`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.examples import format_examples
from harness.cli.found_suites import find_given_suites, print_left_out
from harness.cli.headings import Command
from harness.cli.running import make_run_choices
from harness.cli.shared_options import cell_options, engine_options, json_option, quiet_option, suites_argument
from harness.cli.terminal import print_all, run_progress
from harness.extensions.migrate.verification_document import build_verification_document, dumps_verification
from harness.extensions.migrate.verify import verify_suites
from harness.report.terminal import print_document


@click.command(
    "verify",
    cls=Command,
    epilog=format_examples("relevance verify suites/products.relevance.yaml --url http://localhost:9200"),
)
@suites_argument
@engine_options
@cell_options
@json_option
@quiet_option
def command(suites: Sequence[Path], as_json: bool, quiet: bool, **arguments: Any) -> int:
    """
    Compare the scores of suites with those of the cluster's own _rank_eval.

    The same requests and judgments are sent to _rank_eval for each measure that it has, or one that differs in rules
    only. Each difference is listed with its reasons. No threshold is decided: the exit status is 0 if every
    difference has a known reason, 1 if one has none or nothing was compared, 2 if a suite or the command line is
    wrong, and 3 if the engine has no _rank_eval or could not answer.
    """
    options, matrix = make_run_choices(**arguments, all_titles=False)
    found = find_given_suites(suites, options.root)
    with run_progress(quiet=quiet) as progress:
        report = verify_suites(found.suites, options, environ=os.environ, matrix=matrix, progress=progress)
    delivery = Delivery()
    with delivery.printing():
        if as_json:
            click.echo(dumps_verification(report), nl=False)
        else:
            print_all(print_document(build_verification_document(report.verifications)))
    if not quiet:
        print_left_out(found)
    return delivery.report_errors(report.exit_status)
