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
from harness.model.run import (
    Cause,
    IndexState,
    Instability,
    Ranking,
    Repeat,
    Response,
    Run,
    Status,
    Unit,
    UnstableQuery,
)
from harness.model.suite import Query, RequestTemplate
from harness.model.timing import ShardCopy
from harness.words import count, listed

T = TypeVar("T")

PIN = "set `preference`, search a point in time, or merge away what is deleted (`_forcemerge`)"

_STATUS_WORDS = {Status.PASSED: "passed", Status.FAILED: "failed"}
"""The words for decisions in a sentence on repeats; all other statuses are undecided there."""


# The target.


def explain_changed_target(run: Run, before: Run | None = None) -> str:
    """
    How the target changed during the searches of *run*; empty if it did not, or if that is not known.

    With *before*, a run that it is compared with, also how it changed during that one, and between both if they
    searched the same index, by its name and UUID. The runs of a baseline or a report are of another day, and have no
    states.
    """
    if run.target_changed:
        return run.target_changed
    if before is not None:
        change_during_before = explain_changed_target(before)
        if change_during_before:
            return change_during_before
        have_same_index = before.index == run.index and _collect_uuids(before) & _collect_uuids(run)
        if not have_same_index:
            return explain_changed_target(run)
        states = (*before.states, *run.states)
        if before.request != run.request:
            change_during_run = explain_changed_target(run)
            if change_during_run:
                return change_during_run
            states = tuple(_compare_shared_definitions(state) for state in states)
        run = replace(run, states=states)
    # Equal states are kept once: where there is one, nothing changed that was looked at.
    changes = _list_changes(run) if len(run.states) > 1 else list(_describe_strange_hits(run))
    if not changes:
        return ""
    return f"{run.index or 'the target'} changed during the run: {'; '.join(changes)}"


def _list_changes(run: Run) -> list[str]:
    """What the states of *run* differ in."""
    changes = [
        *_describe_moved_alias(run.states),
        *_describe_strange_hits(run),
        *_describe_document_counts(run.states),
        *_describe_filters(run.states),
        *_describe_definitions(run.states),
    ]
    # Each of the changes above also writes documents and refreshes the index, so that these two are only said alone.
    if not changes:
        changes = list(_describe_writes(run.states))
    if not changes:
        changes = list(_describe_refresh(run.states))
    return changes


def _collect_uuids(run: Run) -> set[str]:
    """The UUIDs of the indexes that *run* searched; another cluster may have an index of the same name."""
    uuids: set[str] = set()
    for state in run.states:
        if state.uuids is not None:
            uuids.update(state.uuids.values())
    return uuids


def _describe_moved_alias(states: Sequence[IndexState]) -> Iterator[str]:
    """That an alias points to other indexes than before, and that an index was deleted and created again."""
    uuids_of_states = [state.uuids for state in states if state.uuids is not None]
    index_names = _drop_repeated([sorted(uuids) for uuids in uuids_of_states])
    if len(index_names) > 1:
        *earlier, now = map(listed, index_names)
        yield f"it stood for {', then '.join(earlier)} and stands for {now}"
    recreated: set[str] = set()
    for uuids_before, uuids_after in pairwise(uuids_of_states):
        shared_names = uuids_before.keys() & uuids_after.keys()
        recreated.update(name for name in shared_names if uuids_before[name] != uuids_after[name])
    if recreated:
        yield f"{listed(sorted(recreated))} was deleted and created again"


def _describe_strange_hits(run: Run) -> Iterator[str]:
    """Hits in an index that was in no state: the alias was moved, and moved back, while nobody looked."""
    names_in_states: set[str] = set()
    for state in run.states:
        names_in_states.update(state.uuids or ())
    names_in_hits: set[str] = set()
    for responses in [run.responses, *(repeat.responses for repeat in run.repeats)]:
        for response in responses.values():
            if isinstance(response, Ranking):
                names_in_hits.update(response.indexes)
    # A state does not list the indexes of remote clusters, whose names have a colon.
    strange = sorted(name for name in names_in_hits - names_in_states if ":" not in name)
    if names_in_states and strange:
        yield f"some hits are in {listed(strange)}, for which it did not stand whenever that was looked up"


def _describe_document_counts(states: Sequence[IndexState]) -> Iterator[str]:
    """How the number of documents changed: "it had 10 documents, then 12 and has 11"."""
    counts = _drop_repeated([state.documents for state in states if state.documents is not None])
    if len(counts) < 2:
        return
    earlier = count(counts[0], "document")
    for documents in counts[1:-1]:
        earlier += f", then {documents:,}"
    yield f"it had {earlier} and has {counts[-1]:,}"


def _describe_filters(states: Sequence[IndexState]) -> Iterator[str]:
    """That an alias filters other documents than before."""
    filters = [state.filters for state in states if state.filters is not None]
    if len(_drop_repeated(filters)) > 1:
        yield "the filter of its alias is another one"


def _compare_shared_definitions(state: IndexState) -> IndexState:
    """
    *state* with all definitions as `matched`, which count as changed only if both of two states have them.

    For two runs with different requests: each request names fields of its own. That a field is in the definitions of
    one run only does not mean that it was added to the mapping, or removed.
    """
    if state.definitions is None:
        return state
    named, matched = state.definitions.named, state.definitions.matched
    nothing_named: dict[str, dict[str, str]] = {}
    all_matched = {}
    for section, definitions in named.items():
        nothing_named[section] = {}
        all_matched[section] = {**definitions, **matched.get(section, {})}
    return replace(state, definitions=replace(state.definitions, named=nothing_named, matched=all_matched))


def _describe_definitions(states: Sequence[IndexState]) -> Iterator[str]:
    """The sections, such as the mapping, whose definitions changed, as far as they were read before and after."""
    definitions = [state.definitions for state in states if state.definitions is not None]
    changed: dict[str, set[str]] = {}
    for before, after in pairwise(definitions):
        for section in before.named.keys() & after.named.keys():
            old, new = before.named[section], after.named[section]
            changed_names = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
            # A field that a request names only by a pattern may be added without any effect, but not change.
            old, new = before.matched.get(section, {}), after.matched.get(section, {})
            changed_names |= {name for name in old.keys() & new.keys() if old[name] != new[name]}
            if changed_names:
                changed.setdefault(section, set()).update(changed_names)
    for section, changed_names in sorted(changed.items()):
        # A section that is one value, without parts, has the empty name.
        names = listed(sorted(filter(None, changed_names)))
        yield f"the {section} changed ({names})" if names else f"the {section} changed"


def _describe_refresh(states: Sequence[IndexState]) -> Iterator[str]:
    """That a refresh made earlier writes visible; it may change nothing but `newest` or `visible` of a state."""
    newest = _drop_repeated([state.newest for state in states if state.newest is not None])
    visible_in_copies: dict[str, int] = {}
    has_more = False
    for state in states:
        for copy, documents in (state.visible or {}).items():
            if documents > visible_in_copies.get(copy, documents):
                has_more = True
            visible_in_copies[copy] = documents
    if len(newest) > 1 or has_more:
        yield "documents that were written before became visible to searches (a refresh)"


def _describe_writes(states: Sequence[IndexState]) -> Iterator[str]:
    """Writes to shards that existed before and after, while the number of documents stayed the same."""
    writes_of_states = [state.writes for state in states if state.writes is not None]
    new_writes = 0
    for before, after in pairwise(writes_of_states):
        for shard in before.keys() & after.keys():
            new_writes += abs(after[shard] - before[shard])
    if new_writes:
        yield f"documents were replaced, or others added and deleted ({count(new_writes, 'write')})"


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
    for query, first_response in run.responses.items():
        first_ids = _list_ids(first_response)
        rankings = {first_ids}
        causes = []
        for repeat in run.repeats:
            if query not in repeat.responses:
                continue
            ids = _list_ids(repeat.responses[query])
            if ids != first_ids:
                rankings.add(ids)
                causes.append(_find_cause(run, query, repeat))
        if not causes:
            continue
        # An answer that is missing fails the run, whatever else differs.
        if Instability.UNANSWERED in causes:
            cause = Instability.UNANSWERED
        elif is_moving:
            cause = Instability.MOVING
        elif Instability.ZERO_HITS in causes:
            cause = Instability.ZERO_HITS
        else:
            cause = causes[0]
        unstable.append(UnstableQuery(query, cause, rankings=len(rankings)))
    return tuple(unstable)


def _list_ids(response: Response) -> tuple[str, ...] | None:
    """The ids of the hits, in the order of the ranking; None where there is no ranking."""
    if not isinstance(response, Ranking):
        return None
    return response.ids


def _find_cause(run: Run, query: str, repeat: Repeat) -> Instability:
    """Why the ranking of *query* is another one in *repeat*."""
    first, other = run.responses[query], repeat.responses[query]
    if not (isinstance(first, Ranking) and isinstance(other, Ranking)):
        return Instability.UNANSWERED
    if bool(first.hits) != bool(other.hits):
        return Instability.ZERO_HITS
    if _is_reordered_by_ties(first, other):
        return Instability.TIES
    copies_of_first = None
    for state in run.states:
        if state.copies:
            copies_of_first = state.copies
            break
    if _has_other_copy(copies_of_first, repeat.copies):
        return Instability.COPIES
    if _has_other_documents(first, other):
        return Instability.DOCUMENTS
    return Instability.UNKNOWN


def _has_other_documents(first: Ranking, other: Ranking) -> bool:
    """Whether a document is in one ranking only, and those in both have the same scores."""
    scores = {hit.id: hit.score for hit in first.hits}
    other_scores = {hit.id: hit.score for hit in other.hits}
    if scores.keys() == other_scores.keys():
        return False
    shared = scores.keys() & other_scores.keys()
    return all(scores[document] == other_scores[document] for document in shared)


def _is_reordered_by_ties(first: Ranking, other: Ranking) -> bool:
    """Whether both rankings have tied hits at each rank, and each document has a score that ties with its other one."""
    if len(first.hits) != len(other.hits):
        return False
    exact = first.exact_scores or other.exact_scores
    first_hits_by_id = {hit.id: hit for hit in first.hits}
    for hit_at_same_rank, hit in zip(first.hits, other.hits, strict=True):
        if not is_tie(hit_at_same_rank, hit, exact=exact):
            return False
        same_document = first_hits_by_id.get(hit.id)
        if same_document is not None and not is_tie(same_document, hit, exact=exact):
            return False
    return True


def _has_other_copy(
    before: Mapping[str, Sequence[ShardCopy]] | None, after: Mapping[str, Sequence[ShardCopy]] | None
) -> bool:
    """Whether another copy of a shard answered: the first copy of each shard does, the others are replacements."""
    if before is None or after is None:
        return False
    shared_shards = before.keys() & after.keys()
    return any(before[shard][:1] != after[shard][:1] for shard in shared_shards)


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
    observed_range = _find_observed_range(findings)
    if all(finding.status is first.status for finding in findings):
        return replace(first, repeats=observed_range)
    statuses = Counter(_STATUS_WORDS.get(finding.status, "undecided") for finding in findings)
    decision = ", ".join(f"{word} in {times}" for word, times in statuses.items())
    if observed_range is not None:
        least, greatest = observed_range
        decision += f", {_format_interval(least, greatest, first.unit)}"
    parts = [f"the decision is not stable over {len(findings)} repeats: {decision}"]
    ids_in_scope = {query.id for query in scope}
    unstable_in_scope = [unstable_query for unstable_query in unstable if unstable_query.query in ids_in_scope]
    without_hits = []
    with_other_ranking = []
    for unstable_query in unstable_in_scope:
        if unstable_query.cause is Instability.ZERO_HITS:
            without_hits.append(unstable_query.query)
        else:
            with_other_ranking.append(unstable_query.query)
    if without_hits:
        parts.append(f"no hits in some repeats for {listed(without_hits)}")
    if with_other_ranking:
        parts.append(f"other rankings of {listed(with_other_ranking)}")
    remedy = _suggest_remedy(first, unstable_in_scope, template)
    if remedy:
        parts.append(remedy)
    reasons_of_undecided = [finding.reason for finding in findings if finding.status not in _STATUS_WORDS]
    parts += [*reasons_of_undecided[:1], first.reason]
    reason = "; ".join(dict.fromkeys(filter(None, parts)))
    return replace(
        first,
        status=Status.INCONCLUSIVE,
        reason=reason,
        blamed=(),
        repeats=observed_range,
        cause=Cause.UNSTABLE,
    )


def _find_observed_range(findings: Sequence[Finding]) -> tuple[float, float] | None:
    """The least and the greatest figure that was observed in the repeats; None if all are equal, or there is none."""
    # The figure may have another unit in a repeat: a drop, where its significance could not be tested.
    of_same_unit = [finding for finding in findings if finding.unit is findings[0].unit]
    observed = [finding.observed for finding in of_same_unit if finding.observed is not None]
    if not observed or min(observed) == max(observed):
        return None
    return min(observed), max(observed)


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
