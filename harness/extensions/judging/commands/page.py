"""``relevance judge page``: grade what is unjudged on a page in the browser."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.exits import INTERRUPTED_STATUS, NO_ANSWER
from harness.cli.headings import Command, rare_option
from harness.extensions.judging.commands.judged_suite import JudgedSuite, suite_argument
from harness.extensions.judging.commands.pages import (
    GradingPeople,
    PageOptions,
    has_work,
    open_pages,
    page_options,
    print_order,
)
from harness.extensions.judging.server import JudgingServer
from harness.extensions.judging.server.views import ServedJudges
from harness.extensions.judging.session import JudgeView
from harness.extensions.judging.targets import GradeTarget
from harness.local_server.access import OneUser
from harness.local_server.addresses import Address
from harness.local_server.browsers import open_browser
from harness.report.safe_text import make_loggable
from harness.words import count, counted

SOMEBODY = "judge"
"""The name of a judge who gives none."""


@click.command(
    "page",
    cls=Command,
    epilog=format_examples("relevance judge page suites/products.relevance.yaml --url http://localhost:9200"),
)
@suite_argument
@click.option("--judge", metavar="NAME", help=f"Whose grades these are; by default {SOMEBODY}.")
@click.option(
    "--settler",
    metavar="NAME",
    help="If judges differ: grade as this judge, only documents on which the others differ; these grades are written.",
)
@page_options
@rare_option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port; by default a free one.")
@rare_option("--no-open", is_flag=True, help="Do not open the page in a browser.")
def command(
    suite: Path,
    judge: str | None,
    settler: str | None,
    folder: Path | None,
    port: int,
    no_open: bool,
    **arguments: Any,
) -> int:
    """
    Grade on a page in the browser what `relevance judgments pool` would collect.

    Each grade is kept at once in a file beside the suite, one for each judge, so that judging goes on where it ended.
    Finishing on the page writes the grades to the suite, or to the judgment file that it names, and changes nothing
    else there. A file that changed meanwhile is not written unless the page is told to. Ctrl-C ends without writing.

    The exit status is 0 also if there is nothing to judge, 2 if a file or the command line is wrong or another
    command grades as the same judge, and 3 if a query got no answer.
    """
    if judge and settler:
        raise click.UsageError("--settler says whose grades these are; remove --judge")
    name = settler or judge or SOMEBODY
    options = PageOptions.read(**arguments)
    judged = JudgedSuite.read(suite, folder, options.run)
    judged.add_people([name])
    target = options.writing.make_target(judged, settler or None)
    with ExitStack() as resources:
        views = open_pages(judged, GradingPeople((name,), settler or None), options, resources)
        view = views[name]
        status = NO_ANSWER if view.task.unanswered else 0
        if not has_work([view]):
            line = "nothing to judge"
            # Without an answer nobody knows whether there is something.
            if status == 0:
                why = "no hit has different grades of other judges" if settler else "every hit in the pool has a grade"
                line = f"{line}: {why}"
            click.echo(line)
            return status
        print_order(options)
        return _serve_alone(view, target, port, opens=not no_open) or status


def _serve_alone(view: JudgeView, target: GradeTarget, port: int, *, opens: bool) -> int:
    """Serve the page on this machine until the judge finishes, or interrupts."""
    access = OneUser(view.judge)
    served = ServedJudges.from_views({view.judge: view})
    server = JudgingServer(served, access, target, Address(port=port), ends=True)
    server.local.start()
    link = server.local.address.build_link(access.token)
    try:
        click.echo(f"{_describe_work(view)}: {link}")
        if opens and not open_browser(link):
            click.echo("relevance: no browser could be opened; open the address above", err=True)
        server.local.finished.wait()
    except KeyboardInterrupt:
        graded = view.graded_count
        kept = "no document was graded"
        if graded:
            kept = f"{count(graded, 'grade')} {'is' if graded == 1 else 'are'} kept in {view.file.path}"
        click.echo(make_loggable(f"{kept}; nothing was written to the suite"), err=True)
        return INTERRUPTED_STATUS
    finally:
        server.local.close()
    for line in server.said:
        click.echo(make_loggable(line))
    return 0


def _describe_work(view: JudgeView) -> str:
    """What there is to judge, for the line of the link."""
    documents = view.list_documents()
    if documents:
        return f"{count(len(documents), 'document')} to judge, {view.graded_count:,} of them graded"
    judged = {query.id for query in view.task.suite.queries if query.judgments}
    queries = [query for query in view.task.queries if query not in judged]
    return f"no hit to judge; search on the page for documents of {counted(queries, 'query')}"
