"""``relevance judgments``: what is still to be judged, and what is wrong with what was."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.examples import format_examples
from harness.cli.exits import NO_ANSWER
from harness.cli.found_suites import find_given_suites, find_one_suite, print_left_out
from harness.cli.headings import Group
from harness.cli.results import CommandResult, print_result
from harness.cli.running import make_run_choices
from harness.cli.shared_options import (
    cell_options,
    engine_options,
    json_option,
    make_run_options,
    output_option,
    quiet_option,
    request_options,
    root_option,
    server_options,
    suites_argument,
)
from harness.cli.terminal import print_all, run_progress
from harness.errors import SuiteError, UsageError
from harness.extensions.judging.aging import AgeOptions, age_suites
from harness.extensions.judging.commands.judged_suite import depth_option, folder_option, scale_option, suite_argument
from harness.extensions.judging.document import (
    build_pool_document,
    format_findings,
    list_findings,
    write_findings_closing,
)
from harness.extensions.judging.findings import Scale
from harness.extensions.judging.model import Pool
from harness.extensions.judging.pool_files import POOL_WRITERS
from harness.extensions.judging.pools_and_lint import Lint, PoolOptions, lint_suites, pool_suites
from harness.extensions.judging.remap.remapping import Remap, RemapOptions, find_remap, write_remap
from harness.extensions.judging.remap.sentences import describe_remap
from harness.files.judgments import count_grades
from harness.files.writing import PRIVATE
from harness.model.suite import Json
from harness.report.output_files import refuse_inputs, write_output
from harness.report.outputs import Output
from harness.report.safe_text import make_loggable
from harness.report.terminal import print_document
from harness.suites.inputs import RunInputs
from harness.words import count

POOL_KINDS = ("csv", "yaml")

FINDINGS = 1
"""The exit status where something was found."""


@click.group("judgments", cls=Group)
def command() -> None:
    """Find what is still to be judged, and what is wrong with the judgments that there are."""


@command.command(
    "pool",
    epilog=format_examples(
        "relevance judgments pool suites/products.relevance.yaml --url http://localhost:9200 --output csv=judged.csv"
    ),
)
@suites_argument
@engine_options
@cell_options
@depth_option
@output_option(POOL_KINDS, "csv=unjudged.csv", "Write the unjudged documents: csv=FILE or yaml=FILE; may be repeated.")
@json_option
@quiet_option
def pool(
    suites: Sequence[Path],
    depth: int | None,
    outputs: tuple[Output, ...],
    as_json: bool,
    quiet: bool,
    **arguments: Any,
) -> int:
    """
    Collect the hits that nobody has judged, from the top of each request, into files to be graded.

    With several requests each document is there once, with its rank in each of them. A file becomes a judgment file
    when grades are put in. Nothing is decided: the exit status is 0 however much is unjudged, and 3 if a query had
    no answer; what the others returned is written all the same.
    """
    found = find_given_suites(suites, arguments["root"])
    options, matrix = make_run_choices(**arguments)
    _refuse_outputs(outputs, RunInputs(found.suites, options, os.environ))
    pool_options = PoolOptions(options, matrix, depth)
    with run_progress(quiet=quiet) as progress:
        pools = pool_suites(found.suites, pool_options, environ=os.environ, progress=progress)
    delivery = Delivery()
    status = NO_ANSWER if any(suite_pool.unanswered for suite_pool in pools) else 0
    with delivery.printing():
        if as_json:
            facts: list[Json] = [_count_pool(suite_pool) for suite_pool in pools]
            files = [str(output.path) for output in outputs]
            print_result(CommandResult("judgments pool", status, files, {"pools": facts}))
        else:
            print_all(print_document(build_pool_document(pools)))
    _write_pools(pools, outputs, delivery, quiet=quiet)
    if not quiet:
        print_left_out(found)
    return delivery.report_errors(status)


def _count_pool(pool: Pool) -> dict[str, Json]:
    """What *pool* has, for programs: its unjudged documents, each with its ranks."""
    documents: list[Json] = []
    for document in pool.documents:
        ranks: dict[str, Json] = dict(document.ranks)
        documents.append({"query": document.query, "document": document.document, "ranks": ranks})
    unanswered = sorted({query for query, _ in pool.unanswered})
    return {"suite": pool.suite, "file": pool.path, "documents": documents, "unanswered": list(unanswered)}


def _refuse_outputs(outputs: Sequence[Output], inputs: RunInputs) -> None:
    """Refuse outputs for several suites, and those that hold grades: graded documents would not be pooled again."""
    if outputs and len(inputs.suites) > 1:
        raise UsageError(f"a file has the judgments of one suite, but {len(inputs.suites)} suites were given")
    refuse_inputs(outputs, inputs)
    for output in outputs:
        if not output.path.is_file():
            continue
        grades = count_grades(output.path)
        if grades:
            raise UsageError(f"{output.path} holds {count(grades, 'grade')}; write to another file")


def _write_pools(pools: Sequence[Pool], outputs: Sequence[Output], delivery: Delivery, *, quiet: bool) -> None:
    """Write the unjudged documents to *outputs*; what cannot be written is an error of *delivery*."""
    for suite_pool in pools:
        # All texts are made before one is written: a pool that a format cannot hold leaves no file behind.
        texts = [POOL_WRITERS[output.kind](suite_pool) for output in outputs]
        for output, text in zip(outputs, texts, strict=True):
            with delivery.writing():
                write_output(output, text, "the unjudged documents", PRIVATE)
                if not quiet:
                    click.echo(f"wrote {output.path}", err=True)


@command.command(
    "lint",
    epilog=format_examples("relevance judgments lint suites/products.relevance.yaml --url http://localhost:9200"),
)
@suites_argument
@server_options
@root_option
@click.option("--offline", is_flag=True, help="Do not look up the judged documents in the index.")
@scale_option
@json_option
def lint(suites: Sequence[Path], offline: bool, scale: Scale | None, as_json: bool, **arguments: Any) -> int:
    """
    Find errors in the judgments of suites, all of them at once.

    Found are documents that are no longer in the index, grades outside of the scale, documents that are judged twice or
    to different grades, queries that the suite does not have or that have no relevant document, and ids that look like
    two names of one document. The exit status is 1 if something was found, 2 if a suite is wrong otherwise, and 3
    if the engine could not answer.
    """
    if offline and (arguments["url"] or arguments["embedded"]):
        raise click.UsageError("--offline uses no engine; remove --url and --embedded")
    found = find_given_suites(suites, arguments["root"])
    options = make_run_options(**arguments)
    lint = lint_suites(found.suites, options, offline=offline, scale=scale, environ=os.environ)
    status = _print_lint("judgments lint", lint, as_json=as_json)
    print_left_out(found)
    if lint.problems:
        raise SuiteError(lint.problems)
    return status


def _print_lint(command: str, lint: Lint, *, as_json: bool) -> int:
    """Print the findings on standard output, and notes and numbers on standard error; returns the exit status."""
    status = FINDINGS if lint.findings else 0
    if lint.errors:
        status = NO_ANSWER
    remarks = [*lint.notes, *lint.errors, write_findings_closing(lint.findings, lint.judgments, lint.suites)]
    # Where there are problems, these are the one object on standard output.
    if as_json and not lint.problems:
        print_result(CommandResult(command, status, (), {"findings": list_findings(lint.findings)}, remarks))
    else:
        for line in format_findings(lint.findings):
            click.echo(line, err=as_json)
    for line in remarks:
        click.echo(make_loggable(line), err=True)
    return status


@command.command(
    "age",
    epilog=format_examples(
        "relevance judgments age suites/products.relevance.yaml --url http://localhost:9200 --before 2026-01-31"
    ),
)
@suites_argument
@click.option(
    "--before",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="List grades that were given before this day, such as 2026-01-31.",
)
@click.option("--record", is_flag=True, help="Keep what the documents of other grades are like today.")
@click.option("--offline", is_flag=True, help="Do not look up the documents; list old grades only. Needs --before.")
@folder_option
@server_options
@root_option
@request_options
@json_option
@quiet_option
def age(
    suites: Sequence[Path],
    before: datetime | None,
    record: bool,
    offline: bool,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **arguments: Any,
) -> int:
    """
    When the index was updated, list the grades to give again: of documents that changed since, or older than a day.

    The judging page keeps when a grade was given and a fingerprint of each text that was shown. For all other grades
    --record keeps what their documents are like today, in a file beside the suite, so that later changes are noticed.
    The exit status is 1 if something was found, 2 if a suite is wrong, and 3 if the engine could not answer.
    """
    if offline and (arguments["url"] or arguments["embedded"] or record):
        raise click.UsageError("--offline uses no engine; remove --url, --embedded and --record")
    if offline and before is None:
        raise click.UsageError("--offline looks up no documents, so that it needs --before DATE")
    found = find_given_suites(suites, arguments["root"])
    options = AgeOptions(
        run=make_run_options(**arguments),
        before=None if before is None else before.date(),
        offline=offline,
        record=record,
        folder=folder,
    )
    with run_progress(quiet=quiet) as progress:
        lint = age_suites(found.suites, options, environ=os.environ, progress=progress)
    status = _print_lint("judgments age", lint, as_json=as_json)
    print_left_out(found)
    return status


@command.command(
    "remap",
    epilog=format_examples(
        "relevance judgments remap suites/products.relevance.yaml --index products-v2 --by title --by brand"
    ),
)
@suite_argument
@click.option(
    "--by",
    "fields",
    metavar="FIELD",
    multiple=True,
    help="A field whose values tell a document apart; may be repeated. Default: the title of the suite.",
)
@click.option(
    "--before",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The documents as they were, as JSON lines; by default those of the suite's own index.",
)
@click.option("--write", is_flag=True, help="Edit the files that have the ids, and keep the map beside the suite.")
@folder_option
@server_options
@root_option
@request_options
@json_option
@quiet_option
def remap(
    suite: Path,
    fields: tuple[str, ...],
    before: Path | None,
    write: bool,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **arguments: Any,
) -> int:
    """
    When documents got other ids, find the new id of each judged document, by fields that are equal before and after.

    Only exact and unique pairs count. Without --write nothing is written: it is said how many ids moved, which are
    ambiguous or gone, and how far nDCG moves. All documents of the index are read, and of that from before. The exit
    status is 2 if a file or an option is wrong, and 3 if the engine could not answer.
    """
    options = RemapOptions(make_run_options(**arguments), fields, before, folder)
    path = find_one_suite(suite, arguments["root"])
    with run_progress(quiet=quiet) as progress:
        found = find_remap(path, options, environ=os.environ, progress=progress)
    status = NO_ANSWER if found.moved.unanswered else 0
    lines = list(describe_remap(found))
    if not as_json:
        # What was found is said also where the files cannot be written.
        for line in lines:
            click.echo(make_loggable(line))
    written = write_remap(found, options) if write else []
    if as_json:
        return print_result(_describe_remap_result(found, status, [*lines, *written]))
    for line in written:
        click.echo(make_loggable(line))
    if not write and found.fates.moved and not quiet:
        click.echo("nothing was written; --write edits the files", err=True)
    return status


def _describe_remap_result(found: Remap, status: int, lines: Sequence[str]) -> CommandResult:
    """What became of the ids, for programs."""
    fates, moved = found.fates, found.moved
    others: dict[str, Json] = {document: fate.value for document, (fate, _) in fates.others.items()}
    facts: dict[str, Json] = {
        "moved": dict(fates.moved),
        "others": others,
        "measure": str(moved.measure),
        "before": moved.before,
        "after": moved.after,
    }
    return CommandResult("judgments remap", status, facts=facts, remarks=lines)
