"""How a verdict is named and coloured on a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from harness.model import Status, Verdict
from harness.report.attention import LOOKED_AT
from harness.report.printable import printable

STYLES: Mapping[Status, str] = {
    Status.PASSED: "green",
    Status.FAILED: "bold red",
    Status.ERROR: "bold magenta",
    Status.WARNED: "yellow",
    Status.XFAILED: "yellow",
    Status.XPASSED: "bold yellow",
    Status.SKIPPED: "dim",
}


def status_text(status: Status) -> Text:
    """In capitals where somebody has to look at it."""
    return Text(status.upper() if status in LOOKED_AT else status, style=STYLES[status])


def named_threshold(verdict: Verdict) -> Text:
    """The threshold as it is written, and the query that it belongs to."""
    text = Text(printable(verdict.threshold))
    if verdict.query is not None:
        text.append(f"  (query {printable(verdict.query)})", style="dim")
    return text
