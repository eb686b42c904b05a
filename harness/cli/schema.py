"""``relevance schema``: what a suite, relevance.toml, a JSON report, or a comparison may hold."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.headings import Command
from harness.errors import UsageError
from harness.extensions import AddedSchema, load_extensions
from harness.files.writing import is_device, write_whole
from harness.report.safe_text import make_loggable
from harness.suites.schema_file import SCHEMA_COMMENT, SCHEMA_NAME

EDITOR_HINT = f"""\b
What writes suites writes the schema beside them, and names it in their first line.
For suites by hand, write the file and add the line:
  {SCHEMA_COMMENT.strip()}
"""

SCHEMAS = {
    "suite": AddedSchema("suite", "harness.suites.shape", "suite_schema"),
    "settings": AddedSchema("settings", "harness.config.schema", "settings_schema"),
    "report": AddedSchema("report", "harness.report.json", "report_schema"),
    "problems": AddedSchema("problems", "harness.cli.problem_report", "problems_schema"),
    "result": AddedSchema("result", "harness.cli.results", "result_schema"),
    "inspection": AddedSchema("inspection", "harness.report.json", "inspection_schema"),
}
for _extension in load_extensions():
    SCHEMAS.update({schema.kind: schema for schema in _extension.schemas})

RESULTS = "results"
"""The kind of a schema of all that commands print with --json."""

_OF_FILES = ("suite", "settings")
"""The schemas of files that people write."""


@click.command(
    "schema",
    cls=Command,
    epilog=format_examples(
        f"relevance schema --output {SCHEMA_NAME}",
        "relevance schema settings --output relevance.toml.schema.json",
        before=EDITOR_HINT,
    ),
)
@click.argument("kind", type=click.Choice([*SCHEMAS, RESULTS]), default="suite")
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Write it to FILE.")
def command(kind: str, output: Path | None) -> None:
    """
    Print the JSON Schema by which an editor completes and checks a suite while you write it, or that of another file.

    KIND is `suite` if it is left out, `settings` for relevance.toml, or, for programs that read our JSON, what it is
    of: a `report` of a run, or what another command prints with --json. `results` is the schema of all of these.
    """
    schema = _join_schemas() if kind == RESULTS else _read_schema(kind)
    text = json.dumps(schema, indent=2) + "\n"
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


def _read_schema(kind: str) -> dict[str, Any]:
    """The schema of *kind*."""
    place = SCHEMAS[kind]
    schema: dict[str, Any] = getattr(importlib.import_module(place.module), place.function)()
    return schema


def _join_schemas() -> dict[str, Any]:
    """A schema that holds those of all that commands print, each a resource of its own."""
    parts: dict[str, Any] = {}
    for kind in SCHEMAS:
        if kind not in _OF_FILES:
            parts[kind] = _read_schema(kind) | {"$id": f"urn:relevance-harness:{kind}"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What commands of relevance-harness print with --json",
        "anyOf": [{"$ref": part["$id"]} for part in parts.values()],
        "$defs": parts,
    }
