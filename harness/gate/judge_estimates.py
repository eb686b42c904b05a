"""
Thresholds that are decided by an estimate: people grade a random sample of the queries, a machine grades all of them.

The unit is the query. What is estimated is the mean over all queries of the threshold by people's grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.gate.finding import Finding, format_number, is_met, scope_scores
from harness.gate.inputs import GateInputs
from harness.gate.pairs import pair_scores
from harness.means import weighed
from harness.metrics.score import gain_text, score_of
from harness.model import (
    PEOPLE,
    Condition,
    DropCondition,
    Measure,
    Operator,
    Query,
    Ranking,
    Run,
    ScoreCondition,
    StatisticKind,
    Status,
    Suite,
    Unit,
)
from harness.words import count, listed

LEVEL = 0.05
"""How often each of the two bounds may be wrong."""


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


def judge_estimate(condition: ScoreCondition | DropCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Estimate the mean, or its drop, over *queries*, and compare its bounds with what *condition* requires.

    The order of tied documents counts as it was returned.

    Returns:
        As for the same threshold without an estimate where a query has no answer or no baseline; INCONCLUSIVE where
        people have judged too few queries of the sample, where what is required lies between the bounds, or where it
        would pass without queries of the sample that people have not judged or that have no score; else PASSED or
        FAILED, each wrong in at most 5 of 100 samples.
    """
    if isinstance(condition, DropCondition):
        return _judge_drop(condition, queries, inputs)
    measure = condition.measure
    scope = scope_scores(queries, measure.text, inputs.scores, inputs.today)
    finding = Finding(Status.INCONCLUSIVE, "", None, condition.required, measure.text, operator=condition.operator)
    if scope.unanswered:
        reason = f"the estimate of {measure} cannot be decided: {scope.no_score}"
        return replace(finding, status=Status.ERROR, reason=reason, blamed=tuple(scope.unanswered))
    gain = gain_text(measure, inputs.suite)
    name = f"mean {measure} (gain {gain})" if gain else f"mean {measure}"
    counted = [query for query in queries if query.id not in scope.skipped]
    figures = _collect_figures(counted, measure, inputs.suite, [inputs.run])
    finding = replace(finding, counted=len(counted), left_out=len(scope.skipped))
    decided = _decide(finding, name, figures)
    if decided.status is Status.PASSED and figures.undefined and not inputs.suite.skip_undefined:
        # The same threshold without an estimate fails: what has no relevant document would be left out unasked.
        remedy = "judge a relevant document for each, or set `undefined: skip` to leave such queries out"
        return replace(decided, status=Status.INCONCLUSIVE, reason=f"{decided.reason}; {remedy}")
    return decided


def _judge_drop(condition: DropCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    pairs = pair_scores(inputs, queries, condition.measure)
    if isinstance(pairs, Finding):
        return pairs
    reference = inputs.reference
    assert reference is not None, "pairs have a baseline"
    assert reference.run is not None, "pairs have the rankings of the baseline"
    counted = [query for query in queries if query.id in pairs.before]
    figures = _collect_figures(counted, condition.measure, inputs.suite, [reference.run, inputs.run])
    finding = Finding(
        Status.INCONCLUSIVE,
        "",
        None,
        condition.allowed,
        condition.measure.text,
        counted=len(counted),
        left_out=pairs.left_out,
        unit=Unit.DROP,
        operator=Operator.AT_MOST,
    )
    return _decide(finding, f"the drop of mean {condition.measure}", figures)


# The figure of each query: its score in one run, or how far it fell from the first of two runs to the second.


@dataclass(frozen=True, slots=True)
class _Figures:
    """Figures by query: *by_machine* of all queries, *by_people* of those of the sample that people have judged."""

    machine: str
    by_machine: Mapping[str, float]
    by_people: Mapping[str, float]
    unjudged: tuple[str, ...]
    """The queries of the sample that people have not judged as far as the score reads."""
    undefined: tuple[str, ...]
    """Those that people have judged, and that have no score by people's grades."""


def _collect_figures(queries: Sequence[Query], measure: Measure, suite: Suite, runs: Sequence[Run]) -> _Figures:
    machine = next(judge for judge in suite.judges if judge != PEOPLE)
    sampled = set() if suite.sample is None else set(suite.sample.queries)
    by_machine: dict[str, float] = {}
    by_people: dict[str, float] = {}
    unjudged, undefined = [], []
    # The plain mean of these figures is the weighted mean of the scores.
    factors = weighed([1.0] * len(queries), [query.weight for query in queries])
    for query, factor in zip(queries, factors, strict=True):
        of_machine = replace(query, judgments=query.machine_grades.get(machine, {}))
        figure = _compute_figure(of_machine, measure, suite, runs)
        # Any number will do where the machine's score is undefined: the sample shows how wrong it is on average.
        by_machine[query.id] = 0.0 if figure is None else figure * factor
        if query.id not in sampled:
            continue
        of_people = replace(query, judgments=query.people_grades or {})
        figure = _compute_figure(of_people, measure, suite, runs)
        if not _is_judged(query, measure.cutoff or suite.depth, runs):
            unjudged.append(query.id)
        elif figure is None:
            undefined.append(query.id)
        else:
            by_people[query.id] = figure * factor
    return _Figures(machine, by_machine, by_people, tuple(unjudged), tuple(undefined))


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


def _decide(finding: Finding, name: str, figures: _Figures) -> Finding:
    """Complete *finding*, which says what is required, by an estimate of *figures*, whose mean is called *name*."""
    # It imports numpy, which no other threshold of a run needs.
    from harness.statistics.prediction_powered import LEAST_JUDGED, estimate_by_people, estimate_mean, make_sample

    queries, judged = len(figures.by_machine), len(figures.by_people)
    all_queries = count(queries, "query")
    basis = f"from {judged:,} of {all_queries} judged by people, and the grades of {figures.machine} for all"
    left_out = ""
    if figures.unjudged:
        sampled = count(len(figures.unjudged), "sampled query")
        left_out = f"; people have not judged all that is read of {sampled}: {listed(figures.unjudged)}"
    if figures.undefined:
        sampled = count(len(figures.undefined), "sampled query")
        left_out += f"; by people's grades there is no score of {sampled}: {listed(figures.undefined)}"
    fewest = min(LEAST_JUDGED, queries)
    if judged < fewest or judged < 2:
        reason = f"{name} cannot be estimated {basis}: expected at least {fewest}{left_out}"
        return replace(finding, reason=reason)
    of_sample = [figures.by_machine[query] for query in figures.by_people]
    sample = make_sample(list(figures.by_people.values()), of_sample, list(figures.by_machine.values()))
    estimate, by_people = estimate_mean(sample, level=LEVEL), estimate_by_people(sample, level=LEVEL)
    finding = replace(finding, observed=estimate.mean)
    if estimate.low is None or estimate.high is None:
        return replace(finding, reason=f"{name} cannot be estimated {basis}: the sample's scores are equal{left_out}")
    status = _compare(finding, estimate.low, estimate.high)
    assert finding.required is not None, "a threshold that is estimated requires a number"
    reason = (
        f"{name} is estimated as {estimate.mean:.4f}, between {estimate.low:.4f} and {estimate.high:.4f} (each bound "
        f"holds with 95%), required {finding.operator} {format_number(finding.required)}; {basis}, which count "
        f"{estimate.tuning:.2f}"
    )
    if by_people.low is not None and by_people.high is not None:
        reason += f"; people alone: between {by_people.low:.4f} and {by_people.high:.4f}"
    if status is Status.PASSED and figures.unjudged:
        # Hits that nobody graded are new ones: what a change of the search made worse would be left out.
        status = Status.INCONCLUSIVE
        reason += "; judge all of the sample, as what is left out may be worse"
    elif status is Status.INCONCLUSIVE:
        reason += "; judge more of the sample, or draw a larger one"
    return replace(finding, status=status, reason=reason + left_out)


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
