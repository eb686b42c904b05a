"""`--relevance-update-baseline`: what suites returned in a session becomes their baseline."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.run.execution import FinishedSuite
    from harness.run.options import RunOptions

__all__ = ["FORCE", "save_baselines", "update_wanted", "update_word"]


FORCE = "force"
PLAIN = "yes"


def update_word(text: str) -> str:
    """What may stand behind ``--relevance-update-baseline``; the name of a suite there is the next argument's."""
    if text not in (FORCE, PLAIN):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected nothing or ={FORCE}; put paths before the option")
    return text


def update_wanted(word: str | None) -> bool:
    """
    Whether baselines are to be updated.

    Raises:
        pytest.UsageError: in CI, where nobody has looked at what would become the measure of all later runs.
    """
    if word == PLAIN:
        from harness.baseline.saving import refuse_in_ci

        option = "--relevance-update-baseline"
        try:
            refuse_in_ci(os.environ, asked=option, forced=f"{option}={FORCE}")
        except HarnessError as error:
            raise pytest.UsageError(str(error)) from None
    return word is not None


def save_baselines(finished: Iterable[FinishedSuite], options: RunOptions) -> tuple[list[str], list[str]]:
    """What was written, a line for each file and for what is to be known of it; and why others could not be."""
    from harness.baseline.saving import keep_run

    written, problems = [], []
    for one in finished:
        try:
            kept = keep_run(
                one.suite,
                one.run,
                one.scores,
                created=options.day().isoformat(),
                partial=bool(options.tags),
                others=one.others,
                file=options.baseline,
            )
            kept.write()
        except HarnessError as error:
            problems.append(str(error))
        else:
            written += [f"baseline written to {kept.path}", *(f"  {note}" for note in kept.notes)]
    return list(dict.fromkeys(written)), problems
