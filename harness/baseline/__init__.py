"""
Committed baselines: the rankings that a suite's requests returned when they were accepted as good.

Rankings are kept, not only scores. So a baseline becomes a `Run` again and is scored anew with the judgments, the gain
and the measures of today, and a change of those is never taken for a change of the search.

`entries` turns a run into an entry and lists what changed since, `files` reads and writes the JSON file beside the
suite, `contradictions` refuses inconsistent entries, `differences` compares a run with a baseline. This module saves
runs, and reads baselines as the reference of the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness import __version__
from harness.baseline.contradictions import refuse_contradictions
from harness.baseline.differences import text_diffs
from harness.baseline.entries import (
    as_run,
    changed_questions,
    changes_since,
    make_baseline,
    request_fingerprint,
    saved_states,
    with_entry,
)
from harness.baseline.files import (
    find_baseline,
    is_baseline_file,
    read_baselines,
    refuse_irregular,
    remedy_for,
    write_baselines,
)
from harness.errors import BaselineError, UnwritableBaseline, UsageError
from harness.gate.finding import describe_changed_question
from harness.gate.selection import needs_baseline
from harness.metrics.score import DEFAULT_MEASURE, common_measures, score_run
from harness.model import Baseline, BaselineFile, Query, Reference, Run, Score, Suite
from harness.words import count, counted, listed

__all__ = [
    "CI_VARIABLES",
    "BaselineUpdate",
    "ci_variable",
    "entry_of",
    "keep_run",
    "read_entry",
    "reference_for",
    "reference_to",
    "refuse_in_ci",
]


def reference_for(
    suite: Suite,
    run: Run,
    file: Path | None,
    searched: Mapping[str, str | bool] | None = None,
    others: Sequence[Query] = (),
) -> Reference:
    """
    The reference to compare *run* with.

    Args:
        suite: Today's suite, with the queries that were selected.
        run: Today's run; its request chooses the entry.
        file: The file of baselines; None takes the one beside the suite.
        searched: `RunOptions.searched` of the run, for the command that saves a baseline.
        others: The queries of the suite that were not selected.

    Returns:
        The baseline scored anew; or why there is none to compare with, and what to do about it.
    """
    remedy = remedy_for(suite.path, file, searched)
    try:
        return replace(reference_to(read_entry(suite, run.request, file), suite, run, others), remedy=remedy)
    except BaselineError as error:
        return Reference(problem=f"{error}; {remedy}", remedy=remedy)


def read_entry(suite: Suite, request: str, file: Path | None) -> Baseline:
    """
    The baseline of one request.

    Raises:
        BaselineError: There is no baseline, it cannot be read or contradicts itself, or it is another suite's.
    """
    path = find_baseline(suite.path, suite.roots, file)
    return entry_of(read_baselines(path), path, suite, request)


def entry_of(found: BaselineFile, path: Path, suite: Suite, request: str) -> Baseline:
    """The baseline of *request* in a file that was read from *path*; raises as `read_entry`."""
    if found.suite != suite.name:
        raise BaselineError(_of_another(found, path, suite))
    if request not in found.requests:
        known = ", ".join(sorted(found.requests)) or "none"
        raise BaselineError(f"there is no baseline of the request {request!r}: {path.as_posix()} has {known}")
    entry = found.requests[request]
    refuse_contradictions(entry, path.as_posix(), request, suite)
    return entry


def reference_to(baseline: Baseline, suite: Suite, run: Run, others: Sequence[Query] | None = None) -> Reference:
    """
    *baseline* scored by the judgments, the gain, the profile and the measures of today.

    Queries of which the text, the params or the vectors that the request uses changed are left out: their rankings
    answered another query.
    """
    changed = changed_questions(baseline, suite, run.request, hooked=run.hooked)
    same = {query: kept for query, kept in baseline.queries.items() if query not in changed}
    kept = as_run(replace(baseline, queries=same), run.request, depth=suite.depth)
    return Reference(
        run=kept,
        scores=score_run(suite, kept),
        depth=baseline.depth,
        created=baseline.created,
        same_request=request_fingerprint(suite, run.request) == baseline.template,
        changes=changes_since(baseline, suite, run, others),
        changed_questions=changed,
        diffs=text_diffs(baseline, suite, run),
    )


def _of_another(found: BaselineFile, path: Path, suite: Suite) -> str:
    return f"{path.as_posix()} holds the baseline of the suite {found.suite!r}, not of {suite.name!r}"


# Saving.


CI_VARIABLES = (
    "CI",
    "BUILDER_OUTPUT",  # Google Cloud Build
    "CODEBUILD_BUILD_ID",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TF_BUILD",  # Azure Pipelines
    "bamboo_planKey",
)
"""`CI`, which most CI services set, and variables of those that do not set it."""

_NO = ("0", "false")


def ci_variable(environ: Mapping[str, str]) -> str | None:
    """
    The variable that shows that this is CI; None where there is none, and where CI is false.

    >>> ci_variable({"TF_BUILD": "True"})
    'TF_BUILD'
    >>> ci_variable({"CI": "false", "TF_BUILD": "True"})
    """
    if environ.get("CI", "").lower() in _NO:
        return None
    return next((name for name in CI_VARIABLES if environ.get(name, "").lower() not in ("", *_NO)), None)


def refuse_in_ci(environ: Mapping[str, str], *, option: str, forced: str) -> None:
    """
    Refuse to save a baseline in CI, where nobody has reviewed what later runs would be compared with.

    Args:
        environ: Holds the variables of a CI service.
        option: The option or command that saves, for the message.
        forced: The option that saves in CI all the same, for the message.

    Raises:
        UsageError: this is CI; names the variable that says so.
    """
    variable = ci_variable(environ)
    if variable is not None:
        raise UsageError(
            f"{option}: {variable} is set, and a job that saves its own baseline always agrees with it: save it "
            f"where you can look at the difference, or say {forced}"
        )


@dataclass(frozen=True, slots=True)
class BaselineUpdate:
    """
    The new content of a file after a run: *file* with the entry of *request*, ready to be written to *path*.

    *before* is the entry that it replaces. *notes* are remarks, such as that a file which could not be read is replaced
    whole, or that kept queries have another text or params by now, or are from an index with other documents.
    """

    path: Path
    file: BaselineFile
    request: str
    before: Baseline | None = None
    notes: tuple[str, ...] = ()

    @property
    def entry(self) -> Baseline:
        """The new entry."""
        return self.file.requests[self.request]

    def write(self) -> None:
        """Write the file, whole or not at all; UnwritableBaseline where it cannot be written."""
        write_baselines(self.path, self.file)


def keep_run(
    suite: Suite,
    run: Run,
    scores: Sequence[Score],
    *,
    created: str,
    partial: bool,
    others: Sequence[Query] = (),
    file: Path | None = None,
    standing: Mapping[Path, BaselineFile] | None = None,
) -> BaselineUpdate:
    """
    Add a run to the baselines of its suite; nothing is written yet.

    Args:
        suite: With the queries that were selected.
        run: Their responses.
        scores: Of the run.
        created: The day, as an ISO date.
        partial: Whether only a part of the suite's queries was selected.
        others: The queries of the suite that were not selected.
        file: The file of baselines; None takes the one beside the suite.
        standing: The new contents of files, by path, from earlier runs that are not written yet.

    Raises:
        UnansweredBaseline: A query has no ranking.
        UnwritableBaseline: No query ran; a part of a suite cannot be merged into the entry; or *file* is another
            suite's.
    """
    entry = make_baseline(suite, run, scores, created=created, harness=__version__)
    path = find_baseline(suite.path, suite.roots, file)
    kept_before = (standing or {}).get(path)
    found, notes = (kept_before, []) if kept_before else _found(path, partial=partial)
    if found is not None and file is not None and found.suite != suite.name:
        raise UnwritableBaseline(_of_another(found, path, suite))
    whole = replace(suite, queries=(*suite.queries, *others))
    if found is not None:
        found, more = _sound(found, path, run.request, whole, partial=partial)
        notes += more
    before = found.requests.get(run.request) if found else None
    kept = with_entry(found, whole, run.request, entry, partial=partial)
    entry = kept.requests[run.request]
    notes += [*_outdated(entry, whole, run), *_of_other_states(entry)]
    if not needs_baseline(whole):
        measure = next(iter(common_measures(whole)), DEFAULT_MEASURE)
        notes.append(f"no threshold of the suite compares with it; add one, such as `drop {measure} <= 0.02`")
    return BaselineUpdate(path, kept, run.request, before, tuple(notes))


def _outdated(entry: Baseline, suite: Suite, run: Run) -> Iterator[str]:
    """A note on kept queries of a new entry, which did not run, whose text or params differ from the suite's."""
    changed = changed_questions(entry, suite, run.request, hooked=run.hooked)
    if changed:
        changes = listed([describe_changed_question(query, *both) for query, both in changed.items()])
        yield f"what was kept of {count(len(changed), 'query')} that did not run is of a changed query: {changes}"


def _of_other_states(entry: Baseline) -> Iterator[str]:
    """A note on kept queries of a new entry that were saved when the index had another number of documents."""
    for (created, documents), queries in saved_states(entry, entry.queries).items():
        if documents != entry.index.documents:
            before, now = (
                "an unknown number of documents" if number is None else count(number, "document")
                for number in (documents, entry.index.documents)
            )
            yield (
                f"what was kept of {counted(queries, 'query')} that did not run was saved on {created} from an index "
                f"of {before}, which has {now} now; save the whole suite to compare all with the same documents"
            )


def _found(path: Path, *, partial: bool) -> tuple[BaselineFile | None, list[str]]:
    """
    The file so far, and notes. A file that cannot be read is replaced, but never by a part of a suite, nor if it is
    another file, such as the suite: neither its name nor its content is that of baselines. A pipe or a device is
    refused: to read it may wait for ever.
    """
    refuse_irregular(path)
    if not path.exists():
        return None, []
    try:
        return read_baselines(path), []
    except BaselineError as error:
        if not is_baseline_file(path):
            raise UsageError(f"{error}; it is not replaced, as it is no file of baselines: name another file") from None
        return None, [_replaced(error, partial=partial)]


def _sound(
    file: BaselineFile, path: Path, request: str, suite: Suite, *, partial: bool
) -> tuple[BaselineFile, list[str]]:
    """*file* without the entry of *request* if that contradicts itself and so must not stay, and notes."""
    if request not in file.requests:
        return file, []
    try:
        refuse_contradictions(file.requests[request], path.as_posix(), request, suite)
    except BaselineError as error:
        others = {name: entry for name, entry in file.requests.items() if name != request}
        return replace(file, requests=others), [_replaced(error, partial=partial)]
    return file, []


def _replaced(error: BaselineError, *, partial: bool) -> str:
    if partial:
        raise UnwritableBaseline(f"{error}; save the whole suite") from None
    return f"{error}; it is replaced"
