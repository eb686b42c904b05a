"""The trials of a tuning: proposed, sent unless an equal one was answered, kept; and whether the queries suffice."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Protocol

from harness.errors import SearchError, UsageError
from harness.extensions.tuning.asking import fingerprint_requests, list_limits
from harness.extensions.tuning.decision import (
    TODAY,
    TunedQueries,
    estimate_spread,
    find_detectable,
)
from harness.extensions.tuning.model import TuningTrial
from harness.extensions.tuning.preparing import PILOT, Tuning
from harness.extensions.tuning.study import KeptTrial, Proposal, Study
from harness.means import mean_of
from harness.statistics.power import queries_by_t
from harness.store.what_changed import list_changed_facts
from harness.words import count, format_rounded_up


class TuningProgress(Protocol):
    """Receives how far a tuning is."""

    def study_opened(self, kept: int, trials: int) -> None:
        """The study has *kept* trials, and is to have *trials*."""

    def trial_done(self, trial: TuningTrial, best: TuningTrial | None) -> None:
        """*trial* has its score; *best* is the best one so far that may be chosen."""

    def deciding(self, queries: int) -> None:
        """The *queries* of the hold-out are about to be sent."""


def make_trials(tuning: Tuning, study: Study, progress: TuningProgress | None) -> tuple[str, list[str]]:
    """
    Send trials until the study has as many as were asked for.

    Returns:
        Why there are fewer, and warnings on the number of queries.
    """
    start = time.perf_counter()
    warnings: list[str] | None = None
    stopped = ""
    while not stopped and len(study.kept) < tuning.options.trials:
        if warnings is None and len(study.kept) > PILOT:
            warnings = check_power(tuning, study)
        stopped = explain_budget(tuning, study, time.perf_counter() - start)
        proposal = None if stopped else study.propose()
        if proposal is not None:
            make_trial(tuning, study, proposal)
            report_progress(tuning, study, progress)
        elif not stopped:
            stopped = f"the grid has no more than {count(len(study.kept), 'trial')}"
    if warnings is None:
        warnings = check_power(tuning, study)
    return stopped, warnings


def explain_budget(tuning: Tuning, study: Study, seconds: float) -> str:
    """Why no further trial is begun after so many *seconds*; empty where one is. Today's request is sent always."""
    budget = tuning.options.budget
    if budget is None or not study.kept or seconds < budget:
        return ""
    return f"the budget of {budget:g} s is used up: {len(study.kept)} of {tuning.options.trials} trials"


def report_progress(tuning: Tuning, study: Study, progress: TuningProgress | None) -> None:
    """Tell *progress* of the last trial, and of the best so far."""
    if progress is None:
        return
    trials = list_trials(tuning, study)
    possible = [trial for trial in trials if trial.is_possible]
    best = max(possible, key=lambda trial: trial.score or 0.0, default=None)
    progress.trial_done(trials[-1], best)


NO_MORE_FALSE_HITS = "no more false hits than today's request"
"""The constraint of a suite that has queries for which no result is right, and no threshold on them."""


def make_trial(tuning: Tuning, study: Study, proposal: Proposal) -> KeptTrial:
    """
    Send the trial that is proposed, unless an equal request was answered, and keep it.

    Raises:
        SearchError: It is the first, and a query has no answer.
    """
    requests = fingerprint_requests(tuning.suite, proposal.values, tuning.request)
    equal = next((trial for trial in study.kept if trial.requests == requests), None)
    if equal is not None:
        answer = equal.answer
    else:
        answer = tuning.sender.send(tuning.tuning_queries, proposal.values, is_checked=not study.kept)
        write_facts(tuning, study)
    if answer.failure and not study.kept:
        raise SearchError(f"today's request cannot be tuned: {answer.failure}")
    mean = None
    broken: tuple[str, ...] = ()
    if not answer.failure:
        mean = mean_of(answer.scores, {query: tuning.weights[query] for query in answer.scores})
        # What today's request does not hold either is no constraint on other trials.
        today = study.kept[0].answer if study.kept else answer
        limits = list_limits(tuning.suite, tuning.tuning_queries)
        failing_today = today.verdicts.keys() - limits.keys()
        broken = tuple(text for threshold, text in answer.verdicts.items() if threshold not in failing_today)
        if not limits and len(answer.false_hits) > len(today.false_hits):
            broken += (f"{NO_MORE_FALSE_HITS}: {len(answer.false_hits)}, and {len(today.false_hits)} today",)
    kept = KeptTrial(proposal.number, proposal.values, requests, answer, mean, broken)
    study.add_trial(kept)
    return kept


def write_facts(tuning: Tuning, study: Study) -> None:
    """Keep the facts on the index with the study, for `describe_changed_target` of a later run."""
    facts = tuning.sender.facts
    if facts is not None and study.read_note("facts") is None:
        study.write_note("facts", [facts.documents, facts.mapping, facts.settings])


def describe_changed_target(tuning: Tuning, study: Study) -> list[str]:
    """A warning if the index is another one than that of the first trials."""
    facts, known = tuning.sender.facts, study.read_note("facts")
    if facts is None or known is None:
        return []
    before = dict(zip(("documents", "mapping", "settings"), known, strict=True))
    now = {"documents": facts.documents, "mapping": facts.mapping, "settings": facts.settings}
    changed = list_changed_facts(before, now)
    if not changed:
        return []
    return [
        f"the index changed since the first trials were made ({', '.join(changed)}): their scores are of another one; "
        "remove the journal to make all of them anew"
    ]


def list_trials(tuning: Tuning, study: Study) -> list[TuningTrial]:
    """The trials of *study*, numbered from 0 on."""
    first_of: dict[str, int] = {}
    trials = []
    for number, kept in enumerate(study.kept):
        same_as = first_of.get(kept.requests)
        first_of.setdefault(kept.requests, number)
        trials.append(
            TuningTrial(
                number=number,
                values=tuning.space.settle(kept.values),
                score=kept.mean,
                judged=kept.answer.judged,
                broken=kept.broken,
                same_as=same_as,
                failure=kept.answer.failure,
                false_hits=len(kept.answer.false_hits),
            )
        )
    return trials


def gather_scores(tuning: Tuning, study: Study) -> TunedQueries:
    """The trials of *study* with their scores, for a decision."""
    table = {number: kept.answer.scores for number, kept in enumerate(study.kept)}
    # A query with an undefined score has none in any trial: that is a matter of its judgments.
    scored = set(table[TODAY])
    weights = {query: weight for query, weight in tuning.weights.items() if query in scored}
    return TunedQueries(tuning.space, list_trials(tuning, study), table, weights)


def estimate_pilot_spread(tuning: Tuning, study: Study) -> float | None:
    """How far the differences of queries to today's request spread, by the first trials; None where it is unknown."""
    tuned = gather_scores(tuning, study)
    return estimate_spread(replace(tuned, trials=tuned.trials[: PILOT + 1]))


def check_power(tuning: Tuning, study: Study) -> list[str]:
    """
    Compare the smallest gain that the hold-out shows with the smallest that is worth having.

    Returns:
        A warning where it is too few queries, and the user goes on by force.

    Raises:
        UsageError: The queries are too few.
    """
    spread = estimate_pilot_spread(tuning, study)
    if spread is None:
        return []
    held_out, effect = len(tuning.scored_held_out), tuning.options.effect
    detectable = find_detectable(spread, held_out)
    if detectable is None or detectable <= effect:
        return []
    needed = queries_by_t(spread, effect)
    total = round(needed * (1 + len(tuning.scored_queries) / held_out))
    shown = format_rounded_up(detectable)
    sentence = (
        f"this suite can show gains in {tuning.measure} from about {shown} on, with the {count(held_out, 'query')} of "
        f"its hold-out and a chance of 80 %; a gain of {effect:g} would need {needed:,} there, about {total:,} in the "
        f"suite (rough: by the standard deviation of the differences, {spread:.2g} in the first "
        f"{count(min(len(study.kept), PILOT + 1) - 1, 'trial')}; a choice near today's values often has less)"
    )
    if tuning.options.force:
        return [sentence]
    remedy = f"look for such a gain with --effect {shown}, add queries, or go on all the same with --force"
    raise UsageError(f"{sentence}; {remedy}")
