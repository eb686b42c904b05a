"""
What a run checks of its target: that it holds documents, that the documents judged relevant or expected are visible
through it, and that it has the fields that requests name.

A check explains, and never overrules hits that the target returned. What cannot be checked becomes a remark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.gate.conditions import list_named_documents
from harness.gate.selection import list_read_fields
from harness.hooks import HookedSearch
from harness.id_forms import describe_difference
from harness.metrics.ranking import gain_of
from harness.metrics.run_scores import failure_text
from harness.model.request import SearchRequest
from harness.model.run import (
    CheckedField,
    Failure,
    FailureKind,
    Hit,
    IndexState,
    NamedField,
    Ranking,
    Response,
    Run,
    TargetChecks,
)
from harness.model.suite import Json, Suite
from harness.run.plan import SearchPlan
from harness.search.answers import BAD_REQUEST
from harness.search.dialects import find_dialect
from harness.search.fields import list_parents
from harness.search.lookup import KnownDocuments, LookUp, LookUps, find_similar, look_up_documents
from harness.search.protocol import LookUpOptions
from harness.words import count, find_nearest

if TYPE_CHECKING:
    from harness.search.protocol import Dialect, Search

_EXAMPLES = 3
"""Documents of a target that are named where none of those that were meant is there."""

TITLED = 100
"""Hits whose titles are looked up, to see whether documents have the title field."""

RESPELLED = 20
"""Documents that are not visible, of which other spellings are looked for."""


@dataclass(slots=True)
class KnownTarget:
    """What is known of one target."""

    sample: Response | None = None
    """Some of its documents, and the number of all."""
    documents: KnownDocuments = field(default_factory=KnownDocuments)
    """Which documents it has."""
    field_types: dict[str, frozenset[str]] = field(default_factory=dict)
    """Types of the existing fields among *fields_asked*."""
    fields_asked: set[str] = field(default_factory=set)
    field_names: list[str] | None = None
    """Names of all fields; read only where a field is missing."""
    field_problem: str = ""
    """Why fields cannot be looked up."""
    problems: list[str] = field(default_factory=list)


class Targets:
    """The targets of one run, with what is known of each; no request to a target is repeated."""

    def __init__(self) -> None:
        self._known: dict[tuple[Search, str | None, str], KnownTarget] = {}
        self._states: dict[tuple[Search, str | None], IndexState] = {}

    def prepare_check(
        self, suite: Suite, plan: SearchPlan, search: Search, state: IndexState | None = None
    ) -> TargetCheck | None:
        """
        Prepare the check of the target of *plan*.

        Args:
            suite: Names the documents that the target should have.
            plan: What is sent to the target.
            search: What it is sent by.
            state: Of the target; what is known of it in another state does not count. None if it is unknown.

        Returns:
            None where no check is possible, because no documents can be looked up.
        """
        dialect = find_dialect(suite.target.service)
        if not plan.requests or not dialect.looks_up_documents(plan.requests[0]):
            return None
        first = plan.requests[0]
        if state is not None:
            self._forget_other_states(search, first.index, state)
        key = (search, first.index, json.dumps(dialect.read_scope(first), sort_keys=True))
        known = self._known.setdefault(key, KnownTarget())
        return TargetCheck(suite, plan, search, known)

    def _forget_other_states(self, search: Search, index: str | None, state: IndexState) -> None:
        # Another copy has the same documents, and so has a shard after a merge; a script changes no document.
        state = replace(state, copies=None, visible=None, definitions=None)
        earlier_state = self._states.setdefault((search, index), state)
        if earlier_state != state:
            self._states[search, index] = state
            self._known = {key: known for key, known in self._known.items() if key[:2] != (search, index)}


class TargetCheck:
    """The check of one target for one suite: *requests* go with those of the queries, `conclude` reads the answers."""

    def __init__(self, suite: Suite, plan: SearchPlan, search: Search, known: KnownTarget) -> None:
        """
        Args:
            suite: Names the documents that the target should have.
            plan: What is sent to the target.
            search: What it is sent by.
            known: What earlier checks found out about it.
        """
        self._plan = plan
        self._search = search
        self._first = plan.requests[0]
        self._known = known
        self._title_field = suite.display.title
        self._dialect = find_dialect(suite.target.service)
        self._index = None if self._dialect.is_pinned(self._first) else self._first.index
        self._relevant = _find_relevant(suite)
        self._expected = _find_expected(suite)
        self._read_fields = list_read_fields(suite, plan.template.name)
        self._look_ups = self._prepare_look_ups(suite)
        sample = None
        if known.sample is None:
            sample = self._dialect.request_sample(self._first, _EXAMPLES)
        self._asks_for_sample = sample is not None
        samples = [] if sample is None else [sample]
        self.requests = (*samples, *self._look_ups.requests)

    def _prepare_look_ups(self, suite: Suite) -> LookUps:
        """The look-ups of the documents that the target should have, without those that were looked up before."""
        # To count documents is cheap. A count says which documents exist only if it is that of their ids, and if ids do
        # not repeat; documents that expectations name must be known one by one.
        counted = self._relevant - self._expected
        if self._may_repeat_ids(suite):
            counted = set()
        listed = (self._relevant | self._expected) - counted
        asked = self._known.documents.asked
        look_ups = [
            LookUp(self._first, sorted(counted - asked), LookUpOptions(size=0), in_bulk=True),
            LookUp(self._first, sorted(listed - asked), in_bulk=True),
        ]
        return LookUps(self._search, look_ups)

    def _may_repeat_ids(self, suite: Suite) -> bool:
        """Whether several documents may have one id, or one in another form: their number then says little."""
        has_several_indexes = self._index is None or "," in self._index or "*" in self._index
        return suite.target.id_field is not None or suite.target.unique_ids or has_several_indexes

    def conclude(self, run: Run, answers: Sequence[Response], budget: float | None = None) -> Run:
        """
        Return *run* with what the *answers* to the requests say about its target.

        Titles are looked up within *budget* seconds. Where the target holds nothing that could be found, the rankings
        become failures: their scores would mean nothing.
        """
        self._read_answers(answers, budget)
        if not run.has_rankings:
            # What went wrong there says more than this check, unless it may be about a field.
            failures = [response for response in run.responses.values() if isinstance(response, Failure)]
            if not any(failure.status == BAD_REQUEST for failure in failures):
                return run
            return replace(run, checks=self._add_unknown_fields(TargetChecks(self._index)))
        returned = {hit.id for hit in run.hits}
        surely_missing = (self._relevant | self._expected).intersection(self._known.documents.missing) - returned
        checks = self._summarize(surely_missing, returned)
        holds_nothing = checks.documents == 0 and not returned
        lacks_all_relevant = bool(self._relevant) and self._relevant <= surely_missing
        if holds_nothing or lacks_all_relevant:
            checks = self._add_similar_ids(checks, self._relevant)
            return _fail_rankings(run, checks, self._dialect)
        if self._expected:
            checks = self._add_similar_ids(checks, self._expected)
        checks = self._add_unknown_fields(checks)
        if self._read_fields:
            checks = self._add_read_fields(checks)
        run = replace(run, checks=checks)
        if self._title_field is None:
            return run
        return self._add_titles(run, checks, self._title_field, budget)

    def _read_answers(self, answers: Sequence[Response], budget: float | None) -> None:
        """Keep what the target answered, for this suite and those that follow; unclear ones are asked for again."""
        if self._asks_for_sample:
            sample, *answers = answers
            self._known.sample = sample
            if isinstance(sample, Failure):
                self._known.problems.append(f"its documents were not counted: {failure_text(sample)}")
        self._look_ups.read(answers)
        for documents in self._look_ups.finish(budget):
            self._known.documents.add(documents)
            for reason in [*documents.reasons, *list(documents.unwritable.values())[:1]]:
                self._known.problems.append(f"judged documents were not looked up: {reason}")

    def _summarize(self, surely_missing: set[str], returned: set[str]) -> TargetChecks:
        """What the answers say of the target, which lacks documents that are *surely_missing* and not *returned*."""
        documents = self._known.documents
        unread = self._expected.intersection([*documents.unread, *documents.unwritable]) - returned
        sample = self._known.sample if isinstance(self._known.sample, Ranking) else Ranking()
        return TargetChecks(
            target=self._index,
            documents=sample.total,
            documents_is_lower_bound=sample.total_is_lower_bound,
            examples=tuple(hit.id for hit in sample.hits),
            relevant=len(self._relevant),
            absent=dict.fromkeys(sorted(surely_missing)),
            unread=tuple(sorted(unread)),
            problems=tuple(dict.fromkeys(self._known.problems)),
        )

    def _add_similar_ids(self, checks: TargetChecks, documents: set[str]) -> TargetChecks:
        """Add the existing ids that some of *documents*, which are not visible, probably misspell."""
        absent = [document for document in checks.absent if document in documents]
        if not absent:
            return checks
        similar = find_similar(self._search, self._first, absent[:RESPELLED])
        return replace(checks, absent={**checks.absent, **similar})

    def _add_titles(self, run: Run, checks: TargetChecks, name: str, budget: float | None) -> Run:
        """Add the titles of some hits, in the field *name*; the *checks* say if none has one, or why that is open."""
        ids: list[str] = []
        hits = _choose_hits(run)
        if not any(hit.title for hit in hits):
            ids = list(dict.fromkeys(hit.id for hit in hits))
        look_up = LookUp(self._first, ids, LookUpOptions(title_field=name))
        [documents] = look_up_documents(self._search, [look_up], budget=budget)
        titles = {document: hit.title for document, hit in documents.hits.items() if hit.title}
        if documents.hits and not titles:
            checks = replace(checks, untitled=NamedField(name, "display.title", self._find_field_meant(name)))
        if documents.unread and not documents.hits:
            problem = f"titles were not looked up: {documents.reasons[0]}"
            checks = replace(checks, problems=(*checks.problems, problem))
        return replace(run, checks=checks, titles=titles)

    def _add_unknown_fields(self, checks: TargetChecks) -> TargetChecks:
        """Add the fields that the requests name and no index has; those of a point in time are not known."""
        if self._index is None:
            return checks
        places: dict[str, str] = {}
        for request in self._choose_naming_requests():
            places = {**self._dialect.find_named_fields(request), **places}
        if not places:
            return checks
        self._look_up_fields(list(places))
        if self._known.field_problem:
            return replace(checks, problems=(*checks.problems, self._known.field_problem))
        unknown = self._dialect.list_unknown_fields(list(places), self._known.field_types)
        fields = tuple(NamedField(name, places[name], self._find_field_meant(name)) for name in unknown)
        return replace(checks, unknown_fields=fields)

    def _add_read_fields(self, checks: TargetChecks) -> TargetChecks:
        """Add the fields that expectations read, with their types; those of a point in time are not known."""
        if self._index is None:
            return checks
        self._look_up_fields(self._read_fields)
        if self._known.field_problem:
            problems = dict.fromkeys((*checks.problems, self._known.field_problem))
            return replace(checks, problems=tuple(problems))
        types_by_name = self._known.field_types
        unknown = self._dialect.list_unknown_fields(self._read_fields, types_by_name)
        # A field that the request defines is in no mapping.
        own_fields = self._dialect.list_own_fields(self._first)
        fields = []
        for name in self._read_fields:
            if name in types_by_name:
                fields.append(CheckedField(name, tuple(sorted(types_by_name[name]))))
            elif name in unknown and name not in own_fields:
                fields.append(self._describe_unknown_field(name))
        return replace(checks, read_fields=tuple(fields))

    def _describe_unknown_field(self, name: str) -> CheckedField:
        """A field that an engine does not list: there is none, or it is an object, of which only the parts may be."""
        meant = self._find_field_meant(name)
        if any(known.startswith(f"{name}.") for known in self._known.field_names or ()):
            return CheckedField(name, ("object",))
        return CheckedField(name, meant=meant)

    def _look_up_fields(self, names: Sequence[str]) -> None:
        """Look up the types of fields and of those that contain them, which were not looked up before."""
        wanted: dict[str, None] = {}
        for name in names:
            wanted.update(dict.fromkeys([*list_parents(name), name]))
        not_asked = [name for name in wanted if name not in self._known.fields_asked]
        if self._index is None or not not_asked or self._known.field_problem:
            return
        try:
            self._known.field_types |= self._search.field_types(self._index, not_asked, self._first.url_params)
        except SearchError as error:
            self._known.field_problem = f"the fields that the request names were not looked up: {error}"
        else:
            self._known.fields_asked.update(not_asked)

    def _choose_naming_requests(self) -> Iterable[SearchRequest]:
        """The requests that were sent, without those that must name the same fields as the first."""
        if isinstance(self._search, HookedSearch):
            return self._search.sent.values()
        requests = self._plan.requests
        if not self._dialect.has_fixed_fields(self._plan.template):
            return requests
        chosen = [requests[0]]
        for place, query in enumerate(self._plan.suite.queries):
            if place > 0 and _may_name_fields(query.params):
                chosen.append(requests[place])
        return chosen

    def _find_field_meant(self, name: str) -> str | None:
        """The field of the target that *name* probably misspells; None where it is a field, or no field is near."""
        if self._index is None:
            return None
        if self._known.field_names is None:
            try:
                types = self._search.field_types(self._index, ["*"], self._first.url_params)
            except SearchError:
                types = {}
            self._known.field_names = [field_name for field_name in types if not field_name.startswith("_")]
        if name in self._known.field_names:
            return None
        return find_nearest(name, self._known.field_names)


def _fail_rankings(run: Run, checks: TargetChecks, dialect: Dialect) -> Run:
    """Replace the rankings of *run* by a failure, as *checks* show that none can be right."""
    failure = Failure(FailureKind.TARGET, _explain_target(checks, dialect))
    responses: dict[str, Response] = {}
    for query, response in run.responses.items():
        responses[query] = failure if isinstance(response, Ranking) else response
    return replace(run, responses=responses, checks=checks)


def _choose_hits(run: Run) -> list[Hit]:
    """About `TITLED` hits from all over *run*: the first ones of queries that are evenly spaced."""
    responses = list(run.responses.values())
    if not responses:
        return []
    responses = responses[:: max(1, len(responses) // TITLED)]
    hits_of_each = max(1, TITLED // len(responses))
    hits: list[Hit] = []
    for response in responses:
        if isinstance(response, Ranking):
            hits += response.hits[:hits_of_each]
    return hits


def _may_name_fields(params: Mapping[str, Json]) -> bool:
    """Whether one of *params* replaces a part of the body and may so name a field; numbers and texts do not."""
    for value in params.values():
        if isinstance(value, Mapping):
            return True
        if isinstance(value, list) and not set(map(type, value)) <= {int, float}:
            return True
    return False


def _find_relevant(suite: Suite) -> set[str]:
    """The documents of positive gain for any query."""
    is_gained: dict[float, bool] = {}  # the few grades of a suite, so that a gain is not computed for each judgment
    documents: set[str] = set()
    for query in suite.queries:
        for document, grade in query.judgments.items():
            if grade not in is_gained:
                is_gained[grade] = gain_of(suite.gain, grade) > 0
            if is_gained[grade]:
                documents.add(document)
    return documents


def _find_expected(suite: Suite) -> set[str]:
    """The documents that expectations name."""
    documents: set[str] = set()
    for query in suite.queries:
        for threshold in query.thresholds:
            documents.update(list_named_documents(threshold.condition))
    return documents


def _explain_target(checks: TargetChecks, dialect: Dialect) -> str:
    """Why no ranking of a target can be right, and what to do about it."""
    target = checks.target or "the target"
    filtering = "an alias" if dialect.has_indexes else "a service"
    reasons = f"{filtering} may filter documents, and a login may not see them"
    if checks.documents == 0:
        return f"{target} holds no document; index documents, or correct the target ({reasons})"
    if checks.relevant == 1:
        found = "the only document judged relevant is not"
    else:
        found = f"none of the {count(checks.relevant, 'document')} judged relevant is"
    return f"{found} visible through {target}{_describe_ids(checks)}; correct the target or the ids ({reasons})"


def _describe_ids(checks: TargetChecks) -> str:
    """A misspelled id and the existing one, or examples of the ids in the target."""
    for document, similar in checks.absent.items():
        if similar is not None:
            return (
                f": {document!r} is not, {similar!r} is, which differs only in {describe_difference(document, similar)}"
            )
    description = ""
    first_absent = next(iter(checks.absent), None)
    if first_absent is not None:
        description += f", such as {first_absent!r}"
    if checks.documents is not None and checks.examples:
        at_least = "at least " if checks.documents_is_lower_bound else ""
        examples = ", ".join(map(repr, checks.examples))
        description += f"; it holds {at_least}{count(checks.documents, 'document')}, such as {examples}"
    return description
