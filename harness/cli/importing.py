"""``harness import``: a suite from another system's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from harness.cli.options import existing_file
from harness.migrate import FORMATS, Format, Given, Migrated, import_suites
from harness.migrate.placed import read_placed
from harness.report.sentences import printable
from harness.words import count

LEFT_OVER = 1
"""The exit status of --strict where something is not carried over."""


def formats_text(formats: Mapping[str, Format]) -> str:
    """The formats for a command's help."""
    return "\b\nFormats:\n" + "\n".join(f"  {name:15} {format.summary}" for name, format in formats.items())


strict_option = click.option("--strict", is_flag=True, help="Exit with 1 if anything is not carried over.")


@click.command("import", epilog=formats_text(FORMATS))
@click.argument("kind", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.argument("sources", metavar="SOURCE…", nargs=-1, required=True)
@click.option(
    "--output",
    required=True,
    metavar="FILE|DIR",
    type=click.Path(path_type=Path),
    help="The suite that is written, *.relevance.yaml, or its folder.",
)
@click.option("--name", help="The suite's name; by default the source's.")
@click.option("--index", metavar="NAME", help="The index to search, if the source does not name it.")
@click.option("--request-file", type=existing_file, help="JSON with the body of _search; {{text}} is the query's text.")
@strict_option
def command(
    kind: str,
    sources: Sequence[str],
    output: Path,
    name: str | None,
    index: str | None,
    request_file: Path | None,
    strict: bool,
) -> int:
    """
    Write a suite from the files of another system.

    What a suite has no place for is listed on standard error, with its place. What the source does not say, such as the
    request, is a line with TODO to fill in; `harness validate` names its place. No file is replaced.
    """
    request = None if request_file is None else read_placed(request_file).object()
    migrated = import_suites(kind, sources, output, Given(name, index, request))
    return say_migrated(migrated, strict=strict)


def say_migrated(migrated: Migrated, *, strict: bool) -> int:
    """Say what was written, and on standard error what was not; the exit status."""
    for path in migrated.written:
        click.echo(f"wrote {printable(str(path))}")
    _list_leftovers(map(str, migrated.leftovers))
    return LEFT_OVER if strict and migrated.leftovers else 0


def _list_leftovers(lines: Iterable[str]) -> None:
    listed = list(lines)
    if not listed:
        return
    click.echo("not carried over:", err=True)
    for line in listed:
        click.echo(f"  {printable(line)}", err=True)
    click.echo(count(len(listed), "thing"), err=True)
