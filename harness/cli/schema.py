"""``relevance schema``: what a suite, relevance.toml, a JSON report, or a comparison may hold."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.examples import format_examples
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
    None: suite_schema,
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
    epilog=format_examples(
        f"relevance schema --output {SCHEMA_NAME}",
        "relevance schema --settings --output relevance.toml.schema.json",
        before=EDITOR_HINT,
    ),
)
@click.option("--settings", "of", flag_value="settings", help="The schema of relevance.toml, not that of suites.")
@click.option("--report", "of", flag_value="report", help="The schema of a run's JSON report.")
@click.option("--comparison", "of", flag_value="comparison", help="The schema of a JSON comparison.")
@click.option("--sides", "of", flag_value="sides", help="The schema of a JSON comparison of more than two sides.")
@click.option("--inspection", "of", flag_value="inspection", help="The schema of what relevance show --json prints.")
@click.option("--verification", "of", flag_value="verification", help="That of what relevance verify --json prints.")
@click.option("--plan", "of", flag_value="plan", help="That of what relevance plan --json prints.")
@click.option("--tuning", "of", flag_value="tuning", help="That of what relevance tune --json prints.")
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Write it to FILE.")
def command(of: str | None, output: Path | None) -> None:
    """Print the JSON Schema of suites, by which editors complete and check YAML while it is written."""
    text = json.dumps(SCHEMAS[of](), indent=2) + "\n"
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
