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
from harness.means import mean_of, weighed
from harness.metrics import measure_range
from harness.metrics.score import gain_text
from harness.metrics.unjudged import bound_differences, has_unjudged, needs_grades
from harness.model.kept import Reference
from harness.model.run import Ranking, Status
from harness.model.suite import Measure, Query
from harness.statistics.paired import pair_defined
from harness.words import count, counted, listed


@dataclass(frozen=True, slots=True)
class Pairs:
    """
    Scores of the same queries, *before* in the baseline and *after* today.

    Where the order of tied documents changes a value, *after* has the value without that change, and *today* the value
    as returned. A query in *only_ties* differs by that order only, a query in *ties_and_more* by more. *tie_ranges* has
    the least and the greatest value of each query of which not all tied documents are known; *extreme* says which of
    the two *after* holds. *least* is the measure's lower bound, None where it has none. *name* is the measure as
    reasons call it, *against* the other run as they call it. *weights* are today's, empty where all queries weigh the
    same.
    """

    name: str
    measure: Measure
    before: Mapping[str, float]
    after: Mapping[str, float]
    only_ties: tuple[str, ...]
    undefined: tuple[str, ...]
    skipped: tuple[str, ...]
    changes: tuple[str, ...]
    against: str = "the baseline"
    weights: Mapping[str, float] = field(default_factory=dict)
    today: Mapping[str, float] = field(default_factory=dict)
    ties_and_more: tuple[str, ...] = ()
    tie_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    extreme: Literal["worst", "best"] | None = None
    least: float | None = None
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
        """These pairs with the queries in *tie_ranges* at their worst, or at their best."""
        if not self.tie_ranges:
            return replace(self, extreme=None)
        after = dict(self.after)
        for query, (least, greatest) in self.tie_ranges.items():
            after[query] = least if extreme == "worst" else greatest
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
        drops = self.weigh_drops()
        return sorted(self.list_fallen(), key=lambda query: (-drops[query], query))

    def weigh_drops(self) -> dict[str, float]:
        """The drops, each times its weight over the mean weight: their plain mean is the drop of the weighted mean."""
        drops = self.compute_drops()
        for query, drop in drops.items():
            # A difference from summing the same score in another order is not a drop.
            if abs(drop) <= TOLERANCE:
                drops[query] = 0.0
        if not self.weights:
            return drops
        scaled = weighed(list(drops.values()), [self.weights[query] for query in drops])
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
        undefined and may not be left out, or nothing is left; SKIPPED where the run is to become the baseline itself.
    """
    suite = inputs.suite
    now = scope_scores(queries, measure.text, inputs.scores, inputs.today)
    pairing = _Pairing(inputs, queries, measure, now)
    if now.unanswered:
        return pairing.refuse(Status.ERROR, now.no_score, tuple(now.unanswered))
    reference = inputs.reference
    if reference is not None and reference.updating:
        return Finding(Status.SKIPPED, "not compared: this run is saved as the baseline", measure=measure.text)
    problem = explain_unusable(reference, (*now.counted, *now.undefined), measure.cutoff or suite.depth)
    if problem or reference is None or reference.run is None:
        return pairing.refuse(Status.WARNED if suite.baseline_optional else Status.FAILED, problem)
    then = scope_scores(queries, measure.text, inputs.reference_scores, inputs.today)
    failed = [query for query in then.unanswered if query in now.counted or query in now.undefined]
    if failed:
        sentence = f"{reference.called} has no score for {count(len(failed), 'query')}: {listed(failed)}"
        return pairing.refuse(Status.ERROR, sentence, tuple(failed))
    undefined_ids = {*now.undefined, *then.undefined}
    undefined = tuple(query.id for query in queries if query.id in undefined_ids)
    if undefined and not suite.skip_undefined:
        return pairing.refuse(Status.FAILED, f"it {describe_undefined(undefined, now.size)}", undefined)
    before = {query: scores[0] for query, scores in pair_defined(then.counted, now.counted).items()}
    if not before:
        why = explain_nothing_left(now.skipped, undefined)
        return pairing.refuse(Status.FAILED, f"no query is left to compare: {why}", undefined)
    return pairing.pair(reference, before, undefined)


@dataclass(frozen=True, slots=True)
class _Pairing:
    """The scores of *measure* for *queries* that are to be compared; *now* are those of today."""

    inputs: GateInputs
    queries: Sequence[Query]
    measure: Measure
    now: Scope

    @property
    def name(self) -> str:
        """The measure as reasons call it, with the gain in force where it uses one."""
        gain = gain_text(self.measure, self.inputs.suite)
        return f"{self.measure.text} (gain {gain})" if gain else self.measure.text

    def refuse(self, status: Status, sentence: str, blamed: tuple[str, ...] = ()) -> Finding:
        """The finding that they cannot be compared."""
        reference, now = self.inputs.reference, self.now
        against = reference.called if reference else "the baseline"
        reason = f"{self.name} cannot be compared with {against}: {sentence}"
        return Finding(status, reason, None, None, self.measure.text, blamed, len(now.counted), len(now.skipped))

    def pair(self, reference: Reference, before: Mapping[str, float], undefined: tuple[str, ...]) -> Pairs:
        """Pair the scores of the queries in *before*, whose values of today are corrected for ties."""
        today = {query: self.now.counted[query] for query in before}
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
                # Documents may tie that neither run returned: the value is anywhere in between, and *after* keeps the
                # returned one until `move_ties_to` puts an end of the range in its place.
                tie_ranges[query] = (least, greatest)
            else:
                # The two ends are one: all tied documents are known, and this is the value in the baseline's order.
                after[query] = least
                if _is_different(least, today[query]):
                    ties_and_more.append(query)
        return Pairs(
            name=self.name,
            measure=self.measure,
            before=before,
            after=after,
            only_ties=tuple(only_ties),
            undefined=undefined,
            skipped=self.now.skipped,
            changes=reference.changes,
            against=reference.called,
            weights=read_weights(self.queries, before),
            today=today,
            ties_and_more=tuple(ties_and_more),
            tie_ranges=tie_ranges,
            least=measure_range(self.measure, self.inputs.suite.gain)[0],
            zero_hits=tuple(query for query in self.now.zero_hits if query in before),
        )

    def _read_ties(self, reference: Reference, before: Mapping[str, float]) -> dict[str, TiedValue]:
        """The values that the order of ties may change; none where that order counts."""
        suite, run = self.inputs.suite, self.inputs.run
        if reference.run is None or not self.inputs.ignores_ties:
            return {}
        depth = min(reference.depth, suite.depth)
        tied_values = {}
        for query in self.queries:
            earlier, today = reference.run.responses.get(query.id), run.responses.get(query.id)
            if query.id not in before or not isinstance(earlier, Ranking) or not isinstance(today, Ranking):
                continue
            earlier, today = truncate_ranking(earlier, depth), truncate_ranking(today, depth)
            tied_value = read_ties(suite, query, self.measure, earlier, today)
            if tied_value is not None:
                tied_values[query.id] = tied_value
        return tied_values


def _is_different(first: float, second: float) -> bool:
    return abs(first - second) > TOLERANCE


def find_unjudged_range(pairs: Pairs, inputs: GateInputs) -> tuple[float, float] | None:
    """The least and the greatest difference of the means; None where all hits are judged, or grades do not count."""
    reference, measure = inputs.reference, pairs.measure
    if reference is None or reference.run is None or not needs_grades(measure):
        return None
    rankings: dict[str, tuple[Ranking, Ranking]] = {}
    is_judged = True
    for query in inputs.suite.queries:
        before, after = reference.run.responses.get(query.id), inputs.run.responses.get(query.id)
        if query.id not in pairs.before or not isinstance(before, Ranking) or not isinstance(after, Ranking):
            continue
        is_judged = is_judged and not has_unjudged(query, measure, (before, after))
        if inputs.ignores_ties:
            after = reorder_ties(before, after)
        rankings[query.id] = (before, after)
    if is_judged:
        return None
    ranges = bound_differences(inputs.suite, measure, rankings)
    if not ranges:
        return None
    lows: dict[str, float] = {}
    highs: dict[str, float] = {}
    for query_id, before_score in pairs.before.items():
        # What was compared is possible, also where the order of ties is known in part.
        difference = pairs.after[query_id] - before_score
        low, high = ranges.get(query_id, (difference, difference))
        lows[query_id], highs[query_id] = min(low, difference), max(high, difference)
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
    subject = reference.name or f"the baseline of {reference.created} is older than the suite: it"
    remedy = f"; {reference.remedy}" if reference.remedy else ""
    absent = [query for query in queries if query not in reference.run.responses]
    if absent:
        return f"{subject} {_describe_absent(reference, absent)}{remedy}"
    if reference.depth < needed:
        return f"{subject} keeps {count(reference.depth, 'hit')} per query, but {needed} are needed{remedy}"
    return ""


def _describe_absent(reference: Reference, absent: Sequence[str]) -> str:
    """That the queries *absent* are not in *reference*, or there with another text or params."""
    changed = reference.changed_questions
    parts = []
    unknown = [query for query in absent if query not in changed]
    if unknown:
        parts.append(f"does not have {counted(unknown, 'query')}")
    changes = [describe_changed_question(query, *changed[query]) for query in absent if query in changed]
    if changes:
        parts.append(f"asked something else for {count(len(changes), 'query')}: {listed(changes)}")
    return " and ".join(parts)


def suggest_tie_remedy(inputs: GateInputs) -> str:
    """How to make known which documents tie with the last hit, in words."""
    ways = ["increase `depth`"]
    tie_break = suggest_tie_break(inputs.suite.requests.get(inputs.run.request))
    if tie_break:
        ways.insert(0, tie_break)
    remedy = " or ".join(ways)
    is_baseline = inputs.reference is not None and not inputs.reference.name
    return f"{remedy}, then save the baseline again" if is_baseline else remedy
