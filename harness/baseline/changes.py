"""Fingerprints of what a baseline was made from, and sentences on those that are no longer the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from harness.fingerprints import fingerprint
from harness.gate.sentences import count, listed
from harness.masking import Masker
from harness.model import Baseline, IndexFacts, Json, Query, Run, Suite

__all__ = [
    "changed_judgments",
    "changes_since",
    "judgments_fingerprint",
    "question_fingerprint",
    "request_fingerprint",
    "request_json",
]


def request_fingerprint(suite: Suite, request: str) -> str | None:
    """
    Changes when the body, the index or the HTTP request does; None where the suite has no such request.

    A value that came from the environment stands as its variable, for it may be a secret, or differ from one machine to
    another.
    """
    found = request_json(suite, request)
    return None if found is None else fingerprint(found)


def request_json(suite: Suite, request: str) -> Json:
    """The request as it stands in the suite, its body, index and HTTP request; None where the suite has no such."""
    template = suite.requests.get(request)
    if template is None:
        return None
    http = {name: value for name, value in asdict(template.http).items() if value} if template.http else None
    parts = {"body": template.body, "index": template.index, "http": http}
    return Masker(suite.variables).mask_json({name: part for name, part in parts.items() if part is not None})


def question_fingerprint(query: Query, variables: Mapping[str, str]) -> str:
    """
    Changes when the text of *query*, or one of its own params, does.

    A value of *variables* stands as its name, as in `request_fingerprint`.
    """
    return fingerprint(Masker(variables).mask_json({"text": query.text, "params": query.params}))


def judgments_fingerprint(query: Query) -> str:
    """Changes when a document of *query* is judged otherwise, newly, or no more."""
    return fingerprint({document: float(grade) for document, grade in query.judgments.items()})


def changed_judgments(baseline: Baseline, suite: Suite) -> list[str]:
    """The queries of *suite* that are judged otherwise than when *baseline* was saved."""
    kept = baseline.queries
    return [
        query.id
        for query in suite.queries
        if query.id in kept and kept[query.id].judgments != judgments_fingerprint(query)
    ]


def changes_since(baseline: Baseline, suite: Suite, run: Run) -> tuple[str, ...]:
    """
    What is no longer as it was when *baseline* was saved, a sentence each.

    What the login may not read of an index, then or now, is not said to have changed.
    """
    found = [*_of_suite(baseline, suite, run.request), *_of_index(baseline.index, run.facts or IndexFacts())]
    if str(run.engine) != baseline.engine:
        found.append(f"the engine was {baseline.engine} and is {run.engine}")
    return tuple(f"since the baseline of {baseline.created} {sentence}" for sentence in found)


def _of_suite(baseline: Baseline, suite: Suite, request: str) -> Iterator[str]:
    if request_fingerprint(suite, request) != baseline.template:
        yield "the request changed"
    judged = changed_judgments(baseline, suite)
    if judged:
        yield f"the judgments changed: {_named(judged)}"
    weighed = [query.id for query in suite.queries if _differ(_weight(baseline, query.id), query.weight)]
    if weighed:
        yield f"the weights changed: {_named(weighed)}"
    if str(suite.gain) != baseline.gain:
        yield f"the gain changed: it was {baseline.gain} and is {suite.gain}"
    if suite.profile is not baseline.profile:
        yield f"the profile changed: it was {baseline.profile} and is {suite.profile}"


def _of_index(before: IndexFacts, now: IndexFacts) -> Iterator[str]:
    if _differ(before.mapping, now.mapping):
        yield "the mapping of the index changed"
    if _differ(before.settings, now.settings):
        yield "the settings of the index changed"
    if _differ(before.documents, now.documents):
        yield f"the index changed: it had {before.documents} documents and has {now.documents}"


def _weight(baseline: Baseline, query: str) -> float | None:
    kept = baseline.queries.get(query)
    return None if kept is None else kept.weight


def _differ(before: object, now: object) -> bool:
    return before is not None and now is not None and before != now


def _named(queries: Sequence[str]) -> str:
    return f"{count(len(queries), 'query')} ({listed(queries)})"
