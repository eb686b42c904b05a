"""The options of the pytest plugin and their ini lines, from what it registers."""

from __future__ import annotations

import argparse
from typing import Any

from harness.pytest_plugin.plugin_options import add_options
from reference.markdown import mark_code, write_table


class Recorder:
    """Takes the place of pytest's parser, and of its group of options."""

    def __init__(self) -> None:
        self.options: dict[str, dict[str, Any]] = {}
        """What each option was registered with, by its name."""
        self.ini_lines: list[str] = []

    def getgroup(self, *_: str) -> Recorder:
        return self

    def addoption(self, name: str, **attributes: Any) -> None:
        self.options[name] = attributes

    def addini(self, name: str, *_: Any, **__: Any) -> None:
        self.ini_lines.append(name)


def write_options() -> str:
    recorder = Recorder()
    add_options(recorder)
    rows = []
    for name, attributes in recorder.options.items():
        ini_line = name.removeprefix("--").replace("-", "_")
        ini_cell = f"`{ini_line}`" if ini_line in recorder.ini_lines else ""
        rows.append((spell_option(name, attributes), ini_cell, mark_code(attributes["help"])))
    return write_table(("option", "ini line", "meaning"), rows)


def spell_option(name: str, attributes: dict[str, Any]) -> str:
    if attributes.get("action") is argparse.BooleanOptionalAction:
        return f"`{name}`, `{name.replace('--', '--no-', 1)}`"
    if attributes.get("nargs") == "?":
        return f"`{name}[={attributes['metavar']}]`"
    metavar = attributes.get("metavar")
    return f"`{name} {metavar}`" if metavar else f"`{name}`"


PARTS = {"options of the pytest plugin": write_options}
