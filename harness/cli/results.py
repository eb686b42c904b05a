"""What a command did, as JSON, for the commands that have no report of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import click

from harness.files.versioned import VersionedJson
from harness.model.suite import Json


@dataclass(frozen=True)
class CommandResult:
    """What a command did."""

    command: str
    """Its words, such as `import quepid`."""
    exit_status: int = 0
    files: Sequence[str] = ()
    """The files that were written."""
    facts: Mapping[str, Json] = field(default_factory=dict)
    """What it found, by names that docs/reference/json.md lists for each command."""
    remarks: Sequence[str] = ()
    """Sentences for people."""
    next: Sequence[Sequence[str]] = ()
    """Commands to go on with, each as the list of its words."""
    schema: int = 1


_FORM = VersionedJson(CommandResult, "result of a command")

result_schema = _FORM.schema


def print_result(result: CommandResult) -> int:
    """Print *result* as JSON, and return its exit status."""
    click.echo(_FORM.dumps(result), nl=False)
    return result.exit_status
