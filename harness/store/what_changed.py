"""
What a request asked and which target it searched, then and now. Pure.

Of each query only the values that the request uses decide what was sent. So a baseline of a lexical request stays valid
where `vectors:`, a param, or anything else that another request uses, is added or changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import unified_diff

from harness.masking import (
    Masker,
    fingerprint,
    is_vector,
    keep_small,
    shorten_vector,
    shorten_vectors,
)
from harness.metrics.quotes import list_unknown_quotes
from harness.model.kept import TEXT_PLACEHOLDER, Baseline, KeptRun, Question, TextDiff
from harness.model.run import FoundQuotes, IndexFacts, Run
from harness.model.suite import Json, Query, Suite
from harness.words import counted


def list_changed_facts(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """
    The names of facts that are not as *before*; one that is not known, then or now, does not count.

    >>> list_changed_facts({"mapping": "f1", "documents": 5}, {"mapping": None, "documents": 6})
    ['documents']
    """
    changed = []
    for name, value in before.items():
        value_now = now.get(name)
        if value is not None and value_now is not None and value != value_now:
            changed.append(name)
    return changed


def has_index_changed(before: IndexFacts | None, now: IndexFacts | None) -> bool:
    """
    Whether the mapping, the settings or the number of documents is not as *before*, as far as they are known.

    >>> has_index_changed(IndexFacts(settings="f1", documents=5), IndexFacts(settings="f2"))
    True
    >>> has_index_changed(IndexFacts(settings="f1", documents=5), IndexFacts(settings="f1"))
    False
    """
    if before is None or now is None:
        return False
    facts_before, facts_now = (
        {"mapping": facts.mapping, "settings": facts.settings, "documents": facts.documents} for facts in (before, now)
    )
    return bool(list_changed_facts(facts_before, facts_now))


# What was asked of a query.


@dataclass(frozen=True, slots=True)
class UsedValues:
    """The values of a query that a request uses, by the *names* of its placeholders; None for all that a query has."""

    names: frozenset[str] | None
    vectors: frozenset[str] = frozenset()
    """The names of params that are vectors from files, of any length."""

    def fingerprint(self, query: Query) -> str:
        """
        The name and a fingerprint of each value of *query* that is used. Logins in a value do not count.

        >>> UsedValues(frozenset({"near"})).fingerprint(Query("q", "tent", {"near": [0.5, 1], "brand": "Acme"}))
        'near:e3d6ebbc8bdf12f7'
        """
        values = _read_masked_values(query)
        fingerprints = {}
        for name, value in self._select(values["text"], values["params"]).items():
            # A value with a variable differs where the variable has another value. Of that a fingerprint is known.
            text = json.dumps(value)
            digests = values.get("values", {})
            variables = {variable: digests[variable] for variable in digests if f"${{{variable}}}" in text}
            fingerprints[name] = fingerprint([value, variables]) if variables else fingerprint(value)
        return " ".join(f"{name}:{fingerprints[name]}" for name in sorted(fingerprints))

    def make_question(self, query: Query, masker: Masker) -> Question:
        """The text of *query* and the params that are used, with secrets hidden by *masker*."""
        values = _read_masked_values(query)
        params = self._select(values["text"], values["params"])
        params.pop(TEXT_PLACEHOLDER, None)
        return Question(self.fingerprint(query), masker.mask(values["text"]), keep_small(masker.mask_json(params)))

    def _select(self, text: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """The used ones of *text* and *params*, with vectors shortened."""
        values = {}
        for name, value in {**params, TEXT_PLACEHOLDER: text}.items():
            if self.names is not None and name not in self.names:
                continue
            is_vector = name in self.vectors and isinstance(value, list)
            values[name] = shorten_vector(value) if is_vector else shorten_vectors(value)
        return values


def _read_masked_values(query: Query) -> Json:
    """The text and the params as they are written, where the environment has values of their variables."""
    return {"text": query.text, "params": query.params} if query.masked is None else query.masked


def select_request_values(suite: Suite, request: str, *, hooked: bool = False) -> UsedValues:
    """What the request of that name uses; all values if *suite* has none, or if hooks, which see all, may change it."""
    template = suite.requests.get(request)
    if template is None or hooked:
        return select_all_values(suite)
    return UsedValues(template.placeholders, frozenset(suite.vectors))


def select_all_values(suite: Suite) -> UsedValues:
    """All values of a query."""
    return UsedValues(None, frozenset(suite.vectors))


def make_questions(suite: Suite, request: str, *, hooked: bool = False) -> dict[str, Question]:
    """What *request* asks of each query of *suite*, which hooks may change."""
    masker = Masker(suite.variables)
    used = select_request_values(suite, request, hooked=hooked)
    return {query.id: used.make_question(query, masker) for query in suite.queries}


def find_changed_questions(
    kept_run: KeptRun, questions: Mapping[str, Question]
) -> dict[str, tuple[Question, Question]]:
    """The queries of *questions*, those of today, that *kept_run* has another of: the question then and now."""
    changed = {}
    for query, now in questions.items():
        kept = kept_run.queries.get(query)
        if kept is None or kept.question == now.fingerprint:
            continue
        if kept.asked.is_another(now):
            changed[query] = (kept.asked, now)
    return changed


def find_unsearched_queries(kept_run: KeptRun, suite: Suite) -> list[str]:
    """The queries whose kept hits were not searched for a quote of today: no text is kept in which it could be."""
    unsearched = []
    for query in suite.queries:
        kept = kept_run.queries.get(query.id)
        if kept is not None and query.quotes and list_unknown_quotes(query, kept.found_quotes or FoundQuotes()):
            unsearched.append(query.id)
    return unsearched


def fingerprint_judgments(query: Query) -> str:
    """The fingerprint of the judgments of *query*: of documents, and of quotes if it has any."""
    grades = {document: float(grade) for document, grade in query.judgments.items()}
    if not query.quotes:
        return fingerprint(grades)
    quotes = {quote.key: [float(quote.grade), quote.document] for quote in query.quotes}
    return fingerprint({"documents": grades, "quotes": quotes})


# Requests.


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


def match_renamed(before: Mapping[str, str], now: Mapping[str, str], *, is_only: bool) -> dict[str, str]:
    """
    The name of today of each request that has another name.

    Args:
        before: The fingerprint of each request that the suite has no longer, by its name.
        now: The fingerprint of each request that may be one of these, by its name.
        is_only: Whether there was one request, and there is one now: then it is the same, however it was changed.

    Returns:
        Nothing where several are alike.

    >>> match_renamed({"request": "f1"}, {"current": "f1", "candidate": "f2"}, is_only=False)
    {'request': 'current'}
    >>> match_renamed({"request": "f1"}, {"current": "f1", "candidate": "f1"}, is_only=False)
    {}
    """
    if is_only and len(before) == len(now) == 1:
        return {next(iter(before)): next(iter(now))}
    occurrences_before, occurrences_now = Counter(before.values()), Counter(now.values())
    names = {digest: name for name, digest in now.items()}
    renamed = {}
    for name, digest in before.items():
        is_known = bool(digest) and occurrences_before[digest] == occurrences_now[digest] == 1
        if is_known:
            renamed[name] = names[digest]
    return renamed


# Changes since a baseline.


def describe_changes_since(
    baseline: Baseline,
    suite: Suite,
    run: Run,
    changed_questions: Iterable[str],
    others: Sequence[Query] | None = None,
) -> tuple[str, ...]:
    """
    What changed since *baseline* was saved, a sentence each.

    Facts on an index that the login could not read, then or now, are not reported as changed. The number of documents
    is that of the day on which each query was saved.

    Args:
        baseline: The kept run.
        suite: Today's suite, with the queries that were selected.
        run: Today's run.
        changed_questions: The queries that `find_changed_questions` found.
        others: The queries of the suite that were not selected; None where they are unknown, and so which it lost.
    """
    facts, index = run.facts or IndexFacts(), baseline.index
    since = f"since the baseline of {baseline.created}"
    sentences = [f"{since} {change}" for change in _list_changes_of_suite(baseline, suite, run, changed_questions)]
    before = {"mapping": index.mapping, "settings": index.settings}
    changed_facts = list_changed_facts(before, {"mapping": facts.mapping, "settings": facts.settings})
    sentences += [f"{since} the {name} of the index changed" for name in changed_facts]
    sentences += _describe_document_counts(baseline, [query.id for query in suite.queries], facts)
    if str(run.engine) != baseline.engine:
        sentences.append(f"{since} the engine was {baseline.engine} and is {run.engine}")
    if others is not None:
        queries = {query.id for query in (*suite.queries, *others)}
        lost = [query for query in baseline.queries if query not in queries]
        if lost:
            sentences.append(f"{since} the suite lost {counted(lost, 'query')}")
    return tuple(sentences)


def _list_changes_of_suite(
    baseline: Baseline, suite: Suite, run: Run, changed_questions: Iterable[str]
) -> Iterator[str]:
    if fingerprint_request(suite, run.request) != baseline.template:
        yield "the request changed"
    cluster = name_cluster(suite, run.request)
    if baseline.cluster and cluster and cluster != baseline.cluster:
        yield f"the cluster of the target changed: it was {baseline.cluster} and is {cluster}"
    rejudged, reweighted = [], []
    for query in suite.queries:
        kept = baseline.queries.get(query.id)
        if kept is not None and kept.judgments != fingerprint_judgments(query):
            rejudged.append(query.id)
        if kept is not None and kept.weight != query.weight:
            reweighted.append(query.id)
    of_queries = {
        "the text or params": list(changed_questions),
        "the judgments": rejudged,
        # No text is kept in which a later quote could be looked for.
        "the quotes, for which kept hits are not searched again,": find_unsearched_queries(baseline, suite),
        "the weights": reweighted,
    }
    for name, queries in of_queries.items():
        if queries:
            yield f"{name} changed: {counted(queries, 'query')}"
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
        if list_changed_facts({"documents": documents}, {"documents": now.documents}):
            of_queries = f" of {counted(queries_of_state, 'query')}" if len(states) > 1 else ""
            change = f"the index changed: it had {documents} documents and has {now.documents}"
            yield f"since the baseline of {created}{of_queries} {change}"


def name_cluster(suite: Suite, request: str) -> str:
    """
    The name of the cluster that *suite* has for *request*, masked; empty for a URL.

    One name may have another URL on a developer's machine than in CI, and a URL in the suite may have a port that is
    another one each time: these say nothing of what is compared.
    """
    name = suite.find_target(request).cluster
    return "" if "://" in name else Masker(suite.variables).mask(name)


# Texts.


DIFF_LINES = 40
"""The most lines of a difference between two texts that are kept."""


def compare_texts(baseline: Baseline, suite: Suite, run: Run) -> tuple[TextDiff, ...]:
    """
    How the request, the mapping and the settings changed since *baseline*, as far as both texts are known.

    Secrets are masked. A change within a masked part, or in a text too large to be kept, is not shown.
    """
    masker, facts = Masker(suite.variables), run.facts or IndexFacts()
    before = baseline.index
    pairs: dict[str, tuple[Json, Json]] = {}
    if fingerprint_request(suite, run.request) != baseline.template:
        pairs["request"] = (baseline.request, keep_small(build_request_json(suite, run.request)))
    if before.mapping != facts.mapping:
        pairs["mapping"] = (before.mapping_json, facts.mapping_json)
    if before.settings != facts.settings:
        pairs["settings"] = (before.settings_json, facts.settings_json)
    diffs = []
    for name, (text_before, text_now) in pairs.items():
        diff = diff_texts(name, text_before, masker.mask_json(text_now))
        if diff is not None:
            diffs.append(diff)
    return tuple(diffs)


def diff_texts(name: str, before: Json, now: Json) -> TextDiff | None:
    """How a text called *name* differs; None where it does not, or where one of the two is not known."""
    if before is None or now is None:
        return None
    lines = list(unified_diff(_format_lines(before), _format_lines(now), lineterm=""))
    # The first two lines name the files that are compared, and there are none.
    lines = lines[2:]
    if not lines:
        return None
    return TextDiff(name, tuple(lines[:DIFF_LINES]), max(0, len(lines) - DIFF_LINES))


def _format_lines(value: Json) -> list[str]:
    return json.dumps(shorten_large(value), indent=2, sort_keys=True, ensure_ascii=False).splitlines()


_LONGEST_LIST = 100
"""The most members of a list that are shown one by one."""

_LONGEST_TEXT = 200
"""The most characters of a text that is shown whole."""


def shorten_large(value: Json) -> Json:
    """
    *value* with long texts and lists of many numbers or texts cut; a fingerprint shows whether the whole changed.

    >>> shorten_large({"k": 5, "ids": ["a"] * 250})
    {'k': 5, 'ids': ['a', 'a', 'a', '… 250 in all (fingerprint 4df0c8abff7c7b25)']}
    """
    if isinstance(value, Mapping):
        return {key: shorten_large(member) for key, member in value.items()}
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}… {len(value):,} characters in all (fingerprint {fingerprint(value)})"
    if not isinstance(value, list):
        return value
    if is_vector(value):
        return shorten_vectors(value)
    if len(value) <= _LONGEST_LIST or any(isinstance(member, Mapping | list) for member in value):
        return [shorten_large(member) for member in value]
    return [*map(shorten_large, value[:3]), f"… {len(value):,} in all (fingerprint {fingerprint(value)})"]
