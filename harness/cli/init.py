"""``harness init``: a suite to start from."""

from __future__ import annotations

from pathlib import Path

import click

from harness.scaffold import write_scaffold


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """
    Write a small suite with documents and judgments that runs at once on the embedded engine.

    DIR is where, the current folder if it is not given. A file that is there already is never replaced.
    """
    for path in write_scaffold(folder):
        click.echo(f"wrote {path}")
    suite = folder / "products.relevance.yaml"
    click.echo(f"\nRun it:\n  harness run {suite} --embedded --allow-write")
