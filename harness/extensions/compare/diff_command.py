"""``relevance baseline diff``: how what suites return today differs from their baselines."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.baseline import baseline_option
from harness.cli.examples import format_examples
from harness.cli.found_suites import find_given_suites, print_left_out
from harness.cli.headings import Command
from harness.cli.results import CommandResult, print_result
from harness.cli.running import make_run_choices
from harness.cli.shared_options import cell_options, engine_options, json_option, quiet_option, suites_argument
from harness.cli.terminal import print_all, run_progress
from harness.extensions.compare.outputs import dumps_comparison
from harness.extensions.compare.preparing import compare_with_baseline
from harness.extensions.compare.printers import print_comparison_report
from harness.model.suite import Json
from harness.run import Runner


@click.command(
    "diff",
    cls=Command,
    epilog=format_examples("relevance baseline diff suites/products.relevance.yaml --url http://localhost:9200"),
)
@suites_argument
@engine_options
@cell_options
@baseline_option
@json_option
@quiet_option
def command(suites: Sequence[Path], file: Path | None, as_json: bool, quiet: bool, **arguments: Any) -> None:
    """
    Run suites and compare what they return with their baselines, as relevance compare does.

    Nothing is decided and nothing is written: the exit status is 0 however large the difference is.
    """
    # As if it were saved: the rankings are compared here, so that no threshold needs the baseline.
    options, matrix = make_run_choices(**arguments, baseline=file, save_baseline=True, locate=False, all_titles=False)
    found = find_given_suites(suites, options.root)
    with run_progress(quiet=quiet) as progress, Runner(os.environ, progress) as runner:
        cells = runner.answer_files(found.suites, options, matrix=matrix)
        reports = []
        for cell in cells:
            name = f"request:{cell.run.request}"
            if matrix.indexes:
                name += f" on index {cell.run.index}"
            reports.append(compare_with_baseline(cell, file, name))
    if as_json:
        comparisons: list[Json] = [json.loads(dumps_comparison(report)) for report in reports]
        print_result(CommandResult("baseline diff", facts={"comparisons": comparisons}))
        return
    for report in reports:
        print_all(print_comparison_report(report))
    if not quiet:
        print_left_out(found)
