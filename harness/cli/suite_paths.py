"""The argument SUITE, the same for every command that takes suites."""

from __future__ import annotations

from pathlib import Path

import click

suites_argument = click.argument("suites", metavar="SUITE…", nargs=-1, required=True, type=click.Path(path_type=Path))
"""Files, and folders with suites under them, as given; `harness.pipeline.collect_suites` finds the files."""
