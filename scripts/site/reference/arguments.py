"""The options of a run as arguments in Python, from their table."""

from __future__ import annotations

from harness.options import OPTIONS
from reference.markdown import mark_code, write_table


def write_arguments() -> str:
    options = [option for option in OPTIONS.values() if option.python]
    rows = []
    for option in options:
        # An argument takes a sequence in place of being repeated.
        meaning = option.help.replace("; may be repeated", "")
        rows.append((f"`{option.field}`", mark_code(option.kind.expected), mark_code(meaning)))
    return write_table(("argument", "value", "meaning"), rows)


PARTS = {"arguments of run in Python": write_arguments}
