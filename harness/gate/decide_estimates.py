"""
Thresholds that are decided by an estimate: people grade a random sample of the queries, a machine grades all of them.

The unit is the query. What is estimated is the mean over all queries of the threshold that have a score by people's
grades; the sample says how many these are, too.

An estimate decides at the sizes that the sample names, from its first queries. Who looks after each judged query until
the threshold passes is wrong in many more samples than promised.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.extensions import Remedy, find_remedy
from harness.gate.finding import Finding, format_number, is_met, name_mean, read_weights, scope_scores
from harness.gate.inputs import GateInputs
from harness.gate.pairs import pair_scores
from harness.metrics.run_scores import gain_text, score_of
from harness.model.run import Cause, Ranking, Run, Status, Unit
from harness.model.suite import (
    PEOPLE,
    DropCondition,
    Measure,
    Operator,
    Query,
    ScoreCondition,
    Suite,
)
from harness.words import count, listed

_LEVEL = 0.05
"""How often each of the two bounds may be wrong, at all sizes of a sample together."""


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
        blamed = tuple(scope.unanswered)
        return replace(finding, status=Status.ERROR, reason=reason, blamed=blamed, cause=Cause.UNANSWERED)
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
    # Only people's grades say which queries are undefined. The scores read here are by those of the machine too, so
    # that they must not refuse a query yet.
    lenient_inputs = replace(inputs, suite=replace(inputs.suite, skip_undefined=True))
    pairs = pair_scores(lenient_inputs, queries, condition.measure)
    if isinstance(pairs, Finding):
        # Where no query has a score, the refusal is that of the suite's own rule for undefined queries.
        refusal = pair_scores(inputs, queries, condition.measure)
        if isinstance(refusal, Finding):
            return refusal
        return pairs
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
    """The figures of the queries of a threshold, by the grades of the machine and by those of people."""

    machine: str
    """The name of the machine."""
    by_machine: Mapping[str, float | None]
    """The figure of each query by the machine's grades; None where a score is undefined."""
    by_people: Mapping[str, float | None]
    """Likewise by people's grades, of the queries of the sample whose documents people have judged."""
    weights: Mapping[str, float]
    """The weights of all queries; empty where they all weigh the same."""
    sampled: tuple[str, ...]
    """The queries of the suite's sample, in the order in which they were drawn; some are not of the threshold."""
    unscored: tuple[str, ...] = ()
    """The queries that have no score by the grades of people and the machine together."""
    zero_hits: tuple[str, ...] = ()
    """The queries that have no hit today."""

    def select_first(self, size: int) -> list[str]:
        """The queries of the threshold among the first *size* of the sample."""
        return [query for query in self.sampled[:size] if query in self.by_machine]

    def list_unjudged(self, size: int) -> list[str]:
        """The queries of `select_first` with documents that count for the score and that people have not judged."""
        return [query for query in self.select_first(size) if query not in self.by_people]


def _collect_figures(queries: Sequence[Query], measure: Measure, suite: Suite, runs: Sequence[Run]) -> _Figures:
    """The figures of *queries* in one run, or from the first to the second of two *runs*."""
    machine = next(judge for judge in suite.judges if judge != PEOPLE)
    sampled: tuple[str, ...] = ()
    if suite.sample is not None:
        sampled = suite.sample.queries
    sampled_ids = set(sampled)
    by_machine: dict[str, float | None] = {}
    by_people: dict[str, float | None] = {}
    for query in queries:
        query_of_machine = replace(query, judgments=query.machine_grades.get(machine, {}))
        by_machine[query.id] = _compute_figure(query_of_machine, measure, suite, runs)
        if query.id in sampled_ids and _is_judged(query, measure.cutoff or suite.depth, runs):
            query_of_people = replace(query, judgments=query.people_grades or {})
            by_people[query.id] = _compute_figure(query_of_people, measure, suite, runs)
    return _Figures(machine, by_machine, by_people, read_weights(queries, by_machine), sampled)


def _compute_figure(query: Query, measure: Measure, suite: Suite, runs: Sequence[Run]) -> float | None:
    """
    The score of *query* by its judgments in the one run, or how far it fell from the first to the second of two.

    None where a score is undefined.
    """
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
    people_grades = query.people_grades or {}
    documents: list[str] = []
    for run in runs:
        response = run.responses.get(query.id)
        if isinstance(response, Ranking):
            documents += response.ids[:cutoff]
    # The score also depends on the best documents, which the ideal ranking has. Of equal grades those by people come
    # first, since any of them may be in the ideal ranking.
    grades = {**query.judgments, **people_grades}
    documents += sorted(grades, key=lambda document: (-grades[document], document not in people_grades))[:cutoff]
    return all(document in people_grades for document in documents)


# The decision.


@dataclass(frozen=True, slots=True)
class _Look:
    """
    A look at a sample that grows: statistics calls so each size at which a sequential test may decide.

    This is the largest size so far up to which people have judged all queries.
    """

    queries: list[str]
    """The judged queries that count; none where people have not judged up to the first size."""
    next_size: int | None
    """The size of the next look; None after the last one."""
    level: float
    """How often a bound may be wrong at each look, so that at all of them together it is `_LEVEL`."""


def _find_look(figures: _Figures, suite: Suite) -> _Look:
    """
    The look at the largest size up to which people have judged all queries of the sample.

    Queries beyond it that they judged do not count yet: people chose them, not chance.
    """
    sizes: tuple[int, ...] = ()
    if suite.sample is not None:
        sizes = suite.sample.looks
    reached_size = 0
    next_size = None
    uncertain_looks = 0
    for size in sizes:
        if not figures.list_unjudged(size):
            reached_size = max(reached_size, size)
        if size < len(suite.queries):
            # An estimate from all queries cannot be wrong by chance: that look costs nothing of the level.
            uncertain_looks += 1
    for size in sizes:
        if size > reached_size:
            next_size = size
            break
    return _Look(figures.select_first(reached_size), next_size, _LEVEL / max(uncertain_looks, 1))


def _complete_estimate(finding: Finding, name: str, figures: _Figures, suite: Suite) -> Finding:
    """Complete *finding*, which says what is required, by an estimate of *figures*, whose mean is called *name*."""
    # It imports numpy, which no other threshold of a run needs.
    from harness.statistics.prediction_powered import estimate_by_people, estimate_mean, make_sample

    look = _find_look(figures, suite)
    undefined = [query for query in look.queries if figures.by_people[query] is None]
    if suite.skip_undefined:
        figures = replace(figures, unscored=())
    basis = f"from {len(look.queries):,} of {count(len(figures.by_machine), 'query')} judged by people"
    basis += f", and the grades of {figures.machine} for all"
    remarks = ""
    for remark in _list_remarks(figures, look, undefined, suite):
        remarks += f"; {remark}"
    problem = _explain_too_few(figures, look, undefined)
    if problem:
        too_few = Cause.TOO_FEW_QUERIES if look.queries else Cause.SAMPLE_NOT_JUDGED
        return replace(finding, reason=f"{name} cannot be estimated {basis}: {problem}{remarks}", cause=too_few)
    weights = all_weights = None
    if figures.weights:
        weights = [figures.weights[query] for query in look.queries]
        all_weights = [figures.weights[query] for query in figures.by_machine]
    sample = make_sample(
        _convert_figures(figures.by_people, look.queries),
        _convert_figures(figures.by_machine, look.queries),
        _convert_figures(figures.by_machine, figures.by_machine),
        weights,
        all_weights,
    )
    estimate = estimate_mean(sample, level=look.level)
    by_people = estimate_by_people(sample, level=look.level)
    finding = replace(finding, observed=estimate.mean)
    if estimate.low is None or estimate.high is None:
        reason = f"{name} cannot be estimated {basis}: the sample's scores are equal{remarks}"
        return replace(finding, reason=reason, cause=Cause.TOO_FEW_QUERIES)
    finding = replace(finding, bounds=(estimate.low, estimate.high))
    status = _compare(finding, estimate.low, estimate.high)
    assert finding.required is not None, "a threshold that is estimated requires a number"
    reason = (
        f"{name} is estimated as {estimate.mean:.4f}, between {estimate.low:.4f} and {estimate.high:.4f} (each bound "
        f"holds with {100 * (1 - look.level):.4g}%), required {finding.operator} {format_number(finding.required)}; "
        f"{basis}"
    )
    if by_people.low is not None and by_people.high is not None:
        reason += f"; without the grades of {figures.machine}: between {by_people.low:.4f} and {by_people.high:.4f}"
    cause: Cause | None = None
    if status is Status.PASSED and (undefined or figures.unscored) and not suite.skip_undefined:
        # Without an estimate the same threshold fails, as queries are left out only if the suite says so.
        status, cause = Status.INCONCLUSIVE, Cause.UNDEFINED
        reason += "; judge a relevant document for each query, or set `undefined: skip` to leave such queries out"
    elif status is Status.INCONCLUSIVE:
        cause = Cause.ESTIMATE_TOO_WIDE
        reason += f"; {_advise(look, len(figures.by_machine))}"
    return replace(finding, status=status, reason=reason + remarks, cause=cause)


def _convert_figures(figures: Mapping[str, float | None], queries: Iterable[str]) -> list[float]:
    """The figures of *queries* as `make_sample` wants them: not a number in place of None."""
    converted = []
    for query in queries:
        figure = figures[query]
        converted.append(math.nan if figure is None else figure)
    return converted


def _list_remarks(figures: _Figures, look: _Look, undefined: Sequence[str], suite: Suite) -> Iterator[str]:
    """What the reason says of queries that do not count, or have no hits."""
    if look.next_size is not None and suite.sample is not None:
        unjudged = figures.list_unjudged(look.next_size)
        sampled = f"{len(unjudged):,} of the first {count(look.next_size, 'sampled query')}"
        size, seed = str(look.next_size), str(suite.sample.seed)
        remedy = find_remedy(Remedy.DRAW_SAMPLE, "; `{command}` opens them", suite=suite.path, size=size, seed=seed)
        yield f"people have not judged all that is read of {sampled}: {_quote_ids(unjudged)}{remedy}"
    if undefined:
        sampled = count(len(undefined), "sampled query")
        yield f"by people's grades there is no score of {sampled}: {_quote_ids(undefined)}"
    others = [query for query in figures.unscored if query not in undefined]
    if others:
        yield f"nobody's grades give a score to {count(len(others), 'other query')}: {_quote_ids(others)}"
    if figures.zero_hits:
        yield f"zero hits: {listed(figures.zero_hits)}"


def _quote_ids(queries: Sequence[str]) -> str:
    """The first of *queries* in quotes: an id may be a number, which would read as a count."""
    return listed([repr(query) for query in queries])


def _explain_too_few(figures: _Figures, look: _Look, undefined: Sequence[str]) -> str:
    """Why the queries of *look* are too few for bounds that hold, and how many are needed; empty where they are not."""
    from harness.statistics.prediction_powered import LEAST_JUDGED, count_by_skewness

    if not figures.sampled:
        return "no sample was drawn" + find_remedy(
            Remedy.DRAW_SAMPLE, "; `{command}` draws one", suite="SUITE", size="N", seed="S"
        )
    if not look.queries and look.next_size is not None:
        return f"it is decided at {look.next_size:,} judged queries of the sample"
    all_queries, judged_queries = len(figures.by_machine), len(look.queries)
    with_score = judged_queries - len(undefined)
    # Queries of unequal weights count as fewer queries of equal weight: this is the share.
    share = 1.0
    if figures.weights:
        share = count_by_skewness(list(figures.weights.values())) / all_queries
    least = max(min(LEAST_JUDGED, all_queries), 2)
    is_enough = judged_queries == all_queries or with_score * share >= least
    if is_enough and with_score >= 2:
        return ""
    problem = f"expected at least {least}"
    if undefined:
        problem += f" with a score, found {with_score:,}"
    if figures.weights:
        problem += f" of equal weight, and by their weights these count as {with_score * share:.1f}"
    if undefined or figures.weights:
        # Assumes that the same share of queries as up to now will have a score.
        needed = math.ceil(least / share * judged_queries / max(with_score, 1))
        remedy = f"only all {all_queries:,} queries are"
        if needed < all_queries:
            remedy = f"about {needed:,} judged queries are"
        problem += f"; {remedy} enough"
    if look.next_size is not None:
        problem += f"; the next size of the sample is {look.next_size:,}"
    return problem


def _advise(look: _Look, queries: int) -> str:
    """What decides a threshold whose required number is between the bounds."""
    if look.next_size is not None:
        return f"judge the sample up to {look.next_size:,} queries, its next size"
    return f"this was the last size of the sample: judge all {queries:,} queries, or require less"


def _compare(finding: Finding, low: float, high: float) -> Status:
    """PASSED where the worse bound meets what *finding* requires, FAILED where the better one does not."""
    assert finding.operator is not None, "a threshold that is estimated has a comparison"
    assert finding.required is not None, "a threshold that is estimated requires a number"
    worse, better = high, low
    if finding.operator in (Operator.AT_LEAST, Operator.ABOVE):
        worse, better = low, high
    if is_met(worse, finding.operator, finding.required):
        return Status.PASSED
    if is_met(better, finding.operator, finding.required):
        return Status.INCONCLUSIVE
    return Status.FAILED
