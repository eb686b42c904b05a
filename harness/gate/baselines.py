"""Thresholds that compare with a baseline: how each kind is judged where not all documents that tie are known."""

from __future__ import annotations

import math
from dataclasses import replace

from harness.gate.drops import judge_drop, movement, with_both
from harness.gate.pairs import Pairs
from harness.gate.scope import Finding
from harness.gate.sentences import count, listed, mean_word
from harness.gate.significance import judge_significance
from harness.gate.worse import judge_worse
from harness.model import BaselineCondition, DropCondition, Status, WorseCondition

__all__ = ["judge_pairs"]


def judge_pairs(condition: BaselineCondition, pairs: Pairs, *, of_query: bool, remedy: str) -> Finding:
    """
    Judge *condition* twice: with the queries of which not all tied documents are known at their worst, and at their
    best.

    Args:
        condition: The threshold.
        pairs: The scores of its measure over its queries.
        of_query: Whether it is a query's own.
        remedy: What would let all tied documents be known, in words.

    Returns:
        What the worst shows where it passes, what the best shows where it fails, so that *observed* is what was decided
        on; INCONCLUSIVE where the two do not agree, or one of them is not known.
    """
    if any(map(math.isinf, (value for span in pairs.open.values() for value in span))):
        return _inconclusive(condition, pairs, "not every order of ties can be looked at", remedy, of_query)
    worst = _judge(condition, pairs.at("worst"), of_query=of_query)
    if not pairs.open:
        return _with_asides(worst, pairs, of_query=of_query)
    best = _judge(condition, pairs.at("best"), of_query=of_query)
    if worst.status is not best.status:
        sentence = f"with ties at their worst, {worst.reason}; at their best, {best.reason}"
        return _inconclusive(condition, pairs, sentence, remedy, of_query)
    if worst.status is Status.PASSED:
        return _with_asides(worst, pairs.at("worst"), of_query=of_query)
    return _with_asides(best, pairs.at("best"), of_query=of_query)


def _judge(condition: BaselineCondition, pairs: Pairs, *, of_query: bool) -> Finding:
    if isinstance(condition, DropCondition):
        return judge_drop(condition, pairs, of_query=of_query)
    if isinstance(condition, WorseCondition):
        return judge_worse(condition, pairs)
    return judge_significance(condition, pairs)


def _with_asides(finding: Finding, pairs: Pairs, *, of_query: bool) -> Finding:
    """*finding* on *pairs*, whose reason says what else there is to know, and what makes a pass tell less."""
    parts = [f"{_read_as(pairs)}{finding.reason}", *_asides(pairs, pairs.reread(), of_query=of_query)]
    caveats = [finding.caveat, *_excused(pairs)] if finding.status is Status.PASSED else []
    return replace(finding, reason="; ".join(parts), caveat="; ".join(filter(None, caveats)))


def _inconclusive(condition: BaselineCondition, pairs: Pairs, sentence: str, remedy: str, of_query: bool) -> Finding:
    spans = {query: greatest - least for query, (least, greatest) in pairs.open.items()}
    blamed = sorted(spans, key=lambda query: (-spans[query], query))
    parts = [
        f"cannot be judged: {sentence}",
        *_asides(pairs, [*blamed, *pairs.reread()], of_query=of_query),
        f"more documents may have the score of the last hit in {count(len(blamed), 'query')} ({listed(blamed)}): "
        f"{remedy}",
    ]
    return Finding(
        status=Status.INCONCLUSIVE,
        reason="; ".join(parts),
        required=condition.level if not isinstance(condition, DropCondition | WorseCondition) else condition.allowed,
        measure=condition.measure.text,
        blamed=tuple(blamed),
        counted=len(pairs.before),
        left_out=pairs.left_out,
    )


def _read_as(pairs: Pairs) -> str:
    """In which order ties were judged, where it is not the one in which they came."""
    if pairs.extreme:
        return f"with ties at their {pairs.extreme}, "
    return f"with ties as in {pairs.against}, " if pairs.reread() else ""


def _asides(pairs: Pairs, reread: list[str], *, of_query: bool) -> list[str]:
    """The values as they came, of the queries *reread* otherwise; what was left out; what changed."""
    parts = [_as_they_came(pairs, reread, of_query=of_query)] if reread else []
    parts += _excused(pairs)
    if pairs.skipped or pairs.undefined:
        groups = ((pairs.skipped, "skipped"), (pairs.undefined, "undefined"))
        parts.append("left out: " + ", ".join(f"{len(group)} {word}" for group, word in groups if group))
    return [*parts, *pairs.changes]


def _as_they_came(pairs: Pairs, reread: list[str], *, of_query: bool) -> str:
    came = pairs.as_they_came()
    subject = "it" if of_query else f"the {mean_word(pairs.weights)}"
    each = "" if of_query else f" ({with_both(came, reread)})"
    return f"as the ties came, {subject} {movement(*came.means(), pairs.against)}{each}"


def _excused(pairs: Pairs) -> list[str]:
    """Which queries count as unchanged, for their ties alone are in another order; and of which that holds in part."""
    found = []
    if pairs.ties:
        found.append(f"only ties changed places in {count(len(pairs.ties), 'query')}: {listed(pairs.ties)}")
    if pairs.mixed:
        found.append(
            f"beside other changes ties changed places in {count(len(pairs.mixed), 'query')}: {listed(pairs.mixed)}"
        )
    return found
