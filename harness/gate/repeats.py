"""Repeats of a run: the queries whose ranking is not the same in each, why, and what that does to a finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness.gate.moving import why_moving
from harness.gate.reasons import number
from harness.gate.scope import Finding
from harness.gate.ties import tie, tie_break
from harness.model import (
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
from harness.words import listed

PIN = "set `preference`, search a point in time, or merge away what is deleted (`_forcemerge`)"

_TALLIED = {Status.PASSED: "passed", Status.FAILED: "failed"}


def unstable_queries(run: Run) -> tuple[UnstableQuery, ...]:
    """The queries whose ranking is not the same in each repeat of *run*, in its order, each with the first cause."""
    is_moving = bool(why_moving(run))
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
    known = {hit.id: hit for hit in first.hits}
    return (
        len(first.hits) == len(other.hits)
        and all(map(tie, first.hits, other.hits))
        and all(tie(known[hit.id], hit) for hit in other.hits if hit.id in known)
    )


def _are_others(
    before: Mapping[str, Sequence[ShardCopy]] | None, after: Mapping[str, Sequence[ShardCopy]] | None
) -> bool:
    """Whether another copy of a shard answered."""
    if before is None or after is None:
        return False
    return any(before[shard][:1] != after[shard][:1] for shard in before.keys() & after.keys())


def over_repeats(
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
        least, greatest = (f"{number(100 * one)}%" for one in repeats)
    else:
        decimal = unit in (None, Unit.DROP, Unit.P_VALUE)
        least, greatest = (f"{one:.4f}" if decimal else number(one) for one in repeats)
    named = f"{unit} " if unit in (Unit.RANK, Unit.DROP, Unit.P_VALUE) else ""
    return f", from {named}{least} to {greatest}{' ms' * (unit is Unit.MILLISECONDS)}"


def _remedy(finding: Finding, unstable: Sequence[UnstableQuery], template: RequestTemplate | None) -> str:
    """How to make the decision the same each time, in words."""
    if finding.unit is Unit.MILLISECONDS:
        return "warm the engine up (`warm_up`), or leave more room"
    causes = {one.cause for one in unstable}
    remedies = [tie_break(template)] if Instability.TIES in causes else []
    is_service = template is not None and template.http is not None
    if Instability.COPIES in causes and not is_service:
        remedies.append(PIN)
    if Instability.UNKNOWN in causes and not is_service:
        remedies.append("search a point in time, and give random functions a `seed`")
    return "; ".join(filter(None, remedies))
