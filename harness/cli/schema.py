"""``relevance schema``: what a suite, relevance.toml, a JSON report, or a comparison may hold."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.examples import format_examples
from harness.cli.headings import Command
from harness.config.schema import settings_schema
from harness.errors import UsageError
from harness.files.writing import is_device, write_whole
from harness.report.json import (
    comparison_schema,
    inspection_schema,
    plan_schema,
    report_schema,
    sides_schema,
    tuning_schema,
    verification_schema,
)
from harness.report.sentences import make_loggable
from harness.suites.schema_file import SCHEMA_COMMENT, SCHEMA_NAME
from harness.suites.shape import suite_schema

EDITOR_HINT = f"""\b
relevance init and relevance import write the schema beside a suite, and name it in the first line.
For other suites, write the file and add the line:
  {SCHEMA_COMMENT.strip()}
"""

SCHEMAS = {
    "suite": suite_schema,
    "settings": settings_schema,
    "report": report_schema,
    "comparison": comparison_schema,
    "sides": sides_schema,
    "inspection": inspection_schema,
    "verification": verification_schema,
    "plan": plan_schema,
    "tuning": tuning_schema,
}


@click.command(
    "schema",
    cls=Command,
    epilog=format_examples(
        f"relevance schema --output {SCHEMA_NAME}",
        "relevance schema settings --output relevance.toml.schema.json",
        before=EDITOR_HINT,
    ),
)
@click.argument("kind", metavar="[KIND]", type=click.Choice(list(SCHEMAS)), default="suite")
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Write it to FILE.")
def command(kind: str, output: Path | None) -> None:
    """
    Print the JSON Schema by which an editor completes and checks a suite while you write it, or that of another file.

    KIND is `suite` if it is left out, `settings` for relevance.toml, or, for programs that read our JSON: `report` of a
    run, `comparison` of two sides, `sides` of more, `inspection` of relevance show, `verification`, `plan` or `tuning`.
    """
    text = json.dumps(SCHEMAS[kind](), indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        # A link to a schema that several folders share stays one.
        is_shared = output.is_file() and not is_device(output)
        write_whole(output.resolve() if is_shared else output, text)
    except OSError as error:
        raise UsageError(f"{output}: cannot be written: {error.strerror or error}") from None
    click.echo(f"wrote {make_loggable(str(output))}")
