"""``relevance try``: a page on which a request is changed, and its results stand beside those of today."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.exits import INTERRUPTED_STATUS
from harness.cli.found_suites import find_one_suite
from harness.cli.headings import Command, rare_option
from harness.cli.shared_options import (
    Decorated,
    ReadText,
    add_options,
    make_click_option,
    make_run_options,
    server_options,
)
from harness.config import Configs
from harness.extensions.compare.scores import require_packages
from harness.extensions.workbench.actions import Actions
from harness.extensions.workbench.bench import Bench
from harness.extensions.workbench.grading import Grading
from harness.extensions.workbench.opening import Material, TryOptions, open_material
from harness.extensions.workbench.page import ASSETS
from harness.extensions.workbench.scored_tries import ScoredTries
from harness.extensions.workbench.tries import TriesFile, lock_tries
from harness.local_server import LocalServer, Site, require_installed
from harness.local_server.access import OneUser
from harness.local_server.addresses import Address
from harness.local_server.browsers import open_browser
from harness.options import OPTIONS, read_seconds
from harness.report.safe_text import make_loggable
from harness.run import Runner
from harness.run.connections import FixtureBuilds
from harness.suites import load_suite
from harness.words import count

MOST_BYTES = 2**20
"""Of what the page sends: a text."""


def search_options(command: Decorated) -> Decorated:
    """Give *command* the options that say where the suite is searched."""
    options = [
        replace(OPTIONS["index"], several="", help="Search this index instead of the suite's own."),
        *(OPTIONS[name] for name in ("allow_write", "baseline", "root")),
    ]
    return server_options(add_options(command, map(make_click_option, options)))


@click.command(
    "try",
    cls=Command,
    epilog=format_examples(
        "relevance try suites/products.relevance.yaml --embedded",
        "relevance try shop.relevance.yaml --request candidate --against request:current --judge anna",
        "relevance try shop.relevance.yaml --list",
    ),
)
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("--request", metavar="NAME", help="The request whose text is changed. Default: the one that is live.")
@click.option(
    "--against", metavar="SIDE", default="", help="What is live: request:NAME or baseline. Default: the first request."
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only queries with this tag; may be repeated.")
@click.option("--judge", metavar="NAME", help="Whose grades are given on the page; without it nobody grades there.")
@click.option("--manual", is_flag=True, help="Send a text on Ctrl+Enter only, not after each pause.")
@click.option("--no-hold-out", "is_whole", is_flag=True, help="Show all queries; then nothing is left for a verdict.")
@click.option(
    "--budget",
    type=ReadText("SECONDS", read_seconds),
    metavar="SECONDS",
    help="Send nothing more of a text after this time. Default: 5 for each 100 queries.",
)
@click.option("--list", "is_list", is_flag=True, help="List the tries that were kept, and end.")
@click.option("--export", "exported", type=click.IntRange(min=1), metavar="N", help="Print try N as JSON, and end.")
@search_options
@rare_option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port; by default a free one.")
@rare_option("--no-open", is_flag=True, help="Do not open the page in a browser.")
def command(
    suite: Path,
    request: str | None,
    against: str,
    tags: tuple[str, ...],
    judge: str | None,
    manual: bool,
    is_whole: bool,
    budget: float | None,
    is_list: bool,
    exported: int | None,
    port: int,
    no_open: bool,
    **arguments: Any,
) -> int:
    """
    Change a request on a page, and see at once what that does to each query.

    What is live stands on the left: the first request of the suite, or --against. A text is sent after each pause in
    typing, to the suite's own target, and to nothing else. Each text that was answered is kept in a file beside the
    suite, so that going back to it needs no search; the page writes a try into the suite only when it is told to.

    A part of the queries is held out, as by `relevance tune`: they are neither sent nor shown. Finishing on the page
    asks them once, and says whether the try holds there too. Ctrl-C ends the command.

    The exit status is 0, 2 if the suite or the command line is wrong, and 3 if the request that is live is not
    answered.
    """
    run = make_run_options(**arguments, tags=tags, budget=budget, locate=False)
    path = find_one_suite(suite, run.root)
    if is_list or exported is not None:
        return _print_tries(path, exported, Configs.from_options(run, os.environ))
    require_installed("the page needs")
    require_packages()
    options = TryOptions(path, run, request, against, judge, manual, hold_out=not is_whole)
    builds = FixtureBuilds()
    with ExitStack() as resources:
        runner = resources.enter_context(Runner(os.environ, builds=builds))
        material = open_material(options, os.environ, runner)
        resources.enter_context(lock_tries(path, material.suite.roots))
        tries = TriesFile.read(path, material.suite.roots)
        grading = Grading.prepare(material.suite, judge, material.configs, resources)

        def reopen() -> Material:
            builds.forget()
            return open_material(options, os.environ, runner)

        bench = Bench(ScoredTries(material, tries), reopen, runner)
        resources.callback(bench.close)
        actions = Actions(bench, grading, runner, os.environ)
        return _serve(actions, port, opens=not no_open)


def _serve(actions: Actions, port: int, *, opens: bool) -> int:
    """Serve the page on this machine until Ctrl-C."""
    access = OneUser(actions.scored.material.options.judge or "user")
    server = LocalServer(Site(ASSETS, actions.table, MOST_BYTES), access, Address(port=port))
    server.start()
    link = server.address.build_link(access.token)
    try:
        queries = count(len(actions.scored.suite.queries), "query")
        click.echo(make_loggable(f"trying {actions.scored.material.request} on {queries}: ") + link)
        for note in actions.scored.material.notes:
            click.echo(make_loggable(f"relevance: {note}"), err=True)
        if opens and not open_browser(link):
            click.echo("relevance: no browser could be opened; open the address above", err=True)
        server.finished.wait()
    except KeyboardInterrupt:
        tries = count(len(actions.scored.tries.tries), "try")
        click.echo(make_loggable(f"{tries} in {actions.scored.tries.file.path}"), err=True)
        return INTERRUPTED_STATUS
    finally:
        server.close()
    return 0


def _print_tries(path: Path, number: int | None, configs: Configs) -> int:
    """Print all tries of the suite at *path*, a line each, or the one of a *number* as JSON."""
    suite = load_suite(path, None, configs=configs, needs_judgments=False)
    tries = TriesFile.read(path, suite.roots)
    if number is not None:
        click.echo(json.dumps(asdict(tries.find(number)), indent=2, ensure_ascii=False))
        return 0
    if not tries.tries:
        click.echo("no try was kept")
    for one in tries.tries:
        difference = "" if one.difference is None else f"{one.difference:+.3f} "
        star = "* " if one.kept else ""
        click.echo(make_loggable(f"{one.number}: {star}{difference}{one.measure} {one.name} ({one.time})"))
    return 0
