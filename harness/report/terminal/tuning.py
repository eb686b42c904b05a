"""A tuning on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.extensions.tuning.document import build_tuning_document
from harness.extensions.tuning.model import TuningReport
from harness.report.document import Tone
from harness.report.sentences import printable
from harness.report.terminal import make_text, print_blocks

_STYLES = {Tone.GOOD: "bold green", Tone.BAD: "bold red", Tone.UNDECIDED: "bold yellow"}


def print_tuning(report: TuningReport, *, most: int) -> Iterator[RenderableType]:
    """*report*, with at most *most* queries that lose, and as many that gain."""
    document = build_tuning_document(report, most=most)
    yield Text.assemble((f"{printable(document.suite)}  ", "bold"), (printable(document.request), "bold"), " tuned")
    yield from print_blocks(document.blocks())
    yield make_text(document.headline)
    yield make_text(document.closing, _STYLES.get(document.tone, "bold"))
