"""The entry of one request in a file of baselines: made from a run, added to the file, and read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, repeat

from harness.baseline.questions import UsedValues
from harness.errors import UnansweredBaseline, UnwritableBaseline
from harness.gate.stability import explain_changed_target
from harness.gate.ties import compute_bands, truncate_ranking
from harness.masking import Masker, fingerprint, if_small
from harness.metrics.score import measures_of, outcome_of
from harness.model import (
    Baseline,
    BaselineFile,
    BaselineQuery,
    Engine,
    Hit,
    IndexFacts,
    Json,
    Outcome,
    Query,
    Question,
    Ranking,
    Run,
    Score,
    Suite,
)
from harness.words import count, counted, grouped, listed

# Fingerprints and changes.


def request_fingerprint(suite: Suite, request: str) -> str | None:
    """The fingerprint of `request_json`; None where the suite has no such request."""
    found = request_json(suite, request)
    return None if found is None else fingerprint(found)


def request_json(suite: Suite, request: str) -> Json:
    """
    Body, index, URL parameters and HTTP request, as the suite has them; None where it has no such request.

    A variable replaces its value from the environment, which may be a secret, or differ between machines.
    """
    template = suite.requests.get(request)
    if template is None or template.masked is not None:
        return template and template.masked
    http = {name: value for name, value in asdict(template.http).items() if value} if template.http else None
    parameters = dict(template.url_params) or None
    parts = {"body": template.body, "index": template.index, "http": http, "url_params": parameters}
    return {name: part for name, part in parts.items() if part is not None}


def judgments_fingerprint(query: Query) -> str:
    """The fingerprint of the judgments of *query*."""
    return fingerprint({document: float(grade) for document, grade in query.judgments.items()})


def changed_judgments(baseline: Baseline, suite: Suite) -> list[str]:
    """The queries of *suite* that are judged differently than when *baseline* was saved."""
    kept = baseline.queries
    return [
        query.id
        for query in suite.queries
        if query.id in kept and kept[query.id].judgments != judgments_fingerprint(query)
    ]


def changed_questions(
    baseline: Baseline, suite: Suite, request: str, *, hooked: bool = False
) -> dict[str, tuple[Question, Question]]:
    """
    The queries of *suite* of which a value that *request* uses changed since *baseline* was saved.

    Args:
        baseline: The baseline of that request.
        suite: Today's suite.
        request: The name of the request.
        hooked: Whether hooks may have used any value of a query.

    Returns:
        By query: its question then and now.
    """
    masker = Masker(suite.variables)
    everything = UsedValues.of_all(suite)
    used = everything if hooked else UsedValues.of_request(suite, request)
    used_then = used if request_fingerprint(suite, request) == baseline.template else everything
    found = {}
    for query in suite.queries:
        kept = baseline.queries.get(query.id)
        if kept is None or kept.question == used.fingerprint(query):
            continue
        then, now = used_then.read_question(kept), used.question(query, masker)
        if then.is_another(now):
            found[query.id] = (then, now)
    return found


def changes_since(baseline: Baseline, suite: Suite, run: Run, others: Sequence[Query] | None = None) -> tuple[str, ...]:
    """
    What changed since *baseline* was saved, a sentence each.

    *others* are the queries of the suite that were not selected; None where they are unknown, and so which it lost.
    Facts on an index that the login could not read, then or now, are not reported as changed. The number of documents
    is that of the day on which each query was saved.
    """
    facts = run.facts or IndexFacts()
    since = f"since the baseline of {baseline.created}"
    changes = (*_of_suite(baseline, suite, run), *_of_index(baseline.index, facts))
    sentences = [f"{since} {change}" for change in changes]
    sentences += _of_documents(baseline, [query.id for query in suite.queries], facts)
    if str(run.engine) != baseline.engine:
        sentences.append(f"{since} the engine was {baseline.engine} and is {run.engine}")
    known = baseline.queries if others is None else {query.id for query in (*suite.queries, *others)}
    if lost := [query for query in baseline.queries if query not in known]:
        sentences.append(f"{since} the suite lost {counted(lost, 'query')}")
    return tuple(sentences)


def _of_suite(baseline: Baseline, suite: Suite, run: Run) -> Iterator[str]:
    if request_fingerprint(suite, run.request) != baseline.template:
        yield "the request changed"
    changed = list(changed_questions(baseline, suite, run.request, hooked=run.hooked))
    if changed:
        yield f"the text or params changed: {counted(changed, 'query')}"
    judged = changed_judgments(baseline, suite)
    if judged:
        yield f"the judgments changed: {counted(judged, 'query')}"
    weighed = [query.id for query in suite.queries if _differ(_weight(baseline, query.id), query.weight)]
    if weighed:
        yield f"the weights changed: {counted(weighed, 'query')}"
    if str(suite.gain) != baseline.gain:
        yield f"the gain changed: it was {baseline.gain} and is {suite.gain}"
    if suite.profile is not baseline.profile:
        yield f"the profile changed: it was {baseline.profile} and is {suite.profile}"


def _of_index(before: IndexFacts, now: IndexFacts) -> Iterator[str]:
    if _differ(before.mapping, now.mapping):
        yield "the mapping of the index changed"
    if _differ(before.settings, now.settings):
        yield "the settings of the index changed"


def saved_states(baseline: Baseline, queries: Iterable[str]) -> dict[tuple[str, int | None], list[str]]:
    """
    The days on which those of *queries* that are in *baseline* were saved, with the number of documents that the index
    had then, None if it is unknown; and the queries of each.
    """
    own = (baseline.created, baseline.index.documents)
    kept = ((query, baseline.queries[query]) for query in queries if query in baseline.queries)
    return grouped((own if one.created is None else (one.created, one.documents), query) for query, one in kept)


def _of_documents(baseline: Baseline, queries: Sequence[str], now: IndexFacts) -> Iterator[str]:
    """How the number of documents changed since each of *queries* was saved; the queries are named if that differs."""
    states = saved_states(baseline, queries) or {(baseline.created, baseline.index.documents): []}
    for (created, documents), saved in states.items():
        if _differ(documents, now.documents):
            of_queries = f" of {counted(saved, 'query')}" if len(states) > 1 else ""
            change = f"the index changed: it had {documents} documents and has {now.documents}"
            yield f"since the baseline of {created}{of_queries} {change}"


def _weight(baseline: Baseline, query: str) -> float | None:
    kept = baseline.queries.get(query)
    return None if kept is None else kept.weight


def _differ(before: object, now: object) -> bool:
    return before is not None and now is not None and before != now


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
    values = {(score.query, score.measure): score.value for score in scores}
    masker, used = Masker(suite.variables), UsedValues.of_run(suite, run)
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
            query.id: _keep(suite, query, ranking, values, used.question(query, masker))
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
    Refuse a run with queries that have no ranking and were not skipped, or on an index that changed meanwhile.

    *what* names the refused action, for the message.

    Raises:
        UnansweredBaseline: Names the queries, and why the first has no ranking.
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
    moving = explain_changed_target(run)
    if moving:
        raise UnansweredBaseline(f"{suite.path}: {what}: {moving}")


def _refuse_unscored(suite: Suite, scores: Sequence[Score]) -> None:
    """Refuse scores that could not be computed: they must not be kept as undefined, which depends on judgments only."""
    failed = next((score for score in scores if score.outcome is Outcome.ERROR), None)
    if failed is not None:
        sentence = f"{suite.path}: {REFUSAL}: {failed.measure} of query {failed.query!r}: {failed.reason}"
        raise UnansweredBaseline(Masker(suite.variables).mask(sentence))


def _keep(
    suite: Suite, query: Query, ranking: Ranking, values: Mapping[tuple[str, str], float | None], question: Question
) -> BaselineQuery:
    measures = measures_of(suite, query)
    scores = {measure.text: values.get((query.id, measure.text)) for measure in measures}
    undefined = bool(scores) and all(value is None for value in scores.values())
    return BaselineQuery(
        outcome=Outcome.UNDEFINED if undefined else outcome_of(query, ranking)[0],
        question=question.fingerprint,
        text=question.text,
        params=question.params,
        judgments=judgments_fingerprint(query),
        ranking=tuple((hit.id, hit.score) for hit in ranking.hits),
        scores=scores,
        bands=compute_bands(suite, query, ranking, measures),
        weight=query.weight,
        tail=tuple(hit.id for hit in ranking.tail),
        closed=ranking.closed,
        sort=() if all(hit.sort is None for hit in ranking.hits) else tuple(hit.sort for hit in ranking.hits),
        exact_scores=ranking.exact_scores,
    )


def as_run(baseline: Baseline, request: str, *, depth: int) -> Run:
    """The run that *baseline* was made from, at most *depth* hits of each query, to be scored like any other."""
    responses = {query: truncate_ranking(_ranking(kept), depth) for query, kept in baseline.queries.items()}
    return Run(responses, Engine("baseline", baseline.engine), request, facts=baseline.index)


def _ranking(kept: BaselineQuery) -> Ranking:
    sorts = chain(kept.sort, repeat(None))
    hits = tuple(Hit(document, score, sort=sort) for (document, score), sort in zip(kept.ranking, sorts, strict=False))
    tail = tuple(replace(hits[-1], id=document) for document in kept.tail if hits)
    return Ranking(hits, tail=tail, closed=kept.closed, exact_scores=kept.exact_scores)


def with_entry(
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
        known = {query.id for query in suite.queries}
        staying = {
            query: kept
            for query, kept in old.queries.items()
            if query not in entry.queries and (partial or query in known)
        }
        _refuse_mixture(suite.path, old, entry, list(staying))
        staying = {query: _with_state(kept, old, entry) for query, kept in staying.items()}
        entry = replace(entry, queries={**staying, **entry.queries})
    requests[request] = entry
    return BaselineFile(suite=suite.name, requests=requests)


def _with_state(kept: BaselineQuery, old: Baseline, new: Baseline) -> BaselineQuery:
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
        ("mapping of the index", old.index.mapping, new.index.mapping),
        ("settings of the index", old.index.settings, new.index.settings),
    )
    changed = [name for name, before, now in facts if before != now]
    if staying and changed:
        raise UnwritableBaseline(
            f"{path}: a baseline of a part of the queries is not put beside {count(len(staying), 'query')} "
            f"({listed(staying)}) that were kept under another {', '.join(changed)}; save the whole suite"
        )
