"""Fingerprints of what a baseline was made from, and sentences on those that are no longer the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from harness.gate.scope import count, listed
from harness.masking import Masker, fingerprint, question_fingerprint, question_of
from harness.model import Baseline, IndexFacts, Json, Query, Question, Run, Suite

__all__ = [
    "changed_judgments",
    "changed_questions",
    "changes_since",
    "judgments_fingerprint",
    "request_fingerprint",
    "request_json",
]


def request_fingerprint(suite: Suite, request: str) -> str | None:
    """Changes when what `request_json` gives does; None where the suite has no such request."""
    found = request_json(suite, request)
    return None if found is None else fingerprint(found)


def request_json(suite: Suite, request: str) -> Json:
    """
    The body, the index and the HTTP request, as the suite has them; None where it has no such request.

    A value from the environment stands as its variable, for it may be a secret, or differ from one machine to another.
    """
    template = suite.requests.get(request)
    if template is None or template.masked is not None:
        return template and template.masked
    http = {name: value for name, value in asdict(template.http).items() if value} if template.http else None
    parts = {"body": template.body, "index": template.index, "http": http}
    return {name: part for name, part in parts.items() if part is not None}


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


def changed_questions(baseline: Baseline, suite: Suite) -> dict[str, tuple[Question, Question]]:
    """What queries of *suite* asked when *baseline* was saved, and what they ask today, where that is not the same."""
    masker = Masker(suite.variables)
    return {
        query.id: (Question(kept.question, kept.text, kept.params), question_of(query, masker))
        for query in suite.queries
        if (kept := baseline.queries.get(query.id)) and kept.question != question_fingerprint(query)
    }


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
    asked = list(changed_questions(baseline, suite))
    if asked:
        yield f"what is asked changed: {_named(asked)}"
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
