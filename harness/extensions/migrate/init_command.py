"""``relevance init``: a suite to start from."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.exits import COMMAND
from harness.cli.headings import Command
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import config_options, existing_file, json_option
from harness.cli.written_files import print_written
from harness.config import find_index_problem
from harness.drafts.writing import DraftOptions, write_drafts
from harness.extensions.migrate.live_index import draft_suite, list_index_names
from harness.extensions.migrate.scaffold import IGNORE_FILE, keep_out_of_git, list_not_ignored, write_scaffold
from harness.options import RunOptions
from harness.report.safe_text import make_loggable
from harness.suites.names import SUITE_SUFFIX
from harness.suites.schema_file import refuse_foreign_schema, update_schema


@click.command(
    "init",
    cls=Command,
    epilog=format_examples(
        "relevance init search-tests",
        "relevance init --url http://localhost:9200 --index products --queries queries.txt",
    ),
)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--url", metavar="URL", help="Write a suite from an index of this server.")
@click.option("--cluster", metavar="NAME", help="The same, of this cluster in relevance.toml.")
@click.option("--index", metavar="NAME", help="The index, alias, data stream or pattern; without it they are listed.")
@config_options
@click.option(
    "--queries",
    metavar="FILE",
    type=existing_file,
    help="Queries: plain lines, CSV, JSON lines or TREC topics; by default a few titles.",
)
@json_option
def command(
    folder: Path,
    url: str | None,
    cluster: str | None,
    index: str | None,
    queries: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """
    Write a suite for your own index, or a small one with documents that runs at once on the embedded engine.

    DIR is the folder, by default the current one. No file is replaced, but for an older
    relevance.schema.json, by which editors complete suites. Where there is no .gitignore, one is written that keeps out
    what is of this machine only. An index is only read: its text fields, and a few
    documents. Its suite has a multi_match request, and no judgments yet. With --index alone the cluster is `default` of
    relevance.toml; a login is that of relevance.toml and not written.
    """
    options = RunOptions(url=url, cluster=cluster, entry=COMMAND, **arguments)
    if index is not None:
        if not index.strip():
            raise click.UsageError("--index is empty; give the name of an index, or leave --index out to list them")
        problem = find_index_problem(index)
        if problem:
            raise click.UsageError(f"--index: found {index!r}, {problem}")
        return _write_suite_of_index(folder, index, queries, options, as_json=as_json)
    if queries is not None:
        raise click.UsageError("--queries belongs to a suite from an index; give --index too")
    if url is not None or cluster is not None:
        return _list_indexes(folder, options, as_json=as_json)
    return _write_first_suite(folder, as_json=as_json)


def _write_first_suite(folder: Path, *, as_json: bool) -> int:
    """Write the suite with documents of its own."""
    suite = folder / "products.relevance.yaml"
    run_command = ("run", str(suite), "--embedded", "--allow-write")
    refuse_foreign_schema(folder)
    written = write_scaffold(folder, _suggest_going_on(suite, run_command))
    schema = update_schema(folder)
    if schema is not None:
        written.append(schema)
    ignored, note = _keep_out_of_git(folder)
    written += ignored
    if as_json:
        return print_result(_describe_result(written, [note], [run_command]))
    for path in written:
        click.echo(f"wrote {path}")
    _print_note(note)
    click.echo(f"\nRun it:\n{_format_command(*run_command)}")
    return 0


def _describe_result(written: Sequence[Path], notes: Sequence[str], commands: Sequence[Sequence[str]]) -> CommandResult:
    """The result of this command: the files, what to know, and the commands of `relevance` to go on with."""
    return CommandResult(
        "init",
        files=[str(path) for path in written],
        remarks=[note for note in notes if note],
        next=[["relevance", *words] for words in commands],
    )


def _print_note(note: str) -> None:
    """Print *note* on standard error, if there is one."""
    if note:
        click.echo(make_loggable(f"note: {note}"), err=True)


def _suggest_going_on(suite: Path, run_command: Sequence[str]) -> str:
    """How to go on where what `relevance init` writes is there already; *run_command* runs the *suite*."""
    anew = "to write them anew, name another folder, or remove these files"
    if not suite.exists():
        return anew
    return f"to go on with this suite, run\n{_format_command(*run_command)}\n{anew}"


def _keep_out_of_git(folder: Path) -> tuple[list[Path], str]:
    """Let git ignore what is of this machine only: the file that was written, or what is to be added to it."""
    written = keep_out_of_git(folder)
    if written is not None:
        return [written], ""
    lines = list_not_ignored(folder)
    if not lines:
        return [], ""
    return [], f"add to {folder / IGNORE_FILE} what relevance keeps for this machine only: {' '.join(lines)}"


def _list_indexes(folder: Path, options: RunOptions, *, as_json: bool) -> int:
    indexes = list_index_names(folder, options, environ=os.environ)
    if as_json:
        return print_result(CommandResult("init", facts={kind: list(names) for kind, names in indexes.items()}))
    for kind, names in indexes.items():
        for name in names:
            click.echo(make_loggable(f"{name}  ({kind})"))
    click.echo("choose one with --index" if indexes else "there is no index yet", err=True)
    return 0


def _write_suite_of_index(folder: Path, index: str, queries: Path | None, options: RunOptions, *, as_json: bool) -> int:
    draft = draft_suite(folder, index, queries, options, environ=os.environ)
    planned = folder / f"{draft.name}{SUITE_SUFFIX}"
    migrated = write_drafts([draft], folder, DraftOptions(), remedy=_suggest_going_on(planned, ("run", str(planned))))
    if migrated.problems or not as_json:
        print_written(migrated)
    ignored, note = _keep_out_of_git(folder)
    unread = ""
    if draft.unread:
        unread = f"{draft.unread}; the request is made from the names and types of the fields alone"
    suite = str(migrated.written[0])
    commands = (("run", suite), ("judge", suite, "--depth", "5"))
    if as_json:
        return print_result(_describe_result([*migrated.written, *ignored], [note, unread], commands))
    for path in ignored:
        click.echo(f"wrote {path}")
    _print_note(note)
    _print_note(unread)
    click.echo("\nRun it, and grade the hits on a page in the browser:")
    for words in commands:
        click.echo(_format_command(*words))
    return 0


def _format_command(*words: str) -> str:
    """A command to copy into a shell."""
    return f"  {make_loggable(shlex.join(['relevance', *words]))}"
