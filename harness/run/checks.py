"""
What a run checks of its target: that it holds documents, that the documents judged relevant or expected are visible
through it, and that it has the fields that requests name.

A check explains, and never overrules hits that the target returned. What cannot be checked becomes a remark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from harness.errors import SearchError
from harness.gate.judge_answers import named_documents
from harness.hooks import HookedSearch
from harness.metrics.ranking import gain_of
from harness.metrics.score import failure_text
from harness.model import (
    Failure,
    FailureKind,
    Hit,
    IndexState,
    Json,
    NamedField,
    Query,
    Ranking,
    RequestTemplate,
    Response,
    Run,
    SearchRequest,
    Suite,
    TargetChecks,
)
from harness.search.answers import BAD_REQUEST, exceeds_window
from harness.search.fields import has_fixed_fields, named_fields, parents_of, runtime_fields, unknown_among
from harness.search.lookup import batched, find_documents, find_texts, ids_request, of_indexes
from harness.search.msearch import pinned_of
from harness.words import count, difference, nearest, other_names, other_spellings

if TYPE_CHECKING:
    from harness.search import Search

IDS_AT_ONCE = 10_000
"""Ids of one look-up, for which an engine gives as many hits at most."""

EXAMPLES = 3
"""Documents of a target that are named where none of those that were meant is there."""

TITLED = 100
"""Hits whose titles are looked up, to see whether documents have the title field."""

RESPELLED = 20
"""Documents that are not visible, of which other spellings are looked for."""


@dataclass(slots=True)
class _Known:
    """What is known of one target: a *sample* of its documents, the ids *asked* for, and those *found* among them."""

    sample: Response | None = None
    asked: set[str] = field(default_factory=set)
    found: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    """Ids of look-ups whose response was incomplete or failed."""
    types: dict[str, frozenset[str]] = field(default_factory=dict)
    """Types of the existing fields among those *looked_for*."""
    looked_for: set[str] = field(default_factory=set)
    names: list[str] | None = None
    """Names of all fields; read only where a field is missing."""
    refusal: str = ""
    """Why fields cannot be looked up."""
    problems: list[str] = field(default_factory=list)


class Targets:
    """The targets of one run, with what is known of each; no request to a target is repeated."""

    def __init__(self) -> None:
        self._known: dict[tuple[Search, str | None, str], _Known] = {}
        self._states: dict[tuple[Search, str | None], IndexState] = {}
        self._state: IndexState | None = None

    def in_state(self, state: IndexState | None) -> Self:
        """These targets, of which the next is in *state*: what is known of it in another state counts no more."""
        self._state = state
        return self

    def _forget_other_states(self, search: Search, index: str | None) -> None:
        if self._state is None:
            return
        # Another copy has the same documents, and so has a shard after a merge; a script changes no document.
        now = replace(self._state, copies=None, visible=None, definitions=None)
        if self._states.setdefault((search, index), now) != now:
            self._states[search, index] = now
            self._known = {key: known for key, known in self._known.items() if key[:2] != (search, index)}

    def check_of(
        self,
        suite: Suite,
        template: RequestTemplate,
        queries: Sequence[Query],
        sent: Sequence[SearchRequest],
        search: Search,
    ) -> TargetCheck | None:
        """
        The check of the target of *suite*; *sent* are the requests for *queries*, all made from *template*, over
        *search*.

        None where no check is possible: an HTTP service has no index.
        """
        if not sent or sent[0].http is not None or not isinstance(sent[0].body, Mapping):
            return None
        self._forget_other_states(search, sent[0].index)
        pinned = pinned_of(sent[0].body)
        key = (search, sent[0].index, json.dumps([pinned, of_indexes(sent[0]), sent[0].id_field], sort_keys=True))
        known = self._known.setdefault(key, _Known())
        return TargetCheck(suite, template, queries, sent, search, None if pinned else sent[0].index, pinned, known)


class TargetCheck:
    """The check of one target for one suite: *requests* go with those of the queries, `concluded` reads the answers."""

    def __init__(
        self,
        suite: Suite,
        template: RequestTemplate,
        queries: Sequence[Query],
        sent: Sequence[SearchRequest],
        search: Search,
        index: str | None,
        pinned: Json,
        known: _Known,
    ) -> None:
        self._title_field = suite.title_field
        self._id_field = suite.target.id_field
        self._template = template
        self._queries = queries
        self._sent = sent
        self._search = search
        self._index = index
        self._pinned = pinned
        self._known = known
        self._relevant = _relevant(suite)
        self._expected = _expected(suite)
        counted = frozenset[str]() if self._may_repeat(suite) else self._relevant - self._expected
        self._counted = batched(sorted(counted - known.asked), IDS_AT_ONCE)
        self._listed = batched(sorted((self._relevant | self._expected) - counted - known.asked), IDS_AT_ONCE)
        requests = [
            *([self._sample()] if known.sample is None else []),
            *(_counting(self._look_up(part)) for part in self._counted),
            *map(self._look_up, self._listed),
        ]
        self.requests = tuple(requests)

    def _may_repeat(self, suite: Suite) -> bool:
        """Whether several documents may have one id, or one in another form: their number then says little."""
        of_several = self._index is None or "," in self._index or "*" in self._index
        return self._id_field is not None or suite.target.unique_ids or of_several

    def _look_up(self, ids: Sequence[str]) -> SearchRequest:
        return ids_request(self._sent[0], ids)

    def _sample(self) -> SearchRequest:
        body: dict[str, Json] = {"query": {"match_all": {}}, "size": EXAMPLES}
        body |= {} if self._pinned is None else {"pit": self._pinned}
        body |= runtime_fields(self._sent[0].body)
        return SearchRequest(
            "", self._index, body, unique_ids=True, id_field=self._id_field, url_params=of_indexes(self._sent[0])
        )

    def concluded(self, run: Run, answers: Sequence[Response], budget: float | None = None) -> Run:
        """
        *run* with what the *answers* to the requests say about its target; titles are looked up within *budget*
        seconds.

        Where the target holds nothing that could be found, the rankings become failures: their scores would mean
        nothing.
        """
        self._note(answers)
        if not run.has_rankings:  # what went wrong there says more, unless it is about a field
            refused = any(isinstance(one, Failure) and one.status == BAD_REQUEST for one in run.responses.values())
            return replace(run, checks=self._with_fields(TargetChecks(self._index))) if refused else run
        missing = (self._relevant | self._expected) - self._known.found
        for hit in run.hits if missing else ():
            missing.discard(hit.id)
        absent = missing - self._known.unread
        checks, has_hits = self._checks(missing, absent), any(True for _ in run.hits)
        if (checks.documents == 0 and not has_hits) or (self._relevant and self._relevant <= absent):
            checks = self._respelled(checks, self._relevant)
            failure = Failure(FailureKind.TARGET, _why_wrong(checks))
            responses = {query: failure if isinstance(one, Ranking) else one for query, one in run.responses.items()}
            return replace(run, responses=responses, checks=checks)
        checks = self._with_fields(self._respelled(checks, self._expected))
        return self._with_some_titles(run, checks, budget)

    def _with_some_titles(self, run: Run, checks: TargetChecks, budget: float | None) -> Run:
        """*run* with *checks* and the titles of some hits; the checks say if none has one, or why that is open."""
        hits, name = _some_hits(run), self._title_field
        ids = [] if name is None or any(hit.title for hit in hits) else list(dict.fromkeys(hit.id for hit in hits))
        try:
            found, reasons = find_texts(self._search, self._sent[0], ids, title_field=name, budget=budget)
        except SearchError as error:
            found, reasons = {}, [str(error)]
        titles = {document: hit.title for document, hit in found.items() if hit.title}
        if name is not None and found and not titles:
            checks = replace(checks, untitled=NamedField(name, "title_field", self._meant(name)))
        if reasons and not found:
            checks = replace(checks, problems=(*checks.problems, f"titles were not looked up: {reasons[0]}"))
        return replace(run, checks=checks, titles=titles)

    def _with_fields(self, checks: TargetChecks) -> TargetChecks:
        """*checks* with the fields that the requests name and no index has; those of a point in time are not known."""
        known, places = self._known, dict[str, str]()
        for request in self._naming() if self._index is not None else ():
            places = {**named_fields(request.body), **places}
        if self._index is None or not places:
            return checks
        wanted = dict.fromkeys(name for one in places for name in (*parents_of(one), one))
        new = [name for name in wanted if name not in known.looked_for]
        if new and not known.refusal:
            try:
                known.types |= self._search.field_types(self._index, new, of_indexes(self._sent[0]))
                known.looked_for.update(new)
            except SearchError as error:
                known.refusal = f"the fields that the request names were not looked up: {error}"
        if known.refusal:
            return replace(checks, problems=(*checks.problems, known.refusal))
        unknown = unknown_among(list(places), known.types)
        fields = tuple(NamedField(name, places[name], self._meant(name)) for name in unknown)
        return replace(checks, unknown_fields=fields)

    def _naming(self) -> Iterable[SearchRequest]:
        """The requests that were sent, without those that must name the same fields as the first."""
        if isinstance(self._search, HookedSearch):
            return self._search.sent.values()
        if not has_fixed_fields(self._template.body):
            return self._sent
        others = (place for place, query in enumerate(self._queries) if place and _may_name_fields(query.params))
        return [self._sent[0], *(self._sent[place] for place in others)]

    def _meant(self, name: str) -> str | None:
        """The field of the target that *name* probably misspells; None where it is a field, or no field is near."""
        if self._index is None:
            return None
        if self._known.names is None:
            try:
                types = self._search.field_types(self._index, ["*"], of_indexes(self._sent[0]))
            except SearchError:
                types = {}
            self._known.names = [one for one in types if not one.startswith("_")]
        return None if name in self._known.names else nearest(name, self._known.names)

    def _note(self, answers: Sequence[Response]) -> None:
        """Keep what the target answered, for this suite and those that follow."""
        known, left = self._known, list(answers)
        if known.sample is None:
            known.sample = left.pop(0)
            if isinstance(known.sample, Failure):
                known.problems.append(f"its documents were not counted: {failure_text(known.sample)}")
        unclear: list[str] = []
        for place, (part, answer) in enumerate(zip((*self._counted, *self._listed), left, strict=True)):
            known.asked.update(part)
            if isinstance(answer, Failure) and not (exceeds_window(answer) or self._may_refuse_an_id(answer)):
                self._leave_unread(part, failure_text(answer))
            elif isinstance(answer, Ranking) and answer.total == answer.returned:
                known.found.update(hit.id for hit in answer.hits)
            elif isinstance(answer, Ranking) and place < len(self._counted) and answer.total == len(part):
                known.found.update(part)
            else:
                unclear += part
        self._find(unclear)

    def _may_refuse_an_id(self, failure: Failure) -> bool:
        return failure.status == BAD_REQUEST and self._id_field is not None

    def _find(self, ids: Sequence[str]) -> None:
        """Look up *ids*, about which an answer was ambiguous or refused, in smaller parts."""
        try:
            self._known.found |= find_documents(self._search, self._sent[0], ids).found
        except SearchError as error:
            self._leave_unread(ids, str(error))

    def _leave_unread(self, ids: Sequence[str], why: str) -> None:
        self._known.unread.update(ids)
        self._known.problems.append(f"judged documents were not looked up: {why}")

    def _checks(self, missing: set[str], absent: set[str]) -> TargetChecks:
        sample = self._known.sample if isinstance(self._known.sample, Ranking) else Ranking()
        return TargetChecks(
            target=self._index,
            documents=sample.total,
            documents_is_lower_bound=sample.total_is_lower_bound,
            examples=tuple(hit.id for hit in sample.hits),
            relevant=len(self._relevant),
            absent=dict.fromkeys(sorted(absent)),
            unread=tuple(sorted((missing - absent) & self._expected)),
            problems=tuple(dict.fromkeys(self._known.problems)),
        )

    def _respelled(self, checks: TargetChecks, documents: set[str]) -> TargetChecks:
        """*checks* with existing ids that some of *documents*, which are not visible, probably misspell."""
        absent = [one for one in checks.absent if one in documents]
        similar = find_similar(absent, self._sent[0], self._search) if absent else {}
        return replace(checks, absent={**checks.absent, **similar}) if similar else checks


def _some_hits(run: Run) -> list[Hit]:
    """About `TITLED` hits from all over *run*: the first ones of queries that are evenly spaced."""
    queries = list(run.responses)
    queries = queries[:: max(1, len(queries) // TITLED)]
    each = max(1, TITLED // len(queries)) if queries else 0
    answers = map(run.responses.__getitem__, queries)
    return [hit for one in answers if isinstance(one, Ranking) for hit in one.hits[:each]]


def find_similar(documents: Sequence[str], sent: SearchRequest, search: Search) -> dict[str, str]:
    """
    For each of *documents*, which are not visible to the request *sent*, the id that differs in its form only, if
    there is one.

    Empty where the look-up fails: it would only explain.
    """
    spellings = sorted({other for one in documents[:RESPELLED] for other in other_spellings(one)} - set(documents))
    try:
        [answer] = search.search([ids_request(sent, spellings)]) if spellings else [None]
    except SearchError:
        return {}
    return other_names(documents, [hit.id for hit in answer.hits]) if isinstance(answer, Ranking) else {}


def _may_name_fields(params: Mapping[str, Json]) -> bool:
    """Whether one of *params* replaces a part of the body and may so name a field; numbers and texts do not."""
    return any(
        isinstance(value, Mapping) or (isinstance(value, list) and not set(map(type, value)) <= {int, float})
        for value in params.values()
    )


def _counting(request: SearchRequest) -> SearchRequest:
    """*request* for the number of documents only, which costs an engine a tenth."""
    return replace(request, body={**request.body, "size": 0})


def _relevant(suite: Suite) -> set[str]:
    """The documents of positive gain for any query."""
    worth: dict[float, bool] = {}
    found: set[str] = set()
    for query in suite.queries:
        for document, grade in query.judgments.items():
            if grade not in worth:
                worth[grade] = gain_of(suite.gain, grade) > 0
            if worth[grade]:
                found.add(document)
    return found


def _expected(suite: Suite) -> set[str]:
    """The documents that expectations name."""
    thresholds = [threshold for query in suite.queries for threshold in query.thresholds]
    return {document for threshold in thresholds for document in named_documents(threshold.condition)}


def _why_wrong(checks: TargetChecks) -> str:
    """Why no ranking of a target can be right, and what to do about it."""
    target = checks.target or "the target"
    reasons = "an alias may filter documents, and a login may not see them"
    if checks.documents == 0:
        return f"{target} holds no document; index documents, or correct the target ({reasons})"
    several = f"none of the {count(checks.relevant, 'document')} judged relevant is"
    none = "the only document judged relevant is not" if checks.relevant == 1 else several
    return (
        f"{none} visible through {target}{''.join(_what_is_there(checks))}; correct the target or the ids ({reasons})"
    )


def _what_is_there(checks: TargetChecks) -> Iterator[str]:
    """A misspelled id and the existing one, or examples of the ids in the target."""
    similar = next(((one, other) for one, other in checks.absent.items() if other is not None), None)
    if similar is not None:
        one, other = similar
        yield f": {one!r} is not, {other!r} is, which differs only in {difference(one, other)}"
        return
    example = next(iter(checks.absent), None)
    if example is not None:
        yield f", such as {example!r}"
    if checks.documents is not None and checks.examples:
        number = f"{'at least ' if checks.documents_is_lower_bound else ''}{count(checks.documents, 'document')}"
        yield f"; it holds {number}, such as {', '.join(map(repr, checks.examples))}"
