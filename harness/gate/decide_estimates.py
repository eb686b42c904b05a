"""
Thresholds that are decided by an estimate: people grade a random sample of the queries, a machine grades all of them.

The unit is the query. What is estimated is the mean over all queries of the threshold that have a score by people's
grades; the sample says how many these are, too.

An estimate decides at the sizes that the sample names, from its first queries. Who looks after each judged query until
the threshold passes is wrong in many more samples than promised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.gate.finding import Finding, format_number, is_met, name_mean, read_weights, scope_scores
from harness.gate.inputs import GateInputs
from harness.gate.pairs import pair_scores
from harness.metrics.score import gain_text, score_of
from harness.model.run import Ranking, Run, Status, Unit
from harness.model.suite import (
    PEOPLE,
    Condition,
    DropCondition,
    Measure,
    Operator,
    Query,
    ScoreCondition,
    StatisticKind,
    Suite,
)
from harness.words import count, listed

_LEVEL = 0.05
"""How often each of the two bounds may be wrong, at all sizes of a sample together."""


def explain_not_estimable(condition: Condition) -> str:
    """Why a threshold with *condition* cannot be estimated; empty where it can be."""
    if isinstance(condition, DropCondition):
        if condition.since is not None:
            return "a drop since several runs cannot be estimated, only one since the baseline"
        if condition.every or condition.relative:
            return "only 'drop MEASURE <= NUMBER' can be estimated, for the mean and not in per cent"
        return ""
    if isinstance(condition, ScoreCondition) and condition.statistic is StatisticKind.MEAN:
        return "" if condition.operator is not Operator.EQUAL else "an estimate cannot be equal to a number"
    return "only a mean or a drop of a mean can be estimated"


def decide_estimate(condition: ScoreCondition | DropCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Estimate the mean, or its drop, over *queries*, and compare its bounds with what *condition* requires.

    The order of tied documents counts as it was returned.

    Returns:
        As for the same threshold without an estimate where a query has no answer or no baseline; INCONCLUSIVE where
        people have judged too few queries of the sample, where what is required lies between the bounds, or where it
        would pass and people found no relevant document for a query of the sample, or nobody for another one, which the
        suite does not leave out; else PASSED or FAILED, each wrong in at most 5 of 100 samples.
    """
    if isinstance(condition, DropCondition):
        return _decide_drop(condition, queries, inputs)
    measure = condition.measure
    scope = scope_scores(queries, measure.text, inputs.scores, inputs.today)
    finding = Finding(Status.INCONCLUSIVE, "", None, condition.required, measure.text, operator=condition.operator)
    if scope.unanswered:
        reason = f"the estimate of {measure} cannot be decided: {scope.no_score}"
        return replace(finding, status=Status.ERROR, reason=reason, blamed=tuple(scope.unanswered))
    gain = gain_text(measure, inputs.suite)
    counted = [query for query in queries if query.id not in scope.skipped]
    figures = _collect_figures(counted, measure, inputs.suite, [inputs.run])
    figures = replace(figures, unscored=scope.undefined, zero_hits=scope.zero_hits)
    name = f"{name_mean(figures.weights)} {measure}"
    if gain:
        name += f" (gain {gain})"
    finding = replace(finding, counted=len(counted), left_out=len(scope.skipped))
    return _complete_estimate(finding, name, figures, inputs.suite)


def _decide_drop(condition: DropCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    # Which queries have a score is a matter of people's grades, and those of the machine are among the ones read here.
    pairs = pair_scores(replace(inputs, suite=replace(inputs.suite, skip_undefined=True)), queries, condition.measure)
    if isinstance(pairs, Finding):
        # Where no query has a score, nothing is left out unless the suite says so.
        plain = pair_scores(inputs, queries, condition.measure)
        return plain if isinstance(plain, Finding) else pairs
    reference = inputs.reference
    assert reference is not None, "pairs have a baseline"
    assert reference.run is not None, "pairs have the rankings of the baseline"
    counted = [query for query in queries if query.id not in pairs.skipped]
    figures = _collect_figures(counted, condition.measure, inputs.suite, [reference.run, inputs.run])
    figures = replace(figures, unscored=pairs.undefined, zero_hits=pairs.zero_hits)
    finding = Finding(
        Status.INCONCLUSIVE,
        "",
        None,
        condition.allowed,
        condition.measure.text,
        counted=len(counted),
        left_out=len(pairs.skipped),
        unit=Unit.DROP,
        operator=Operator.AT_MOST,
    )
    return _complete_estimate(
        finding, f"the drop of {name_mean(figures.weights)} {condition.measure}", figures, inputs.suite
    )


# The figure of each query: its score in one run, or how far it fell from the first of two runs to the second.


@dataclass(frozen=True, slots=True)
class _Figures:
    """
    Figures by query, None where there is no score.

    *by_machine* has all queries, *by_people* those of the sample that people have judged as far as the score reads, and
    *weights* are those of all queries, empty where they all weigh the same. *sampled* are the queries of the sample in
    the order in which they were drawn, with those that the threshold is not about.
    """

    machine: str
    by_machine: Mapping[str, float | None]
    by_people: Mapping[str, float | None]
    weights: Mapping[str, float]
    sampled: tuple[str, ...]
    unscored: tuple[str, ...] = ()
    """Those that have no score by the grades of people and the machine together."""
    zero_hits: tuple[str, ...] = ()
    """Those that have no hit today."""

    def select_first(self, size: int) -> list[str]:
        """Those of the first *size* queries of the sample that the threshold is about."""
        return [query for query in self.sampled[:size] if query in self.by_machine]

    def list_unjudged(self, size: int) -> list[str]:
        """Those of them that people have not judged as far as the score reads."""
        return [query for query in self.select_first(size) if query not in self.by_people]


def _collect_figures(queries: Sequence[Query], measure: Measure, suite: Suite, runs: Sequence[Run]) -> _Figures:
    machine = next(judge for judge in suite.judges if judge != PEOPLE)
    sampled = () if suite.sample is None else suite.sample.queries
    to_judge = set(sampled)
    by_machine: dict[str, float | None] = {}
    by_people: dict[str, float | None] = {}
    for query in queries:
        of_machine = replace(query, judgments=query.machine_grades.get(machine, {}))
        by_machine[query.id] = _compute_figure(of_machine, measure, suite, runs)
        if query.id in to_judge and _is_judged(query, measure.cutoff or suite.depth, runs):
            of_people = replace(query, judgments=query.people_grades or {})
            by_people[query.id] = _compute_figure(of_people, measure, suite, runs)
    return _Figures(machine, by_machine, by_people, read_weights(queries, by_machine), sampled)


def _compute_figure(query: Query, measure: Measure, suite: Suite, runs: Sequence[Run]) -> float | None:
    """The figure of *query* by its judgments; None where a score is undefined."""
    scores = []
    for run in runs:
        score = score_of(suite, query, measure, run).value
        if score is None:
            return None
        scores.append(score)
    if len(scores) == 1:
        return scores[0]
    before, now = scores
    return before - now


def _is_judged(query: Query, cutoff: int, runs: Sequence[Run]) -> bool:
    """Whether people graded the hits down to *cutoff*, and as many of the best documents that anybody graded."""
    people = query.people_grades or {}
    read: list[str] = []
    for run in runs:
        response = run.responses.get(query.id)
        if isinstance(response, Ranking):
            read += [hit.id for hit in response.hits[:cutoff]]
    grades = {**query.judgments, **people}
    # Of equal grades, people's come first: which of them the ideal ranking has is open.
    best_first = sorted(grades, key=lambda document: (-grades[document], document not in people))
    return all(document in people for document in read + best_first[:cutoff])


# The decision.


@dataclass(frozen=True, slots=True)
class _Look:
    """What people have judged of a sample: its first *queries*, where an estimate decides at this size, or none."""

    queries: list[str]
    following: int | None
    """The next size; None after the last one."""
    level: float
    """How often a bound may be wrong at each size, so that at all of them together it is `_LEVEL`."""


def _find_look(figures: _Figures, suite: Suite) -> _Look:
    """
    The largest size of the sample up to which people have judged all queries.

    Queries that they judged beyond it do not count before the next size: which ones these are is no chance.
    """
    sizes = () if suite.sample is None else suite.sample.looks
    # Where all queries are judged, nothing is left to chance.
    chances = sum(size < len(suite.queries) for size in sizes)
    reached = [size for size in sizes if not figures.list_unjudged(size)]
    largest = max(reached, default=0)
    following = next((size for size in sizes if size > largest), None)
    return _Look(figures.select_first(largest), following, _LEVEL / max(chances, 1))


def _complete_estimate(finding: Finding, name: str, figures: _Figures, suite: Suite) -> Finding:
    """Complete *finding*, which says what is required, by an estimate of *figures*, whose mean is called *name*."""
    # It imports numpy, which no other threshold of a run needs.
    from harness.statistics.prediction_powered import estimate_by_people, estimate_mean, make_sample

    look = _find_look(figures, suite)
    undefined = [query for query in look.queries if figures.by_people[query] is None]
    if suite.skip_undefined:
        figures = replace(figures, unscored=())
    judged = f"{len(look.queries):,} of {count(len(figures.by_machine), 'query')} judged by people"
    basis = f"from {judged}, and the grades of {figures.machine} for all"
    remarks = "".join(f"; {remark}" for remark in _list_remarks(figures, look, undefined))
    problem = _explain_too_few(figures, look, undefined)
    if problem:
        return replace(finding, reason=f"{name} cannot be estimated {basis}: {problem}{remarks}")
    weights = all_weights = None
    if figures.weights:
        weights = [figures.weights[query] for query in look.queries]
        all_weights = [figures.weights[query] for query in figures.by_machine]
    sample = make_sample(
        [_read_figure(figures.by_people[query]) for query in look.queries],
        [_read_figure(figures.by_machine[query]) for query in look.queries],
        [_read_figure(figure) for figure in figures.by_machine.values()],
        weights,
        all_weights,
    )
    estimate, by_people = estimate_mean(sample, level=look.level), estimate_by_people(sample, level=look.level)
    finding = replace(finding, observed=estimate.mean)
    if estimate.low is None or estimate.high is None:
        return replace(finding, reason=f"{name} cannot be estimated {basis}: the sample's scores are equal{remarks}")
    status = _compare(finding, estimate.low, estimate.high)
    assert finding.required is not None, "a threshold that is estimated requires a number"
    reason = (
        f"{name} is estimated as {estimate.mean:.4f}, between {estimate.low:.4f} and {estimate.high:.4f} (each bound "
        f"holds with {100 * (1 - look.level):.4g}%), required {finding.operator} {format_number(finding.required)}; "
        f"{basis}, which count {estimate.tuning:.2f}"
    )
    if by_people.low is not None and by_people.high is not None:
        reason += f"; people alone: between {by_people.low:.4f} and {by_people.high:.4f}"
    if status is Status.PASSED and (undefined or figures.unscored) and not suite.skip_undefined:
        # The same threshold without an estimate fails: what has no relevant document would be left out unasked.
        status = Status.INCONCLUSIVE
        reason += "; judge a relevant document for each query, or set `undefined: skip` to leave such queries out"
    elif status is Status.INCONCLUSIVE:
        reason += f"; {_advise(look, len(figures.by_machine))}"
    return replace(finding, status=status, reason=reason + remarks)


def _read_figure(figure: float | None) -> float:
    return math.nan if figure is None else figure


def _list_remarks(figures: _Figures, look: _Look, undefined: Sequence[str]) -> Iterator[str]:
    """What the reason says of queries that do not count, or have no hits."""
    if look.following is not None:
        unjudged = figures.list_unjudged(look.following)
        sampled = f"{count(len(unjudged), 'sampled query')} of the first {look.following:,}"
        yield f"people have not judged all that is read of {sampled}: {listed(unjudged)}"
    if undefined:
        yield f"by people's grades there is no score of {count(len(undefined), 'sampled query')}: {listed(undefined)}"
    others = [query for query in figures.unscored if query not in undefined]
    if others:
        yield f"nobody's grades give a score to {count(len(others), 'other query')}: {listed(others)}"
    if figures.zero_hits:
        yield f"zero hits: {listed(figures.zero_hits)}"


def _explain_too_few(figures: _Figures, look: _Look, undefined: Sequence[str]) -> str:
    """Why the queries of *look* are too few for bounds that hold, and how many are needed; empty where they are not."""
    from harness.statistics.prediction_powered import LEAST_JUDGED, count_by_skewness

    if not figures.sampled:
        return "no sample was drawn; `relevance judge SUITE --sample N` draws one"
    if not look.queries and look.following is not None:
        return f"it is decided at {look.following:,} judged queries of the sample"
    queries, judged = len(figures.by_machine), len(look.queries)
    counting = judged - len(undefined)
    share = 1.0
    if figures.weights:
        share = count_by_skewness(list(figures.weights.values())) / queries
    least = max(min(LEAST_JUDGED, queries), 2)
    is_enough = judged == queries or counting * share >= least
    if is_enough and counting >= 2:
        return ""
    problem = f"expected at least {least}"
    if undefined:
        problem += f" with a score, found {counting:,}"
    if figures.weights:
        problem += f" of equal weight, and by their weights these count as {counting * share:.1f}"
    if undefined or figures.weights:
        # Of those that people judge next, as many have a score as up to now.
        needed = math.ceil(least / share * judged / max(counting, 1))
        remedy = f"about {needed:,} judged queries are" if needed < queries else f"only all {queries:,} queries are"
        problem += f"; {remedy} enough"
    if look.following is not None:
        problem += f"; the next size of the sample is {look.following:,}"
    return problem


def _advise(look: _Look, queries: int) -> str:
    """What decides a threshold whose required number is between the bounds."""
    if look.following is not None:
        return f"judge the sample up to {look.following:,} queries, its next size"
    return f"this was the last size of the sample: judge all {queries:,} queries, or require less"


def _compare(finding: Finding, low: float, high: float) -> Status:
    """PASSED where the worse bound meets what *finding* requires, FAILED where the better one does not."""
    assert finding.operator is not None, "a threshold that is estimated has a comparison"
    assert finding.required is not None, "a threshold that is estimated requires a number"
    is_better_above = finding.operator in (Operator.AT_LEAST, Operator.ABOVE)
    worse, better = (low, high) if is_better_above else (high, low)
    if is_met(worse, finding.operator, finding.required):
        return Status.PASSED
    if is_met(better, finding.operator, finding.required):
        return Status.INCONCLUSIVE
    return Status.FAILED
