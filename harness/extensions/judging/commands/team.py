"""``relevance judge team``: several judges at the same time, each through a personal link."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.exits import INTERRUPTED_STATUS, NO_ANSWER
from harness.cli.found_suites import find_one_suite
from harness.cli.headings import Command
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import json_option, root_option
from harness.extensions.judging.commands.judged_suite import JudgedSuite, folder_option, list_roots, suite_argument
from harness.extensions.judging.commands.pages import (
    GradingPeople,
    PageOptions,
    has_work,
    open_pages,
    page_options,
    print_order,
)
from harness.extensions.judging.judge_lock import lock_links
from harness.extensions.judging.server import JudgingServer
from harness.extensions.judging.server.access import AccessFile, build_access_path
from harness.extensions.judging.server.views import ServedJudges
from harness.extensions.judging.session import JudgeView
from harness.extensions.judging.targets import GradeTarget
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile
from harness.local_server.addresses import Address, parse_address
from harness.report.safe_text import make_loggable
from harness.words import count


@click.command(
    "team",
    cls=Command,
    epilog=format_examples(
        "relevance judge team suites/products.relevance.yaml --serve 127.0.0.1:8000 --judge anna --judge ben"
    ),
)
@suite_argument
@click.option("--judge", "judges", metavar="NAME", multiple=True, required=True, help="A judge; may be repeated.")
@click.option("--serve", metavar="HOST:PORT", required=True, help="Where the page is served.")
@click.option("--public-url", metavar="URL", help="The https address of the proxy in front of --serve.")
@click.option(
    "--overlap",
    metavar="N",
    type=click.IntRange(min=1),
    help="Give each document to N of the judges; by default to all.",
)
@click.option(
    "--settler",
    metavar="NAME",
    help="If judges differ: one more judge, who decides documents on which the others differ, and writes the grades.",
)
@click.option("--keep-links", is_flag=True, help="Let the links of the last start hold, and print new ones only.")
@page_options
def command(
    suite: Path,
    judges: tuple[str, ...],
    serve: str,
    public_url: str | None,
    overlap: int | None,
    settler: str | None,
    keep_links: bool,
    folder: Path | None,
    **arguments: Any,
) -> int:
    """
    Serve the page to several judges, who grade at the same time, each through a personal link, until Ctrl-C.

    A link for each judge is printed. Each grade is kept at once, as on the page of one judge; `relevance judge write`
    writes them to the suite. `relevance judge revoke` ends a link.

    The exit status is 0 also if there is nothing to judge, 2 if a file or the command line is wrong or another
    command grades as one of the judges, and 3 if a query got no answer.
    """
    people = _read_people(judges, overlap, settler)
    options = PageOptions.read(**arguments)
    address = parse_address(serve, public_url)
    judged = JudgedSuite.read(suite, folder, options.run)
    access = BesideFile(build_access_path(judged.path, folder), judged.roots)
    judged.add_people(people.names)
    target = options.writing.make_target(judged, settler)
    with ExitStack() as resources:
        resources.enter_context(lock_links(access))
        if keep_links:
            # A file that does not count is an error before any query is sent.
            AccessFile.read(access)
        views = open_pages(judged, people, options, resources)
        status = NO_ANSWER if views[people.names[0]].task.unanswered else 0
        if not has_work(views.values()):
            # Without an answer nobody knows whether there is something.
            click.echo("nothing to judge" if status else "nothing to judge: every hit in the pool has a grade")
            return status
        print_order(options)
        absent = {name: file for name, file in judged.judges.items() if name not in people.names}
        return serve_judges(views, absent, target, Serving(judged, people, address, access, keep_links))


def _read_people(judges: tuple[str, ...], overlap: int | None, settler: str | None) -> GradingPeople:
    """
    Who grades what.

    Raises:
        click.UsageError: The options ask for what cannot be.
    """
    for name in judges:
        if judges.count(name) > 1:
            raise click.UsageError(f"found --judge {name} twice, expected each judge once")
    if settler in judges:
        why = f"{settler} decides what the others grade differently, and grades nothing else"
        raise click.UsageError(f"{why}; remove --judge {settler}")
    if overlap is not None and overlap > len(judges):
        raise click.UsageError(f"found --overlap {overlap}, expected at most {len(judges)}, the number of --judge")
    if settler is None:
        return GradingPeople(judges, None, overlap)
    if (overlap or len(judges)) < 2:
        why = "--settler has nothing to decide unless two judges grade each document"
        raise click.UsageError(f"{why}; `relevance judge SUITE --settler {settler}` settles differences of before")
    return GradingPeople((*judges, settler), settler, overlap)


@click.command(
    "revoke", cls=Command, epilog=format_examples("relevance judge revoke suites/products.relevance.yaml anna")
)
@suite_argument
@click.argument("judges", metavar="NAME…", nargs=-1, required=True)
@folder_option
@root_option
@json_option
def revoke(suite: Path, judges: tuple[str, ...], folder: Path | None, root: Path | None, as_json: bool) -> int:
    """
    End the links of judges, also while the page of `relevance judge team` is served.

    A page that is served sees it with the next request. The next start prints a new link for the judge.
    """
    path = find_one_suite(suite, root)
    access = AccessFile.read(BesideFile(build_access_path(path, folder), list_roots(path, folder, root)))
    for name in judges:
        access.revoke(name)
        if not as_json:
            click.echo(make_loggable(f"the link of {name} does not hold any more"))
    if as_json:
        return print_result(CommandResult("judge revoke", facts={"judges": list(judges)}))
    return 0


@dataclass(frozen=True, slots=True)
class Serving:
    """Where the page of a suite is served, and to whom."""

    judged: JudgedSuite
    people: GradingPeople
    address: Address
    access: BesideFile
    """The file with the links."""
    keep_links: bool

    def describe_writing(self, *, has_settled: bool) -> str:
        """The command that writes the grades; *has_settled* says whether the judge who settles has graded anything."""
        words = ["relevance judge write", str(self.judged.path)]
        if self.judged.folder is not None:
            words += ["--progress", str(self.judged.folder)]
        if has_settled:
            words += ["--settler", str(self.people.settler)]
        return " ".join(words)


def serve_judges(
    views: Mapping[str, JudgeView], absent: Mapping[str, JudgeFile], target: GradeTarget, serving: Serving
) -> int:
    """
    Serve *views* until Ctrl-C, and print a link for each judge.

    Args:
        views: What each judge sees, by name.
        absent: The files of judges who are not served.
        target: Where the judge who settles writes the grades.
        serving: Where the page is served.
    """
    people, file = serving.people, serving.access
    access = AccessFile.read(file) if serving.keep_links else AccessFile.start_anew(file)
    judges = ServedJudges.from_views(views, people.settler, absent)
    server = JudgingServer(judges, access, target, serving.address, tell=_print_sentence)
    server.local.start()
    try:
        tokens = access.grant(people.names)
        task = next(iter(views.values())).task
        documents = count(len(task.documents), "document")
        click.echo(f"{documents} to judge on {server.local.address.url}; Ctrl-C ends, and all grades are kept")
        for name, view in views.items():
            link = "the link from before"
            if name in tokens:
                link = server.local.address.build_link(tokens[name])
            click.echo(make_loggable(f"{_describe_share(view, people.settler)}: {link}"))
        wait_for_interrupt()
    except KeyboardInterrupt:
        for judge in judges.by_name.values():
            click.echo(make_loggable(_describe_graded(judge.view)), err=True)
        has_settled = people.settler is not None and bool(views[people.settler].file.grades)
        command = serving.describe_writing(has_settled=has_settled)
        click.echo(make_loggable(f"the grades are kept; {command} writes them to the suite"), err=True)
        return INTERRUPTED_STATUS
    finally:
        server.local.close()
    return 0


def wait_for_interrupt() -> None:
    """Wait until Ctrl-C, which raises KeyboardInterrupt."""
    threading.Event().wait()


def _describe_share(view: JudgeView, settler: str | None) -> str:
    """What a judge is given, for the line of the link."""
    if view.judge == settler:
        return f"{view.judge} settles what the others grade differently, {len(view.documents):,} by now"
    return f"{view.judge} has {count(len(view.list_documents()), 'document')}, {view.graded_count:,} of them graded"


def _describe_graded(view: JudgeView) -> str:
    documents = count(len(view.list_documents()), "document")
    return f"{view.judge} graded {view.graded_count:,} of {documents}: {view.file.path}"


def _print_sentence(sentence: str) -> None:
    click.echo(make_loggable(sentence))
