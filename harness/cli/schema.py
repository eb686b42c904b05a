"""``harness schema``: what a suite, a JSON report, or a comparison may hold."""

from __future__ import annotations

import json

import click

from harness.cli.examples import format_examples
from harness.report.json import (
    comparison_schema,
    inspection_schema,
    plan_schema,
    report_schema,
    sides_schema,
    tuning_schema,
    verification_schema,
)
from harness.suites.shape import suite_schema

EDITOR_HINT = """\b
In VS Code with the YAML extension, write it to a file and name the file in a suite's first line:
  harness schema > relevance.schema.json
  # yaml-language-server: $schema=relevance.schema.json
"""

SCHEMAS = {
    None: suite_schema,
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
    epilog=format_examples("harness schema > relevance.schema.json", before=EDITOR_HINT),
)
@click.option("--report", "of", flag_value="report", help="The schema of a run's JSON report, not that of suites.")
@click.option("--comparison", "of", flag_value="comparison", help="The schema of a JSON comparison.")
@click.option("--sides", "of", flag_value="sides", help="The schema of a JSON comparison of more than two sides.")
@click.option("--inspection", "of", flag_value="inspection", help="The schema of what harness show --json prints.")
@click.option("--verification", "of", flag_value="verification", help="That of what harness verify --json prints.")
@click.option("--plan", "of", flag_value="plan", help="That of what harness plan --json prints.")
@click.option("--tuning", "of", flag_value="tuning", help="That of what harness tune --json prints.")
def command(of: str | None) -> None:
    """Print the JSON Schema of suites, for editors that check YAML while it is written."""
    click.echo(json.dumps(SCHEMAS[of](), indent=2))
