"""
What makes a decision unstable: a target that changed during the searches, and repeats with another ranking.

The states in which the target was seen tell how it changed. Of the repeats of a run: the queries whose ranking is not
the same in each, why, and what that does to a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise
from typing import TypeVar

from harness.gate.finding import Finding, format_number
from harness.gate.ties import is_tie, suggest_tie_break
from harness.model import (
    Definitions,
    IndexState,
    Instability,
    Query,
    Ranking,
    Repeat,
    RequestTemplate,
    Response,
    Run,
    ShardCopy,
    Status,
    Unit,
    UnstableQuery,
)
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
        changed_before = explain_changed_target(before)
        if changed_before:
            return changed_before
        if before.index != run.index or not _uuids_of(before) & _uuids_of(run):
            return explain_changed_target(run)
        run = replace(run, states=(*before.states, *run.states))
    changes = [
        *_moved([state.uuids for state in run.states if state.uuids is not None]),
        *_strange_hits(run),
        *_grown([state.documents for state in run.states if state.documents is not None]),
        *_filtered_otherwise([state.filters for state in run.states if state.filters is not None]),
        *_redefined([state.definitions for state in run.states if state.definitions is not None]),
    ]
    changes = changes or [*_rewritten([state.writes for state in run.states if state.writes is not None])]
    changes = changes or [*_became_visible(run.states)]
    return f"{run.index or 'the target'} changed during the run: {'; '.join(changes)}" if changes else ""


def _uuids_of(run: Run) -> set[str]:
    """The UUIDs of the indexes that *run* searched; another cluster may have an index of the same name."""
    return {uuid for state in run.states for uuid in (state.uuids or {}).values()}


def _moved(uuids: Sequence[Mapping[str, str]]) -> Iterator[str]:
    names = _each_change([sorted(one) for one in uuids])
    if len(names) > 1:
        *before, now = map(listed, names)
        yield f"it stood for {', then '.join(before)} and stands for {now}"
    rebuilt = {
        name
        for before, after in pairwise(uuids)
        for name in before.keys() & after.keys()
        if before[name] != after[name]
    }
    if rebuilt:
        yield f"{listed(sorted(rebuilt))} was deleted and created again"


def _strange_hits(run: Run) -> Iterator[str]:
    """Hits in an index that was in no state: the alias was moved and moved back between two looks."""
    known = {name for state in run.states for name in state.uuids or ()}
    found: set[str] = set()
    for responses in (run.responses, *(repeat.responses for repeat in run.repeats)):
        for response in responses.values():
            if isinstance(response, Ranking):
                found.update(response.indexes)
    # A state does not list the indexes of remote clusters, whose names have a colon.
    strange = sorted(name for name in found - known if ":" not in name)
    if known and strange:
        yield f"some hits are in {listed(strange)}, for which it did not stand whenever that was looked up"


def _grown(documents: Sequence[int]) -> Iterator[str]:
    found = _each_change(documents)
    if len(found) > 1:
        first, *between, now = found
        yield f"it had {count(first, 'document')}{''.join(f', then {one:,}' for one in between)} and has {now:,}"


def _filtered_otherwise(filters: Sequence[Mapping[str, str]]) -> Iterator[str]:
    if len(_each_change(filters)) > 1:
        yield "the filter of its alias is another one"


def _redefined(definitions: Sequence[Definitions]) -> Iterator[str]:
    """The places whose definitions changed, as far as they were read before and after."""
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
        yield f"the {place} changed{names and f' ({names})'}"


def _became_visible(states: Sequence[IndexState]) -> Iterator[str]:
    """Documents that were written before: no number of `IndexState` but these two need change then."""
    newest = _each_change([state.newest for state in states if state.newest is not None])
    latest: dict[str, int] = {}
    is_risen = False
    for state in states:
        for copy, documents in (state.visible or {}).items():
            is_risen |= documents > latest.get(copy, documents)
            latest[copy] = documents
    if len(newest) > 1 or is_risen:
        yield "documents that were written before became visible to searches (a refresh)"


def _rewritten(writes: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """Writes to shards that existed before and after, while the number of documents stayed the same."""
    written = sum(
        abs(after[shard] - before[shard])
        for before, after in pairwise(writes)
        for shard in before.keys() & after.keys()
    )
    if written:
        yield f"documents were replaced, or others added and deleted ({count(written, 'write')})"


def _each_change(values: Sequence[T]) -> list[T]:
    """*values* without those that equal the one before."""
    return [value for value, _ in groupby(values)]


# Repeats.


def find_unstable_queries(run: Run) -> tuple[UnstableQuery, ...]:
    """The queries whose ranking is not the same in each repeat of *run*, in its order, each with the first cause."""
    is_moving = bool(explain_changed_target(run))
    found = []
    for query, first in run.responses.items() if run.repeats else ():
        others = [(repeat, repeat.responses[query]) for repeat in run.repeats if query in repeat.responses]
        different = {_ids(response) for _, response in others} - {_ids(first)}
        if not different:
            continue
        repeat, other = next(pair for pair in others if _ids(pair[1]) != _ids(first))
        cause = Instability.MOVING if is_moving else _cause(run, first, repeat, other)
        found.append(UnstableQuery(query, cause, rankings=len(different) + 1))
    return tuple(found)


def _ids(response: Response) -> tuple[str, ...] | None:
    """The ranking by ids; None where there is none."""
    return tuple(hit.id for hit in response.hits) if isinstance(response, Ranking) else None


def _cause(run: Run, first: Response, repeat: Repeat, other: Response) -> Instability:
    if not (isinstance(first, Ranking) and isinstance(other, Ranking)):
        return Instability.UNANSWERED
    if _differ_in_ties(first, other):
        return Instability.TIES
    before = next((state.copies for state in run.states if state.copies), None)
    return Instability.COPIES if _are_others(before, repeat.copies) else Instability.UNKNOWN


def _differ_in_ties(first: Ranking, other: Ranking) -> bool:
    """Whether each document ties with itself in the other, and with the one at its rank there."""
    if len(first.hits) != len(other.hits):
        return False
    exact = first.exact_scores or other.exact_scores
    at_ranks = zip(first.hits, other.hits, strict=True)
    known = {hit.id: hit for hit in first.hits}
    with_themselves = [(known[hit.id], hit) for hit in other.hits if hit.id in known]
    return all(is_tie(hit, counterpart, exact=exact) for hit, counterpart in chain(at_ranks, with_themselves))


def _are_others(
    before: Mapping[str, Sequence[ShardCopy]] | None, after: Mapping[str, Sequence[ShardCopy]] | None
) -> bool:
    """Whether another copy of a shard answered."""
    if before is None or after is None:
        return False
    return any(before[shard][:1] != after[shard][:1] for shard in before.keys() & after.keys())


def judge_repeats(
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
    observed = [one.observed for one in findings if one.observed is not None and one.unit is first.unit]
    repeats = (min(observed), max(observed)) if observed and min(observed) != max(observed) else None
    if all(one.status is first.status for one in findings):
        return replace(first, repeats=repeats)
    tally = Counter(_TALLIED.get(one.status, "undecided") for one in findings)
    outcomes = ", ".join(f"{outcome} in {times}" for outcome, times in tally.items())
    ids = {query.id for query in scope}
    concerned = [one for one in unstable if one.query in ids]
    parts = [f"the decision is not stable over {len(findings)} repeats: {outcomes}{_moves(repeats, first.unit)}"]
    if concerned:
        parts.append(f"other rankings of {listed([one.query for one in concerned])}")
    undecided = [one.reason for one in findings if one.status not in _TALLIED]
    parts += [_remedy(first, concerned, template), *undecided[:1], first.reason]
    reason = "; ".join(dict.fromkeys(filter(None, parts)))
    return replace(first, status=Status.INCONCLUSIVE, reason=reason, blamed=(), repeats=repeats)


def _moves(repeats: tuple[float, float] | None, unit: Unit | None) -> str:
    if repeats is None:
        return ""
    if unit is Unit.SHARE:
        least, greatest = (f"{format_number(100 * one)}%" for one in repeats)
    else:
        decimal = unit in (None, Unit.DROP, Unit.P_VALUE)
        least, greatest = (f"{one:.4f}" if decimal else format_number(one) for one in repeats)
    named = f"{unit} " if unit in (Unit.RANK, Unit.DROP, Unit.P_VALUE) else ""
    return f", from {named}{least} to {greatest}{' ms' * (unit is Unit.MILLISECONDS)}"


def _remedy(finding: Finding, unstable: Sequence[UnstableQuery], template: RequestTemplate | None) -> str:
    """How to make the decision the same each time, in words."""
    if finding.unit is Unit.MILLISECONDS:
        return "warm the engine up (`warm_up`), or leave more room"
    causes = {one.cause for one in unstable}
    remedies = [suggest_tie_break(template)] if Instability.TIES in causes else []
    is_service = template is not None and template.http is not None
    if Instability.COPIES in causes and not is_service:
        remedies.append(PIN)
    if Instability.UNKNOWN in causes and not is_service:
        remedies.append("search a point in time, and give random functions a `seed`")
    return "; ".join(filter(None, remedies))
