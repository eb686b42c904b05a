"""Outputs of a run: their kinds, and the names of their files. `output_files` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

OUTPUT_KINDS = ("html", "json", "markdown", "csv", "junit", "codequality")
"""The kinds of reports on runs."""


LISTS_OF_DECISIONS = ("junit", "codequality")
"""The kinds that have nothing but decisions: of a run that decides nothing, they would say that all holds."""

SUFFIXES = {
    ".html": "html",
    ".codequality.json": "codequality",
    ".json": "json",
    ".md": "markdown",
    ".csv": "csv",
    ".junit.xml": "junit",
}
"""The kind of a report by the end of its file name; the first that fits counts."""


@dataclass(frozen=True, slots=True)
class Output:
    """A file to write, and the *kind* of report to write to it."""

    kind: str
    path: Path
    name: str = field(default="the report", compare=False, repr=False)
    """How the user named it, for messages: an option and its value."""


def find_output(path: Path) -> Output | None:
    """
    The output that the name of *path* stands for, None where it is not that of a report.

    >>> find_output(Path("out/Report.HTML"))
    Output(kind='html', path=PosixPath('out/Report.HTML'))
    """
    for suffix, kind in SUFFIXES.items():
        if path.name.lower().endswith(suffix):
            return Output(kind, path)
    return None


def needs_all_hits(outputs: Iterable[Output]) -> bool:
    """Whether one of *outputs* shows the hits of every query; the other kinds show those of the worst queries."""
    return any(output.kind in ("html", "json") for output in outputs)
