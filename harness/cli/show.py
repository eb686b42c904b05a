"""``relevance show``: one query of a suite, its request, and its ranking rank by rank."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.examples import format_examples
from harness.cli.exits import NO_ANSWER
from harness.cli.found_suites import find_one_suite
from harness.cli.headings import Command
from harness.cli.shared_options import json_option, make_run_options, query_options
from harness.cli.terminal import print_all
from harness.report.inspection_document import build_inspection_document
from harness.report.json import dumps_inspection
from harness.report.terminal import print_document
from harness.run.inspection import inspect_query
from harness.waits import show_work


@click.command(
    "show",
    cls=Command,
    epilog=format_examples("relevance show suites/products.relevance.yaml running-shoes --url http://localhost:9200"),
)
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("query")
@click.argument("others", metavar="", nargs=-1)
@query_options
@click.option(
    "--explain",
    "explained",
    multiple=True,
    metavar="DOC [DOC]",
    help="Explain the score of a document, or what differs between two; the last option.",
)
@click.option(
    "--request-body",
    "whole_request",
    is_flag=True,
    help="Print all of the request as it is sent, and a curl line that sends it.",
)
@json_option
def command(
    suite: Path,
    query: str,
    others: tuple[str, ...],
    explained: tuple[str, ...],
    whole_request: bool,
    as_json: bool,
    **arguments: Any,
) -> int:
    """
    Show one query of a suite: what each rank adds to the score and loses against the ideal ranking, ties, where the
    missing relevant documents are, and the request as it is sent.

    With a baseline beside the suite, the old rank of each document stands beside the new. Nothing is decided, and a
    `skip` of the query has no effect: the exit status is 0, 2 if the suite, the query or the command line is wrong,
    and 3 if the engine did not answer.
    """
    documents = _join_documents(explained, others)
    options = make_run_options(**arguments)
    path = find_one_suite(suite, options.root)
    with show_work("asking the engine"):
        inspection = inspect_query(path, query, options, environ=os.environ, documents=documents)
    delivery = Delivery()
    with delivery.printing():
        if as_json:
            click.echo(dumps_inspection(inspection), nl=False)
        else:
            print_all(print_document(build_inspection_document(inspection, whole_request=whole_request)))
    return delivery.report_errors(NO_ANSWER if inspection.query.outcome.is_unanswered else 0)


def _join_documents(explained: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """The documents of ``--explain A B`` and of ``--explain A --explain B``."""
    if others and not explained:
        raise click.UsageError(f"found {others[0]!r} behind the query, expected options; --explain takes documents")
    # click takes one value of an option: the second document comes as an argument.
    documents = (*explained, *others)
    if len(documents) > 2:
        raise click.UsageError(f"--explain takes one document or two, found {len(documents)}")
    return documents
