"""What commands take and pass on."""

import inspect
from dataclasses import fields

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
