"""
What a run came to::

    score -> decide -> look for missing documents -> assemble -> mask
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.assembly import assemble
from harness.errors import SearchError
from harness.gate import decide
from harness.gate.scope import count
from harness.gate.selection import blamed_queries, gated_thresholds, select_queries
from harness.masking import redact
from harness.metrics.run_scores import score_run
from harness.model import BaselineSummary, MissingDocument, Ranking, Reference, Run, Score, Suite, SuiteReport, Verdict
from harness.running.options import RunOptions

if TYPE_CHECKING:
    from harness.masking import Masker
    from harness.search import Search

__all__ = ["QUERIES_LOCATED", "Conclusion"]


QUERIES_LOCATED = 20
"""Queries of a suite, the worst of each threshold first, whose missing documents a deeper search looks for."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """
    Draws the conclusion from runs of *suite*, which holds all its queries, under *options*.

    *cluster* is what the report calls the server. *masker* hides secrets in the report.
    """

    suite: Suite
    options: RunOptions
    cluster: str
    masker: Masker | None = None

    def of(self, run: Run, search: Search | None) -> tuple[tuple[Score, ...], SuiteReport]:
        """The scores of *run*, and the report on it; *search* is where it came from, None where nothing answered."""
        selected = select_queries(self.suite, self.options.tags)
        scores = score_run(selected, run)
        reference = self._reference(selected, run)
        verdicts = self._decide(run, scores, reference)
        located, notes = self._locate(selected, run, search, verdicts)
        changes = reference.changes if reference else ()
        report = assemble(
            selected,
            run,
            scores,
            verdicts,
            located=located,
            cluster=self.cluster,
            deselected=len(self.suite.queries) - len(selected.queries),
            notes=[*self._choices(run), *self._deselection(verdicts), *_tails(run, selected), *notes, *changes],
            baseline=None
            if reference is None or reference.run is None
            else BaselineSummary(reference.created, changes),
        )
        return scores, report if self.masker is None else redact(report, self.masker.mask)

    def _reference(self, selected: Suite, run: Run) -> Reference | None:
        """What the run is held against; None where no threshold compares."""
        from harness.baseline.reference import compares, reference_for

        if not compares(selected):
            return None
        if self.options.save_baseline:
            return Reference(updating=True)
        return reference_for(selected, run, self.options.baseline)

    def _decide(self, run: Run, scores: Sequence[Score], reference: Reference | None) -> tuple[Verdict, ...]:
        return decide(
            self.suite,
            run,
            scores,
            today=self.options.day(),
            tags=self.options.tags,
            strict_xfail=self.options.strict_xfail,
            reference=reference,
        )

    def _locate(
        self, selected: Suite, run: Run, search: Search | None, verdicts: Sequence[Verdict]
    ) -> tuple[Mapping[str, tuple[MissingDocument, ...]], list[str]]:
        """Where the missing documents of the worst queries rank; a report without that is still a report."""
        from harness.running.searching import locate_missing

        queries = [query for query in blamed_queries(verdicts) if isinstance(run.responses.get(query), Ranking)]
        if search is None or not queries or not self.options.locate:
            return {}, []
        try:
            return locate_missing(selected, run, search, queries[:QUERIES_LOCATED]), []
        except SearchError as error:
            return {}, [f"where the missing documents rank is not known: {error}"]

    def _choices(self, run: Run) -> Iterator[str]:
        """An index in place of the suite's own, so that nobody takes the figures for those of the latter."""
        template = self.suite.requests.get(run.request)
        own = (template.index if template else None) or self.suite.target.index
        if self.options.index is not None and self.options.index != own:
            yield f"the index {self.options.index} was asked for in place of {own or 'none'}"

    def _deselection(self, verdicts: Sequence[Verdict]) -> Iterator[str]:
        left_out = len(gated_thresholds(self.suite)) - len(verdicts)
        if not left_out:
            return
        tags = ", ".join(self.options.tags)
        left = (
            "1 threshold is not decided: it is" if left_out == 1 else f"{left_out} thresholds are not decided: they are"
        )
        yield f"{left} about other queries than those with the tag {tags}"


def _tails(run: Run, suite: Suite) -> Iterator[str]:
    """What it cost to find out which documents tie with the last hits."""
    tails = run.tails
    if tails is None:
        return
    queries = count(tails.queries, "query")
    if tails.problem:
        yield f"which documents tie with the last hit of {queries} is not known: {tails.problem}"
        return
    left = f"; not all are known of {count(tails.left_open, 'query')}" if tails.left_open else ""
    yield (
        f"{queries} asked again for ties below rank {suite.depth}: at most {count(tails.hits, 'hit')} each, "
        f"{tails.seconds:.1f} s{left}"
    )
