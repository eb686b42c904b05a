"""The entry of one request in a file of baselines: made from a run, added to the file, and read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from harness.baseline.questions import read_question, select_all_values, select_request_values, select_run_values
from harness.errors import UnansweredBaseline, UnwritableBaseline
from harness.gate.stability import explain_changed_target
from harness.gate.ties import compute_bands, truncate_ranking
from harness.masking import Masker, fingerprint, keep_small
from harness.metrics.score import measures_of, outcome_of
from harness.model.baseline import Baseline, BaselineFile, BaselineQuery, Question
from harness.model.run import Engine, Hit, IndexFacts, Ranking, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Json, Query, Suite
from harness.words import count, counted, listed

# Fingerprints and changes.


def fingerprint_request(suite: Suite, request: str) -> str | None:
    """The fingerprint of `build_request_json`; None where the suite has no such request."""
    parts = build_request_json(suite, request)
    return None if parts is None else fingerprint(parts)


def build_request_json(suite: Suite, request: str) -> Json:
    """
    Body, index, URL parameters and HTTP request, as the suite has them; None where it has no such request.

    A variable replaces its value from the environment, which may be a secret, or differ between machines.
    """
    template = suite.requests.get(request)
    if template is None:
        return None
    if template.masked is not None:
        return _leave_out_what_is_shown(template.masked)
    # A part that the request does not have is left out: fingerprints stay as they are when a later version adds one.
    parts: dict[str, Json] = {}
    if template.body is not None:
        parts["body"] = template.body
    if template.index is not None:
        parts["index"] = template.index
    if template.http is not None:
        parts["http"] = {name: value for name, value in asdict(template.http).items() if value}
    if template.url_params:
        parts["url_params"] = dict(template.url_params)
    return _leave_out_what_is_shown(parts)


CHANGES_NO_RANKING = frozenset(
    {
        "fields", "documents", "max_size", "preset_paths", "total_exact", "took", "partial", "partial_optional",
        "error", "first_page",
    }
)  # fmt: skip
"""
Parts of an HTTP request: what is shown of hits, how documents are looked up, how many hits a response has at most, who
gave the paths, what a response says of itself, and which parameters must not skip hits.
"""


def _leave_out_what_is_shown(parts: Json) -> Json:
    """*parts* of a request without `CHANGES_NO_RANKING`."""
    http = parts.get("http") if isinstance(parts, Mapping) else None
    if not isinstance(http, Mapping):
        return parts
    return {**parts, "http": {name: value for name, value in http.items() if name not in CHANGES_NO_RANKING}}


def fingerprint_judgments(query: Query) -> str:
    """The fingerprint of the judgments of *query*."""
    return fingerprint({document: float(grade) for document, grade in query.judgments.items()})


def list_rejudged_queries(baseline: Baseline, suite: Suite) -> list[str]:
    """The queries of *suite* that are judged differently than when *baseline* was saved."""
    rejudged = []
    for query in suite.queries:
        kept = baseline.queries.get(query.id)
        if kept is not None and kept.judgments != fingerprint_judgments(query):
            rejudged.append(query.id)
    return rejudged


def find_changed_questions(
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
    used = select_all_values(suite) if hooked else select_request_values(suite, request)
    changed = {}
    for query in suite.queries:
        kept = baseline.queries.get(query.id)
        if kept is None or kept.question == used.fingerprint(query):
            continue
        then, now = read_question(kept), used.make_question(query, masker)
        if then.is_another(now):
            changed[query.id] = (then, now)
    return changed


def describe_changes(
    baseline: Baseline, suite: Suite, run: Run, others: Sequence[Query] | None = None
) -> tuple[str, ...]:
    """
    What changed since *baseline* was saved, a sentence each.

    *others* are the queries of the suite that were not selected; None where they are unknown, and so which it lost.
    Facts on an index that the login could not read, then or now, are not reported as changed. The number of documents
    is that of the day on which each query was saved.
    """
    facts = run.facts or IndexFacts()
    since = f"since the baseline of {baseline.created}"
    sentences = [f"{since} {change}" for change in _list_changes_of_suite(baseline, suite, run)]
    if _differ(baseline.index.mapping, facts.mapping):
        sentences.append(f"{since} the mapping of the index changed")
    if _differ(baseline.index.settings, facts.settings):
        sentences.append(f"{since} the settings of the index changed")
    sentences += _describe_document_counts(baseline, [query.id for query in suite.queries], facts)
    if str(run.engine) != baseline.engine:
        sentences.append(f"{since} the engine was {baseline.engine} and is {run.engine}")
    if others is not None:
        queries = {query.id for query in (*suite.queries, *others)}
        lost = [query for query in baseline.queries if query not in queries]
        if lost:
            sentences.append(f"{since} the suite lost {counted(lost, 'query')}")
    return tuple(sentences)


def _list_changes_of_suite(baseline: Baseline, suite: Suite, run: Run) -> Iterator[str]:
    if fingerprint_request(suite, run.request) != baseline.template:
        yield "the request changed"
    cluster = _name_cluster(suite, run.request)
    if baseline.cluster and cluster and cluster != baseline.cluster:
        yield f"the cluster of the target changed: it was {baseline.cluster} and is {cluster}"
    changed = list(find_changed_questions(baseline, suite, run.request, hooked=run.hooked))
    if changed:
        yield f"the text or params changed: {counted(changed, 'query')}"
    rejudged = list_rejudged_queries(baseline, suite)
    if rejudged:
        yield f"the judgments changed: {counted(rejudged, 'query')}"
    reweighted = []
    for query in suite.queries:
        kept = baseline.queries.get(query.id)
        if kept is not None and kept.weight != query.weight:
            reweighted.append(query.id)
    if reweighted:
        yield f"the weights changed: {counted(reweighted, 'query')}"
    if str(suite.gain) != baseline.gain:
        yield f"the gain changed: it was {baseline.gain} and is {suite.gain}"
    if suite.profile is not baseline.profile:
        yield f"the profile changed: it was {baseline.profile} and is {suite.profile}"


def group_by_state(baseline: Baseline, queries: Iterable[str]) -> dict[tuple[str, int | None], list[str]]:
    """
    The days on which those of *queries* that are in *baseline* were saved, with the number of documents that the index
    had then, None if it is unknown; and the queries of each.
    """
    states: dict[tuple[str, int | None], list[str]] = {}
    for query in queries:
        kept = baseline.queries.get(query)
        if kept is None:
            continue
        state = (baseline.created, baseline.index.documents)
        # A query that a later save left out has a state of its own.
        if kept.created is not None:
            state = (kept.created, kept.documents)
        states.setdefault(state, []).append(query)
    return states


def _describe_document_counts(baseline: Baseline, queries: Sequence[str], now: IndexFacts) -> Iterator[str]:
    """How the number of documents changed since each of *queries* was saved; the queries are named if that differs."""
    states = group_by_state(baseline, queries)
    # Where none of the queries was saved, the index is that of the baseline.
    if not states:
        states = {(baseline.created, baseline.index.documents): []}
    for (created, documents), queries_of_state in states.items():
        if _differ(documents, now.documents):
            of_queries = f" of {counted(queries_of_state, 'query')}" if len(states) > 1 else ""
            change = f"the index changed: it had {documents} documents and has {now.documents}"
            yield f"since the baseline of {created}{of_queries} {change}"


def _differ(before: object, now: object) -> bool:
    """Whether a fact changed; None is one that is not known."""
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
    masker, used = Masker(suite.variables), select_run_values(suite, run)
    queries = {}
    for query in suite.queries:
        ranking = run.responses.get(query.id)
        if isinstance(ranking, Ranking):
            queries[query.id] = _keep_query(suite, query, ranking, values, used.make_question(query, masker))
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
        cluster=_name_cluster(suite, run.request),
    )


def _name_cluster(suite: Suite, request: str) -> str:
    """
    The name of the cluster that *suite* has for *request*, masked; empty for a URL.

    One name may have another URL on a developer's machine than in CI, and a URL in the suite may have a port that is
    another one each time: these say nothing of what is compared.
    """
    name = suite.find_target(request).cluster
    return "" if "://" in name else Masker(suite.variables).mask(name)


def refuse_unanswered(suite: Suite, run: Run, what: str) -> None:
    """
    Refuse a run with queries that have no ranking and were not skipped, or on an index that changed meanwhile.

    *what* names the refused action, for the message.

    Raises:
        UnansweredBaseline: Names the queries, and why the first has no ranking.
    """
    unanswered = []
    for query in suite.queries:
        response = run.responses.get(query.id)
        outcome, _ = outcome_of(query, response)
        # A query that was skipped has no response.
        if not isinstance(response, Ranking) and outcome is not Outcome.SKIPPED:
            unanswered.append(query)
    if unanswered:
        names = listed([query.id for query in unanswered])
        _, reason = outcome_of(unanswered[0], run.responses.get(unanswered[0].id))
        sentence = f"{suite.path}: {what}: {count(len(unanswered), 'query')} had no answer ({names}): {reason}"
        raise UnansweredBaseline(Masker(suite.variables).mask(sentence))
    moving = explain_changed_target(run)
    if moving:
        raise UnansweredBaseline(f"{suite.path}: {what}: {moving}")


def _refuse_unscored(suite: Suite, scores: Sequence[Score]) -> None:
    """Refuse scores that could not be computed: they must not be kept as undefined, which depends on judgments only."""
    for score in scores:
        if score.outcome is Outcome.ERROR:
            sentence = f"{suite.path}: {REFUSAL}: {score.measure} of query {score.query!r}: {score.reason}"
            raise UnansweredBaseline(Masker(suite.variables).mask(sentence))


def _keep_query(
    suite: Suite, query: Query, ranking: Ranking, values: Mapping[tuple[str, str], float | None], question: Question
) -> BaselineQuery:
    measures = measures_of(suite, query)
    scores = {measure.text: values.get((query.id, measure.text)) for measure in measures}
    outcome, _ = outcome_of(query, ranking)
    if scores and all(value is None for value in scores.values()):
        outcome = Outcome.UNDEFINED
    sort: tuple[tuple[Json, ...] | None, ...] = ()
    if any(hit.sort is not None for hit in ranking.hits):
        sort = tuple(hit.sort for hit in ranking.hits)
    return BaselineQuery(
        outcome=outcome,
        question=question.fingerprint,
        text=question.text,
        params=question.params,
        judgments=fingerprint_judgments(query),
        ranking=tuple((hit.id, hit.score) for hit in ranking.hits),
        scores=scores,
        bands=compute_bands(suite, query, ranking, measures),
        weight=query.weight,
        tail=tuple(hit.id for hit in ranking.tail),
        closed=ranking.closed,
        sort=sort,
        exact_scores=ranking.exact_scores,
        short=len(ranking.hits) < suite.depth,
    )


def restore_run(baseline: Baseline, request: str, *, depth: int) -> Run:
    """The run that *baseline* was made from, at most *depth* hits of each query, to be scored like any other."""
    responses = {query: truncate_ranking(_restore_ranking(kept), depth) for query, kept in baseline.queries.items()}
    return Run(responses, Engine("baseline", baseline.engine), request, facts=baseline.index)


def _restore_ranking(kept: BaselineQuery) -> Ranking:
    hits = []
    for place, (document, score) in enumerate(kept.ranking):
        # Where the engine sorted by score no sort values are kept.
        sort = kept.sort[place] if place < len(kept.sort) else None
        hits.append(Hit(document, score, sort=sort))
    # Documents of the tail tie with the last hit, and so have its score and its sort values.
    tail = tuple(replace(hits[-1], id=document) for document in kept.tail if hits)
    return Ranking(tuple(hits), tail=tail, closed=kept.closed, exact_scores=kept.exact_scores)


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


def _set_state(kept: BaselineQuery, old: Baseline, new: Baseline) -> BaselineQuery:
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
