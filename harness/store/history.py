"""A run in a history: its entry, and entries as the suite of today asks and scores them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from harness import __version__
from harness.gate.ties import group_ties, order_by_profile, truncate_ranking
from harness.masking import Masker, fingerprint
from harness.metrics.measures import measures_of
from harness.metrics.run_scores import score_run
from harness.model.kept import (
    HistoryEntry,
    HistoryFigure,
    HistoryState,
    KeptQuery,
    Question,
    RescoredEntry,
)
from harness.model.report import MeasureSummary, SuiteReport
from harness.model.run import Engine, IndexFacts, Ranking, Run
from harness.model.scores import Score, index_scores
from harness.model.suite import Query, Suite
from harness.store.kept import keep_query, restore_responses
from harness.store.what_changed import (
    find_changed_questions,
    find_unsearched_queries,
    fingerprint_judgments,
    fingerprint_request,
    make_questions,
    match_renamed,
    select_all_values,
)


@dataclass(frozen=True, slots=True)
class EntryOrigin:
    """What an entry says of a run that neither its suite nor its responses do."""

    created: datetime
    commit: str | None = None
    branch: str | None = None
    chosen_index: str | None = None
    """The index that an option named in place of the suite's own."""
    file: str | None = None
    """The file of the suite, as `name_suite_file` names it."""


def make_entry(
    suite: Suite, run: Run, scores: Sequence[Score], report: SuiteReport, origin: EntryOrigin
) -> HistoryEntry:
    """
    The entry of a whole run.

    Args:
        suite: The suite with all its queries.
        run: Their responses, in which secrets are masked, with the facts on the index.
        scores: The scores of the run.
        report: The report of the run.
        origin: When it was made, and of which commit.
    """
    table = index_scores(scores)
    questions = make_questions(suite, run.request, hooked=run.hooked)
    queries = {}
    for query in suite.queries:
        response = run.responses.get(query.id)
        if isinstance(response, Ranking):
            ranking = order_by_profile(truncate_ranking(response, suite.depth), suite.profile)
            kept = keep_query(suite, query, ranking, table.get(query.id, {}), questions[query.id])
            groups = group_ties(ranking)
            tied = [group for group in groups if len(group.shown) > 1]
            queries[query.id] = replace(
                kept,
                ties=tuple((group.start + 1, group.start + len(group.shown)) for group in tied),
                # Without groups it is unknown which documents tie: none is kept as one that does.
                tail=groups[-1].below if groups else (),
                closed=groups[-1].closed if groups else True,
                judged=sum(document in query.judgments for document in kept.ranking),
                tags=query.tags,
            )
    tags = {}
    for summary in report.tags:
        if summary.tag is not None:
            tags[summary.tag] = _make_figures(summary.summaries)
    return HistoryEntry(
        suite=suite.name,
        request=run.request,
        created=format_created(origin.created),
        harness=__version__,
        engine=str(run.engine),
        gain=str(suite.gain),
        profile=suite.profile,
        depth=suite.depth,
        state=_read_state(suite, run, queries),
        measures=_make_figures(report.summaries),
        queries=queries,
        tags=tags,
        cluster=report.cluster,
        index=report.index,
        chosen_index=origin.chosen_index,
        commit=origin.commit,
        branch=origin.branch,
        file=origin.file,
    )


def format_created(created: datetime) -> str:
    """*created* as entries have it: in UTC, so that the order of the texts is that of the times."""
    return created.astimezone(UTC).isoformat(timespec="microseconds")


def find_chosen_index(suite: Suite, request: str, index: str | None) -> str | None:
    """The *index* that an option named, masked; None if it is the own one of the *request* of that name."""
    own_index = suite.target.index
    template = suite.requests.get(request)
    if template is not None and template.index is not None:
        own_index = template.index
    if index is None or index == own_index:
        return None
    return Masker(suite.variables).mask(index)


def _make_figures(summaries: Iterable[MeasureSummary]) -> dict[str, HistoryFigure]:
    """The figures of the report, by measure."""
    return {summary.measure: HistoryFigure(summary.mean, summary.counted, summary.interval) for summary in summaries}


# What decides the scores of a run.


def _read_state(suite: Suite, run: Run, kept_queries: Mapping[str, KeptQuery]) -> HistoryState:
    """The state of *run*; *kept_queries* are the queries of it that have a ranking."""
    facts, used = run.facts or IndexFacts(), select_all_values(suite)
    queries = {}
    judgments = {}
    for query in suite.queries:
        queries[query.id] = [used.fingerprint(query), list(query.tags), query.weight]
        kept = kept_queries.get(query.id)
        judgments[query.id] = fingerprint_judgments(query) if kept is None else kept.judgments
    return HistoryState(
        suite=fingerprint(queries),
        judgments=fingerprint(judgments),
        request=fingerprint_request(suite, run.request) or "",
        mapping=facts.mapping,
        settings=facts.settings,
        documents=facts.documents,
        content=fingerprint_content(suite, run),
    )


def fingerprint_content(suite: Suite, run: Run) -> str | None:
    """A fingerprint that changes if documents are written; None if that is unknown, as in a fixture built anew."""
    if suite.fixture is not None or not run.states:
        return None
    state = run.states[-1]
    if state.uuids is None or state.writes is None:
        return None
    return fingerprint([sorted(state.uuids.values()), dict(state.writes)])


# An entry, by the suite of today.


def rename_entries(entries: Sequence[HistoryEntry], suite: Suite) -> list[HistoryEntry]:
    """
    *entries*, those of a request that *suite* has under another name by this name.

    A request may be the one of before if it has no entry as old as the newest of that one.

    Args:
        entries: Of the file of the suite, in the order in which they were kept.
        suite: The suite of today.
    """
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for place, entry in enumerate(entries):
        last[entry.request] = place
        first.setdefault(entry.request, place)
    before = {name: entries[place].state.request for name, place in last.items() if name not in suite.requests}
    if not before:
        return list(entries)
    newest = max(last[name] for name in before)
    now: dict[str, str] = {}
    for name in suite.requests:
        if name not in first:
            now[name] = fingerprint_request(suite, name) or ""
        elif first[name] > newest:
            now[name] = entries[first[name]].state.request
    renamed = match_renamed(before, now, is_only=len(before) == 1 and len(suite.requests) == 1)
    return [replace(entry, request=renamed.get(entry.request, entry.request)) for entry in entries]


def rescore(entries: Iterable[HistoryEntry], suite: Suite, *, hooked: bool = False) -> tuple[RescoredEntry, ...]:
    """
    Each of *entries* with the judgments, the gain, the profile and the measures of *suite*.

    A query counts if the suite still has it with the same text and params, as far as the request uses them. A measure
    counts if the entry has as many hits as it reads.

    Args:
        entries: Of the suite, of any request.
        suite: The suite of today.
        hooked: Whether hooks may have used any value of a query.
    """
    questions: dict[str, Mapping[str, Question]] = {}
    scorer = _Scorer(suite)
    rescored = []
    for entry in entries:
        if entry.request not in questions:
            questions[entry.request] = make_questions(suite, entry.request, hooked=hooked)
        rescored.append(_rescore_entry(entry, scorer, questions[entry.request]))
    return tuple(rescored)


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Scores kept rankings with *suite*; one that many runs have, as most do, is scored once."""

    suite: Suite
    known: dict[tuple[object, ...], list[Score]] = field(default_factory=dict)

    def score(self, entry: HistoryEntry, queries: Sequence[Query], run: Run) -> tuple[Score, ...]:
        """The scores of *queries* in *run*, which has their rankings in *entry*."""
        keys: dict[str, tuple[object, ...]] = {}
        unknown = []
        for query in queries:
            kept = entry.queries[query.id]
            key = (query.id, kept.ranking, kept.ties, kept.tail, kept.closed, repr(kept.found_quotes))
            keys[query.id] = key
            if key not in self.known:
                self.known[key] = []
                unknown.append(query)
        for score in score_run(replace(self.suite, queries=tuple(unknown)), run):
            self.known[keys[score.query]].append(score)
        return tuple(score for query in queries for score in self.known[keys[query.id]])


def _rescore_entry(entry: HistoryEntry, scorer: _Scorer, questions: Mapping[str, Question]) -> RescoredEntry:
    suite = scorer.suite
    changed = find_changed_questions(entry, questions)
    left_out = {*changed, *find_unsearched_queries(entry, suite)}
    same = [query for query in suite.queries if query.id in entry.queries and query.id not in left_out]
    responses = restore_responses(entry, [query.id for query in same], suite.depth)
    run = Run(responses, Engine("history", entry.engine), entry.request, entry.index)
    scores = scorer.score(entry, same, run)
    too_deep = _find_too_deep(entry, suite, same)
    if too_deep:
        scores = tuple(score for score in scores if score.measure not in too_deep)
    same_request = entry.state.request == fingerprint_request(suite, entry.request)
    return RescoredEntry(entry, run, scores, same_request, tuple(changed))


def _find_too_deep(entry: HistoryEntry, suite: Suite, queries: Iterable[Query]) -> set[str]:
    """The measures that read more hits than *entry* keeps."""
    too_deep = set()
    if entry.depth < suite.depth:
        for query in queries:
            for measure in measures_of(suite, query):
                if entry.depth < (measure.cutoff or suite.depth):
                    too_deep.add(measure.text)
    return too_deep
