"""
What makes a decision unstable: a target that changed during the searches, and repeats with another ranking.

The states in which the target was seen tell how it changed. Of the repeats of a run: the queries whose ranking is not
the same in each, why, and what that does to a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TypeVar

from harness.gate.finding import Finding, format_number
from harness.gate.ties import is_tie, suggest_tie_break
from harness.model.run import IndexState, Instability, Ranking, Repeat, Response, Run, Status, Unit, UnstableQuery
from harness.model.suite import Query, RequestTemplate
from harness.model.timing import ShardCopy
from harness.words import count, listed

T = TypeVar("T")

PIN = "set `preference`, search a point in time, or merge away what is deleted (`_forcemerge`)"

_TALLIED = {Status.PASSED: "passed", Status.FAILED: "failed"}


# The target.


def explain_changed_target(run: Run, before: Run | None = None) -> str:
    """
    How the target changed during the searches of *run*; empty if it did not, or if that is not known.

    With *before*, a run that it is compared with, also how it changed during that one, and between both where they
    searched the same index, by its name and UUID. The runs of a baseline or a report are of another day, and have no
    states.
    """
    if run.target_changed:
        return run.target_changed
    if before is not None:
        change_before = explain_changed_target(before)
        if change_before:
            return change_before
        if before.index != run.index or not _collect_uuids(before) & _collect_uuids(run):
            return explain_changed_target(run)
        states = (*before.states, *run.states)
        if before.request != run.request:
            change = explain_changed_target(run)
            if change:
                return change
            states = tuple(map(_compare_shared_definitions, states))
        run = replace(run, states=states)
    changes = [
        *_describe_moved_alias(run.states),
        *_describe_strange_hits(run),
        *_describe_document_counts(run.states),
        *_describe_filters(run.states),
        *_describe_definitions(run.states),
    ]
    # Each of these changes writes documents and makes them visible: only where none was seen, that is the news.
    if not changes:
        changes = list(_describe_writes(run.states))
    if not changes:
        changes = list(_describe_refresh(run.states))
    if not changes:
        return ""
    return f"{run.index or 'the target'} changed during the run: {'; '.join(changes)}"


def _collect_uuids(run: Run) -> set[str]:
    """The UUIDs of the indexes that *run* searched; another cluster may have an index of the same name."""
    uuids: set[str] = set()
    for state in run.states:
        if state.uuids is not None:
            uuids.update(state.uuids.values())
    return uuids


def _describe_moved_alias(states: Sequence[IndexState]) -> Iterator[str]:
    uuids = [state.uuids for state in states if state.uuids is not None]
    index_names = _drop_repeated([sorted(uuids_by_name) for uuids_by_name in uuids])
    if len(index_names) > 1:
        *earlier, now = map(listed, index_names)
        yield f"it stood for {', then '.join(earlier)} and stands for {now}"
    rebuilt: set[str] = set()
    for before, after in pairwise(uuids):
        rebuilt.update(name for name in before.keys() & after.keys() if before[name] != after[name])
    if rebuilt:
        yield f"{listed(sorted(rebuilt))} was deleted and created again"


def _describe_strange_hits(run: Run) -> Iterator[str]:
    """Hits in an index that was in no state: the alias was moved and moved back between two looks."""
    index_names: set[str] = set()
    for state in run.states:
        index_names.update(state.uuids or ())
    searched: set[str] = set()
    for responses in (run.responses, *(repeat.responses for repeat in run.repeats)):
        for response in responses.values():
            if isinstance(response, Ranking):
                searched.update(response.indexes)
    # A state does not list the indexes of remote clusters, whose names have a colon.
    strange = sorted(name for name in searched - index_names if ":" not in name)
    if index_names and strange:
        yield f"some hits are in {listed(strange)}, for which it did not stand whenever that was looked up"


def _describe_document_counts(states: Sequence[IndexState]) -> Iterator[str]:
    counts = _drop_repeated([state.documents for state in states if state.documents is not None])
    if len(counts) > 1:
        first, *between, now = counts
        earlier = [count(first, "document"), *(f"{documents:,}" for documents in between)]
        yield f"it had {', then '.join(earlier)} and has {now:,}"


def _describe_filters(states: Sequence[IndexState]) -> Iterator[str]:
    filters = [state.filters for state in states if state.filters is not None]
    if len(_drop_repeated(filters)) > 1:
        yield "the filter of its alias is another one"


def _compare_shared_definitions(state: IndexState) -> IndexState:
    """
    *state*, of whose definitions a part counts only where another state has it too.

    Each request names fields of its own. One that the request of the other run does not name was not added or removed.
    """
    if state.definitions is None:
        return state
    named, matched = state.definitions.named, state.definitions.matched
    parts = {place: {**named[place], **matched.get(place, {})} for place in named}
    return replace(state, definitions=replace(state.definitions, named={place: {} for place in named}, matched=parts))


def _describe_definitions(states: Sequence[IndexState]) -> Iterator[str]:
    """The places whose definitions changed, as far as they were read before and after."""
    definitions = [state.definitions for state in states if state.definitions is not None]
    changed: dict[str, set[str]] = {}
    for before, after in pairwise(definitions):
        for place in before.named.keys() & after.named.keys():
            old, new = before.named[place], after.named[place]
            parts = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
            # What a request names only by a pattern may appear, but not change.
            old, new = before.matched.get(place, {}), after.matched.get(place, {})
            parts |= {name for name in old.keys() & new.keys() if old[name] != new[name]}
            if parts:
                changed.setdefault(place, set()).update(parts)
    for place, parts in sorted(changed.items()):
        names = listed(sorted(filter(None, parts)))
        yield f"the {place} changed ({names})" if names else f"the {place} changed"


def _describe_refresh(states: Sequence[IndexState]) -> Iterator[str]:
    """Documents that were written before: no number of `IndexState` but these two need change then."""
    newest = _drop_repeated([state.newest for state in states if state.newest is not None])
    latest: dict[str, int] = {}
    has_more = False
    for state in states:
        for copy, documents in (state.visible or {}).items():
            if documents > latest.get(copy, documents):
                has_more = True
            latest[copy] = documents
    if len(newest) > 1 or has_more:
        yield "documents that were written before became visible to searches (a refresh)"


def _describe_writes(states: Sequence[IndexState]) -> Iterator[str]:
    """Writes to shards that existed before and after, while the number of documents stayed the same."""
    writes = [state.writes for state in states if state.writes is not None]
    changed = 0
    for before, after in pairwise(writes):
        for shard in before.keys() & after.keys():
            changed += abs(after[shard] - before[shard])
    if changed:
        yield f"documents were replaced, or others added and deleted ({count(changed, 'write')})"


def _drop_repeated(values: Sequence[T]) -> list[T]:
    """*values* without those that equal the one before."""
    return [value for value, _ in groupby(values)]


# Repeats.


def find_unstable_queries(run: Run) -> tuple[UnstableQuery, ...]:
    """The queries whose ranking is not the same in each repeat of *run*, in its order, each with its cause."""
    if not run.repeats:
        return ()
    is_moving = bool(explain_changed_target(run))
    unstable = []
    for query, first in run.responses.items():
        first_ids = _list_ids(first)
        others = [repeat for repeat in run.repeats if query in repeat.responses]
        different = [repeat for repeat in others if _list_ids(repeat.responses[query]) != first_ids]
        if not different:
            continue
        causes = [_find_cause(run, query, repeat) for repeat in different]
        # An answer that is missing fails the run, whatever else differs.
        if Instability.UNANSWERED in causes:
            cause = Instability.UNANSWERED
        elif is_moving:
            cause = Instability.MOVING
        elif Instability.ZERO_HITS in causes:
            cause = Instability.ZERO_HITS
        else:
            cause = causes[0]
        rankings = {first_ids, *(_list_ids(repeat.responses[query]) for repeat in different)}
        unstable.append(UnstableQuery(query, cause, rankings=len(rankings)))
    return tuple(unstable)


def _list_ids(response: Response) -> tuple[str, ...] | None:
    """The ranking by ids; None where there is none."""
    return tuple(hit.id for hit in response.hits) if isinstance(response, Ranking) else None


def _find_cause(run: Run, query: str, repeat: Repeat) -> Instability:
    """Why the ranking of *query* is another one in *repeat*."""
    first, other = run.responses[query], repeat.responses[query]
    if not (isinstance(first, Ranking) and isinstance(other, Ranking)):
        return Instability.UNANSWERED
    if bool(first.hits) != bool(other.hits):
        return Instability.ZERO_HITS
    if _is_reordered_by_ties(first, other):
        return Instability.TIES
    copies = next((state.copies for state in run.states if state.copies), None)
    if _has_other_copy(copies, repeat.copies):
        return Instability.COPIES
    return Instability.DOCUMENTS if _has_other_documents(first, other) else Instability.UNKNOWN


def _has_other_documents(first: Ranking, other: Ranking) -> bool:
    """Whether a document is in one ranking only, and those in both have the same scores."""
    scores = {hit.id: hit.score for hit in first.hits}
    other_scores = {hit.id: hit.score for hit in other.hits}
    shared = scores.keys() & other_scores.keys()
    if scores.keys() == other_scores.keys():
        return False
    return all(scores[document] == other_scores[document] for document in shared)


def _is_reordered_by_ties(first: Ranking, other: Ranking) -> bool:
    """Whether each document ties with itself in the other, and with the one at its rank there."""
    if len(first.hits) != len(other.hits):
        return False
    exact = first.exact_scores or other.exact_scores
    first_hits = {hit.id: hit for hit in first.hits}
    for first_hit, hit in zip(first.hits, other.hits, strict=True):
        if not is_tie(first_hit, hit, exact=exact):
            return False
        same_document = first_hits.get(hit.id)
        if same_document is not None and not is_tie(same_document, hit, exact=exact):
            return False
    return True


def _has_other_copy(
    before: Mapping[str, Sequence[ShardCopy]] | None, after: Mapping[str, Sequence[ShardCopy]] | None
) -> bool:
    """Whether another copy of a shard answered: the first of each shard answers, the others only stand ready."""
    if before is None or after is None:
        return False
    return any(before[shard][:1] != after[shard][:1] for shard in before.keys() & after.keys())


def decide_repeats(
    first: Finding,
    others: Sequence[Finding],
    scope: Iterable[Query],
    unstable: Sequence[UnstableQuery],
    template: RequestTemplate | None,
) -> Finding:
    """
    *first* with how far its figure moves over the repeats; INCONCLUSIVE where their statuses differ.

    No query is blamed then: the same query may pass in another repeat.

    Args:
        first: The finding of the first repeat.
        others: The findings of the other repeats.
        scope: The queries that the threshold is about.
        unstable: The queries with several rankings.
        template: The request, which the remedy is about.
    """
    findings = [first, *others]
    # The figure may have another unit in a repeat: a drop where its significance could not be tested.
    same_unit = [finding for finding in findings if finding.unit is first.unit]
    observed = [finding.observed for finding in same_unit if finding.observed is not None]
    repeats = None
    if observed and min(observed) != max(observed):
        repeats = (min(observed), max(observed))
    if all(finding.status is first.status for finding in findings):
        return replace(first, repeats=repeats)
    tally = Counter(_TALLIED.get(finding.status, "undecided") for finding in findings)
    decision = ", ".join(f"{word} in {times}" for word, times in tally.items())
    if repeats is not None:
        decision += f", {_format_interval(*repeats, first.unit)}"
    parts = [f"the decision is not stable over {len(findings)} repeats: {decision}"]
    ids = {query.id for query in scope}
    unstable_in_scope = [query for query in unstable if query.query in ids]
    without_hits = [query.query for query in unstable_in_scope if query.cause is Instability.ZERO_HITS]
    if without_hits:
        parts.append(f"no hits in some repeats for {listed(without_hits)}")
    reordered = [query.query for query in unstable_in_scope if query.query not in without_hits]
    if reordered:
        parts.append(f"other rankings of {listed(reordered)}")
    parts.append(_suggest_remedy(first, unstable_in_scope, template))
    undecided = [finding.reason for finding in findings if finding.status not in _TALLIED]
    parts += [*undecided[:1], first.reason]
    reason = "; ".join(dict.fromkeys(filter(None, parts)))
    return replace(first, status=Status.INCONCLUSIVE, reason=reason, blamed=(), repeats=repeats)


def _format_interval(least: float, greatest: float, unit: Unit | None) -> str:
    """``from 0.7500 to 1.0000``, in *unit*."""
    if unit is Unit.SHARE:
        return f"from {format_number(100 * least)}% to {format_number(100 * greatest)}%"
    if unit is Unit.MILLISECONDS:
        return f"from {format_number(least)} to {format_number(greatest)} ms"
    if unit is None:
        return f"from {least:.4f} to {greatest:.4f}"
    if unit in (Unit.DROP, Unit.P_VALUE):
        return f"from {unit} {least:.4f} to {greatest:.4f}"
    if unit is Unit.RANK:
        return f"from {unit} {format_number(least)} to {format_number(greatest)}"
    return f"from {format_number(least)} to {format_number(greatest)}"


def _suggest_remedy(finding: Finding, unstable: Sequence[UnstableQuery], template: RequestTemplate | None) -> str:
    """How to make the decision the same each time, in words."""
    if finding.unit is Unit.MILLISECONDS:
        return "warm the engine up (`warm_up`), or leave more room"
    causes = {query.cause for query in unstable}
    remedies = []
    tie_break = suggest_tie_break(template)
    if Instability.TIES in causes and tie_break:
        remedies.append(tie_break)
    is_service = template is not None and template.http is not None
    if Instability.COPIES in causes and not is_service:
        remedies.append(PIN)
    if Instability.ZERO_HITS in causes and not is_service:
        remedies.append("search a point in time, or set `preference`: a copy of a shard may lag behind")
    if causes & {Instability.DOCUMENTS, Instability.UNKNOWN} and not is_service:
        remedies.append("search a point in time, and give random functions a `seed`")
    return "; ".join(remedies)
