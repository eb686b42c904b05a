"""
Committed baselines: the rankings that a suite's requests returned when they were accepted as good.

This module makes entries of runs and adds them to the file, and reads them as the reference of the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import __version__
from harness.errors import BaselineError, MissingBaseline, UnansweredBaseline, UnwritableBaseline, UsageError
from harness.gate.finding import describe_changed_question
from harness.gate.selection import needs_baseline
from harness.gate.ties import compute_bands
from harness.masking import Masker, keep_small
from harness.metrics.measures import DEFAULT_MEASURE, common_measures, measures_of
from harness.metrics.run_scores import score_run
from harness.model.kept import Baseline, BaselineFile, KeptQuery, Reference
from harness.model.run import Cause, IndexFacts, Ranking, Run
from harness.model.scores import Outcome, Score, index_scores
from harness.model.suite import Json, Query, Suite, select_scored
from harness.store.baseline_files import (
    choose_roots,
    find_baseline,
    is_baseline_file,
    read_baselines,
    refuse_irregular,
    suggest_save,
    write_baselines,
)
from harness.store.contradictions import refuse_contradictions
from harness.store.kept import keep_query, refuse_unanswered, restore_run
from harness.store.what_changed import (
    build_request_json,
    compare_texts,
    describe_changes_since,
    find_changed_questions,
    find_unsearched_queries,
    fingerprint_request,
    group_by_state,
    make_questions,
    match_renamed,
    name_cluster,
)
from harness.words import count, counted, listed


def find_reference(
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
    remedy = suggest_save(suite.path, file, searched)
    try:
        path = find_baseline(suite.path, suite.roots, file)
        baselines = read_baselines(path, choose_roots(suite, file))
        entry = choose_entry(baselines, path, suite, run.request)
    except BaselineError as error:
        cause = Cause.NO_BASELINE if isinstance(error, MissingBaseline) else Cause.UNUSABLE_BASELINE
        return Reference(problem=f"{error}; {remedy}", cause=cause, remedy=remedy)
    reference = make_reference(entry, suite, run, others)
    changes = reference.changes
    if run.request not in baselines.requests:
        earlier_names = {now: before for before, now in find_renamed_baselines(baselines, suite).items()}
        name = f"the request {run.request!r} was {earlier_names[run.request]!r}"
        changes = (f"since the baseline of {entry.created} {name}", *changes)
    return replace(reference, changes=changes, remedy=remedy)


def read_entry(suite: Suite, request: str, file: Path | None) -> Baseline:
    """
    The baseline of one request.

    Raises:
        BaselineError: There is no baseline, it cannot be read or contradicts itself, or it is another suite's.
    """
    path = find_baseline(suite.path, suite.roots, file)
    return choose_entry(read_baselines(path, choose_roots(suite, file)), path, suite, request)


def choose_entry(baselines: BaselineFile, path: Path, suite: Suite, request: str) -> Baseline:
    """The baseline of *request* in a file that was read from *path*; raises as `read_entry`."""
    if baselines.suite != suite.name:
        raise BaselineError(_describe_other_suite(baselines, path, suite))
    baselines = rename_baselines(baselines, suite)
    if request not in baselines.requests:
        known = ", ".join(sorted(baselines.requests)) or "none"
        raise MissingBaseline(f"there is no baseline of the request {request!r}: {path.as_posix()} has {known}")
    entry = baselines.requests[request]
    refuse_contradictions(entry, path.as_posix(), request, suite)
    return entry


def make_reference(baseline: Baseline, suite: Suite, run: Run, others: Sequence[Query] | None = None) -> Reference:
    """
    *baseline* scored by the judgments, the gain, the profile and the measures of today.

    Queries of which the text, the params or the vectors that the request uses changed are left out: their rankings
    answered another query.
    """
    changed = find_changed_questions(baseline, make_questions(suite, run.request, hooked=run.hooked))
    unsearched = find_unsearched_queries(baseline, suite)
    left_out = {*changed, *unsearched}
    same = {query: kept for query, kept in baseline.queries.items() if query not in left_out}
    kept_run = restore_run(replace(baseline, queries=same), run.request, depth=suite.depth)
    return Reference(
        run=kept_run,
        scores=score_run(suite, kept_run),
        depth=baseline.depth,
        created=baseline.created,
        same_request=fingerprint_request(suite, run.request) == baseline.template,
        changes=describe_changes_since(baseline, suite, run, changed, others),
        changed_questions=changed,
        unsearched=tuple(unsearched),
        diffs=compare_texts(baseline, suite, run),
    )


def _describe_other_suite(baselines: BaselineFile, path: Path, suite: Suite) -> str:
    return f"{path.as_posix()} holds the baseline of the suite {baselines.suite!r}, not of {suite.name!r}"


def find_renamed_baselines(baselines: BaselineFile, suite: Suite) -> dict[str, str]:
    """The name of today of each request of *baselines* that *suite* has under another name."""
    before = {name: entry.template for name, entry in baselines.requests.items() if name not in suite.requests}
    now = {}
    for name in suite.requests:
        if name not in baselines.requests:
            now[name] = fingerprint_request(suite, name) or ""
    is_only = len(baselines.requests) == 1 and len(suite.requests) == 1
    return match_renamed(before, now, is_only=is_only)


def rename_baselines(baselines: BaselineFile, suite: Suite) -> BaselineFile:
    """*baselines*, with the requests that *suite* has under another name by these names."""
    renamed = find_renamed_baselines(baselines, suite)
    if not renamed:
        return baselines
    requests = {renamed.get(name, name): entry for name, entry in baselines.requests.items()}
    return replace(baselines, requests=requests)


# Entries.


REFUSAL = "no baseline is saved from a run with errors"


def make_baseline(suite: Suite, run: Run, scores: Sequence[Score], *, created: str, harness: str) -> Baseline:
    """
    Make an entry from a run. Titles are not kept: they may be long, and change without a change of the ranking.

    Args:
        suite: The suite with the queries that were selected.
        run: Their responses, with the facts on the index.
        scores: The scores of the run.
        created: The day, as an ISO date.
        harness: The version of the harness.

    Raises:
        UnansweredBaseline: A query that was not skipped has no ranking, or a measure cannot score one.
        UnwritableBaseline: No query ran.
    """
    refuse_unanswered(suite, run, REFUSAL)
    _refuse_unscored(suite, scores)
    if not run.responses:
        raise UnwritableBaseline(f"{suite.path}: no baseline is saved from a run without queries")
    table = index_scores(scores)
    questions = make_questions(suite, run.request, hooked=run.hooked)
    masker = Masker(suite.variables)
    queries = {}
    for query in suite.queries:
        ranking = run.responses.get(query.id)
        if isinstance(ranking, Ranking):
            kept = keep_query(suite, query, ranking, table.get(query.id, {}), questions[query.id])
            sort: tuple[tuple[Json, ...] | None, ...] = ()
            if any(hit.sort is not None for hit in ranking.hits):
                sort = tuple(hit.sort for hit in ranking.hits)
            queries[query.id] = replace(
                kept,
                bands=compute_bands(suite, query, ranking, measures_of(suite, query)),
                engine_scores=ranking.scores,
                sort=sort,
                exact_scores=ranking.exact_scores,
                short=len(ranking.hits) < suite.depth,
                params=questions[query.id].params,
            )
    facts = run.facts or IndexFacts(missing=("mapping", "settings", "documents"))
    mapping, settings = masker.mask_json(facts.mapping_json), masker.mask_json(facts.settings_json)
    return Baseline(
        created=created,
        harness=harness,
        engine=str(run.engine),
        gain=str(suite.gain),
        profile=suite.profile,
        depth=suite.depth,
        template=fingerprint_request(suite, run.request) or "",
        index=replace(facts, mapping_json=mapping, settings_json=settings),
        queries=queries,
        request=masker.mask_json(keep_small(build_request_json(suite, run.request))),
        cluster=name_cluster(suite, run.request),
    )


def _refuse_unscored(suite: Suite, scores: Sequence[Score]) -> None:
    """Refuse scores that could not be computed: they must not be kept as undefined, which depends on judgments only."""
    for score in scores:
        if score.outcome is Outcome.ERROR:
            sentence = f"{suite.path}: {REFUSAL}: {score.measure} of query {score.query!r}: {score.reason}"
            raise UnansweredBaseline(Masker(suite.variables).mask(sentence))


def merge_entry(
    file: BaselineFile | None, suite: Suite, request: str, entry: Baseline, *, partial: bool
) -> BaselineFile:
    """
    *file* with *entry* in the place of the request's old one; other requests stay as they are.

    Queries of the old entry that did not run stay too: all of them where the run was *partial*, else those that the
    suite still has, which were skipped.

    Args:
        file: The suite's baselines so far.
        suite: The whole suite, with the queries that were not selected too.
        request: The request of the entry.
        entry: The entry of the queries that ran.
        partial: Whether only a part of the suite was selected.

    Raises:
        UnwritableBaseline: Queries that would stay were kept under another request, depth, gain, profile, engine or
            index than the new entry states.
    """
    requests = dict(file.requests) if file else {}
    old = requests.get(request)
    if old is not None:
        queries = {query.id for query in suite.queries}
        staying = {}
        for query, kept in old.queries.items():
            if query not in entry.queries and (partial or query in queries):
                staying[query] = _set_state(kept, old, entry)
        _refuse_mixture(suite.path, old, entry, list(staying))
        entry = replace(entry, queries={**staying, **entry.queries})
    requests[request] = entry
    return BaselineFile(suite=suite.name, requests=requests)


def _set_state(kept: KeptQuery, old: Baseline, new: Baseline) -> KeptQuery:
    """*kept*, which stays when *new* replaces *old*, with the state in which it was saved if that is not *new*'s."""
    if kept.created is None:
        kept = replace(kept, created=old.created, documents=old.index.documents)
    is_of_new = (kept.created, kept.documents) == (new.created, new.index.documents)
    return replace(kept, created=None, documents=None) if is_of_new else kept


def _refuse_mixture(path: str, old: Baseline, new: Baseline, staying: Sequence[str]) -> None:
    facts = (
        ("request", old.template, new.template),
        ("depth", old.depth, new.depth),
        ("gain", old.gain, new.gain),
        ("profile", old.profile, new.profile),
        ("engine", old.engine, new.engine),
        # Where one of the two has no name, nothing is known of it.
        ("cluster", old.cluster or new.cluster, new.cluster or old.cluster),
        ("mapping of the index", old.index.mapping, new.index.mapping),
        ("settings of the index", old.index.settings, new.index.settings),
    )
    changed = [name for name, before, now in facts if before != now]
    if staying and changed:
        raise UnwritableBaseline(
            f"{path}: a baseline of a part of the queries is not put beside {count(len(staying), 'query')} "
            f"({listed(staying)}) that were kept under another {', '.join(changed)}; save the whole suite"
        )


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


def find_ci_variable(environ: Mapping[str, str]) -> str | None:
    """
    The variable that shows that this is CI; None where there is none, and where CI is false.

    >>> find_ci_variable({"TF_BUILD": "True"})
    'TF_BUILD'
    >>> find_ci_variable({"CI": "false", "TF_BUILD": "True"})
    """
    if environ.get("CI", "").lower() in _NO:
        return None
    for name in CI_VARIABLES:
        if environ.get(name, "").lower() not in ("", *_NO):
            return name
    return None


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
    variable = find_ci_variable(environ)
    if variable is not None:
        raise UsageError(
            f"{option}: {variable} is set, and a job that saves its own baseline always agrees with it: save it "
            f"where you can look at the difference, or say {forced}"
        )


@dataclass(frozen=True, slots=True)
class BaselineUpdate:
    """The new content of a file after a run: *file* with the entry of *request*, ready to be written to *path*."""

    path: Path
    file: BaselineFile
    request: str
    before: Baseline | None = None
    """The entry that is replaced."""
    notes: tuple[str, ...] = ()
    """
    Remarks, such as that a file which could not be read is replaced whole, or that kept queries have another text or
    params by now, or are from an index with other documents.
    """
    roots: Sequence[str] | None = None
    """The folders that the file may be in; any where that is None."""

    @property
    def entry(self) -> Baseline:
        """The new entry."""
        return self.file.requests[self.request]

    def write(self) -> None:
        """Write the file, whole or not at all; UnwritableBaseline where it cannot be written."""
        write_baselines(self.path, self.file, self.roots)


@dataclass(frozen=True, slots=True)
class SaveOptions:
    """How a run is added to the baselines of its suite."""

    created: str
    """The day, as an ISO date."""
    partial: bool
    """Whether only a part of the suite's queries was selected."""
    others: Sequence[Query] = ()
    """The queries of the suite that were not selected."""
    file: Path | None = None
    """The file of baselines; None takes the one beside the suite."""
    standing: Mapping[Path, BaselineFile] = field(default_factory=dict)
    """The new contents of files, by path, from earlier runs that are not written yet."""


def keep_run(suite: Suite, run: Run, scores: Sequence[Score], options: SaveOptions) -> BaselineUpdate:
    """
    Add a run to the baselines of its suite; nothing is written yet.

    Args:
        suite: With the queries that were selected.
        run: Their responses.
        scores: Of the run.
        options: How it is added.

    Raises:
        UnansweredBaseline: A query has no ranking.
        UnwritableBaseline: No query ran; a part of a suite cannot be merged into the entry; or the file is another
            suite's.
    """
    partial = options.partial
    entry = make_baseline(suite, run, scores, created=options.created, harness=__version__)
    path = find_baseline(suite.path, suite.roots, options.file)
    roots = choose_roots(suite, options.file)
    baselines = options.standing.get(path)
    notes: list[str] = []
    if baselines is None:
        baselines, notes = _read_file_so_far(path, roots, partial=partial)
    # The file beside a suite is its own, which may have been renamed. A file that was named may be another suite's.
    if baselines is not None and options.file is not None and baselines.suite != suite.name:
        raise UnwritableBaseline(_describe_other_suite(baselines, path, suite))
    whole_suite = replace(suite, queries=(*suite.queries, *options.others))
    before = None
    if baselines is not None:
        baselines = rename_baselines(baselines, suite)
        baselines, more_notes = _drop_contradiction(baselines, path, run.request, whole_suite, partial=partial)
        notes += more_notes
        before = baselines.requests.get(run.request)
    merged = merge_entry(baselines, whole_suite, run.request, entry, partial=partial)
    notes += _note_changed_questions(merged.requests[run.request], whole_suite, run)
    notes += _note_other_states(merged.requests[run.request])
    # Queries for which no result is right have no scores that a threshold could compare.
    if select_scored(whole_suite.queries) and not needs_baseline(whole_suite, run.request):
        measure = next(iter(common_measures(whole_suite)), DEFAULT_MEASURE)
        notes.append(f"no threshold compares with the baseline; add one, such as `drop {measure} <= 0.02`")
    return BaselineUpdate(path, merged, run.request, before, tuple(notes), roots)


def _note_changed_questions(entry: Baseline, suite: Suite, run: Run) -> Iterator[str]:
    """A note on kept queries of a new entry, which did not run, whose text or params differ from the suite's."""
    changed = find_changed_questions(entry, make_questions(suite, run.request, hooked=run.hooked))
    if changed:
        changes = listed([describe_changed_question(query, *questions) for query, questions in changed.items()])
        yield f"what was kept of {count(len(changed), 'query')} that did not run is of a changed query: {changes}"


def _note_other_states(entry: Baseline) -> Iterator[str]:
    """A note on kept queries of a new entry that were saved when the index had another number of documents."""
    now = _count_documents(entry.index.documents)
    for (created, documents), queries in group_by_state(entry, entry.queries).items():
        if documents != entry.index.documents:
            before = _count_documents(documents)
            yield (
                f"what was kept of {counted(queries, 'query')} that did not run was saved on {created} from an index "
                f"of {before}, which has {now} now; save the whole suite to compare all with the same documents"
            )


def _count_documents(number: int | None) -> str:
    return "an unknown number of documents" if number is None else count(number, "document")


def _read_file_so_far(
    path: Path, roots: Sequence[str] | None, *, partial: bool
) -> tuple[BaselineFile | None, list[str]]:
    """
    The file so far, and notes. A file that cannot be read is replaced, but never by a part of a suite, nor if it is
    another file, such as the suite: neither its name nor its content is that of baselines. A pipe or a device is
    refused: to read it may wait for ever.
    """
    refuse_irregular(path)
    if not path.exists():
        return None, []
    try:
        return read_baselines(path, roots), []
    except BaselineError as error:
        if not is_baseline_file(path):
            raise UsageError(f"{error}; it is not replaced, as it is no file of baselines: name another file") from None
        return None, [_note_replacement(error, partial=partial)]


def _drop_contradiction(
    baselines: BaselineFile, path: Path, request: str, suite: Suite, *, partial: bool
) -> tuple[BaselineFile, list[str]]:
    """*baselines* without the entry of *request* if that contradicts itself and so must not stay, and notes."""
    if request not in baselines.requests:
        return baselines, []
    try:
        refuse_contradictions(baselines.requests[request], path.as_posix(), request, suite)
    except BaselineError as error:
        others = {name: entry for name, entry in baselines.requests.items() if name != request}
        return replace(baselines, requests=others), [_note_replacement(error, partial=partial)]
    return baselines, []


def _note_replacement(error: BaselineError, *, partial: bool) -> str:
    """A note on what is replaced for *error*; refuses where a part of a suite would replace all of it."""
    if partial:
        raise UnwritableBaseline(f"{error}; save the whole suite") from None
    return f"{error}; it is replaced"
