"""The sentences on the differences between two requests, not escaped yet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.extensions.compare.why.differences import Change, Difference, Kind
from harness.extensions.compare.why.model import Estimate, ExplainedDifference, ExplainedQuery, Finding, WhyReport
from harness.model.suite import Json
from harness.report.sentences import format_difference, format_limits
from harness.statistics.paired import EQUAL
from harness.words import count, counted, listed, shorten

_KEY = re.compile(r'"(\w[\w.]*)":')
_TEXT = "{{text}}"

MOVERS_IN_PART = 3
"""Differences that are named of a query which has no cause."""

MOVER_SHOWN = 60
"""Characters of the name of a difference beside a query."""

NAMES_OF_JOINED = 3
"""Differences that are named of several that are switched together."""


def name_difference(difference: Difference) -> str:
    """What *difference* changes, in short."""
    changes = difference.changes
    if len({(change.kind, change.group) for change in changes}) == 1 and changes[0].group:
        name = name_change(changes[0])
        return name if len(changes) == 1 else f"{name}, and {len(changes) - 1} alike"
    return listed([name_change(change) for change in changes], NAMES_OF_JOINED)


def name_change(change: Change) -> str:
    """
    What *change* does, in short.

    >>> name_change(Change(Kind.RENAMED, "/query/multi_match/fields/0", "title", "title.exact"))
    'title → title.exact'
    >>> name_change(Change(Kind.ADDED, "/query/bool/should/0", None, {"match": {"brand": "{{text}}"}}))
    'should + {match: {brand: {{text}}}}'
    """
    before, after = (_format_value(value) for value in (change.before, change.after))
    if change.kind in (Kind.RENAMED, Kind.REWEIGHTED):
        return f"{before} → {after}"
    keys = [key for key in change.pointer.split("/") if key and not key.isdigit()]
    key = keys[-1].replace("~1", "/").replace("~0", "~") if keys else "request"
    if change.kind is Kind.REPLACED:
        return f"{key}: {before} → {after}"
    if change.kind in (Kind.ADDED, Kind.WRAPPED):
        return f"{key} + {after}"
    return f"{key} − {before}"


def _format_value(value: Json) -> str:
    """*value* about as a suite has it."""
    if isinstance(value, str):
        return value
    text = _KEY.sub(r"\1:", json.dumps(value, ensure_ascii=False))
    return shorten(text.replace(f'"{_TEXT}"', _TEXT), 44)


# Of a report.


def format_estimate(estimate: Estimate) -> str:
    """A figure with its interval: ``+0.0840 [+0.0250 to +0.1540]``."""
    limits = ""
    if estimate.low is not None or estimate.high is not None:
        limits = f" [{format_limits(estimate.low, estimate.high)}]"
    return f"{format_difference(estimate.value)}{limits}"


def format_share(share: Estimate | None) -> str:
    """A share with its interval: ``51 % [20 to 81 %]``; a dash where there is none."""
    if share is None:
        return "–"
    limits = ""
    if share.low is not None and share.high is not None:
        limits = f" [{100 * share.low:.0f} to {100 * share.high:.0f} %]"
    return f"{100 * share.value:.0f} %{limits}"


def write_why_headline(why: WhyReport) -> str:
    """The causes of the mean, in a sentence."""
    whole = f"{why.measure} {format_estimate(why.whole)}"
    if why.elsewhere is not None:
        whole += " between the requests, both sent today"
    if not why.differences:
        return f"{whole}: the requests do not differ in what is sent"
    if not why.looks_for_causes:
        parts = []
        if why.moved:
            parts.append("what moved each query is below")
        if abs(why.whole.value) <= EQUAL:
            parts.append("the mean did not move")
        else:
            parts.append("the mean may have moved by chance, so no cause of it is looked for")
        return f"{whole}: {'; '.join(parts)}"
    causes = [difference.name for difference in why.causes]
    differences = count(len(why.differences), "difference")
    if not causes:
        return f"{whole}: none of {differences} is shown to be a cause"
    noun = "cause" if len(causes) == 1 else "causes"
    return f"{whole}: {len(causes)} {noun} among {differences}: {'; '.join(causes)}"


def describe_why(why: WhyReport) -> Iterator[str]:
    """What is to be read beside the table of differences."""
    for part in why.parts:
        effects = [format_estimate(effect.mean) if effect else "refused" for effect in (part.alone, part.reverted)]
        named = "" if part.finding is None else f" ({part.finding})"
        yield f"{part.name} as a whole: {effects[0]} alone, {effects[1]} beside the other{named}"
    if why.together is not None:
        yield f"the request and the index together, beyond each alone: {format_estimate(why.together)}"
    for cause in why.causes:
        reverted, alone = cause.reverted, cause.alone
        assert reverted is not None  # a cause has both arms
        assert alone is not None
        yield (
            f"{cause.name}: {format_share(reverted.share)} of the whole beside the rest, "
            f"{format_share(alone.share)} alone"
        )
    for difference in why.differences:
        yield from _describe_doubt(difference)
    if why.unexplained is not None and why.differences:
        low, high = why.unexplained
        together = " (differences act together)" if max(abs(low), abs(high)) > why.floor + EQUAL else ""
        yield (
            f"not explained of the mean by the differences one by one: {format_difference(low)} to "
            f"{format_difference(high)}{together}"
        )
    if why.elsewhere is not None:
        yield (
            f"the request of the baseline, sent today, is {format_estimate(why.elsewhere)} against the baseline: "
            f"{_describe_elsewhere(why.elsewhere)}"
        )
    if why.floor:
        yield f"the same request, sent twice, moves the mean by up to {why.floor:.2g}: less than that is not named"
    yield from why.notes


def _describe_elsewhere(elsewhere: Estimate) -> str:
    """What the one arm beside the requests says: never that something is a cause."""
    if abs(elsewhere.value) <= EQUAL:
        return "nothing but the request moved the mean"
    if not elsewhere.is_certain:
        return "whether anything but the request moved the mean is uncertain"
    return "consistent with a change of the index, its documents or the engine, which this does not prove"


def _describe_doubt(difference: ExplainedDifference) -> Iterator[str]:
    if difference.finding is Finding.REFUSED:
        yield f"{difference.name}: the engine refuses an arm: {difference.refusal}"
    if difference.finding is not Finding.UNJUDGED:
        return
    parts = []
    for words, effect in (("beside the rest", difference.reverted), ("alone", difference.alone)):
        if effect is not None and effect.range_low is not None:
            parts.append(f"{format_limits(effect.range_low, effect.range_high)} {words}")
    yield f"{difference.name}: by the grades of unjudged hits {' and '.join(parts)}"


def describe_moved(why: WhyReport) -> Iterator[str]:
    """How many queries moved, and what of them is explained."""
    if not why.moved:
        yield "no query has another score"
        return
    moved = len(why.moved)
    by_one = [query for query in why.moved if query.causes and len(query.causes[0]) == 1]
    by_one_alone = [query for query in why.moved if query.alone]
    by_pair = [query for query in why.moved if query.causes and len(query.causes[0]) == 2]
    of_moved = f"of {count(moved, 'query')} that moved"
    yield f"{len(by_one):,} {of_moved}: by one difference"
    if by_one_alone:
        yield f"{len(by_one_alone):,} {of_moved}: by one difference alone, and others move it, too"
    if by_pair:
        yield f"{len(by_pair):,} {of_moved}: by a pair of differences"
    left = [query.id for query in why.moved if not query.causes and not query.alone]
    if left:
        yield f"not explained by one or two differences: {counted(left, 'query')}"
    if why.pairs_left:
        verb = "was" if why.pairs_left == 1 else "were"
        yield f"{count(why.pairs_left, 'pair')} of differences {verb} not sent: --searches does not allow more"


@dataclass(frozen=True, slots=True)
class Mover:
    """A difference that moved a query, in words, with what it does to the score."""

    words: str
    reverted: str
    alone: str


def list_movers(why: WhyReport, query: ExplainedQuery) -> list[Mover]:
    """
    The differences that moved *query*: each of a pair is a line, the second ``with`` the first.

    A cause ``or`` another does it. Without a cause, a difference does all of it ``alone``, or moves the score ``in
    part``.
    """
    effects = {effect.difference: effect for effect in query.effects}
    places = []
    if not query.causes:
        for mover in query.effects[:MOVERS_IN_PART]:
            word = "alone " if mover.difference in query.alone else "in part "
            places.append((word, mover.difference))
    for cause in query.causes:
        places.append(("or " if places else "", cause[0]))
        places += [("with ", place) for place in cause[1:]]
    movers = []
    for word, place in places:
        name = shorten(why.differences[place].name, MOVER_SHOWN)
        effect = effects.get(place)
        values = (None, None) if effect is None else (effect.reverted, effect.alone)
        figures = ["refused" if value is None else format_difference(value) for value in values]
        movers.append(Mover(f"{word}{place + 1} {name}", *figures))
    return movers or [Mover("no difference by itself", "–", "–")]


def describe_plan(
    differences: Sequence[Difference], finest: int, searches: int, pair_searches: int, queries: int
) -> Iterator[str]:
    """What is about to be sent: the differences that were found, and the number of searches."""
    found = count(finest, "difference")
    joined = f", joined to {len(differences)}" if len(differences) < finest else ""
    yield f"{found} between the requests{joined}"
    for difference in differences:
        yield f"  {difference.pointer}  {name_difference(difference)}"
    requests = searches // queries if queries else 0
    yield (
        f"{searches:,} searches, {count(requests, 'request')} for {count(queries, 'query')}, and at most "
        f"{pair_searches:,} more for pairs of differences"
    )
