"""What ``relevance run`` does: suites are run, and the report is printed and written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.delivery import Delivery
from harness.cli.earlier_reports import remove_outdated_on_error
from harness.cli.found_suites import find_given_suites, print_left_out
from harness.cli.github import open_github_step, report_errors_to
from harness.cli.shared_options import make_run_options
from harness.cli.streams import print_command
from harness.cli.terminal import print_all, run_progress
from harness.errors import HistoryError
from harness.model.report import Report
from harness.options import ALL_QUERIES, RunOptions
from harness.pages import format_links
from harness.report.github_step import GitHubStep, stop_commands
from harness.report.output_files import write_report
from harness.report.outputs import LISTS_OF_DECISIONS, Output, needs_all_hits
from harness.report.safe_text import make_loggable
from harness.report.terminal.run import print_report
from harness.report.topics import find_topics
from harness.run import Matrix, run_suites
from harness.suites.inputs import RunInputs

if TYPE_CHECKING:
    from harness.store.journal import Journal


def make_run_choices(
    *, requests: tuple[str, ...], indexes: tuple[str, ...], all_requests: bool, **others: Any
) -> tuple[RunOptions, Matrix]:
    """
    The options of all cells, and the matrix of cells; raises as `make_run_options`.

    Raises:
        click.UsageError: The options contradict each other.
    """
    if all_requests and requests:
        raise click.UsageError("--all-requests sends every request; remove --request")
    return make_run_options(**others), Matrix(requests, indexes, all_requests)


def run_and_report(
    suites: Sequence[Path], outputs: Sequence[Output], *, as_json: bool, github: bool, quiet: bool, **arguments: Any
) -> int:
    """Run the suites of the paths *suites*, deliver the report, and return the exit status."""
    step = open_github_step(github)
    with report_errors_to(step):
        # What is in a journal may become a report of any kind.
        all_titles = arguments["journal"] is not None or as_json or needs_all_hits(outputs)
        options, matrix = make_run_choices(**arguments, all_titles=all_titles)
        check_outputs(options, outputs)
        found = find_given_suites(suites, options.root)
        journal_file = _find_journal(options, outputs)
        journals = [] if journal_file is None else [journal_file]
        inputs = RunInputs(found.suites, options, os.environ)
        with remove_outdated_on_error(outputs, inputs, journals) as earlier_reports:
            journal = _open_journal(found.suites, options, journal_file)
            earlier_reports.journal = journal
            with run_progress(quiet=quiet) as progress:
                report = run_suites(
                    found.suites, options, environ=os.environ, progress=progress, matrix=matrix, journal=journal
                )
    # From here on there is a report to give: an error while it is written does not remove what is written already.
    delivery = Delivery()
    deliver_report(report, delivery, step, outputs, as_json=as_json, quiet=quiet)
    # The journal stays until the report is written: a run whose report is lost goes on with it.
    if journal is not None:
        is_answered = not any(suite.lacks_answers for suite in report.suites)
        with delivery.writing():
            journal.finish(is_complete=is_answered and delivery.is_complete)
    if not quiet:
        print_left_out(found)
    return delivery.report_errors(report.exit_status)


def check_outputs(options: RunOptions, outputs: Sequence[Output]) -> None:
    """
    Refuse outputs that contradict the options.

    Raises:
        click.UsageError: nothing is decided, and an output lists what does not hold.
    """
    for output in outputs:
        if options.report_only and output.kind in LISTS_OF_DECISIONS:
            raise click.UsageError(
                f"--report-only decides nothing, so there is no {output.kind} report; remove one of them"
            )


def _find_journal(options: RunOptions, outputs: Sequence[Output]) -> Output | None:
    """The journal of the option, or one beside the first report; None without a report file."""
    if options.journal is not None:
        return Output("journal", options.journal, f"--journal {options.journal}")
    for output in outputs:
        # A device such as /dev/stdout has no folder for a journal.
        if output.path.is_file() or not output.path.exists():
            path = output.path.with_name(f"{output.path.name}.journal")
            return Output("journal", path, f"the journal of {output.name}")
    return None


def _open_journal(suites: Sequence[Path], options: RunOptions, file: Output | None) -> Journal | None:
    """
    The journal of the run in *file*; None without one.

    That of the option ``--journal`` stays after the run, any other is removed when the report is written.
    """
    if file is None:
        if options.resume:
            print_note("starting anew: without --journal and --output no run leaves a journal")
        return None
    from harness.store.journal import Journal

    is_kept = options.journal is not None
    journal = Journal(file.path, resume=options.resume, is_kept=is_kept, tell=print_note)
    if is_kept:
        journal.refuse_other_part(suites, ALL_QUERIES)
    return journal


def print_note(line: str) -> None:
    """Print a *line* for the user beside the report."""
    click.echo(make_loggable(f"relevance: {line}"), err=True)


# The report.


def deliver_report(
    report: Report,
    delivery: Delivery,
    step: GitHubStep | None,
    outputs: Sequence[Output],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print *report* and write it to *outputs*, each whatever becomes of the others."""
    for sentence in dict.fromkeys(suite.not_kept for suite in report.suites if suite.not_kept):
        delivery.add(HistoryError(sentence))
    _print_report(report, delivery, step, as_json=as_json, quiet=quiet)
    if step is not None:
        with delivery.writing():
            step.summarize(report)
    for output in outputs:
        with delivery.writing():
            write_report(report, output)
            if not quiet:
                click.echo(f"wrote {output.path}", err=True)
    if report.undecided:
        click.echo(f"relevance: nothing was decided: {report.undecided}", err=True)
    if not quiet:
        for line in format_links(find_topics(report)):
            click.echo(line, err=True)


def _print_report(report: Report, delivery: Delivery, step: GitHubStep | None, *, as_json: bool, quiet: bool) -> None:
    """Print *report* on standard output, and its annotations for the log of *step*, if any."""
    with delivery.printing():
        if as_json:
            from harness.report.json import dump_report_parts

            for part in dump_report_parts(report):
                click.echo(part, nl=False)
        elif step is None:
            print_all(print_report(report, quiet=quiet))
        else:
            # A line of the report, such as the title of a document, must not be a command of GitHub Actions.
            with stop_commands(print_command):
                print_all(print_report(report, quiet=quiet))
    if step is not None:
        with delivery.printing():
            for line in step.annotations(report):
                print_command(line, err=as_json)
