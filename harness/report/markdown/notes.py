"""Sentences in Markdown, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.report.figures import counted_text
from harness.report.markdown.escape import escape

__all__ = ["MOST_TEXT", "NOTES_SHOWN", "notes_markdown"]


MOST_TEXT = 500
"""Characters of a query's text, of a reason and of a note."""

NOTES_SHOWN = 30


def notes_markdown(notes: Sequence[str]) -> Iterator[str]:
    """Paragraphs: a list of the first of *notes*, and how many more there are; none where there are no notes."""
    if notes:
        yield "\n".join(f"- {escape(note, most=MOST_TEXT)}" for note in notes[:NOTES_SHOWN])
    if len(notes) > NOTES_SHOWN:
        yield f"and {counted_text(len(notes) - NOTES_SHOWN, 'more note')}"
