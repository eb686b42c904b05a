"""``harness schema``: what a suite, or a JSON report, may hold."""

from __future__ import annotations

import json

import click

from harness.model import Json

EDITOR_HINT = """\b
In VS Code with the YAML extension, write it to a file and name that on a suite's first line:
  harness schema > relevance.schema.json
  # yaml-language-server: $schema=relevance.schema.json
"""


@click.command("schema", epilog=EDITOR_HINT)
@click.option("--report", is_flag=True, help="The schema of the JSON report instead of that of suites.")
def command(report: bool) -> None:
    """Print the JSON Schema of suites, for editors that check YAML while it is written."""
    click.echo(json.dumps(_report_schema() if report else _suite_schema(), indent=2))


def _report_schema() -> dict[str, Json]:
    from harness.report.json import report_schema

    return report_schema()


def _suite_schema() -> dict[str, Json]:
    from harness.suites.schema import suite_schema

    return suite_schema()
