"""What a run is held against: a baseline read and scored anew, and what is no longer as it was then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.entries import as_run, changed_questions, changes_since, request_fingerprint
from harness.baseline.files import baseline_path, read_baselines, remedy_for
from harness.errors import BaselineError
from harness.gate.pairs import Compared, Pairs, pair_scores
from harness.gate.scope import Finding
from harness.metrics.run_scores import common_measures, score_run
from harness.model import Baseline, Question, Reference, Run, Score, Suite
from harness.model.suite import in_force

# From a file of baselines to what the gate compares a run with.


def reference_for(suite: Suite, run: Run, file: Path | None) -> Reference:
    """
    What *run* is held against.

    Args:
        suite: Today's, with the queries that were selected.
        run: Of today; its request chooses the entry.
        file: The file of baselines; None takes the one beside the suite.

    Returns:
        The baseline scored anew; or why there is none to compare with, and what to do about it.
    """
    remedy = remedy_for(suite.path)
    try:
        return replace(reference_to(read_entry(suite, run.request, file), suite, run), remedy=remedy)
    except BaselineError as error:
        return Reference(problem=f"{error}; {remedy}", remedy=remedy)


def read_entry(suite: Suite, request: str, file: Path | None) -> Baseline:
    """
    The baseline of one request.

    Raises:
        BaselineError: There is none, it cannot be read or contradicts itself, or the file is that of another suite.
    """
    path = file or baseline_path(suite.path)
    found = read_baselines(path)
    if found.suite != suite.name:
        raise BaselineError(f"{path.as_posix()} holds the baseline of the suite {found.suite!r}, not of {suite.name!r}")
    if request not in found.requests:
        raise BaselineError(
            f"there is no baseline of the request {request!r}: {path.as_posix()} has {_listed(found.requests)}"
        )
    entry = found.requests[request]
    refuse_contradictions(entry, path.as_posix(), request, suite)
    return entry


def reference_to(baseline: Baseline, suite: Suite, run: Run) -> Reference:
    """
    *baseline* scored by the judgments, the gain, the profile and the measures of today.

    It does not have the queries that ask something else today: what answered the one is no answer to the other.
    """
    changed = changed_questions(baseline, suite)
    same = {query: kept for query, kept in baseline.queries.items() if query not in changed}
    kept = as_run(replace(baseline, queries=same), run.request, depth=suite.depth)
    return Reference(
        run=kept,
        scores=score_run(suite, kept),
        depth=baseline.depth,
        created=baseline.created,
        same_request=request_fingerprint(suite, run.request) == baseline.template,
        changes=changes_since(baseline, suite, run),
        changed_questions=changed,
    )


def _listed(requests: Iterable[str]) -> str:
    return ", ".join(sorted(requests)) or "none"


# A run beside its baseline, measure by measure, for people to read: nothing is decided.


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
