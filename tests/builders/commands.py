"""What commands take and pass on."""

import inspect
import json
from dataclasses import fields
from pathlib import Path

from harness.cli import main
from harness.options import RunOptions
from harness.run import Matrix


def list_unknown_arguments(command):
    """
    What *command* passes on as options of a run, and is none.

    With one the command ends with an internal TypeError: `RunOptions` is given what it does not know.
    """
    named = set(inspect.signature(command.callback).parameters)
    known = {field.name for field in (*fields(RunOptions), *fields(Matrix))}
    return {parameter.name for parameter in command.params} - named - known


def run_to_report(*words):
    """The exit status of a run of shop.relevance.yaml, and the report of its suite."""
    status = main(["run", "shop.relevance.yaml", "-q", "--output", "json=report.json", *words])
    [suite] = json.loads(Path("report.json").read_text(encoding="utf-8"))["suites"]
    return status, suite
