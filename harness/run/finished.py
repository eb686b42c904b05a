"""A suite that ran, with all that its report was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.gate.selection import QueryFilter
from harness.model.kept import BaselineFile
from harness.model.report import SuiteReport
from harness.model.run import Run
from harness.model.scores import Score
from harness.model.suite import Query, Suite
from harness.options import RunOptions

if TYPE_CHECKING:
    from harness.store.baseline import BaselineUpdate


@dataclass(frozen=True, slots=True)
class FinishedSuite:
    """
    A suite that ran: its *run*, its *scores*, and its *report*.

    *suite* is `Selection.selected`: its queries have scores, also those that a skip left out of the *run*. *others* are
    the queries that were not selected, *options* those of the cell. Secrets are masked in *run*.
    """

    suite: Suite
    run: Run
    scores: Sequence[Score]
    report: SuiteReport
    others: Sequence[Query] = ()
    options: RunOptions = field(default_factory=RunOptions)

    def add_to_baseline(
        self, options: RunOptions, standing: Mapping[Path, BaselineFile] | None = None
    ) -> BaselineUpdate:
        """Its run, which had *options*, added to the baselines of its suite; raises as `keep_run`."""
        from harness.store.baseline import SaveOptions, keep_run

        save_options = SaveOptions(
            created=options.day().isoformat(),
            partial=QueryFilter.from_options(options).selects_part,
            others=self.others,
            file=options.baseline,
            standing=standing or {},
        )
        return keep_run(self.suite, self.run, self.scores, save_options)
