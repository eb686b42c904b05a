"""The end of a tuning: the choice, its comparison with today's request on the hold-out, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from harness.extensions import Remedy, find_remedy
from harness.extensions.tuning.asking import list_decidable, list_limits
from harness.extensions.tuning.decision import (
    TODAY,
    TiedScores,
    TunedQueries,
    choose_optimum,
    compare_false_hits,
    compute_gain,
    decide_with_false_hits,
    decide_with_ties,
    estimate_by_folds,
    find_detectable,
)
from harness.extensions.tuning.hold_outs import draw_hold_out, group_same_queries
from harness.extensions.tuning.looking import write_look
from harness.extensions.tuning.model import (
    TUNING_LEVEL,
    FalseHitsChange,
    FoldsEstimate,
    HoldOut,
    QueryCost,
    TagGain,
    TuningDecision,
    TuningGain,
    TuningOptimum,
    TuningReport,
    TuningTrial,
)
from harness.extensions.tuning.preparing import Tuning
from harness.extensions.tuning.study import Study
from harness.extensions.tuning.trials import (
    NO_MORE_FALSE_HITS,
    TuningProgress,
    describe_changed_target,
    estimate_pilot_spread,
    gather_scores,
)
from harness.gate.conditions import is_for_request
from harness.gate.selection import collect_thresholds
from harness.means import are_weighted
from harness.statistics.paired import EQUAL
from harness.suites.parameters import fill_parameters
from harness.words import count, listed


def conclude_tuning(
    tuning: Tuning, study: Study, progress: TuningProgress | None, stopped: str, warnings: Sequence[str]
) -> TuningReport:
    """Choose a trial, compare it with today's request on the hold-out, and report."""
    tuned = gather_scores(tuning, study)
    optimum = choose_optimum(tuned)
    chosen = tuned.trials[optimum.chosen]
    tuned_gain = add_judged(
        compute_gain(tuned.table[TODAY], tuned.table[chosen.number], tuned.weights, is_tested=False),
        tuned.trials[TODAY].judged,
        chosen.judged,
    )
    assert tuned_gain is not None
    decided = DecidedHoldOut(TuningDecision.TODAY, tuning.hold_out)
    if chosen.number != TODAY:
        if progress is not None:
            progress.deciding(len(tuning.held_out_queries))
        decided = decide_on_hold_out(tuning, study, chosen)
    tuned_false_hits = compare_false_hits(
        [query.id for query in tuning.tuning_queries if query.nothing],
        study.kept[TODAY].answer.false_hits,
        study.kept[chosen.number].answer.false_hits,
        is_tested=False,
    )
    tags = list_tag_gains(tuning, tuned, optimum, decided)
    broken = find_broken(tuning, chosen) if decided.decision is TuningDecision.GAIN else ()
    sent_trials = sum(trial.same_as is None for trial in tuned.trials)
    saved = (len(tuned.trials) - sent_trials) * len(tuning.tuning_queries)
    template = fill_parameters(tuning.suite, chosen.values).requests[tuning.request]
    constraints, not_held = list_constraints(tuning, study)
    return TuningReport(
        suite=str(tuning.path),
        name=tuning.suite.name,
        request=tuning.request,
        engine=tuning.sender.engine,
        index=tuning.sender.index,
        measure=tuning.measure.text,
        sampler=tuning.options.sampler,
        seed=tuning.options.seed,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        parameters=tuning.space.parameters,
        trials=tuple(tuned.trials),
        optimum=optimum,
        decision=decided.decision,
        hold_out=decided.hold_out,
        tuning_queries=len(tuning.tuning_queries),
        held_out_gain=decided.gain,
        held_out_false_hits=decided.false_hits,
        tuned_false_hits=tuned_false_hits,
        tuned_gain=tuned_gain,
        optimistic_gain=join_gains(tuning, tuned, optimum, decided),
        folds=estimate_folds(tuning, tuned),
        importance=study.find_importance(),
        costs=list_costs(tuning, tuned, optimum, decided),
        constraints=constraints,
        not_held=not_held,
        effect=tuning.options.effect,
        detectable=find_shown_gain(tuning, study, decided.gain),
        depth=tuning.sender.depth,
        weighted=are_weighted(tuned.weights.values()),
        broken=broken,
        tags=tags,
        is_seen=tuning.is_seen,
        warnings=(
            *warnings,
            *describe_changed_target(tuning, study),
            *describe_looks(decided.hold_out),
            *describe_broken(broken),
            *describe_losing_tags(tags),
            *warn_of_false_hits(decided),
            *warn_of_ties(decided.gain),
            *describe_few_changes(decided.gain),
            *warn_of_unjudged(tuned.trials, tuned_gain, decided.gain),
        ),
        notes=tuple(list_notes(tuning, study)),
        sent=tuning.sender.sent,
        saved=saved,
        stopped=stopped,
        tied=sum(bool(kept.answer.greatest) for kept in study.kept),
        changed_body=template.body if template.masked is None else template.masked.get("body", {}),
        exit_status=3 if decided.decision is TuningDecision.OPEN else 0,
    )


BothScores: TypeAlias = tuple[Mapping[str, float], Mapping[str, float]]
"""The scores of today's request and those of the choice, by query."""


@dataclass(frozen=True, slots=True)
class DecidedHoldOut:
    """What the hold-out says; without a gain and scores where today's request stays, or where there are no answers."""

    decision: TuningDecision
    hold_out: HoldOut
    gain: TuningGain | None = None
    scores: BothScores | None = None
    false_hits: FalseHitsChange | None = None
    has_allowed_hits: bool = True
    """Whether the choice has no more false hits than are allowed."""


def decide_on_hold_out(tuning: Tuning, study: Study, chosen: TuningTrial) -> DecidedHoldOut:
    """Send the hold-out with today's request and with the choice, and record that it was looked at."""
    queries = tuning.held_out_queries
    today = tuning.sender.send(queries, tuning.space.today, is_checked=True)
    answer = tuning.sender.send(queries, chosen.values)
    decision, gain = decide_with_ties(
        TiedScores(today.scores, today.greatest), TiedScores(answer.scores, answer.greatest), tuning.weights
    )
    gain = add_judged(gain, today.judged, answer.judged)
    if gain is None or today.failure or answer.failure:
        return DecidedHoldOut(TuningDecision.OPEN, tuning.hold_out)
    hold_out = write_look(tuning, study, chosen.values, gain)
    nothing_right = [query.id for query in queries if query.nothing]
    false_hits = compare_false_hits(nothing_right, today.false_hits, answer.false_hits, is_tested=True)
    limits = list_limits(tuning.suite, queries)
    is_allowed = answer.verdicts.keys().isdisjoint(limits)
    if not limits:
        is_allowed = len(answer.false_hits) <= len(today.false_hits)
    decision = decide_with_false_hits(decision, false_hits, is_allowed=is_allowed)
    scores = (today.scores, answer.scores)
    return DecidedHoldOut(decision, hold_out, gain, scores, false_hits, has_allowed_hits=is_allowed)


def join_scores(tuned: TunedQueries, optimum: TuningOptimum, held_out: BothScores) -> BothScores:
    """The scores on the tuning queries and on the hold-out."""
    return {**tuned.table[TODAY], **held_out[0]}, {**tuned.table[optimum.chosen], **held_out[1]}


def list_tag_gains(
    tuning: Tuning, tuned: TunedQueries, optimum: TuningOptimum, decided: DecidedHoldOut
) -> tuple[TagGain, ...]:
    """What the choice gains or loses by tag, the greatest loss first; nothing without answers of the hold-out."""
    held_out = decided.scores
    if held_out is None:
        return ()
    queries_by_tag: dict[str, set[str]] = {}
    for query in (*tuning.tuning_queries, *tuning.held_out_queries):
        for tag in query.tags:
            queries_by_tag.setdefault(tag, set()).add(query.id)
    everywhere = join_scores(tuned, optimum, held_out)
    gains = []
    for tag, queries in queries_by_tag.items():
        overall = compute_tag_gain(*everywhere, queries, tuning.weights)
        if overall is not None:
            gains.append(TagGain(tag, compute_tag_gain(*held_out, queries, tuning.weights), overall))
    return tuple(sorted(gains, key=lambda gain: (gain.overall.difference, gain.tag)))


def compute_tag_gain(
    today: Mapping[str, float], chosen: Mapping[str, float], queries: Set[str], weights: Mapping[str, float]
) -> TuningGain | None:
    """The gain over those of *queries* that have a score of both; None where none has."""
    of_today, of_choice = ({query: scores[query] for query in scores.keys() & queries} for scores in (today, chosen))
    return compute_gain(of_today, of_choice, weights, is_tested=False)


def describe_losing_tags(tags: Sequence[TagGain]) -> list[str]:
    """A warning if the mean falls of queries with a tag, though the choice was made by most of them."""
    losses = [(gain.tag, gain.overall) for gain in tags if gain.overall.difference < -EQUAL]
    losing = [f"{tag} {gain.difference:+.4f} ({count(gain.queries, 'query')})" for tag, gain in losses]
    if not losing:
        return []
    return [f"the choice loses on the queries of {count(len(losing), 'tag')}: {listed(losing, TAGS_NAMED)}"]


TAGS_NAMED = 5


def find_broken(tuning: Tuning, chosen: TuningTrial) -> tuple[str, ...]:
    """
    The thresholds that the choice breaks on all queries and today's request holds: those a build would fail by.

    Those on the worst query, on a tag or on a query of its own may break on the hold-out alone.
    """
    queries = [query for query in tuning.suite.queries if query.id in tuning.weights]
    if not collect_thresholds(replace(tuning.suite, thresholds=list_decidable(tuning.suite.thresholds, queries))):
        return ()
    answer = tuning.sender.send(queries, chosen.values)
    if answer.failure:
        return (f"the thresholds on all queries are not decided: {answer.failure}",)
    if not answer.verdicts:
        return ()
    held_today = tuning.sender.send(queries, tuning.space.today).verdicts
    return tuple(text for threshold, text in answer.verdicts.items() if threshold not in held_today)


def describe_broken(broken: Sequence[str]) -> list[str]:
    """A warning if the choice breaks thresholds that today's request holds."""
    if not broken:
        return []
    texts = "; ".join(broken)
    return [f"on all queries the choice breaks what today's request holds, and `relevance run` would fail: {texts}"]


def find_shown_gain(tuning: Tuning, study: Study, gain: TuningGain | None) -> float | None:
    """The smallest gain that the hold-out shows: by the differences of the choice there, else by the first trials."""
    if gain is not None and gain.least_p is not None and gain.least_p > TUNING_LEVEL:
        # Too few of them change, however many there are.
        return None
    if gain is not None and gain.detectable is not None:
        return gain.detectable
    spread = estimate_pilot_spread(tuning, study)
    return None if spread is None else find_detectable(spread, len(tuning.scored_held_out))


def add_judged(gain: TuningGain | None, today: float | None, chosen: float | None) -> TuningGain | None:
    """*gain* with the shares of judged hits."""
    return None if gain is None else replace(gain, judged_today=today, judged_chosen=chosen)


def join_gains(
    tuning: Tuning, tuned: TunedQueries, optimum: TuningOptimum, decided: DecidedHoldOut
) -> TuningGain | None:
    """The gain over all queries, by most of which the choice was made; None without answers of the hold-out."""
    if decided.scores is None:
        return None
    return compute_gain(*join_scores(tuned, optimum, decided.scores), tuning.weights, is_tested=False)


def estimate_folds(tuning: Tuning, tuned: TunedQueries) -> FoldsEstimate | None:
    """The estimate by folds that was asked for, with folds like the hold-out: alike in tags and weights."""
    number = tuning.options.folds
    scored = [query for query in tuning.tuning_queries if query.id in tuned.table[TODAY]]
    if number < 2 or len(group_same_queries(scored)) < 2 * number:
        return None
    folds: list[set[str]] = []
    left = scored
    for remaining in range(number, 1, -1):
        drawn = set(draw_hold_out(left, 1 / remaining, tuning.options.seed + remaining).queries)
        folds.append(drawn)
        left = [query for query in left if query.id not in drawn]
    folds.append({query.id for query in left})
    return estimate_by_folds(tuned, folds)


def list_costs(
    tuning: Tuning, tuned: TunedQueries, optimum: TuningOptimum, decided: DecidedHoldOut
) -> tuple[QueryCost, ...]:
    """The queries whose score the choice changes, the greatest loss first."""
    parts = [(tuning.tuning_queries, tuned.table[TODAY], tuned.table[optimum.chosen], False)]
    if decided.scores is not None:
        parts.append((tuning.held_out_queries, *decided.scores, True))
    costs = []
    for queries, today, chosen, is_held_out in parts:
        for query in queries:
            before, after = today.get(query.id), chosen.get(query.id)
            if before is not None and after is not None and before != after:
                cost = QueryCost(query.id, query.text, before, after, is_held_out, query.tags, query.weight)
                costs.append(cost)
    return tuple(sorted(costs, key=lambda cost: cost.difference * cost.weight))


def list_constraints(tuning: Tuning, study: Study) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The thresholds that a choice has to hold, and those that today's request does not hold, with the reasons."""
    limits = list_limits(tuning.suite, tuning.tuning_queries)
    failing = study.kept[0].answer.verdicts
    not_held = {threshold: text for threshold, text in failing.items() if threshold not in limits}
    thresholds = list_decidable(tuning.suite.thresholds, tuning.tuning_queries)
    suite = replace(tuning.suite, queries=tuple(tuning.tuning_queries), thresholds=thresholds)
    texts = []
    for threshold in collect_thresholds(suite):
        if threshold.id not in not_held and is_for_request(threshold.threshold, suite, tuning.request):
            of_query = "" if threshold.query is None else f" of {threshold.query.id}"
            texts.append(f"{threshold.threshold.text}{of_query}")
    if not limits and any(query.nothing for query in tuning.tuning_queries):
        texts.append(NO_MORE_FALSE_HITS)
    return tuple(texts), tuple(not_held.values())


def describe_looks(hold_out: HoldOut) -> list[str]:
    """A warning if the hold-out was looked at before."""
    looks = len(hold_out.looks)
    if looks < 2:
        return []
    return [
        f"this is look {looks} at the same hold-out, by another request, measure or judgments: with each further one a "
        "gain by chance becomes more likely; "
        "decide the last by new queries, with another hold-out"
    ]


def warn_of_false_hits(decided: DecidedHoldOut) -> list[str]:
    """A warning if the choice has more false hits on the hold-out than are allowed, so that it is no gain."""
    change = decided.false_hits
    if change is None or decided.has_allowed_hits:
        return []
    return [
        f"the choice has more false hits on the hold-out than are allowed, {change.chosen} of {change.queries} (today "
        f"{change.today}): it is no gain, whatever the scores of the others"
    ]


def warn_of_ties(gain: TuningGain | None) -> list[str]:
    """A warning if the order of ties, of which the engine has none, moves the gain on the hold-out."""
    if gain is None or gain.least is None or gain.greatest is None:
        return []
    return [
        f"the order of tied documents moves the difference on the hold-out from {gain.least:+.4f} to "
        f"{gain.greatest:+.4f}: each score is the least over their orders, and only a gain in every order is one; "
        "break ties in the request to know more"
    ]


def describe_few_changes(gain: TuningGain | None) -> list[str]:
    """A warning if so few queries of the hold-out change that no gain could be shown, however large."""
    if gain is None or gain.changed is None or gain.least_p is None or gain.least_p <= TUNING_LEVEL:
        return []
    return [
        f"only {count(gain.changed, 'query')} of the hold-out changed, so that p cannot be below {gain.least_p:.4g}: "
        "the test can show no gain, however large; add queries to the suite"
    ]


def warn_of_unjudged(
    trials: Sequence[TuningTrial], tuned_gain: TuningGain, held_out_gain: TuningGain | None
) -> list[str]:
    """Warnings where what is not judged may be what moves the scores."""
    warnings = []
    for gain, queries in ((tuned_gain, "tuning queries"), (held_out_gain, "hold-out")):
        if gain is None or gain.judged_today is None or gain.judged_chosen is None:
            continue
        judged = f"{gain.judged_chosen:.0%} in place of {gain.judged_today:.0%}"
        if gain.judged_chosen < gain.judged_today - NOTICEABLE:
            verb = "gains" if gain.difference > 0 else "loses"
            warnings.append(
                f"the choice {verb} on the {queries} with fewer judged hits, {judged}: those that nobody judged count "
                "as not relevant; judge them before it is taken or dropped"
            )
    today = trials[TODAY]
    worse = [
        trial
        for trial in trials[1:]
        if trial.score is not None
        and today.score is not None
        and trial.judged is not None
        and today.judged is not None
        and trial.score < today.score
        and trial.judged < today.judged - NOTICEABLE
    ]
    if worse:
        least = min(trial.judged or 0.0 for trial in worse)
        remedy = find_remedy(Remedy.GRADE, "; `{command}` grades what was not judged")
        warnings.append(
            f"{count(len(worse), 'trial')} of {len(trials) - 1} lost with fewer judged hits than today's request, down "
            f"to {least:.0%}: they may be better than they score{remedy}"
        )
    return warnings


NOTICEABLE = 0.01
"""By how much the share of judged hits has to differ to be said."""


def list_notes(tuning: Tuning, study: Study) -> list[str]:
    """Sentences on what the figures leave out."""
    notes = []
    undefined = len(tuning.scored_queries) - len(study.kept[0].answer.scores)
    if undefined:
        notes.append(
            f"{count(undefined, 'query')} of the tuning part has no score of {tuning.measure}, and counts in no mean"
        )
    if study.kept[TODAY].broken and all(kept.broken or kept.answer.failure for kept in study.kept):
        notes.append(
            "no trial has as few false hits as the suite allows: try other values of a floor such as min_score"
        )
    failed = [kept for kept in study.kept if kept.answer.failure]
    if failed:
        notes.append(f"{count(len(failed), 'trial')} has no score; the first: {failed[0].answer.failure}")
    left_out = len(tuning.suite.thresholds) - len(list_decidable(tuning.suite.thresholds, tuning.tuning_queries))
    if left_out:
        notes.append(
            f"no constraint: {count(left_out, 'threshold')} on variants, other requests, estimates, or tags without"
            " tuning queries"
        )
    notes.append("today's request may have been tuned on these queries before: then its own scores are too high too")
    return notes
