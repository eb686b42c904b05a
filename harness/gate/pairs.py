"""A run beside its baseline: the queries that have a score in both, or why the two cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from harness.gate.finding import (
    Finding,
    Scope,
    describe_changed_question,
    describe_undefined,
    explain_nothing_left,
    name_mean,
    read_weights,
    scope_scores,
)
from harness.gate.grammar import TOLERANCE
from harness.gate.inputs import GateInputs
from harness.gate.ties import TiedValue, read_ties, reorder_ties, suggest_tie_break, truncate_ranking
from harness.means import mean_of, scale_by_weights
from harness.metrics import measure_range
from harness.metrics.run_scores import gain_text
from harness.metrics.unjudged import bound_differences, has_unjudged, needs_grades
from harness.model.kept import Reference
from harness.model.run import Cause, Ranking, Status
from harness.model.suite import Measure, Query
from harness.statistics.paired import pair_defined
from harness.words import count, counted, listed


@dataclass(frozen=True, slots=True)
class Pairs:
    """
    Scores of the same queries in two runs, that of the baseline and that of today.

    If the order of tied documents changes the score of a query, *after* has the score without that change, and *today*
    the score of the ranking as returned.
    """

    name: str
    """The measure, as reasons call it."""
    measure: Measure
    before: Mapping[str, float]
    """The scores in the baseline."""
    after: Mapping[str, float]
    """The scores of today, without changes that come only from the order of ties."""
    only_ties: tuple[str, ...]
    """The queries whose ranking differs by the order of ties only."""
    undefined: tuple[str, ...]
    skipped: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """Sentences on what was compared, such as the runs of a median."""
    against: str = "the baseline"
    """The other run, as reasons call it."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weights of today; empty where all queries weigh the same."""
    today: Mapping[str, float] = field(default_factory=dict)
    ties_and_more: tuple[str, ...] = ()
    """The queries whose ranking differs by the order of ties, and by more."""
    tie_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and the greatest score of each query of which not all tied documents are known."""
    extreme: Literal["worst", "best"] | None = None
    """Which of the two scores in *tie_ranges* is in *after*; None where it is neither."""
    least: float | None = None
    """The lower bound of the measure; None where it has none."""
    zero_hits: tuple[str, ...] = ()
    """The queries that have no hit today."""
    origin: str = ""
    """What *before* is of, to follow its value; empty where *against* says it."""
    if_judged: tuple[float, float] | None = None
    """How far unjudged hits may move the difference of the means; None where none do, or that was not asked."""

    @property
    def left_out(self) -> int:
        """How many queries of the scope were not compared."""
        return len(self.undefined) + len(self.skipped)

    @property
    def mean_name(self) -> str:
        """The mean, as reasons call it."""
        return f"{name_mean(self.weights)} {self.name}"

    def compute_means(self) -> tuple[float, float]:
        """The mean before and after, weighted where the queries have weights."""
        return mean_of(self.before, self.weights), mean_of(self.after, self.weights)

    def move_ties_to(self, extreme: Literal["worst", "best"]) -> Pairs:
        """These pairs with the worst, or the best, score of each query in *tie_ranges* as the one of today."""
        if not self.tie_ranges:
            return replace(self, extreme=None)
        after = dict(self.after)
        for query, (least, greatest) in self.tie_ranges.items():
            if extreme == "worst":
                after[query] = least
            else:
                after[query] = greatest
        return replace(self, after=after, extreme=extreme)

    def restore_returned(self) -> Pairs:
        """These pairs with each query's value of today as returned, ties not corrected."""
        return replace(self, after=self.today)

    def list_reordered(self) -> list[str]:
        """The queries whose value differs from the returned one, the greatest difference first."""
        compared = self.after.keys() & self.today.keys()
        differences = {query: abs(self.today[query] - self.after[query]) for query in compared}
        return _sort_greatest_first(differences)

    def compute_drops(self) -> dict[str, float]:
        """How far each query fell below its baseline; negative where it rose."""
        return {query: self.before[query] - self.after[query] for query in self.before}

    def list_fallen(self) -> list[str]:
        """The queries that fell, the greatest fall first, equal ones by their id."""
        return _sort_greatest_first(self.compute_drops())

    def list_costliest(self) -> list[str]:
        """The queries that fell, by how much each lowered the mean: its weight times its fall."""
        weighed_drops = self.weigh_drops()
        return sorted(self.list_fallen(), key=lambda query: (-weighed_drops[query], query))

    def weigh_drops(self) -> dict[str, float]:
        """The drops, each times its weight over the mean weight: their plain mean is the drop of the weighted mean."""
        drops = self.compute_drops()
        for query, drop in drops.items():
            # A difference from summing the same score in another order is not a drop.
            if abs(drop) <= TOLERANCE:
                drops[query] = 0.0
        if not self.weights:
            return drops
        scaled = scale_by_weights(list(drops.values()), [self.weights[query] for query in drops])
        return dict(zip(drops, scaled, strict=True))


def _sort_greatest_first(differences: Mapping[str, float]) -> list[str]:
    """The queries with a positive difference, the greatest first, equal ones by their id."""
    positive = [query for query, difference in differences.items() if difference > TOLERANCE]
    return sorted(positive, key=lambda query: (-differences[query], query))


def pair_scores(inputs: GateInputs, queries: Sequence[Query], measure: Measure) -> Pairs | Finding:
    """
    Pair the scores of *queries* with those of the baseline.

    Returns:
        A finding where they cannot be compared: ERROR where a query has no answer; FAILED, or WARNED where the suite's
        baseline is optional, where there is no baseline or it is older than the suite; FAILED where a query is
        undefined and may not be left out, or no query can be compared; SKIPPED where the run is to become the baseline
        itself.
    """
    suite = inputs.suite
    today = scope_scores(queries, measure.text, inputs.scores, inputs.today)
    pairing = _Pairing(inputs, queries, measure, today)
    if today.unanswered:
        return pairing.refuse(Status.ERROR, today.no_score, Cause.UNANSWERED, tuple(today.unanswered))
    reference = inputs.reference
    if reference is not None and reference.updating:
        reason = "not compared: this run is saved as the baseline"
        return Finding(Status.SKIPPED, reason, measure=measure.text, cause=Cause.NOT_COMPARED)
    answered = (*today.counted, *today.undefined)
    problem = explain_unusable(reference, answered, measure.cutoff or suite.depth)
    if not problem and reference is not None and reference.is_cut(measure, suite.depth):
        problem = _explain_lowered_depth(reference, measure, suite.depth)
    if problem or reference is None or reference.run is None:
        status = Status.WARNED if suite.baseline_optional else Status.FAILED
        return pairing.refuse(status, problem, find_cause_of_refusal(reference))
    earlier = scope_scores(queries, measure.text, inputs.reference_scores, inputs.today)
    without_score = [query for query in earlier.unanswered if query in answered]
    if without_score:
        sentence = f"{reference.called} has no score for {count(len(without_score), 'query')}: {listed(without_score)}"
        return pairing.refuse(Status.ERROR, sentence, Cause.UNANSWERED, tuple(without_score))
    undefined_ids = {*today.undefined, *earlier.undefined}
    undefined = tuple(query.id for query in queries if query.id in undefined_ids)
    if undefined and not suite.skip_undefined:
        sentence = f"it {describe_undefined(undefined, today.size)}"
        return pairing.refuse(Status.FAILED, sentence, Cause.UNDEFINED, undefined)
    paired = pair_defined(earlier.counted, today.counted)
    if not paired:
        why = explain_nothing_left(today.skipped, undefined)
        sentence = f"no query is left to compare: {why}"
        return pairing.refuse(Status.FAILED, sentence, Cause.NOTHING_TO_DECIDE, undefined)
    before = {query: score_before for query, (score_before, _) in paired.items()}
    return pairing.pair(reference, before, undefined)


@dataclass(frozen=True, slots=True)
class _Pairing:
    """The scores of *measure* for *queries* that are to be compared; *scope* has those of today."""

    inputs: GateInputs
    queries: Sequence[Query]
    measure: Measure
    scope: Scope

    @property
    def name(self) -> str:
        """The measure as reasons call it, with the gain in force where it uses one."""
        gain = gain_text(self.measure, self.inputs.suite)
        if not gain:
            return self.measure.text
        return f"{self.measure.text} (gain {gain})"

    def refuse(self, status: Status, sentence: str, cause: Cause, blamed: tuple[str, ...] = ()) -> Finding:
        """The finding that they cannot be compared."""
        against = "the baseline"
        if self.inputs.reference is not None:
            against = self.inputs.reference.called
        return Finding(
            status,
            f"{self.name} cannot be compared with {against}: {sentence}",
            measure=self.measure.text,
            blamed=blamed,
            counted=len(self.scope.counted),
            left_out=len(self.scope.skipped),
            cause=cause,
        )

    def pair(self, reference: Reference, before: Mapping[str, float], undefined: tuple[str, ...]) -> Pairs:
        """Pair the scores of the queries in *before*, whose values of today are corrected for ties."""
        today = {query: self.scope.counted[query] for query in before}
        after = dict(today)
        only_ties: list[str] = []
        ties_and_more: list[str] = []
        tie_ranges: dict[str, tuple[float, float]] = {}
        for query, tied_value in self._read_ties(reference, before).items():
            least, greatest = tied_value.least, tied_value.greatest
            if tied_value.only_ties:
                # Nothing else changed, so the value in the baseline's order is the baseline's own.
                if _is_different(before[query], today[query]):
                    after[query] = before[query]
                    only_ties.append(query)
            elif _is_different(least, greatest):
                # Documents may tie that neither run returned: the score is anywhere in between. *after* has the one as
                # returned, until `move_ties_to` replaces it by an end of the range.
                tie_ranges[query] = (least, greatest)
            else:
                # Both ends are equal: all tied documents are known, and this is the score in the baseline's order.
                after[query] = least
                if _is_different(least, today[query]):
                    ties_and_more.append(query)
        least_of_measure, _ = measure_range(self.measure, self.inputs.suite.gain)
        return Pairs(
            name=self.name,
            measure=self.measure,
            before=before,
            after=after,
            only_ties=tuple(only_ties),
            undefined=undefined,
            skipped=self.scope.skipped,
            against=reference.called,
            weights=read_weights(self.queries, before),
            today=today,
            ties_and_more=tuple(ties_and_more),
            tie_ranges=tie_ranges,
            least=least_of_measure,
            zero_hits=tuple(query for query in self.scope.zero_hits if query in before),
        )

    def _read_ties(self, reference: Reference, before: Mapping[str, float]) -> dict[str, TiedValue]:
        """The ranges of scores that the order of ties may change, by query; none where that order counts."""
        suite, run = self.inputs.suite, self.inputs.run
        if reference.run is None or not self.inputs.ignores_ties:
            return {}
        depth = min(reference.depth, suite.depth)
        tied_values = {}
        for query in self.queries:
            earlier, today = reference.run.responses.get(query.id), run.responses.get(query.id)
            if query.id not in before or not isinstance(earlier, Ranking) or not isinstance(today, Ranking):
                continue
            # A measure without a cutoff counts all hits, also where a side that is compared has more than the other.
            if self.measure.cutoff is not None:
                earlier, today = truncate_ranking(earlier, depth), truncate_ranking(today, depth)
            tied_value = read_ties(suite, query, self.measure, earlier, today)
            if tied_value is not None:
                tied_values[query.id] = tied_value
        return tied_values


def _is_different(first: float, second: float) -> bool:
    """Whether two scores differ by more than the order of a sum may change."""
    return abs(first - second) > TOLERANCE


def find_unjudged_range(pairs: Pairs, inputs: GateInputs) -> tuple[float, float] | None:
    """
    The least and the greatest difference of the means that unjudged hits allow, by the grades that they may get.

    None where all hits are judged, or the measure needs no grades.
    """
    reference, measure = inputs.reference, pairs.measure
    if reference is None or reference.run is None or not needs_grades(measure):
        return None
    rankings: dict[str, tuple[Ranking, Ranking]] = {}
    has_unjudged_hits = False
    for query in inputs.suite.queries:
        before, after = reference.run.responses.get(query.id), inputs.run.responses.get(query.id)
        if query.id not in pairs.before or not isinstance(before, Ranking) or not isinstance(after, Ranking):
            continue
        if has_unjudged(query, measure, (before, after)):
            has_unjudged_hits = True
        if inputs.ignores_ties:
            after = reorder_ties(before, after)
        rankings[query.id] = (before, after)
    if not has_unjudged_hits:
        return None
    ranges = bound_differences(inputs.suite, measure, rankings)
    if not ranges:
        return None
    lows: dict[str, float] = {}
    highs: dict[str, float] = {}
    for query_id, before_score in pairs.before.items():
        # The difference that was compared is possible too. It may be outside the range where ties are known in part.
        difference = pairs.after[query_id] - before_score
        low, high = ranges.get(query_id, (difference, difference))
        lows[query_id] = min(low, difference)
        highs[query_id] = max(high, difference)
    return mean_of(lows, pairs.weights), mean_of(highs, pairs.weights)


def explain_unusable(reference: Reference | None, queries: Iterable[str], needed: int) -> str:
    """
    Why *reference* cannot be compared with, and what to do about it; empty where it can.

    Args:
        reference: The run to compare with.
        queries: The ids of the queries that it must have.
        needed: The number of hits per query that it must have requested.
    """
    if reference is None:
        return "no baseline was given"
    if reference.run is None:
        return reference.problem
    subject = _name_unusable(reference)
    remedy = ""
    if reference.remedy:
        remedy = f"; {reference.remedy}"
    absent = [query for query in queries if query not in reference.run.responses]
    if absent:
        return f"{subject} {_describe_absent(reference, absent)}{remedy}"
    if reference.depth < needed:
        return f"{subject} keeps {count(reference.depth, 'hit')} per query, but {needed} are needed{remedy}"
    return ""


def _explain_lowered_depth(reference: Reference, measure: Measure, depth: int) -> str:
    """Why *reference*, which would be cut at *depth*, has no score by *measure*."""
    remedy = "name a cutoff"
    if reference.remedy:
        remedy = f"{reference.remedy}, or {remedy}"
    return (
        f"{_name_unusable(reference)} keeps {count(reference.depth, 'hit')} per query, but the suite asks for {depth}, "
        f"and {measure.text} counts them all; {remedy}"
    )


def _name_unusable(reference: Reference) -> str:
    """*reference* as the subject of a sentence on why it cannot be compared with."""
    return reference.name or f"the baseline of {reference.created} is older than the suite: it"


def find_cause_of_refusal(reference: Reference | None) -> Cause:
    """Why *reference* cannot be compared with, for programs; `explain_unusable` has the sentence."""
    if reference is None:
        return Cause.NO_BASELINE
    if reference.run is None:
        return reference.cause
    return Cause.UNUSABLE_BASELINE


def _describe_absent(reference: Reference, absent: Sequence[str]) -> str:
    """That the queries *absent* are not in *reference*, or there with another text or params, or fewer quotes."""
    missing = []
    changes = []
    unsearched = []
    for query in absent:
        if query in reference.changed_questions:
            question_before, question_now = reference.changed_questions[query]
            changes.append(describe_changed_question(query, question_before, question_now))
        elif query in reference.unsearched:
            unsearched.append(query)
        else:
            missing.append(query)
    parts = []
    if missing:
        parts.append(f"does not have {counted(missing, 'query')}")
    if changes:
        parts.append(f"asked something else for {count(len(changes), 'query')}: {listed(changes)}")
    if unsearched:
        parts.append(f"did not look for all quotes of {counted(unsearched, 'query')}")
    return " and ".join(parts)


def suggest_tie_remedy(inputs: GateInputs) -> str:
    """How to make known which documents tie with the last hit, in words."""
    remedy = "increase `depth`"
    tie_break = suggest_tie_break(inputs.suite.requests.get(inputs.run.request))
    if tie_break:
        remedy = f"{tie_break} or {remedy}"
    # Another run that is compared with has a name.
    is_baseline = inputs.reference is not None and not inputs.reference.name
    if is_baseline:
        remedy += ", then save the baseline again"
    return remedy
