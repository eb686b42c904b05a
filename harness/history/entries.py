"""The entry of a run in a history, and the run that it was made of: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from harness import __version__
from harness.baseline.entries import fingerprint_judgments, fingerprint_request
from harness.baseline.questions import UsedValues, select_all_values, select_run_values
from harness.gate.finding import read_weights
from harness.gate.ties import compute_bands, group_ties, replace_scores, truncate_ranking
from harness.masking import Masker, fingerprint
from harness.means import mean_of
from harness.metrics.score import measures_of, outcome_of
from harness.model.history import HistoryEntry, HistoryFigure, HistoryQuery, HistoryState
from harness.model.report import MeasureSummary, SuiteReport
from harness.model.run import Engine, Hit, IndexFacts, Ranking, Run
from harness.model.scores import Outcome, Score, ScoreTable, index_scores
from harness.model.suite import Query, Suite

SCHEMA = 1
"""The version that is written, and the only one that is read."""


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
    masker, used = Masker(suite.variables), select_run_values(suite, run)
    queries = {}
    for query in suite.queries:
        ranking = run.responses.get(query.id)
        if isinstance(ranking, Ranking):
            question = used.make_question(query, masker)
            queries[query.id] = _keep_query(suite, query, ranking, table, question.text, question.fingerprint)
    members = {query.id: query for query in suite.queries}
    tags = {}
    for summary in report.tags:
        if summary.tag is not None:
            tagged = [query for query in queries if summary.tag in members[query].tags]
            tags[summary.tag] = _make_figures(summary.summaries, suite, queries, tagged)
    return HistoryEntry(
        suite=suite.name,
        request=run.request,
        created=format_created(origin.created),
        harness=__version__,
        engine=str(run.engine),
        gain=str(suite.gain),
        profile=suite.profile,
        depth=suite.depth,
        state=_read_state(suite, run),
        measures=_make_figures(report.summaries, suite, queries, queries),
        queries=queries,
        schema=SCHEMA,
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


def _keep_query(
    suite: Suite, query: Query, ranking: Ranking, table: ScoreTable, text: str, question: str
) -> HistoryQuery:
    measures = measures_of(suite, query)
    by_measure = table.get(query.id, {})
    scores = {measure.text: by_measure[measure.text].value for measure in measures if measure.text in by_measure}
    outcome, _ = outcome_of(query, ranking)
    if scores and all(value is None for value in scores.values()):
        outcome = Outcome.UNDEFINED
    ranking = truncate_ranking(ranking, suite.depth)
    kept = replace_scores(ranking, suite.profile)
    groups = [group for group in group_ties(kept) if len(group.shown) > 1]
    return HistoryQuery(
        outcome=outcome,
        text=text,
        question=question,
        judgments=fingerprint_judgments(query),
        ranking=tuple(hit.id for hit in kept.hits),
        scores=scores,
        bands=compute_bands(suite, query, ranking, measures),
        ties=tuple((group.start + 1, group.start + len(group.shown)) for group in groups),
        tail=tuple(hit.id for hit in kept.tail),
        closed=kept.closed,
        judged=sum(hit.id in query.judgments for hit in kept.hits),
        weight=query.weight,
        tags=query.tags,
    )


def _make_figures(
    summaries: Iterable[MeasureSummary], suite: Suite, queries: Mapping[str, HistoryQuery], members: Iterable[str]
) -> dict[str, HistoryFigure]:
    """The figures of *summaries*, which are over those of *queries* that are *members*."""
    figures = {}
    chosen = {query: queries[query] for query in members}
    for summary in summaries:
        band = _compute_band(summary.measure, suite, chosen)
        figures[summary.measure] = HistoryFigure(summary.mean, summary.counted, summary.interval, band)
    return figures


def _compute_band(measure: str, suite: Suite, queries: Mapping[str, HistoryQuery]) -> tuple[float, float] | None:
    """The least and the greatest mean of *measure* over all orders of ties; None if these do not move it."""
    least: dict[str, float] = {}
    greatest: dict[str, float] = {}
    for query, kept in queries.items():
        value = kept.scores.get(measure)
        if value is not None:
            least[query], greatest[query] = kept.bands.get(measure, (value, value))
    if least == greatest:
        return None
    weights = read_weights(suite.queries, least)
    return mean_of(least, weights), mean_of(greatest, weights)


# What decides the scores of a run.


def _read_state(suite: Suite, run: Run) -> HistoryState:
    facts = run.facts or IndexFacts()
    return HistoryState(
        suite=_fingerprint_queries(suite, select_all_values(suite)),
        judgments=fingerprint({query.id: fingerprint_judgments(query) for query in suite.queries}),
        request=fingerprint_request(suite, run.request) or "",
        mapping=facts.mapping,
        settings=facts.settings,
        documents=facts.documents,
        content=fingerprint_content(suite, run),
    )


def _fingerprint_queries(suite: Suite, used: UsedValues) -> str:
    """A fingerprint of the queries of *suite*: their ids, texts, params, tags and weights."""
    queries = {}
    for query in suite.queries:
        queries[query.id] = [used.fingerprint(query), list(query.tags), query.weight]
    return fingerprint(queries)


def fingerprint_content(suite: Suite, run: Run) -> str | None:
    """A fingerprint that changes if documents are written; None if that is unknown, as in a fixture built anew."""
    if suite.fixture is not None or not run.states:
        return None
    state = run.states[-1]
    if state.uuids is None or state.writes is None:
        return None
    return fingerprint([sorted(state.uuids.values()), dict(state.writes)])


# The run that an entry was made of.


def restore_run(entry: HistoryEntry, queries: Iterable[str], *, depth: int) -> Run:
    """The responses of *entry* to *queries*, at most *depth* hits of each; scores are places, so the same hits tie."""
    responses = {query: truncate_ranking(restore_ranking(entry.queries[query]), depth) for query in queries}
    return Run(responses, Engine("history", entry.engine), entry.request, entry.index)


def restore_ranking(kept: HistoryQuery) -> Ranking:
    """The ranking of *kept*, as `replace_scores` makes it."""
    places = list(range(len(kept.ranking)))
    for first, last in kept.ties:
        places[first - 1 : last] = [first - 1] * (last - first + 1)
    hits = tuple(Hit(document, -place) for document, place in zip(kept.ranking, places, strict=True))
    tail = tuple(Hit(document, -places[-1]) for document in kept.tail if places)
    return Ranking(hits, tail=tail, closed=kept.closed, exact_scores=True)
