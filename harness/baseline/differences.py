"""A run beside its baseline, measure by measure, for people to read: nothing is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.gate.pairs import Compared, Pairs, pair_scores
from harness.gate.scope import Finding
from harness.metrics.run_scores import common_measures
from harness.model import Baseline, Question, Reference, Run, Score, Suite
from harness.model.suite import in_force

__all__ = ["Difference", "difference"]


@dataclass(frozen=True, slots=True)
class Difference:
    """
    What a run has that its baseline has not.

    *pairs* hold the measures that every query has a score of, *refusals* why one could not be compared. *added* are
    queries that only the run has, skipped ones apart, *removed* those that only the baseline has. *changed_questions*
    are what queries asked and ask, where that is not the same; nothing of those is compared.
    """

    pairs: tuple[Pairs, ...]
    refusals: tuple[str, ...]
    changes: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed_questions: Mapping[str, tuple[Question, Question]]


def difference(
    suite: Suite, run: Run, scores: Sequence[Score], baseline: Baseline, reference: Reference, today: date
) -> Difference:
    """
    Compare *run* with *reference*, which was made of *baseline*, on the queries that ask the same in both.

    Queries that a measure is not defined for are left out, whatever the suite says.
    """
    both = replace(
        suite,
        queries=tuple(
            query
            for query in suite.queries
            if query.id in baseline.queries and query.id not in reference.changed_questions
        ),
        skip_undefined=True,
    )
    compared = Compared(both, run, _by_measure(scores), reference, _by_measure(reference.scores), today)
    found = [pair_scores(compared, both.queries, measure) for measure in common_measures(suite)]
    known = {query.id for query in suite.queries}
    return Difference(
        pairs=tuple(one for one in found if isinstance(one, Pairs)),
        refusals=tuple(one.reason for one in found if isinstance(one, Finding)),
        changes=reference.changes,
        added=tuple(
            query.id for query in suite.queries if query.id not in baseline.queries and not in_force(query.skip, today)
        ),
        removed=tuple(query for query in baseline.queries if query not in known),
        changed_questions=reference.changed_questions,
    )


def _by_measure(scores: Sequence[Score]) -> dict[tuple[str, str], Score]:
    return {(score.query, score.measure): score for score in scores}
