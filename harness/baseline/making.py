"""A run -> the entry that is kept of it, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.baseline.changes import judgments_fingerprint, request_fingerprint, request_json
from harness.errors import BaselineError, UnansweredBaseline
from harness.gate.scope import count, listed
from harness.gate.ties import band_of, cut, leaves_ties
from harness.masking import Masker, if_small, question_of
from harness.metrics.run_scores import measures_of, outcome_of
from harness.model import (
    Baseline,
    BaselineFile,
    BaselineQuery,
    Engine,
    Hit,
    IndexFacts,
    Measure,
    Outcome,
    Query,
    Ranking,
    Run,
    Score,
    Suite,
)

__all__ = ["as_run", "make_baseline", "refuse_unanswered", "with_entry"]


REFUSAL = "no baseline is saved from a run with errors"


def make_baseline(suite: Suite, run: Run, scores: Sequence[Score], *, created: str, harness: str) -> Baseline:
    """
    What is kept of a run. Its titles are not, for they may be long and change without a change of the ranking.

    Args:
        suite: With the queries that were selected.
        run: Their responses, with what is known of the index.
        scores: Of the run.
        created: The day, as an ISO date.
        harness: The version that makes it.

    Raises:
        UnansweredBaseline: A query that was not skipped has no ranking, or a measure no number for one.
        BaselineError: No query ran.
    """
    refuse_unanswered(suite, run, REFUSAL)
    _refuse_unscored(suite, scores)
    if not run.responses:
        raise BaselineError(f"{suite.path}: no baseline is saved from a run of no query")
    values = {(score.query, score.measure): score.value for score in scores}
    has_ties = leaves_ties(suite.requests.get(run.request))
    masker = Masker(suite.variables)
    return Baseline(
        created=created,
        harness=harness,
        engine=str(run.engine),
        gain=str(suite.gain),
        profile=suite.profile,
        depth=suite.depth,
        template=request_fingerprint(suite, run.request) or "",
        index=_masked(run.facts or IndexFacts(missing=("mapping", "settings", "documents")), masker),
        queries={
            query.id: _keep(suite, query, ranking, values, masker, has_ties=has_ties)
            for query in suite.queries
            if isinstance(ranking := run.responses.get(query.id), Ranking)
        },
        request=masker.mask_json(if_small(request_json(suite, run.request))),
    )


def _masked(facts: IndexFacts, masker: Masker) -> IndexFacts:
    mapping, settings = masker.mask_json(facts.mapping_json), masker.mask_json(facts.settings_json)
    return replace(facts, mapping_json=mapping, settings_json=settings)


def refuse_unanswered(suite: Suite, run: Run, what: str) -> None:
    """
    Refuse a run with queries that have no ranking and were not skipped; *what* says what is not done with it.

    Raises:
        UnansweredBaseline: Names them, and why the first has no answer.
    """
    unanswered = [
        query
        for query in suite.queries
        if not isinstance(run.responses.get(query.id), Ranking)
        and (query.id in run.responses or outcome_of(query, None)[0] is not Outcome.SKIPPED)
    ]
    if unanswered:
        names = listed([query.id for query in unanswered])
        reason = outcome_of(unanswered[0], run.responses.get(unanswered[0].id))[1]
        sentence = f"{suite.path}: {what}: {count(len(unanswered), 'query')} had no answer ({names}): {reason}"
        raise UnansweredBaseline(Masker(suite.variables).mask(sentence))


def _refuse_unscored(suite: Suite, scores: Sequence[Score]) -> None:
    """What no number could be computed for is not kept as undefined, which is for the judgments to say."""
    failed = next((score for score in scores if score.outcome is Outcome.ERROR), None)
    if failed is not None:
        sentence = f"{suite.path}: {REFUSAL}: {failed.measure} of query {failed.query!r}: {failed.reason}"
        raise UnansweredBaseline(Masker(suite.variables).mask(sentence))


def _keep(
    suite: Suite,
    query: Query,
    ranking: Ranking,
    values: Mapping[tuple[str, str], float | None],
    masker: Masker,
    *,
    has_ties: bool,
) -> BaselineQuery:
    measures = measures_of(suite, query)
    scores = {measure.text: values.get((query.id, measure.text)) for measure in measures}
    undefined = bool(scores) and all(value is None for value in scores.values())
    asked = question_of(query, masker)
    return BaselineQuery(
        outcome=Outcome.UNDEFINED if undefined else outcome_of(query, ranking)[0],
        question=asked.fingerprint,
        text=asked.text,
        params=asked.params,
        judgments=judgments_fingerprint(query),
        ranking=tuple((hit.id, hit.score) for hit in ranking.hits),
        scores=scores,
        bands=_bands(suite, query, ranking, measures) if has_ties else {},
        weight=query.weight,
        tail=tuple(hit.id for hit in ranking.tail),
        closed=ranking.closed,
    )


def _bands(suite: Suite, query: Query, ranking: Ranking, measures: Sequence[Measure]) -> dict[str, tuple[float, float]]:
    bands = {measure.text: band_of(suite, query, measure, ranking) for measure in measures}
    return {
        measure: (band.least, band.greatest)
        for measure, band in bands.items()
        if band is not None and band.least < band.greatest
    }


def as_run(baseline: Baseline, request: str, *, depth: int) -> Run:
    """The run that *baseline* was made from, at most *depth* hits of each query, to be scored like any other."""
    responses = {query: cut(_ranking(kept), depth) for query, kept in baseline.queries.items()}
    return Run(responses, Engine("baseline", baseline.engine), request, facts=baseline.index)


def _ranking(kept: BaselineQuery) -> Ranking:
    hits = tuple(Hit(document, score) for document, score in kept.ranking)
    tail = tuple(Hit(document, hits[-1].score) for document in kept.tail if hits)
    return Ranking(hits, tail=tail, closed=kept.closed)


def with_entry(
    file: BaselineFile | None, suite: Suite, request: str, entry: Baseline, *, partial: bool
) -> BaselineFile:
    """
    *file* with *entry* in the place of the request's old one; other requests stay as they are.

    Queries that the run did not touch stay too: all of them where it was *partial*, else those that the suite still
    has, which were skipped.

    Args:
        file: The suite's baselines so far.
        suite: The whole suite, with the queries that were not selected too.
        request: Whose entry it is.
        entry: Of the queries that ran.
        partial: Whether only a part of the suite was asked for.

    Raises:
        BaselineError: Queries would stay that were kept under another request, depth, gain, profile, engine or index,
            so that the entry would claim for them what was never so.
    """
    requests = dict(file.requests) if file else {}
    old = requests.get(request)
    if old is not None:
        known = {query.id for query in suite.queries}
        staying = {
            query: kept
            for query, kept in old.queries.items()
            if query not in entry.queries and (partial or query in known)
        }
        _refuse_mixture(suite.path, old, entry, list(staying))
        entry = replace(entry, queries={**staying, **entry.queries})
    requests[request] = entry
    return BaselineFile(suite=suite.name, requests=requests)


def _refuse_mixture(path: str, old: Baseline, new: Baseline, staying: Sequence[str]) -> None:
    facts = (
        ("request", old.template, new.template),
        ("depth", old.depth, new.depth),
        ("gain", old.gain, new.gain),
        ("profile", old.profile, new.profile),
        ("engine", old.engine, new.engine),
        ("mapping of the index", old.index.mapping, new.index.mapping),
        ("settings of the index", old.index.settings, new.index.settings),
    )
    changed = [name for name, before, now in facts if before != now]
    if staying and changed:
        raise BaselineError(
            f"{path}: a baseline of a part of the queries is not put beside {count(len(staying), 'query')} "
            f"({listed(staying)}) that were kept under another {', '.join(changed)}; save the whole suite"
        )
