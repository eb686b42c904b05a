"""A run beside its baseline: the queries that have a score in both, or why the two cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from harness.gate.finding import (
    Finding,
    Scope,
    describe_changed_question,
    describe_undefined,
    name_mean,
    read_weights,
    scope_scores,
)
from harness.gate.grammar import TOLERANCE
from harness.gate.ties import TiedValue, read_ties, suggest_tie_break
from harness.means import mean_of, weighed
from harness.metrics import measure_range
from harness.metrics.score import gain_text
from harness.model import Measure, Query, Ranking, Reference, Run, ScoreTable, Status, Suite
from harness.words import count, counted, listed


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs of one suite, with their scores, and the day that decides which waivers are in force."""

    suite: Suite
    run: Run
    scores: ScoreTable
    reference: Reference | None
    reference_scores: ScoreTable
    today: date

    @property
    def ignores_ties(self) -> bool:
        """Whether the order of ties is ignored; it counts where the request changed, perhaps to change that order."""
        return self.reference is not None and self.reference.same_request


@dataclass(frozen=True, slots=True)
class Pairs:
    """
    Scores of the same queries, *before* in the baseline and *after* today.

    Where the order of tied documents changes a value, *after* has the value without that change, and *today* the value
    as returned. A query in *ties* differs by that order only, a query in *mixed* by more. *tie_ranges* has the least
    and the greatest value of each query of which not all tied documents are known; *extreme* says which of the two
    *after* holds. *least* is the measure's lower bound, None where it has none. *name* is the measure as reasons call
    it, *against* the other run as they call it. *weights* are today's, empty where all queries weigh the same.
    """

    name: str
    measure: Measure
    before: Mapping[str, float]
    after: Mapping[str, float]
    ties: tuple[str, ...]
    undefined: tuple[str, ...]
    skipped: tuple[str, ...]
    changes: tuple[str, ...]
    against: str = "the baseline"
    weights: Mapping[str, float] = field(default_factory=dict)
    today: Mapping[str, float] = field(default_factory=dict)
    mixed: tuple[str, ...] = ()
    tie_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    extreme: Literal["worst", "best"] | None = None
    least: float | None = None

    @property
    def left_out(self) -> int:
        """How many queries of the scope were not compared."""
        return len(self.undefined) + len(self.skipped)

    @property
    def mean_name(self) -> str:
        """The mean, as reasons call it."""
        return f"{name_mean(self.weights)} {self.name}"

    def means(self) -> tuple[float, float]:
        """The mean before and after, weighted where the queries have weights."""
        return mean_of(self.before, self.weights), mean_of(self.after, self.weights)

    def at(self, extreme: Literal["worst", "best"]) -> Pairs:
        """These pairs with the queries in *tie_ranges* at their worst, or at their best."""
        values = {
            query: least if extreme == "worst" else greatest for query, (least, greatest) in self.tie_ranges.items()
        }
        return replace(self, after={**self.after, **values}, extreme=extreme if values else None)

    def as_they_came(self) -> Pairs:
        """These pairs with each query's value of today as returned, ties not corrected."""
        return replace(self, after=self.today)

    def reordered(self) -> list[str]:
        """The queries whose value differs from the returned one, the greatest difference first."""
        apart = {query: abs(self.today[query] - value) for query, value in self.after.items() if query in self.today}
        return sorted((query for query in apart if apart[query] > TOLERANCE), key=lambda query: (-apart[query], query))

    def drops(self) -> dict[str, float]:
        """How far each query fell below its baseline; negative where it rose."""
        return {query: self.before[query] - self.after[query] for query in self.before}

    def fallen(self) -> list[str]:
        """The queries that fell, the greatest fall first, equal ones by their id."""
        drops = self.drops()
        return sorted((query for query in drops if drops[query] > TOLERANCE), key=lambda query: (-drops[query], query))

    def costliest(self) -> list[str]:
        """The queries that fell, by how much each lowered the mean: its weight times its fall."""
        drops = self.weighed_drops()
        return sorted(self.fallen(), key=lambda query: (-drops[query], query))

    def weighed_drops(self) -> dict[str, float]:
        """
        The drops, each times its weight over the mean weight: their plain mean is the drop of the weighted mean.

        A difference from summing the same score in another order is not a drop.
        """
        drops = {query: 0.0 if abs(drop) <= TOLERANCE else drop for query, drop in self.drops().items()}
        if not self.weights:
            return drops
        scaled = weighed(list(drops.values()), [self.weights[query] for query in drops])
        return dict(zip(drops, scaled, strict=True))


def pair_scores(compared: Compared, queries: Sequence[Query], measure: Measure) -> Pairs | Finding:
    """
    Pair the scores of *queries* with those of the baseline.

    Returns:
        A finding where they cannot be compared: ERROR where a query has no answer; FAILED, or WARNED where the suite's
        baseline is optional, where there is no baseline or it is older than the suite; FAILED where a query is
        undefined and may not be left out, or nothing is left; SKIPPED where the run is to become the baseline itself.
    """
    now = scope_scores(queries, measure.text, compared.scores, compared.today)
    if now.unanswered:
        return _cannot(compared, measure, Status.ERROR, now.no_score, now, tuple(now.unanswered))
    reference = compared.reference
    if reference is not None and reference.updating:
        return Finding(Status.SKIPPED, "not compared: this run is saved as the baseline", measure=measure.text)
    problem = reference_problem(reference, (*now.counted, *now.undefined), measure.cutoff or compared.suite.depth)
    if problem or reference is None or reference.run is None:
        status = Status.WARNED if compared.suite.baseline_optional else Status.FAILED
        return _cannot(compared, measure, status, problem, now)
    return _pair(compared, reference, queries, measure, now)


def reference_problem(reference: Reference | None, queries: Iterable[str], needed: int) -> str:
    """
    Why *reference* cannot be compared with, and what to do about it; empty where it can.

    Args:
        reference: The run to compare with.
        queries: The ids of the queries that it must have.
        needed: The number of hits per query that it must have requested.
    """
    if reference is None or reference.run is None:
        return reference.problem if reference is not None else "no baseline was given"
    absent = [query for query in queries if query not in reference.run.responses]
    if absent:
        return f"{_short_of(reference)} {' and '.join(_lacks(reference, absent))}{_remedy(reference)}"
    if reference.depth < needed:
        kept = f"keeps {count(reference.depth, 'hit')} per query, but {needed} are needed"
        return f"{_short_of(reference)} {kept}{_remedy(reference)}"
    return ""


def _lacks(reference: Reference, absent: Sequence[str]) -> Iterator[str]:
    """Parts of a sentence on the queries *absent*: not in *reference*, or there with another text or params."""
    changed = reference.changed_questions
    lacking = [query for query in absent if query not in changed]
    if lacking:
        yield f"does not have {counted(lacking, 'query')}"
    asked = [describe_changed_question(query, *changed[query]) for query in absent if query in changed]
    if asked:
        yield f"asked something else for {count(len(asked), 'query')}: {listed(asked)}"


def _short_of(reference: Reference) -> str:
    return reference.name or f"the baseline of {reference.created} is older than the suite: it"


def _remedy(reference: Reference) -> str:
    return f"; {reference.remedy}" if reference.remedy else ""


def _pair(
    compared: Compared, reference: Reference, queries: Sequence[Query], measure: Measure, now: Scope
) -> Pairs | Finding:
    then = scope_scores(queries, measure.text, compared.reference_scores, compared.today)
    failed = [query for query in then.unanswered if query in now.counted or query in now.undefined]
    if failed:
        sentence = f"{reference.called} has no score for {count(len(failed), 'query')}: {listed(failed)}"
        return _cannot(compared, measure, Status.ERROR, sentence, now, tuple(failed))
    undefined_ids = {*now.undefined, *then.undefined}
    undefined = tuple(query.id for query in queries if query.id in undefined_ids)
    if undefined and not compared.suite.skip_undefined:
        sentence = f"it {describe_undefined(undefined, now.size)}"
        return _cannot(compared, measure, Status.FAILED, sentence, now, undefined)
    before = {query: value for query, value in then.counted.items() if query in now.counted}
    if not before:
        return _cannot(compared, measure, Status.FAILED, "no query is left to compare", now, undefined)
    weights = read_weights(queries, before)
    today = {query: now.counted[query] for query in before}
    tied = _read_ties(compared, reference, queries, measure, before)
    ties = [query for query, value in tied.items() if value.only_ties and _differ(before[query], today[query])]
    spread = {query: (value.least, value.greatest) for query, value in tied.items() if not value.only_ties}
    settled = {query: least for query, (least, greatest) in spread.items() if not _differ(least, greatest)}
    return Pairs(
        name=_name(measure, compared.suite),
        measure=measure,
        before=before,
        after={**today, **settled, **{query: before[query] for query in ties}},
        ties=tuple(ties),
        undefined=undefined,
        skipped=now.skipped,
        changes=reference.changes,
        against=reference.called,
        weights=weights,
        today=today,
        mixed=tuple(query for query, value in settled.items() if _differ(value, today[query])),
        tie_ranges={query: span for query, span in spread.items() if query not in settled},
        least=measure_range(measure, compared.suite.gain)[0],
    )


def _differ(first: float, second: float) -> bool:
    return abs(first - second) > TOLERANCE


def _read_ties(
    compared: Compared, reference: Reference, queries: Sequence[Query], measure: Measure, before: Mapping[str, float]
) -> dict[str, TiedValue]:
    """The values that the order of ties may change; none where that order counts."""
    suite, run = compared.suite, compared.run
    if reference.run is None or not compared.ignores_ties:
        return {}
    depth = min(reference.depth, suite.depth)
    found = {}
    for query in queries:
        first, second = reference.run.responses.get(query.id), run.responses.get(query.id)
        if query.id in before and isinstance(first, Ranking) and isinstance(second, Ranking):
            found[query.id] = read_ties(suite, query, measure, first, second, depth=depth)
    return {query: value for query, value in found.items() if value is not None}


def tie_remedy(compared: Compared) -> str:
    """How to make known which documents tie with the last hit, in words."""
    template = compared.suite.requests.get(compared.run.request)
    saved = compared.reference is not None and not compared.reference.name
    ways = " or ".join(filter(None, (suggest_tie_break(template), "increase `depth`")))
    return f"{ways}, then save the baseline again" if saved else ways


def _cannot(
    compared: Compared, measure: Measure, status: Status, sentence: str, now: Scope, blamed: tuple[str, ...] = ()
) -> Finding:
    against = compared.reference.called if compared.reference else "the baseline"
    reason = f"{_name(measure, compared.suite)} cannot be compared with {against}: {sentence}"
    return Finding(status, reason, None, None, measure.text, blamed, len(now.counted), len(now.skipped))


def _name(measure: Measure, suite: Suite) -> str:
    """The measure as reasons call it, with the gain in force where it uses one."""
    gain = gain_text(measure, suite)
    return f"{measure.text} (gain {gain})" if gain else measure.text
