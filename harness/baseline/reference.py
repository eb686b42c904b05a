"""What a run is held against: a baseline read and scored anew, and what is no longer as it was then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.entries import as_run, changed_questions, changes_since, request_fingerprint
from harness.baseline.files import baseline_path, read_baselines, remedy_for
from harness.errors import BaselineError
from harness.metrics.run_scores import score_run
from harness.model import Baseline, Reference, Run, Suite

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
