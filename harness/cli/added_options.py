"""The options that extensions add to commands of the core."""

from __future__ import annotations

import importlib
from copy import copy
from typing import Any

import click

from harness.cli.headings import Option
from harness.extensions import AddedOptions, load_extensions
from harness.options import Heading


def add_options_of_extensions(command: click.Command) -> click.Command:
    """*command* with the options of all extensions."""
    for extension in load_extensions():
        for added in extension.options:
            if added.command == command.name:
                command = _add_options(command, added)
    return command


def _add_options(command: click.Command, added: AddedOptions) -> click.Command:
    """A copy of *command*, which the extension runs where one of the *added* options is given."""
    own_callback = command.callback
    assert own_callback is not None, "a command that is no group has a function"

    def run_either(**arguments: Any) -> Any:
        """Run the extension's command if one of its options is given, else the core's."""
        values = {option.field: arguments.pop(option.field) for option in added.options}
        if all(value is None for value in values.values()):
            return own_callback(**arguments)
        return importlib.import_module(added.module).command(**values, **arguments)

    changed = copy(command)
    changed.callback = run_either
    changed.params = list(command.params)
    for option in added.options:
        changed.params.append(
            Option([f"--{option.word}"], metavar=option.metavar, help=option.help, heading=Heading.RARE)
        )
    return changed
