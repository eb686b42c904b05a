"""The JSON Schema of suites as a file beside them, by which editors complete and check suites."""

from __future__ import annotations

import json
import os
from enum import Enum, auto
from functools import cache
from pathlib import Path

from harness.errors import UsageError
from harness.suites.shape import SCHEMA_REMARK, suite_schema

SCHEMA_NAME = "relevance.schema.json"

SCHEMA_COMMENT = f"# yaml-language-server: $schema={SCHEMA_NAME}\n"
"""The first line of a suite that is written: the YAML language server takes the path as relative to the suite."""


class SchemaState(Enum):
    """What stands at the path of the schema."""

    MISSING = auto()
    CURRENT = auto()
    OUTDATED = auto()
    """A schema that another version of the harness wrote."""
    FOREIGN = auto()
    """Something else."""


@cache
def render_schema() -> str:
    """The text of the file."""
    return json.dumps(suite_schema(), indent=2) + "\n"


def read_schema_state(folder: Path) -> SchemaState:
    """What stands at the path of the schema in *folder*."""
    path = folder / SCHEMA_NAME
    # Path.exists raises an error in a folder that may not be entered.
    if not os.path.lexists(path):
        return SchemaState.MISSING
    from harness.files.beside import BesideFile

    try:
        content = json.loads(BesideFile(path, follows_links=True).read())
    except (OSError, ValueError, RecursionError):
        return SchemaState.FOREIGN
    if not isinstance(content, dict) or content.get("$comment") != SCHEMA_REMARK:
        return SchemaState.FOREIGN
    # Not the text: a formatter may have laid it out in its own way.
    return SchemaState.CURRENT if content == json.loads(render_schema()) else SchemaState.OUTDATED


def refuse_foreign_schema(folder: Path) -> None:
    """
    Refuse to write suites to *folder* whose first line would name another file as their schema.

    Raises:
        UsageError: There is a file with the name of the schema which is not one of the harness.
    """
    if read_schema_state(folder) is SchemaState.FOREIGN:
        path = folder / SCHEMA_NAME
        raise UsageError(
            f"{path}: found another file, expected the schema of suites or none, and nothing was written; "
            "rename that file, or write the suite to another folder"
        )


def update_schema(folder: Path) -> Path | None:
    """
    Write the schema to *folder*, unless that of this version of the harness is there.

    Returns:
        The path if it was written.

    Raises:
        UsageError: It cannot be written.
    """
    if read_schema_state(folder) is SchemaState.CURRENT:
        return None
    path = folder / SCHEMA_NAME
    from harness.files.beside import BesideFile

    try:
        # A link into the folder stays.
        BesideFile(path.resolve(), (folder,)).write(render_schema())
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path
