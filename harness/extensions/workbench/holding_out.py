"""The verdict of the queries that were held out: they are asked once for what is live and for one try."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.errors import SearchError, UsageError
from harness.extensions.tuning.decision import TiedScores, decide_gain, decide_with_ties
from harness.extensions.tuning.hold_outs import add_look, build_hold_out_path, read_hold_out
from harness.extensions.tuning.model import HoldOut, HoldOutLook, TuningDecision, TuningGain
from harness.extensions.workbench.figures import ScoredSide, find_range, includes_zero
from harness.extensions.workbench.guard import leave_out_unranked
from harness.extensions.workbench.opening import Material, answer_queries
from harness.masking import fingerprint
from harness.model.run import Failure
from harness.model.suite import Json, Suite
from harness.report.sentences import format_p
from harness.run import Runner
from harness.store.what_changed import fingerprint_request
from harness.words import count

VERDICTS = {TuningDecision.GAIN: "gain", TuningDecision.LOSS: "loss"}
"""All others are none."""


class UnjudgedHitsError(UsageError):
    """Hits of the queries held out have no grade, and their grades may turn the verdict round; nothing was kept."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the queries that were held out say of a try; nothing of any of them."""

    verdict: str
    short: str
    """A few words, for a comment in the suite."""
    sentence: str
    interval: tuple[float, float] | None
    looks: int
    hold_out: HoldOut


def describe_hold_out(hold_out: HoldOut) -> str:
    """What is held out, and how often it was looked at, in a sentence."""
    queries = count(len(hold_out.queries), "query")
    looks = len(hold_out.looks)
    seen = "Nobody has looked at them yet." if not looks else f"They were looked at {count(looks, 'time')} before."
    return f"{queries} are held out, and neither sent nor shown: finishing asks them once. {seen}"


def give_verdict(material: Material, tried: Suite, runner: Runner, *, needs_grades: bool) -> Verdict:
    """
    Send what is live and the request of *tried* to the queries held out, and keep the look.

    With *needs_grades* there is no verdict, and no look, while the grades of unjudged hits may turn it round: a try
    that finds other documents than the request by which people judged would be called no gain for that alone.

    Raises:
        UnjudgedHitsError: There is no verdict for that.
        UsageError: No queries are held out, or what is live is a baseline.
        SearchError: A query has no answer: nothing is decided, and nothing kept.
    """
    if material.hold_out is None or not material.held_out:
        raise UsageError("no queries are held out: there is no verdict beyond the figures of the page")
    if material.live.answered is None:
        raise UsageError("a baseline is no request that can be sent to the queries held out; try against a request")
    path = build_hold_out_path(material.options.path)
    hold_out = read_hold_out(path, material.suite.roots)
    live_suite = leave_out_unranked(material.suite)
    live = answer_queries(material, live_suite, material.held_out, runner, material.live.name)
    other = answer_queries(material, leave_out_unranked(tried), material.held_out, runner, material.request)
    failed = [query for side in (live, other) for query, found in side.responses.items() if isinstance(found, Failure)]
    if failed:
        queries = count(len(set(failed)), "query")
        raise SearchError(f"no answer for {queries} held out; nothing is decided, and the look does not count")
    weights = {query.id: query.weight for query in material.held_out}
    decision, gain = decide_with_ties(_read_ties(live), _read_ties(other), weights)
    if gain is None or gain.p_value is None:
        raise UsageError(f"no query of those held out has a score of {material.measure.text}")
    unjudged = _describe_unjudged(live, other)
    possible = find_range(live, other)
    if needs_grades and possible is not None and includes_zero(possible):
        command = shlex.join(["relevance", "judge", "page", str(material.options.path), "--all-requests", "--blind"])
        raise UnjudgedHitsError(
            f"No verdict yet: the grades of {unjudged} may turn it round. Write the try into the suite, and have them "
            f"graded without their ranks: {command} --judge OTHER. "
            "This was no look. Ask again to be told all the same."
        )
    before = len(hold_out.looks)
    look = HoldOutLook(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        measure=material.measure.text,
        request=material.request,
        compared=_fingerprint_look(material, live_suite, tried),
        difference=gain.difference,
        p_value=gain.p_value,
        choice=fingerprint_request(tried, material.request),
    )
    hold_out = add_look(path, hold_out, look, material.suite.roots)
    interval = None if gain.low is None or gain.high is None else (gain.low, gain.high)
    said = {
        TuningDecision.GAIN: "A gain",
        TuningDecision.LOSS: "A loss",
    }.get(decision, "No gain is shown")
    figures = f"{gain.difference:+.3f}"
    if interval is not None:
        figures += f" ({interval[0]:+.3f} to {interval[1]:+.3f})"
    short = f"{said[0].lower()}{said[1:]} on {count(gain.queries, 'query')} held out, {figures}"
    sentence = f"{said} on {count(gain.queries, 'query')} that were held out: {figures}, p {format_p(gain.p_value)}."
    sentence += describe_ties(decision, gain)
    if possible is not None:
        sentence += f" By the grades of {unjudged} it may be {possible[0]:+.3f} to {possible[1]:+.3f}."
    if before:
        sentence += f" They were looked at {count(before, 'time')} before: each look makes the next one worth less."
    return Verdict(VERDICTS.get(decision, "none"), short, sentence, interval, before, hold_out)


def _describe_unjudged(live: ScoredSide, other: ScoredSide) -> str:
    counts = [sum(map(side.count_unjudged, side.suite.queries)) for side in (live, other)]
    return f"{count(sum(counts), 'unjudged hit')} ({counts[1]:,} of the try)"


def describe_ties(decision: TuningDecision, gain: TuningGain) -> str:
    """The range that ties leave, and whether that is why there is no verdict."""
    if gain.least is None or gain.greatest is None:
        return ""
    sentence = f" Over the orders of tied documents it is {gain.least:+.3f} to {gain.greatest:+.3f}"
    if decision is TuningDecision.UNDECIDED and decide_gain(gain) is not decision:
        remedy = "break ties in both requests (`sort: [_score, FIELD]`)"
        return f"{sentence}, and not all of that is beyond chance: {remedy}."
    return f"{sentence}."


def _read_ties(side: ScoredSide) -> TiedScores:
    """The scores of *side*, at their least and at their greatest over the orders of ties."""
    least, greatest = dict(side.scores), {}
    for query, (low, high) in side.bands.items():
        if query in least:
            greatest[query] = max(high, least[query])
            least[query] = min(low, least[query])
    return TiedScores(least, greatest)


def _fingerprint_look(material: Material, live: Suite, tried: Suite) -> str:
    suite = material.suite
    parts: list[Json] = [
        fingerprint_request(live, material.live.name),
        fingerprint_request(leave_out_unranked(tried), material.request),
        [material.measure.text, str(suite.gain), str(suite.profile)],
        [[query.id, dict(query.judgments), query.weight] for query in material.held_out],
    ]
    return fingerprint(parts)
