"""A tuning as the text of a file: its kinds, and its JSON form."""

from __future__ import annotations

from collections.abc import Sequence

from harness.extensions.tuning.model import TuningReport
from harness.files.versioned import VersionedJson

TUNING_KINDS = ("html", "json")
"""The kinds of files that a tuning is written as."""

_FORM = VersionedJson(TuningReport, "tuning")

dumps_tuning = _FORM.dumps
loads_tuning = _FORM.loads
tuning_schema = _FORM.schema


def render(report: TuningReport, kind: str, change: Sequence[str]) -> str:
    """*report* as text of the *kind*, one of `TUNING_KINDS`; a page has the *change* of the suite, a diff in lines."""
    if kind == "json":
        return dumps_tuning(report)
    if kind == "html":
        # Jinja is imported where a page is made.
        from harness.extensions.tuning import page

        return page.render(report, change=change)
    raise ValueError(f"no form of a tuning is called {kind!r}")
